//! systemd-logind by its own programs: `systemd-inhibit` holds the machine back, `busctl` listens
//! to PrepareForShutdown and reads and changes the longest delay. Both belong to the package that
//! logind itself comes in; docs/design/0024-node-shutdown.md has the alternatives.
//!
//! Upstream: pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go.

use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

const SERVICE: &str = "org.freedesktop.login1";
const OBJECT: &str = "/org/freedesktop/login1";
const MANAGER: &str = "org.freedesktop.login1.Manager";
/// Answers of logind take milliseconds; one that hangs must not hang the kubelet.
const LIMIT: Duration = Duration::from_secs(10);

/// The programs, and the directory of logind's own settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logind {
    pub busctl: PathBuf,
    pub systemd_inhibit: PathBuf,
    pub conf_dir: PathBuf,
}

impl Default for Logind {
    fn default() -> Self {
        Self {
            busctl: "busctl".into(),
            systemd_inhibit: "systemd-inhibit".into(),
            conf_dir: "/etc/systemd/logind.conf.d".into(),
        }
    }
}

/// The machine does not go down while this lives, for logind's longest delay at most.
pub struct InhibitLock {
    _holder: Child,
}

/// The announcements of logind.
pub struct ShutdownEvents {
    lines: Lines<BufReader<ChildStdout>>,
    _monitor: Child,
    /// A shutdown that was under way before anybody listened.
    first: Option<bool>,
}

impl Logind {
    /// InhibitDelayMaxUSec: how long logind lets itself be held back.
    pub async fn inhibit_delay(&self) -> io::Result<Duration> {
        let answer = self.property("InhibitDelayMaxUSec").await?;
        let micros = answer.strip_prefix("t ").and_then(|number| number.trim().parse().ok());
        let unknown = || io::Error::other(format!("logind answers {answer:?} for InhibitDelayMaxUSec"));
        Ok(Duration::from_micros(micros.ok_or_else(unknown)?))
    }

    async fn property(&self, name: &str) -> io::Result<String> {
        self.ask(&["get-property", SERVICE, OBJECT, MANAGER, name]).await
    }

