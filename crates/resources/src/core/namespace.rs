//! Namespace: the strategy of a room for names.

use crate::read::{Read, field_mut, keep, set};
use crate::validation::each;
use crate::validation::metadata::validate_standard_finalizer;
use crate::{Context, Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use serde_json::{Value, json};

pub(crate) struct Namespace;

/// Every namespace can be selected by its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";
/// The namespace controller takes this finalizer off once the namespace is empty.
const FINALIZER: &str = "kubernetes";

impl Strategy for Namespace {
    fn default(&self, namespace: &mut Value) {
        let name = namespace.name().to_owned();
        // A name yet to be generated gets its label in prepare_for_create.
        if !name.is_empty() {
            let labels = namespace.meta_mut().entry("labels").or_insert(Value::Null);
            ensure_object(labels).insert(NAME_LABEL.to_owned(), name.into());
        }
    }

    fn prepare_for_create(&self, _context: &Context, namespace: &mut Value) {
        set(namespace, "status", json!({"phase": "Active"}));
        // By now a generated name is known, which the defaults before did not see.
        self.default(namespace);
        let spec = ensure_object(ensure_object(namespace).entry("spec").or_insert(Value::Null));
        match spec.entry("finalizers").or_insert_with(|| json!([])) {
            Value::Array(finalizers) => {
                if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
                    finalizers.push(FINALIZER.into());
                }
            }
            other => *other = json!([FINALIZER]),
        }
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        match (field_mut(new, "spec"), old.field("spec")) {
            (Some(spec), Some(old)) => keep(spec, old, "finalizers"),
            (None, Some(_)) => keep(new, old, "spec"),
            (_, None) => {}
        }
    }

    fn validate(&self, namespace: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let path = Path::new("spec").child("finalizers");
        for finalizer in namespace.field("spec").texts("finalizers") {
            each(&mut errors, &path, finalizer, names::is_qualified_name(finalizer));
            validate_standard_finalizer(&mut errors, finalizer, &path);
        }
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let phase = new.field("status").text("phase");
        let (expected, when) = if new.is_deleting() { ("Terminating", "not empty") } else { ("Active", "empty") };
        if phase == expected {
            return ErrorList::new();
        }
        vec![Error::invalid(
            &Path::new("status").child("Phase"),
            phase,
            format!("may only be '{expected}' if `deletionTimestamp` is {when}"),
        )]
    }

    fn validate_subresource_update(&self, subresource: &str, new: &Value, _old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        if subresource == "finalize" {
            for (index, finalizer) in new.field("spec").texts("finalizers").enumerate() {
                let path = Path::new("spec").child("finalizers").index(index);
                each(&mut errors, &path, finalizer, names::is_qualified_name(finalizer));
                validate_standard_finalizer(&mut errors, finalizer, &path);
            }
        }
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;
    use crate::testing::row;

    #[test]
    fn a_new_namespace_is_active_and_finalized() {
        let mut namespace = json!({"metadata": {"name": "a"}});
        crate::testing::default(&Namespace, &mut namespace);
        Namespace.prepare_for_create(&crate::testing::context(), &mut namespace);
        assert_eq!(
            namespace,
            json!({
                "metadata": {"name": "a", "labels": {"kubernetes.io/metadata.name": "a"}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            })
        );
    }

    #[test]
    fn an_update_keeps_finalizers_and_phase() {
        let old = json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
        let mut new = json!({"spec": {"finalizers": []}, "status": {"phase": "Terminating"}});
        row("Namespace").prepare_for_update(&context(), "", &mut new, &old);
        assert_eq!(new, old);
    }
}
