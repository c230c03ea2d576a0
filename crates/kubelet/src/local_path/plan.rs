//! The provisioner's decisions: which claims this node makes a volume for, what that volume
//! is, and when its data goes. Pure.
//!
//! The protocol of annotations, finalizers and events is that of upstream's external
//! provisioners (sig-storage-lib-external-provisioner).

use ferry_api::quantity::Quantity;
use ferry_api::rules::volume_match::{
    PROVISIONED_BY, SELECTED_NODE, STORAGE_PROVISIONER, claim_reference, class_of_claim, requested_storage,
    storage_capacity, waits_for_first_consumer,
};
use ferry_api::view::core::v1::{
    LocalVolumeSource, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PersistentVolume,
    PersistentVolumeClaim, PersistentVolumeClaimView, PersistentVolumeSpec, PersistentVolumeView, VolumeNodeAffinity,
};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_api::view::storage::v1::StorageClassView;
use std::path::PathBuf;

pub const PROVISIONER: &str = "ferry.dev/local-path";

/// Keeps a volume until its provisioner has removed the data.
const FINALIZER: &str = "external-provisioner.volume.kubernetes.io/finalizer";
const HOSTNAME: &str = "kubernetes.io/hostname";
const STORAGE: &str = "storage";

/// The node that decides, and its directory of volumes.
#[derive(Clone, Debug)]
pub struct Place {
    pub node_name: String,
    pub directory: PathBuf,
}

#[derive(Debug, PartialEq)]
pub enum Provision {
    /// The claim is another's, or has what it needs.
    Leave,
    /// The claim asks for something that a directory is not; the text is its event.
    Refuse(String),
    Make(Box<PersistentVolume>),
}

pub fn plan_provision(
    claim: PersistentVolumeClaimView<'_>,
    class: Option<StorageClassView<'_>>,
    place: &Place,
) -> Provision {
    let (meta, spec) = (claim.metadata(), claim.spec());
    let Some(class) = class.filter(|class| class.provisioner() == PROVISIONER) else { return Provision::Leave };
    if meta.annotations().get(STORAGE_PROVISIONER) != Some(PROVISIONER)
        || !spec.volume_name().is_empty()
        || meta.deletion_timestamp().is_some()
    {
        return Provision::Leave;
    }
    let is_here = match meta.annotations().get(SELECTED_NODE) {
        Some(node) => node == place.node_name,
        // Nobody chooses for a class that binds at once: the first node to make the volume has it.
        None => !waits_for_first_consumer(class),
    };
    if !is_here {
        return Provision::Leave;
    }
    let refuse = |why: &str| {
        let class = class.metadata().name();
        Provision::Refuse(format!("failed to provision volume with StorageClass {class:?}: {why}"))
    };
    if spec.volume_mode() == Some("Block") {
        return refuse("a directory is no block device");
    }
    if spec.selector().is_some() {
        return refuse("claim Selector is not supported");
    }
    if spec.data_source().is_some() || spec.data_source_ref().is_some() {
        return refuse("a directory has no data source");
    }
    // A directory is on one node; pods on that node may share it.
    if spec.access_modes().iter().any(|mode| !matches!(mode, "ReadWriteOnce" | "ReadWriteOncePod")) {
        return refuse("only ReadWriteOnce and ReadWriteOncePod are supported, because the volume is on one node");
    }
    Provision::Make(Box::new(make_volume(claim, class, place)))
}

fn make_volume(claim: PersistentVolumeClaimView<'_>, class: StorageClassView<'_>, place: &Place) -> PersistentVolume {
    let name = volume_name(claim);
    let policy = class.reclaim_policy().unwrap_or("Delete");
    let path = place.directory.join(&name).to_string_lossy().into_owned();
    let mut metadata = ObjectMeta::new().with_name(name).with_annotations([(PROVISIONED_BY, PROVISIONER)]);
    if policy == "Delete" {
        metadata.set_finalizers([FINALIZER]);
    }
    let spec = PersistentVolumeSpec::new()
        .with_capacity([(STORAGE, requested_storage(claim))])
        .with_access_modes(claim.spec().access_modes().iter())
        .with_claim_ref(claim_reference(claim))
        .with_persistent_volume_reclaim_policy(policy)
        .with_storage_class_name(class_of_claim(claim))
        .with_volume_mode("Filesystem")
        .with_local(LocalVolumeSource::new().with_path(path))
        .with_node_affinity(affinity_to(&place.node_name));
    PersistentVolume::new().with_metadata(metadata).with_spec(spec)
}

