//! Fields that a write does not decide: `status` on a write of the object, `spec` on a
//! write of its status (upstream's GetResetFields and the wiping of PrepareForCreate and
//! PrepareForUpdate); and fields whose changes the generation counts. Both are columns of
//! `resources.tsv`. The API server's registry calls the methods of [`Row`] here, which run
//! the strategy after the facts.

use crate::validation::equality::same_in;
use crate::{Context, Row};
use ferry_api::object::Meta;
use ferry_api::patch::apply::Set;
use serde_json::Value;

/// Names of the fields from the object down: `["metadata", "labels"]`.
type FieldPath = Vec<&'static str>;

/// The metadata that a status update keeps where the facts say `metadata`: all that a user
/// set (upstream's ResetObjectMetaForStatus). Field managers are recorded all the same.
const STATUS_METADATA: [&str; 7] =
    ["deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"];

/// Fields that an update through one door puts back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResetFields {
    paths: Vec<FieldPath>,
    set: Option<Set>,
}

impl ResetFields {
    /// Of a list as the facts write it: `spec,metadata.labels`.
    pub fn of(list: &'static str) -> Self {
        let paths = field_paths(list);
        let fields: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
        Self { set: (!fields.is_empty()).then(|| Set::of_fields(&fields)), paths }
    }

    /// The same for field managers: nobody comes to own a field by sending it to the wrong door.
    pub fn set(&self) -> Option<&Set> {
        self.set.as_ref()
    }

    fn put_back(&self, new: &mut Value, old: &Value) {
        for path in &self.paths {
            match path.as_slice() {
                ["metadata"] => {
                    new.meta_mut();
                    STATUS_METADATA.iter().for_each(|key| put_back(new, old, &["metadata", key]));
                }
                path => put_back(new, old, path),
            }
        }
    }
}

/// The changes that `metadata.generation` counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// The kind has no generation.
    #[default]
    Absent,
    /// Any change of these fields, in the sense of upstream's Semantic.DeepEqual; where there
    /// are none the generation stays 1.
    Fields(Vec<FieldPath>),
    /// Any change outside of metadata (custom resources).
    Content,
}

impl Generation {
    pub(crate) fn of(list: &'static str) -> Self {
        match list {
            "-" => Self::Absent,
            "never" => Self::Fields(Vec::new()),
            list => Self::Fields(field_paths(list)),
        }
    }
}

impl Row {
    /// Upstream's GetResetFields of the object (`""`) or of a subresource.
    pub fn reset_fields(&self, subresource: &str) -> Option<&ResetFields> {
        match subresource {
            "" => Some(&self.reset),
            name => self.subresource(name).map(|subresource| &subresource.reset),
        }
    }

    /// Clears what users may not set on create and runs the strategy's own preparation.
    pub fn prepare_for_create(&self, context: &Context, object: &mut Value) {
        if let Some(fields) = object.as_object_mut() {
            for key in &self.wiped {
                fields.remove(*key);
            }
        }
        self.strategy.prepare_for_create(context, object);
    }

    /// Puts back what may not change through the object (`""`) or a subresource, and runs the
    /// strategy's own preparation.
    pub fn prepare_for_update(&self, context: &Context, subresource: &str, new: &mut Value, old: &Value) {
        if let Some(reset) = self.reset_fields(subresource) {
            reset.put_back(new, old);
        }
        match subresource {
            "" => self.strategy.prepare_for_update(context, new, old),
            "status" => self.strategy.prepare_for_status_update(context, new, old),
            other => self.strategy.prepare_for_subresource_update(context, other, new, old),
        }
    }

    /// Whether metadata.generation is kept for this kind.
    pub fn has_generation(&self) -> bool {
        self.generation != Generation::Absent
    }

