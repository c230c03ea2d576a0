//! The directory of network namespaces, as a mount point that belongs to no pod.
//!
//! containerd mounts each pod's namespace on a file in `/run/netns`. The first `ip netns add`
//! on a machine whose `/run/netns` is no shared mount point binds the directory on itself,
//! recursively: every mount in it exists twice from then on, containerd removes the upper one
//! only, the file stays busy, and no pod that ran at that moment can be deleted. A directory
//! that is shared before the first pod starts is left as it is.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::path::Path;

/// Where containerd and iproute2 keep network namespaces.
pub const DIRECTORY: &str = "/run/netns";

const NONE: Option<&str> = None;

/// Makes the directory a shared mount point. It is left alone if it is one already.
pub fn share(directory: &Path) -> Result<()> {
    let failed = || format!("cannot make {} a shared mount point", directory.display());
    std::fs::create_dir_all(directory).with_context(failed)?;
    match make_shared(directory) {
        // No mount point: it becomes one, alone, before anything is mounted in it.
        Err(Errno::EINVAL) => {
            mount(Some(directory), directory, NONE, MsFlags::MS_BIND, NONE).with_context(failed)?;
            make_shared(directory).with_context(failed)
        }
        other => other.with_context(failed),
    }
}

fn make_shared(directory: &Path) -> nix::Result<()> {
    mount(NONE, directory, NONE, MsFlags::MS_SHARED | MsFlags::MS_REC, NONE)
}

/// Removes the mount point and the directory once no namespace of anyone is left in it.
/// Whatever stands in the way leaves it to its next user.
pub fn release(directory: &Path) {
    let is_empty = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty {
        let _ = umount2(directory, MntFlags::empty());
        let _ = std::fs::remove_dir(directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CloneFlags, unshare};

    /// Runs in a mount namespace of its own, on a thread that nobody else uses.
    fn apart(test: impl FnOnce(&Path) + Send + 'static) {
        std::thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNS).expect("tests run as root");
            mount(NONE, "/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE).expect("private mounts");
            let folder = tempfile::tempdir().expect("a folder");
            test(&folder.path().join("netns"));
        })
        .join()
        .expect("the test passes");
    }

    /// Mounts a namespace as containerd does, and lets iproute2's first step follow.
    fn pod_then_ip_netns_add(directory: &Path) -> nix::Result<()> {
        let file = directory.join("pod");
        std::fs::write(&file, "").expect("a file");
        mount(Some("/proc/self/ns/net"), &file, NONE, MsFlags::MS_BIND, NONE).expect("a namespace");
        make_shared(directory)
    }

    #[test]
    fn a_pod_can_be_deleted_after_the_first_ip_netns_add() {
        apart(|directory| {
            share(directory).expect("shared");
            share(directory).expect("shared a second time");
            // iproute2 binds the directory on itself only when this fails.
            assert_eq!(pod_then_ip_netns_add(directory), Ok(()));
            umount2(&directory.join("pod"), MntFlags::MNT_DETACH).expect("unmounted");
            std::fs::remove_file(directory.join("pod")).expect("no second mount keeps the file");
            release(directory);
            assert!(!directory.exists());
        });
    }

    #[test]
    fn a_directory_that_is_not_shared_is_bound_on_itself() {
        apart(|directory| {
            std::fs::create_dir_all(directory).expect("a directory");
            assert_eq!(pod_then_ip_netns_add(directory), Err(Errno::EINVAL));
        });
    }

    #[test]
    fn a_directory_in_use_stays() {
        apart(|directory| {
            share(directory).expect("shared");
            assert_eq!(pod_then_ip_netns_add(directory), Ok(()));
            release(directory);
            assert!(directory.join("pod").exists());
        });
    }
}
