//! The schedule of a CronJob: reading one, and the next time that it fires. The API server
//! validates with it and the CronJob controller runs by it, so that a schedule that was
//! accepted is a schedule that fires.
//!
//! Upstream: the ParseStandard dialect of robfig/cron v3, with its messages. `30 6-16/4 * * 1-5`
//! fires at half past 6, 10 and 14 from Monday to Friday. Five fields, `@hourly` and its like,
//! and `@every 90m`; `TZ=` or `CRON_TZ=` in front names the time zone.

use super::duration::parse_duration;
use jiff::civil::Date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp, ToSpan};
use std::collections::HashSet;
use std::sync::LazyLock;

/// The least and the greatest number of a field, and the names of its numbers.
type Bounds = (u32, u32, &'static [&'static str]);

/// The five fields of a schedule, in order.
const FIELDS: [Bounds; 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

const DESCRIPTORS: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// A schedule that fires on no day of this many years fires never.
const YEARS: i16 = 5;

#[derive(Clone, Debug)]
pub struct CronSchedule(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// Fires this long after the last time, whatever the clock shows.
    Every(SignedDuration),
    Fields {
        fields: [Field; 5],
        zone: TimeZone,
    },
}

/// The numbers that a field allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Field {
    /// The number n is the bit `1 << n`.
    bits: u64,
    /// Written as `*`. Days of the month and of the week are both asked for where one of
    /// them is a star, and else either is enough.
    is_star: bool,
}

impl Field {
    fn allows(self, number: i8) -> bool {
        u32::try_from(number).is_ok_and(|number| self.bits & (1 << number) != 0)
    }
}

impl CronSchedule {
    /// Reads a schedule. `zone` is the time zone of one that names none.
    pub fn parse(schedule: &str, zone: TimeZone) -> Result<Self, String> {
        let (mut spec, mut zone) = (schedule, zone);
        if spec.starts_with("TZ=") || spec.starts_with("CRON_TZ=") {
            let Some((name, rest)) = spec.split_once('=').and_then(|(_, rest)| rest.split_once(' ')) else {
                // The words of upstream's parser where nothing follows the zone.
                return Err("invalid schedule format: runtime error: slice bounds out of range [:-1]".to_owned());
            };
            zone = match name {
                "" => TimeZone::UTC,
                "Local" => zone,
                name => time_zone(name).map_err(|error| format!("provided bad location {name}: {error}"))?,
            };
            spec = rest.trim();
        }
        if spec.is_empty() {
            return Err("empty spec string".to_owned());
        }
        if spec.starts_with('@') {
            return parse_descriptor(spec, zone);
        }
        let words: Vec<&str> = spec.split_whitespace().collect();
        if words.len() != FIELDS.len() {
            return Err(format!("expected exactly 5 fields, found {}: [{}]", words.len(), words.join(" ")));
        }
        let mut fields = [Field::default(); 5];
        for ((field, word), bounds) in fields.iter_mut().zip(words).zip(FIELDS) {
            *field = parse_field(word, bounds)?;
        }
        Ok(Self(Kind::Fields { fields, zone }))
    }

