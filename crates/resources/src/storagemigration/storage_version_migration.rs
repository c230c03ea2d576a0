//! StorageVersionMigration: the strategy of rewriting a resource in its newest version.

use crate::read::{Read, ReadNode};
use crate::validation::FIELD_IS_IMMUTABLE;
use crate::{Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct StorageVersionMigration;

impl Strategy for StorageVersionMigration {
    fn validate(&self, migration: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (resource, path) = (migration.field("spec").field("resource"), Path::new("spec").child("resource"));
        let (name, group) = (resource.text("resource"), resource.text("group"));
        let mut joined = |value: &str, sentences: Vec<String>, key: &str| {
            if !sentences.is_empty() {
                errors.push(Error::invalid(&path.child(key), value, sentences.join(",")));
            }
        };
        if !name.is_empty() {
            joined(name, names::dns1035_label(name, false), "resource");
        }
        if !group.is_empty() {
            joined(group, names::is_dns1123_subdomain(group), "group");
        }
        if name.is_empty() {
            errors.insert(0, Error::required(&path.child("resource"), "resource is required to be set"));
        }
        errors
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (status, path) = (new.field("status"), Path::new("status"));
        let (version, was) = (status.text("resourceVersion"), old.field("status").text("resourceVersion"));
        let at = path.child("resourceVersion");
        if !version.is_empty() && (version.starts_with('0') || !version.bytes().all(|b| b.is_ascii_digit())) {
            let detail = format!("resource version is not well formed: {version}");
            errors.push(Error::invalid(&at, version, detail));
        }
        let (conditions, conditions_at) = (status.list("conditions"), path.child("conditions"));
        if !was.is_empty() && was != version {
            errors.push(Error::invalid(&at, version, FIELD_IS_IMMUTABLE));
        }
        let mut say = |detail: &str| errors.push(Error::invalid(&conditions_at, conditions, detail));
        if is_true(Node::Value(new), "Succeeded") && is_true(Node::Value(new), "Failed") {
            say("Both success and failed conditions cannot be true at the same time");
        }
        if is_true(Node::Value(old), "Succeeded") && !is_true(Node::Value(new), "Succeeded") {
            say("Success condition cannot be set to false once it is true");
        }
        if is_true(Node::Value(old), "Failed") && !is_true(Node::Value(new), "Failed") {
            say("Failed condition cannot be set to false once it is true");
        }
        errors
    }

    fn computed_cells(&self, migration: Node<'_>, __now: Timestamp) -> Vec<Value> {
        let resource = migration.field("spec").field("resource");
        let name = match resource.text("group") {
            "" => resource.text("resource").to_owned(),
            group => format!("{}.{group}", resource.text("resource")),
        };
        let state = ["Running", "Failed", "Succeeded"].into_iter().rfind(|kind| is_true(migration, kind));
        vec![name.into(), state.unwrap_or("Unknown").into()]
    }
}

fn is_true(migration: Node<'_>, kind: &str) -> bool {
    let conditions = migration.field("status").list("conditions");
    conditions.iter().any(|condition| condition.text("type") == kind && condition.text("status") == "True")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use serde_json::json;

    fn of(resource: &str, group: &str) -> Value {
        json!({"metadata": {"name": "a"}, "spec": {"resource": {"resource": resource, "group": group}}})
    }

    #[test]
    fn a_migration_names_a_resource() {
        check(&StorageVersionMigration, of("deployments", "apps"), &[]);
        check(
            &StorageVersionMigration,
            json!({}),
            &["spec.resource.resource: Required value: resource is required to be set"],
        );
        check_update(
            &StorageVersionMigration,
            of("a", ""),
            of("b", ""),
            &["spec: Invalid value: {\"resource\":{\"group\":\"\",\"resource\":\"b\"}}: field is immutable"],
        );
        assert_eq!(
            Value::from(cells("StorageVersionMigration", of("deployments", "apps"))),
            json!(["a", "deployments.apps", "Unknown"])
        );
    }
}
