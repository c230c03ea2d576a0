//! The standard functions: sizes, conversions between types, tests of strings.

use std::sync::Arc;

use super::number::format_general;
use super::regex::{compile, matches};
use super::{Declarations, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Text, Time, Value, format_duration, parse_duration};

pub(super) fn declare(d: &mut Declarations) {
    let a = || Type::param("A");
    let list = || Type::list(a());
    let map = || Type::map(a(), Type::param("B"));
    for (kind, global, member) in [
        (Bytes, "size_bytes", "bytes_size"),
        (list(), "size_list", "list_size"),
        (map(), "size_map", "map_size"),
        (String, "size_string", "string_size"),
    ] {
        d.global("size", global, vec![kind.clone()], Int, size);
        d.member("size", member, vec![kind], Int, size);
    }
    d.global("type", "type", vec![a()], Type::Type(Some(Arc::new(a()))), type_of);
    d.global("dyn", "to_dyn", vec![a()], Dyn, |args| Ok(args[0].clone()));
    for (name, id, from, to, call) in conversions() {
        d.global(name, id, vec![from], to, call);
    }
    d.member("contains", "contains_string", vec![String, String], Bool, |args| test(args, |a, b| a.contains(b)));
    d.member("endsWith", "ends_with_string", vec![String, String], Bool, |args| test(args, |a, b| a.ends_with(b)));
    d.member("startsWith", "starts_with_string", vec![String, String], Bool, |args| {
        test(args, |a, b| a.starts_with(b))
    });
    d.global("matches", "matches", vec![String, String], Bool, matches_pattern);
    d.member("matches", "matches_string", vec![String, String], Bool, matches_pattern);
}

/// The names of types that expressions can write.
pub(super) fn declare_types(d: &mut Declarations) {
    d.types.extend([Bool, Bytes, Double, Duration, Int, Null, String, Timestamp, Uint]);
    d.types.extend([Type::list(Dyn), Type::map(Dyn, Dyn), Type::Type(None)]);
}

type Conversion = (&'static str, &'static str, Type, Type, super::Call);

fn conversions() -> Vec<Conversion> {
    let same: super::Call = |args| Ok(args[0].clone());
    vec![
        ("bool", "bool_to_bool", Bool, Bool, same),
        ("bool", "string_to_bool", String, Bool, to_bool),
        ("bytes", "bytes_to_bytes", Bytes, Bytes, same),
        ("bytes", "string_to_bytes", String, Bytes, to_bytes),
        ("double", "double_to_double", Double, Double, same),
        ("double", "int64_to_double", Int, Double, to_double),
        ("double", "string_to_double", String, Double, to_double),
        ("double", "uint64_to_double", Uint, Double, to_double),
        ("duration", "duration_to_duration", Duration, Duration, same),
        ("duration", "int64_to_duration", Int, Duration, to_duration),
        ("duration", "string_to_duration", String, Duration, to_duration),
        ("int", "int64_to_int64", Int, Int, same),
        ("int", "double_to_int64", Double, Int, to_int),
        ("int", "duration_to_int64", Duration, Int, to_int),
        ("int", "string_to_int64", String, Int, to_int),
        ("int", "timestamp_to_int64", Timestamp, Int, to_int),
        ("int", "uint64_to_int64", Uint, Int, to_int),
        ("string", "string_to_string", String, String, same),
        ("string", "bool_to_string", Bool, String, to_string),
        ("string", "bytes_to_string", Bytes, String, to_string),
        ("string", "double_to_string", Double, String, to_string),
        ("string", "duration_to_string", Duration, String, to_string),
        ("string", "int64_to_string", Int, String, to_string),
        ("string", "timestamp_to_string", Timestamp, String, to_string),
        ("string", "uint64_to_string", Uint, String, to_string),
        ("timestamp", "timestamp_to_timestamp", Timestamp, Timestamp, same),
        ("timestamp", "int64_to_timestamp", Int, Timestamp, to_timestamp),
        ("timestamp", "string_to_timestamp", String, Timestamp, to_timestamp),
        ("uint", "uint64_to_uint64", Uint, Uint, same),
        ("uint", "double_to_uint64", Double, Uint, to_uint),
        ("uint", "int64_to_uint64", Int, Uint, to_uint),
        ("uint", "string_to_uint64", String, Uint, to_uint),
    ]
}

/// Whether a call of this function with a constant is itself a constant.
pub(crate) fn is_conversion(function: &str) -> bool {
    matches!(
        function,
        "bool" | "bytes" | "double" | "duration" | "dyn" | "int" | "string" | "timestamp" | "type" | "uint"
    )
}

