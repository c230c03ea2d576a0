//! Durations as Go reads and prints them (`1h30m0s`, `45ms`), which statuses, events,
//! configuration files and messages carry.
//!
//! Upstream: Go's time.ParseDuration and Duration.String. The reading and the writing of
//! nanoseconds stand with the other times in [`crate::codec::time`].

use crate::codec::time;
use serde::{Deserialize, Deserializer};
use std::time::Duration;

pub use time::{format_duration, parse_duration};

/// A span of time as Go prints it: `1.204s`, `2m40s`, `0s`. Go's ends at 292 years.
pub fn format(duration: Duration) -> String {
    format_duration(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}

/// A span of time from Go's text; the message is Go's. A span below zero is an error,
/// because no caller can wait for it.
pub fn parse(text: &str) -> Result<Duration, String> {
    let nanos = parse_duration(text)?;
    u64::try_from(nanos).map(Duration::from_nanos).map_err(|_| format!("negative duration {text:?}"))
}

/// A duration of a configuration file in nanoseconds, as `30s` is written; it may be negative
/// until validation judges it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoDuration(pub i64);

impl GoDuration {
    /// Zero for a negative one.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0).unwrap_or(0))
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_duration(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_printed_and_read_as_go_does() {
        let check = |micros: u64, expected: &str| {
            let span = Duration::from_micros(micros);
            assert_eq!(format(span), expected);
            assert_eq!(parse(expected), Ok(span));
        };
        check(0, "0s");
        check(1500, "1.5ms");
        check(45_000, "45ms");
        check(1_204_000, "1.204s");
        check(80_000_000, "1m20s");
        check(300_000_000, "5m0s");
        check(3_600_000_000, "1h0m0s");
        assert_eq!(format(Duration::MAX), "2562047h47m16.854775807s");
        assert_eq!(parse("-1s"), Err("negative duration \"-1s\"".to_owned()));
        assert_eq!(parse("5"), Err("time: missing unit in duration \"5\"".to_owned()));
    }
}
