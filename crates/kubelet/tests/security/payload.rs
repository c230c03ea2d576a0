//! Volumes whose content the kubelet writes: what a container does to them must not decide
//! where the next update is written or removed. Containers get these volumes read-only,
//! which is shown with a real runtime; here the writer is on its own.

use crate::{Racer, Scene, Verdict};
use ferry_kubelet::volume::atomic::{self, File, Payload};
use ferry_kubelet::volume::beneath::Dir;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A name, and what stands there in a scene.
type Attempt = (&'static str, fn(&Scene) -> String);

type Write<'a> = &'a dyn Fn(&Path, &Payload) -> std::io::Result<()>;

fn payload<'a>(keys: impl IntoIterator<Item = &'a str>, data: &str) -> Payload {
    let file = File { data: data.as_bytes().to_vec(), mode: 0o644, user: None };
    keys.into_iter().map(|key| (key.to_string(), file.clone())).collect()
}

fn attack(write: Write<'_>, race_rounds: usize, verdict: &mut Verdict) {
    let targets: [Attempt; 3] = [
        ("an absolute path", |scene| scene.host().display().to_string()),
        ("a path of several names", |_| "../host".into()),
        ("the directory above", |_| "..".into()),
    ];
    for (what, target) in targets {
        let scene = Scene::set_up();
        symlink(target(&scene), scene.volume().join("..data")).expect("linked");
        let _ = write(&scene.volume(), &payload(["key"], "new"));
        verdict.tried(format!("..data is {what}"), !scene.secret().exists());
    }
    let keys: [Attempt; 3] = [
        ("a key with '..'", |_| "../../host/escaped".into()),
        ("a key with '..' further on", |_| "sub/../../../host/escaped".into()),
        ("an absolute key", |scene| scene.host().join("escaped").display().to_string()),
    ];
    for (what, key) in keys {
        let scene = Scene::set_up();
        let _ = write(&scene.volume(), &payload([key(&scene).as_str()], "new"));
        verdict.tried(what, scene.host().join("escaped").exists());
    }
    for sub_directory in ["", "sub/"] {
        let got_through = race_the_writer(write, race_rounds, sub_directory);
        verdict.tried(format!("the directory of {sub_directory:?} becomes a link"), got_through);
    }
}

/// Replaces the dated directory, or one in it, by a link while many files are written.
fn race_the_writer(write: Write<'_>, rounds: usize, sub_directory: &'static str) -> bool {
    let scene = Scene::set_up();
    let (volume, host) = (scene.volume(), scene.host());
    let mut count = 0;
    let _racer = Racer::start(move || {
        let entries = std::fs::read_dir(&volume).into_iter().flatten().flatten();
        let dated = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("..2"));
        let mut moved = false;
        for entry in dated {
            let made = entry.path().join(sub_directory);
            let made = made.components().as_path();
            if std::fs::symlink_metadata(made).is_ok_and(|meta| meta.is_dir()) {
                count += 1;
                let aside = std::fs::rename(made, volume.join(format!("aside-{count}")));
                moved |= aside.is_ok() && symlink(&host, made).is_ok();
            }
        }
        moved
    });
    let keys: Vec<String> = (0..300).map(|n| format!("{sub_directory}key-{n}")).collect();
    (0..rounds).any(|round| {
        let _ = write(&scene.volume(), &payload(keys.iter().map(String::as_str), &round.to_string()));
        let strangers = std::fs::read_dir(scene.host()).expect("listed").flatten();
        strangers.into_iter().any(|entry| entry.file_name() != "secret") || !scene.secret().exists()
    })
}

#[test]
fn ferry_writes_into_the_volume_and_nowhere_else() {
    let mut verdict = Verdict::default();
    attack(&|volume, payload| atomic::write(&Dir::open(volume)?, payload, |_| Ok(())).map(drop), 20, &mut verdict);
    verdict.assert_held();
}

#[test]
fn a_writer_that_goes_by_path_is_found_out() {
    let mut verdict = Verdict::default();
    attack(&careless_write, 2_000, &mut verdict);
    verdict.assert_breached();
}

/// Follows `..data` wherever it leads and names everything by its path.
fn careless_write(volume: &Path, payload: &Payload) -> std::io::Result<()> {
    let current = std::fs::read_link(volume.join("..data")).ok();
    let dated = volume.join(format!("..2026_01_01_00_00_00.{}", uuid::Uuid::new_v4()));
    std::fs::create_dir(&dated)?;
    for (path, file) in payload {
        let target = dated.join(path);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&target, &file.data)?;
    }
    let next = volume.join("..data_tmp");
    let _ = std::fs::remove_file(&next);
    symlink(dated.file_name().unwrap_or_default(), &next)?;
    std::fs::rename(&next, volume.join("..data"))?;
    if let Some(old) = current {
        let _ = std::fs::remove_dir_all(volume.join(old));
    }
    Ok(())
}
