//! An object of any kind as a JSON value, and the metadata every kind has.
//!
//! The API server never decodes into a struct per kind: it works on values and the
//! schema tables. These accessors are the only place that knows where metadata sits.

use crate::gvk::GroupVersionKind;
use serde_json::{Map, Value};

pub type Object = Map<String, Value>;

/// Reads and writes of metadata on a JSON object. Reads of what is absent or of the
/// wrong type give the empty value: decoding has checked types before these are used.
pub trait Meta {
    fn meta(&self, key: &str) -> Option<&Value>;
    fn meta_mut(&mut self) -> &mut Object;
    fn gvk(&self) -> GroupVersionKind;
    fn set_gvk(&mut self, gvk: &GroupVersionKind);
    /// The value at a path of object keys.
    fn at(&self, path: &[&str]) -> Option<&Value>;

    fn meta_str(&self, key: &str) -> &str {
        self.meta(key).and_then(Value::as_str).unwrap_or_default()
    }
    fn name(&self) -> &str {
        self.meta_str("name")
    }
    fn namespace(&self) -> &str {
        self.meta_str("namespace")
    }
    fn uid(&self) -> &str {
        self.meta_str("uid")
    }
    fn resource_version(&self) -> &str {
        self.meta_str("resourceVersion")
    }
    fn generation(&self) -> i64 {
        self.meta("generation").and_then(Value::as_i64).unwrap_or(0)
    }
    fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        strings(self.meta("labels"))
    }
    fn annotations(&self) -> impl Iterator<Item = (&str, &str)> {
        strings(self.meta("annotations"))
    }
    fn label(&self, key: &str) -> Option<&str> {
        self.meta("labels")?.get(key)?.as_str()
    }
    fn annotation(&self, key: &str) -> Option<&str> {
        self.meta("annotations")?.get(key)?.as_str()
    }
    fn finalizers(&self) -> Vec<&str> {
        match self.meta("finalizers") {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }
    fn is_deleting(&self) -> bool {
        self.meta("deletionTimestamp").is_some_and(|v| !v.is_null())
    }
    fn set_meta(&mut self, key: &str, value: impl Into<Value>) {
        self.meta_mut().insert(key.to_owned(), value.into());
    }
    fn remove_meta(&mut self, key: &str) {
        self.meta_mut().remove(key);
    }
    fn str_at(&self, path: &[&str]) -> &str {
        self.at(path).and_then(Value::as_str).unwrap_or_default()
    }
    fn i64_at(&self, path: &[&str]) -> Option<i64> {
        self.at(path).and_then(Value::as_i64)
    }
    fn bool_at(&self, path: &[&str]) -> Option<bool> {
        self.at(path).and_then(Value::as_bool)
    }
    /// The array at a path; empty when absent.
    fn items_at(&self, path: &[&str]) -> &[Value] {
        match self.at(path) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }
}

impl Meta for Value {
    fn meta(&self, key: &str) -> Option<&Value> {
        self.get("metadata")?.get(key)
    }

    fn meta_mut(&mut self) -> &mut Object {
        ensure_object(ensure_object(self).entry("metadata").or_insert_with(|| Value::Object(Map::new())))
    }

    fn gvk(&self) -> GroupVersionKind {
        let text = |key| self.get(key).and_then(Value::as_str).unwrap_or_default();
        crate::gvk::GroupVersion::parse(text("apiVersion")).with_kind(text("kind").to_owned())
    }

    fn set_gvk(&mut self, gvk: &GroupVersionKind) {
        let object = ensure_object(self);
        object.insert("apiVersion".into(), gvk.api_version().into());
        object.insert("kind".into(), gvk.kind.as_ref().into());
    }

    fn at(&self, path: &[&str]) -> Option<&Value> {
        let mut here = self;
        for key in path {
            here = here.get(key)?;
        }
        Some(here)
    }
}

/// The object at this place, made one if it is anything else.
pub fn ensure_object(value: &mut Value) -> &mut Object {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("made an object just above")
}

/// Sets `path` to `value` if nothing (or null) is there; the shape of every default.
pub fn set_default(object: &mut Value, path: &[&str], value: impl Into<Value>) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut here = object;
    for key in parents {
        here = ensure_object(here).entry(*key).or_insert(Value::Null);
    }
    let slot = ensure_object(here).entry(*last).or_insert(Value::Null);
    if slot.is_null() {
        *slot = value.into();
    }
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_is_read_and_written_in_place() {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"x": "y"}}});
        assert_eq!((pod.name(), pod.namespace(), pod.label("x")), ("a", "", Some("y")));
        pod.set_meta("namespace", "default");
        assert_eq!(pod.namespace(), "default");
        set_default(&mut pod, &["spec", "restartPolicy"], "Always");
        set_default(&mut pod, &["spec", "restartPolicy"], "Never");
        assert_eq!(pod.str_at(&["spec", "restartPolicy"]), "Always");
    }
}
