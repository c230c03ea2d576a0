//! Keys in the paths of JSON patches.

use super::{Declarations, mismatch};
use crate::types::Type::String;
use crate::value::Value;

pub(super) fn declare(d: &mut Declarations) {
    d.global("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", vec![String], String, |args| {
        match args[0].as_str() {
            Some(key) => Ok(Value::string(key.replace('~', "~0").replace('/', "~1"))),
            None => mismatch(),
        }
    });
}
