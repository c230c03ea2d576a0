//! emptyDir: a directory of the pod's own, on disk or in memory, that lives as long as it.

use super::ownership::{Access, give_to_group};
use super::place::{make_directory, mount_tmpfs};
use super::{MountedVolume, Publication, VolumePlugin, volume_directory};
use ferry_api::view::core::v1::VolumeView;
use std::io;

pub struct EmptyDir;

impl VolumePlugin for EmptyDir {
    fn takes(&self, volume: VolumeView<'_>) -> bool {
        volume.empty_dir().is_some()
    }

    fn publish(&self, publication: &Publication<'_>, volume: VolumeView<'_>) -> Result<MountedVolume, String> {
        let source = volume.empty_dir().unwrap_or_default();
        let root = publication.root;
        let path = volume_directory(root, publication.pod.metadata().uid(), "empty-dir", volume.name());
        let (directory, is_fresh) = match source.medium() {
            "" => make_directory(root, &path, 0o777)?,
            "Memory" => {
                let size = source.size_limit().map(|limit| limit.value()).filter(|size| *size > 0);
                mount_tmpfs(make_directory(root, &path, 0o755)?.0, &path, size)?
            }
            other => return Err(format!("unknown storage medium {other:?}")),
        };
        // Changes that containers have made since are theirs.
        if is_fresh {
            let failed = |error: io::Error| format!("cannot set the mode of {}: {error}", path.display());
            directory.set_mode(0o777).map_err(failed)?;
            if let Some(group) = publication.fs_group() {
                give_to_group(&directory, group, Access::ReadWrite).map_err(failed)?;
            }
        }
        Ok(MountedVolume { path, must_be_read_only: false })
    }
}
