//! Durations as Go prints them, because events and statuses carry them.

use std::time::Duration;

/// `1.204s`, `45ms`, `2m40s`, `5m0s`, `0s`.
pub fn go_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".into();
    }
    let fraction = |value: u128, unit: u128, suffix: &str| {
        let digits = unit.ilog10() as usize;
        let rest = format!("{:0digits$}", value % unit);
        let rest = rest.trim_end_matches('0');
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{}{dot}{rest}{suffix}", value / unit)
    };
    if nanos < 1_000 {
        return format!("{nanos}ns");
    }
    if nanos < 1_000_000 {
        return fraction(nanos, 1_000, "µs");
    }
    if nanos < 1_000_000_000 {
        return fraction(nanos, 1_000_000, "ms");
    }
    let minutes = nanos / 60_000_000_000;
    let seconds = fraction(nanos % 60_000_000_000, 1_000_000_000, "s");
    match (minutes / 60, minutes % 60) {
        (0, 0) => seconds,
        (0, minutes) => format!("{minutes}m{seconds}"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_go_prints_them() {
        let check = |millis: u64, expected: &str| assert_eq!(go_duration(Duration::from_millis(millis)), expected);
        check(0, "0s");
        check(45, "45ms");
        check(1204, "1.204s");
        check(10_000, "10s");
        check(80_000, "1m20s");
        check(300_000, "5m0s");
        check(3_600_000, "1h0m0s");
        assert_eq!(go_duration(Duration::from_micros(1500)), "1.5ms");
    }
}
