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

/// An age for people, in two or three significant figures: `5m30s`, `3h`, `12d`.
///
/// Upstream: apimachinery/pkg/util/duration HumanDuration.
pub fn human(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    // A second of skew between machines is taken as now.
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    if seconds < 0 {
        return "0s".to_owned();
    }
    let two = |whole: i64, unit: &str, rest: i64, rest_unit: &str| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{rest_unit}") }
    };
    match seconds {
        s if s < 2 * MINUTE => format!("{s}s"),
        s if s < 10 * MINUTE => two(s / MINUTE, "m", s % MINUTE, "s"),
        s if s < 3 * HOUR => format!("{}m", s / MINUTE),
        s if s < 8 * HOUR => two(s / HOUR, "h", s % HOUR / MINUTE, "m"),
        s if s < 2 * DAY => format!("{}h", s / HOUR),
        s if s < 8 * DAY => two(s / DAY, "d", s % DAY / HOUR, "h"),
        s if s < 2 * YEAR => format!("{}d", s / DAY),
        s if s < 8 * YEAR => two(s / YEAR, "y", s / DAY % 365, "d"),
        s => format!("{}y", s / YEAR),
    }
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

    #[test]
    fn durations_are_written_for_people() {
        for (seconds, expected) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (303, "5m3s"),
            (3600, "60m"),
            (3 * 3600, "3h"),
            (4 * 3600 + 60, "4h1m"),
            (9 * 3600 + 60, "9h"),
            (48 * 3600, "2d"),
            (50 * 3600, "2d2h"),
            (8 * 86400, "8d"),
            (2 * 365 * 86400, "2y"),
            (2 * 365 * 86400 + 86400, "2y1d"),
            (9 * 365 * 86400, "9y"),
        ] {
            assert_eq!(human(seconds), expected, "{seconds}");
        }
    }
}
