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
