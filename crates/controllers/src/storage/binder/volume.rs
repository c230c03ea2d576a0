//! The next step of one volume, decided from the volume and the claim that it points at.
//! Called by the binder's executor; pure.
//!
//! | claimRef | claim | step |
//! |---|---|---|
//! | none, or without a UID | | Available |
//! | complete | gone | Released, then the reclaim policy |
//! | | names no volume yet | wait: the claim's own step binds it |
//! | | names this volume | Bound |
//! | | names another | a volume made for it goes, any other is free again |
//!
//! Upstream: `syncVolume`, `reclaimVolume` and `unbindVolume` of
//! pkg/controller/volume/persistentvolume/pv_controller.go.

use super::EventNote;
use ferry_api::rules::volume_match::{BOUND_BY_CONTROLLER, MIGRATED_TO, PROVISIONED_BY, has_volume_mode};
use ferry_api::view::core::v1::{PersistentVolume, PersistentVolumeClaimView, PersistentVolumeView};

#[derive(Debug, PartialEq)]
pub(super) enum VolumePlan {
    /// Sets the phase where it differs.
    Phase(&'static str),
    /// The claim is to be bound, and its own step does it.
    LeaveToClaim,
    /// Nothing can be bound; both objects tell why.
    Mismatch { on_volume: EventNote, on_claim: EventNote },
    /// Nobody uses the volume any more.
    Release(Reclaim),
    /// Takes the binding back: the claim has another volume.
    Unbind,
}

/// The part of the reclaim policy that is the binder's to do.
#[derive(Debug, PartialEq)]
pub(super) enum Reclaim {
    /// The volume is kept, or its provisioner deletes it.
    Leave,
    /// Nobody can do what the policy asks; the phase is Failed.
    Fail(EventNote),
}

/// `claim` is the one that the volume's reference means, by name and UID.
pub(super) fn plan_volume(
    volume: PersistentVolumeView<'_>,
    claim: Option<PersistentVolumeClaimView<'_>>,
) -> VolumePlan {
    let is_complete = volume.spec().claim_ref().is_some_and(|reference| !reference.uid().is_empty());
    if !is_complete {
        return VolumePlan::Phase("Available");
    }
    let Some(claim) = claim else { return VolumePlan::Release(plan_reclaim(volume)) };
    let (name, claims) = (volume.metadata().name(), claim.spec().volume_name());
    if claims.is_empty() && !has_volume_mode(volume, claim) {
        let claim = claim.metadata().name();
        let on_volume = format!(
            "Cannot bind PersistentVolume to requested PersistentVolumeClaim {claim:?} due to incompatible volumeMode."
        );
        let on_claim = format!(
            "Cannot bind PersistentVolume {name:?} to requested PersistentVolumeClaim due to incompatible volumeMode."
        );
        let note = |message| EventNote::warning("VolumeMismatch", message);
        VolumePlan::Mismatch { on_volume: note(on_volume), on_claim: note(on_claim) }
    } else if claims.is_empty() {
        VolumePlan::LeaveToClaim
    } else if claims == name {
        VolumePlan::Phase("Bound")
    } else if volume.metadata().annotations().contains_key(PROVISIONED_BY)
        && volume.spec().persistent_volume_reclaim_policy() == "Delete"
    {
        VolumePlan::Release(plan_reclaim(volume))
    } else {
        VolumePlan::Unbind
    }
}

fn plan_reclaim(volume: PersistentVolumeView<'_>) -> Reclaim {
    let annotations = volume.metadata().annotations();
    if annotations.get(MIGRATED_TO).is_some_and(|driver| !driver.is_empty()) {
        return Reclaim::Leave;
    }
    let fail = |reason, message: String| Reclaim::Fail(EventNote::warning(reason, message));
    match volume.spec().persistent_volume_reclaim_policy() {
        "Retain" => Reclaim::Leave,
        // The pod that upstream recycles with needs an image from elsewhere, and the policy
        // is deprecated: there is no recycler here, as upstream has it for most volumes.
        "Recycle" => fail("VolumeFailedRecycle", "No recycler plugin found for the volume!".to_owned()),
        "Delete" => match annotations.get(PROVISIONED_BY).filter(|by| !by.is_empty()) {
            Some(by) if by.starts_with("kubernetes.io/") => {
                fail("VolumeFailedDelete", format!("no volume plugin matched name: {by}"))
            }
            Some(_) => Reclaim::Leave,
            None if volume.spec().csi().is_some() => Reclaim::Leave,
            None => {
                let name = volume.metadata().name();
                let why = "no deletable volume plugin matched";
                fail("VolumeFailedDelete", format!("error getting deleter volume plugin for volume {name:?}: {why}"))
            }
        },
        _ => fail("VolumeUnknownReclaimPolicy", "Volume has unrecognized PersistentVolumeReclaimPolicy".to_owned()),
    }
}

/// The volume without its binding. A reference that a user wrote stays, but for the UID.
pub(super) fn unbind_volume(volume: PersistentVolumeView<'_>) -> PersistentVolume {
    let by_controller = volume.metadata().annotations().contains_key(BOUND_BY_CONTROLLER);
    let mut free = volume.to_owned();
    if by_controller {
        free.edit_metadata(|meta| meta.insert_annotations(BOUND_BY_CONTROLLER, None::<&str>));
        free.edit_spec(|spec| spec.set_claim_ref(None::<ferry_api::view::core::v1::ObjectReference>));
    } else {
        free.edit_spec(|spec| spec.edit_claim_ref(|reference| reference.set_uid(None::<&str>)));
    }
    free
}

/// The volume in another phase; `None` where it is in it.
pub(super) fn in_phase(volume: PersistentVolumeView<'_>, phase: &str, message: &str) -> Option<PersistentVolume> {
    if volume.status().phase() == phase {
        return None;
    }
    let mut changed = volume.to_owned();
    changed.edit_status(|status| {
        status.set_phase(phase);
        status.set_message(Some(message).filter(|message| !message.is_empty()));
    });
    Some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::{Value, json};

    fn volume(uid: &str, policy: &str, annotations: Value) -> Value {
        json!({"metadata": {"name": "v", "annotations": annotations}, "spec": {"persistentVolumeReclaimPolicy": policy,
            "claimRef": {"namespace": "ns", "name": "data", "uid": uid}}})
    }

    fn claim(volume: &str, mode: &str) -> Value {
        json!({"metadata": {"namespace": "ns", "name": "data", "uid": "c1"},
            "spec": {"volumeName": volume, "volumeMode": mode}})
    }

    fn plan(volume: &Value, claim: Option<&Value>) -> VolumePlan {
        plan_volume(volume.into(), claim.map(Into::into))
    }

    #[test]
    fn the_claim_decides_the_phase() {
        let own = volume("c1", "Retain", json!({}));
        assert_eq!(plan(&json!({"metadata": {"name": "v"}}), None), VolumePlan::Phase("Available"));
        assert_eq!(plan(&volume("", "Retain", json!({})), None), VolumePlan::Phase("Available"));
        assert_eq!(plan(&own, Some(&claim("v", "Filesystem"))), VolumePlan::Phase("Bound"));
        assert_eq!(plan(&own, Some(&claim("", "Filesystem"))), VolumePlan::LeaveToClaim);
        assert_eq!(plan(&own, Some(&claim("w", "Filesystem"))), VolumePlan::Unbind);
        assert_eq!(plan(&own, None), VolumePlan::Release(Reclaim::Leave));
        let VolumePlan::Mismatch { on_claim, .. } = plan(&own, Some(&claim("", "Block"))) else { panic!("mismatch") };
        let message =
            "Cannot bind PersistentVolume \"v\" to requested PersistentVolumeClaim due to incompatible volumeMode.";
        assert_eq!((on_claim.reason, on_claim.message.as_str()), ("VolumeMismatch", message));
    }

    #[test]
    fn a_volume_made_for_a_claim_that_took_another_goes() {
        let made = || json!({PROVISIONED_BY: "example.com/disk", BOUND_BY_CONTROLLER: "yes"});
        let elsewhere = claim("w", "Filesystem");
        let delete = volume("c1", "Delete", made());
        assert_eq!(plan(&delete, Some(&elsewhere)), VolumePlan::Release(Reclaim::Leave));
        assert_eq!(plan(&volume("c1", "Retain", made()), Some(&elsewhere)), VolumePlan::Unbind);
    }

    #[test]
    fn the_reclaim_policy_is_the_provisioners_or_fails() {
        let check = |policy: &str, annotations: Value, expected: Option<&str>| {
            let reason = match plan(&volume("c1", policy, annotations), None) {
                VolumePlan::Release(Reclaim::Fail(note)) => Some(note.reason),
                VolumePlan::Release(Reclaim::Leave) => None,
                other => panic!("{other:?}"),
            };
            assert_eq!(reason, expected, "{policy}");
        };
        check("Retain", json!({}), None);
        check("Delete", json!({PROVISIONED_BY: "example.com/disk"}), None);
        check("Delete", json!({PROVISIONED_BY: "kubernetes.io/gce-pd"}), Some("VolumeFailedDelete"));
        let migrated = json!({PROVISIONED_BY: "kubernetes.io/gce-pd", MIGRATED_TO: "pd.csi.storage.gke.io"});
        check("Delete", migrated, None);
        check("Delete", json!({}), Some("VolumeFailedDelete"));
        check("Recycle", json!({}), Some("VolumeFailedRecycle"));
        check("Burn", json!({}), Some("VolumeUnknownReclaimPolicy"));
        let mut csi = volume("c1", "Delete", json!({}));
        csi["spec"]["csi"] = json!({"driver": "example.com", "volumeHandle": "h"});
        assert_eq!(plan(&csi, None), VolumePlan::Release(Reclaim::Leave));
    }

    #[test]
    fn unbinding_keeps_what_a_user_wrote() {
        let users = volume("c1", "Retain", json!({}));
        let free = unbind_volume((&users).into());
        assert_eq!(free.value()["spec"]["claimRef"], json!({"namespace": "ns", "name": "data"}));
        let ours = volume("c1", "Retain", json!({BOUND_BY_CONTROLLER: "yes"}));
        let free = unbind_volume((&ours).into());
        assert_eq!(free.view().spec().claim_ref(), None);
        assert!(free.view().metadata().annotations().is_empty());
    }
}
