//! persistentVolumeClaim and ephemeral: the volume that a pod's claim is bound to. `pod_worker`
//! resolves the claims over the API ([`resolve`]), publishing then works on this machine.
//!
//! Volumes of the sources `local` and `hostPath` are given to the runtime where they are. No
//! mount of the kubelet's own leads to them, so that removing a pod's directory can never
//! remove a volume's data.
//!
//! Upstream: pkg/kubelet/volumemanager/populator, pkg/volume/local.

use super::beneath::Dir;
use super::ownership::{Access, give_to_group, has_group};
use super::place::make_directory;
use super::{MountedVolume, Publication, VolumePlugin, host_path, volume_directory};
use ferry_api::rules::volume_match::{claim_name, matches_node_affinity, not_made_for_pod};
use ferry_api::view::core::v1::{
    LocalVolumeSourceView, NodeView, PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimView,
    PersistentVolumeView, Pod, PodView, VolumeView,
};
use ferry_client::{Client, SharedObject};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// The volumes behind a pod's claims, by the name of the pod's own volume. A bound claim never
/// changes its volume, so a pod resolves each once.
pub type Claims = HashMap<String, SharedObject<PersistentVolume>>;

/// Whether the pod has begun to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodStage {
    New,
    Running,
}

/// Fetches the volumes behind the claims that are not known yet. The error is the text of the
/// pod's FailedMount event.
pub async fn resolve(
    client: &Client,
    pod: &SharedObject<Pod>,
    node: Option<NodeView<'_>>,
    stage: PodStage,
    known: &mut Claims,
) -> Result<(), String> {
    for volume in pod.view().spec().volumes() {
        let Some(claim) = claim_name(pod.view(), volume).filter(|_| !known.contains_key(volume.name())) else {
            continue;
        };
        let found = fetch(client, pod.view(), volume, &claim, stage).await.map_err(|why| {
            let (name, namespace) = (volume.name(), pod.namespace());
            format!(
                "Unable to attach or mount volumes: unmounted volumes=[{name}], unattached volumes=[], failed to \
                 process volumes=[{name}]: error processing PVC {namespace}/{claim}: {why}"
            )
        })?;
        if let Some(node) = node
            && !matches_node_affinity(found.view(), node)
        {
            let name = found.name();
            return Err(format!(
                "MountVolume.NodeAffinity check failed for volume {name:?} : no matching NodeSelectorTerms"
            ));
        }
        known.insert(volume.name().to_owned(), found);
    }
    Ok(())
}

