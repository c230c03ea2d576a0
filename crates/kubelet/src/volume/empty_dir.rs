//! emptyDir: a directory of the pod's own, on disk, in memory or in huge pages, that lives as long
//! as it.
//!
//! Upstream: pkg/volume/emptydir.

use super::ownership::{Access, give_to_group};
use super::place::{make_directory, mount_huge_pages, mount_tmpfs};
use super::{Measure, MountedVolume, VolumeFailure, VolumePlugin, VolumeRequest};
use crate::container::resources::compute_pod_cgroup;
use async_trait::async_trait;
use ferry_api::quantity::Quantity;
use ferry_api::view::core::v1::{PersistentVolumeView, PodView, VolumeView};
use std::io;

const NAME: &str = "empty-dir";
const HUGE_PAGES: &str = "HugePages";
/// How resources name huge pages of a size.
const HUGE_PAGES_RESOURCE: &str = "hugepages-";

pub struct EmptyDir;

#[async_trait]
impl VolumePlugin for EmptyDir {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, volume: VolumeView<'_>, _: Option<PersistentVolumeView<'_>>) -> bool {
        volume.empty_dir().is_some()
    }

    fn measure(&self) -> Measure {
        Measure::Files
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        Ok(request.on_disk(make).await?)
    }
}

fn make(request: &VolumeRequest) -> Result<MountedVolume, String> {
    let source = request.volume().empty_dir().unwrap_or_default();
    let path = request.directory(NAME, request.volume().name());
    let (directory, is_fresh) = match source.medium() {
        "" => make_directory(request.root(), &path, 0o777)?,
        "Memory" => {
            let size = compute_size(request.volume(), request.pod(), request.sources().machine.allocatable_memory);
            mount_tmpfs(make_directory(request.root(), &path, 0o755)?.0, &path, size)?
        }
        medium if medium.starts_with(HUGE_PAGES) => {
            let size = compute_page_size(medium, request.pod())?;
            mount_huge_pages(make_directory(request.root(), &path, 0o755)?.0, &path, size)?
        }
        other => return Err(format!("unknown storage medium {other:?}")),
    };
    // Changes that containers have made since are theirs.
    if is_fresh {
        let failed = |error: io::Error| format!("cannot set the mode of {}: {error}", path.display());
        directory.set_mode(0o777).map_err(failed)?;
        if let Some(group) = request.fs_group() {
            give_to_group(&directory, group, Access::ReadWrite).map_err(failed)?;
        }
    }
    Ok(MountedVolume::directory(path, false))
}

/// The size of a volume in memory: the least of its limit, the limit of the whole pod, and the memory
/// of the node for pods (upstream: calculateEmptyDirMemorySize). Pure.
fn compute_size(volume: VolumeView<'_>, pod: PodView<'_>, allocatable: i64) -> Option<i64> {
    let own = volume.empty_dir().and_then(|source| source.size_limit()).map(|limit| limit.value());
    let of_pod = compute_pod_cgroup(pod).memory_limit;
    [own, of_pod, Some(allocatable)].into_iter().flatten().filter(|size| *size > 0).min()
}

/// The page size in bytes: the one that the medium names, or the only one that the pod asks for
/// (upstream: getPageSizeMountOption). Pure.
fn compute_page_size(medium: &str, pod: PodView<'_>) -> Result<i64, String> {
    let named = match medium.strip_prefix(HUGE_PAGES).unwrap_or_default().strip_prefix('-') {
        Some(size) => Some(Quantity::parse(size).map_err(|error| format!("medium {medium}: {error}"))?),
        None => None,
    };
    let spec = pod.spec();
    let of_containers = spec.containers().iter().chain(spec.init_containers()).map(|container| container.resources());
    let mut found: Option<Quantity> = None;
    for resources in spec.resources().into_iter().chain(of_containers) {
        for (name, _) in resources.requests() {
            let Some(size) = name.strip_prefix(HUGE_PAGES_RESOURCE) else { continue };
            let size = Quantity::parse(size).map_err(|error| format!("{name}: {error}"))?;
            if named.is_some_and(|named| named != size) {
                continue;
            }
            if found.is_some_and(|found| found != size) {
                return Err(format!("medium: {medium} can't be used if container requests multiple huge page sizes"));
            }
            found = Some(size);
        }
    }
    let none =
        || format!("medium {medium}: hugePages storage requested, but there is no resource request for huge pages");
    found.map(|size| size.value()).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn memory_is_bounded_by_the_volume_the_pod_and_the_node() {
        let check = |limit: Value, memory: Value, expected| {
            let volume = json!({ "emptyDir": { "medium": "Memory", "sizeLimit": limit } });
            let pod = json!({ "spec": { "containers": [{ "resources": { "limits": { "memory": memory } } }] } });
            assert_eq!(compute_size((&volume).into(), (&pod).into(), 1 << 30), expected, "{volume} {pod}");
        };
        check(Value::Null, Value::Null, Some(1 << 30));
        check(Value::Null, json!("64Mi"), Some(64 << 20));
        check(json!("1Mi"), json!("64Mi"), Some(1 << 20));
        check(json!("0"), json!("64Mi"), Some(64 << 20));
        check(json!("4Gi"), Value::Null, Some(1 << 30));
    }

    #[test]
    fn huge_pages_have_the_size_that_is_named_or_asked_for() {
        let check = |medium: &str, requests: Value, expected: Result<i64, &str>| {
            let pod = json!({ "spec": { "containers": [{ "resources": { "requests": requests } }] } });
            assert_eq!(compute_page_size(medium, (&pod).into()), expected.map_err(str::to_owned), "{medium}");
        };
        let both = || json!({ "hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi", "cpu": "1" });
        check("HugePages", json!({ "hugepages-2Mi": "4Mi" }), Ok(2 << 20));
        check("HugePages-1Gi", both(), Ok(1 << 30));
        check(
            "HugePages",
            both(),
            Err("medium: HugePages can't be used if container requests multiple huge page sizes"),
        );
        let why = "medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages";
        check("HugePages-1Gi", json!({ "hugepages-2Mi": "4Mi" }), Err(why));
    }
}
