//! Times and durations as Go reads and writes them: RFC 3339 for Time and MicroTime, and
//! strings such as `1h30m` for Duration.

use jiff::{Timestamp, civil};

/// Go's zero time, the first of January of the year 1, which JSON shows as null.
const ZERO_SECONDS: i64 = -62_135_596_800;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Seconds,
    Micros,
}

impl Precision {
    fn layout(self) -> &'static str {
        match self {
            Self::Seconds => "2006-01-02T15:04:05Z07:00",
            Self::Micros => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// A moment in seconds since 1970 and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub seconds: i64,
    pub nanos: i32,
}

impl Moment {
    pub fn is_zero(self) -> bool {
        self.seconds == ZERO_SECONDS && self.nanos == 0
    }
}

/// Reads a time as Go's time.Parse does, with its error texts.
pub fn parse_time(text: &str, precision: Precision) -> Result<Moment, String> {
    let layout = precision.layout();
    let mismatch = |rest: &str, element: &str| {
        format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {element:?}")
    };
    let mut rest = text;
    let mut numbers = [0_i32; 6];
    let elements = [(4, "2006", "-"), (2, "01", "-"), (2, "02", "T"), (2, "15", ":"), (2, "04", ":"), (2, "05", "")];
    for ((width, element, separator), number) in elements.into_iter().zip(&mut numbers) {
        let digits = rest.as_bytes().get(..width).filter(|digits| digits.iter().all(u8::is_ascii_digit));
        let Some(digits) = digits else { return Err(mismatch(rest, element)) };
        *number = digits.iter().fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0'));
        rest = &rest[width..];
        let Some(after) = rest.strip_prefix(separator) else { return Err(mismatch(rest, separator)) };
        rest = after;
    }
    let [year, month, day, hour, minute, second] = numbers;

    let mut nanos = 0_i32;
    let digits = rest.strip_prefix(['.', ',']).map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    match precision {
        Precision::Micros if digits < 6 || !rest.starts_with('.') => return Err(mismatch(rest, ".000000")),
        _ if digits == 0 => {}
        _ => {
            // The layout for microseconds takes six digits; further ones then do not fit the zone.
            let taken = if precision == Precision::Micros { 6 } else { digits };
            for place in 0..9 {
                let digit = rest.as_bytes().get(1 + place).filter(|_| place < taken);
                nanos = nanos * 10 + digit.map_or(0, |digit| i32::from(digit - b'0'));
            }
            rest = &rest[1 + taken..];
        }
    }

    let offset = match rest.as_bytes() {
        [b'Z', ..] => {
            rest = &rest[1..];
            0
        }
        [sign @ (b'+' | b'-'), a, b, b':', c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_digit()) => {
            let pair = |tens: &u8, ones: &u8| i64::from(tens - b'0') * 10 + i64::from(ones - b'0');
            let (hours, minutes) = (pair(a, b), pair(c, d));
            if hours > 24 || minutes > 60 {
                return Err(format!("parsing time {text:?}: time zone offset hour out of range"));
            }
            rest = &rest[6..];
            let seconds = (hours * 60 + minutes) * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return Err(mismatch(rest, "Z07:00")),
    };
    if !rest.is_empty() {
        return Err(format!("parsing time {text:?}: extra text: {rest:?}"));
    }

    let out_of_range = |what: &str| Err(format!("parsing time {text:?}: {what} out of range"));
    if !(1..=12).contains(&month) {
        return out_of_range("month");
    }
    if hour > 23 {
        return out_of_range("hour");
    }
    if minute > 59 {
        return out_of_range("minute");
    }
    if second > 59 {
        return out_of_range("second");
    }
    // The ranges checked above make the conversions exact.
    let date = civil::DateTime::new(year as i16, month as i8, day as i8, hour as i8, minute as i8, second as i8, 0);
    let Ok(date) = date else { return out_of_range("day") };
    let Ok(zoned) = date.to_zoned(jiff::tz::TimeZone::UTC) else { return out_of_range("year") };
    Ok(Moment { seconds: zoned.timestamp().as_second() - offset, nanos })
}

/// The seconds since 1970 of a time in the form that stored objects have it,
/// `2006-01-02T15:04:05Z`. `None` for any other, for one that no calendar has, and for Go's
/// zero time: [`parse_time`] judges those.
pub(crate) fn parse_utc_seconds(text: &[u8]) -> Option<i64> {
    let text: &[u8; 20] = text.try_into().ok()?;
    let [.., b'Z'] = text else { return None };
    if (text[4], text[7], text[10], text[13], text[16]) != (b'-', b'-', b'T', b':', b':') {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = &text[from..to];
        let is_number = digits.iter().all(u8::is_ascii_digit);
        is_number.then(|| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_month = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(is_leap),
        _ => return None,
    };
    if year < 2 || !(1..=days_of_month).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // A year that begins in March has its leap day at its end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before_year = year * 365 + year / 4 - year / 100 + year / 400;
    let days_before_month = (month * 153 + 2) / 5;
    // The first of January 1970 is this many days after the first of March of the year 0.
    let days = days_before_year + days_before_month + day - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

/// Writes a time in UTC; `None` for Go's zero time, which is null in JSON, and for what
/// no calendar reaches.
pub fn format_time(moment: Moment, precision: Precision) -> Option<String> {
    if moment.is_zero() {
        return None;
    }
    let timestamp = Timestamp::new(moment.seconds, 0).ok()?;
    let date = jiff::tz::Offset::UTC.to_datetime(timestamp);
    let (year, month, day) = (date.year(), date.month(), date.day());
    let (hour, minute, second) = (date.hour(), date.minute(), date.second());
    let fraction = match precision {
        Precision::Seconds => String::new(),
        Precision::Micros => format!(".{:06}", moment.nanos / 1000),
    };
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
}

/// A moment as metav1.Time is written: RFC 3339 in UTC with whole seconds.
pub fn format_seconds(at: Timestamp) -> String {
    let date = jiff::tz::Offset::UTC.to_datetime(at);
    let Ok(year) = u16::try_from(date.year()) else { return at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string() };
    // Every write needs some of these, and formatting costs ten times as much.
    let mut text = *b"0000-00-00T00:00:00Z";
    let mut put = |end: usize, mut number: u16, digits: usize| {
        for place in text[end - digits..end].iter_mut().rev() {
            *place = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    put(4, year, 4);
    let parts = [date.month(), date.day(), date.hour(), date.minute(), date.second()];
    for (part, end) in parts.into_iter().zip([7, 10, 13, 16, 19]) {
        put(end, u16::from(part.unsigned_abs()), 2);
    }
    String::from_utf8_lossy(&text).into_owned()
}

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads `1h30m`, `-1.5s`, `0` into nanoseconds, with Go's error texts.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let whole_length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, after) = rest.split_at(whole_length);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => after.split_at(after.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_length = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_length);
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {text:?}"));
        }
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("time: unknown unit {unit:?} in duration {text:?}"));
        };
        let number = if whole.is_empty() { Ok(0) } else { whole.parse::<u64>() };
        let number = number.map_err(|_| invalid())?;
        total += u128::from(number) * u128::from(*scale);
        // Digits beyond a nanosecond are cut off; eighteen are more than enough.
        let fraction = &fraction[..fraction.len().min(18)];
        let (value, power) = fraction
            .bytes()
            .fold((0_u128, 1_u128), |(value, power), digit| (value * 10 + u128::from(digit - b'0'), power * 10));
        total += value * u128::from(*scale) / power;
        if total > i64::MAX as u128 + u128::from(negative) {
            return Err(invalid());
        }
        rest = after;
    }
    let nanos = total as i128;
    i64::try_from(if negative { -nanos } else { nanos }).map_err(|_| invalid())
}

/// Writes nanoseconds as Go's Duration prints: `1h0m0s`, `1.5s`, `100ms`, `0s`.
pub fn format_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let total = nanos.unsigned_abs();
    let decimal = |unit: u64| {
        let text = format!("{}.{:0width$}", total / unit, total % unit, width = unit.ilog10() as usize);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match total {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{total}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", decimal(1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", decimal(1_000_000)),
        _ => {
            let minutes = total / 60_000_000_000;
            let rest = total % 60_000_000_000;
            let seconds = format!("{}.{:09}", rest / 1_000_000_000, rest % 1_000_000_000);
            let seconds = seconds.trim_end_matches('0').trim_end_matches('.');
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(text: &str) -> Result<Option<String>, String> {
        parse_time(text, Precision::Seconds).map(|moment| format_time(moment, Precision::Seconds))
    }

    proptest! {
        #[test]
        fn seconds_are_written_as_the_calendar_has_them(second in -377_705_023_201_i64..253_402_207_200) {
            let at = Timestamp::from_second(second).expect("in range");
            prop_assert_eq!(format_seconds(at), at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
        }
    }

    #[test]
    fn times_become_utc_seconds() {
        assert_eq!(seconds("2024-02-29T12:00:00Z"), Ok(Some("2024-02-29T12:00:00Z".into())));
        assert_eq!(seconds("2024-02-29T12:00:00.987+02:00"), Ok(Some("2024-02-29T10:00:00Z".into())));
        assert_eq!(seconds("0001-01-01T00:00:00Z"), Ok(None));
        let micro = parse_time("2024-01-01T00:00:00.123456Z", Precision::Micros).expect("a time");
        assert_eq!(format_time(micro, Precision::Micros).as_deref(), Some("2024-01-01T00:00:00.123456Z"));
    }

    #[test]
    fn bad_times_have_gos_words() {
        assert_eq!(
            seconds("x"),
            Err("parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"".into())
        );
        assert_eq!(
            seconds("2024-01-01"),
            Err("parsing time \"2024-01-01\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"T\"".into())
        );
        assert_eq!(
            seconds("2024-13-01T00:00:00Z"),
            Err("parsing time \"2024-13-01T00:00:00Z\": month out of range".into())
        );
        assert_eq!(
            seconds("2023-02-29T00:00:00Z"),
            Err("parsing time \"2023-02-29T00:00:00Z\": day out of range".into())
        );
        assert!(parse_time("2024-01-01T00:00:00Z", Precision::Micros).is_err());
        assert!(seconds("2024-01-01T00:00:00Zé").is_err() && seconds("2024-01-é1T00:00:00Z").is_err());
    }

    #[test]
    fn durations_print_as_go_prints_them() {
        for (text, printed) in [
            ("0", "0s"),
            ("30s", "30s"),
            ("1h", "1h0m0s"),
            ("90m", "1h30m0s"),
            ("1.5s", "1.5s"),
            ("100ms", "100ms"),
            ("1500us", "1.5ms"),
            ("-2m", "-2m0s"),
            (".5h", "30m0s"),
        ] {
            assert_eq!(parse_duration(text).map(format_duration).as_deref(), Ok(printed), "{text}");
        }
        assert_eq!(parse_duration("5"), Err("time: missing unit in duration \"5\"".into()));
        assert_eq!(parse_duration("5x"), Err("time: unknown unit \"x\" in duration \"5x\"".into()));
        assert_eq!(parse_duration(""), Err("time: invalid duration \"\"".into()));
    }

    proptest! {
        #[test]
        fn durations_read_back(nanos: i64) {
            prop_assert_eq!(parse_duration(&format_duration(nanos)), Ok(nanos));
        }

        #[test]
        fn times_read_back(seconds in -60_000_000_000_i64..250_000_000_000, nanos in 0..1_000_000) {
            let moment = Moment { seconds, nanos: nanos * 1000 };
            let text = format_time(moment, Precision::Micros).expect("in range");
            prop_assert_eq!(parse_time(&text, Precision::Micros), Ok(moment));
        }

        #[test]
        fn the_short_way_reads_what_the_long_way_reads(seconds in -62_000_000_000_i64..250_000_000_000, near in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]Z") {
            let text = format_time(Moment { seconds, nanos: 0 }, Precision::Seconds).expect("in range");
            prop_assert_eq!(parse_utc_seconds(text.as_bytes()), Some(seconds));
            let long = parse_time(&near, Precision::Seconds).ok().map(|moment| moment.seconds);
            if let Some(short) = parse_utc_seconds(near.as_bytes()) {
                prop_assert_eq!(Some(short), long);
            } else if !near.starts_with("000") {
                prop_assert_eq!(None, long);
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}", near in "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.0-9Z+:é-]{0,12}") {
            for text in [&text, &near] {
                let _ = (parse_duration(text), parse_time(text, Precision::Seconds), parse_time(text, Precision::Micros));
            }
        }
    }
}