    /// Whether an update makes a new generation.
    pub fn is_new_generation(&self, new: &Value, old: &Value) -> bool {
        match &self.generation {
            Generation::Absent => false,
            Generation::Fields(paths) => paths.iter().any(|path| !same_in(self.schema.as_deref(), new, old, path)),
            Generation::Content => !same_but_metadata(new, old),
        }
    }
}

fn field_paths(list: &'static str) -> Vec<FieldPath> {
    if list == "-" { Vec::new() } else { list.split(',').map(|path| path.split('.').collect()).collect() }
}

/// Puts `old`'s field in place of `new`'s, absence included.
fn put_back(new: &mut Value, old: &Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    let holder = parents.iter().try_fold(new, |value, key| value.get_mut(*key));
    let Some(holder) = holder.and_then(Value::as_object_mut) else { return };
    match path.iter().try_fold(old, |value, key| value.get(key)) {
        Some(value) => holder.insert((*last).to_owned(), value.clone()),
        None => holder.remove(*last),
    };
}

fn same_but_metadata(new: &Value, old: &Value) -> bool {
    let (Value::Object(new), Value::Object(old)) = (new, old) else { return new == old };
    let count = |object: &serde_json::Map<String, Value>| object.len() - usize::from(object.contains_key("metadata"));
    count(new) == count(old)
        && new.iter().filter(|(key, _)| *key != "metadata").all(|(key, value)| old.get(key) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::row;
    use serde_json::json;

    #[test]
    fn a_field_is_put_back_with_its_absence() {
        let old = json!({"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"a": 1}});
        let new = json!({"metadata": {"name": "a", "annotations": {"c": "d"}}, "spec": {"a": 2}, "status": {"b": 1}});
        for (reset, expected) in [
            ("-", new.clone()),
            ("status", json!({"metadata": {"name": "a", "annotations": {"c": "d"}}, "spec": {"a": 2}})),
            (
                "spec,metadata.labels",
                json!({"metadata": {"name": "a", "labels": {"a": "b"}, "annotations": {"c": "d"}},
                    "spec": {"a": 1}, "status": {"b": 1}}),
            ),
            (
                "spec,metadata",
                json!({"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"a": 1}, "status": {"b": 1}}),
            ),
        ] {
            let mut changed = new.clone();
            ResetFields::of(reset).put_back(&mut changed, &old);
            assert_eq!(changed, expected, "{reset}");
        }
    }

    #[test]
    fn a_status_update_changes_no_labels() {
        let old = json!({"metadata": {"name": "a", "labels": {"a": "b"}, "generation": 2}});
        let mut new = json!({"metadata": {"name": "a", "finalizers": ["x/y"], "managedFields": [{}]}});
        ResetFields::of("metadata").put_back(&mut new, &old);
        assert_eq!(
            new,
            json!({"metadata": {"name": "a", "labels": {"a": "b"}, "generation": 2, "managedFields": [{}]}})
        );
    }

    #[test]
    fn a_generation_counts_what_the_facts_name() {
        for (kind, old, new, expected) in [
            ("Pod", json!({"spec": {"nodeName": ""}}), json!({"spec": {}}), false),
            ("Pod", json!({"spec": {}}), json!({"spec": {"nodeName": "a"}}), true),
            ("Pod", json!({}), json!({"status": {"phase": "Running"}}), false),
            ("Deployment", json!({}), json!({"metadata": {"annotations": {"a": "b"}}}), true),
            ("Deployment", json!({"metadata": {"annotations": {}}}), json!({"metadata": {}}), false),
            ("PriorityClass", json!({"value": 1}), json!({"value": 2}), false),
            ("ConfigMap", json!({"data": {}}), json!({"data": {"a": "b"}}), false),
            ("EndpointSlice", json!({}), json!({"metadata": {"labels": {"a": "b"}}}), true),
            ("MutatingWebhookConfiguration", json!({}), json!({"webhooks": [{"name": "a"}]}), true),
        ] {
            assert_eq!(row(kind).is_new_generation(&new, &old), expected, "{kind} {old} {new}");
        }
    }
}
