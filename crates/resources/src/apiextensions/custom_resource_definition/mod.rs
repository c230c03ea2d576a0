//! CustomResourceDefinition: the strategy of a kind that users define
//! (apiextensions-apiserver's registry/customresourcedefinition). What becomes of it once
//! it is stored is the API server's `crd/`.

mod field_path;
mod rules;
mod schema;
mod structural;
#[cfg(test)]
mod tests;
mod validate;

use crate::read::{Read, default_text, field_mut, list_mut, set};
use crate::structural::is_known_format;
use crate::{Context, Strategy};
use ferry_api::field::ErrorList;
use ferry_api::object::{Meta, ensure_object};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use validate::Demands;

pub use field_path::{FieldPath, resolve as resolve_field_path};
pub use structural::{unsupported as unsupported_schema, validate_structural};

/// Holds a definition until its instances are gone.
const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

pub struct CustomResourceDefinition;

impl Strategy for CustomResourceDefinition {
    fn default(&self, definition: &mut Value) {
        let Some(names) = field_mut(definition, "spec").and_then(|spec| field_mut(spec, "names")) else { return };
        let kind = names.text("kind").to_owned();
        if !kind.is_empty() {
            default_text(names, "singular", &kind.to_lowercase());
            default_text(names, "listKind", &format!("{kind}List"));
        }
        let storage = storage_version(definition).map(str::to_owned);
        if definition.field("status").list("storedVersions").is_empty()
            && let Some(version) = storage
        {
            let status = ensure_object(definition).entry("status").or_insert_with(|| json!({}));
            set(status, "storedVersions", json!([version]));
        }
    }

    fn prepare_for_create(&self, _context: &Context, definition: &mut Value) {
        let stored: Vec<&str> = storage_version(definition).into_iter().collect();
        let status = json!({"storedVersions": stored});
        set(definition, "status", status);
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, _old: &Value) {
        let Some(version) = storage_version(new).map(str::to_owned) else { return };
        if new.field("status").texts("storedVersions").any(|stored| stored == version) {
            return;
        }
        let mut stored = new.field("status").list("storedVersions").to_vec();
        stored.push(version.into());
        let status = ensure_object(new).entry("status").or_insert_with(|| json!({}));
        set(status, "storedVersions", stored);
    }

    fn validate(&self, definition: &Value) -> ErrorList {
        validate::validate(definition, None, &Demands::of_new())
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = validate::validate(new, Some(old), &Demands::of_update(new, old));
        validate::validate_immutable_names(&mut errors, new, old);
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate::validate_status(&mut errors, new);
        errors
    }

    fn warnings(&self, definition: &Value, old: Option<&Value>) -> Vec<String> {
        let known = old.map(unrecognized_formats).unwrap_or_default();
        let formats = unrecognized_formats(definition).into_iter().filter(|format| !known.contains(format));
        formats.map(|format| format!("unrecognized format {format:?}")).collect()
    }

    fn requires_standard_finalizers(&self) -> bool {
        false
    }

    /// A definition waits until its instances are gone.
    fn mark_for_deletion(&self, definition: &Value, now: Timestamp) -> Option<Value> {
        let mut marked = definition.clone();
        let mut finalizers: Vec<Value> = marked.finalizers().into_iter().map(Value::from).collect();
        if !finalizers.iter().any(|finalizer| finalizer == CLEANUP_FINALIZER) {
            finalizers.push(CLEANUP_FINALIZER.into());
        }
        marked.set_meta("finalizers", finalizers);
        let condition = json!({
            "type": "Terminating", "status": "True", "reason": "InstanceDeletionPending",
            "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
            "lastTransitionTime": ferry_api::codec::time::format_seconds(now),
        });
        let mut conditions = marked.field("status").list("conditions").to_vec();
        conditions.retain(|condition| condition.text("type") != "Terminating");
        conditions.push(condition);
        let status = ensure_object(&mut marked).entry("status").or_insert_with(|| json!({}));
        set(status, "conditions", conditions);
        Some(marked)
    }
}

/// The version in which objects of the kind are to be stored.
fn storage_version(definition: &Value) -> Option<&str> {
    let versions = definition.field("spec").list("versions");
    versions.iter().find(|version| version.flag("storage")).map(|version| version.text("name"))
}

/// The spec as upstream's internal type has it: what is the same in all versions stands
/// once beside them, and there its mistakes are reported.
fn internal_spec(definition: &Value) -> Value {
    let mut spec = definition.field("spec").cloned().unwrap_or_default();
    let mut shared = Map::new();
    for (key, at_top) in [
        ("schema", "validation"),
        ("subresources", "subresources"),
        ("additionalPrinterColumns", "additionalPrinterColumns"),
        ("selectableFields", "selectableFields"),
    ] {
        let versions = spec.list("versions");
        let Some(first) = versions.first() else { break };
        let value = first.field(key).cloned();
        if versions.iter().any(|version| version.field(key) != value.as_ref()) {
            continue;
        }
        for version in list_mut(&mut spec, "versions") {
            crate::read::remove(version, key);
        }
        if let Some(value) = value {
            shared.insert(at_top.to_owned(), value);
        }
    }
    ensure_object(&mut spec).extend(shared);
    spec
}

/// Every schema of a spec in the internal form.
fn schemas(spec: &Value) -> impl Iterator<Item = &Value> {
    let own = spec.list("versions").iter().filter_map(|version| version.field("schema").field("openAPIV3Schema"));
    spec.field("validation").field("openAPIV3Schema").into_iter().chain(own)
}

/// Calls `visit` for a schema and every schema in it, depth first.
fn walk<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a Value)) {
    visit(schema);
    match schema.field("items") {
        Some(Value::Array(items)) => items.iter().for_each(|item| walk(item, visit)),
        Some(item) => walk(item, visit),
        None => {}
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        schema.list(key).iter().for_each(|part| walk(part, visit));
    }
    for key in ["not", "additionalProperties", "additionalItems"] {
        if let Some(part @ Value::Object(_)) = schema.field(key) {
            walk(part, visit);
        }
    }
    for key in ["properties", "patternProperties", "definitions", "dependencies"] {
        schema.entries(key).values().filter(|part| part.is_object()).for_each(|part| walk(part, visit));
    }
}

/// Formats that nothing checks.
fn unrecognized_formats(definition: &Value) -> Vec<String> {
    let spec = internal_spec(definition);
    let mut found = Vec::new();
    for schema in schemas(&spec) {
        walk(schema, &mut |part| {
            let format = part.text("format");
            if !format.is_empty() && !is_known_format(part.text("type"), format) {
                found.push(format.to_owned());
            }
        });
    }
    found
}
