//! local: a directory of this machine behind a claim.
//!
//! It is given to the runtime where it is. No mount of the kubelet's own leads to it, so that
//! removing a pod's directory can never remove a volume's data.
//!
//! Upstream: pkg/volume/local.

use super::beneath::Dir;
use super::claim::volume_mode;
use super::host_path;
use super::ownership::{Access, give_to_group, has_group};
use super::place::make_directory;
use super::{Measure, MountedVolume, VolumeFailure, VolumeMode, VolumePlugin, VolumeRequest};
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, VolumeView};
use std::io;
use std::path::Path;

const NAME: &str = "local-volume";

pub struct Local;

#[async_trait]
impl VolumePlugin for Local {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, _: VolumeView<'_>, bound: Option<PersistentVolumeView<'_>>) -> bool {
        bound.is_some_and(|bound| bound.spec().local().is_some())
    }

    fn measure(&self) -> Measure {
        Measure::FileSystem
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        Ok(request.on_disk(hand_over).await?)
    }
}

/// Checks that the directory is there and gives it to the pod's group, once for each pod. An
/// empty directory of the pod remembers that it was done: it is made last, so that a kubelet
/// killed before begins again.
fn hand_over(request: &VolumeRequest) -> Result<MountedVolume, String> {
    let bound = request.bound().unwrap_or_default();
    let local = bound.spec().local().unwrap_or_default();
    if volume_mode(request)? == VolumeMode::Block {
        host_path::check(local.path(), "BlockDevice")?;
        return Ok(MountedVolume::device(local.path(), request.is_read_only()));
    }
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("path {:?} does not exist", local.path()),
        _ => format!("cannot open {:?}: {error}", local.path()),
    };
    let directory = Dir::open(Path::new(local.path())).map_err(failed)?;
    let mark = request.directory(NAME, bound.metadata().name());
    let must_be_read_only = request.is_read_only();
    if let Some(group) = request.fs_group().filter(|_| !must_be_read_only && !mark.exists()) {
        let context = request.pod().spec().security_context().unwrap_or_default();
        let is_done = context.fs_group_change_policy() == Some("OnRootMismatch")
            && has_group(&directory, group, Access::ReadWrite).map_err(failed)?;
        if !is_done {
            give_to_group(&directory, group, Access::ReadWrite)
                .map_err(|error| format!("applyFSGroup failed for vol {}: {error}", bound.metadata().name()))?;
        }
    }
    make_directory(request.root(), &mark, 0o750)?;
    Ok(MountedVolume::directory(local.path(), must_be_read_only))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::claim::Claims;
    use crate::volume::{Mounted, PodVolumes, VolumeError, Volumes, tear_down};
    use ferry_client::SharedObject;
    use serde_json::{Value, json};
    use std::os::unix::fs::MetadataExt;
    use std::sync::Arc;

    fn pod(security: Value, read_only: bool) -> Value {
        json!({"metadata": {"namespace": "ns", "name": "web", "uid": "u"}, "spec": {"securityContext": security,
            "containers": [{"name": "a", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}], "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "c", "readOnly": read_only}}]}})
    }

    async fn publish(root: &Path, pod: &Value, source: Value) -> Result<Mounted, VolumeError> {
        let mut volume = json!({"metadata": {"name": "pv"}, "spec": source});
        volume["spec"]["claimRef"] = json!({"uid": "c1"});
        let mut volumes = PodVolumes::new(root, SharedObject::of(pod.clone()));
        volumes.claims = Claims::from([("data".to_owned(), SharedObject::of(volume))]);
        Volumes::of_machine(root).set_up(&Arc::new(volumes)).await
    }

    fn place() -> (tempfile::TempDir, std::path::PathBuf, Value) {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (root, data) = (place.path().join("kubelet"), place.path().join("volumes/pv"));
        std::fs::create_dir_all(&root).expect("made");
        std::fs::create_dir_all(data.join("sub")).expect("made");
        let source = json!({"local": {"path": data.to_string_lossy()}});
        (place, root, source)
    }

    #[tokio::test]
    async fn a_volume_outlives_its_pods() {
        let (place, root, source) = place();
        let data = place.path().join("volumes/pv");
        let mounted = publish(&root, &pod(Value::Null, false), source.clone()).await.expect("published");
        assert_eq!(mounted.volumes["data"], MountedVolume::directory(data.clone(), false));
        std::fs::write(data.join("sub/file"), "kept").expect("written");
        tear_down(&root, "u").expect("torn down");
        assert!(!root.join("pods/u").exists());
        publish(&root, &pod(Value::Null, false), source.clone()).await.expect("published again");
        assert_eq!(std::fs::read_to_string(data.join("sub/file")).expect("read"), "kept");
        let mounted = publish(&root, &pod(Value::Null, true), source).await.expect("published");
        assert!(mounted.volumes["data"].must_be_read_only);
    }

    #[tokio::test]
    async fn the_group_gets_the_volume_once_for_each_pod() {
        let (place, root, source) = place();
        let (data, inside) = (place.path().join("volumes/pv"), place.path().join("volumes/pv/sub"));
        let group = |path: &Path| std::fs::metadata(path).expect("there").gid();
        let take_back = |path: &Path| std::os::unix::fs::chown(path, None, Some(0)).expect("root may");
        publish(&root, &pod(json!({"fsGroup": 77}), true), source.clone()).await.expect("published");
        assert_eq!(group(&inside), 0, "a read-only volume is not given away");
        tear_down(&root, "u").expect("torn down");
        publish(&root, &pod(json!({"fsGroup": 77}), false), source.clone()).await.expect("published");
        assert_eq!((group(&data), group(&inside)), (77, 77));
        take_back(&inside);
        publish(&root, &pod(json!({"fsGroup": 77}), false), source.clone()).await.expect("refreshed");
        assert_eq!(group(&inside), 0, "what the pod changes is its own");
        tear_down(&root, "u").expect("torn down");
        let seldom = json!({"fsGroup": 77, "fsGroupChangePolicy": "OnRootMismatch"});
        publish(&root, &pod(seldom.clone(), false), source.clone()).await.expect("published");
        assert_eq!(group(&inside), 0, "the root has the group already");
        tear_down(&root, "u").expect("torn down");
        take_back(&data);
        publish(&root, &pod(seldom, false), source).await.expect("published");
        assert_eq!(group(&inside), 77);
    }

    #[tokio::test]
    async fn what_cannot_be_mounted_is_named() {
        let (place, root, source) = place();
        let why =
            async |source: Value| publish(&root, &pod(Value::Null, false), source).await.expect_err("refused").why;
        let missing = place.path().join("volumes/none");
        let text = format!("path {missing:?} does not exist");
        assert_eq!(why(json!({"local": {"path": missing.to_string_lossy()}})).await, text);
        let text = "this node has no plugin for the kind of PersistentVolume pv";
        assert_eq!(why(json!({"nfs": {"server": "s", "path": "/"}})).await, text);
        let mut block = source;
        block["volumeMode"] = "Block".into();
        assert_eq!(why(block).await, "volume data has volumeMode Block, but is specified in volumeMounts");
        let host = json!({"hostPath": {"path": place.path().to_string_lossy(), "type": "File"}});
        assert!(why(host).await.starts_with("hostPath type check failed"));
    }
}
