//! What an apply would take from others, and the 409 that says so.

use super::ownership::{Identity, Operation};
use super::set::{Path, Set};
use crate::status::{Cause, Status};

/// One field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// `"kubectl-edit" with subresource "scale" using apps/v1`.
    pub manager: String,
    pub path: Path,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflicts(pub Vec<Conflict>);

impl Conflicts {
    pub(super) fn add(&mut self, owner: &Identity<'_>, fields: &Set) {
        let manager = describe(owner);
        self.0.extend(fields.paths().into_iter().map(|path| Conflict { manager: manager.clone(), path }));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Apply failed with 1 conflict: conflict with "a" using v1: .spec.x`, or the list of
    /// conflicts by manager.
    pub fn message(&self) -> String {
        if let [one] = self.0.as_slice() {
            return format!("Apply failed with 1 conflict: conflict with {}: {}", one.manager, one.path);
        }
        let mut managers: Vec<&str> = self.0.iter().map(|conflict| conflict.manager.as_str()).collect();
        managers.sort_unstable();
        managers.dedup();
        let mut lines = Vec::with_capacity(self.0.len() + managers.len());
        for manager in managers {
            lines.push(format!("conflicts with {manager}:"));
            let own = self.0.iter().filter(|conflict| conflict.manager == manager);
            lines.extend(own.map(|conflict| format!("- {}", conflict.path)));
        }
        format!("Apply failed with {} conflicts: {}", self.0.len(), lines.join("\n"))
    }
}

impl From<Conflicts> for Status {
    fn from(conflicts: Conflicts) -> Self {
        let causes = conflicts.0.iter().map(|conflict| Cause {
            reason: "FieldManagerConflict".to_owned(),
            message: format!("conflict with {}", conflict.manager),
            field: conflict.path.to_string(),
        });
        Status::apply_conflict(causes.collect(), conflicts.message())
    }
}

fn describe(owner: &Identity<'_>) -> String {
    let mut text = format!("{:?}", owner.manager);
    if !owner.subresource.is_empty() {
        text.push_str(&format!(" with subresource {:?}", owner.subresource));
    }
    if owner.operation == Operation::Update {
        text.push_str(&format!(" using {}", owner.api_version));
    }
    text
}
