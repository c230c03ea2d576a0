//! Pauses between the attempts of a retry loop: each is twice the one before, up to a maximum.

use std::time::Duration;

/// ```
/// use ferry_api::rules::backoff::Backoff;
/// use std::time::Duration;
///
/// let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(3));
/// assert_eq!([backoff.next_pause(), backoff.next_pause(), backoff.next_pause()].map(|p| p.as_secs()), [1, 2, 3]);
/// backoff.reset();
/// assert_eq!(backoff.next_pause().as_secs(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// The pause before the next attempt; the one after it will be twice as long.
    pub fn next_pause(&mut self) -> Duration {
        let pause = self.next.min(self.longest);
        self.next = pause.saturating_mul(2).min(self.longest);
        pause
    }

    /// Begins anew after a success.
    pub fn reset(&mut self) {
        self.next = self.first;
    }

    /// The pause after this many failures in a row, for loops that count per key: `first` after
    /// none, twice as long after one.
    pub fn pause_after(&self, failures: u32) -> Duration {
        self.first.saturating_mul(1_u32.checked_shl(failures).unwrap_or(u32::MAX)).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let check = |first: u64, longest: u64, expected: &[u64]| {
            let mut backoff = Backoff::new(Duration::from_secs(first), Duration::from_secs(longest));
            for (failures, seconds) in expected.iter().enumerate() {
                assert_eq!(backoff.pause_after(failures as u32), Duration::from_secs(*seconds));
                assert_eq!(backoff.next_pause(), Duration::from_secs(*seconds));
            }
            backoff.reset();
            assert_eq!(backoff.next_pause(), Duration::from_secs(expected[0]));
        };
        check(1, 30, &[1, 2, 4, 8, 16, 30, 30]);
        check(5, 5, &[5, 5]);
        check(10, 3, &[3, 3]);
        check(1, u64::MAX, &[1, 2, 4]);
    }

    #[test]
    fn many_failures_do_not_overflow() {
        let backoff = Backoff::new(Duration::from_millis(5), Duration::from_secs(1000));
        assert_eq!([40, u32::MAX].map(|failures| backoff.pause_after(failures)), [Duration::from_secs(1000); 2]);
        let mut backoff = Backoff::new(Duration::MAX, Duration::MAX);
        assert_eq!([backoff.next_pause(), backoff.next_pause()], [Duration::MAX; 2]);
    }
}
