//! Lease: the strategy of a claim that runs out: heartbeats and leadership.

use crate::read::{field_mut, remove};
use crate::{Context, Strategy};
use serde_json::Value;

pub(crate) struct Lease;

impl Strategy for Lease {
    /// Coordinated leader election is off, as upstream has it, and its fields with it.
    fn prepare_for_create(&self, _context: &Context, lease: &mut Value) {
        if let Some(spec) = field_mut(lease, "spec") {
            remove(spec, "strategy");
            remove(spec, "preferredHolder");
        }
    }

    fn prepare_for_update(&self, context: &Context, new: &mut Value, _old: &Value) {
        self.prepare_for_create(context, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn a_lease_lasts() {
        check(&Lease, json!({"spec": {"leaseDurationSeconds": 40, "holderIdentity": "a"}}), &[]);
        check(
            &Lease,
            json!({"spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}),
            &[
                "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
                "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
            ],
        );
    }
}
