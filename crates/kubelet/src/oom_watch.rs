//! Follows the kernel's log for processes that it killed because the machine ran out of memory,
//! and reports each as an event of the node. A kernel whose log cannot be read reports none; the
//! kills in a pod's own cgroup are in the pod's status anyway.
//!
//! Upstream: pkg/kubelet/oom/oom_watcher_linux.go.

use crate::Error;
use crate::context::Context;
use ferry_client::EventType;
use ferry_eviction::oom::{OomParser, kmsg_text};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio_util::sync::CancellationToken;

const LOG: &str = "/dev/kmsg";
/// No record of the kernel's log is larger (CONSOLE_EXT_LOG_MAX).
const LARGEST_RECORD: usize = 8192;
/// Records that are skipped, for one that the kernel has overwritten meanwhile.
const OVERWRITTEN: i32 = nix::errno::Errno::EPIPE as i32;

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let log = match open() {
        Ok(log) => log,
        Err(error) => {
            tracing::info!(%error, "the kernel's log cannot be read, so that no SystemOOM is reported");
            return Ok(());
        }
    };
    let mut parser = OomParser::default();
    let mut record = vec![0; LARGEST_RECORD];
    loop {
        let mut ready = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            ready = log.readable() => match ready {
                Ok(ready) => ready,
                Err(_) => return Ok(()),
            },
        };
        match ready.get_inner().read_record(&mut record) {
            Ok(length) => {
                let text = String::from_utf8_lossy(&record[..length]);
                if let Some(oom) = parser.read(kmsg_text(&text)) {
                    let node = context.node_reference();
                    context.recorder.event(node, EventType::Warning, "SystemOOM", oom.message());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready.clear_ready(),
            Err(error) if error.raw_os_error() == Some(OVERWRITTEN) => {}
            Err(error) => {
                tracing::warn!(%error, "the kernel's log ended");
                return Ok(());
            }
        }
    }
}

struct KernelLog(File);

impl KernelLog {
    fn read_record(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(into)
    }
}

impl std::os::fd::AsRawFd for KernelLog {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}

/// At its end: the kills of earlier days were reported then.
#[expect(deprecated, reason = "its successor is unsafe; the log owns its descriptor as long as it lives")]
fn open() -> io::Result<AsyncFd<KernelLog>> {
    let flags = nix::fcntl::OFlag::O_NONBLOCK.bits();
    let mut file = File::options().read(true).custom_flags(flags).open(LOG)?;
    file.seek(SeekFrom::End(0))?;
    AsyncFd::with_interest(KernelLog(file), Interest::READABLE)
}
