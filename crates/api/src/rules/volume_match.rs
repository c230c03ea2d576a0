//! Which PersistentVolume serves which claim, and on which node. The binder binds by it, the
//! scheduler chooses nodes by it, the kubelet mounts by it; the annotations by which they
//! coordinate stand here too.
//!
//! A volume and a claim point at each other: `volume.spec.claimRef` and
//! `claim.spec.volumeName`. The volume's side is written first, so that two claims can never
//! both have it: the second writer meets a conflict.
//!
//! Upstream: component-helpers/storage/volume/{helpers,pv_helpers}.go,
//! component-helpers/storage/ephemeral and pkg/volume/util/storageclass.go.

use super::label_selector;
use super::node_selector::matches_labels;
use super::owner::is_controlled_by;
use crate::quantity::Quantity;
use crate::view::core::v1::{
    NodeView, ObjectReference, PersistentVolume, PersistentVolumeClaimView, PersistentVolumeView, PodView, VolumeView,
};
use crate::view::storage::v1::StorageClassView;
use std::borrow::Cow;
use std::cmp::Reverse;

/// On a claim: it has been bound once, and its volume must never be exchanged for another.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// On a claim or a volume: its side of the binding was written by a controller, not a user.
pub const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// On a claim: the node that the scheduler chose for the first pod that uses it.
pub const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// On a claim: the provisioner that is to make its volume.
pub const STORAGE_PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";
pub const BETA_STORAGE_PROVISIONER: &str = "volume.beta.kubernetes.io/storage-provisioner";
/// On a volume: the provisioner that made it.
pub const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
/// On a volume or a claim: the CSI driver that took it over from an in-tree plugin.
pub const MIGRATED_TO: &str = "pv.kubernetes.io/migrated-to";
/// On a volume or a claim: the class, from before there was a field for it. It goes first.
pub const BETA_STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// The provisioner of a class whose volumes are made by hand.
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

const STORAGE: &str = "storage";
const IS_DEFAULT_CLASS: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/// The side that searches for a volume.
#[derive(Clone, Copy)]
pub enum Search<'a> {
    /// The binder, for a claim that is bound at once. The caller offers only volumes that
    /// have the claim's access modes.
    Immediate,
    /// The binder, for a claim that waits for its first consumer: only a volume that is
    /// already meant for the claim counts.
    WaitForFirstConsumer,
    /// The scheduler, for a pod that may go to this node.
    OnNode(NodeView<'a>),
}

/// The volume meant for the claim, or else the smallest that fits it. Of two that are of one
/// size the first offered is taken.
pub fn find_volume<'a>(
    claim: PersistentVolumeClaimView<'_>,
    volumes: impl IntoIterator<Item = PersistentVolumeView<'a>>,
    search: Search<'_>,
) -> Option<PersistentVolumeView<'a>> {
    let spec = claim.spec();
    let (wanted, class) = (requested_storage(claim), class_of_claim(claim));
    let mut smallest: Option<(Quantity, PersistentVolumeView<'a>)> = None;
    for volume in volumes {
        let is_meant = is_bound_to(volume, claim);
        let capacity = storage_capacity(volume).unwrap_or_default();
        if (volume.spec().claim_ref().is_some() && !is_meant)
            || capacity < wanted
            || !has_volume_mode(volume, claim)
            || !has_attributes_class(volume, claim)
            || volume.metadata().deletion_timestamp().is_some()
        {
            continue;
        }
        let is_reachable = match search {
            Search::OnNode(node) => matches_node_affinity(volume, node),
            Search::Immediate | Search::WaitForFirstConsumer => true,
        };
        // A volume that is meant for the claim is the only one that can serve it, so that a
        // node out of its reach serves the claim not at all.
        if is_meant {
            return is_reachable.then_some(volume);
        }
        let is_free = match search {
            Search::Immediate => true,
            Search::WaitForFirstConsumer => false,
            Search::OnNode(_) => has_access_modes(volume, claim),
        };
        if is_free
            && is_reachable
            && volume.status().phase() == "Available"
            && class_of_volume(volume) == class
            && spec.selector().is_none_or(|wants| label_selector::matches(Some(wants), volume.metadata().labels()))
            && smallest.as_ref().is_none_or(|(size, _)| *size > capacity)
        {
            smallest = Some((capacity, volume));
        }
    }
    smallest.map(|(_, volume)| volume)
}

