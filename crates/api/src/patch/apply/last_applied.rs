//! The way from client-side to server-side apply: `kubectl apply --server-side` may take
//! what `kubectl apply` had set, as told by the annotation that the latter left behind.

use super::compare::compare;
use super::configuration::Request;
use super::conflict::Conflicts;
use super::extract::{extract, validate};
use crate::object::{Meta, ensure_object};
use crate::schema::TypeDef;
use serde_json::Value;

/// The manager of `kubectl apply --server-side`; any other opts out.
pub(super) const MANAGER: &str = "kubectl";
const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// All annotations of an object together may not be larger than this.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

/// The conflicts that are left when fields that client-side apply set, and that still have
/// the value it set, are allowed. `None` when there is no usable annotation.
pub(super) fn remaining_conflicts(
    request: &Request<'_>,
    conflicts: &Conflicts,
    definition: Option<&TypeDef>,
) -> Option<Conflicts> {
    let text = request.live.annotation(ANNOTATION).filter(|text| !text.is_empty())?;
    let last: Value = serde_json::from_str(text).ok()?;
    if last.get("apiVersion").and_then(Value::as_str) != Some(request.identity.api_version) {
        return None;
    }
    if !validate(request.place, &last).is_empty() {
        return None;
    }
    let changes = compare(Some(&last), request.live, definition);
    let allowed = extract(request.place, &last)
        .difference(&changes.modified)
        .difference(&changes.added)
        .difference(&changes.removed);
    let remaining = conflicts.0.iter().filter(|conflict| !allowed.has(&conflict.path.0));
    Some(Conflicts(remaining.cloned().collect()))
}

/// Keeps the annotation, where there is one, true to what was applied last.
pub(super) fn refresh(object: &mut Value, config: &Value) {
    if object.annotation(ANNOTATION).is_none_or(str::is_empty) {
        return;
    }
    let mut applied = config.clone();
    if let Some(annotations) =
        applied.get_mut("metadata").and_then(|m| m.get_mut("annotations")).and_then(Value::as_object_mut)
    {
        annotations.remove(ANNOTATION);
        if annotations.is_empty() {
            applied.remove_meta("annotations");
        }
    }
    // Upstream's encoder ends each document with a line feed.
    let text = format!("{applied}\n");
    let annotations = ensure_object(object.meta_mut().entry("annotations").or_insert(Value::Null));
    annotations.insert(ANNOTATION.to_owned(), text.into());
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATIONS_BYTES {
        annotations.remove(ANNOTATION);
    }
}
