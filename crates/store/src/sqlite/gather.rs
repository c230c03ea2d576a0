//! How long a batch waits for company. Every batch costs an fsync and a change of threads,
//! whatever is in it; where many write at once, a moment's wait lets them share that cost.
//! The writer waits here before it begins a batch; whoever queues a request may end the wait.
//!
//! Nobody waits where few write: the first request of a burst, and a single client's every
//! request, is taken up at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// With fewer writers than this, each fsync is shared by too few to be worth a wait.
const CROWD: usize = 4;

/// A wait is worth some times what it saves, for all in the batch save it; but where the disk
/// is slow, the queue fills by itself.
const COMMITS: u32 = 8;
const AT_MOST: Duration = Duration::from_millis(5);

/// So many requests are waited for, but not longer than that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    requests: usize,
    at_most: Duration,
}

/// What the last batch teaches about the next: it had so many requests, so many more had
/// queued up by its end, and its commit took so long. Those were the writers of that moment;
/// half of them make a batch, so that the others are at work while the disk is.
pub(super) fn plan_wait(batch: usize, queued: usize, commit: Duration) -> Option<Wait> {
    let writers = batch + queued;
    let at_most = (commit * COMMITS).min(AT_MOST);
    (writers >= CROWD).then_some(Wait { requests: (writers / 2).min(super::writer::QUEUE / 2), at_most })
}

/// Where the writer waits and those who send requests find it.
#[derive(Default)]
pub(super) struct Gathering {
    /// How many are waited for; 0 while nobody waits.
    wanted: AtomicUsize,
    writer: OnceLock<Thread>,
}

impl Gathering {
    /// Called by the writer's thread alone. Sleeps through the arrival of all but the last
    /// request that it waits for: waking for each would cost what the wait is to save.
    pub fn wait(&self, wait: Wait, queued: impl Fn() -> usize) {
        self.writer.get_or_init(std::thread::current);
        let until = Instant::now() + wait.at_most;
        self.wanted.store(wait.requests, Ordering::SeqCst);
        while queued() < wait.requests {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::park_timeout(left);
        }
        self.wanted.store(0, Ordering::SeqCst);
    }

    /// Called after a request was queued, with how many there are now.
    pub fn arrived(&self, queued: usize) {
        let wanted = self.wanted.load(Ordering::SeqCst);
        if wanted != 0
            && queued >= wanted
            && let Some(writer) = self.writer.get()
        {
            writer.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const COMMIT: Duration = Duration::from_micros(100);

    #[test]
    fn few_writers_are_never_kept_waiting() {
        assert_eq!(plan_wait(1, 0, COMMIT), None);
        assert_eq!(plan_wait(2, 1, COMMIT), None);
    }

    #[test]
    fn half_of_many_writers_share_a_batch_within_a_bounded_time() {
        assert_eq!(plan_wait(8, 8, COMMIT), Some(Wait { requests: 8, at_most: COMMIT * 8 }));
        let slow = plan_wait(1024, 1024, Duration::from_millis(20)).expect("a crowd");
        assert_eq!(slow, Wait { requests: 512, at_most: AT_MOST });
    }

    #[test]
    fn the_last_one_waited_for_ends_the_wait() {
        let gathering = Arc::new(Gathering::default());
        let queued = Arc::new(AtomicUsize::new(1));
        let waiting = {
            let (gathering, queued) = (gathering.clone(), queued.clone());
            // An hour: were it not ended, the test would be.
            let wait = Wait { requests: 3, at_most: Duration::from_secs(3600) };
            std::thread::spawn(move || gathering.wait(wait, || queued.load(Ordering::SeqCst)))
        };
        for _ in 0..2 {
            let now = queued.fetch_add(1, Ordering::SeqCst) + 1;
            gathering.arrived(now);
        }
        waiting.join().expect("the wait ends");
    }

    #[test]
    fn a_wait_without_company_ends_by_itself() {
        let gathering = Gathering::default();
        gathering.wait(Wait { requests: 2, at_most: COMMIT }, || 1);
        assert_eq!(gathering.wanted.load(Ordering::SeqCst), 0);
    }
}
