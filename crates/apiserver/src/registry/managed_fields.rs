//! Who owns which field: every write ends with managedFields telling it
//! (ferry_api::patch::apply has the rules; this is where writes meet them).

use super::Caller;
use ferry_api::patch::apply::{self, WriteOptions};
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::reset::ResetFields;
use serde_json::Value;

/// How a write's changes are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// What differs from the old object now belongs to the caller's field manager.
    Update,
    /// Server-side apply has recorded its changes itself.
    Applied,
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
                reset_fields: row.reset_fields(subresource).and_then(ResetFields::set),
            };
            apply::update(old, new, row.schema.as_deref(), &options);
        }
        Ok(())
    }
}