    /// The first time after `after`, in whole seconds; `None` for a schedule that never fires.
    ///
    /// Fields name the time that a wall clock in the zone shows. A time that the clock skips in
    /// spring does not fire, and one that it shows twice in autumn fires twice.
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let second = Timestamp::from_second(after.as_second()).ok()?;
        let (fields, zone) = match &self.0 {
            Kind::Every(period) => return second.checked_add(*period).ok(),
            Kind::Fields { fields, zone } => (fields, zone),
        };
        // Times before 1970 are cut upwards, and then they are later already.
        let start = if second > after { second } else { second.checked_add(1.second()).ok()? };
        if fields.iter().any(|field| field.bits == 0) {
            return None;
        }
        let mut date = zone.to_datetime(start).date();
        let last_year = date.year().saturating_add(YEARS);
        while date.year() <= last_year {
            if allows_date(fields, date)
                && let Some(time) = next_within(fields, zone, date, start)
            {
                return Some(time);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }
}

fn allows_date([.., day, month, weekday]: &[Field; 5], date: Date) -> bool {
    let is_day = day.allows(date.day());
    let is_weekday = weekday.allows(date.weekday().to_sunday_zero_offset());
    let is_both = day.is_star || weekday.is_star;
    month.allows(date.month()) && if is_both { is_day && is_weekday } else { is_day || is_weekday }
}

/// The first time of a date, not before `start`, that hour and minute allow. It goes by
/// hours and minutes that pass, and so through the hours that a clock is moved by.
fn next_within([minute, hour, ..]: &[Field; 5], zone: &TimeZone, date: Date, start: Timestamp) -> Option<Timestamp> {
    let midnight = zone.to_zoned(date.at(0, 0, 0, 0)).ok()?.timestamp();
    let mut time = start.max(midnight);
    loop {
        let clock = zone.to_datetime(time);
        if clock.date() != date {
            return None;
        }
        let is_hour = hour.allows(clock.hour());
        if is_hour && minute.allows(clock.minute()) && clock.second() == 0 {
            return Some(time);
        }
        let minutes = if is_hour { 1 } else { 60 - i64::from(clock.minute()) };
        let pause = minutes * 60 - i64::from(clock.second());
        time = time.checked_add(SignedDuration::from_secs(pause)).ok()?;
    }
}

/// The time zone of that name, exactly as the database writes it; the message is Go's.
pub fn time_zone(name: &str) -> Result<TimeZone, String> {
    static NAMES: LazyLock<HashSet<String>> =
        LazyLock::new(|| TimeZoneDatabase::bundled().available().map(|name| name.as_str().to_owned()).collect());
    let unknown = || format!("unknown time zone {name}");
    if !NAMES.contains(name) {
        return Err(unknown());
    }
    TimeZoneDatabase::bundled().get(name).map_err(|_| unknown())
}

fn parse_descriptor(spec: &str, zone: TimeZone) -> Result<CronSchedule, String> {
    if let Some((_, fields)) = DESCRIPTORS.iter().find(|(name, _)| *name == spec) {
        return CronSchedule::parse(fields, zone);
    }
    let Some(duration) = spec.strip_prefix("@every ") else {
        return Err(format!("unrecognized descriptor: {spec}"));
    };
    let nanos = parse_duration(duration).map_err(|error| format!("failed to parse duration {spec}: {error}"))?;
    let seconds = SignedDuration::from_nanos(nanos).as_secs().max(1);
    Ok(CronSchedule(Kind::Every(SignedDuration::from_secs(seconds))))
}

fn parse_field(field: &str, bounds: Bounds) -> Result<Field, String> {
    let mut allowed = Field::default();
    for range in field.split(',').filter(|range| !range.is_empty()) {
        let part = parse_range(range, bounds)?;
        allowed.bits |= part.bits;
        allowed.is_star |= part.is_star;
    }
    Ok(allowed)
}

/// One of `*`, `3`, `3-5`, each with `/2` or without.
fn parse_range(range: &str, (min, max, names): Bounds) -> Result<Field, String> {
    let (min, max) = (i64::from(min), i64::from(max));
    let range_and_step: Vec<&str> = range.split('/').collect();
    let low_and_high: Vec<&str> = range_and_step.first().copied().unwrap_or_default().split('-').collect();
    let low = low_and_high.first().copied().unwrap_or_default();
    let mut is_star = matches!(low, "*" | "?");
    let (start, mut end) = if is_star {
        (min, max)
    } else {
        let start = number_or_name(low, names)?;
        match low_and_high[..] {
            [_] => (start, start),
            [_, high] => (start, number_or_name(high, names)?),
            _ => return Err(format!("too many hyphens: {range}")),
        }
    };
    let step = match range_and_step[..] {
        [_] => 1,
        [_, step] => {
            let step = number(step)?;
            // `3/2` means every second one from the third on.
            if low_and_high.len() == 1 {
                end = max;
            }
            is_star &= step <= 1;
            step
        }
        _ => return Err(format!("too many slashes: {range}")),
    };
    if start < min {
        return Err(format!("beginning of range ({start}) below minimum ({min}): {range}"));
    } else if end > max {
        return Err(format!("end of range ({end}) above maximum ({max}): {range}"));
    } else if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {range}"));
    } else if step == 0 {
        return Err(format!("step of range should be a positive number: {range}"));
    }
    let bits = (start..=end).filter(|number| (number - start) % step == 0).fold(0, |bits, number| bits | 1 << number);
    Ok(Field { bits, is_star })
}

