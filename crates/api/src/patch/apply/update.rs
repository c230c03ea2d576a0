//! Ownership after a create, a replace or a patch: whoever changed a field owns it.
//! Called by the registry on every write, so what did not change costs nothing.

use super::compare::compare;
use super::ownership::{Identity, Operation, Ownership};
use super::set::Set;
use crate::codec::time::format_seconds;
use crate::gvk::GroupVersionKind;
use crate::object::Meta;
use crate::schema::TypeDef;
use serde_json::Value;
use std::sync::LazyLock;

/// Who writes, through which door, and when.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions<'a> {
    /// The request's `fieldManager`, or what comes before the slash in its user agent.
    pub manager: &'a str,
    /// The kind and version that the request writes in.
    pub kind: &'a GroupVersionKind,
    /// `status`, `scale`, …; empty for the object itself.
    pub subresource: &'a str,
    pub now: jiff::Timestamp,
    /// Fields that the strategy sets back on this door, so that nobody comes to own them:
    /// `status` on the object, `spec` and most of the metadata on the status.
    pub reset_fields: Option<&'a Set>,
}

impl<'a> WriteOptions<'a> {
    pub(super) fn identity(&self, operation: Operation, api_version: &'a str) -> Identity<'a> {
        let manager = if self.manager.is_empty() { "unknown" } else { self.manager };
        Identity { manager, operation, api_version, subresource: self.subresource }
    }

    pub(super) fn time(&self) -> String {
        format_seconds(self.now)
    }
}

/// Fields that say what the object is, not how it should be; nobody owns them.
static STRIPPED: LazyLock<Set> = LazyLock::new(|| {
    Set::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

pub(super) fn stripped() -> &'static Set {
    &STRIPPED
}

/// Writes `metadata.managedFields` of `new`, which is about to take the place of `live`
/// (`None` on create). `definition` is `None` for objects without a schema.
pub fn update(live: Option<&Value>, new: &mut Value, definition: Option<&TypeDef>, options: &WriteOptions<'_>) {
    let Some(metadata) = new.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let sent = metadata.remove("managedFields");
    let live_fields = live.and_then(|live| live.meta("managedFields"));
    let mut ownership = starting_ownership(sent, live_fields, options);
    let is_create = live.is_none_or(|live| live.uid().is_empty());
    // An object that is not tracked yet, or whose owner has reset it, stays so until the
    // next apply.
    if ownership.is_empty() && !is_create {
        return;
    }
    track(live, new, definition, options, &mut ownership);
    ownership.cap_updaters();
    if let Some(fields) = ownership.into_json() {
        new.set_meta("managedFields", fields);
    }
}

/// What the write starts from: the entries that the client sent, if they are good ones
/// (clients may edit them), else those of the live object.
fn starting_ownership(sent: Option<Value>, live: Option<&Value>, options: &WriteOptions<'_>) -> Ownership {
    if sent.as_ref() == live {
        return Ownership::trusted(sent);
    }
    if options.subresource.is_empty() {
        match &sent {
            // An empty list, or a list of one empty entry, is the order to forget all.
            Some(Value::Array(items)) if items.iter().all(is_blank_entry) && items.len() <= 1 => {
                return Ownership::default();
            }
            Some(fields) => {
                if let Ok(ownership) = Ownership::decode(fields)
                    && !ownership.is_empty()
                {
                    return ownership;
                }
            }
            None => {}
        }
    }
    Ownership::trusted(live.cloned())
}

fn is_blank_entry(entry: &Value) -> bool {
    entry
        .as_object()
        .is_some_and(|entry| entry.values().all(|value| value.is_null() || value.as_str().is_some_and(str::is_empty)))
}

/// Moves every field that differs between `live` and `new` to the writer.
pub(super) fn track(
    live: Option<&Value>,
    new: &Value,
    definition: Option<&TypeDef>,
    options: &WriteOptions<'_>,
    ownership: &mut Ownership,
) {
    let mut changes = compare(live, new, definition);
    if let Some(reset) = options.reset_fields {
        changes.exclude(reset);
    }
    if changes.is_same() {
        ownership.drop_empty();
        return;
    }
    let mut written = changes.added;
    written.absorb(changes.modified);
    for entry in &mut ownership.entries {
        entry.release(&written);
        entry.release(&changes.removed);
    }
    ownership.drop_empty();
    let mut own = written;
    own.subtract(&STRIPPED);
    if own.is_empty() {
        return;
    }
    let api_version = options.kind.api_version();
    let entry = ownership.entry(&options.identity(Operation::Update, &api_version));
    own.absorb(entry.set().into_owned());
    entry.replace_set(own);
    entry.set_time(&options.time());
}

/// Gives a write back the times of the entries it replaces when it changed nothing else,
/// so that it can be seen to be no change at all and need not be stored. Called between
/// admission and the store.
pub fn keep_times_of_unchanged(old: &Value, new: &mut Value) {
    let (Some(Value::Array(old_entries)), Some(Value::Array(new_entries))) =
        (old.meta("managedFields"), new.meta("managedFields"))
    else {
        return;
    };
    if new_entries.is_empty() || old_entries.len() != new_entries.len() || old_entries == new_entries {
        return;
    }
    let is_same_but_time = |old: &Value, new: &Value| match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let rest = |one: &'_ crate::object::Object, other: &'_ crate::object::Object| {
                one.iter().all(|(key, value)| key == "time" || other.get(key) == Some(value))
            };
            rest(old, new) && rest(new, old)
        }
        _ => old == new,
    };
    if !old_entries.iter().zip(new_entries).all(|(old, new)| is_same_but_time(old, new)) {
        return;
    }
    let is_same_object = |old: &Value, new: &Value, skipped: &str| match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            old.len() == new.len()
                && old.iter().all(|(key, value)| key == skipped || new.get(key).is_some_and(|other| other == value))
        }
        _ => false,
    };
    let metadata = (&old["metadata"], &new["metadata"]);
    if is_same_object(old, new, "metadata") && is_same_object(metadata.0, metadata.1, "managedFields") {
        let entries = Value::Array(old_entries.clone());
        new.set_meta("managedFields", entries);
    }
}
