//! Sets of completion indexes as ordered intervals, and the text that a status has them in.
//! Used wherever the Job controller counts the indexes of an Indexed Job.
//!
//! Worked example: the indexes 1, 3, 4, 5, 7 and 8 are the intervals (1,1), (3,5) and (7,8), and the
//! text `1,3-5,7,8`. Two neighbours are written with a comma, as upstream does
//! (pkg/controller/job/indexed_job_utils.go).

use std::collections::BTreeSet;
use std::fmt;

/// Intervals that neither overlap nor touch, lowest first. Both ends belong to an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Intervals(Vec<(i32, i32)>);

impl Intervals {
    /// Reads a status or a rule. Intervals that cannot be read are left out, and so are the
    /// indexes that are not below `completions`: an Indexed Job may have been made smaller.
    pub(super) fn parse(text: &str, completions: i32) -> Self {
        let mut all = Self::default();
        for interval in text.split(',') {
            let mut ends = interval.split('-');
            let Some(first) = ends.next().and_then(|first| first.parse::<i32>().ok()) else { continue };
            if first >= completions {
                break;
            }
            let last = match ends.next() {
                None => first,
                Some(last) => match last.parse::<i32>() {
                    Ok(last) => last.min(completions - 1),
                    Err(_) => continue,
                },
            };
            if first <= last {
                all.push((first, last));
            }
        }
        all
    }

    /// Adds an interval that begins no earlier than any in the set.
    fn push(&mut self, (first, last): (i32, i32)) {
        match self.0.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => self.0.push((first, last)),
        }
    }

    pub(super) fn with(&self, indexes: &BTreeSet<i32>) -> Self {
        self.merge(&Self(indexes.iter().map(|index| (*index, *index)).collect()))
    }

    pub(super) fn merge(&self, other: &Self) -> Self {
        let mut all: Vec<(i32, i32)> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable();
        let mut merged = Self::default();
        all.into_iter().for_each(|interval| merged.push(interval));
        merged
    }

    /// How many indexes the set has.
    pub(super) fn total(&self) -> i32 {
        let total: i64 = self.0.iter().map(|(first, last)| i64::from(*last) - i64::from(*first) + 1).sum();
        total.try_into().unwrap_or(i32::MAX)
    }

    /// How many indexes both sets have.
    pub(super) fn shared(&self, other: &Self) -> i32 {
        let (mut mine, mut theirs, mut shared) = (0, 0, 0_i32);
        while let (Some(a), Some(b)) = (self.0.get(mine), other.0.get(theirs)) {
            let overlap = a.1.min(b.1).saturating_sub(a.0.max(b.0)).saturating_add(1);
            shared = shared.saturating_add(overlap.max(0));
            mine += usize::from(a.1 <= b.1);
            theirs += usize::from(b.1 <= a.1);
        }
        shared
    }

    pub(super) fn contains(&self, index: i32) -> bool {
        let at = self.0.partition_point(|(_, last)| *last < index);
        self.0.get(at).is_some_and(|(first, _)| *first <= index)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first `count` indexes below `completions` that are not in the set. Its cost is that
    /// of the intervals and the answer, whatever the number of completions.
    pub(super) fn first_missing(&self, count: usize, completions: i32) -> Vec<i32> {
        let mut missing = Vec::new();
        let mut candidate = 0;
        let gaps = self.0.iter().copied().chain([(completions, completions)]);
        for (first, last) in gaps {
            let end = first.min(completions);
            while candidate < end && missing.len() < count {
                missing.push(candidate);
                candidate += 1;
            }
            candidate = candidate.max(last.saturating_add(1));
        }
        missing
    }
}

impl fmt::Display for Intervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (first, last)) in self.0.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            match i64::from(*last) - i64::from(*first) {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_and_written_alike() {
        let check = |text: &str, completions: i32, written: &str, total: i32| {
            let read = Intervals::parse(text, completions);
            assert_eq!((read.to_string().as_str(), read.total()), (written, total), "{text:?} of {completions}");
        };
        check("", 10, "", 0);
        check("3", 10, "3", 1);
        check("1,3-5,7,8", 10, "1,3-5,7,8", 6);
        check("0,1,2,3", 10, "0-3", 4);
        check("0-3,4-7", 10, "0-7", 8);
        check("0-9", 5, "0-4", 5);
        check("0,4-9,12", 6, "0,4,5", 3);
        check("x,1,2-y,4", 10, "1,4", 2);
        check("5-3", 10, "", 0);
        check("0-2147483647", i32::MAX, "0-2147483646", i32::MAX);
    }

    #[test]
    fn indexes_join_the_intervals_they_touch() {
        let check = |text: &str, indexes: &[i32], expected: &str| {
            let indexes = indexes.iter().copied().collect();
            assert_eq!(Intervals::parse(text, 100).with(&indexes).to_string(), expected, "{text} with {indexes:?}");
        };
        check("", &[], "");
        check("", &[2, 0, 1], "0-2");
        check("0-2,6", &[3, 5], "0-3,5,6");
        check("0-2,6", &[1, 4], "0-2,4,6");
        check("3-5", &[0, 9], "0,3-5,9");
    }

    #[test]
    fn membership_and_overlap_are_counted() {
        let set = Intervals::parse("1,3-5,8", 10);
        let members: Vec<i32> = (0..10).filter(|index| set.contains(*index)).collect();
        assert_eq!(members, [1, 3, 4, 5, 8]);
        let check = |one: &str, other: &str, expected: i32| {
            let (one, other) = (Intervals::parse(one, 100), Intervals::parse(other, 100));
            assert_eq!((one.shared(&other), other.shared(&one)), (expected, expected), "{one} and {other}");
        };
        check("", "0-4", 0);
        check("0-4", "3-9", 2);
        check("0-4,7,9-12", "2-10", 6);
        check("0-4", "0-4", 5);
        check("0,2,4", "1,3,5", 0);
    }

    #[test]
    fn missing_indexes_are_the_lowest_ones() {
        let check = |text: &str, count: usize, completions: i32, expected: &[i32]| {
            let set = Intervals::parse(text, 100);
            assert_eq!(set.first_missing(count, completions), expected, "{text} {count} of {completions}");
        };
        check("", 3, 10, &[0, 1, 2]);
        check("0-2,4", 3, 10, &[3, 5, 6]);
        check("0-2,4", 9, 6, &[3, 5]);
        check("0-9", 2, 10, &[]);
        check("0-9", 2, 5, &[]);
        check("", 0, 5, &[]);
        check("1", 5, 2_000_000_000, &[0, 2, 3, 4, 5]);
    }
}
