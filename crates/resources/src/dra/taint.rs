//! Taints on devices and what tolerates them.

use crate::Context;
use crate::names;
use crate::read::{Read, default_value};
use crate::validation::each;
use crate::validation::facts::DeclaredValues;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

static EFFECTS: DeclaredValues = DeclaredValues::of("resource/v1", "DeviceTaint", "effect");

/// When a taint came to be, unless its writer says so.
pub(super) fn set_time_added(context: &Context, taint: &mut Value) {
    default_value(taint, "timeAdded", ferry_api::codec::time::format_seconds(context.now));
}

/// An effect that was let in may stay.
pub(super) fn validate_taint(errors: &mut ErrorList, taint: Option<&Value>, old: Option<&Value>, path: &Path) {
    let effect = taint.text("effect");
    if old.is_none_or(|old| old.text("effect") != effect) {
        crate::validation::one_of(errors, &path.child("effect"), effect, &EFFECTS);
    }
}

pub(super) fn validate_toleration(errors: &mut ErrorList, toleration: &Value, path: &Path) {
    let (value, at) = (toleration.text("value"), path.child("value"));
    match toleration.text("operator") {
        "Exists" if !value.is_empty() => {
            errors.push(Error::invalid(&at, value, "must be empty for operator `Exists`"));
        }
        "Equal" => each(errors, &at, value, names::is_label_value(value)),
        _ => {}
    }
}
