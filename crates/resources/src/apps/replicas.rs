//! What the kinds that keep replicas share: the counts of their status and the warning
//! about names that make bad host names.

use crate::names;
use crate::pod_spec::template::template_warnings;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::Value;

/// The counts of a part are not above the whole, and what is available is ready. `ready` is
/// what the kind's error calls the count of ready replicas.
pub(crate) fn validate_replica_status(object: &Value, parts: &[&str], ready: &str) -> ErrorList {
    let (status, path) = (object.field("status"), Path::new("status"));
    let mut errors = ErrorList::new();
    for key in parts.iter().filter(|key| status.int(key) > status.int("replicas")) {
        errors.push(Error::invalid(&path.child(key), status.int(key), "cannot be greater than status.replicas"));
    }
    let available = status.int("availableReplicas");
    if available > status.int("readyReplicas") {
        let detail = format!("cannot be greater than {ready}");
        errors.push(Error::invalid(&path.child("availableReplicas"), available, detail));
    }
    errors
}

/// The warnings of a kind whose pods come from `spec.template`; none for an update that
/// makes no new generation.
pub(crate) fn workload_warnings(new: &Value, old: Option<&Value>) -> Vec<String> {
    let mut warnings = Vec::new();
    match old {
        None => warn_of_unlike_label_name(&mut warnings, new),
        Some(old) if new.generation() == old.generation() => return warnings,
        Some(_) => {}
    }
    let path = Path::new("spec").child("template");
    warnings.extend(template_warnings(new.field("spec").field("template"), &path));
    warnings
}

pub(crate) fn warn_of_unlike_label_name(warnings: &mut Vec<String>, object: &Value) {
    let sentences = names::is_dns1123_label(object.name());
    if !sentences.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [{}]",
            sentences.join(" ")
        ));
    }
}

/// Collisions of names are only ever counted up.
pub(crate) fn validate_collision_count(errors: &mut ErrorList, new: &Value, old: &Value) {
    let count = new.field("status").int("collisionCount");
    if count < old.field("status").int("collisionCount") {
        let path = Path::new("status").child("collisionCount");
        errors.push(Error::invalid(&path, count, "cannot be decremented"));
    }
}
