//! Leaving a cluster running: the lock that says one runs, the process that holds it, and
//! the start in the background that returns once the cluster is ready.

use crate::cluster::Cluster;
use crate::process::{self, Process};
use crate::progress::say;
use crate::{Place, containerd, rotating_file, status};
use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The line by which the background process says that it is ready; no stage reads so.
const READY: &str = "\u{4}ready";
/// How long a process that holds the lock may leave its API unanswered before `ferry up`
/// takes its place. A start gives up on any of its stages sooner.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);
/// The same for a process that has been running for longer than a start takes.
const OLD_ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The verbs that run a cluster or a node of one.
const VERBS: [&str; 3] = ["up", "server", "join"];

/// Held for as long as the cluster runs; the kernel frees it however the process ends.
pub struct RunLock {
    _file: Flock<File>,
}

impl RunLock {
    /// `None` if the cluster runs already.
    pub fn take(cluster: &Cluster) -> Result<Option<Self>> {
        std::fs::create_dir_all(&cluster.run_dir)
            .with_context(|| format!("cannot make {}", cluster.run_dir.display()))?;
        let path = path(cluster);
        // A lock that others can open is a lock that others can hold.
        let open = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = open.with_context(|| format!("cannot open {}", path.display()))?;
        file.set_permissions(PermissionsExt::from_mode(0o600))
            .with_context(|| format!("cannot close {} to others", path.display()))?;
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

fn path(cluster: &Cluster) -> PathBuf {
    cluster.run_dir.join("ferry.lock")
}

/// The process that runs the cluster, if one does. A lock that is held by anything but a
/// ferry is an error that names its holder: nobody may take it for a cluster and end it.
pub fn running_pid(cluster: &Cluster) -> Result<Option<i32>> {
    let path = path(cluster);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot open {}", path.display())),
    };
    match Flock::lock(file, FlockArg::LockSharedNonblock) {
        Ok(_) => Ok(None),
        Err((file, _)) => {
            let written = std::fs::read_to_string(&path).unwrap_or_default().trim().parse().ok();
            let inode = file.metadata().with_context(|| format!("cannot look at {}", path.display()))?.ino();
            let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
            check_holder(&path, written, parse_holder(&locks, inode), &process::command_line).map(Some)
        }
    }
}

/// The cluster in a place, which must be running.
pub fn running_cluster(place: &Place) -> Result<Cluster> {
    let Some(cluster) = Cluster::load(place)? else {
        bail!("there is no cluster in {}; `ferry up -d` makes one", place.data_dir.display());
    };
    if running_pid(&cluster)?.is_none() {
        let (verb, flags) = (cluster.role.verb(), cluster.flags());
        bail!("cluster {:?} is stopped; start it with `ferry {verb} -d{flags}`", cluster.name);
    }
    Ok(cluster)
}

/// The process that holds the lock on a file, by the kernel's own list:
/// `3: FLOCK  ADVISORY  WRITE 4711 08:01:131079 0 EOF`.
fn parse_holder(locks: &str, inode: u64) -> Option<i32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = words.as_slice() else { return None };
        (file.rsplit(':').next()?.parse() == Ok(inode)).then(|| pid.parse().ok())?
    })
}

/// Is the holder the ferry that wrote its number into the file? The kernel's list has no
/// number for a process of another namespace; the file's alone must do then.
fn check_holder(
    path: &Path,
    written: Option<i32>,
    holder: Option<i32>,
    command_line: &dyn Fn(i32) -> Vec<String>,
) -> Result<i32> {
    let holder = holder.filter(|&pid| pid > 0);
    let Some(pid) = holder.or(written) else {
        bail!("{} is held by a process that cannot be named; it is not a ferry of this machine", path.display());
    };
    let line = command_line(pid);
    // A process that is ending, by a kill of this moment, has no words any more but its files.
    if line.is_empty() && written == Some(pid) {
        return Ok(pid);
    }
    let program = line.first().map(|program| program.rsplit('/').next().unwrap_or_default().to_owned());
    // A process in the background was started by the name of /proc/self/exe.
    let is_ferry = program.is_some_and(|program| program.contains("ferry") || program == "exe")
        && line.iter().any(|word| VERBS.contains(&word.as_str()))
        && written == Some(pid);
    if !is_ferry {
        bail!("{} is held by process {pid} ({}), which is not this cluster's ferry", path.display(), line.join(" "));
    }
    Ok(pid)
}

/// The outcome of looking at a cluster that may run already.
pub enum Presence {
    Absent,
    Answers(i32),
}