fn inconvertible<'v>(value: &Value<'_>, to: &str) -> Evaluated<Value<'v>> {
    Err(EvalError::new(format_args!("type conversion error from '{}' to '{to}'", value.type_name())))
}

fn size<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let size = match &args[0] {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return mismatch(),
    };
    Ok(Value::Int(size as i64))
}

fn type_of<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    Ok(Value::Type(Text::from(args[0].type_name().to_owned())))
}

fn test<'v>(args: &[Value<'v>], holds: fn(&str, &str) -> bool) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::String(a), Value::String(b)) => Ok(Value::Bool(holds(a, b))),
        _ => mismatch(),
    }
}

fn matches_pattern<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::String(text), Value::String(pattern)) => {
            let pattern = compile(pattern).map_err(EvalError::new)?;
            matches(&pattern, text)
        }
        _ => mismatch(),
    }
}

fn to_bool<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match args[0].as_str() {
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(Value::Bool(true)),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(Value::Bool(false)),
        _ => inconvertible(&args[0], "bool"),
    }
}

fn to_bytes<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match args[0].as_str() {
        Some(text) => Ok(Value::Bytes(text.as_bytes().into())),
        None => mismatch(),
    }
}

fn to_double<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Int(value) => Ok(Value::Double(*value as f64)),
        Value::Uint(value) => Ok(Value::Double(*value as f64)),
        Value::String(text) => match text.parse::<f64>() {
            Ok(value) if value.is_finite() || !text.contains(|c: char| c.is_ascii_digit()) => Ok(Value::Double(value)),
            _ => inconvertible(&args[0], "double"),
        },
        _ => mismatch(),
    }
}

fn to_duration<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Int(nanos) => Ok(Value::Duration(*nanos)),
        Value::String(text) => match parse_duration(text) {
            Some(nanos) => Ok(Value::Duration(nanos)),
            None => inconvertible(&args[0], "google.protobuf.Duration"),
        },
        _ => mismatch(),
    }
}

fn to_timestamp<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let overflow = || EvalError::new("timestamp overflow");
    match &args[0] {
        Value::Int(seconds) => Time::from_seconds(*seconds).map(Value::Timestamp).ok_or_else(overflow),
        Value::String(text) => match Time::parse(text) {
            Some(time) if time.in_range() => Ok(Value::Timestamp(time)),
            Some(_) => Err(overflow()),
            None => inconvertible(&args[0], "google.protobuf.Timestamp"),
        },
        _ => mismatch(),
    }
}

fn to_int<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let overflow = || EvalError::new("integer overflow");
    let value = match &args[0] {
        Value::Double(value) => {
            // The bounds themselves are not exact as doubles.
            if !(*value > -9_223_372_036_854_775_808.0 && *value < 9_223_372_036_854_775_807.0) {
                return Err(overflow());
            }
            *value as i64
        }
        Value::Uint(value) => i64::try_from(*value).map_err(|_| overflow())?,
        Value::Duration(nanos) => *nanos,
        Value::Timestamp(time) => time.seconds,
        Value::String(text) => match text.parse() {
            Ok(value) => value,
            Err(_) => return inconvertible(&args[0], "int"),
        },
        _ => return mismatch(),
    };
    Ok(Value::Int(value))
}

fn to_uint<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let overflow = || EvalError::new("unsigned integer overflow");
    let value = match &args[0] {
        Value::Double(value) => {
            if !(*value >= 0.0 && *value < 18_446_744_073_709_551_615.0) {
                return Err(overflow());
            }
            *value as u64
        }
        Value::Int(value) => u64::try_from(*value).map_err(|_| overflow())?,
        Value::String(text) => match text.parse() {
            Ok(value) if !text.starts_with('+') => value,
            _ => return inconvertible(&args[0], "uint"),
        },
        _ => return mismatch(),
    };
    Ok(Value::Uint(value))
}

pub(super) fn to_string<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    Ok(match &args[0] {
        Value::String(_) => args[0].clone(),
        Value::Bool(value) => Value::string(if *value { "true" } else { "false" }),
        Value::Int(value) => Value::string(value.to_string()),
        Value::Uint(value) => Value::string(value.to_string()),
        Value::Double(value) => Value::string(format_general(*value)),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::string(text),
            Err(_) => return Err(EvalError::new("invalid UTF-8 in bytes, cannot convert to string")),
        },
        Value::Duration(nanos) => Value::string(format_duration(*nanos)),
        Value::Timestamp(time) => Value::string(time.to_string()),
        Value::Type(name) => Value::String(name.clone()),
        _ => return mismatch(),
    })
}
