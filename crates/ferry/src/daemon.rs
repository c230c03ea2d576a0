//! Leaving a cluster running: the lock that says one runs, its process id, and the
//! start in the background that returns once the cluster is ready.

use crate::cluster::Cluster;
use crate::progress::say;
use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The line by which the background process says that it is ready; no stage reads so.
const READY: &str = "\u{4}ready";

/// Held for as long as the cluster runs; the kernel frees it however the process ends.
pub struct RunLock {
    _file: Flock<File>,
}

impl RunLock {
    /// `None` if the cluster runs already.
    pub fn take(cluster: &Cluster) -> Result<Option<Self>> {
        std::fs::create_dir_all(&cluster.run_dir)
            .with_context(|| format!("cannot make {}", cluster.run_dir.display()))?;
        let path = cluster.run_dir.join("ferry.lock");
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.with_context(|| format!("cannot open {}", path.display()))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut lock) => {
                lock.set_len(0)
                    .and_then(|()| write!(lock, "{}", std::process::id()))
                    .context("cannot note the process id")?;
                Ok(Some(Self { _file: lock }))
            }
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => Ok(None),
            Err((_, error)) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
        }
    }
}

/// The process that runs the cluster, if one does.
pub fn running_pid(cluster: &Cluster) -> Option<i32> {
    let path = cluster.run_dir.join("ferry.lock");
    let file = File::open(&path).ok()?;
    match Flock::lock(file, FlockArg::LockSharedNonblock) {
        Ok(_) => None,
        Err(_) => std::fs::read_to_string(&path).ok()?.trim().parse().ok(),
    }
}

/// Starts this same command again in the background and passes its progress on until
/// it says that the cluster is ready.
pub fn start_detached(cluster: &Cluster) -> Result<()> {
    let log = cluster.log_file();
    let log_out = File::options()
        .create(true)
        .append(true)
        .open(&log)
        .with_context(|| format!("cannot open {}", log.display()))?;
    let mut command = Command::new("/proc/self/exe");
    command
        .args(std::env::args_os().skip(1).filter(|arg| arg != "-d" && arg != "--detach"))
        .arg("--detached")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log_out)
        .process_group(0);
    if std::io::IsTerminal::is_terminal(&std::io::stdout()) {
        command.env("FERRY_COLOUR", "1");
    }
    let mut child = command.spawn().context("cannot start ferry in the background")?;
    let output = child.stdout.take().context("the background process has no output")?;
    for line in BufReader::new(output).lines() {
        match line.context("cannot read the background process's progress")? {
            line if line == READY => return Ok(()),
            line => say(&line),
        }
    }
    let status = child.wait().context("cannot wait for the background process")?;
    bail!("the cluster did not start ({status}); the log is {}", log.display());
}

/// Tells the process in front that the cluster is ready, and lets go of it.
pub fn report_ready() -> Result<()> {
    say(READY);
    let null = File::options().write(true).open("/dev/null").context("cannot open /dev/null")?;
    nix::unistd::dup2_stdout(&null).context("cannot let go of the terminal")?;
    Ok(())
}
