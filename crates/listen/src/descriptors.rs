//! The process's file descriptors: how many there may be, and what happens when all are spent.

use std::fs::File;
use std::io;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use parking_lot::Mutex;
use tokio::net::TcpListener;

/// More than this is never of use here, and what is raised is inherited: there are programs
/// that close every descriptor up to the limit before they start.
const ENOUGH: u64 = 65_536;

/// How long a client that is turned away is waited for: it is there already, or not at all.
const TURN_AWAY_LIMIT: Duration = Duration::from_millis(100);

/// Raises the limit of open files as far as the machine allows and as is of use; answers the
/// new one. The usual 1,024 is for programs that use select(2), and a thousand clients are not
/// many.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let wanted = hard.min(ENOUGH);
    if wanted <= soft {
        return Ok(soft);
    }
    setrlimit(Resource::RLIMIT_NOFILE, wanted, hard)?;
    Ok(wanted)
}

/// How many descriptors the process may have.
pub(crate) fn limit() -> usize {
    let soft = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft);
    usize::try_from(soft.min(ENOUGH)).unwrap_or(1024)
}

/// Whether accepting failed because the process or the machine has no descriptor or memory left.
pub(crate) fn are_spent(error: &io::Error) -> bool {
    let spent = [Errno::EMFILE, Errno::ENFILE, Errno::ENOBUFS, Errno::ENOMEM];
    error.raw_os_error().is_some_and(|code| spent.contains(&Errno::from_raw(code)))
}

/// A descriptor that is kept for the moment when no other is left. With it a waiting client can
/// be accepted and closed: it learns that it is not served, and the queue moves on.
pub(crate) struct Reserve(Mutex<Option<File>>);

impl Reserve {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(open()))
    }

    pub(crate) async fn turn_away(&self, listener: &TcpListener) {
        drop(self.0.lock().take());
        let _ = tokio::time::timeout(TURN_AWAY_LIMIT, listener.accept()).await;
        *self.0.lock() = open();
    }
}

fn open() -> Option<File> {
    File::open("/dev/null").ok()
}
