//! The parts of timestamps (in UTC or a named zone) and of durations.

use jiff::civil::DateTime;

use super::{Declarations, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::*;
use crate::value::{Time, Value};

pub(super) fn declare(d: &mut Declarations) {
    /// One getter with its two overloads.
    macro_rules! part {
        ($name:literal, $id:literal, $zoned:literal, $part:expr) => {
            d.member($name, $id, vec![Timestamp], Int, |args| get(args, $part));
            d.member($name, $zoned, vec![Timestamp, String], Int, |args| get(args, $part));
        };
    }
    part!("getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz", |_, c| i64::from(c.year()));
    part!("getMonth", "timestamp_to_month", "timestamp_to_month_with_tz", |_, c| i64::from(c.month()) - 1);
    part!("getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz", |_, c| {
        i64::from(c.day_of_year()) - 1
    });
    part!("getDayOfMonth", "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz", |_, c| {
        i64::from(c.day()) - 1
    });
    part!("getDate", "timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz", |_, c| {
        i64::from(c.day())
    });
    part!("getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz", |_, c| {
        i64::from(c.weekday().to_sunday_zero_offset())
    });
    part!("getHours", "timestamp_to_hours", "timestamp_to_hours_with_tz", |_, c| i64::from(c.hour()));
    part!("getMinutes", "timestamp_to_minutes", "timestamp_to_minutes_with_tz", |_, c| i64::from(c.minute()));
    part!("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz", |_, c| i64::from(c.second()));
    part!("getMilliseconds", "timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz", |t, _| {
        i64::from(t.nanos / 1_000_000)
    });
    d.member("getHours", "duration_to_hours", vec![Duration], Int, |args| whole(args, 3_600_000_000_000));
    d.member("getMinutes", "duration_to_minutes", vec![Duration], Int, |args| whole(args, 60_000_000_000));
    d.member("getSeconds", "duration_to_seconds", vec![Duration], Int, |args| whole(args, 1_000_000_000));
    d.member("getMilliseconds", "duration_to_milliseconds", vec![Duration], Int, |args| whole(args, 1_000_000));
}

fn get<'v>(args: &[Value<'v>], part: fn(Time, DateTime) -> i64) -> Evaluated<Value<'v>> {
    let Value::Timestamp(time) = &args[0] else { return mismatch() };
    let civil = time.civil(args.get(1).and_then(Value::as_str)).map_err(EvalError::new)?;
    Ok(Value::Int(part(*time, civil)))
}

fn whole<'v>(args: &[Value<'v>], unit: i64) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Duration(nanos) => Ok(Value::Int(nanos / unit)),
        _ => mismatch(),
    }
}
