//! image: the files of an OCI image, read-only. The image is pulled like a container's, once the
//! pod has its sandbox, and the kubelet mounts a view of its layers that containerd keeps.
//!
//! Each image that the volume's reference has meant in the life of the pod has a mount of its
//! own, `…/kubernetes.io~image/<volume>/<digest>`: a container that restarts after its tag has
//! moved sees the new image, and the others keep theirs.
//!
//! Upstream: pkg/volume/image, getImageVolumes of pkg/kubelet/kuberuntime.

use super::beneath::Dir;
use super::place::{PREFIX, make_directory};
use super::{MountedVolume, SetUpTime, VolumeFailure, VolumePlace, VolumePlugin, VolumeRequest, mounts, pod_directory};
use crate::cri::{ImageMount, Runtime};
use crate::image::{self, Images, Wanted};
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, Pod, VolumeView};
use ferry_client::Reference;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAME: &str = "image";
/// mount(2) takes one page of options.
const MAX_OPTIONS: usize = 4096 - 1;

pub struct ImageVolume {
    pub(super) images: Arc<Images>,
    pub(super) runtime: Arc<dyn Runtime>,
}

#[async_trait]
impl VolumePlugin for ImageVolume {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, volume: VolumeView<'_>, _: Option<PersistentVolumeView<'_>>) -> bool {
        takes(volume)
    }

    fn set_up_time(&self) -> SetUpTime {
        SetUpTime::WithContainers
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        let volume = request.volume();
        let source = volume.image().unwrap_or_default();
        let sources = request.sources();
        let sandbox = sources.sandbox.as_ref().ok_or_else(|| "the pod has no sandbox".to_owned())?;
        let reference = source.reference();
        let wanted = Wanted {
            image: reference,
            policy: image::pull_policy(source.pull_policy(), reference),
            pod_uid: request.pod().metadata().uid(),
            reference: &Reference::of::<Pod>(request.pod().metadata()),
            secrets: &sources.pull_secrets(),
            service_account: request.pod().spec().service_account_name(),
            sandbox,
        };
        let image = self.images.ensure(&wanted).await.map_err(VolumeFailure::Image)?;
        let digest = digest_of(&image.id).ok_or_else(|| format!("the runtime calls the image {:?}", image.id))?;
        let path = request.directory(NAME, volume.name()).join(digest);
        let place = path.clone();
        // The directory is made first: it is what remembers the view when the pod goes.
        let is_mounted = request.on_disk(move |request| {
            let (directory, _) = make_directory(request.root(), &place, 0o755)?;
            let place = directory.path().map_err(|error| error.to_string())?;
            mounts::is_mount_point(&place).map_err(|error| error.to_string())
        });
        if !is_mounted.await? {
            let key = view_key(request.pod().metadata().uid(), volume.name(), digest);
            let view = self.runtime.view_image(&image.id, &key).await.map_err(|error| error.to_string())?;
            let place = path.clone();
            let mounted = request.on_disk(move |_| mount_view(&view, &place).map_err(|error| error.to_string())).await;
            mounted.map_err(|why| format!("failed to mount image {reference:?}: {why}"))?;
        }
        Ok(MountedVolume::directory(path, true))
    }

    async fn unpublish(&self, place: &VolumePlace) -> Result<(), String> {
        let (path, volume) = (place.path(), place.clone());
        let digests = tokio::task::spawn_blocking(move || unmount_all(&path)).await;
        let digests = digests.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        for digest in digests {
            let key = view_key(&volume.uid, &volume.name, &digest);
            self.runtime.remove_image_view(&key).await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

pub(super) fn takes(volume: VolumeView<'_>) -> bool {
    volume.image().is_some()
}

/// The ids of all images that volumes of pods are made of; they are not to be collected.
/// Blocking.
pub fn images_in_use(root: &Path) -> Vec<String> {
    let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let volumes = entries(pod_directory(root, "")).flat_map(|pod| {
        let kind = pod.path().join("volumes").join(format!("{PREFIX}{NAME}"));
        entries(kind)
    });
    let digests = volumes.flat_map(|volume| entries(volume.path()));
    digests.map(|digest| format!("sha256:{}", digest.file_name().to_string_lossy())).collect()
}

/// The hexadecimal part of an image's id, which is the name of a directory.
fn digest_of(id: &str) -> Option<&str> {
    let digest = id.strip_prefix("sha256:").unwrap_or(id);
    let is_name = !digest.is_empty() && digest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_name.then_some(digest)
}

/// The name of the view in containerd; a pod's uid is unique for all time.
fn view_key(uid: &str, volume: &str, digest: &str) -> String {
    format!("image-volume/{uid}/{volume}/{digest}")
}

/// Unmounts every image of a volume and returns their digests. Their directories go with the
/// pod's, after the views are removed.
fn unmount_all(path: &Path) -> io::Result<Vec<String>> {
    let mut digests = Vec::new();
    for entry in Dir::open(path)?.read()? {
        let name = entry?.file_name();
        match umount2(&path.join(&name), MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW) {
            Ok(()) | Err(nix::errno::Errno::EINVAL) => digests.push(name.to_string_lossy().into_owned()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(digests)
}

/// Mounts a view. On the host nothing in it is run or taken for a device; a container's own mount
/// of it is read-only, and its other flags are the runtime's. Blocking.
fn mount_view(view: &[ImageMount], place: &Path) -> io::Result<()> {
    let [view] = view else {
        return Err(io::Error::other(format!("the runtime has {} mounts for one image", view.len())));
    };
    let guard = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    match view.kind.as_str() {
        "bind" => {
            mount(Some(view.source.as_str()), place, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
            let again = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | guard;
            mount(None::<&str>, place, None::<&str>, again, None::<&str>).inspect_err(|_| {
                let _ = umount2(place, MntFlags::MNT_DETACH);
            })?;
        }
        "overlay" => {
            let options: Vec<&str> = view.options.iter().map(String::as_str).filter(|o| !is_flag(o)).collect();
            mount_overlay(&plan_overlay(&options.join(",")), place, guard)?;
        }
        other => return Err(io::Error::other(format!("images of this runtime are mounted as {other:?}"))),
    }
    Ok(())
}

fn is_flag(option: &str) -> bool {
    matches!(option, "ro" | "rw" | "bind" | "rbind")
}

/// The options of an overlay, from a directory that they are relative to.
#[derive(Debug, PartialEq)]
struct OverlayPlan {
    from: Option<PathBuf>,
    options: String,
}

/// The paths of many layers do not fit into a page; then they are named from the directory
/// that they have in common, which is containerd's own way out.
fn plan_overlay(options: &str) -> OverlayPlan {
    let whole = || OverlayPlan { from: None, options: options.to_owned() };
    if options.len() <= MAX_OPTIONS {
        return whole();
    }
    let is_layers = |option: &&str| option.starts_with("lowerdir=");
    let Some(layers) = options.split(',').find(is_layers).and_then(|option| option.strip_prefix("lowerdir=")) else {
        return whole();
    };
    let layers: Vec<&Path> = layers.split(':').map(Path::new).collect();
    let mut ancestors = layers.first().into_iter().flat_map(|first| first.ancestors().skip(1));
    let Some(from) = ancestors.find(|ancestor| layers.iter().all(|layer| layer.starts_with(ancestor))) else {
        return whole();
    };
    let relative = layers.iter().map(|layer| layer.strip_prefix(from).unwrap_or(layer).to_string_lossy());
    let relative = format!("lowerdir={}", relative.collect::<Vec<_>>().join(":"));
    let options = options.split(',').map(|option| if is_layers(&option) { relative.as_str() } else { option });
    OverlayPlan { from: Some(from.to_owned()), options: options.collect::<Vec<_>>().join(",") }
}

fn mount_overlay(plan: &OverlayPlan, place: &Path, flags: MsFlags) -> io::Result<()> {
    let now = || mount(Some("overlay"), place, Some("overlay"), flags, Some(plan.options.as_str()));
    let Some(from) = &plan.from else { return Ok(now()?) };
    // Only a thread that shares its working directory with no other may change it.
    std::thread::scope(|scope| {
        let mounting = scope.spawn(|| -> io::Result<()> {
            unshare(CloneFlags::CLONE_FS)?;
            nix::unistd::chdir(from.as_path())?;
            Ok(now()?)
        });
        mounting.join().unwrap_or_else(|_| Err(io::Error::other("the mounting thread failed")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_one_plain_name() {
        assert_eq!(digest_of("sha256:ab12"), Some("ab12"));
        for id in ["", "sha256:", "sha256:../x", "a/b", ".."] {
            assert_eq!(digest_of(id), None, "{id:?}");
        }
    }

    #[test]
    fn the_layers_of_a_large_image_are_named_from_their_common_directory() {
        let few = "index=off,lowerdir=/var/lib/c/2/fs:/var/lib/c/1/fs";
        assert_eq!(plan_overlay(few), OverlayPlan { from: None, options: few.to_owned() });
        let layers: Vec<String> = (0..120).map(|number| format!("/var/lib/containerd/snapshots/{number}/fs")).collect();
        let plan = plan_overlay(&format!("index=off,lowerdir={}", layers.join(":")));
        assert_eq!(plan.from.as_deref(), Some(Path::new("/var/lib/containerd/snapshots")));
        assert!(plan.options.starts_with("index=off,lowerdir=0/fs:1/fs:2/fs:"), "{}", plan.options);
        assert!(plan.options.len() <= MAX_OPTIONS);
    }

    #[test]
    fn images_of_volumes_are_found_on_the_disk() {
        let root = tempfile::tempdir().expect("a temporary directory");
        assert!(images_in_use(root.path()).is_empty());
        let volume = VolumePlace { root: root.path().into(), uid: "u".into(), plugin: NAME.into(), name: "v".into() };
        std::fs::create_dir_all(volume.path().join("ab12")).expect("made");
        assert_eq!(images_in_use(root.path()), ["sha256:ab12"]);
    }
}