/// The reason why a volume that the claim names cannot serve it, in upstream's words
/// (`checkVolumeSatisfyClaim` of pkg/controller/volume/persistentvolume).
pub fn mismatch(volume: PersistentVolumeView<'_>, claim: PersistentVolumeClaimView<'_>) -> Option<String> {
    let reason = if volume.metadata().deletion_timestamp().is_some() {
        return Some(format!("the volume is marked for deletion {:?}", volume.metadata().name()));
    } else if storage_capacity(volume).unwrap_or_default().value() < requested_storage(claim).value() {
        "requested PV is too small"
    } else if class_of_volume(volume) != class_of_claim(claim) {
        "storageClassName does not match"
    } else if !has_attributes_class(volume, claim) {
        "volumeAttributesClassName does not match"
    } else if !has_volume_mode(volume, claim) {
        "incompatible volumeMode"
    } else if !has_access_modes(volume, claim) {
        "incompatible accessMode"
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// Whether the volume is bound to the claim, or kept for it by name: a reference without a
/// UID is a user's wish for whichever claim comes by this name.
pub fn is_bound_to(volume: PersistentVolumeView<'_>, claim: PersistentVolumeClaimView<'_>) -> bool {
    let meta = claim.metadata();
    volume.spec().claim_ref().is_some_and(|reference| {
        reference.name() == meta.name()
            && reference.namespace() == meta.namespace()
            && (reference.uid().is_empty() || reference.uid() == meta.uid())
    })
}

/// Whether both sides of a claim's binding are written.
pub fn is_fully_bound(claim: PersistentVolumeClaimView<'_>) -> bool {
    !claim.spec().volume_name().is_empty() && claim.metadata().annotations().contains_key(BIND_COMPLETED)
}

/// The volume with its side of the binding written; `None` where it already is
/// (`GetBindVolumeToClaim`).
pub fn bind_volume(volume: PersistentVolumeView<'_>, claim: PersistentVolumeClaimView<'_>) -> Option<PersistentVolume> {
    let was_meant = is_bound_to(volume, claim);
    let is_complete = was_meant && volume.spec().claim_ref().is_some_and(|has| has.uid() == claim.metadata().uid());
    if is_complete {
        return None;
    }
    let mut bound = volume.to_owned();
    bound.edit_spec(|spec| spec.set_claim_ref(claim_reference(claim)));
    if !was_meant && !volume.metadata().annotations().contains_key(BOUND_BY_CONTROLLER) {
        bound.edit_metadata(|meta| meta.insert_annotations(BOUND_BY_CONTROLLER, "yes"));
    }
    Some(bound)
}

/// The reference to a claim in `volume.spec.claimRef`.
pub fn claim_reference(claim: PersistentVolumeClaimView<'_>) -> ObjectReference {
    let meta = claim.metadata();
    ObjectReference::new()
        .with_kind("PersistentVolumeClaim")
        .with_api_version("v1")
        .with_namespace(meta.namespace())
        .with_name(meta.name())
        .with_uid(meta.uid())
        .with_resource_version(meta.resource_version())
}

/// Whether the volume can be reached from the node. Only labels count, never the name.
pub fn matches_node_affinity(volume: PersistentVolumeView<'_>, node: NodeView<'_>) -> bool {
    let required = volume.spec().node_affinity().and_then(|affinity| affinity.required());
    required.is_none_or(|selector| matches_labels(selector, node.metadata().labels()))
}

/// Whether the volume has every access mode that the claim asks for.
pub fn has_access_modes(volume: PersistentVolumeView<'_>, claim: PersistentVolumeClaimView<'_>) -> bool {
    let modes = volume.spec().access_modes();
    claim.spec().access_modes().iter().all(|mode| modes.contains(mode))
}

/// Whether both are a filesystem or both a block device.
pub fn has_volume_mode(volume: PersistentVolumeView<'_>, claim: PersistentVolumeClaimView<'_>) -> bool {
    volume.spec().volume_mode().unwrap_or("Filesystem") == claim.spec().volume_mode().unwrap_or("Filesystem")
}

fn has_attributes_class(volume: PersistentVolumeView<'_>, claim: PersistentVolumeClaimView<'_>) -> bool {
    let own = volume.spec().volume_attributes_class_name().unwrap_or_default();
    own == claim.spec().volume_attributes_class_name().unwrap_or_default()
}

/// The bytes that a claim asks for; nothing asked is zero.
pub fn requested_storage(claim: PersistentVolumeClaimView<'_>) -> Quantity {
    claim.spec().resources().requests().get(STORAGE).unwrap_or_default()
}

/// The bytes that a volume has.
pub fn storage_capacity(volume: PersistentVolumeView<'_>) -> Option<Quantity> {
    volume.spec().capacity().get(STORAGE)
}

/// The class of a claim; empty where it has none.
pub fn class_of_claim<'a>(claim: PersistentVolumeClaimView<'a>) -> &'a str {
    let old: Option<&'a str> = claim.metadata().annotations().get(BETA_STORAGE_CLASS);
    old.or(claim.spec().storage_class_name()).unwrap_or_default()
}

