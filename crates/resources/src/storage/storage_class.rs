//! StorageClass: the strategy of a kind of storage that can be asked for.

use super::parameters::validate_parameters;
use crate::Strategy;
use crate::pod_spec::warnings::deprecated_node_label;
use crate::read::{Read, ReadNode};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct StorageClass;

const DEFAULT_ANNOTATIONS: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

impl Strategy for StorageClass {
    fn validate(&self, class: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_parameters(&mut errors, class, &Path::new("parameters"));
        validate_topologies(&mut errors, class.list("allowedTopologies"), &Path::new("allowedTopologies"));
        errors
    }

    fn warnings(&self, class: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        for (index, term) in class.list("allowedTopologies").iter().enumerate() {
            for (number, expression) in term.list("matchLabelExpressions").iter().enumerate() {
                if let Some(message) = deprecated_node_label(expression.text("key")) {
                    let path = Path::new("allowedTopologies").index(index).child("matchLabelExpressions");
                    warnings.push(format!("{}: {message}", path.index(number).child("key")));
                }
            }
        }
        warnings
    }

    fn computed_cells(&self, class: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let is_default = DEFAULT_ANNOTATIONS.iter().any(|key| class.annotation(key) == Some("true"));
        vec![if is_default { format!("{} (default)", class.name()).into() } else { class.name().into() }]
    }
}

/// Each term names a key once, and no two terms say the same.
fn validate_topologies(errors: &mut ErrorList, topologies: &[Value], path: &Path) {
    let mut terms: Vec<BTreeMap<&str, BTreeSet<&str>>> = Vec::new();
    for (index, topology) in topologies.iter().enumerate() {
        let path = path.index(index).child("matchLabelExpressions");
        let mut term = BTreeMap::new();
        for (number, expression) in topology.list("matchLabelExpressions").iter().enumerate() {
            let (path, key) = (path.index(number), expression.text("key"));
            if term.insert(key, expression.texts("values").collect::<BTreeSet<_>>()).is_some() {
                errors.push(Error::duplicate(&path.child("key"), key));
            }
        }
        if terms.contains(&term) {
            errors.push(Error::duplicate(&path, ""));
        }
        terms.push(term);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use ferry_api::object::Meta;
    use serde_json::json;

    fn class() -> Value {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": "example.com/disk"})
    }

    fn with(key: &str, value: Value) -> Value {
        let mut class = class();
        class[key] = value;
        class
    }

    #[test]
    fn a_class_says_who_provisions() {
        check(&StorageClass, class(), &[]);
        check(&StorageClass, with("provisioner", "".into()), &["provisioner: Required value"]);
        check(
            &StorageClass,
            with("reclaimPolicy", "Recycle".into()),
            &["reclaimPolicy: Unsupported value: \"Recycle\": supported values: \"Delete\", \"Retain\""],
        );
        check(
            &StorageClass,
            with("volumeBindingMode", "Some".into()),
            &[
                "volumeBindingMode: Unsupported value: \"Some\": supported values: \"Immediate\", \"WaitForFirstConsumer\"",
            ],
        );
    }

    #[test]
    fn topologies_repeat_nothing() {
        let term =
            json!({"matchLabelExpressions": [{"key": "zone", "values": ["a", "a"]}, {"key": "zone", "values": []}]});
        let same = json!({"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]});
        check(
            &StorageClass,
            with("allowedTopologies", json!([same, same, term])),
            &[
                "allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\"",
                "allowedTopologies[2].matchLabelExpressions[0].values[1]: Duplicate value: \"a\"",
                "allowedTopologies[2].matchLabelExpressions[1].values: Required value",
                "allowedTopologies[2].matchLabelExpressions[1].key: Duplicate value: \"zone\"",
            ],
        );
    }

    #[test]
    fn what_was_promised_is_kept() {
        check_update(&StorageClass, class(), with("allowVolumeExpansion", true.into()), &[]);
        check_update(
            &StorageClass,
            class(),
            with("parameters", json!({"a": "b"})),
            &["parameters: Invalid value: {\"a\":\"b\"}: field is immutable"],
        );
        check_update(
            &StorageClass,
            class(),
            with("reclaimPolicy", "Retain".into()),
            &["reclaimPolicy: Invalid value: \"Retain\": field is immutable"],
        );
    }

    #[test]
    fn the_default_class_says_so() {
        let mut class = class();
        class.set_meta("annotations", json!({"storageclass.kubernetes.io/is-default-class": "true"}));
        assert_eq!(
            Value::from(cells("StorageClass", class)),
            json!(["fast (default)", "example.com/disk", "Delete", "Immediate", false, "10m"])
        );
    }
}
