//! The cells that tables are made of: ages, counts, selectors.

use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;

/// The cells of a kind that shows nothing of its own.
pub fn name_and_age(object: &Value, _now: Timestamp) -> Vec<Value> {
    vec![object.name().into()]
}
