//! hostPath types: what is mounted is of the kind that was asked for, and what is made for
//! a pod is made where the path says.

use crate::{Racer, Scene, Verdict, Window, race_a_new_name};
use ferry_kubelet::volume::host_path;
use std::os::unix::fs::symlink;
use std::path::Path;

type Check<'a> = &'a dyn Fn(&str, &str, &Window) -> Result<(), String>;

fn attack(check: Check<'_>, rounds: usize, verdict: &mut Verdict) {
    let idle = Racer::start(|| false).window();
    let scene = Scene::set_up();
    std::os::unix::net::UnixListener::bind(scene.host().join("socket")).expect("bound");
    symlink(scene.host().join("socket"), scene.host().join("link")).expect("linked");
    let at = |name: &str| scene.host().join(name).display().to_string();
    let mismatches = [
        ("secret", "Directory"),
        ("secret", "DirectoryOrCreate"),
        ("secret", "Socket"),
        ("secret", "BlockDevice"),
        ("secret", "CharDevice"),
        (".", "File"),
        (".", "FileOrCreate"),
        ("socket", "File"),
        ("link", "File"),
        ("link", "FileOrCreate"),
        ("absent", "File"),
        ("absent", "Directory"),
        ("secret", "file"),
    ];
    for (name, kind) in mismatches {
        verdict.tried(format!("{name} as {kind}"), check(&at(name), kind, &idle).is_ok());
    }
    let elsewhere = scene.host().join("elsewhere");
    symlink(&elsewhere, scene.volume().join("dangling")).expect("linked");
    let dangling = scene.volume().join("dangling").display().to_string();
    let _ = check(&dangling, "FileOrCreate", &idle);
    verdict.tried("a file made through a link", elsewhere.exists());
    for kind in ["DirectoryOrCreate", "FileOrCreate"] {
        let changed = race_a_new_name(rounds, |scene, window| {
            let _ = check(&scene.volume().join("new").display().to_string(), kind, window);
        });
        verdict.tried(format!("{kind}: what was made becomes a link before its mode is set"), changed);
    }
}

#[test]
fn ferry_checks_types_and_makes_nothing_through_links() {
    let mut verdict = Verdict::default();
    attack(&|path, kind, _| host_path::check(path, kind), 300, &mut verdict);
    verdict.assert_held();
}

#[test]
fn a_kubelet_that_believes_the_type_is_found_out() {
    let mut verdict = Verdict::default();
    let careless = |path: &str, kind: &str, window: &Window| {
        let path = Path::new(path);
        let made = match kind {
            "DirectoryOrCreate" if !path.exists() => std::fs::create_dir_all(path),
            "FileOrCreate" if !path.exists() => std::fs::write(path, ""),
            _ => return Ok(()),
        };
        made.map_err(|error| error.to_string())?;
        if path.file_name().is_some_and(|name| name == "new") {
            window.hold_open();
        }
        crate::set_mode(path, 0o644);
        Ok(())
    };
    attack(&careless, 300, &mut verdict);
    verdict.assert_breached();
}
