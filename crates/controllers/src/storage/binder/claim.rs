//! The next step of one claim, decided from the claim, the volume that it names or that fits
//! it best, and its class. Called by the binder's executor; pure.
//!
//! | claim | volume | step |
//! |---|---|---|
//! | not bound yet, names no volume | one fits | bind |
//! | | none, the class waits for a consumer | tell so, unless the scheduler has chosen a node |
//! | | none, the class has a provisioner | ask it |
//! | not bound yet, names a volume | free and fits, or kept for this claim | bind |
//! | | missing, another's, or does not fit | wait |
//! | bound before | its own | bind again, which repairs what is missing |
//! | | missing or another's | Lost, which is final |
//!
//! Upstream: `syncUnboundClaim`, `syncBoundClaim` and `provisionClaim` of
//! pkg/controller/volume/persistentvolume/pv_controller.go.

use super::EventNote;
use ferry_api::rules::volume_match::{
    BIND_COMPLETED, BOUND_BY_CONTROLLER, SELECTED_NODE, class_of_claim, is_bound_to, mismatch, names_class,
    storage_capacity, waits_for_first_consumer,
};
use ferry_api::view::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimStatusView, PersistentVolumeClaimView, PersistentVolumeView,
};
use ferry_api::view::storage::v1::StorageClassView;

/// In-tree plugins have no provisioner of their own any more; these were handed to CSI
/// drivers, which volumes are asked of instead (csi-translation-lib).
const MIGRATED: &[(&str, &str)] = &[
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/cinder", "cinder.csi.openstack.org"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ("kubernetes.io/portworx-volume", "pxd.portworx.com"),
    ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
];

/// On a volume whose filesystem is still to grow: the capacity that it has until then.
const PRE_RESIZE_CAPACITY: &str = "volume.alpha.kubernetes.io/pre-resize-capacity";

/// All that the decision needs.
pub(super) struct ClaimFacts<'a> {
    pub claim: PersistentVolumeClaimView<'a>,
    /// The volume that the claim names; for a claim that names none, the best that fits.
    pub volume: Option<PersistentVolumeView<'a>>,
    /// The claim's class, where it exists.
    pub class: Option<StorageClassView<'a>>,
    /// The class of claims that name none.
    pub default_class: Option<&'a str>,
    /// The pods that use the claim, have not ended and are on no node yet.
    pub waiting_pods: &'a [String],
}

