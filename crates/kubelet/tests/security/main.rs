//! The ways out of a pod that Kubernetes has had to learn of, each written once and run
//! twice: against ferry, where nothing may get through, and against a careless double that
//! has exactly the flaw, where everything must. The doubles live beside their attack. The
//! attacks on the API are in crates/apiserver/tests/api/security/.
//!
//! | class | CVE | file |
//! |---|---|---|
//! | `..data` leads an update of a volume to a directory of the host | 2017-1002102 | `payload.rs` |
//! | a volume's directory is replaced by a link while files are written into it | 2017-1002102 | `payload.rs` |
//! | keys and items lead out of the volume | | `payload.rs` |
//! | subPath follows a link out of the volume | 2017-1002101 | `sub_path.rs` |
//! | subPath is judged by one link and mounted by another | 2021-25741 | `sub_path.rs` |
//! | a new directory or file is replaced by a link before its mode is set | | `sub_path.rs`, `host_path.rs` |
//! | hostPath is not of the type it claims, or is made through a link | | `host_path.rs` |
//! | removal of a pod goes on into what is mounted below it | | `removal.rs` |
//! | the end of a pod unmounts the host's own disks | | `removal.rs` |
//! | a log or termination message is a link to a file of the host | 2017-1002101 | `left_files.rs` |
//! | a file of variables is a link, or a path, out of its volume | | `env_files.rs` |
//! | the machine's own log directory leads out of itself | | `system_logs.rs` in the server |
//! | a container reads or changes the machine in /proc and /sys, or sees the cgroups of others | | `masks.rs` of the tests with containerd |
//! | strangers read or change a service account token | | `token_modes.rs` |

mod env_files;
mod host_path;
mod left_files;
mod payload;
mod removal;
mod sub_path;
mod token_modes;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The outcome of an attack: each attempt, by whether it got through.
#[derive(Debug, Default)]
pub struct Verdict {
    held: Vec<String>,
    breached: Vec<String>,
}

impl Verdict {
    pub fn tried(&mut self, attempt: impl Into<String>, got_through: bool) {
        let side = if got_through { &mut self.breached } else { &mut self.held };
        side.push(attempt.into());
    }

    /// Nothing got through, and something was tried.
    pub fn assert_held(&self) {
        assert!(self.breached.is_empty(), "got through: {:#?}", self.breached);
        assert!(!self.held.is_empty(), "nothing was tried");
    }

    /// Everything got through: there is no attempt that could not have failed against ferry.
    pub fn assert_breached(&self) {
        assert!(self.held.is_empty(), "not found out by: {:#?}", self.held);
        assert!(!self.breached.is_empty(), "nothing was tried");
    }
}

/// Runs a test in a mount namespace of its own, which takes its mounts along when it ends.
pub fn with_own_mounts(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace, which takes root");
        mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>).expect("private");
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// A volume beside a directory of the host that nobody in the pod may reach.
pub struct Scene {
    place: tempfile::TempDir,
}

impl Scene {
    pub fn set_up() -> Self {
        let scene = Self { place: tempfile::tempdir().expect("a temporary directory") };
        for directory in [scene.volume(), scene.host(), scene.root()] {
            std::fs::create_dir(directory).expect("made");
        }
        std::fs::write(scene.secret(), SECRET).expect("written");
        set_mode(&scene.secret(), 0o600);
        set_mode(&scene.volume(), 0o2777);
        scene
    }

    pub fn path(&self) -> &Path {
        self.place.path()
    }

    pub fn volume(&self) -> PathBuf {
        self.path().join("volume")
    }

    pub fn host(&self) -> PathBuf {
        self.path().join("host")
    }

    /// A file in the host's directory, with the mode 0600.
    pub fn secret(&self) -> PathBuf {
        self.host().join("secret")
    }

    /// The kubelet's own directory.
    pub fn root(&self) -> PathBuf {
        self.path().join("kubelet")
    }
}

pub const SECRET: &str = "for the host's eyes only";

pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
}

pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("there").permissions().mode() & 0o7777
}

/// A thread that makes one move over and over, as fast as it can, until it is dropped. The
/// move answers whether it changed anything.
pub struct Racer {
    stop: Arc<AtomicBool>,
    moves: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Racer {
    pub fn start(mut make_move: impl FnMut() -> bool + Send + 'static) -> Self {
        let (stop, moves) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (stopped, counted) = (stop.clone(), moves.clone());
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                match make_move() {
                    true => drop(counted.fetch_add(1, Ordering::Release)),
                    false => std::thread::yield_now(),
                }
            }
        });
        Self { stop, moves, thread: Some(thread) }
    }

    pub fn window(&self) -> Window {
        Window(self.moves.clone())
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

/// The moment between a careless look and a careless use. A double holds it open until the
/// racer has moved, so that one round finds the flaw which else took thousands.
#[derive(Clone)]
pub struct Window(Arc<AtomicU64>);

impl Window {
    pub fn hold_open(&self) {
        let (before, patience) = (self.0.load(Ordering::Acquire), Instant::now() + Duration::from_secs(10));
        while self.0.load(Ordering::Acquire) == before && Instant::now() < patience {
            std::thread::yield_now();
        }
    }
}

/// Replaces `name` in the volume by a link to the host's secret as soon as it is there.
pub fn replace_when_made(scene: &Scene, name: &str) -> Racer {
    let (made, secret, volume) = (scene.volume().join(name), scene.secret(), scene.volume());
    let mut count = 0;
    Racer::start(move || {
        let is_made = std::fs::symlink_metadata(&made).is_ok_and(|meta| !meta.file_type().is_symlink());
        count += 1;
        is_made
            && std::fs::rename(&made, volume.join(format!("aside-{count}"))).is_ok()
            && std::os::unix::fs::symlink(&secret, &made).is_ok()
    })
}

/// Lets `make` make `name` in the volume again and again while it is replaced by a link;
/// answers whether the host's secret got another mode by that.
pub fn race_a_new_name(rounds: usize, make: impl Fn(&Scene, &Window)) -> bool {
    let scene = Scene::set_up();
    let racer = replace_when_made(&scene, "new");
    (0..rounds).any(|_| {
        make(&scene, &racer.window());
        let _ = std::fs::remove_file(scene.volume().join("new"));
        mode(&scene.secret()) != 0o600
    })
}
