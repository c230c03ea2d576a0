//! Lease: the strategy of a claim that runs out: heartbeats and leadership.

use crate::read::{Read, field_mut, remove};
use crate::{Context, Strategy};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub struct Lease;

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

    fn validate(&self, lease: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (lease.field("spec"), Path::new("spec"));
        if let Some(seconds) = spec.opt_int("leaseDurationSeconds")
            && seconds <= 0
        {
            errors.push(Error::invalid(&path.child("leaseDurationSeconds"), seconds, "must be greater than 0"));
        }
        if let Some(count) = spec.opt_int("leaseTransitions")
            && count < 0
        {
            let detail = "must be greater than or equal to 0";
            errors.push(Error::invalid(&path.child("leaseTransitions"), count, detail));
        }
        errors
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    /// Two holders must not overwrite each other unseen.
    fn allows_unconditional_update(&self) -> bool {
        false
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
