//! A set of CPUs, or of NUMA nodes, as the kernel lists them: `0-3,8` (upstream:
//! k8s.io/utils/cpuset).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A list that names more than a machine can have is a mistake, and not worth the memory.
const MAX: usize = 1 << 16;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet(BTreeSet<usize>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuSetError {
    #[error("strconv.Atoi: parsing {0:?}: invalid syntax")]
    Number(String),
    #[error("invalid range {text:?} ({start} > {end})")]
    Range { text: String, start: usize, end: usize },
    #[error("{0} is no CPU")]
    TooLarge(usize),
}

impl CpuSet {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    pub fn insert(&mut self, cpu: usize) {
        self.0.insert(cpu);
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().copied()
    }

    pub fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    pub fn union(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }

    pub fn intersection(&self, other: &Self) -> Self {
        Self(&self.0 & &other.0)
    }

    pub fn difference(&self, other: &Self) -> Self {
        Self(&self.0 - &other.0)
    }

    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.is_subset(&other.0)
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl Extend<usize> for CpuSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, cpus: I) {
        self.0.extend(cpus);
    }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    fn from_str(text: &str) -> Result<Self, CpuSetError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let number = |text: &str| match text.parse::<usize>() {
            Ok(cpu) if cpu >= MAX => Err(CpuSetError::TooLarge(cpu)),
            Ok(cpu) => Ok(cpu),
            Err(_) => Err(CpuSetError::Number(text.to_owned())),
        };
        let mut out = Self::default();
        for range in text.split(',') {
            match range.split_once('-') {
                None => out.insert(number(range)?),
                Some((start, end)) => {
                    let (start, end) = (number(start)?, number(end)?);
                    if start > end {
                        return Err(CpuSetError::Range { text: range.to_owned(), start, end });
                    }
                    out.extend(start..=end);
                }
            }
        }
        Ok(out)
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for cpu in self.iter() {
            match ranges.last_mut() {
                Some((_, end)) if *end + 1 == cpu => *end = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        for (index, (start, end)) in ranges.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match start == end {
                true => write!(f, "{comma}{start}")?,
                false => write!(f, "{comma}{start}-{end}")?,
            }
        }
        Ok(())
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_and_printed_as_the_kernel_lists_them() {
        for text in ["", "0", "0-3", "0-1,3,8-11"] {
            assert_eq!(text.parse::<CpuSet>().map(|set| set.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("3,1,2".parse::<CpuSet>().map(|set| set.to_string()), Ok("1-3".to_owned()));
        assert_eq!("2-1".parse::<CpuSet>().map_err(|e| e.to_string()), Err("invalid range \"2-1\" (2 > 1)".to_owned()));
        assert!("a".parse::<CpuSet>().is_err());
        assert!("0-9999999".parse::<CpuSet>().is_err());
    }
}