/// The name that a claim's volume has on whichever node and however often it is made.
pub fn volume_name(claim: PersistentVolumeClaimView<'_>) -> String {
    format!("pvc-{}", claim.metadata().uid())
}

fn affinity_to(node: &str) -> VolumeNodeAffinity {
    let requirement = NodeSelectorRequirement::new().with_key(HOSTNAME).with_operator("In").with_values([node]);
    let term = NodeSelectorTerm::new().with_match_expressions([requirement]);
    VolumeNodeAffinity::new().with_required(NodeSelector::new().with_node_selector_terms([term]))
}

/// Whether the volume is a directory that this node has made. Path and name must agree: a
/// volume that somebody made up cannot name the directory of another.
pub fn is_ours(volume: PersistentVolumeView<'_>, place: &Place) -> bool {
    let (meta, spec) = (volume.metadata(), volume.spec());
    let path = place.directory.join(meta.name());
    let mut terms =
        spec.node_affinity().and_then(|affinity| affinity.required()).into_iter().flat_map(|selector| {
            selector.node_selector_terms().iter().flat_map(|term| term.match_expressions().iter())
        });
    let is_here = match (terms.next(), terms.next()) {
        (Some(only), None) => {
            let mut values = only.values().iter();
            only.key() == HOSTNAME
                && only.operator() == "In"
                && values.next() == Some(place.node_name.as_str())
                && values.next().is_none()
        }
        _ => false,
    };
    meta.annotations().get(PROVISIONED_BY) == Some(PROVISIONER)
        && spec.local().is_some_and(|local| Some(local.path()) == path.to_str())
        && is_here
}

#[derive(Debug, PartialEq)]
pub enum Reclaim {
    Leave,
    /// The reclaim policy has changed, and with it who may delete the volume.
    SetFinalizers(Box<PersistentVolume>),
    /// Removes the directory, then the volume.
    RemoveData,
}

pub fn plan_reclaim(volume: PersistentVolumeView<'_>, place: &Place) -> Reclaim {
    if !is_ours(volume, place) {
        return Reclaim::Leave;
    }
    let meta = volume.metadata();
    let is_deleting = meta.deletion_timestamp().is_some();
    let (has_finalizer, deletes) =
        (meta.finalizers().contains(FINALIZER), volume.spec().persistent_volume_reclaim_policy() == "Delete");
    match (deletes, has_finalizer) {
        (false, true) => {
            without_finalizer(volume).map_or(Reclaim::Leave, |changed| Reclaim::SetFinalizers(changed.into()))
        }
        (false, false) => Reclaim::Leave,
        // A volume that is bound stays until its claim is gone, also when it is being deleted.
        (true, _) if matches!(volume.status().phase(), "Released" | "Failed") => Reclaim::RemoveData,
        (true, true) if is_deleting && volume.status().phase() == "Available" => Reclaim::RemoveData,
        (true, false) if !is_deleting => {
            let mut changed = volume.to_owned();
            changed.edit_metadata(|meta| meta.push_finalizers(FINALIZER));
            Reclaim::SetFinalizers(changed.into())
        }
        (true, _) => Reclaim::Leave,
    }
}

/// The volume without the provisioner's finalizer; `None` where it has none.
pub fn without_finalizer(volume: PersistentVolumeView<'_>) -> Option<PersistentVolume> {
    let finalizers = volume.metadata().finalizers();
    if !finalizers.contains(FINALIZER) {
        return None;
    }
    let mut changed = volume.to_owned();
    let kept: Vec<&str> = finalizers.iter().filter(|finalizer| *finalizer != FINALIZER).collect();
    changed.edit_metadata(|meta| meta.set_finalizers(kept));
    Some(changed)
}

