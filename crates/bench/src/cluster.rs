//! The cluster under measure: a release binary in a temporary place of its own.

use crate::load::{Connect, Connection, Target};
use anyhow::{Context, Result, ensure};
use nix::time::clock_getcpuclockid;
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that has used less than this in a second is at rest.
const AT_REST: Duration = Duration::from_millis(20);

pub struct Cluster {
    ferry: PathBuf,
    dir: tempfile::TempDir,
    /// Whether ferry has one core and we the others.
    pinned: bool,
}

impl Cluster {
    pub fn new(ferry: PathBuf) -> Result<Self> {
        Ok(Self { ferry, dir: tempfile::Builder::new().prefix("ferry-bench-").tempdir()?, pinned: false })
    }

    fn ferry(&self, verb: &[&str]) -> Command {
        let mut command = Command::new(if self.pinned { Path::new("taskset") } else { &self.ferry });
        if self.pinned {
            command.args(["-c", "0"]).arg(&self.ferry);
        }
        command
            .args(verb)
            .arg("--data-dir")
            .arg(self.dir.path().join("data"))
            .arg("--run-dir")
            .arg(self.dir.path().join("run"))
            .env("KUBECONFIG", self.dir.path().join("kubeconfig"));
        command
    }

    pub fn up(&mut self) -> Result<()> {
        self.up_with(&[])
    }

    /// Starts ferry with further flags, which it remembers for the next start.
    pub fn up_with(&mut self, flags: &[&str]) -> Result<()> {
        let verb = [&["up", "-d"], flags].concat();
        let output = self.ferry(&verb).output().context("cannot start ferry")?;
        ensure!(output.status.success(), "ferry up: {}", String::from_utf8_lossy(&output.stdout));
        Ok(())
    }

    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn run_dir(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    pub fn runtime_socket(&self) -> PathBuf {
        self.run_dir().join("containerd/containerd.sock")
    }

    /// The cgroup that all pods live in, which has the cluster's name.
    pub fn cgroup(&self) -> Result<String> {
        let cluster: serde_json::Value = serde_json::from_slice(&std::fs::read(self.data_dir().join("cluster.json"))?)?;
        Ok(cluster["name"].as_str().context("a cluster has a name")?.to_owned())
    }

    fn pid(&self) -> Result<String> {
        Ok(std::fs::read_to_string(self.dir.path().join("run/ferry.lock"))?.trim().to_owned())
    }

    /// Ends ferry as a crash would, and leaves containerd as it is.
    pub fn kill(&mut self) -> Result<()> {
        let pid = self.pid()?;
        ensure!(Command::new("kill").args(["-9", &pid]).status()?.success(), "cannot kill ferry");
        // Its threads end one by one, and its lock goes with the last of them.
        let lock = std::fs::File::open(self.dir.path().join("run/ferry.lock"))?;
        while lock.try_lock_shared().is_err() {
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Waits until the process has used next to no processor for a second.
    pub fn settle(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut last = self.processor_time();
        while Instant::now() < deadline {
            pause(Duration::from_secs(1));
            let now = self.processor_time();
            if matches!((&last, &now), (Ok(a), Ok(b)) if *b - *a <= AT_REST) {
                return;
            }
            last = now;
        }
    }

    /// What all threads of the server have used so far, for themselves and in the kernel.
    pub fn processor_time(&self) -> Result<Duration> {
        processor_time_of(&self.pid()?)
    }

    /// In MB.
    pub fn memory(&self) -> Result<f64> {
        memory_of(&self.pid()?)
    }

    /// Starts the server again on one core, so that its figures do not depend on how many
    /// there are, and keeps us to the others, so that we take none of its time.
    pub fn pin(&mut self) -> Result<()> {
        self.kill()?;
        self.pinned = true;
        self.up()?;
        let cores = std::thread::available_parallelism()?.get();
        if cores > 1 {
            let (ours, pid) = (format!("1-{}", cores - 1), std::process::id().to_string());
            let done = Command::new("taskset").args(["-a", "-c", "-p", &ours, &pid]).output()?;
            ensure!(done.status.success(), "taskset: {}", String::from_utf8_lossy(&done.stderr));
        }
        Ok(())
    }

    /// By how many MB the resident memory grows at its highest while something happens.
    pub async fn growth(&self, happens: impl Future<Output = Result<()>>) -> Result<f64> {
        let pid = self.pid()?;
        let field = |name: &str| -> Result<f64> {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such field")?;
            Ok(line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse::<f64>()? / 1024.0)
        };
        // Writing 5 forgets the highest reading so far.
        std::fs::write(format!("/proc/{pid}/clear_refs"), "5")?;
        let before = field("VmRSS")?;
        happens.await?;
        Ok(field("VmHWM")? - before)
    }

    pub async fn connect(&self) -> Result<Connection> {
        Connect::connect(self).await
    }
}

impl Connect for Cluster {
    fn target(&self) -> Result<Target> {
        let data = self.dir.path().join("data");
        let read = |name: &str| std::fs::read_to_string(data.join("pki").join(name));
        let identity = ferry_pki::Identity { certificate_pem: read("admin.crt")?, key_pem: read("admin.key")? };
        let mut config = ferry_pki::tls::client_config(&read("ca.crt")?, Some(&identity))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let cluster: serde_json::Value = serde_json::from_slice(&std::fs::read(data.join("cluster.json"))?)?;
        let port = cluster["api_port"].as_u64().and_then(|p| u16::try_from(p).ok()).context("no port")?;
        Ok(Target { port, tls: Arc::new(config) })
    }
}

/// The processor time of all threads of a process so far, in user and kernel mode, by the
/// process's own clock: what /proc counts in ticks of 10 ms this has in nanoseconds.
pub fn processor_time_of(pid: &str) -> Result<Duration> {
    let clock = clock_getcpuclockid(Pid::from_raw(pid.parse()?))?;
    Ok(clock.now()?.into())
}

/// The proportional set size of a process, in MB.
pub fn memory_of(pid: &str) -> Result<f64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|l| l.strip_prefix("Pss:")).context("no Pss")?;
    let kib: f64 = line.split_whitespace().next().context("no figure")?.parse()?;
    Ok(kib / 1024.0)
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = self.ferry(&["uninstall"]).output() {
            eprintln!("cannot remove the cluster: {error}");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the time over which idleness is measured")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}