/// Waits until the process that holds the lock answers; one that does not is killed, which
/// leaves the pods running, and the caller starts another in its place.
pub async fn settle(cluster: &Cluster) -> Result<Presence> {
    let begun = Instant::now();
    let mut told = false;
    loop {
        let Some(pid) = running_pid(cluster)? else { return Ok(Presence::Absent) };
        let problem = match find_problem(cluster).await {
            None => return Ok(Presence::Answers(pid)),
            Some(problem) => problem,
        };
        let age = process::age(pid).unwrap_or(Duration::MAX);
        let patience = if age > ANSWER_TIMEOUT { OLD_ANSWER_TIMEOUT } else { ANSWER_TIMEOUT - age };
        if process::is_stopped(pid) || begun.elapsed() > patience {
            say(&format!("process {pid} runs cluster {:?} but {problem}; starting it anew", cluster.name));
            if let Some(process) = Process::open(pid)?
                && running_pid(cluster)? == Some(pid)
            {
                process.kill().await?;
            }
            return Ok(Presence::Absent);
        }
        if !told && begun.elapsed() > Duration::from_secs(1) {
            say(&format!("process {pid} runs cluster {:?} but {problem}; waiting for it", cluster.name));
            told = true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The first thing that keeps the cluster from being of use.
async fn find_problem(cluster: &Cluster) -> Option<String> {
    let asked = async { status::ask_livez(cluster).await.map_err(|error| format!("{error:#}")) };
    // A node alone has no API of its own to ask, and the cluster's may be away.
    let asked = async { if cluster.role.has_server() { asked.await } else { Ok(()) } };
    match tokio::time::timeout(Duration::from_secs(5), asked).await {
        Err(_) => return Some("its API does not answer".to_owned()),
        Ok(Err(error)) => return Some(format!("its API does not answer: {error}")),
        Ok(Ok(())) => {}
    }
    let own_runtime = cluster.role.has_node() && cluster.runtime_endpoint.is_none();
    if own_runtime && !containerd::answers(cluster).await {
        return Some("containerd does not answer".to_owned());
    }
    None
}

/// Starts this same command again in the background and passes its progress on until
/// it says that the cluster is ready.
pub fn start_detached(log: &Path) -> Result<()> {
    // A full disk keeps nobody from starting; the lines before the log begins are lost then.
    let stderr = rotating_file::open(log).map_or_else(|_| Stdio::null(), Stdio::from);
    let mut command = Command::new("/proc/self/exe");
    command
        .args(std::env::args_os().skip(1).filter(|arg| arg != "-d" && arg != "--detach"))
        .arg("--detached")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
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
    match log.exists() {
        true => bail!("the cluster did not start ({status}); the log is {}", log.display()),
        false => bail!("nothing was started, and nothing is left here ({status})"),
    }
}

/// Tells the process in front that the cluster is ready, and lets go of it.
pub fn report_ready() -> Result<()> {
    say(READY);
    let null = File::options().write(true).open("/dev/null").context("cannot open /dev/null")?;
    nix::unistd::dup2_stdout(&null).context("cannot let go of the terminal")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: &str = "1: POSIX  ADVISORY  WRITE 7 08:01:42 0 EOF\n2: FLOCK  ADVISORY  READ 8 08:01:42 0 EOF\n3: FLOCK  ADVISORY  WRITE 4711 08:01:42 0 EOF\n3: -> FLOCK  ADVISORY  WRITE 9 08:01:43 0 EOF\n";

    #[test]
    fn the_kernel_names_the_holder_of_a_lock() {
        assert_eq!(parse_holder(LOCKS, 42), Some(4711));
        assert_eq!(parse_holder(LOCKS, 43), None, "one that waits holds nothing");
        assert_eq!(parse_holder("", 42), None);
    }

    fn check(written: Option<i32>, holder: Option<i32>, line: &str) -> Result<i32, String> {
        let words = |_| line.split_whitespace().map(str::to_owned).collect();
        check_holder(Path::new("/run/x/ferry.lock"), written, holder, &words).map_err(|error| error.to_string())
    }

    #[test]
    fn only_the_ferry_that_wrote_its_number_is_taken_for_the_cluster() {
        assert_eq!(check(Some(5), Some(5), "target/release/ferry up --detached"), Ok(5));
        assert_eq!(check(Some(5), Some(5), "/proc/self/exe up --detached"), Ok(5));
        assert_eq!(check(Some(5), None, "ferry up"), Ok(5), "the kernel may not list it");
        assert_eq!(check(Some(5), Some(0), "ferry up"), Ok(5), "of another namespace");
        assert_eq!(check(Some(5), Some(5), ""), Ok(5), "one that is being killed holds its lock to the end");
        for (written, holder, line) in [
            (Some(5), Some(6), "ferry up"),
            (Some(5), Some(5), "sleep 1000"),
            (Some(5), Some(5), "ferry status"),
            (None, Some(5), "ferry up"),
            (None, None, ""),
        ] {
            let error = check(written, holder, line).expect_err(line);
            assert!(error.contains("/run/x/ferry.lock"), "{error}");
        }
        let error = check(Some(5), Some(6), "flock /run/x/ferry.lock sleep 9").expect_err("not ferry");
        assert!(error.contains("process 6 (flock /run/x/ferry.lock sleep 9)"), "{error}");
    }
}