    async fn ask(&self, arguments: &[&str]) -> io::Result<String> {
        let mut command = Command::new(&self.busctl);
        command.arg("--system").args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(LIMIT, command.output())
            .await
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "logind does not answer"))??;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Makes logind wait for as long, from its next reading of its settings on.
    pub async fn override_inhibit_delay(&self, delay: Duration) -> io::Result<()> {
        let text = format!(
            "# Kubelet logind override\n[Login]\nInhibitDelayMaxSec={}\n",
            delay.as_secs() + u64::from(delay.subsec_nanos() > 0)
        );
        let path = self.conf_dir.join("99-kubelet.conf");
        std::fs::create_dir_all(&self.conf_dir)?;
        std::fs::write(path, text)?;
        let systemd = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
        let mut arguments = vec!["call"];
        arguments.extend(systemd);
        // SIGHUP.
        arguments.extend(["KillUnit", "ssi", "systemd-logind.service", "all", "1"]);
        self.ask(&arguments).await.map(drop)
    }

    /// Takes a delay lock; returns once it is held.
    pub async fn hold(&self) -> io::Result<InhibitLock> {
        let mut holder = Command::new(&self.systemd_inhibit)
            .args(["--what=shutdown", "--mode=delay", "--who=kubelet"])
            .arg("--why=Kubelet needs time to handle node shutdown")
            // The shell says that the lock is held, and ends when the kubelet does: its input is
            // the kubelet's end of a pipe.
            .args(["/bin/sh", "-c", "echo held; exec cat > /dev/null"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = holder.stdout.take().ok_or_else(|| io::Error::other("systemd-inhibit has no output"))?;
        let said = tokio::time::timeout(LIMIT, BufReader::new(stdout).lines().next_line()).await;
        match said {
            Ok(Ok(Some(line))) if line == "held" => Ok(InhibitLock { _holder: holder }),
            _ => Err(io::Error::other("systemd-inhibit could not take a lock")),
        }
    }

    /// Listens from now on.
    pub async fn watch(&self) -> io::Result<ShutdownEvents> {
        let filter = format!("--match=type='signal',interface='{MANAGER}',member='PrepareForShutdown'");
        let mut monitor = Command::new(&self.busctl)
            .args(["--system", "--json=short", &filter, "monitor"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = monitor.stdout.take().ok_or_else(|| io::Error::other("busctl has no output"))?;
        let stderr = monitor.stderr.take().ok_or_else(|| io::Error::other("busctl has no output"))?;
        let mut notices = BufReader::new(stderr).lines();
        let ready = tokio::time::timeout(LIMIT, notices.next_line()).await;
        match ready {
            Ok(Ok(Some(line))) if line.starts_with("Monitoring") => {}
            Ok(Ok(Some(line))) => return Err(io::Error::other(line)),
            _ => return Err(io::Error::other("busctl does not listen")),
        }
        let under_way = self.property("PreparingForShutdown").await?.trim() == "b true";
        let lines = BufReader::new(stdout).lines();
        Ok(ShutdownEvents { lines, _monitor: monitor, first: under_way.then_some(true) })
    }
}

impl ShutdownEvents {
    /// Whether the machine is about to go down, or is not any more; `None` when nobody listens
    /// any longer.
    pub async fn next(&mut self) -> Option<bool> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            let line = self.lines.next_line().await.ok()??;
            if let Some(start) = read_signal(&line) {
                return Some(start);
            }
        }
    }
}

/// A message of the bus, as busctl prints it.
fn read_signal(line: &str) -> Option<bool> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["interface"] != MANAGER || message["member"] != "PrepareForShutdown" {
        return None;
    }
    message["payload"]["data"][0].as_bool()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_announcement_is_read() {
        let line = |member: &str, data: &str| {
            format!(
                r#"{{"type":"signal","sender":":1.1","path":"/org/freedesktop/login1","interface":"{MANAGER}","member":"{member}","payload":{{"type":"b","data":[{data}]}}}}"#
            )
        };
        assert_eq!(read_signal(&line("PrepareForShutdown", "true")), Some(true));
        assert_eq!(read_signal(&line("PrepareForShutdown", "false")), Some(false));
        assert_eq!(read_signal(&line("PrepareForSleep", "true")), None);
        assert_eq!(read_signal("Monitoring bus message stream."), None);
    }

    #[tokio::test]
    async fn the_programs_are_asked_as_systemd_has_them() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let program = |name: &str, text: &str| {
            let path = place.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
            path
        };
        let busctl = program(
            "busctl",
            "case \"$*\" in\n\
             *InhibitDelayMaxUSec*) echo 't 5000000';;\n\
             *PreparingForShutdown*) echo 'b false';;\n\
             *KillUnit*) exit 0;;\n\
             *monitor*) echo Monitoring >&2; echo '{\"interface\":\"org.freedesktop.login1.Manager\",\"member\":\"PrepareForShutdown\",\"payload\":{\"data\":[true]}}';;\n\
             *) echo unknown >&2; exit 1;;\nesac",
        );
        let systemd_inhibit = program("systemd-inhibit", "shift 4; exec \"$@\"");
        let logind = Logind { busctl, systemd_inhibit, conf_dir: place.path().join("conf") };
        assert_eq!(logind.inhibit_delay().await.expect("a delay"), Duration::from_secs(5));
        logind.override_inhibit_delay(Duration::from_millis(30_500)).await.expect("overridden");
        let text = std::fs::read_to_string(place.path().join("conf/99-kubelet.conf")).expect("written");
        assert!(text.ends_with("[Login]\nInhibitDelayMaxSec=31\n"), "{text}");
        let _lock = logind.hold().await.expect("held");
        let mut events = logind.watch().await.expect("listening");
        assert_eq!((events.next().await, events.next().await), (Some(true), None));
        let none = Logind { busctl: place.path().join("none"), ..logind };
        assert!(none.inhibit_delay().await.is_err());
    }
}
