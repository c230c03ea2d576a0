//! The end of a pod takes away what the pod had, and nothing of the host's: not the files
//! that were mounted below its directory, and not the mounts of the host that showed there.

use crate::{Scene, Verdict, with_own_mounts};
use ferry_kubelet::volume::{self, mounts, subpath, tree};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

struct Kubelet<'a> {
    /// Mounts a part of a volume below the pod's directory.
    mount_sub_path: &'a dyn Fn(&Path, &Path, &str) -> PathBuf,
    tear_down: &'a dyn Fn(&Path) -> io::Result<()>,
    remove_tree: &'a dyn Fn(&Path) -> bool,
}

const FERRY: Kubelet<'static> = Kubelet {
    mount_sub_path: &|root, volume_path, sub_path| {
        let wanted = subpath::Wanted { root, uid: "u", volume: "v", volume_path, container: "c", index: 0, sub_path };
        subpath::prepare(&wanted).expect("mounted")
    },
    tear_down: &|root| volume::tear_down(root, "u"),
    remove_tree: &|tree| tree::remove_tree(tree).is_ok(),
};

fn attack(kubelet: &Kubelet<'_>, verdict: &mut Verdict) {
    // The data directory is a link, and the pod has a part of the host's directory mounted.
    let scene = Scene::set_up();
    std::fs::create_dir(scene.host().join("data")).expect("made");
    std::fs::write(scene.host().join("data/precious"), "x").expect("written");
    let link = scene.path().join("link");
    symlink(scene.root(), &link).expect("linked");
    (kubelet.mount_sub_path)(&link, &scene.host(), "data");
    let _ = (kubelet.tear_down)(&link);
    verdict.tried("the data directory is a link", !scene.host().join("data/precious").exists());

    // A mount that nobody took away.
    for device in ["the same device", "another device"] {
        let scene = Scene::set_up();
        let point = scene.root().join("pods/u/deep/point");
        std::fs::create_dir_all(&point).expect("made");
        let precious = if device == "the same device" {
            bind(&scene.host(), &point, MsFlags::empty());
            scene.secret()
        } else {
            tmpfs(&point);
            std::fs::write(point.join("precious"), "x").expect("written");
            point.join("precious")
        };
        (kubelet.remove_tree)(&scene.root().join("pods/u"));
        verdict.tried(format!("a mount of {device} is below the tree"), !precious.exists());
    }

    // A disk of the host inside what a pod has mounted, and one that was mounted there later.
    let scene = Scene::set_up();
    let host = scene.host();
    tmpfs(&host);
    mount(None::<&str>, &host, None::<&str>, MsFlags::MS_SHARED, None::<&str>).expect("shared");
    for directory in ["data/disk", "data/later"] {
        std::fs::create_dir_all(host.join(directory)).expect("made");
    }
    tmpfs(&host.join("data/disk"));
    let place = (kubelet.mount_sub_path)(&scene.root(), &host, "data");
    tmpfs(&place.join("later"));
    assert!(is_mounted(&host.join("data/later")), "what is mounted in the pod shows on the host");
    let _ = (kubelet.tear_down)(&scene.root());
    verdict.tried("the host's disk inside a subPath", !is_mounted(&host.join("data/disk")));
    verdict.tried("a disk mounted inside a subPath", !is_mounted(&host.join("data/later")));
}

fn is_mounted(path: &Path) -> bool {
    mounts::is_mount_point(path).expect("read")
}

fn tmpfs(point: &Path) {
    mount(Some("tmpfs"), point, Some("tmpfs"), MsFlags::empty(), None::<&str>).expect("mounted");
}

fn bind(from: &Path, to: &Path, more: MsFlags) {
    mount(Some(from), to, None::<&str>, MsFlags::MS_BIND | more, None::<&str>).expect("mounted");
}

#[test]
fn ferry_removes_what_is_the_pods_and_nothing_else() {
    with_own_mounts(|| {
        let mut verdict = Verdict::default();
        attack(&FERRY, &mut verdict);
        verdict.assert_held();
    });
}

#[test]
fn what_ferry_tears_down_is_gone_also_behind_a_link() {
    with_own_mounts(|| {
        let scene = Scene::set_up();
        let link = scene.path().join("link");
        symlink(scene.root(), &link).expect("linked");
        (FERRY.mount_sub_path)(&link, &scene.host(), "data");
        volume::tear_down(&link, "u").expect("torn down");
        assert!(!scene.root().join("pods/u").exists() && scene.host().join("data").exists());
        let point = scene.root().join("pods/u/point");
        std::fs::create_dir_all(&point).expect("made");
        bind(&scene.host(), &point, MsFlags::empty());
        let error = tree::remove_tree(&scene.root().join("pods/u")).expect_err("refused").to_string();
        assert!(error.contains(&point.display().to_string()), "the mount is named: {error}");
        for uid in ["", ".", "..", "u/..", "/", "a/b"] {
            assert!(volume::tear_down(&scene.root(), uid).is_err(), "{uid:?} is no pod's uid");
        }
    });
}

#[test]
fn a_kubelet_that_compares_unresolved_paths_is_found_out() {
    with_own_mounts(|| {
        let mut verdict = Verdict::default();
        attack(&CARELESS, &mut verdict);
        verdict.assert_breached();
    });
}

/// Mounts recursively, looks for its mounts by the path it was given, and removes whatever
/// it finds.
const CARELESS: Kubelet<'static> = Kubelet {
    mount_sub_path: &|root, volume_path, sub_path| {
        let place = root.join("pods/u/place");
        std::fs::create_dir_all(&place).expect("made");
        bind(&volume_path.join(sub_path), &place, MsFlags::MS_REC);
        place
    },
    tear_down: &|root| {
        let table = std::fs::read_to_string("/proc/thread-self/mountinfo")?;
        let points = table.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
        let mut points: Vec<_> = points.filter(|point| point.starts_with(root.join("pods/u"))).collect();
        points.sort_by_key(|point| std::cmp::Reverse(point.as_os_str().len()));
        for point in points {
            let _ = umount2(&point, MntFlags::MNT_DETACH);
        }
        std::fs::remove_dir_all(root.join("pods/u"))
    },
    remove_tree: &|tree| std::fs::remove_dir_all(tree).is_ok(),
};
