//! The list extension, version 3: slices, flattening, sorting, ranges.

use super::{Declarations, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{List, Value, compare, equal};

/// More elements than any budget pays for; a range must not fill the memory before its
/// cost is counted.
const MAX_RANGE: i64 = 1_000_000;

pub(super) fn declare(d: &mut Declarations) {
    let t = || Type::param("T");
    let list = || Type::list(t());
    d.member("slice", "list_slice", vec![list(), Int, Int], list(), slice);
    d.unguarded("flatten", "list_flatten", vec![Type::list(list())], list(), flatten);
    d.unguarded("flatten", "list_flatten_int", vec![Type::list(Dyn), Int], Type::list(Dyn), flatten);
    d.global("lists.range", "lists_range", vec![Int], Type::list(Int), range);
    d.member("reverse", "list_reverse", vec![list()], list(), |args| match &args[0] {
        Value::List(list) => Ok(Value::list(list.to_vec()?.into_iter().rev().collect())),
        _ => mismatch(),
    });
    d.member("distinct", "list_distinct", vec![list()], list(), distinct);
    for (kind, sort, sort_by) in [
        (Int, "list_int_sort", "list_int_sortByAssociatedKeys"),
        (Uint, "list_uint_sort", "list_uint_sortByAssociatedKeys"),
        (Double, "list_double_sort", "list_double_sortByAssociatedKeys"),
        (Bool, "list_bool_sort", "list_bool_sortByAssociatedKeys"),
        (Duration, "list_google.protobuf.Duration_sort", "list_google.protobuf.Duration_sortByAssociatedKeys"),
        (Timestamp, "list_google.protobuf.Timestamp_sort", "list_google.protobuf.Timestamp_sortByAssociatedKeys"),
        (String, "list_string_sort", "list_string_sortByAssociatedKeys"),
        (Bytes, "list_bytes_sort", "list_bytes_sortByAssociatedKeys"),
    ] {
        let keys = || Type::list(kind.clone());
        d.member("sort", sort, vec![keys()], keys(), |args| sort_by_keys(&args[0], &args[0]));
        d.member("@sortByAssociatedKeys", sort_by, vec![list(), keys()], list(), |args| {
            sort_by_keys(&args[0], &args[1])
        });
    }
}

fn slice<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Value::List(list), Some(start), Some(end)) = (&args[0], args[1].as_int(), args[2].as_int()) else {
        return mismatch();
    };
    let refuse =
        |reason: std::string::String| Err(EvalError::new(format_args!("cannot slice({start}, {end}), {reason}")));
    if start < 0 || end < 0 {
        return refuse("negative indexes not supported".into());
    }
    if start > end {
        return refuse("start index must be less than or equal to end index".into());
    }
    if (list.len() as i64) < end {
        return refuse(format!("list is length {}", list.len()));
    }
    let items = list.iter().skip(start as usize).take((end - start) as usize);
    Ok(Value::list(items.collect::<Evaluated<_>>()?))
}

fn flatten<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    let depth = args.get(1).and_then(Value::as_int).unwrap_or(1);
    if depth < 0 {
        return Err(EvalError::new("level must be non-negative"));
    }
    let mut items = Vec::new();
    flatten_into(list, depth, &mut items)?;
    Ok(Value::list(items))
}

fn flatten_into<'v>(list: &List<'v>, depth: i64, out: &mut Vec<Value<'v>>) -> Evaluated<()> {
    for item in list.iter() {
        match item? {
            Value::List(inner) if depth > 0 => flatten_into(&inner, depth - 1, out)?,
            other => out.push(other),
        }
    }
    Ok(())
}

fn range<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match args[0].as_int() {
        // It would have cost more than the limit of any evaluation.
        Some(count) if count > MAX_RANGE => Err(EvalError::CostLimitExceeded),
        Some(count) => Ok(Value::list((0..count).map(Value::Int).collect())),
        None => mismatch(),
    }
}

fn distinct<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    let mut unique: Vec<Value<'v>> = Vec::new();
    for item in list.iter() {
        let item = item?;
        if !unique.iter().any(|seen| equal(&item, seen) == Ok(true)) {
            unique.push(item);
        }
    }
    Ok(Value::list(unique))
}

fn sort_by_keys<'v>(list: &Value<'v>, keys: &Value<'v>) -> Evaluated<Value<'v>> {
    let (Value::List(list), Value::List(keys)) = (list, keys) else { return mismatch() };
    if list.len() != keys.len() {
        return Err(EvalError::new(format_args!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        )));
    }
    let keys = keys.to_vec()?;
    if let Some(first) = keys.first() {
        if compare(first, first).is_err() && !matches!(first, Value::Double(_)) {
            return Err(EvalError::new("list elements must be comparable"));
        }
        if keys.iter().any(|key| key.type_name() != first.type_name()) {
            return Err(EvalError::new("list elements must have the same type"));
        }
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|a, b| compare(&keys[*a], &keys[*b]).unwrap_or(std::cmp::Ordering::Equal));
    let items = list.to_vec()?;
    Ok(Value::list(order.into_iter().map(|index| items[index].clone()).collect()))
}
