//! Kubernetes' own list functions: order, sums, extremes, positions.

use std::cmp::Ordering;

use super::{Call, Declarations, mismatch, operators};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{List, Value, compare, equal};

pub(super) fn declare(d: &mut Declarations) {
    for (kind, ids) in [
        (Int, ["list_int_is_sorted_bool", "list_int_max_int", "list_int_min_int"]),
        (Uint, ["list_uint_is_sorted_bool", "list_uint_max_uint", "list_uint_min_uint"]),
        (Double, ["list_double_is_sorted_bool", "list_double_max_double", "list_double_min_double"]),
        (Bool, ["list_bool_is_sorted_bool", "list_bool_max_bool", "list_bool_min_bool"]),
        (Duration, ["list_duration_is_sorted_bool", "list_duration_max_duration", "list_duration_min_duration"]),
        (Timestamp, ["list_timestamp_is_sorted_bool", "list_timestamp_max_timestamp", "list_timestamp_min_timestamp"]),
        (String, ["list_string_is_sorted_bool", "list_string_max_string", "list_string_min_string"]),
        (Bytes, ["list_bytes_is_sorted_bool", "list_bytes_max_bytes", "list_bytes_min_bytes"]),
    ] {
        let list = || vec![Type::list(kind.clone())];
        d.member("isSorted", ids[0], list(), Bool, is_sorted);
        d.member("max", ids[1], list(), kind.clone(), |args| extreme(args, "max", Ordering::Less));
        d.member("min", ids[2], list(), kind.clone(), |args| extreme(args, "min", Ordering::Greater));
    }
    let sums: [(Type, &str, Call); 4] = [
        (Int, "list_int_sum_int", |args| sum(args, Value::Int(0))),
        (Uint, "list_uint_sum_uint", |args| sum(args, Value::Uint(0))),
        (Double, "list_double_sum_double", |args| sum(args, Value::Double(0.0))),
        (Duration, "list_duration_sum_duration", |args| sum(args, Value::Duration(0))),
    ];
    for (kind, id, call) in sums {
        d.member("sum", id, vec![Type::list(kind.clone())], kind, call);
    }
    let a = || Type::param("A");
    d.member("indexOf", "list_a_index_of_int", vec![Type::list(a()), a()], Int, |args| {
        position(args, |list, wanted| (0..list.len()).find(|index| is_at(list, *index, wanted)))
    });
    d.member("lastIndexOf", "list_a_last_index_of_int", vec![Type::list(a()), a()], Int, |args| {
        position(args, |list, wanted| (0..list.len()).rev().find(|index| is_at(list, *index, wanted)))
    });
}

fn is_sorted<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    let items = list.to_vec()?;
    let ordered = |pair: &[Value<'v>]| !matches!(compare(&pair[0], &pair[1]), Ok(Ordering::Greater));
    Ok(Value::Bool(items.windows(2).all(ordered)))
}

fn sum<'v>(args: &[Value<'v>], zero: Value<'v>) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    list.iter().try_fold(zero, |total, item| operators::add(&[total, item?]))
}

fn extreme<'v>(args: &[Value<'v>], name: &str, replace: Ordering) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    let mut best: Option<Value<'v>> = None;
    for item in list.iter() {
        let item = item?;
        match &best {
            Some(found) if compare(found, &item).ok() != Some(replace) => {}
            _ => best = Some(item),
        }
    }
    best.ok_or_else(|| EvalError::new(format_args!("{name} called on empty list")))
}

fn is_at<'v>(list: &List<'v>, index: usize, wanted: &Value<'v>) -> bool {
    matches!(list.get(index), Some(Ok(item)) if equal(&item, wanted) == Ok(true))
}

fn position<'v>(
    args: &[Value<'v>],
    find: for<'a> fn(&'a List<'v>, &'a Value<'v>) -> Option<usize>,
) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    Ok(Value::Int(find(list, &args[1]).map_or(-1, |index| index as i64)))
}
