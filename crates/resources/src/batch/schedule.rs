//! When a CronJob runs: whether a schedule is one that upstream's parser takes, with its
//! words where it is not (robfig/cron's ParseStandard), and whether a time zone exists.

use ferry_api::rules::duration::parse_duration;
use jiff::tz::TimeZoneDatabase;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The five fields of a schedule, in order.
const FIELDS: [(i64, i64, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (1, 12, &["", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

const DESCRIPTORS: &[&str] = &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

pub fn check_schedule(schedule: &str) -> Result<(), String> {
    let mut spec = schedule;
    if spec.starts_with("TZ=") || spec.starts_with("CRON_TZ=") {
        let (zone, rest) = match spec.split_once('=').and_then(|(_, rest)| rest.split_once(' ')) {
            Some(parts) => parts,
            // What upstream's parser trips over when nothing follows the zone.
            None => {
                return Err("invalid schedule format: runtime error: slice bounds out of range [:-1]".to_owned());
            }
        };
        if !zone.is_empty() && !is_time_zone(zone) {
            return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
        }
        spec = rest.trim();
    }
    if spec.starts_with('@') {
        return check_descriptor(spec);
    }
    let fields: Vec<&str> = spec.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    for (field, bounds) in fields.iter().zip(FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            check_range(range, bounds)?;
        }
    }
    Ok(())
}

/// The names of the time zone database, exactly as it writes them.
pub fn is_time_zone(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<String>> =
        LazyLock::new(|| TimeZoneDatabase::bundled().available().map(|name| name.as_str().to_owned()).collect());
    NAMES.contains(name)
}

fn check_descriptor(spec: &str) -> Result<(), String> {
    if DESCRIPTORS.contains(&spec) {
        return Ok(());
    }
    match spec.strip_prefix("@every ") {
        Some(duration) => {
            parse_duration(duration).map(drop).map_err(|error| format!("failed to parse duration {spec}: {error}"))
        }
        None => Err(format!("unrecognized descriptor: {spec}")),
    }
}

/// One of `*`, `3`, `3-5`, each with `/2` or without.
fn check_range(range: &str, (min, max, names): (i64, i64, &[&str])) -> Result<(), String> {
    let range_and_step: Vec<&str> = range.split('/').collect();
    let low_and_high: Vec<&str> = range_and_step.first().copied().unwrap_or_default().split('-').collect();
    let low = low_and_high.first().copied().unwrap_or_default();
    let (start, mut end) = if matches!(low, "*" | "?") {
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
            step
        }
        _ => return Err(format!("too many slashes: {range}")),
    };
    if start < min {
        Err(format!("beginning of range ({start}) below minimum ({min}): {range}"))
    } else if end > max {
        Err(format!("end of range ({end}) above maximum ({max}): {range}"))
    } else if start > end {
        Err(format!("beginning of range ({start}) beyond end of range ({end}): {range}"))
    } else if step == 0 {
        Err(format!("step of range should be a positive number: {range}"))
    } else {
        Ok(())
    }
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

    #[track_caller]
    fn check(schedule: &str, expected: &str) {
        assert_eq!(check_schedule(schedule).err().unwrap_or_default(), expected, "{schedule}");
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
        ] {
            check(schedule, "");
        }
    }

    #[test]
    fn bad_schedules_are_told_in_upstreams_words() {
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
        assert!(is_time_zone("Europe/Berlin") && is_time_zone("UTC"));
        assert!(!is_time_zone("europe/berlin") && !is_time_zone("Some/Where"));
    }
}
