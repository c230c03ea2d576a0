//! Equality and order. Numbers of different kinds compare by amount; values of different
//! types are unequal, and have no order.

use std::cmp::Ordering;

use serde_json::Value as Json;

use super::{List, Map, Value};
use crate::error::{EvalError, Evaluated};
use crate::schema::ListKind;

pub(crate) fn equal<'v>(a: &Value<'v>, b: &Value<'v>) -> Evaluated<bool> {
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) | (Value::Type(a), Value::Type(b)) => **a == **b,
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a.order() == b.order(),
        (Value::List(a), Value::List(b)) => return equal_lists(a, b),
        (Value::Map(a), Value::Map(b)) => return equal_maps(a, b),
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equal(a, b),
            (a, b) => a.is_none() && b.is_none(),
        },
        (Value::Object(a), Value::Object(b)) => {
            if a.type_name != b.type_name || a.fields.len() != b.fields.len() {
                return Ok(false);
            }
            for (name, value) in &a.fields {
                match b.get(name) {
                    Some(other) if equal(value, other)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Opaque(a), Value::Opaque(b)) => return a.equal(b),
        (Value::Opaque(_), _) => return Err(EvalError::no_such_overload()),
        (Value::Preserved(a), Value::Preserved(b)) => a == b,
        (a, b) => numbers(a, b) == Some(Some(Ordering::Equal)),
    })
}

fn equal_lists<'v>(a: &List<'v>, b: &List<'v>) -> Evaluated<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    match a.kind() {
        ListKind::Atomic => {
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal(&a?, &b?)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        // Sets and keyed lists are equal in any order.
        ListKind::Set => {
            for item in b.iter() {
                if !contains(a, &item?)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        ListKind::Map(keys) => {
            for other in b.iter() {
                let other = other?;
                let mut found = None;
                for item in a.iter() {
                    let item = item?;
                    if same_keys(&item, &other, keys)? {
                        found = Some(item);
                    }
                }
                match found {
                    Some(item) if equal(&item, &other)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
    }
}

/// Whether two items of a keyed list have the same keys.
pub(crate) fn same_keys<'v>(a: &Value<'v>, b: &Value<'v>, keys: &[String]) -> Evaluated<bool> {
    let (Value::Map(a), Value::Map(b)) = (a, b) else { return Ok(false) };
    for key in keys {
        let key = crate::escape::escape(key).unwrap_or(key.as_str().into());
        match (a.get_str(&key).transpose()?, b.get_str(&key).transpose()?) {
            (Some(a), Some(b)) if equal(&a, &b)? => {}
            (None, None) => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn equal_maps<'v>(a: &Map<'v>, b: &Map<'v>) -> Evaluated<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a.entries() {
        match b.get(&key)? {
            Some(other) if equal(&value?, &other)? => {}
            _ => return Ok(false),
        }
    }
    // What no schema describes is compared as it is stored.
    if let (Some(a_raw), Some(b_raw)) = (a.raw(), b.raw()) {
        for (key, value) in a_raw.iter().filter(|(key, _)| !a.describes(key)) {
            if b_raw.get(key).is_some_and(|other: &Json| other != value) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether a list has an equal element. An element that cannot be compared is an error
/// only if none is equal.
pub(crate) fn contains<'v>(list: &List<'v>, wanted: &Value<'v>) -> Evaluated<bool> {
    let mut failed = None;
    for item in list.iter() {
        match item.and_then(|item| equal(&item, wanted)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(false), Err)
}

/// The order of two numbers: none if one is not a number, none within if NaN.
fn numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Int(a), Value::Double(b)) => with_double(i128::from(*a), *b),
        (Value::Double(a), Value::Int(b)) => with_double(i128::from(*b), *a).map(Ordering::reverse),
        (Value::Uint(a), Value::Double(b)) => with_double(i128::from(*a), *b),
        (Value::Double(a), Value::Uint(b)) => with_double(i128::from(*b), *a).map(Ordering::reverse),
        _ => return None,
    })
}

fn with_double(integer: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    // Beyond 64 bits the sign of the difference is plain; within, the cast is exact.
    if double.abs() >= 1.9e19 {
        return Some(if double > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = double.trunc() as i128;
    Some(integer.cmp(&whole).then_with(|| 0.0_f64.total_cmp(&(double.fract() + 0.0))))
}

pub(crate) fn compare<'v>(a: &Value<'v>, b: &Value<'v>) -> Evaluated<Ordering> {
    if let Some(order) = numbers(a, b) {
        return order.ok_or_else(|| EvalError::new("NaN values cannot be ordered"));
    }
    Ok(match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => (**a).cmp(&**b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.order().cmp(&b.order()),
        _ => return Err(EvalError::no_such_overload()),
    })
}
