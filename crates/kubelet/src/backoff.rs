//! Exponential waits per key: container restarts and image pulls.
//!
//! The rules are those of client-go's flowcontrol.Backoff, because its timing is what a
//! user sees as CrashLoopBackOff: the first failure costs nothing, the second 10 s, then
//! doubling to five minutes; ten quiet minutes forget the past.

use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::time::Duration;

pub const FIRST: Duration = Duration::from_secs(10);
pub const LONGEST: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
struct Entry {
    wait: Duration,
    updated: Timestamp,
}

#[derive(Clone, Debug)]
pub struct BackOff {
    entries: HashMap<String, Entry>,
    first: Duration,
    longest: Duration,
}

impl Default for BackOff {
    fn default() -> Self {
        Self::new(FIRST, LONGEST)
    }
}

impl BackOff {
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { entries: HashMap::new(), first, longest }
    }

    /// The back-off of restarted containers, which waits no longer than crashLoopBackOff of the
    /// kubelet's configuration says.
    pub fn of_restarts(longest: Option<Duration>) -> Self {
        let longest = longest.unwrap_or(LONGEST);
        Self::new(FIRST.min(longest), longest)
    }

    /// The present wait, zero for a key without failures.
    pub fn wait(&self, key: &str) -> Duration {
        self.entries.get(key).map(|entry| entry.wait).unwrap_or_default()
    }

    /// When the wait that began at `event` is over, if it is still running at `now`.
    pub fn until_since(&self, key: &str, event: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let entry = self.entries.get(key)?;
        if self.expired(event, entry.updated) {
            return None;
        }
        let until = after(event, entry.wait);
        (now < until).then_some(until)
    }

    /// The same, counted from the last failure recorded with [`BackOff::next`].
    pub fn until(&self, key: &str, now: Timestamp) -> Option<Timestamp> {
        let entry = self.entries.get(key)?;
        if self.expired(now, entry.updated) {
            return None;
        }
        let until = after(entry.updated, entry.wait);
        (now < until).then_some(until)
    }

    /// Records one more failure that happened at `event`.
    pub fn next(&mut self, key: &str, event: Timestamp, now: Timestamp) {
        let wait = match self.entries.get(key) {
            Some(entry) if !self.expired(event, entry.updated) => (entry.wait * 2).min(self.longest),
            _ => self.first,
        };
        self.entries.insert(key.to_string(), Entry { wait, updated: now });
    }

    pub fn forget(&mut self, key: &str) {
        self.entries.remove(key);
    }

    fn expired(&self, event: Timestamp, updated: Timestamp) -> bool {
        event.duration_since(updated) > signed(self.longest * 2)
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

fn after(start: Timestamp, wait: Duration) -> Timestamp {
    start.checked_add(signed(wait)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + second).expect("a small time")
    }

    #[test]
    fn waits_double_to_five_minutes() {
        let mut backoff = BackOff::default();
        let mut now = 0;
        assert_eq!(backoff.until_since("a", at(now), at(now)), None);
        for expected in [10, 20, 40, 80, 160, 300, 300] {
            backoff.next("a", at(now), at(now));
            assert_eq!(backoff.wait("a"), Duration::from_secs(expected));
            assert_eq!(backoff.until_since("a", at(now), at(now)), Some(at(now + expected as i64)));
            now += expected as i64;
            assert_eq!(backoff.until_since("a", at(now - expected as i64), at(now)), None);
        }
    }

    #[test]
    fn ten_quiet_minutes_forget() {
        let mut backoff = BackOff::default();
        backoff.next("a", at(0), at(0));
        backoff.next("a", at(10), at(10));
        backoff.next("a", at(700), at(700));
        assert_eq!(backoff.wait("a"), FIRST);
    }
}
