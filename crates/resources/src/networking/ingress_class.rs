//! IngressClass: the strategy of which controller serves an Ingress.

use crate::read::{Read, ReadNode};
use crate::validation::each;
use crate::{Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct IngressClass;

const DEFAULT_ANNOTATION: &str = "ingressclass.kubernetes.io/is-default-class";

impl Strategy for IngressClass {
    fn validate(&self, class: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (class.field("spec"), Path::new("spec"));
        if let Some(parameters) = spec.field("parameters") {
            validate_parameters(&mut errors, parameters, &path.child("parameters"));
        }
        errors
    }

    fn computed_cells(&self, class: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let spec = class.field("spec");
        let is_default = class.annotation(DEFAULT_ANNOTATION) == Some("true");
        let parameters = match spec.field("parameters") {
            None => "<none>".to_owned(),
            Some(parameters) => {
                let group = parameters.opt_text("apiGroup").map(|group| format!(".{group}")).unwrap_or_default();
                format!("{}{group}/{}", parameters.text("kind"), parameters.text("name"))
            }
        };
        vec![
            if is_default { format!("{} (default)", class.name()).into() } else { class.name().into() },
            parameters.into(),
        ]
    }
}

fn validate_parameters(errors: &mut ErrorList, parameters: &Value, path: &Path) {
    let (at, namespace) = (path.child("namespace"), parameters.opt_text("namespace"));
    match (parameters.opt_text("scope"), namespace) {
        (None, _) => errors.push(Error::required(&path.child("scope"), "")),
        (Some("Namespace"), None) => {
            errors.push(Error::required(&at, "`parameters.scope` is set to 'Namespace'"));
        }
        (Some("Namespace"), Some(namespace)) => {
            each(errors, &at, namespace, names::dns1123_label(namespace, false));
        }
        (Some("Cluster"), Some(_)) => errors.push(Error::forbidden(&at, "`parameters.scope` is set to 'Cluster'")),
        (Some("Cluster"), None) => {}
        (Some(other), _) => {
            errors.push(Error::not_supported(&path.child("scope"), other, &["Cluster", "Namespace"]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use ferry_api::object::Meta;
    use serde_json::json;

    fn class(controller: &str, parameters: Value) -> Value {
        json!({"metadata": {"name": "a"}, "spec": {"controller": controller, "parameters": parameters}})
    }

    #[test]
    fn a_controller_is_named_with_its_domain() {
        check(&IngressClass, class("example.com/a", Value::Null), &[]);
        check(&IngressClass, class("example.com/a", json!({"kind": "A", "name": "b"})), &[]);
        check(&IngressClass, json!({}), &["spec.controller: Required value"]);
        check(
            &IngressClass,
            class("example.com/a", json!({"kind": "A", "name": "b", "namespace": "c"})),
            &["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
        );
        check(
            &IngressClass,
            class("example.com/a", json!({"kind": "A", "name": "b", "scope": "Namespace"})),
            &["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
        );
    }

    #[test]
    fn the_controller_never_changes() {
        check_update(
            &IngressClass,
            class("example.com/a", Value::Null),
            class("example.com/b", Value::Null),
            &["spec.controller: Invalid value: \"example.com/b\": field is immutable"],
        );
    }

    #[test]
    fn the_default_class_is_marked() {
        let mut shown = class("example.com/a", json!({"apiGroup": "g", "kind": "A", "name": "b"}));
        shown.set_meta("annotations", json!({"ingressclass.kubernetes.io/is-default-class": "true"}));
        assert_eq!(Value::from(cells("IngressClass", shown)), json!(["a (default)", "example.com/a", "A.g/b", "10m"]));
    }
}
