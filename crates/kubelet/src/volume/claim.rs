//! persistentVolumeClaim and ephemeral: the volume that a pod's claim is bound to. `pod_worker`
//! resolves the claims over the API ([`resolve`]); the plugin of the volume's own kind then
//! makes it.
//!
//! Upstream: pkg/kubelet/volumemanager/populator.

use super::{VolumeMode, VolumeRequest};
use crate::config_cache::ConfigCache;
use ferry_api::rules::volume_match::{claim_name, matches_node_affinity, not_made_for_pod};
use ferry_api::view::core::v1::{
    ContainerView, NodeView, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimView, PersistentVolumeView,
    Pod, PodView, VolumeView,
};
use ferry_client::{Client, SharedObject};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The volumes behind a pod's claims, by the name of the pod's own volume. A bound claim never
/// changes its volume, so a pod resolves each once.
pub type Claims = HashMap<String, SharedObject<PersistentVolume>>;

/// The claims themselves, by the same names.
pub type ClaimObjects = HashMap<String, SharedObject<PersistentVolumeClaim>>;

/// Whether the pod has begun to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodStage {
    New,
    Running,
}

/// Fetches the pod's claims, and the volumes behind those that are not known yet. From now on
/// the pod is woken when one of its claims changes. The error is the text of the pod's
/// FailedMount event.
pub(crate) async fn resolve(
    client: &Client,
    cache: &ConfigCache<PersistentVolumeClaim>,
    pod: &SharedObject<Pod>,
    node: Option<NodeView<'_>>,
    stage: PodStage,
    known: &mut Claims,
) -> Result<ClaimObjects, String> {
    let mut objects = ClaimObjects::new();
    let names = |volume: &VolumeView<'_>| claim_name(pod.view(), *volume).map(Cow::into_owned);
    let wanted: BTreeSet<String> = pod.view().spec().volumes().iter().filter_map(|volume| names(&volume)).collect();
    cache.keep(pod.uid(), pod.namespace(), &wanted);
    for volume in pod.view().spec().volumes() {
        let Some(name) = names(&volume) else { continue };
        let failed = |why: String| {
            let (volume, namespace) = (volume.name(), pod.namespace());
            format!(
                "Unable to attach or mount volumes: unmounted volumes=[{volume}], unattached volumes=[], failed to \
                 process volumes=[{volume}]: error processing PVC {namespace}/{name}: {why}"
            )
        };
        let claim = read_claim(cache, pod, &name).await;
        if known.contains_key(volume.name()) {
            // The pod runs on although its claim is gone or cannot be read now.
            objects.extend(claim.ok().map(|claim| (volume.name().to_owned(), claim)));
            continue;
        }
        let claim = claim.map_err(failed)?;
        let found = fetch(client, pod.view(), volume, &claim, stage).await.map_err(failed)?;
        if let Some(node) = node
            && !matches_node_affinity(found.view(), node)
        {
            let name = found.name();
            return Err(format!(
                "MountVolume.NodeAffinity check failed for volume {name:?} : no matching NodeSelectorTerms"
            ));
        }
        known.insert(volume.name().to_owned(), found);
        objects.insert(volume.name().to_owned(), claim);
    }
    Ok(objects)
}

async fn read_claim(
    cache: &ConfigCache<PersistentVolumeClaim>,
    pod: &SharedObject<Pod>,
    name: &str,
) -> Result<SharedObject<PersistentVolumeClaim>, String> {
    let found = cache.get(pod.namespace(), name, pod.uid()).await;
    let found = found.and_then(|found| found.ok_or_else(|| format!("persistentvolumeclaims {name:?} not found")));
    found.map_err(|why| format!("failed to fetch PVC from API server: {why}"))
}

async fn fetch(
    client: &Client,
    pod: PodView<'_>,
    volume: VolumeView<'_>,
    claim: &SharedObject<PersistentVolumeClaim>,
    stage: PodStage,
) -> Result<SharedObject<PersistentVolume>, String> {
    if let Some(why) = unusable_claim(pod, volume, claim.view(), stage) {
        return Err(why);
    }
    let name = claim.view().spec().volume_name();
    let found = client.api::<PersistentVolume>("").get(name).await;
    let found = found.map_err(|error| format!("failed to fetch PV {name} from API server: {error}"))?;
    match not_bound_back(found.view(), claim.uid()) {
        Some(why) => Err(why),
        None => Ok(found),
    }
}

