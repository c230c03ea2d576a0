//! The strategy of every custom resource: the schema does the work
//! (apiextensions-apiserver's registry/customresource).

use super::Custom;
use super::columns::Columns;
use crate::names::is_qualified_name;
use crate::read::{remove, set};
use crate::{Context, Strategy};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

pub(super) struct CustomResource {
    custom: Arc<Custom>,
    kind: GroupVersionKind,
    columns: Columns,
}

/// Finalizers that need no domain because the server itself knows them.
const STANDARD_FINALIZERS: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

impl CustomResource {
    pub(super) fn new(custom: Arc<Custom>, kind: GroupVersionKind, columns: Columns) -> Self {
        Self { custom, kind, columns }
    }

    /// Admission may have turned the object into something else.
    fn validate_type(&self, object: &Value) -> ErrorList {
        let found = object.gvk();
        let mut errors = ErrorList::new();
        if found.kind != self.kind.kind {
            let detail = format!("must be {}", self.kind.kind);
            errors.push(Error::invalid(&Path::new("kind"), found.kind.as_ref(), detail));
        }
        if found.api_version() != self.kind.api_version() {
            let detail = format!("must be {}", self.kind.api_version());
            errors.push(Error::invalid(&Path::new("apiVersion"), found.api_version(), detail));
        }
        errors
    }

    fn validate_write(&self, new: &Value, old: Option<&Value>) -> ErrorList {
        let mut errors = self.validate_type(new);
        if !errors.is_empty() {
            return errors;
        }
        errors = self.custom.structural.validate(new, old);
        if let Some(scale) = &self.custom.scale {
            scale.validate_spec(new, &mut errors);
            scale.validate_status(new, &mut errors);
        }
        errors
    }
}

impl Strategy for CustomResource {
    /// Admission can bring fields that the schema does not know, so pruning comes again.
    fn default(&self, object: &mut Value) {
        self.custom.structural.prune(object);
        self.custom.structural.default(object);
    }

    /// Of everything but status only the record of who wrote what is taken.
    fn prepare_for_status_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        let status = new.get("status").cloned();
        let managed = new.meta("managedFields").cloned();
        let version = new.resource_version().to_owned();
        *new = old.clone();
        match managed {
            Some(managed) => new.set_meta("managedFields", managed),
            None => new.remove_meta("managedFields"),
        }
        new.set_meta("resourceVersion", version);
        match status {
            Some(status) => set(new, "status", status),
            None => remove(new, "status"),
        }
    }

    fn validate(&self, object: &Value) -> ErrorList {
        self.validate_write(object, None)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        self.validate_write(new, Some(old))
    }

    fn validate_subresource_update(&self, _subresource: &str, new: &Value, old: &Value) -> ErrorList {
        self.validate_write(new, Some(old))
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate_type(new);
        if !errors.is_empty() {
            return errors;
        }
        errors = self.custom.structural.validate_status(new, old);
        if let Some(scale) = &self.custom.scale {
            scale.validate_status(new, &mut errors);
        }
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let known = old.map(Meta::finalizers).unwrap_or_default();
        let mut added: Vec<&str> = new.finalizers().into_iter().filter(|name| !known.contains(name)).collect();
        added.sort_unstable();
        added.dedup();
        added.into_iter().flat_map(finalizer_warnings).collect()
    }

    fn requires_standard_finalizers(&self) -> bool {
        false
    }

    fn computed_cells(&self, object: Node<'_>, now: Timestamp) -> Vec<Value> {
        self.columns.cells(object, now)
    }
}

fn finalizer_warnings(name: &str) -> Vec<String> {
    let path = "metadata.finalizers";
    let mut warnings: Vec<String> =
        is_qualified_name(name).into_iter().map(|why| format!("{path}: {name:?}: {why}")).collect();
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let how = if name.contains('.') { " including a path (/)" } else { "" };
        warnings.push(format!(
            "{path}: {name:?}: prefer a domain-qualified finalizer name{how} to avoid accidental conflicts with other finalizer writers"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finalizers_without_a_domain_are_warned_of() {
        assert_eq!(finalizer_warnings("example.com/a"), Vec::<String>::new());
        assert_eq!(finalizer_warnings("foregroundDeletion"), Vec::<String>::new());
        assert_eq!(
            finalizer_warnings("a"),
            [
                "metadata.finalizers: \"a\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
            ]
        );
    }
}
