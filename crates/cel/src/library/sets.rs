//! Lists taken as sets.

use super::{Declarations, mismatch};
use crate::error::Evaluated;
use crate::types::Type;
use crate::value::{List, Value, contains};

pub(super) fn declare(d: &mut Declarations) {
    let lists = || vec![Type::list(Type::param("T")), Type::list(Type::param("T"))];
    d.global("sets.contains", "list_sets_contains_list", lists(), Type::Bool, |args| with(args, includes));
    d.global("sets.equivalent", "list_sets_equivalent_list", lists(), Type::Bool, |args| {
        with(args, |a, b| Ok(includes(a, b)? && includes(b, a)?))
    });
    d.global("sets.intersects", "list_sets_intersects_list", lists(), Type::Bool, |args| {
        with(args, |a, b| Ok(a.iter().any(|item| item.is_ok_and(|item| contains(b, &item) == Ok(true)))))
    });
}

fn with<'v>(
    args: &[Value<'v>],
    holds: for<'a> fn(&'a List<'v>, &'a List<'v>) -> Evaluated<bool>,
) -> Evaluated<Value<'v>> {
    match (&args[0], &args[1]) {
        (Value::List(a), Value::List(b)) => holds(a, b).map(Value::Bool),
        _ => mismatch(),
    }
}

fn includes<'v>(list: &List<'v>, part: &List<'v>) -> Evaluated<bool> {
    for item in part.iter() {
        if !contains(list, &item?)? {
            return Ok(false);
        }
    }
    Ok(true)
}
