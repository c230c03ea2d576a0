//! Variables from a file of a volume (`fileKeyRef`): whoever writes into the volume decides about the
//! file, and none that is not in the volume becomes a variable.

use crate::{SECRET, Scene, Verdict};
use ferry_api::view::core::v1::ContainerView;
use ferry_kubelet::container::env_file;
use ferry_kubelet::volume::{Mounted, MountedVolume};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;

/// Reads the variable `A` from the file in the volume.
type ReadVariable<'a> = &'a dyn Fn(&Path, &str) -> Option<String>;

fn ferry(volume: &Path, path: &str) -> Option<String> {
    let source = json!({ "volumeName": "v", "path": path, "key": "A" });
    let container: Value = json!({ "env": [{ "name": "X", "valueFrom": { "fileKeyRef": source } }] });
    let volumes = [("v".to_owned(), MountedVolume::directory(volume, false))].into();
    let files = env_file::read_all(ContainerView::from(&container), &Mounted { volumes, look_again: None });
    env_file::value((&source).into(), &files).ok().flatten()
}

/// Goes by path.
fn careless(volume: &Path, path: &str) -> Option<String> {
    let text = std::fs::read_to_string(volume.join(path)).ok()?;
    text.lines().find_map(|line| Some(line.strip_prefix("A='")?.trim_end_matches('\'').to_owned()))
}

fn attack(read: ReadVariable<'_>, verdict: &mut Verdict) {
    let scene = Scene::set_up();
    std::fs::write(scene.secret(), format!("A='{SECRET}'\n")).expect("written");
    let volume = scene.volume();
    symlink(scene.secret(), volume.join("absolute")).expect("linked");
    symlink("../host/secret", volume.join("relative")).expect("linked");
    symlink(scene.host(), volume.join("directory")).expect("linked");
    let absolute = scene.secret().to_string_lossy().into_owned();
    for path in ["absolute", "relative", "directory/secret", "../host/secret", "sub/../../host/secret", &absolute] {
        std::fs::create_dir_all(volume.join("sub")).expect("made");
        verdict.tried(path, read(&volume, path).is_some_and(|value| value == SECRET));
    }
}

#[test]
fn ferry_reads_variables_from_the_volume_alone() {
    let mut verdict = Verdict::default();
    attack(&ferry, &mut verdict);
    verdict.assert_held();
    let scene = Scene::set_up();
    std::fs::write(scene.volume().join("own"), "A='own'\n").expect("written");
    assert_eq!(ferry(&scene.volume(), "own").as_deref(), Some("own"));
}

#[test]
fn a_kubelet_that_reads_variables_by_path_is_found_out() {
    let mut verdict = Verdict::default();
    attack(&careless, &mut verdict);
    verdict.assert_breached();
}
