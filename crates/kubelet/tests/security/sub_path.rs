//! A subPath is what it was when it was judged, and it is inside its volume.

use crate::{Racer, SECRET, Scene, Verdict, Window, mode, race_a_new_name, with_own_mounts};
use ferry_kubelet::volume::subpath::{self, Wanted};
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use nix::mount::{MsFlags, mount};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Prepares a subPath; answers the host path that the runtime is given.
type Prepare<'a> = &'a dyn Fn(&Scene, &str, &Window) -> Result<PathBuf, String>;

fn attack_links(prepare: Prepare<'_>, verdict: &mut Verdict) {
    let idle = Racer::start(|| false).window();
    for (what, target) in [("absolute", None), ("relative", Some("../host"))] {
        let scene = Scene::set_up();
        let target = target.map_or_else(|| scene.host(), PathBuf::from);
        symlink(target, scene.volume().join("out")).expect("linked");
        for path in ["out", "out/secret"] {
            let given = prepare(&scene, path, &idle);
            verdict.tried(format!("{path} behind an {what} link"), given.is_ok_and(|given| shows_secret(&given)));
        }
        let _ = prepare(&scene, "out/made", &idle);
        verdict.tried(format!("a new directory behind an {what} link"), scene.host().join("made").exists());
    }
}

fn attack_by_racing(prepare: Prepare<'_>, rounds: usize, verdict: &mut Verdict) {
    let changed = race_a_new_name(rounds, |scene, window| drop(prepare(scene, "new", window)));
    verdict.tried("a new directory becomes a link before its mode is set", changed);
    let scene = Scene::set_up();
    let (directory, link) = (scene.volume().join("sub"), scene.volume().join("link"));
    std::fs::create_dir(&directory).expect("made");
    symlink(scene.host(), &link).expect("linked");
    let racer =
        Racer::start(move || renameat2(AT_FDCWD, &directory, AT_FDCWD, &link, RenameFlags::RENAME_EXCHANGE).is_ok());
    let shown = (0..rounds).any(|_| prepare(&scene, "sub", &racer.window()).is_ok_and(|given| shows_secret(&given)));
    verdict.tried("a directory and a link change places", shown);
}

fn shows_secret(given: &Path) -> bool {
    [given.to_path_buf(), given.join("secret")]
        .iter()
        .any(|path| std::fs::read_to_string(path).is_ok_and(|text| text == SECRET))
}

fn ferry(scene: &Scene, sub_path: &str, _: &Window) -> Result<PathBuf, String> {
    subpath::prepare(&Wanted {
        root: &scene.root(),
        uid: "u",
        volume: "v",
        volume_path: &scene.volume(),
        container: "c",
        index: 0,
        sub_path,
    })
}

#[test]
fn ferry_mounts_nothing_from_outside_the_volume() {
    with_own_mounts(|| {
        let mut verdict = Verdict::default();
        attack_links(&ferry, &mut verdict);
        attack_by_racing(&ferry, 300, &mut verdict);
        verdict.assert_held();
    });
}

#[test]
fn what_ferry_mounts_is_what_the_path_names() {
    with_own_mounts(|| {
        let scene = Scene::set_up();
        std::fs::write(scene.volume().join("file"), "one").expect("written");
        symlink("file", scene.volume().join("link")).expect("linked");
        let idle = Racer::start(|| false).window();
        for path in ["file", "link"] {
            let given = ferry(&scene, path, &idle).expect("mounted");
            assert_eq!(std::fs::read_to_string(given).expect("read"), "one");
        }
        let given = ferry(&scene, "made/below", &idle).expect("a directory takes the file's place");
        std::fs::write(given.join("seen"), "").expect("written");
        assert!(scene.volume().join("made/below/seen").exists());
        assert_eq!(mode(&scene.volume().join("made")), mode(&scene.volume()));
    });
}

#[test]
fn a_kubelet_that_follows_links_is_found_out() {
    with_own_mounts(|| {
        let mut verdict = Verdict::default();
        let careless = |scene: &Scene, sub_path: &str, _: &Window| {
            let target = scene.volume().join(sub_path);
            std::fs::create_dir_all(&target)
                .or_else(|error| if target.exists() { Ok(()) } else { Err(error) })
                .map_err(|error| error.to_string())?;
            Ok(target)
        };
        attack_links(&careless, &mut verdict);
        verdict.assert_breached();
    });
}

#[test]
fn a_kubelet_that_looks_and_then_mounts_is_found_out() {
    with_own_mounts(|| {
        let mut verdict = Verdict::default();
        attack_by_racing(&careless, 300, &mut verdict);
        verdict.assert_breached();
    });
}

/// Refuses links, but looks by path, sets modes by path and mounts by path.
fn careless(scene: &Scene, sub_path: &str, window: &Window) -> Result<PathBuf, String> {
    let text = |error: std::io::Error| error.to_string();
    let target = scene.volume().join(sub_path);
    if std::fs::symlink_metadata(&target).is_err() {
        std::fs::create_dir(&target).map_err(text)?;
        window.hold_open();
        let mode = std::fs::metadata(scene.volume()).map_err(text)?.permissions();
        std::fs::set_permissions(&target, mode).map_err(text)?;
    }
    if !std::fs::canonicalize(&target).map_err(text)?.starts_with(scene.volume()) {
        return Err("leads out of the volume".into());
    }
    window.hold_open();
    let place = scene.root().join("place");
    let _ = nix::mount::umount2(&place, nix::mount::MntFlags::MNT_DETACH);
    std::fs::create_dir_all(&place).map_err(text)?;
    mount(Some(&target), &place, None::<&str>, MsFlags::MS_BIND, None::<&str>).map_err(|error| error.to_string())?;
    Ok(place)
}
