//! Resource quantities: `500m`, `1Gi`.

use std::sync::Arc;

use ferry_api::quantity::{Format, Quantity};

use super::{Declarations, mismatch, opaque};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Opaque, Value};

pub(super) fn declare(d: &mut Declarations) {
    let quantity = || Type::object("kubernetes.Quantity");
    let two = || vec![quantity(), quantity()];
    d.global("quantity", "string_to_quantity", vec![String], quantity(), |args| match args[0].as_str() {
        Some(text) => match Quantity::parse(text) {
            Ok(quantity) => give(quantity),
            Err(error) => Err(EvalError::new(error)),
        },
        None => mismatch(),
    });
    d.global("isQuantity", "is_quantity_string", vec![String], Bool, |args| match args[0].as_str() {
        Some(text) => Ok(Value::Bool(Quantity::parse(text).is_ok())),
        None => mismatch(),
    });
    d.global("sign", "quantity_sign", vec![quantity()], Int, |args| {
        let quantity = first(args)?;
        Ok(Value::Int(if quantity.is_zero() {
            0
        } else if quantity.is_negative() {
            -1
        } else {
            1
        }))
    });
    d.member("isGreaterThan", "quantity_is_greater_than", two(), Bool, |args| {
        Ok(Value::Bool(first(args)? > second(args)?))
    });
    d.member("isLessThan", "quantity_is_less_than", two(), Bool, |args| Ok(Value::Bool(first(args)? < second(args)?)));
    d.member("compareTo", "quantity_compare_to", two(), Int, |args| {
        Ok(Value::Int(first(args)?.cmp(&second(args)?) as i64))
    });
    d.member("asApproximateFloat", "quantity_get_float", vec![quantity()], Double, |args| {
        Ok(Value::Double(first(args)?.as_f64()))
    });
    d.member("asInteger", "quantity_get_int", vec![quantity()], Int, |args| {
        let integer = integer(first(args)?).ok_or_else(|| EvalError::new("cannot convert value to integer"))?;
        Ok(Value::Int(integer))
    });
    d.member("isInteger", "quantity_is_integer", vec![quantity()], Bool, |args| {
        Ok(Value::Bool(integer(first(args)?).is_some()))
    });
    d.member("add", "quantity_add", two(), quantity(), |args| give(first(args)?.add(&second(args)?)));
    d.member("add", "quantity_add_int", vec![quantity(), Int], quantity(), |args| {
        give(first(args)?.add(&second(args)?))
    });
    d.member("sub", "quantity_sub", two(), quantity(), |args| give(first(args)?.sub(&second(args)?)));
    d.member("sub", "quantity_sub_int", vec![quantity(), Int], quantity(), |args| {
        give(first(args)?.sub(&second(args)?))
    });
}

fn give<'v>(quantity: Quantity) -> Evaluated<Value<'v>> {
    opaque(Opaque::Quantity(Arc::new(quantity)))
}

fn read(value: &Value<'_>) -> Evaluated<Quantity> {
    match value {
        Value::Opaque(Opaque::Quantity(quantity)) => Ok(**quantity),
        Value::Int(value) => Ok(Quantity::from_int(*value, Format::DecimalExponent)),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn first(args: &[Value<'_>]) -> Evaluated<Quantity> {
    read(&args[0])
}

fn second(args: &[Value<'_>]) -> Evaluated<Quantity> {
    read(&args[1])
}

/// The amount, if it is whole and fits.
fn integer(quantity: Quantity) -> Option<i64> {
    let value = quantity.value();
    (Quantity::from_int(value, quantity.format()) == quantity).then_some(value)
}
