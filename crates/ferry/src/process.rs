//! A process of this machine, held by a descriptor, so that a signal never reaches another
//! process that has got the same number since. `containerd.rs` waits for the end of one
//! that it did not start, `teardown.rs` and `daemon.rs` end ours.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// How long a process may take to end after SIGKILL.
const KILL_PATIENCE: Duration = Duration::from_secs(15);

pub struct Process {
    pub pid: i32,
    /// Readable when the process has ended.
    descriptor: AsyncFd<OwnedFd>,
}

impl Process {
    /// `None` if there is no such process. The caller looks at the process again after
    /// this, because the number may have changed hands before.
    pub fn open(pid: i32) -> Result<Option<Self>> {
        let Some(id) = Pid::from_raw(pid) else { return Ok(None) };
        match pidfd_open(id, PidfdFlags::NONBLOCK) {
            Ok(descriptor) => {
                #[expect(deprecated, reason = "its successor is unsafe; this owns its descriptor as long as it lives")]
                let watched = AsyncFd::with_interest(descriptor, Interest::READABLE);
                let descriptor = watched.with_context(|| format!("cannot watch process {pid}"))?;
                Ok(Some(Self { pid, descriptor }))
            }
            Err(rustix::io::Errno::SRCH) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot open process {pid}")),
        }
    }

    pub async fn ended(&self) {
        // An error here means that nothing can be waited for.
        let _ = self.descriptor.readable().await;
    }

    /// SIGTERM, and SIGKILL if that was not enough.
    pub async fn end(&self, grace: Duration) -> Result<()> {
        self.signal(Signal::TERM)?;
        if tokio::time::timeout(grace, self.ended()).await.is_ok() {
            return Ok(());
        }
        self.kill().await
    }

    pub async fn kill(&self) -> Result<()> {
        self.signal(Signal::KILL)?;
        if tokio::time::timeout(KILL_PATIENCE, self.ended()).await.is_err() {
            bail!("process {} does not end", self.pid);
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        match pidfd_send_signal(self.descriptor.get_ref(), signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(error).with_context(|| format!("cannot signal process {}", self.pid)),
        }
    }
}

/// The words of a process's command line; none for one that has ended.
pub fn command_line(pid: i32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|&byte| byte == 0).filter(|w| !w.is_empty()).map(|w| String::from_utf8_lossy(w).into_owned()).collect()
}

/// How long ago the process was started.
pub fn age(pid: i32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The fields after the name, which may hold anything; the 20th of them is the start.
    let started: f64 = stat.rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()?;
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    // The kernel counts in hundredths here, whatever its own clock does.
    Duration::try_from_secs_f64(uptime - started / 100.0).ok()
}

/// Does the process stand still, by SIGSTOP or a debugger?
pub fn is_stopped(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_is_ended_and_one_that_is_gone_is_none() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().expect("started");
        let pid = i32::try_from(child.id()).expect("a process id");
        assert!(age(pid).expect("it has an age") < Duration::from_secs(60));
        // A child that is still on its way to its program has no command line, or ours.
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while command_line(pid).last().map(String::as_str) != Some("600") {
            assert!(std::time::Instant::now() < deadline, "{:?}", command_line(pid));
            tokio::task::yield_now().await;
        }
        let process = Process::open(pid).expect("opened").expect("there");
        process.end(Duration::from_secs(10)).await.expect("ended");
        child.wait().expect("reaped");
        assert!(Process::open(pid).expect("looked").is_none());
        process.end(Duration::ZERO).await.expect("ending what is gone is nothing");
    }
}