/// Whether a claim says anything about its class; the empty class is also an answer.
pub fn names_class(claim: PersistentVolumeClaimView<'_>) -> bool {
    claim.metadata().annotations().contains_key(BETA_STORAGE_CLASS) || claim.spec().storage_class_name().is_some()
}

/// The class of a volume; empty where it has none.
pub fn class_of_volume<'a>(volume: PersistentVolumeView<'a>) -> &'a str {
    let old: Option<&'a str> = volume.metadata().annotations().get(BETA_STORAGE_CLASS);
    old.unwrap_or(volume.spec().storage_class_name())
}

/// Whether claims of the class wait for the scheduler to choose a node.
pub fn waits_for_first_consumer(class: StorageClassView<'_>) -> bool {
    class.volume_binding_mode() == Some("WaitForFirstConsumer")
}

/// The class that claims without one get: the newest of those marked as the default.
pub fn default_class<'a>(classes: impl IntoIterator<Item = StorageClassView<'a>>) -> Option<StorageClassView<'a>> {
    let marked = classes.into_iter().filter(|class| {
        let annotations = class.metadata().annotations();
        IS_DEFAULT_CLASS.iter().any(|name| annotations.get(name) == Some("true"))
    });
    marked.min_by_key(|class| (Reverse(class.metadata().creation_timestamp()), class.metadata().name()))
}

/// The claim that a volume of a pod is made of: the one it names, or the one that is made
/// for a generic ephemeral volume.
pub fn claim_name<'a>(pod: PodView<'a>, volume: VolumeView<'a>) -> Option<Cow<'a, str>> {
    if let Some(source) = volume.persistent_volume_claim() {
        return Some(source.claim_name().into());
    }
    volume.ephemeral().map(|_| format!("{}-{}", pod.metadata().name(), volume.name()).into())
}

