//! The writer's progress as other threads may know it: how far the durable history reaches, and
//! whether the disk takes writes. Written by the writer alone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::RwLock;

use super::database::State;
use crate::{Error, Revision};

/// A commit that takes longer is a sick disk. Upstream gives etcd two seconds in its health
/// check; a checkpoint on a slow but sound disk may take that.
const SLOW: Duration = Duration::from_secs(10);

pub(super) struct Progress {
    latest: AtomicU64,
    horizon: AtomicU64,
    /// Milliseconds from `epoch` to the start of the batch under way, plus one; 0 between batches.
    writing_since: AtomicU64,
    epoch: Instant,
    fault: RwLock<Option<String>>,
}

impl Progress {
    pub(super) fn new(state: State) -> Progress {
        Progress {
            latest: AtomicU64::new(state.latest),
            horizon: AtomicU64::new(state.horizon),
            writing_since: AtomicU64::new(0),
            epoch: Instant::now(),
            fault: RwLock::new(None),
        }
    }

    pub(super) fn latest(&self) -> Revision {
        self.latest.load(Ordering::Acquire)
    }

    pub(super) fn horizon(&self) -> Revision {
        self.horizon.load(Ordering::Acquire)
    }

    pub(super) fn reached(&self, state: State) {
        self.latest.store(state.latest, Ordering::Release);
        self.horizon.store(state.horizon, Ordering::Release);
    }

    pub(super) fn writing(&self) {
        self.writing_since.store(self.epoch.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
    }

    pub(super) fn written(&self) {
        self.writing_since.store(0, Ordering::Relaxed);
    }

    pub(super) fn failed(&self, reason: &str) {
        *self.fault.write() = Some(reason.to_string());
    }

    pub(super) fn recovered(&self) {
        *self.fault.write() = None;
    }

    pub(super) fn health(&self) -> Result<(), Error> {
        if let Some(reason) = self.fault.read().clone() {
            return Err(Error::Halted { reason });
        }
        let since = self.writing_since.load(Ordering::Relaxed);
        let waited = self.epoch.elapsed().saturating_sub(Duration::from_millis(since));
        if since == 0 || waited < SLOW {
            return Ok(());
        }
        Err(Error::Halted { reason: format!("the disk has not finished a write for {} seconds", waited.as_secs()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_the_disk_does_not_finish_is_no_good_health() {
        let mut progress = Progress::new(State { latest: 1, horizon: 0, compacted: 0 });
        progress.epoch = Instant::now().checked_sub(2 * SLOW).expect("the machine runs for longer");
        assert!(progress.health().is_ok());
        progress.writing_since.store(1, Ordering::Relaxed);
        let error = progress.health().expect_err("stuck").to_string();
        assert!(error.contains("has not finished a write for"), "{error}");
        progress.writing();
        assert!(progress.health().is_ok());
        progress.failed("disk is full");
        assert_eq!(progress.health().expect_err("full").to_string(), "the store takes no writes: disk is full");
        progress.recovered();
        progress.written();
        assert!(progress.health().is_ok());
    }
}
