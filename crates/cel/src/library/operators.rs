//! The operators. Arithmetic checks for overflow; equality and order are in
//! [`crate::value`]. `&&`, `||` and `?:` are evaluated by the interpreter, because they do
//! not evaluate all of their operands.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Declarations, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::schema::ListKind;
use crate::types::Type::{self, *};
use crate::value::{List, Value, compare, contains, equal, same_keys};

pub(super) fn declare(d: &mut Declarations) {
    let a = || Type::param("A");
    let b = || Type::param("B");
    d.operator("_?_:_", "conditional", vec![Bool, a(), a()], a(), |_| mismatch());
    d.operator("_&&_", "logical_and", vec![Bool, Bool], Bool, |_| mismatch());
    d.operator("_||_", "logical_or", vec![Bool, Bool], Bool, |_| mismatch());
    d.operator("!_", "logical_not", vec![Bool], Bool, not);
    d.operator("@not_strictly_false", "not_strictly_false", vec![Bool], Bool, |_| mismatch());
    d.operator("_==_", "equals", vec![a(), a()], Bool, equals);
    d.operator("_!=_", "not_equals", vec![a(), a()], Bool, not_equals);
    d.operator("-_", "negate_double", vec![Double], Double, negate);
    d.operator("-_", "negate_int64", vec![Int], Int, negate);

    for (id, args, result) in [
        ("add_bytes", [Bytes, Bytes], Bytes),
        ("add_double", [Double, Double], Double),
        ("add_duration_duration", [Duration, Duration], Duration),
        ("add_duration_timestamp", [Duration, Timestamp], Timestamp),
        ("add_timestamp_duration", [Timestamp, Duration], Timestamp),
        ("add_int64", [Int, Int], Int),
        ("add_list", [Type::list(a()), Type::list(a())], Type::list(a())),
        ("add_string", [String, String], String),
        ("add_uint64", [Uint, Uint], Uint),
    ] {
        d.operator("_+_", id, args.to_vec(), result, add);
    }
    for (id, args, result) in [
        ("subtract_double", [Double, Double], Double),
        ("subtract_duration_duration", [Duration, Duration], Duration),
        ("subtract_int64", [Int, Int], Int),
        ("subtract_timestamp_duration", [Timestamp, Duration], Timestamp),
        ("subtract_timestamp_timestamp", [Timestamp, Timestamp], Duration),
        ("subtract_uint64", [Uint, Uint], Uint),
    ] {
        d.operator("_-_", id, args.to_vec(), result, subtract);
    }
    for (suffix, kind) in [(0, Double), (1, Int), (2, Uint)] {
        let args = || vec![kind.clone(), kind.clone()];
        let id = |ids: [&'static str; 3]| ids[suffix];
        d.operator("_*_", id(["multiply_double", "multiply_int64", "multiply_uint64"]), args(), kind.clone(), multiply);
        d.operator("_/_", id(["divide_double", "divide_int64", "divide_uint64"]), args(), kind.clone(), divide);
        if kind != Double {
            d.operator("_%_", id(["", "modulo_int64", "modulo_uint64"]), args(), kind.clone(), modulo);
        }
    }
    declare_relations(d);
    d.operator("_[_]", "index_list", vec![Type::list(a()), Int], a(), |_| mismatch());
    d.operator("_[_]", "index_map", vec![Type::map(a(), b()), a()], b(), |_| mismatch());
    d.operator("@in", "in_list", vec![a(), Type::list(a())], Bool, is_in);
    d.operator("@in", "in_map", vec![a(), Type::map(a(), b())], Bool, is_in);
}

fn declare_relations(d: &mut Declarations) {
    /// The overloads of one relation, in the order that messages and dispatch use.
    macro_rules! relation {
        ($name:literal, $prefix:literal, $call:expr) => {
            for (id, args) in [
                (concat!($prefix, "_bool"), [Bool, Bool]),
                (concat!($prefix, "_int64"), [Int, Int]),
                (concat!($prefix, "_int64_double"), [Int, Double]),
                (concat!($prefix, "_int64_uint64"), [Int, Uint]),
                (concat!($prefix, "_uint64"), [Uint, Uint]),
                (concat!($prefix, "_uint64_double"), [Uint, Double]),
                (concat!($prefix, "_uint64_int64"), [Uint, Int]),
                (concat!($prefix, "_double"), [Double, Double]),
                (concat!($prefix, "_double_int64"), [Double, Int]),
                (concat!($prefix, "_double_uint64"), [Double, Uint]),
                (concat!($prefix, "_string"), [String, String]),
                (concat!($prefix, "_bytes"), [Bytes, Bytes]),
                (concat!($prefix, "_timestamp"), [Timestamp, Timestamp]),
                (concat!($prefix, "_duration"), [Duration, Duration]),
            ] {
                d.operator($name, id, args.to_vec(), Bool, $call);
            }
        };
    }
    relation!("_<_", "less", |args| order(args, Ordering::is_lt));
    relation!("_<=_", "less_equals", |args| order(args, Ordering::is_le));
    relation!("_>_", "greater", |args| order(args, Ordering::is_gt));
    relation!("_>=_", "greater_equals", |args| order(args, Ordering::is_ge));
}

fn fail<'v>(message: &str) -> Evaluated<Value<'v>> {
    Err(EvalError::new(message))
}

fn order<'v>(args: &[Value<'v>], holds: fn(Ordering) -> bool) -> Evaluated<Value<'v>> {
    compare(&args[0], &args[1]).map(|order| Value::Bool(holds(order)))
}

pub(crate) fn equals<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    equal(&args[0], &args[1]).map(Value::Bool)
}

