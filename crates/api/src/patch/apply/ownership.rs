//! The entries of `metadata.managedFields`: reading, checking, changing and writing them.
//!
//! An entry stays the JSON it was until its fields change, so that a write costs no more
//! than what it touches.

use super::set::Set;
use crate::object::Object;
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;

/// How many entries of updates an object keeps; older ones are merged into buckets.
const MAX_UPDATERS: usize = 10;
/// The manager of those buckets.
const BUCKET: &str = "ancient-changes";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    Apply,
    Update,
}

impl Operation {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// Which entry a write belongs to. An applier has one entry whatever version it applies
/// in; an updater has one for each version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity<'a> {
    pub manager: &'a str,
    pub operation: Operation,
    pub api_version: &'a str,
    pub subresource: &'a str,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    json: Object,
    /// Read from the JSON when first needed; ahead of it until written.
    set: Option<Set>,
}

impl Entry {
    fn text(&self, key: &str) -> &str {
        self.json.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn manager(&self) -> &str {
        self.text("manager")
    }

    pub(super) fn operation(&self) -> Operation {
        if self.text("operation") == "Apply" { Operation::Apply } else { Operation::Update }
    }

    pub(super) fn api_version(&self) -> &str {
        self.text("apiVersion")
    }

    pub(super) fn subresource(&self) -> &str {
        self.text("subresource")
    }

    fn seconds(&self) -> i64 {
        self.text("time").parse::<jiff::Timestamp>().map(jiff::Timestamp::as_second).unwrap_or(0)
    }

    pub(super) fn identity(&self) -> Identity<'_> {
        Identity {
            manager: self.manager(),
            operation: self.operation(),
            api_version: self.api_version(),
            subresource: self.subresource(),
        }
    }

    fn is(&self, identity: &Identity<'_>) -> bool {
        self.operation() == identity.operation
            && self.manager() == identity.manager
            && self.subresource() == identity.subresource
            && (identity.operation == Operation::Apply || self.api_version() == identity.api_version)
    }