fn number_or_name(text: &str, names: &[&str]) -> Result<i64, String> {
    let lower = text.to_lowercase();
    match names.iter().position(|name| !name.is_empty() && *name == lower) {
        Some(index) => Ok(index as i64),
        None => number(text),
    }
}

fn number(text: &str) -> Result<i64, String> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let number = text.parse::<i64>().map_err(|error| {
        let reason = match error.kind() {
            PosOverflow | NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {reason}")
    })?;
    if number < 0 { Err(format!("negative number ({number}) not allowed: {text}")) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(schedule: &str, expected: &str) {
        let read = CronSchedule::parse(schedule, TimeZone::UTC);
        assert_eq!(read.err().unwrap_or_default(), expected, "{schedule}");
    }

    #[test]
    fn good_schedules_are_taken() {
        for schedule in [
            "* * * * ?",
            "*/5 0-4,8 1 jan-MAR sun",
            "@hourly",
            "@every 1h30m",
            "0 0 1 1 0",
            "5/15 * * * *",
            "TZ=UTC 0 0 * * *",
            "CRON_TZ=Local 0 0 * * *",
        ] {
            check(schedule, "");
        }
    }

    #[test]
    fn bad_schedules_are_rejected_in_upstreams_words() {
        check("", "empty spec string");
        check("* * * *", "expected exactly 5 fields, found 4: [* * * *]");
        check("60 * * * *", "end of range (60) above maximum (59): 60");
        check("* * 0 * *", "beginning of range (0) below minimum (1): 0");
        check("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3");
        check("*/0 * * * *", "step of range should be a positive number: */0");
        check("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax");
        check("1-2-3 * * * *", "too many hyphens: 1-2-3");
        check("*/1/2 * * * *", "too many slashes: */1/2");
        check("@some", "unrecognized descriptor: @some");
        check("@every 5", "failed to parse duration @every 5: time: missing unit in duration \"5\"");
        check("TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]");
        check("TZ=Some/Where 0 0 * * *", "provided bad location Some/Where: unknown time zone Some/Where");
    }

    #[test]
    fn time_zones_are_those_of_the_database() {
        assert!(time_zone("Europe/Berlin").is_ok() && time_zone("UTC").is_ok());
        assert_eq!(time_zone("europe/berlin").err().as_deref(), Some("unknown time zone europe/berlin"));
    }

    /// The next times after `after`, as the zone's clock shows them.
    #[track_caller]
    fn check_next(schedule: &str, after: &str, expected: &[&str]) {
        let parsed = CronSchedule::parse(schedule, TimeZone::UTC).expect("a schedule");
        let mut time = after.parse().expect("a time");
        for expected in expected {
            let next = parsed.next(time);
            assert_eq!(next.map(|next| next.to_string()).unwrap_or_default(), *expected, "{schedule} after {time}");
            let Some(next) = next else { return };
            time = next;
        }
    }

    #[test]
    fn the_next_time_is_the_first_that_every_field_allows() {
        check_next("* * * * *", "2026-01-01T00:00:00Z", &["2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"]);
        check_next("* * * * *", "2026-01-01T00:00:59.5Z", &["2026-01-01T00:01:00Z"]);
        check_next("*/20 * * * *", "2026-01-01T23:30:01Z", &["2026-01-01T23:40:00Z", "2026-01-02T00:00:00Z"]);
        check_next(
            "30 6-16/4 * * 1-5",
            "2026-01-02T12:00:00Z",
            &["2026-01-02T14:30:00Z", "2026-01-05T06:30:00Z", "2026-01-05T10:30:00Z"],
        );
        check_next("0 0 29 2 *", "2025-03-01T00:00:00Z", &["2028-02-29T00:00:00Z"]);
        check_next("59 23 31 12 ?", "2026-12-31T23:59:00Z", &["2027-12-31T23:59:00Z"]);
        check_next("* * * * *", "1969-12-31T23:59:58.5Z", &["1970-01-01T00:00:00Z"]);
    }

    #[test]
    fn either_day_is_enough_unless_one_is_a_star() {
        check_next("0 0 13 * 5", "2026-02-01T00:00:00Z", &["2026-02-06T00:00:00Z", "2026-02-13T00:00:00Z"]);
        check_next("0 0 13 * *", "2026-01-01T00:00:00Z", &["2026-01-13T00:00:00Z"]);
        check_next("0 0 */10 * 0", "2026-01-01T00:00:00Z", &["2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"]);
        check_next("0 0 */1 * 0", "2026-01-01T00:00:00Z", &["2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"]);
    }

    #[test]
    fn descriptors_stand_for_fields_and_periods() {
        check_next("@hourly", "2026-01-01T00:30:00Z", &["2026-01-01T01:00:00Z"]);
        check_next("@weekly", "2026-01-01T00:30:00Z", &["2026-01-04T00:00:00Z"]);
        check_next("@yearly", "2026-01-01T00:00:00Z", &["2027-01-01T00:00:00Z"]);
        check_next("@every 90m", "2026-01-01T00:00:10.7Z", &["2026-01-01T01:30:10Z", "2026-01-01T03:00:10Z"]);
        check_next("@every 10ms", "2026-01-01T00:00:00Z", &["2026-01-01T00:00:01Z"]);
        check_next("@every -1h", "2026-01-01T00:00:00Z", &["2026-01-01T00:00:01Z"]);
    }

    #[test]
    fn a_schedule_that_never_fires_ends_the_search() {
        for schedule in ["0 0 30 2 *", "59 23 31 2,4,6,9,11 *", ", * * * *", "* * , * *"] {
            check_next(schedule, "2026-01-01T00:00:00Z", &[""]);
        }
        check_next("0 0 1 1 *", "9999-06-01T00:00:00Z", &[""]);
    }

    #[test]
    fn clocks_that_are_moved_skip_times_and_show_them_twice() {
        // In Berlin, 02:00 becomes 03:00 on the 29th of March, and 03:00 becomes 02:00 on the
        // 25th of October 2026.
        check_next("TZ=Europe/Berlin 30 2 * * *", "2026-03-28T12:00:00Z", &["2026-03-30T00:30:00Z"]);
        check_next("TZ=Europe/Berlin 0 * * * *", "2026-03-29T00:30:00Z", &["2026-03-29T01:00:00Z"]);
        check_next(
            "TZ=Europe/Berlin 30 2 * * *",
            "2026-10-24T12:00:00Z",
            &["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"],
        );
        // São Paulo had no midnight on the 4th of November 2018.
        check_next("TZ=America/Sao_Paulo 0 12 4 11 *", "2018-11-01T00:00:00Z", &["2018-11-04T14:00:00Z"]);
        check_next("TZ=America/Sao_Paulo 0 0 * * *", "2018-11-03T12:00:00Z", &["2018-11-05T02:00:00Z"]);
    }

    proptest! {
        #[test]
        fn no_text_breaks_a_schedule(text in "(TZ=[A-Za-z/]{0,8} )?[@0-9*,/? a-z-]{0,20}", second in -377_705_023_201_i64..253_402_207_200) {
            let after = Timestamp::from_second(second).expect("within the range of timestamps");
            if let Ok(schedule) = CronSchedule::parse(&text, TimeZone::UTC)
                && let Some(next) = schedule.next(after)
            {
                prop_assert!(next > after);
            }
        }

        /// The oracle tries one minute after the other.
        #[test]
        fn the_next_time_is_the_one_that_a_walk_by_minutes_finds(
            minute in 0..60, hours in 0..24, step in 1..6, weekday in 0..7, second in 1_740_000_000_i64..1_800_000_000,
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo"]),
        ) {
            let text = format!("{minute}/{step} {hours}-23/{step} * * {weekday}");
            let zone = time_zone(zone).expect("a zone");
            let schedule = CronSchedule::parse(&text, zone.clone()).expect("a schedule");
            let Kind::Fields { fields, .. } = &schedule.0 else { unreachable!("five fields") };
            let matches = |time: Timestamp| {
                let clock = zone.to_datetime(time);
                fields[0].allows(clock.minute()) && fields[1].allows(clock.hour()) && allows_date(fields, clock.date())
            };
            let mut time = Timestamp::from_second((second / 60 + 1) * 60).expect("a time");
            while !matches(time) {
                time += 1.minute();
            }
            prop_assert_eq!(schedule.next(Timestamp::from_second(second).expect("a time")), Some(time));
        }
    }
}