/// What cannot be compared is not equal.
pub(crate) fn not_equals<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    Ok(Value::Bool(!matches!(equal(&args[0], &args[1]), Ok(true))))
}

fn not<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Bool(value) => Ok(Value::Bool(!value)),
        _ => Err(EvalError::new("no such overload: !_")),
    }
}

fn negate<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Int(value) => {
            value.checked_neg().map_or_else(|| fail("integer overflow"), |value| Ok(Value::Int(value)))
        }
        Value::Double(value) => Ok(Value::Double(-value)),
        Value::Duration(value) => {
            value.checked_neg().map_or_else(|| fail("duration overflow"), |value| Ok(Value::Duration(value)))
        }
        _ => Err(EvalError::new("no such overload: -_")),
    }
}

pub(crate) fn add<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::Int(a), Value::Int(b)) => {
            a.checked_add(*b).map_or_else(|| fail("integer overflow"), |n| Ok(Value::Int(n)))
        }
        (Value::Uint(a), Value::Uint(b)) => {
            a.checked_add(*b).map_or_else(|| fail("unsigned integer overflow"), |n| Ok(Value::Uint(n)))
        }
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => {
            let mut text = std::string::String::with_capacity(a.len() + b.len());
            text.push_str(a);
            text.push_str(b);
            Ok(Value::string(text))
        }
        (Value::Bytes(a), Value::Bytes(b)) => Ok(Value::Bytes([&**a, &**b].concat().into())),
        (Value::Duration(a), Value::Duration(b)) => {
            a.checked_add(*b).map_or_else(|| fail("duration overflow"), |n| Ok(Value::Duration(n)))
        }
        (Value::Timestamp(time), Value::Duration(nanos)) | (Value::Duration(nanos), Value::Timestamp(time)) => {
            time.plus(*nanos).map_or_else(|| fail("timestamp overflow"), |time| Ok(Value::Timestamp(time)))
        }
        (Value::List(a), Value::List(b)) => add_lists(a, b),
        (
            Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_)
            | Value::List(_),
            _,
        ) => mismatch(),
        _ => fail("no such overload: _+_"),
    }
}

/// One list after the other; of a set or a keyed list, their merge.
fn add_lists<'v>(a: &List<'v>, b: &List<'v>) -> Evaluated<Value<'v>> {
    let kind = a.kind();
    if *kind == ListKind::Atomic {
        return a.join(b).map(Value::List);
    }
    let mut items = a.to_vec()?;
    for item in b.iter() {
        let item = item?;
        let mut at = None;
        for (index, existing) in items.iter().enumerate() {
            let same = match kind {
                ListKind::Map(keys) => same_keys(existing, &item, keys)?,
                _ => equal(existing, &item)?,
            };
            if same {
                at = Some(index);
            }
        }
        match at {
            Some(index) => items[index] = item,
            None => items.push(item),
        }
    }
    Ok(Value::List(List::Merged { items: Arc::new(items), kind }))
}

fn subtract<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::Int(a), Value::Int(b)) => {
            a.checked_sub(*b).map_or_else(|| fail("integer overflow"), |n| Ok(Value::Int(n)))
        }
        (Value::Uint(a), Value::Uint(b)) => {
            a.checked_sub(*b).map_or_else(|| fail("unsigned integer overflow"), |n| Ok(Value::Uint(n)))
        }
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => {
            a.checked_sub(*b).map_or_else(|| fail("duration overflow"), |n| Ok(Value::Duration(n)))
        }
        (Value::Timestamp(a), Value::Duration(b)) => b
            .checked_neg()
            .and_then(|nanos| a.plus(nanos))
            .map_or_else(|| fail("timestamp overflow"), |time| Ok(Value::Timestamp(time))),
        (Value::Timestamp(a), Value::Timestamp(b)) => {
            a.since(*b).map_or_else(|| fail("timestamp overflow"), |nanos| Ok(Value::Duration(nanos)))
        }
        (Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_) | Value::Timestamp(_), _) => mismatch(),
        _ => fail("no such overload: _-_"),
    }
}

fn multiply<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::Int(a), Value::Int(b)) => {
            a.checked_mul(*b).map_or_else(|| fail("integer overflow"), |n| Ok(Value::Int(n)))
        }
        (Value::Uint(a), Value::Uint(b)) => {
            a.checked_mul(*b).map_or_else(|| fail("unsigned integer overflow"), |n| Ok(Value::Uint(n)))
        }
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => mismatch(),
        _ => fail("no such overload: _*_"),
    }
}

fn divide<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => fail("division by zero"),
        (Value::Int(a), Value::Int(b)) => {
            a.checked_div(*b).map_or_else(|| fail("integer overflow"), |n| Ok(Value::Int(n)))
        }
        (Value::Uint(a), Value::Uint(b)) => Ok(Value::Uint(a / b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => mismatch(),
        _ => fail("no such overload: _/_"),
    }
}

fn modulo<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => fail("modulus by zero"),
        (Value::Int(a), Value::Int(b)) => {
            a.checked_rem(*b).map_or_else(|| fail("integer overflow"), |n| Ok(Value::Int(n)))
        }
        (Value::Uint(a), Value::Uint(b)) => Ok(Value::Uint(a % b)),
        (Value::Int(_) | Value::Uint(_), _) => mismatch(),
        _ => fail("no such overload: _%_"),
    }
}

fn is_in<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match &args[1] {
        Value::List(list) => contains(list, &args[0]).map(Value::Bool),
        Value::Map(map) => map.get(&args[0]).map(|found| Value::Bool(found.is_some())),
        _ => mismatch(),
    }
}
