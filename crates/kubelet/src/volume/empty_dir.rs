//! emptyDir: a directory of the pod's own, on disk or in memory, that lives as long as it.

use super::ownership::{Access, give_to_group};
use super::place::{make_directory, mount_tmpfs};
use super::{Measure, MountedVolume, VolumeFailure, VolumePlugin, VolumeRequest};
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, VolumeView};
use std::io;

const NAME: &str = "empty-dir";

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
            let size = source.size_limit().map(|limit| limit.value()).filter(|size| *size > 0);
            mount_tmpfs(make_directory(request.root(), &path, 0o755)?.0, &path, size)?
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
