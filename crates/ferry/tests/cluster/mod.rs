//! A whole cluster for one test: the real binary, real containerd, real kubectl, in
//! directories of its own, gone without trace when the test ends.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub mod lab;

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);

pub struct TestCluster {
    dir: tempfile::TempDir,
    /// ferry is given its directories as a relative path that leads through a link.
    is_behind_link: bool,
    /// Clusters on one machine take turns, whichever test runner runs them.
    _turn: Flock<File>,
}

impl TestCluster {
    /// A place for a cluster, with nothing started yet.
    pub fn new() -> Self {
        assert!(nix::unistd::geteuid().is_root(), "the end-to-end tests start containers and need root");
        let turn =
            File::options().create(true).truncate(false).write(true).open(std::env::temp_dir().join("ferry-e2e.lock"));
        let turn = Flock::lock(turn.expect("a lock file"), FlockArg::LockExclusive).map_err(|(_, error)| error);
        let dir = tempfile::Builder::new().prefix("ferry-e2e-").tempdir().expect("a directory");
        Self { dir, is_behind_link: false, _turn: turn.expect("our turn") }
    }

    /// The same where ferry is told of its directories in the most roundabout way.
    pub fn behind_a_link() -> Self {
        let mut cluster = Self::new();
        cluster.is_behind_link = true;
        std::os::unix::fs::symlink(".", cluster.path("link")).expect("linked");
        cluster
    }

    /// A running cluster.
    pub fn up() -> Self {
        let cluster = Self::new();
        cluster.start();
        cluster
    }

    pub fn start(&self) -> String {
        let output = self.ferry(&["up", "-d"]);
        assert!(output.status.success(), "ferry up failed\n{}\n{}", text(&output), self.log());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn run_dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.path("kubeconfig")
    }

    pub fn socket(&self) -> PathBuf {
        self.run_dir().join("containerd/containerd.sock")
    }

    pub fn log(&self) -> String {
        let log = std::fs::read_to_string(self.data_dir().join("logs/ferry.log")).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(60).collect();
        tail.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("KUBECONFIG", self.kubeconfig())
            .env("HOME", self.dir.path())
            .env("FERRY_DATA_DIR", self.data_dir())
            .env("FERRY_RUN_DIR", self.run_dir())
            .stdin(Stdio::null());
        if self.is_behind_link {
            command.current_dir(self.dir.path()).env("FERRY_DATA_DIR", "link/data").env("FERRY_RUN_DIR", "link/run");
        }
        command
    }

    pub fn ferry(&self, args: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_ferry")).args(args).output().expect("ferry starts")
    }

    /// The process that runs the cluster.
    pub fn pid(&self) -> i32 {
        let text = std::fs::read_to_string(self.run_dir().join("ferry.lock")).expect("a running cluster");
        text.trim().parse().expect("a process id")
    }

    /// Kills that process without warning, and waits until it is gone and another may start.
    pub fn kill(&self) {
        kill(Pid::from_raw(self.pid()), Signal::SIGKILL).expect("killed");
        self.eventually("the process to be gone", || {
            let lock = File::open(self.run_dir().join("ferry.lock")).map_err(|error| error.to_string())?;
            Flock::lock(lock, FlockArg::LockSharedNonblock).map(drop).map_err(|(_, error)| error.to_string())
        });
    }

    /// Runs a line of kubectl as a person would type it (words by spaces, no quoting).
    pub fn try_kubectl(&self, line: &str) -> Output {
        self.command("kubectl").args(line.split_whitespace()).output().expect("kubectl is on the PATH")
    }

    pub fn kubectl(&self, line: &str) -> String {
        let output = self.try_kubectl(line);
        assert!(output.status.success(), "kubectl {line}\n{}\n{}", text(&output), self.log());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// What kubectl says when it must fail.
    pub fn kubectl_fails(&self, line: &str) -> String {
        let output = self.try_kubectl(line);
        assert!(!output.status.success(), "kubectl {line} should fail, but said\n{}", text(&output));
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// With standard input, for `apply -f -`, `create -f -` and `exec -i`.
    pub fn kubectl_with(&self, line: &str, input: &str) -> Output {
        let mut child = self
            .command("kubectl")
            .args(line.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kubectl is on the PATH");
        std::io::Write::write_all(&mut child.stdin.take().expect("its input"), input.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends")
    }

    pub fn apply(&self, manifest: &str) -> String {
        let output = self.kubectl_with("apply -f -", manifest);
        assert!(output.status.success(), "kubectl apply\n{}\n{}", text(&output), self.log());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.kubectl(&format!("{line} -o json"))).expect("kubectl prints JSON")
    }

    /// Waits until `look` finds something; the last sight is in the failure's text.
    pub fn eventually<T>(&self, what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match look() {
                Ok(found) => return found,
                Err(sight) if Instant::now() > deadline => {
                    panic!("{what}: not within {PATIENCE:?}; last: {sight}\n{}", self.log())
                }
                Err(_) => pause(),
            }
        }
    }

    /// Waits until the output of a kubectl line contains a text.
    pub fn eventually_says(&self, line: &str, expected: &str) -> String {
        self.eventually(&format!("kubectl {line} says {expected:?}"), || {
            let output = self.try_kubectl(line);
            let said = text(&output);
            if said.contains(expected) { Ok(said) } else { Err(said) }
        })
    }

    /// Rolls out `examples/web.yaml`.
    pub fn start_web(&self) {
        let web = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/web.yaml");
        self.kubectl(&format!("apply -f {web}"));
        self.kubectl("rollout status deployment/web --timeout=90s");
    }
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        if self.data_dir().exists() {
            if std::thread::panicking()
                && let Ok(kept) = std::env::var("FERRY_KEEP_LOGS")
            {
                let _ = Command::new("cp").arg("-r").arg(self.data_dir().join("logs")).arg(kept).status();
            }
            let output = self.ferry(&["uninstall"]);
            if !output.status.success() && !std::thread::panicking() {
                panic!("ferry uninstall failed\n{}", text(&output));
            }
        }
    }
}

/// Both streams of a command that has ended.
pub fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[expect(clippy::disallowed_methods, reason = "the pause between two looks at a condition")]
pub fn pause() {
    std::thread::sleep(Duration::from_millis(50));
}
