//! RuntimeClass: the strategy of a way to run containers.

use crate::Strategy;
use crate::pod_spec::warnings::deprecated_node_label;
use crate::read::Read;
use crate::validation::resources::{Consumer, validate_requirements};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};

pub(crate) struct RuntimeClass;

impl Strategy for RuntimeClass {
    fn validate(&self, class: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        if let Some(fixed) = class.field("overhead").field("podFixed") {
            let limits = json!({"limits": fixed});
            let path = Path::new("overhead");
            validate_requirements(&mut errors, Some(&limits), Consumer::Container, &BTreeSet::new(), &path);
        }
        let path = Path::new("scheduling").child("tolerations");
        let mut seen = HashSet::new();
        for (index, toleration) in class.field("scheduling").list("tolerations").iter().enumerate() {
            if !seen.insert(["key", "operator", "value", "effect"].map(|key| toleration.text(key))) {
                errors.push(Error::duplicate(&path.index(index), toleration.clone()));
            }
        }
        errors
    }

    fn warnings(&self, class: &Value, _old: Option<&Value>) -> Vec<String> {
        let selector = class.field("scheduling").entries("nodeSelector");
        let messages = selector.keys().filter_map(|key| deprecated_node_label(key));
        messages.map(|message| format!("scheduling.nodeSelector: {message}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};

    #[test]
    fn a_class_names_its_handler_for_ever() {
        let class = |handler: &str| json!({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "a"}, "handler": handler});
        check(&RuntimeClass, class("runc"), &[]);
        check(&RuntimeClass, class(""), &["handler: Required value"]);
        check(&RuntimeClass, class("a.b"), &["handler: Invalid value: \"a.b\": must not contain dots"]);
        check_update(
            &RuntimeClass,
            class("runc"),
            class("crun"),
            &["handler: Invalid value: \"crun\": field is immutable"],
        );
        assert_eq!(Value::from(cells("RuntimeClass", class("runc"))), json!(["a", "runc", "10m"]));
    }

    #[test]
    fn tolerations_are_each_named_once() {
        let toleration = json!({"key": "a", "operator": "Exists"});
        check(
            &RuntimeClass,
            json!({"handler": "a", "scheduling": {"tolerations": [toleration, toleration], "nodeSelector": {"-": "a"}}}),
            &[
                "scheduling.nodeSelector: Invalid value: \"-\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                "scheduling.tolerations[1]: Duplicate value: {\"key\":\"a\",\"operator\":\"Exists\"}",
            ],
        );
        assert_eq!(
            RuntimeClass.warnings(&json!({"scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "linux"}}}), None),
            ["scheduling.nodeSelector: deprecated since v1.14; use \"kubernetes.io/os\" instead"]
        );
    }
}