/// The reason why a pod cannot use the claim now.
fn unusable_claim(
    pod: PodView<'_>,
    volume: VolumeView<'_>,
    claim: PersistentVolumeClaimView<'_>,
    stage: PodStage,
) -> Option<String> {
    if volume.ephemeral().is_some()
        && let Some(why) = not_made_for_pod(pod, claim)
    {
        return Some(why);
    }
    // A claim that goes is kept for the pods that run with it, and takes no new ones.
    if stage == PodStage::New && claim.metadata().deletion_timestamp().is_some() {
        return Some("PVC is being deleted".to_owned());
    }
    let is_bound = claim.status().phase() == "Bound" && !claim.spec().volume_name().is_empty();
    (!is_bound).then(|| "PVC is not bound".to_owned())
}

/// The reason why a volume is not the claim's, whatever the claim says.
fn not_bound_back(volume: PersistentVolumeView<'_>, claim_uid: &str) -> Option<String> {
    let name = volume.metadata().name();
    match volume.spec().claim_ref() {
        None => Some(format!(
            "found PV object {name} but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim"
        )),
        Some(reference) if reference.uid() != claim_uid => {
            let uid = reference.uid();
            Some(format!(
                "found PV object {name} but its pv.Spec.ClaimRef.UID {uid} does not point to claim.UID {claim_uid}"
            ))
        }
        Some(_) => None,
    }
}

/// The mode of the volume behind the claim, which the pod's containers must use it by.
pub(super) fn volume_mode(request: &VolumeRequest) -> Result<VolumeMode, String> {
    let is_block = request.bound().is_some_and(|bound| bound.spec().volume_mode() == Some("Block"));
    let (name, spec) = (request.volume().name(), request.pod().spec());
    let mut containers = spec.containers().iter().chain(spec.init_containers());
    let mut is_used = |wanted: &dyn Fn(ContainerView<'_>) -> bool| containers.any(wanted);
    let mounts = |container: ContainerView<'_>| container.volume_mounts().iter().any(|mount| mount.name() == name);
    let devices = |container: ContainerView<'_>| container.volume_devices().iter().any(|device| device.name() == name);
    let refuse =
        |mode: &str, list: &str| Err(format!("volume {name} has volumeMode {mode}, but is specified in {list}"));
    match is_block {
        true if is_used(&mounts) => refuse("Block", "volumeMounts"),
        false if is_used(&devices) => refuse("Filesystem", "volumeDevices"),
        true => Ok(VolumeMode::Block),
        false => Ok(VolumeMode::Filesystem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_claim_must_be_bound_both_ways_and_made_for_its_pod() {
        let own = json!({"metadata": {"namespace": "ns", "name": "web", "uid": "u"}, "spec": {}});
        let check = |claim: Value, volume: Value, stage: PodStage, expected: Option<&str>| {
            let why = unusable_claim((&own).into(), (&volume).into(), (&claim).into(), stage);
            assert_eq!(why.as_deref(), expected, "{claim}");
        };
        let named = || json!({"name": "data", "persistentVolumeClaim": {"claimName": "c"}});
        let bound = |meta: Value| json!({"metadata": meta, "spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}});
        let mut pending = bound(json!({}));
        pending["status"]["phase"] = "Pending".into();
        check(bound(json!({})), named(), PodStage::New, None);
        check(pending, named(), PodStage::New, Some("PVC is not bound"));
        let going = || bound(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
        check(going(), named(), PodStage::New, Some("PVC is being deleted"));
        check(going(), named(), PodStage::Running, None);
        let made = json!({"name": "data", "ephemeral": {}});
        let why = "PVC ns/web-data was not created for pod ns/web (pod is not owner)";
        check(bound(json!({"namespace": "ns", "name": "web-data"})), made, PodStage::New, Some(why));
        let back = |reference: Value| {
            let volume = json!({"metadata": {"name": "pv"}, "spec": {"claimRef": reference}});
            not_bound_back((&volume).into(), "c1").is_none()
        };
        assert!(back(json!({"uid": "c1"})));
        assert!(!back(json!({"uid": "c2"})) && !back(json!({})) && !back(Value::Null));
    }
}