/// The reason why a claim is not the one made for the pod's ephemeral volume
/// (`VolumeIsForPod`).
pub fn not_made_for_pod(pod: PodView<'_>, claim: PersistentVolumeClaimView<'_>) -> Option<String> {
    let (pod, claim) = (pod.metadata(), claim.metadata());
    if claim.namespace() == pod.namespace() && is_controlled_by(claim, pod) {
        return None;
    }
    let (claim, pod) = ([claim.namespace(), claim.name()].join("/"), [pod.namespace(), pod.name()].join("/"));
    Some(format!("PVC {claim} was not created for pod {pod} (pod is not owner)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Owned;
    use serde_json::{Value, json};

    fn claim(spec: Value) -> Value {
        let mut claim = json!({"metadata": {"namespace": "ns", "name": "data", "uid": "c1"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": "", "resources": {"requests": {"storage": "5Gi"}}}});
        crate::object::ensure_object(&mut claim["spec"]).extend(spec.as_object().cloned().unwrap_or_default());
        claim
    }

    fn volume(name: &str, size: &str, spec: Value) -> Value {
        let mut volume = json!({"metadata": {"name": name, "labels": {"disk": "fast"}}, "status": {"phase": "Available"},
            "spec": {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}});
        crate::object::ensure_object(&mut volume["spec"]).extend(spec.as_object().cloned().unwrap_or_default());
        volume
    }

    fn in_zone(zone: &str) -> Value {
        let expressions = json!([{"key": "zone", "operator": "In", "values": [zone]}]);
        json!({"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}})
    }

    fn found(claim: &Value, volumes: &[Value], search: Search<'_>) -> Option<String> {
        let volumes = volumes.iter().map(PersistentVolumeView::from);
        find_volume(claim.into(), volumes, search).map(|volume| volume.metadata().name().to_owned())
    }

    #[track_caller]
    fn check(wants: Value, volumes: &[Value], expected: Option<&str>) {
        let found = found(&claim(wants.clone()), volumes, Search::Immediate);
        assert_eq!(found.as_deref(), expected, "{wants} of {volumes:?}");
    }

    #[test]
    fn the_smallest_volume_that_fits_is_taken() {
        let none = || json!({});
        let sizes = ["10Gi", "6Gi", "1Gi", "6Gi"];
        let volumes: Vec<Value> =
            sizes.iter().enumerate().map(|(i, size)| volume(&format!("v{i}"), size, none())).collect();
        check(none(), &volumes, Some("v1"));
        check(json!({"resources": {"requests": {"storage": "7Gi"}}}), &volumes, Some("v0"));
        check(json!({"resources": {"requests": {"storage": "11Gi"}}}), &volumes, None);
        check(json!({}), &[], None);
    }

    #[test]
    fn what_does_not_fit_is_passed_over() {
        let fits = |wants: Value, has: Value, expected: bool| {
            check(wants, &[volume("v", "5Gi", has)], expected.then_some("v"));
        };
        fits(json!({}), json!({}), true);
        fits(json!({"volumeMode": "Block"}), json!({}), false);
        fits(json!({"volumeMode": "Block"}), json!({"volumeMode": "Block"}), true);
        fits(json!({"storageClassName": "a"}), json!({}), false);
        fits(json!({"storageClassName": "a"}), json!({"storageClassName": "a"}), true);
        fits(json!({"volumeAttributesClassName": "gold"}), json!({}), false);
        fits(json!({"selector": {"matchLabels": {"disk": "fast"}}}), json!({}), true);
        fits(json!({"selector": {"matchLabels": {"disk": "slow"}}}), json!({}), false);
        let other = json!({"claimRef": {"namespace": "ns", "name": "other"}});
        fits(json!({}), other, false);
        let gone = json!({"claimRef": {"namespace": "ns", "name": "data", "uid": "c0"}});
        fits(json!({}), gone, false);
        let mut released = volume("v", "5Gi", json!({}));
        released["status"]["phase"] = "Released".into();
        check(json!({}), &[released], None);
        let mut deleted = volume("v", "5Gi", json!({}));
        deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        check(json!({}), &[deleted], None);
    }

    #[test]
    fn a_volume_kept_for_the_claim_goes_before_smaller_ones() {
        let kept = json!({"claimRef": {"namespace": "ns", "name": "data"}, "storageClassName": "whatever"});
        let volumes = [volume("small", "5Gi", json!({})), volume("kept", "50Gi", kept)];
        check(json!({}), &volumes, Some("kept"));
        let claim = claim(json!({}));
        assert_eq!(found(&claim, &volumes, Search::WaitForFirstConsumer).as_deref(), Some("kept"));
        assert_eq!(found(&claim, &volumes[..1], Search::WaitForFirstConsumer), None);
    }

    #[test]
    fn a_node_must_reach_the_volume_and_its_access_modes_must_do() {
        let node = json!({"metadata": {"name": "n1", "labels": {"zone": "a"}}});
        let on_node = Search::OnNode(NodeView::from(&node));
        let volumes = [volume("b", "5Gi", in_zone("b")), volume("a", "9Gi", in_zone("a"))];
        assert_eq!(found(&claim(json!({})), &volumes, on_node).as_deref(), Some("a"));
        assert_eq!(found(&claim(json!({"accessModes": ["ReadWriteMany"]})), &volumes, on_node), None);
        let mut kept = in_zone("b");
        kept["claimRef"] = json!({"namespace": "ns", "name": "data", "uid": "c1"});
        let volumes = [volume("kept", "5Gi", kept), volume("a", "9Gi", in_zone("a"))];
        assert_eq!(found(&claim(json!({})), &volumes, on_node), None);
    }

    #[test]
    fn a_named_volume_that_does_not_fit_has_its_reason() {
        let check = |wants: Value, has: Value, expected: Option<&str>| {
            let (claim, volume) = (claim(wants), volume("v", "5Gi", has));
            assert_eq!(mismatch((&volume).into(), (&claim).into()).as_deref(), expected);
        };
        check(json!({}), json!({}), None);
        check(json!({}), json!({"capacity": {"storage": "1Gi"}}), Some("requested PV is too small"));
        check(json!({"storageClassName": "a"}), json!({}), Some("storageClassName does not match"));
        check(json!({"volumeMode": "Block"}), json!({}), Some("incompatible volumeMode"));
        check(json!({"accessModes": ["ReadWriteMany"]}), json!({}), Some("incompatible accessMode"));
        let gold = json!({"volumeAttributesClassName": "gold"});
        check(gold, json!({}), Some("volumeAttributesClassName does not match"));
    }

    #[test]
    fn binding_a_volume_says_who_did_it() {
        let claim = claim(json!({}));
        let bind = |volume: &Value| bind_volume(volume.into(), (&claim).into());
        let bound = bind(&volume("v", "5Gi", json!({}))).expect("the volume is free");
        assert_eq!(bound.view().metadata().annotations().get(BOUND_BY_CONTROLLER), Some("yes"));
        assert!(is_bound_to(bound.view(), (&claim).into()));
        assert_eq!(bind(bound.value()), None);
        let kept = json!({"claimRef": {"namespace": "ns", "name": "data"}});
        let bound = bind(&volume("v", "5Gi", kept)).expect("the UID is missing");
        assert_eq!(bound.view().spec().claim_ref().map(|claim| claim.uid()), Some("c1"));
        assert!(!bound.view().metadata().annotations().contains_key(BOUND_BY_CONTROLLER));
    }

    #[test]
    fn the_newest_default_class_counts() {
        let class = |name: &str, at: &str, value: &str| {
            json!({"metadata": {"name": name, "creationTimestamp": at,
                "annotations": {"storageclass.kubernetes.io/is-default-class": value}}})
        };
        let classes = [
            class("old", "2026-01-01T00:00:00Z", "true"),
            class("b", "2026-01-02T00:00:00Z", "true"),
            class("a", "2026-01-02T00:00:00Z", "true"),
            class("newest", "2026-01-03T00:00:00Z", "false"),
        ];
        let name = |classes: &[Value]| {
            default_class(classes.iter().map(StorageClassView::from)).map(|class| class.metadata().name().to_owned())
        };
        assert_eq!(name(&classes).as_deref(), Some("a"));
        assert_eq!(name(&classes[3..]), None);
    }

    #[test]
    fn a_pod_names_its_claims_or_has_them_made() {
        let owner = json!([{"kind": "Pod", "name": "web", "uid": "p1", "controller": true}]);
        let pod = json!({"metadata": {"namespace": "ns", "name": "web", "uid": "p1"}});
        let name = |volume: Value| claim_name((&pod).into(), (&volume).into()).map(Cow::into_owned);
        let named = json!({"name": "v", "persistentVolumeClaim": {"claimName": "data"}});
        assert_eq!(name(named).as_deref(), Some("data"));
        assert_eq!(name(json!({"name": "v", "ephemeral": {}})).as_deref(), Some("web-v"));
        assert_eq!(name(json!({"name": "v", "emptyDir": {}})), None);
        let made = json!({"metadata": {"namespace": "ns", "name": "web-v", "ownerReferences": owner}});
        assert_eq!(not_made_for_pod((&pod).into(), (&made).into()), None);
        let other = json!({"metadata": {"namespace": "ns", "name": "web-v"}});
        let reason = "PVC ns/web-v was not created for pod ns/web (pod is not owner)";
        assert_eq!(not_made_for_pod((&pod).into(), (&other).into()).as_deref(), Some(reason));
    }
}
