//! subPath: a part of a volume mounted by itself.
//!
//! The path inside a volume belongs to whoever writes there, so a link in it may point
//! anywhere. The target is opened first and judged by what was really opened; then that
//! very file is bind-mounted to a place of our own, which the runtime is given.

use super::pod_directory;
use nix::fcntl::{OFlag, open};
use nix::mount::{MsFlags, mount};
use nix::sys::stat::Mode;
use std::os::fd::AsRawFd;
use std::path::{Component, Path, PathBuf};

pub struct Wanted<'a> {
    pub root: &'a Path,
    pub uid: &'a str,
    pub volume: &'a str,
    pub volume_path: &'a Path,
    pub container: &'a str,
    pub index: usize,
    pub sub_path: &'a str,
    pub read_only: bool,
}

/// The host path to mount instead of the volume. Blocking.
pub fn prepare(wanted: &Wanted<'_>) -> Result<PathBuf, String> {
    let relative = Path::new(wanted.sub_path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(format!("subPath {:?} must not be absolute or contain '..'", wanted.sub_path));
    }
    let base = std::fs::canonicalize(wanted.volume_path).map_err(|error| error.to_string())?;
    let target = base.join(relative);
    if std::fs::symlink_metadata(&target).is_err() {
        if wanted.read_only && !is_writable(&base) {
            return Err(format!("subPath {:?} does not exist in a read-only volume", wanted.sub_path));
        }
        make_inside(&base, relative)?;
    }
    let opened = open(&target, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())
        .map_err(|error| format!("cannot open subPath {:?}: {error}", wanted.sub_path))?;
    let link = format!("/proc/self/fd/{}", opened.as_raw_fd());
    let really = std::fs::read_link(&link).map_err(|error| error.to_string())?;
    if !really.starts_with(&base) {
        return Err(format!("subPath {:?} leads out of the volume", wanted.sub_path));
    }
    let place = pod_directory(wanted.root, wanted.uid)
        .join("volume-subpaths")
        .join(wanted.volume)
        .join(wanted.container)
        .join(wanted.index.to_string());
    let text = |error: std::io::Error| format!("cannot make {}: {error}", place.display());
    if let Some(parent) = place.parent() {
        std::fs::create_dir_all(parent).map_err(text)?;
    }
    // A restart of the container mounts anew: the volume's content may have moved.
    let _ = nix::mount::umount2(&place, nix::mount::MntFlags::MNT_DETACH);
    if really.is_dir() {
        std::fs::create_dir_all(&place).map_err(text)?;
    } else if !place.exists() {
        std::fs::File::create(&place).map_err(text)?;
    }
    mount(Some(Path::new(&link)), &place, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
        .map_err(|error| format!("cannot mount subPath {:?}: {error}", wanted.sub_path))?;
    Ok(place)
}

fn is_writable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok()
}

/// Makes the missing directories one by one, refusing to walk through a link that
/// leaves the volume.
fn make_inside(base: &Path, relative: &Path) -> Result<(), String> {
    let mut at = base.to_path_buf();
    for part in relative.components() {
        at.push(part);
        if !at.exists() {
            std::fs::create_dir(&at).map_err(|error| format!("cannot make {}: {error}", at.display()))?;
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(base).map(|m| m.permissions().mode()).unwrap_or(0o755);
            let _ = std::fs::set_permissions(&at, std::fs::Permissions::from_mode(mode));
        }
        let really = std::fs::canonicalize(&at).map_err(|error| error.to_string())?;
        if !really.starts_with(base) {
            return Err("subPath leads out of the volume".into());
        }
        at = really;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<'a>(root: &'a Path, volume: &'a Path, sub_path: &'a str) -> Wanted<'a> {
        Wanted {
            root,
            uid: "u",
            volume: "v",
            volume_path: volume,
            container: "c",
            index: 0,
            sub_path,
            read_only: false,
        }
    }

    #[test]
    fn links_cannot_lead_out_of_the_volume() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let volume = directory.path().join("v");
        std::fs::create_dir(&volume).expect("made");
        std::os::unix::fs::symlink("/etc", volume.join("out")).expect("linked");
        for path in ["out", "out/passwd", "../x", "/etc"] {
            assert!(prepare(&wanted(directory.path(), &volume, path)).is_err(), "{path}");
        }
    }
}
