//! What becomes of custom objects, in upstream's words.

mod objects;
mod rules;
mod values;

use super::*;
use crate::testing::texts;
use serde_json::json;

fn compiled(schema: Value) -> Structural {
    Structural::compile(&schema, false).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A schema with one field `a` in the spec.
fn with(field: Value) -> Structural {
    compiled(json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": field}}}}))
}

#[track_caller]
fn check(structural: &Structural, object: Value, expected: &[&str]) {
    assert_eq!(texts(&structural.validate(&object, None)), expected);
}

#[track_caller]
fn check_field(field: Value, value: Value, expected: &[&str]) {
    check(&with(field), json!({"spec": {"a": value}}), expected);
}

#[track_caller]
fn check_update(structural: &Structural, old: Value, new: Value, expected: &[&str]) {
    assert_eq!(texts(&structural.validate(&new, Some(&old))), expected);
}