async fn fetch(
    client: &Client,
    pod: PodView<'_>,
    volume: VolumeView<'_>,
    name: &str,
    stage: PodStage,
) -> Result<SharedObject<PersistentVolume>, String> {
    let claims = client.api::<PersistentVolumeClaim>(pod.metadata().namespace());
    let claim = claims.get(name).await.map_err(|error| format!("failed to fetch PVC from API server: {error}"))?;
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

pub struct PersistentClaim;

impl VolumePlugin for PersistentClaim {
    fn takes(&self, volume: VolumeView<'_>) -> bool {
        volume.persistent_volume_claim().is_some() || volume.ephemeral().is_some()
    }

    fn publish(&self, publication: &Publication<'_>, volume: VolumeView<'_>) -> Result<MountedVolume, String> {
        let Some(bound) = publication.claims.get(volume.name()) else { return Err("PVC is not bound".into()) };
        let (bound, must_be_read_only) =
            (bound.view(), volume.persistent_volume_claim().is_some_and(|claim| claim.read_only()));
        let spec = bound.spec();
        if spec.volume_mode() == Some("Block") {
            return Err(format!("volume {} has volumeMode Block, but is specified in volumeMounts", volume.name()));
        }
        let path = if let Some(local) = spec.local() {
            publish_local(publication, bound, local, must_be_read_only)?;
            local.path()
        } else if let Some(source) = spec.host_path() {
            host_path::check(source.path(), source.type_().unwrap_or_default())?;
            source.path()
        } else {
            return Err(format!(
                "this node has no plugin for the kind of PersistentVolume {}",
                bound.metadata().name()
            ));
        };
        Ok(MountedVolume { path: path.into(), must_be_read_only })
    }
}

/// Checks that the directory is there and gives it to the pod's group, once for each pod. An
/// empty directory of the pod remembers that it was done: it is made last, so that a kubelet
/// killed before begins again.
fn publish_local(
    publication: &Publication<'_>,
    bound: PersistentVolumeView<'_>,
    local: LocalVolumeSourceView<'_>,
    must_be_read_only: bool,
) -> Result<(), String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("path {:?} does not exist", local.path()),
        _ => format!("cannot open {:?}: {error}", local.path()),
    };
    let directory = Dir::open(Path::new(local.path())).map_err(failed)?;
    let uid = publication.pod.metadata().uid();
    let mark = volume_directory(publication.root, uid, "local-volume", bound.metadata().name());
    if let Some(group) = publication.fs_group().filter(|_| !must_be_read_only && !mark.exists()) {
        let context = publication.pod.spec().security_context().unwrap_or_default();
        let is_done = context.fs_group_change_policy() == Some("OnRootMismatch")
            && has_group(&directory, group, Access::ReadWrite).map_err(failed)?;
        if !is_done {
            give_to_group(&directory, group, Access::ReadWrite)
                .map_err(|error| format!("applyFSGroup failed for vol {}: {error}", bound.metadata().name()))?;
        }
    }
    make_directory(publication.root, &mark, 0o750).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::container::{Machine, References};
    use crate::volume::{Mounted, Tokens, VolumeError, set_up, tear_down};
    use serde_json::{Value, json};
    use std::os::unix::fs::MetadataExt;

    fn pod(security: Value, read_only: bool) -> Value {
        json!({"metadata": {"namespace": "ns", "name": "web", "uid": "u"}, "spec": {"securityContext": security,
            "containers": [{"name": "a"}], "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "c", "readOnly": read_only}}]}})
    }

    fn publish(root: &Path, pod: &Value, source: Value) -> Result<Mounted, VolumeError> {
        let mut volume = json!({"metadata": {"name": "pv"}, "spec": source});
        volume["spec"]["claimRef"] = json!({"uid": "c1"});
        let claims = Claims::from([("data".to_owned(), SharedObject::of(volume))]);
        set_up(&Publication {
            root,
            pod: pod.into(),
            references: &References::default(),
            tokens: &Tokens::default(),
            claims: &claims,
            pod_ips: &[],
            machine: &Machine::default(),
        })
    }

    fn place() -> (tempfile::TempDir, std::path::PathBuf, Value) {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (root, data) = (place.path().join("kubelet"), place.path().join("volumes/pv"));
        std::fs::create_dir_all(&root).expect("made");
        std::fs::create_dir_all(data.join("sub")).expect("made");
        let source = json!({"local": {"path": data.to_string_lossy()}});
        (place, root, source)
    }

    #[test]
    fn a_volume_outlives_its_pods() {
        let (place, root, source) = place();
        let data = place.path().join("volumes/pv");
        let mounted = publish(&root, &pod(Value::Null, false), source.clone()).expect("published");
        assert_eq!(mounted.volumes["data"], MountedVolume { path: data.clone(), must_be_read_only: false });
        std::fs::write(data.join("sub/file"), "kept").expect("written");
        tear_down(&root, "u").expect("torn down");
        assert!(!root.join("pods/u").exists());
        publish(&root, &pod(Value::Null, false), source.clone()).expect("published again");
        assert_eq!(std::fs::read_to_string(data.join("sub/file")).expect("read"), "kept");
        let mounted = publish(&root, &pod(Value::Null, true), source).expect("published");
        assert!(mounted.volumes["data"].must_be_read_only);
    }

    #[test]
    fn the_group_gets_the_volume_once_for_each_pod() {
        let (place, root, source) = place();
        let (data, inside) = (place.path().join("volumes/pv"), place.path().join("volumes/pv/sub"));
        let group = |path: &Path| std::fs::metadata(path).expect("there").gid();
        let take_back = |path: &Path| std::os::unix::fs::chown(path, None, Some(0)).expect("root may");
        publish(&root, &pod(json!({"fsGroup": 77}), true), source.clone()).expect("published");
        assert_eq!(group(&inside), 0, "a read-only volume is not given away");
        tear_down(&root, "u").expect("torn down");
        publish(&root, &pod(json!({"fsGroup": 77}), false), source.clone()).expect("published");
        assert_eq!((group(&data), group(&inside)), (77, 77));
        take_back(&inside);
        publish(&root, &pod(json!({"fsGroup": 77}), false), source.clone()).expect("refreshed");
        assert_eq!(group(&inside), 0, "what the pod changes is its own");
        tear_down(&root, "u").expect("torn down");
        let seldom = json!({"fsGroup": 77, "fsGroupChangePolicy": "OnRootMismatch"});
        publish(&root, &pod(seldom.clone(), false), source.clone()).expect("published");
        assert_eq!(group(&inside), 0, "the root has the group already");
        tear_down(&root, "u").expect("torn down");
        take_back(&data);
        publish(&root, &pod(seldom, false), source).expect("published");
        assert_eq!(group(&inside), 77);
    }

    #[test]
    fn what_cannot_be_mounted_is_named() {
        let (place, root, source) = place();
        let why = |source: Value| publish(&root, &pod(Value::Null, false), source).expect_err("refused").why;
        let missing = place.path().join("volumes/none");
        let text = format!("path {missing:?} does not exist");
        assert_eq!(why(json!({"local": {"path": missing.to_string_lossy()}})), text);
        let text = "this node has no plugin for the kind of PersistentVolume pv";
        assert_eq!(why(json!({"nfs": {"server": "s", "path": "/"}})), text);
        let mut block = source;
        block["volumeMode"] = "Block".into();
        assert_eq!(why(block), "volume data has volumeMode Block, but is specified in volumeMounts");
        let host = json!({"hostPath": {"path": place.path().to_string_lossy(), "type": "File"}});
        assert!(why(host).starts_with("hostPath type check failed"));
    }

    #[test]
    fn a_claim_must_be_bound_both_ways_and_made_for_its_pod() {
        let own = pod(Value::Null, false);
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
