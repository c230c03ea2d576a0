//! Defaults and validation of an object that is written: the facts of its type
//! first, then the kind's strategy. The API server's registry and verbs call these.
//!
//! An update judges only the parts of an object that it changes (`spec`, `data`), so that an
//! object from before a rule was made does not lock its owner out. Upstream's own declarative
//! marks do the same.

use crate::Row;
use crate::validation::marks::{validate_kept, validate_parts};
use ferry_api::field::{ErrorList, Path};
use ferry_api::schema::{self, TypeDef};
use serde_json::Value;
use std::borrow::Cow;

/// The parts that rules of all kinds judge.
const METADATA: &str = "metadata";
const STATUS: &str = "status";

impl Row {
    /// Fills in what the user left out: the constants of the facts, then what the strategy
    /// infers from other fields. Idempotent; called after every decode.
    pub fn default(&self, object: &mut Value) {
        if let (Some(schema), None) = (&self.schema, &self.custom) {
            schema.fill_defaults(object);
        }
        self.strategy.default(object);
    }

    /// Every mistake in a new object but those of its metadata.
    pub fn validate(&self, object: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        if let Some((judged, schema)) = self.judged(object) {
            validate_parts(&mut errors, schema, &judged, |part| part != METADATA);
        }
        errors.extend(self.strategy.validate(object));
        errors
    }

    /// Every mistake in a change of the object (`""`) or through a subresource.
    pub fn validate_update(&self, subresource: &str, new: &Value, old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        // A subresource with a body of another kind (a Binding) has its own rules.
        let is_own = match subresource {
            "" => true,
            name => self.subresource(name).is_some_and(|found| found.kind.kind == self.kind),
        };
        if is_own
            && let Some((judged, schema)) = self.judged(new)
            && let Some((before, _)) = self.judged(old)
        {
            validate_parts(&mut errors, schema, &judged, |part| {
                let is_open = part != METADATA && (part != STATUS || !subresource.is_empty());
                is_open && judged.get(part) != before.get(part)
            });
            if subresource.is_empty() {
                validate_kept(&mut errors, schema, &judged, &before, &Path::root());
            }
        }
        errors.extend(match subresource {
            "" => self.strategy.validate_update(new, old),
            "status" => self.strategy.validate_status_update(new, old),
            other => self.strategy.validate_subresource_update(other, new, old),
        });
        errors
    }

    /// The object in the version in which it is stored, for whose type the marks are written.
    fn judged<'a>(&self, object: &'a Value) -> Option<(Cow<'a, Value>, &TypeDef)> {
        if self.custom.is_some() {
            return None;
        }
        if self.stored_as.version == self.version && self.stored_as.group == self.group {
            return Some((Cow::Borrowed(object), self.schema.as_deref()?));
        }
        let mut stored = object.clone();
        self.strategy.to_stored(&mut stored);
        Some((Cow::Owned(stored), schema::of_kind(&self.stored_as)?))
    }
}
