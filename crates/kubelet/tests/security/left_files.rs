//! Logs and termination messages: whatever a container puts in their place, the kubelet,
//! which is root, reads no other file of the host for it.

use crate::{SECRET, Scene, Verdict};
use ferry_kubelet::container_files::ContainerFiles;
use ferry_kubelet::cri::v1;
use ferry_kubelet::observed;
use std::collections::HashMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The two ways by which a container's files reach a user.
struct Kubelet<'a> {
    termination_message: &'a dyn Fn(&ContainerFiles, &v1::ContainerStatus) -> String,
    log: &'a dyn Fn(&ContainerFiles, &Path) -> std::io::Result<String>,
}

const FERRY: Kubelet<'static> = Kubelet {
    termination_message: &observed::termination_message,
    log: &|files, path| std::io::read_to_string(files.open_log(path)?),
};

/// A container that has failed, with its files.
struct Dead {
    scene: Scene,
    files: ContainerFiles,
    message: PathBuf,
    log: PathBuf,
}

impl Dead {
    fn new() -> Self {
        let scene = Scene::set_up();
        let files = ContainerFiles { root_dir: scene.root(), log_dir: scene.path().join("logs") };
        let message = scene.root().join("pods/u/containers/c/12345678");
        let log = files.log_dir.join("default_p_u/c/0.log");
        for file in [&message, &log] {
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("made");
        }
        std::fs::write(&message, "").expect("written");
        std::fs::write(&log, "").expect("written");
        // The secret as a line of a log, so that a careless reader finds words in it.
        std::fs::write(scene.secret(), format!("2026-01-01T00:00:00Z stdout F {SECRET}\n")).expect("written");
        Self { scene, files, message, log }
    }

    fn replace(&self, path: &Path, target: &Path) {
        let aside = path.with_extension("aside");
        std::fs::rename(path, aside).expect("moved");
        symlink(target, path).expect("linked");
    }

    fn status(&self, mounted_from: &Path) -> v1::ContainerStatus {
        let text = |pairs: &[(&str, &str)]| -> HashMap<String, String> {
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
        };
        v1::ContainerStatus {
            exit_code: 1,
            labels: text(&[(observed::POD_UID_LABEL, "u"), (observed::CONTAINER_NAME_LABEL, "c")]),
            annotations: text(&[
                (observed::TERMINATION_PATH_ANNOTATION, "/dev/termination-log"),
                (observed::TERMINATION_POLICY_ANNOTATION, "FallbackToLogsOnError"),
            ]),
            mounts: vec![v1::Mount {
                container_path: "/dev/termination-log".into(),
                host_path: mounted_from.display().to_string(),
                ..Default::default()
            }],
            log_path: self.log.display().to_string(),
            ..Default::default()
        }
    }
}

fn attack(kubelet: &Kubelet<'_>, verdict: &mut Verdict) {
    let mut tried = |what: &str, read: String| verdict.tried(what, read.contains(SECRET));

    let dead = Dead::new();
    dead.replace(&dead.message, &dead.scene.secret());
    tried("the termination message is a link", (kubelet.termination_message)(&dead.files, &dead.status(&dead.message)));

    let dead = Dead::new();
    let volume = dead.scene.volume().join("message");
    symlink(dead.scene.secret(), &volume).expect("linked");
    let read = (kubelet.termination_message)(&dead.files, &dead.status(&volume));
    tried("a volume with a link is mounted on the termination message path", read);

    let dead = Dead::new();
    dead.replace(&dead.log, &dead.scene.secret());
    tried(
        "the log is a link and the message falls back to it",
        (kubelet.termination_message)(&dead.files, &dead.status(&dead.message)),
    );
    tried("the log is a link", (kubelet.log)(&dead.files, &dead.log).unwrap_or_default());

    for (what, level) in [("the container's", 1), ("the pod's", 2)] {
        let dead = Dead::new();
        let directory = dead.log.ancestors().nth(level).expect("a directory");
        let planted = dead.scene.host().join(dead.log.strip_prefix(directory).expect("below"));
        std::fs::create_dir_all(planted.parent().expect("a parent")).expect("made");
        std::fs::copy(dead.scene.secret(), &planted).expect("copied");
        dead.replace(directory, &dead.scene.host());
        tried(&format!("{what} log directory is a link"), (kubelet.log)(&dead.files, &dead.log).unwrap_or_default());
    }
}

#[test]
fn ferry_reads_no_other_file_of_the_host() {
    let mut verdict = Verdict::default();
    attack(&FERRY, &mut verdict);
    verdict.assert_held();
}

#[test]
fn ferry_reads_what_containers_wrote_and_waits_for_no_pipe() {
    let dead = Dead::new();
    std::fs::write(&dead.message, "last words").expect("written");
    assert_eq!(observed::termination_message(&dead.files, &dead.status(&dead.message)), "last words");
    std::fs::write(&dead.message, "").expect("written");
    std::fs::write(&dead.log, "2026-01-01T00:00:00Z stderr F out of cheese\n").expect("written");
    assert_eq!(observed::termination_message(&dead.files, &dead.status(&dead.message)), "out of cheese\n");
    std::fs::remove_file(&dead.log).expect("removed");
    nix::unistd::mkfifo(&dead.log, nix::sys::stat::Mode::from_bits_truncate(0o666)).expect("made");
    assert!(dead.files.open_log(&dead.log).is_err(), "nobody ever writes into the pipe");
}

#[test]
fn a_kubelet_that_opens_by_path_is_found_out() {
    let mut verdict = Verdict::default();
    let careless = Kubelet {
        termination_message: &|_, status| {
            let mount = status.mounts.iter().find(|mount| mount.container_path == "/dev/termination-log");
            let text = mount.and_then(|mount| std::fs::read_to_string(&mount.host_path).ok()).unwrap_or_default();
            if text.is_empty() { std::fs::read_to_string(&status.log_path).unwrap_or_default() } else { text }
        },
        log: &|_, path| std::fs::read_to_string(path),
    };
    attack(&careless, &mut verdict);
    verdict.assert_breached();
}
