//! Reports that a claim which asks for more waits for whoever can expand its volume: the CSI
//! driver's resizer, or the built-in provisioner. No volume is expanded from here, as upstream
//! expands none since its in-tree plugins went to CSI drivers.
//!
//! Upstream: pkg/controller/volume/expand.

use crate::error::Result;
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::volume_match::requested_storage;
use ferry_api::view::core::v1::{
    PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimView, PersistentVolumeView,
};
use ferry_client::{Informers, SharedObject};

pub(crate) struct ExpandController;

#[async_trait]
impl Controller for ExpandController {
    fn name(&self) -> &'static str {
        "persistentvolume-expander-controller"
    }

    fn identity(&self) -> &'static str {
        "expand-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::cached(informers.of::<PersistentVolume>()),
            Watch::new(informers.of::<PersistentVolumeClaim>(), |event, enqueue| {
                let (old, new) = event.versions();
                let asked = |claim: &SharedObject<PersistentVolumeClaim>| requested_storage(claim.view());
                // A claim that is seen for the first time asked before this process began.
                if let Some(new) = new
                    && old.is_none_or(|old| asked(new) > asked(old))
                {
                    enqueue.add_object(new.meta());
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let claims = ctx.informers.of::<PersistentVolumeClaim>();
        let Some(claim) = claims.get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let volume = ctx.informers.of::<PersistentVolume>().get("", claim.view().spec().volume_name());
        if volume.is_some_and(|volume| awaits_expansion(claim.view(), volume.view())) {
            let message = "waiting for an external controller to expand this PVC";
            ctx.recorder.normal(&claim, "ExternalExpanding", message);
        }
        Ok(Action::Done)
    }
}

/// Whether a bound claim asks for more than it has.
fn awaits_expansion(claim: PersistentVolumeClaimView<'_>, volume: PersistentVolumeView<'_>) -> bool {
    let status = claim.status();
    let is_theirs = volume.spec().claim_ref().is_some_and(|reference| reference.uid() == claim.metadata().uid());
    status.phase() == "Bound"
        && is_theirs
        && requested_storage(claim) > status.capacity().get("storage").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bound_claim_that_asks_for_more_waits() {
        let check = |phase: &str, asked: &str, uid: &str, expected: bool| {
            let claim = json!({"metadata": {"uid": "c1"}, "spec": {"resources": {"requests": {"storage": asked}}},
                "status": {"phase": phase, "capacity": {"storage": "1Gi"}}});
            let volume = json!({"spec": {"claimRef": {"uid": uid}}});
            assert_eq!(awaits_expansion((&claim).into(), (&volume).into()), expected, "{phase} {asked} {uid}");
        };
        check("Bound", "2Gi", "c1", true);
        check("Bound", "1Gi", "c1", false);
        check("Pending", "2Gi", "c1", false);
        check("Bound", "2Gi", "c2", false);
    }
}