/// The writes that a larger claim needs; the volume's goes first.
#[derive(Debug, PartialEq)]
pub struct Expansion {
    pub volume: Option<PersistentVolume>,
    pub claim: Option<PersistentVolumeClaim>,
}

pub fn plan_expansion(
    claim: PersistentVolumeClaimView<'_>,
    volume: PersistentVolumeView<'_>,
    place: &Place,
) -> Option<Expansion> {
    let is_bound = volume.spec().claim_ref().is_some_and(|reference| reference.uid() == claim.metadata().uid())
        && claim.status().phase() == "Bound";
    if !is_bound || !is_ours(volume, place) {
        return None;
    }
    let wanted = requested_storage(claim);
    let is_smaller = |has: Option<Quantity>| has.is_none_or(|has| has < wanted);
    let larger_volume = is_smaller(storage_capacity(volume)).then(|| {
        let mut larger = volume.to_owned();
        larger.edit_spec(|spec| spec.insert_capacity(STORAGE, wanted));
        larger
    });
    let larger_claim = is_smaller(claim.status().capacity().get(STORAGE)).then(|| {
        let mut larger = claim.to_owned();
        larger.edit_status(|status| {
            status.insert_capacity(STORAGE, wanted);
            status.insert_allocated_resources(STORAGE, wanted);
            status.insert_allocated_resource_statuses(STORAGE, None::<&str>);
        });
        larger
    });
    let is_needed = larger_volume.is_some() || larger_claim.is_some();
    is_needed.then_some(Expansion { volume: larger_volume, claim: larger_claim })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::{Value, json};

    fn place() -> Place {
        Place { node_name: "n1".into(), directory: "/data/volumes".into() }
    }

    fn class(mode: &str) -> Value {
        json!({"metadata": {"name": "local-path"}, "provisioner": PROVISIONER, "volumeBindingMode": mode,
            "reclaimPolicy": "Delete"})
    }

    fn claim(node: Option<&str>, spec: Value) -> Value {
        let mut annotations = json!({STORAGE_PROVISIONER: PROVISIONER});
        if let Some(node) = node {
            annotations[SELECTED_NODE] = node.into();
        }
        let mut claim = json!({"metadata": {"namespace": "ns", "name": "data", "uid": "c1", "annotations": annotations},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "local-path",
                "resources": {"requests": {"storage": "1Gi"}}}});
        for (name, value) in spec.as_object().into_iter().flatten() {
            claim["spec"][name] = value.clone();
        }
        claim
    }

    fn made() -> PersistentVolume {
        let (claim, class) = (claim(Some("n1"), json!({})), class("WaitForFirstConsumer"));
        match plan_provision((&claim).into(), Some((&class).into()), &place()) {
            Provision::Make(volume) => *volume,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_chosen_node_makes_the_volume() {
        let check = |claim: Value, class: &Value, expected: &str| {
            let planned = match plan_provision((&claim).into(), Some(class.into()), &place()) {
                Provision::Leave => "leave".to_owned(),
                Provision::Make(_) => "make".to_owned(),
                Provision::Refuse(why) => why,
            };
            assert!(planned.contains(expected), "{claim}: {planned}");
        };
        let waits = class("WaitForFirstConsumer");
        check(claim(Some("n1"), json!({})), &waits, "make");
        check(claim(Some("n2"), json!({})), &waits, "leave");
        check(claim(None, json!({})), &waits, "leave");
        check(claim(None, json!({})), &class("Immediate"), "make");
        check(claim(Some("n1"), json!({"volumeName": "v"})), &waits, "leave");
        check(
            claim(Some("n1"), json!({"accessModes": ["ReadWriteMany"]})),
            &waits,
            "StorageClass \"local-path\": only",
        );
        check(claim(Some("n1"), json!({"volumeMode": "Block"})), &waits, "block device");
        check(claim(Some("n1"), json!({"selector": {}})), &waits, "claim Selector is not supported");
        let mut others = waits;
        others["provisioner"] = "example.com/disk".into();
        check(claim(Some("n1"), json!({})), &others, "leave");
    }

    #[test]
    fn the_volume_is_on_its_node_and_kept_for_its_claim() {
        let mut volume: Value = made().into();
        volume["spec"]["claimRef"].as_object_mut().expect("a reference").remove("resourceVersion");
        let expected = json!({"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": {"name": "pvc-c1", "annotations": {PROVISIONED_BY: PROVISIONER}, "finalizers": [FINALIZER]},
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
                "claimRef": {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": "ns", "name": "data", "uid": "c1"},
                "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "local-path",
                "local": {"path": "/data/volumes/pvc-c1"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": HOSTNAME, "operator": "In", "values": ["n1"]}]}]}}}});
        assert_eq!(volume, expected);
    }

    #[test]
    fn only_a_volume_of_this_node_and_of_its_own_name_is_ours() {
        let check = |change: fn(&mut Value), expected: bool| {
            let mut volume: Value = made().into();
            change(&mut volume);
            assert_eq!(is_ours((&volume).into(), &place()), expected, "{volume}");
        };
        check(|_| {}, true);
        check(|volume| volume["metadata"]["name"] = "mine".into(), false);
        check(|volume| volume["spec"]["local"]["path"] = "/etc".into(), false);
        check(|volume| volume["spec"]["local"]["path"] = "/data/volumes/../pvc-c1".into(), false);
        check(|volume| volume["metadata"]["annotations"] = json!({}), false);
        check(|volume| volume["spec"]["nodeAffinity"] = Value::Null, false);
        check(
            |volume| {
                let at = "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values";
                *volume.pointer_mut(at).expect("there") = json!(["n2"]);
            },
            false,
        );
    }

    #[test]
    fn data_goes_only_when_the_policy_says_so_and_nobody_has_it() {
        let check = |phase: &str, policy: &str, finalizers: Value, deleting: bool, expected: &str| {
            let mut volume: Value = made().into();
            volume["status"] = json!({"phase": phase});
            volume["spec"]["persistentVolumeReclaimPolicy"] = policy.into();
            volume["metadata"]["finalizers"] = finalizers;
            if deleting {
                volume["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
            }
            let planned = match plan_reclaim((&volume).into(), &place()) {
                Reclaim::Leave => "leave".to_owned(),
                Reclaim::RemoveData => "remove".to_owned(),
                Reclaim::SetFinalizers(volume) => format!("{:?}", volume.view().metadata().finalizers().to_vec()),
            };
            assert_eq!(planned, expected, "{phase} {policy} deleting: {deleting}");
        };
        let own = || json!([FINALIZER]);
        check("Bound", "Delete", own(), false, "leave");
        check("Bound", "Delete", own(), true, "leave");
        check("Released", "Delete", own(), false, "remove");
        check("Released", "Delete", own(), true, "remove");
        check("Failed", "Delete", own(), false, "remove");
        check("Available", "Delete", own(), false, "leave");
        check("Available", "Delete", own(), true, "remove");
        check("Released", "Retain", json!([]), true, "leave");
        check("Released", "Retain", json!(["mine", FINALIZER]), false, "[\"mine\"]");
        check("Bound", "Delete", json!([]), false, &format!("[{FINALIZER:?}]"));
    }

    #[test]
    fn a_larger_request_is_met_at_once() {
        let volume: Value = made().into();
        let mut claim = claim(Some("n1"), json!({"volumeName": "pvc-c1"}));
        claim["status"] = json!({"phase": "Bound", "capacity": {"storage": "1Gi"}});
        let plan = |claim: &Value, volume: &Value| plan_expansion(claim.into(), volume.into(), &place());
        assert_eq!(plan(&claim, &volume), None);
        claim["spec"]["resources"]["requests"]["storage"] = "2Gi".into();
        let expansion = plan(&claim, &volume).expect("it grows");
        let volume: Value = expansion.volume.expect("the volume grows").into();
        let claim: Value = expansion.claim.expect("the claim grows").into();
        assert_eq!(volume["spec"]["capacity"]["storage"], "2Gi");
        assert_eq!(claim["status"]["capacity"]["storage"], "2Gi");
        assert_eq!(plan(&claim, &volume), None);
    }
}