    /// The fields; those of an entry that cannot be read are none.
    pub(super) fn set(&self) -> Cow<'_, Set> {
        match &self.set {
            Some(set) => Cow::Borrowed(set),
            None => Cow::Owned(
                self.json.get("fieldsV1").and_then(|fields| Set::from_value(fields).ok()).unwrap_or_default(),
            ),
        }
    }

    pub(super) fn replace_set(&mut self, set: Set) {
        self.set = Some(set);
    }

    /// Whether a field of `fields` is the entry's.
    fn owns_any(&self, fields: &Set) -> bool {
        match &self.set {
            Some(set) => set.intersects(fields),
            None => self.json.get("fieldsV1").is_some_and(|wire| fields.intersects_wire(wire)),
        }
    }

    /// Gives up the fields of `fields`.
    pub(super) fn release(&mut self, fields: &Set) {
        if self.owns_any(fields) {
            let mut set = self.set().into_owned();
            set.subtract(fields);
            self.set = Some(set);
        }
    }

    pub(super) fn time(&self) -> Option<&str> {
        self.json.get("time").and_then(Value::as_str)
    }

    pub(super) fn set_api_version(&mut self, api_version: &str) {
        self.json.insert("apiVersion".to_owned(), api_version.into());
    }

    pub(super) fn set_time(&mut self, time: &str) {
        self.json.insert("time".to_owned(), time.into());
    }

    fn is_empty(&self) -> bool {
        match &self.set {
            Some(set) => set.is_empty(),
            None => self.json.get("fieldsV1").and_then(Value::as_object).is_none_or(Object::is_empty),
        }
    }

    fn into_json(mut self) -> Value {
        if let Some(set) = &self.set {
            self.json.insert("fieldsV1".to_owned(), set.to_value());
        }
        Value::Object(self.json)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ownership {
    pub entries: Vec<Entry>,
}

impl Ownership {
    /// The entries of a stored object, which were checked when they were written.
    pub(super) fn trusted(fields: Option<Value>) -> Self {
        let Some(Value::Array(items)) = fields else { return Self::default() };
        let entries = items.into_iter().filter_map(|item| match item {
            Value::Object(json) => Some(Entry { json, set: None }),
            _ => None,
        });
        Self { entries: entries.collect() }
    }

    /// The entries that a client sent, or what is wrong with them.
    pub(super) fn decode(fields: &Value) -> Result<Self, String> {
        let items = match fields {
            Value::Null => return Ok(Self::default()),
            Value::Array(items) => items,
            _ => return Err("managedFields must be a list".to_owned()),
        };
        let mut out = Self::default();
        for (index, item) in items.iter().enumerate() {
            let Value::Object(json) = item else { return Err(format!("invalid managed fields entry {index}")) };
            let mut entry = Entry { json: json.clone(), set: None };
            if !matches!(entry.text("operation"), "Apply" | "Update") {
                return Err("operation must be `Apply` or `Update`".to_owned());
            }
            if entry.api_version().is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match entry.text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
                other => return Err(format!("invalid fieldsType {other:?} in managed fields entry {index}")),
            }
            let wire = json.get("fieldsV1").unwrap_or(&Value::Null);
            let set = Set::from_value(wire).map_err(|error| {
                format!("error decoding versioned set from managed fields entry {index}: error decoding set: {error}")
            })?;
            entry.set = Some(set);
            // Of entries with one identity the last counts.
            let position = out.entries.iter().position(|other| other.is(&entry.identity()));
            match position {
                Some(position) => out.entries[position] = entry,
                None => out.entries.push(entry),
            }
        }
        Ok(out)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn position(&self, identity: &Identity<'_>) -> Option<usize> {
        self.entries.iter().position(|entry| entry.is(identity))
    }

    /// The entry of `identity`, made when there is none; its version becomes the identity's.
    pub(super) fn entry(&mut self, identity: &Identity<'_>) -> &mut Entry {
        let index = self.position(identity).unwrap_or_else(|| {
            let mut json = Object::new();
            json.insert("manager".to_owned(), identity.manager.into());
            json.insert("operation".to_owned(), identity.operation.as_str().into());
            json.insert("fieldsType".to_owned(), "FieldsV1".into());
            if !identity.subresource.is_empty() {
                json.insert("subresource".to_owned(), identity.subresource.into());
            }
            self.entries.push(Entry { json, set: Some(Set::new()) });
            self.entries.len() - 1
        });
        let entry = &mut self.entries[index];
        if entry.api_version() != identity.api_version {
            entry.set_api_version(identity.api_version);
        }
        entry
    }

    pub(super) fn drop_empty(&mut self) {
        self.entries.retain(|entry| !entry.is_empty());
    }

    /// Merges the oldest entries of updates, version by version, until at most
    /// [`MAX_UPDATERS`] remain.
    pub(super) fn cap_updaters(&mut self) {
        let is_updater = |entry: &Entry| entry.operation() == Operation::Update;
        let mut count = self.entries.iter().filter(|entry| is_updater(entry)).count();
        if count <= MAX_UPDATERS {
            return;
        }
        let (mut updaters, mut kept): (Vec<Entry>, Vec<Entry>) = self.entries.drain(..).partition(is_updater);
        updaters.sort_by(|a, b| a.seconds().cmp(&b.seconds()).then_with(|| compare_identity(a, b)));
        let mut buckets: Vec<Entry> = Vec::new();
        for entry in updaters {
            let bucket = buckets.iter_mut().find(|bucket| bucket.api_version() == entry.api_version());
            match bucket {
                Some(bucket) if count > MAX_UPDATERS => {
                    // The first of its version becomes the bucket once a second joins it.
                    bucket.json.insert("manager".to_owned(), BUCKET.into());
                    bucket.json.remove("subresource");
                    bucket.set = Some(bucket.set().union(&entry.set()));
                    if let Some(time) = entry.json.get("time") {
                        bucket.json.insert("time".to_owned(), time.clone());
                    }
                    count -= 1;
                }
                None if count > MAX_UPDATERS => buckets.push(entry),
                _ => kept.push(entry),
            }
        }
        kept.extend(buckets);
        self.entries = kept;
    }

    /// `managedFields` in upstream's order: appliers first, then by time.
    pub(super) fn into_json(mut self) -> Option<Value> {
        if self.entries.is_empty() {
            return None;
        }
        self.entries.sort_by(|a, b| {
            a.operation().cmp(&b.operation()).then_with(|| compare_time(a, b)).then_with(|| compare_identity(a, b))
        });
        Some(Value::Array(self.entries.into_iter().map(Entry::into_json).collect()))
    }
}

fn compare_time(left: &Entry, right: &Entry) -> Ordering {
    let (a, b) = (left.text("time"), right.text("time"));
    let is_plain = |text: &str| text.len() == 20 && text.ends_with('Z');
    // Whole seconds in UTC, which is all that we write, are in order as texts.
    if is_plain(a) && is_plain(b) { a.cmp(b) } else { left.seconds().cmp(&right.seconds()) }
}

fn compare_identity(left: &Entry, right: &Entry) -> Ordering {
    let key = |entry: &Entry| {
        let identity = entry.identity();
        (identity.manager.to_owned(), identity.api_version.to_owned(), identity.subresource.to_owned())
    };
    key(left).cmp(&key(right))
}

/// What is wrong with a `managedFields` that admission has changed; upstream's
/// ValidateManagedFields.
pub fn validate(fields: Option<&Value>) -> Result<(), String> {
    fields.map_or(Ok(()), |fields| Ownership::decode(fields).map(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(manager: &str, operation: &str, time: &str, fields: Value) -> Value {
        json!({
            "manager": manager, "operation": operation, "apiVersion": "v1", "time": time,
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        })
    }

    #[test]
    fn entries_are_checked_when_they_come_from_outside() {
        let good = entry("a", "Update", "2020-01-01T00:00:00Z", json!({"f:a": {}}));
        let broken = |key: &str, value: Value| {
            let mut entry = good.clone();
            entry[key] = value;
            Ownership::decode(&json!([entry])).map(drop)
        };
        assert!(Ownership::decode(&json!([good])).is_ok());
        assert_eq!(broken("operation", json!("Replace")), Err("operation must be `Apply` or `Update`".to_owned()));
        assert_eq!(broken("apiVersion", json!("")), Err("apiVersion must not be empty".to_owned()));
        assert_eq!(broken("fieldsType", json!("")), Err("missing fieldsType in managed fields entry 0".to_owned()));
        assert_eq!(
            broken("fieldsType", json!("V2")),
            Err("invalid fieldsType \"V2\" in managed fields entry 0".to_owned())
        );
        assert!(broken("fieldsV1", json!({"nonsense": {}})).is_err());
    }

    #[test]
    fn appliers_come_first_and_then_the_oldest() {
        let ownership = Ownership::trusted(Some(json!([
            entry("z", "Update", "2020-01-01T00:00:00Z", json!({"f:a": {}})),
            entry("b", "Update", "2020-01-02T00:00:00Z", json!({"f:b": {}})),
            entry("a", "Update", "2020-01-02T00:00:00Z", json!({"f:c": {}})),
            entry("y", "Apply", "2020-01-03T00:00:00Z", json!({"f:d": {}})),
        ])));
        let json = ownership.into_json().expect("entries");
        let order: Vec<&str> = json.as_array().expect("a list").iter().filter_map(|e| e["manager"].as_str()).collect();
        assert_eq!(order, ["y", "z", "a", "b"]);
    }

    #[test]
    fn the_oldest_updates_are_merged_beyond_ten() {
        let many: Vec<Value> = (0..12)
            .map(|n| {
                entry(
                    &format!("m{n:02}"),
                    "Update",
                    &format!("2020-01-{:02}T00:00:00Z", n + 1),
                    json!({format!("f:{n}"): {}}),
                )
            })
            .collect();
        let mut ownership = Ownership::trusted(Some(Value::Array(many)));
        ownership.cap_updaters();
        let json = ownership.into_json().expect("entries");
        let items = json.as_array().expect("a list");
        assert_eq!(items.len(), 10);
        assert_eq!(
            items[0],
            entry("ancient-changes", "Update", "2020-01-03T00:00:00Z", json!({"f:0": {}, "f:1": {}, "f:2": {}}))
        );
        assert_eq!(items[1]["manager"], "m03");
    }
}
