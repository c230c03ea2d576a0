//! The fields and kinds that the API accepts and that nothing acts on yet: one list for
//! the API server, which warns of them, for the kubelet, which refuses those of security
//! meaning, and for `ferry status`, which counts the kinds.
//!
//! **Invariant:** the list only shrinks. An entry goes when a component acts on its field
//! or kind; the tests hold every entry against the facts and count them.

mod kinds;
mod pod_fields;

pub use kinds::{KINDS, UnsupportedKind};
pub use pod_fields::{CONTAINER_FIELDS, POD_FIELDS};

use crate::gvk::GroupVersionKind;
use crate::object::Meta;
use serde_json::Value;

/// The answer to a field that nothing acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consequence {
    /// Running the pod without the field would make it less safe than it was asked to be,
    /// or another one: the kubelet rejects the pod.
    Rejected,
    /// The pod cannot start: the kubelet waits and names the field in an event.
    Waits,
    /// The pod runs as if the field were not set.
    Ignored,
}

/// A field of a pod that nothing acts on.
#[derive(Debug)]
pub struct UnsupportedField {
    /// From the PodSpec or the Container; `[*]` stands for every item of a list.
    pub path: &'static str,
    /// Whether a value at the path asks for something that is not done.
    pub is_asked: fn(&Value) -> bool,
    pub consequence: Consequence,
    /// The missing effect, as the end of a sentence that begins with the path.
    pub rule: &'static str,
}

/// A field of the list that a pod sets, with the place where it stands.
#[derive(Debug)]
pub struct FieldUse {
    /// `spec.containers[0].lifecycle.stopSignal`.
    pub path: String,
    pub field: &'static UnsupportedField,
}

impl FieldUse {
    /// `spec.hostUsers: this node gives pods no user namespace of their own`.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.path, self.field.rule)
    }

    /// The sentence with what comes of it, for whoever creates the pod.
    fn warning(&self) -> String {
        let outcome = match self.field.consequence {
            Consequence::Rejected => "the node rejects the pod",
            Consequence::Waits => "the pod does not start",
            Consequence::Ignored => "the field is ignored",
        };
        format!("{}; {outcome}", self.sentence())
    }
}

const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// The fields of the list that a PodSpec sets; `at` is the path of the spec itself.
pub fn fields_of_pod_spec(spec: &Value, at: &str) -> Vec<FieldUse> {
    let mut found = Vec::new();
    for field in POD_FIELDS {
        search(spec, field.path, at.to_owned(), field, &mut found);
    }
    for list in CONTAINER_LISTS {
        let containers = spec.get(list).and_then(Value::as_array);
        for (index, container) in containers.into_iter().flatten().enumerate() {
            found.extend(fields_of_container(container, &format!("{at}.{list}[{index}]")));
        }
    }
    found
}

/// The fields of the list that one container sets; `at` is the path of the container.
pub fn fields_of_container(container: &Value, at: &str) -> Vec<FieldUse> {
    let mut found = Vec::new();
    for field in CONTAINER_FIELDS {
        search(container, field.path, at.to_owned(), field, &mut found);
    }
    found
}

fn search(value: &Value, path: &str, at: String, field: &'static UnsupportedField, found: &mut Vec<FieldUse>) {
    if path.is_empty() {
        if (field.is_asked)(value) {
            found.push(FieldUse { path: at, field });
        }
        return;
    }
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match first.strip_suffix("[*]") {
        Some(name) => {
            let items = value.get(name).and_then(Value::as_array);
            for (index, item) in items.into_iter().flatten().enumerate() {
                search(item, rest, format!("{at}.{name}[{index}]"), field, found);
            }
        }
        None => {
            if let Some(inner) = value.get(first).filter(|inner| !inner.is_null()) {
                search(inner, rest, format!("{at}.{first}"), field, found);
            }
        }
    }
}

/// The sentences for the Warning header of a create (`old` is `None`) or an update. An
/// update repeats nothing that was warned of before.
pub fn warnings(kind: &GroupVersionKind, new: &Value, old: Option<&Value>) -> Vec<String> {
    let before = old.map(|old| sentences(kind, old)).unwrap_or_default();
    let mut now = sentences(kind, new);
    now.retain(|sentence| !before.contains(sentence));
    now
}

fn sentences(kind: &GroupVersionKind, object: &Value) -> Vec<String> {
    let mut sentences: Vec<String> = KINDS
        .iter()
        .filter(|entry| entry.group == kind.group && entry.kind == kind.kind)
        .map(UnsupportedKind::sentence)
        .collect();
    let (spec, at) = match kind.kind.as_ref() {
        "Pod" if kind.group.is_empty() => (object.at(&["spec"]), "spec"),
        // Whatever else has a template of pods in the usual place and is made into pods.
        "Deployment" | "ReplicaSet" | "DaemonSet" | "ReplicationController" | "StatefulSet" | "Job" => {
            (object.at(&["spec", "template", "spec"]), "spec.template.spec")
        }
        "CronJob" => {
            let path = ["spec", "jobTemplate", "spec", "template", "spec"];
            (object.at(&path), "spec.jobTemplate.spec.template.spec")
        }
        _ => (None, ""),
    };
    let uses = spec.map(|spec| fields_of_pod_spec(spec, at)).unwrap_or_default();
    sentences.extend(uses.iter().map(FieldUse::warning));
    sentences
}

#[cfg(test)]
mod tests;
