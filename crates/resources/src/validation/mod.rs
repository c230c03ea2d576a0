//! Rules that many kinds share, each with upstream's sentence: metadata, labels, addresses,
//! resources. Strategies call them; the API server calls `validate_metadata` and
//! `validate_metadata_update` for every kind.

pub(crate) mod domains;
pub(crate) mod equality;
pub(crate) mod facts;
pub(crate) mod formats;
pub(crate) mod int_or_percent;
pub mod labels;
pub mod marks;
pub(crate) mod metadata;
pub(crate) mod network;
pub mod resources;
pub(crate) mod volume_source;
pub(crate) mod volumes;
pub(crate) mod webhook;

pub use equality::{semantically_equal, validate_immutable};
pub use metadata::{validate_metadata, validate_metadata_update};

use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub const FIELD_IS_IMMUTABLE: &str = "field is immutable";
pub const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

/// One `Invalid` error for each sentence.
pub fn each(errors: &mut ErrorList, path: &Path, value: &str, sentences: Vec<String>) {
    errors.extend(sentences.into_iter().map(|sentence| Error::invalid(path, value, sentence)));
}

pub fn nonnegative(errors: &mut ErrorList, path: &Path, value: i64) {
    if value < 0 {
        errors.push(Error::invalid(path, value, NOT_NEGATIVE));
    }
}

/// A string of a closed set: required when empty, unsupported when not in the set.
pub fn one_of(errors: &mut ErrorList, path: &Path, value: &str, supported: &[&str]) {
    if value.is_empty() {
        errors.push(Error::required(path, ""));
    } else if !supported.contains(&value) {
        errors.push(Error::not_supported(path, value, supported));
    }
}

/// The value shown in an error for a field that may be absent.
pub fn shown(value: Option<&Value>) -> Value {
    value.cloned().unwrap_or(Value::Null)
}
