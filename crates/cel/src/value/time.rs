//! Timestamps and durations: read and printed as Go does, computed with overflow checks.

use std::fmt;

use ferry_api::rules::duration;
use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The years that a timestamp may have, 1 to 9999, in seconds since 1970.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A moment, with the offset it was written in.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    pub seconds: i64,
    pub nanos: u32,
    offset: i32,
}

impl Time {
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        SECONDS.contains(&seconds).then_some(Self { seconds, nanos: 0, offset: 0 })
    }

    /// RFC 3339, with any number of fractional digits.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let digits = |from: usize, to: usize| -> Option<i64> {
            let part = text.get(from..to)?;
            part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
        };
        let at = |index: usize, expected: u8| bytes.get(index) == Some(&expected);
        if !(at(4, b'-') && at(7, b'-') && at(10, b'T') && at(13, b':') && at(16, b':')) {
            return None;
        }
        let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
        let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
        let mut end = 19;
        let mut nanos = 0;
        if at(19, b'.') || at(19, b',') {
            let fraction = bytes[20..].iter().take_while(|b| b.is_ascii_digit()).count();
            if fraction == 0 {
                return None;
            }
            // Digits beyond nanoseconds are dropped.
            let kept = fraction.min(9);
            nanos = digits(20, 20 + kept)? * 10_i64.pow(9 - kept as u32);
            end = 20 + fraction;
        }
        let offset = match text.get(end..)? {
            "Z" => 0,
            zone if zone.len() == 6 && zone.as_bytes()[3] == b':' => {
                let (hours, minutes) = (digits(end + 1, end + 3)?, digits(end + 4, end + 6)?);
                let seconds = hours * 3600 + minutes * 60;
                match zone.as_bytes()[0] {
                    b'+' if hours < 24 && minutes < 60 => seconds,
                    b'-' if hours < 24 && minutes < 60 => -seconds,
                    _ => return None,
                }
            }
            _ => return None,
        };
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let civil =
            DateTime::new(year as i16, month as i8, day as i8, hour as i8, minute as i8, second as i8, 0).ok()?;
        let seconds = civil.duration_since(EPOCH).as_secs() - offset;
        Some(Self { seconds, nanos: nanos as u32, offset: offset as i32 })
    }

    /// A day, as the format `date` has it.
    pub fn parse_date(text: &str) -> Option<Self> {
        (text.len() == 10).then(|| Self::parse(&format!("{text}T00:00:00Z")))?
    }

    pub(crate) fn in_range(self) -> bool {
        SECONDS.contains(&self.seconds)
    }

    /// Go's zero time is the first second of year 1.
    pub(crate) fn is_zero(self) -> bool {
        self.seconds == *SECONDS.start() && self.nanos == 0
    }

    pub(crate) fn plus(self, nanos: i64) -> Option<Self> {
        let total = i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos) + i128::from(nanos);
        let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok()?;
        let moved = Self { seconds, nanos: total.rem_euclid(1_000_000_000) as u32, offset: self.offset };
        moved.in_range().then_some(moved)
    }

    /// The nanoseconds from `earlier` to this.
    pub(crate) fn since(self, earlier: Self) -> Option<i64> {
        let seconds = i128::from(self.seconds) - i128::from(earlier.seconds);
        i64::try_from(seconds * 1_000_000_000 + i128::from(self.nanos) - i128::from(earlier.nanos)).ok()
    }

    pub(crate) fn order(self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    /// The civil time at an offset. (A jiff timestamp would end a day too early.)
    fn at(self, offset: i32) -> DateTime {
        let since = SignedDuration::new(self.seconds + i64::from(offset), self.nanos as i32);
        EPOCH.checked_add(since).unwrap_or(if self.seconds < 0 { DateTime::MIN } else { DateTime::MAX })
    }

    /// The civil time in a zone: none is UTC, else a name or `+01:00`.
    pub(crate) fn civil(self, zone: Option<&str>) -> Result<DateTime, String> {
        let Some(zone) = zone else { return Ok(self.at(0)) };
        if let Some((hours, minutes)) = zone.split_once(':') {
            let number = |text: &str| {
                let invalid = || format!("strconv.Atoi: parsing {text:?}: invalid syntax");
                text.parse::<i32>().map_err(|_| invalid())
            };
            let (hours, minutes) = (number(hours)?, number(minutes)?);
            let hours = hours.saturating_mul(60);
            let minutes =
                if zone.starts_with('-') { hours.saturating_sub(minutes) } else { hours.saturating_add(minutes) };
            return Ok(self.at(minutes.saturating_mul(60)));
        }
        let zone = match zone {
            "" | "UTC" => TimeZone::UTC,
            name => TimeZone::get(name).map_err(|_| format!("unknown time zone {name}"))?,
        };
        let moment = jiff::Timestamp::from_second(self.seconds).unwrap_or(jiff::Timestamp::MAX);
        Ok(self.at(zone.to_offset(moment).seconds()))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let civil = self.at(self.offset);
        let (year, month, day) = (civil.year(), civil.month(), civil.day());
        let (hour, minute, second) = (civil.hour(), civil.minute(), civil.second());
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanos > 0 {
            let fraction = format!("{:09}", self.nanos);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let minutes = self.offset.abs() / 60;
        write!(f, "{}{:02}:{:02}", if self.offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
    }
}

/// `1h30m`, `-1.5s`, `0`: Go's notation, in nanoseconds.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    duration::parse_duration(text).ok()
}

/// What the format `duration` takes besides: `3 days`, `1 week 2 hours`. Go's notation comes
/// first; else every number before a known unit counts.
pub fn parse_loose_duration(text: &str) -> Option<i64> {
    if let Some(nanos) = parse_duration(text) {
        return Some(nanos);
    }
    let mut total: Option<i64> = None;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let after = after.trim_start();
        let length = after.find(|c: char| !(c.is_ascii_alphabetic() || c == 'µ')).unwrap_or(after.len());
        let (unit, after) = after.split_at(length);
        rest = after;
        if let Some(scale) = loose_unit(&unit.to_lowercase()) {
            let part = number.parse::<i64>().ok()?.wrapping_mul(scale);
            total = Some(total.unwrap_or(0).wrapping_add(part));
        }
    }
    total
}

/// The nanoseconds of a unit. Of each row, the last name may go on (`days`, `minutes`).
fn loose_unit(unit: &str) -> Option<i64> {
    const SECOND: i64 = 1_000_000_000;
    let rows: [(&[&str], i64); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], SECOND),
        (&["m", "min"], 60 * SECOND),
        (&["h", "hr", "hour"], 3600 * SECOND),
        (&["d", "day"], 24 * 3600 * SECOND),
        (&["w", "wk", "week"], 7 * 24 * 3600 * SECOND),
    ];
    let named = |names: &[&str]| names.contains(&unit) || names.last().is_some_and(|last| unit.starts_with(last));
    rows.into_iter().find(|(names, _)| named(names)).map(|(_, scale)| scale)
}

/// In seconds: `90s`, `0.5s`.
pub fn format_duration(nanos: i64) -> String {
    let seconds = nanos / 1_000_000_000;
    let rest = nanos % 1_000_000_000;
    format!("{}s", seconds as f64 + rest as f64 / 1e9)
}
