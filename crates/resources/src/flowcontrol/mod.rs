//! The kinds of the group `flowcontrol.apiserver.k8s.io`.

pub mod defaults;
pub mod flow_schema;
pub mod priority_level_configuration;

use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

/// The conditions of both kinds: each of a type, and of no type twice.
fn validate_conditions(errors: &mut ErrorList, object: &Value) {
    let (mut seen, path) = (HashSet::new(), Path::new("status").child("conditions"));
    for (index, condition) in object.field("status").list("conditions").iter().enumerate() {
        let (path, name) = (path.index(index).child("type"), condition.text("type"));
        if !seen.insert(name) {
            errors.push(Error::duplicate(&path, name));
        }
        if name.is_empty() {
            errors.push(Error::required(&path, ""));
        }
    }
}
