//! Who owns which field: every write ends with managedFields telling it
//! (ferry_api::patch::apply has the rules; this is where writes meet them).

use super::Caller;
use ferry_api::patch::apply::{self, Set, WriteOptions};
use ferry_api::status::Status;
use ferry_resources::Row;
use serde_json::Value;
use std::sync::LazyLock;

/// How a write's changes are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// What differs from the old object now belongs to the caller's field manager.
    Update,
    /// Server-side apply has recorded its changes itself.
    Applied,
}

/// What a write to the object cannot change where status has a door of its own, and the
/// reverse: nobody comes to own a field by sending it to the wrong door.
static NOT_MAIN: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
static NOT_STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"]]));

/// The fields that a door leaves as they are.
pub fn reset_fields(row: &Row, subresource: &str) -> Option<&'static Set> {
    match subresource {
        "" if row.subresource("status").is_some() => Some(&NOT_MAIN),
        "status" => Some(&NOT_STATUS),
        _ => None,
    }
}

impl Tracking {
    pub(super) fn record(
        self,
        row: &Row,
        old: Option<&Value>,
        new: &mut Value,
        subresource: &str,
        caller: &Caller,
    ) -> Result<(), Status> {
        if self == Self::Update {
            let kind = row.gvk();
            let options = WriteOptions {
                manager: &caller.field_manager,
                kind: &kind,
                subresource,
                now: caller.now,
                reset_fields: reset_fields(row, subresource),
            };
            apply::update(old, new, row.schema.as_deref(), &options);
        }
        Ok(())
    }
}
