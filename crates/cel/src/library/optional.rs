//! Optional values. `or` and `orValue` are evaluated by the interpreter, which looks at
//! their second operand only when it must; `optMap` and `optFlatMap` are macros.

use super::{Declarations, mismatch};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::Value;

pub(super) fn declare(d: &mut Declarations) {
    let v = || Type::param("V");
    let k = || Type::param("K");
    let optional = || Type::optional(v());
    let list = || Type::list(v());
    let map = || Type::map(k(), v());
    d.global("optional.of", "optional_of", vec![v()], optional(), |args| Ok(Value::some(args[0].clone())));
    d.global("optional.ofNonZeroValue", "optional_ofNonZeroValue", vec![v()], optional(), |args| {
        Ok(if args[0].is_zero() { Value::Optional(None) } else { Value::some(args[0].clone()) })
    });
    d.global("optional.none", "optional_none", vec![], optional(), |_| Ok(Value::Optional(None)));
    d.member("value", "optional_value", vec![optional()], v(), value);
    d.member("hasValue", "optional_hasValue", vec![optional()], Bool, |args| match &args[0] {
        Value::Optional(inner) => Ok(Value::Bool(inner.is_some())),
        _ => mismatch(),
    });
    d.member("or", "optional_or_optional", vec![optional(), optional()], optional(), |_| mismatch());
    d.member("orValue", "optional_orValue_value", vec![optional(), v()], v(), |_| mismatch());
    d.operator("_?._", "select_optional_field", vec![Dyn, String], optional(), |_| mismatch());
    for (id, args) in [
        ("list_optindex_optional_int", vec![list(), Int]),
        ("optional_list_optindex_optional_int", vec![Type::optional(list()), Int]),
        ("map_optindex_optional_value", vec![map(), k()]),
        ("optional_map_optindex_optional_value", vec![Type::optional(map()), k()]),
    ] {
        d.operator("_[?_]", id, args, optional(), |_| mismatch());
    }
    d.operator("_[_]", "optional_list_index_int", vec![Type::optional(list()), Int], optional(), |_| mismatch());
    d.operator("_[_]", "optional_map_index_value", vec![Type::optional(map()), k()], optional(), |_| mismatch());
    d.member("first", "list_first", vec![list()], optional(), |args| at_end(args, |_| 0));
    d.member("last", "list_last", vec![list()], optional(), |args| at_end(args, |length| length - 1));
    d.global("optional.unwrap", "optional_unwrap", vec![Type::list(optional())], list(), unwrap);
    d.member("unwrapOpt", "optional_unwrapOpt", vec![Type::list(optional())], list(), unwrap);
    d.types.push(Type::optional(Dyn));
}

fn value<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Optional(Some(inner)) => Ok((**inner).clone()),
        Value::Optional(None) => Err(EvalError::new("optional.none() dereference")),
        _ => mismatch(),
    }
}

fn at_end<'v>(args: &[Value<'v>], index: fn(usize) -> usize) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    if list.is_empty() {
        return Ok(Value::Optional(None));
    }
    let found = list.get(index(list.len())).transpose()?;
    Ok(found.map_or(Value::Optional(None), Value::some))
}

fn unwrap<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::List(list) = &args[0] else { return mismatch() };
    let mut items = Vec::new();
    for item in list.iter() {
        match item? {
            Value::Optional(inner) => items.extend(inner.map(|inner| (*inner).clone())),
            other => return Err(EvalError::new(format_args!("value {other} is not optional"))),
        }
    }
    Ok(Value::list(items))
}