#[derive(Debug, PartialEq)]
pub(super) enum ClaimPlan {
    /// Writes both sides of the binding to the volume of the facts.
    Bind,
    /// Gives the claim the default class, which came after it.
    AssignClass(String),
    /// Names the provisioner on the claim and waits for it to make a volume.
    AskProvisioner { provisioner: String, migrated_to: Option<&'static str>, note: EventNote },
    /// The claim stays as it is; its phase may also be Lost by a mistake of its past.
    Wait(Option<EventNote>),
    /// The claim waits for somebody else, and its phase is Pending.
    Pending(Option<EventNote>),
    /// The data is gone. The note is sent when the phase changes.
    Lost(EventNote),
    /// The state should not exist; it is reported and looked at again.
    Invalid { note: EventNote, why: String },
}

pub(super) fn plan_claim(facts: &ClaimFacts<'_>) -> ClaimPlan {
    let claim = facts.claim;
    if claim.metadata().annotations().contains_key(BIND_COMPLETED) {
        plan_bound(facts)
    } else if claim.spec().volume_name().is_empty() {
        plan_unbound(facts)
    } else {
        plan_named(facts)
    }
}

fn plan_unbound(facts: &ClaimFacts<'_>) -> ClaimPlan {
    let claim = facts.claim;
    if facts.volume.is_some() {
        return ClaimPlan::Bind;
    }
    if let Some(class) = facts.default_class.filter(|_| !names_class(claim)) {
        return ClaimPlan::AssignClass(class.to_owned());
    }
    let waits = facts.class.is_some_and(waits_for_first_consumer);
    if waits && !claim.metadata().annotations().contains_key(SELECTED_NODE) {
        return ClaimPlan::Pending(Some(wait_for_consumer(facts.waiting_pods)));
    }
    match class_of_claim(claim) {
        "" => ClaimPlan::Pending(Some(EventNote::normal(
            "FailedBinding",
            "no persistent volumes available for this claim and no storage class is set",
        ))),
        name => plan_provisioning(name, facts.class),
    }
}

fn plan_provisioning(name: &str, class: Option<StorageClassView<'_>>) -> ClaimPlan {
    let failed = |why: String| ClaimPlan::Wait(Some(EventNote::warning("ProvisioningFailed", why)));
    let Some(class) = class else { return failed(format!("storageclass.storage.k8s.io {name:?} not found")) };
    let own = class.provisioner();
    let migrated_to = MIGRATED.iter().find(|(plugin, _)| *plugin == own).map(|(_, driver)| *driver);
    if migrated_to.is_none() && own.starts_with("kubernetes.io/") {
        return failed(format!("no volume plugin matched name: {own}"));
    }
    let provisioner = migrated_to.unwrap_or(own).to_owned();
    let message = format!(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the \
        system administrator. If volume creation is delayed, please verify that the provisioner is running and \
        correctly registered."
    );
    ClaimPlan::AskProvisioner { provisioner, migrated_to, note: EventNote::normal("ExternalProvisioning", message) }
}

fn wait_for_consumer(pods: &[String]) -> EventNote {
    match pods {
        [] => EventNote::normal(
            "WaitForFirstConsumer",
            "waiting for first consumer to be created before binding".to_owned(),
        ),
        [pod] => EventNote::normal("WaitForPodScheduled", format!("waiting for pod {pod} to be scheduled")),
        pods => {
            EventNote::normal("WaitForPodScheduled", format!("waiting for pods {} to be scheduled", pods.join(",")))
        }
    }
}

fn plan_named(facts: &ClaimFacts<'_>) -> ClaimPlan {
    let claim = facts.claim;
    let Some(volume) = facts.volume else { return ClaimPlan::Pending(None) };
    let name = volume.metadata().name();
    let Some(reference) = volume.spec().claim_ref() else {
        return match mismatch(volume, claim) {
            None => ClaimPlan::Bind,
            Some(why) => ClaimPlan::Pending(Some(EventNote::warning(
                "VolumeMismatch",
                format!("Cannot bind to requested volume {name:?}: {why}"),
            ))),
        };
    };
    if is_bound_to(volume, claim) {
        return ClaimPlan::Bind;
    }
    let note = EventNote::warning("FailedBinding", format!("volume {name:?} already bound to a different claim."));
    if !claim.metadata().annotations().contains_key(BOUND_BY_CONTROLLER) {
        return ClaimPlan::Pending(Some(note));
    }
    let (meta, other) = (claim.metadata(), [reference.namespace(), reference.name()].join("/"));
    let own = [meta.namespace(), meta.name()].join("/");
    let why = format!("invalid binding of claim {own:?} to volume {name:?}: volume already claimed by {other:?}");
    ClaimPlan::Invalid { note, why }
}

fn plan_bound(facts: &ClaimFacts<'_>) -> ClaimPlan {
    let claim = facts.claim;
    let lost = |reason, message| ClaimPlan::Lost(EventNote::warning(reason, message));
    if claim.spec().volume_name().is_empty() {
        return lost("ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
    }
    let Some(volume) = facts.volume else {
        return lost("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    };
    match volume.spec().claim_ref() {
        None => ClaimPlan::Bind,
        Some(reference) if reference.uid() == claim.metadata().uid() => ClaimPlan::Bind,
        Some(_) => lost("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly"),
    }
}

/// The claim with its side of the binding written; `None` where it already is.
pub(super) fn bind_claim(claim: PersistentVolumeClaimView<'_>, volume: &str) -> Option<PersistentVolumeClaim> {
    let is_named = claim.spec().volume_name() == volume;
    let annotations = claim.metadata().annotations();
    if is_named && annotations.contains_key(BIND_COMPLETED) {
        return None;
    }
    let mut bound = claim.to_owned();
    bound.edit_spec(|spec| spec.set_volume_name(volume));
    bound.edit_metadata(|meta| {
        if !is_named && !annotations.contains_key(BOUND_BY_CONTROLLER) {
            meta.insert_annotations(BOUND_BY_CONTROLLER, "yes");
        }
        if !annotations.contains_key(BIND_COMPLETED) {
            meta.insert_annotations(BIND_COMPLETED, "yes");
        }
    });
    Some(bound)
}

/// The claim with a status of Bound, `None` where it has it. The capacity is taken over only
/// when the phase changes: afterwards the filesystem may rightly be smaller than the volume.
pub(super) fn bound_status(
    claim: PersistentVolumeClaimView<'_>,
    volume: PersistentVolumeView<'_>,
) -> Option<PersistentVolumeClaim> {
    let (status, spec) = (claim.status(), volume.spec());
    let is_new = status.phase() != "Bound";
    if !is_new && status.access_modes() == spec.access_modes() {
        return None;
    }
    let mut changed = claim.to_owned();
    changed.edit_status(|own| {
        own.set_phase("Bound");
        own.set_access_modes(spec.access_modes().iter());
        if is_new {
            let until_resized = volume.metadata().annotations().get(PRE_RESIZE_CAPACITY);
            match until_resized.and_then(|text| ferry_api::quantity::Quantity::parse(text).ok()) {
                Some(capacity) => own.insert_capacity("storage", capacity),
                None if storage_capacity(volume) != status.capacity().get("storage") => {
                    own.set_capacity(spec.capacity().iter());
                }
                None => {}
            }
        }
        if status.phase() == "Pending" {
            own.set_current_volume_attributes_class_name(spec.volume_attributes_class_name());
        }
    });
    Some(changed)
}

/// The claim with a status of a phase without a volume; `None` where it has it.
pub(super) fn unbound_status(claim: PersistentVolumeClaimView<'_>, phase: &str) -> Option<PersistentVolumeClaim> {
    if is_unbound(claim.status(), phase) {
        return None;
    }
    let mut changed = claim.to_owned();
    changed.edit_status(|own| {
        own.set_phase(phase);
        own.set_access_modes(std::iter::empty::<&str>());
        own.set_capacity(std::iter::empty::<(&str, &str)>());
        own.set_current_volume_attributes_class_name(None::<&str>);
    });
    Some(changed)
}

fn is_unbound(status: PersistentVolumeClaimStatusView<'_>, phase: &str) -> bool {
    status.phase() == phase
        && status.access_modes().is_empty()
        && status.capacity().is_empty()
        && status.current_volume_attributes_class_name().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::{Value, json};

    /// A claim that names `volume` and has these annotations.
    fn claim(volume: &str, class: Value, annotations: &[&str]) -> Value {
        let annotations: serde_json::Map<String, Value> =
            annotations.iter().map(|name| ((*name).to_owned(), "yes".into())).collect();
        json!({"metadata": {"namespace": "ns", "name": "data", "uid": "c1", "annotations": annotations},
            "spec": {"volumeName": volume, "storageClassName": class, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}})
    }

    fn volume(claim_ref: Value) -> Value {
        json!({"metadata": {"name": "v"}, "status": {"phase": "Available"}, "spec": {"claimRef": claim_ref,
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}}})
    }

    fn class(mode: &str, provisioner: &str) -> Value {
        json!({"metadata": {"name": "fast"}, "provisioner": provisioner, "volumeBindingMode": mode})
    }

    fn plan(claim: &Value, volume: Option<&Value>, class: Option<&Value>, default: Option<&str>) -> ClaimPlan {
        plan_claim(&ClaimFacts {
            claim: claim.into(),
            volume: volume.map(Into::into),
            class: class.map(Into::into),
            default_class: default,
            waiting_pods: &[],
        })
    }

    fn reason(plan: ClaimPlan) -> (&'static str, &'static str) {
        match plan {
            ClaimPlan::Pending(Some(note)) => ("Pending", note.reason),
            ClaimPlan::Wait(Some(note)) => ("Wait", note.reason),
            ClaimPlan::Lost(note) => ("Lost", note.reason),
            ClaimPlan::Invalid { note, .. } => ("Invalid", note.reason),
            ClaimPlan::AskProvisioner { note, .. } => ("AskProvisioner", note.reason),
            ClaimPlan::Bind => ("Bind", ""),
            ClaimPlan::AssignClass(_) => ("AssignClass", ""),
            ClaimPlan::Pending(None) => ("Pending", ""),
            ClaimPlan::Wait(None) => ("Wait", ""),
        }
    }

    #[test]
    fn a_claim_without_a_volume_waits_for_the_right_party() {
        let check = |claim: &Value, class: Option<&Value>, default: Option<&str>, expected| {
            assert_eq!(reason(plan(claim, None, class, default)), expected, "{claim}");
        };
        let (none, unset, fast) = (json!(""), Value::Null, json!("fast"));
        check(&claim("", none.clone(), &[]), None, None, ("Pending", "FailedBinding"));
        check(&claim("", none, &[]), None, Some("fast"), ("Pending", "FailedBinding"));
        check(&claim("", unset.clone(), &[]), None, Some("fast"), ("AssignClass", ""));
        check(&claim("", unset, &[]), None, None, ("Pending", "FailedBinding"));
        check(&claim("", fast.clone(), &[]), None, None, ("Wait", "ProvisioningFailed"));
        let immediate = class("Immediate", "example.com/disk");
        check(&claim("", fast.clone(), &[]), Some(&immediate), None, ("AskProvisioner", "ExternalProvisioning"));
        let none = class("Immediate", "kubernetes.io/no-provisioner");
        check(&claim("", fast.clone(), &[]), Some(&none), None, ("Wait", "ProvisioningFailed"));
        let waiting = class("WaitForFirstConsumer", "example.com/disk");
        check(&claim("", fast.clone(), &[]), Some(&waiting), None, ("Pending", "WaitForFirstConsumer"));
        let chosen = claim("", fast, &[SELECTED_NODE]);
        check(&chosen, Some(&waiting), None, ("AskProvisioner", "ExternalProvisioning"));
    }

    #[test]
    fn a_class_of_an_in_tree_plugin_asks_its_csi_driver() {
        let claim = claim("", json!("fast"), &[]);
        let ebs = class("Immediate", "kubernetes.io/aws-ebs");
        let ClaimPlan::AskProvisioner { provisioner, migrated_to, .. } = plan(&claim, None, Some(&ebs), None) else {
            panic!("the driver is asked")
        };
        assert_eq!((provisioner.as_str(), migrated_to), ("ebs.csi.aws.com", Some("ebs.csi.aws.com")));
    }

    #[test]
    fn pods_that_wait_are_named() {
        let check = |pods: &[&str], expected: &str| {
            let pods: Vec<String> = pods.iter().map(|pod| (*pod).to_owned()).collect();
            assert_eq!(wait_for_consumer(&pods).message, expected);
        };
        check(&[], "waiting for first consumer to be created before binding");
        check(&["a"], "waiting for pod a to be scheduled");
        check(&["a", "b"], "waiting for pods a,b to be scheduled");
    }

    #[test]
    fn a_claim_that_names_its_volume_gets_that_or_none() {
        let check = |claim: &Value, volume: Option<&Value>, expected| {
            assert_eq!(reason(plan(claim, volume, None, Some("fast"))), expected, "{claim} with {volume:?}");
        };
        let named = || claim("v", json!(""), &[]);
        check(&named(), None, ("Pending", ""));
        check(&named(), Some(&volume(Value::Null)), ("Bind", ""));
        check(&claim("v", json!("fast"), &[]), Some(&volume(Value::Null)), ("Pending", "VolumeMismatch"));
        check(&named(), Some(&volume(json!({"namespace": "ns", "name": "data"}))), ("Bind", ""));
        let others = volume(json!({"namespace": "ns", "name": "data", "uid": "c0"}));
        check(&named(), Some(&others), ("Pending", "FailedBinding"));
        check(&claim("v", json!(""), &[BOUND_BY_CONTROLLER]), Some(&others), ("Invalid", "FailedBinding"));
    }

    #[test]
    fn a_bound_claim_keeps_its_volume_or_is_lost() {
        let check = |claim: &Value, volume: Option<&Value>, expected| {
            assert_eq!(reason(plan(claim, volume, None, None)), expected, "{claim} with {volume:?}");
        };
        let bound = || claim("v", json!(""), &[BIND_COMPLETED]);
        check(&claim("", json!(""), &[BIND_COMPLETED]), None, ("Lost", "ClaimLost"));
        check(&bound(), None, ("Lost", "ClaimLost"));
        check(&bound(), Some(&volume(Value::Null)), ("Bind", ""));
        check(&bound(), Some(&volume(json!({"namespace": "ns", "name": "data", "uid": "c1"}))), ("Bind", ""));
        check(&bound(), Some(&volume(json!({"namespace": "ns", "name": "data"}))), ("Lost", "ClaimMisbound"));
    }

    #[test]
    fn the_claims_side_is_written_once() {
        let bound = bind_claim((&claim("", json!(""), &[])).into(), "v").expect("not bound yet");
        let annotations = bound.view().metadata().annotations().to_map();
        assert_eq!(annotations.keys().collect::<Vec<_>>(), [BIND_COMPLETED, BOUND_BY_CONTROLLER]);
        assert_eq!(bind_claim(bound.view(), "v"), None);
        let named = bind_claim((&claim("v", json!(""), &[])).into(), "v").expect("not complete yet");
        assert!(!named.view().metadata().annotations().contains_key(BOUND_BY_CONTROLLER));
    }

    #[test]
    fn the_status_takes_the_volumes_capacity_once() {
        let claim = claim("v", json!(""), &[]);
        let mut volume = volume(Value::Null);
        volume["spec"]["volumeAttributesClassName"] = "gold".into();
        let bound = bound_status((&claim).into(), (&volume).into()).expect("not bound yet");
        let expected = json!({"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"},
            "currentVolumeAttributesClassName": "gold"});
        assert_eq!(bound.value()["status"], expected);
        volume["spec"]["capacity"]["storage"] = "3Gi".into();
        assert_eq!(bound_status(bound.view(), (&volume).into()), None);
        let lost = unbound_status(bound.view(), "Lost").expect("changed");
        assert_eq!(lost.value()["status"], json!({"phase": "Lost"}));
        assert_eq!(unbound_status(lost.view(), "Lost"), None);
        volume["metadata"]["annotations"] = json!({PRE_RESIZE_CAPACITY: "1Gi"});
        let smaller = bound_status((&claim).into(), (&volume).into()).expect("not bound yet");
        assert_eq!(smaller.value()["status"]["capacity"], json!({"storage": "1Gi"}));
    }
}
