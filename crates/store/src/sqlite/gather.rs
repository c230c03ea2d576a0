//! How long a batch waits for company. Every batch costs an fsync and a change of threads,
//! whatever is in it; where many write at once, a moment's wait lets them share that cost.
//! The writer waits here before it begins a batch; whoever queues a request may end the wait.
//!
//! Nobody waits where few write: the first request of a burst, and a single client's every
//! request, is taken up at once.
//!
//! How many are waited for depends on what the processors do. While they have time to spare,
//! half of the writers make a batch and the other half are at work while the disk is. When
//! every processor is busy with this process, nothing is gained by an early batch: its writer
//! would only take the processor from the next requests, and batches of six cost a third more
//! time of it, request for request, than batches of forty (`ferry-bench --only creates`).

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// With fewer writers than this, each fsync is shared by too few to be worth a wait.
const CROWD: usize = 4;

/// Where for the time of so many commits nobody comes, nobody is waited for any more.
const COMMITS: u32 = 2;
/// A slow disk does not make the wait for company slow.
const QUIET_AT_MOST: Duration = Duration::from_millis(5);
/// However many keep coming, the first of them is kept no longer than this.
const AT_MOST: Duration = Duration::from_millis(25);

/// So many requests are waited for, unless none comes for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    requests: usize,
    quiet: Duration,
}

/// With so many in it, a batch's own cost is next to nothing to each of them.
const FULL: usize = 40;

/// What the last batch teaches about the next: it had so many requests, so many more had
/// queued up by its end, and its commit took so long. Those were the writers of that moment,
/// or with busy processors those who had got so far, and batches grow until they are full.
pub(super) fn plan_wait(batch: usize, queued: usize, commit: Duration, load: Load) -> Option<Wait> {
    let writers = batch + queued;
    let half = (writers / 2).min(super::writer::QUEUE / 2);
    let (requests, quiet) = match load {
        Load::Spare => (half, (commit * COMMITS).min(QUIET_AT_MOST)),
        // Between two arrivals the processors may be busy with a whole batch of answers.
        Load::Full => (half.max(writers.min(FULL)), QUIET_AT_MOST),
    };
    (writers >= CROWD).then_some(Wait { requests, quiet })
}

/// Whether this process leaves any of the processors that it may use some time to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    Spare,
    Full,
}

/// Follows the load, a short while at a time.
pub(super) struct LoadMeter {
    processors: u32,
    since: Instant,
    used: Duration,
    load: Load,
}

impl LoadMeter {
    /// Over less than this, a pause between two requests would look like an idle processor.
    const WHILE: Duration = Duration::from_millis(10);

    pub(super) fn new() -> LoadMeter {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let processors = u32::try_from(processors).unwrap_or(u32::MAX);
        LoadMeter { processors, since: Instant::now(), used: processor_time(), load: Load::Spare }
    }

    pub(super) fn read(&mut self) -> Load {
        let passed = self.since.elapsed();
        if passed >= Self::WHILE {
            let used = processor_time();
            self.load = compute_load(passed, used.saturating_sub(self.used), self.processors);
            (self.since, self.used) = (self.since + passed, used);
        }
        self.load
    }
}

/// Somebody else's work and interrupts keep even a busy process from all of the time.
fn compute_load(passed: Duration, used: Duration, processors: u32) -> Load {
    if used >= passed.saturating_mul(processors).mul_f64(0.94) { Load::Full } else { Load::Spare }
}

/// What all threads of this process have used so far. A machine that does not tell is taken
/// for one that always has time to spare.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default()
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
    pub(super) fn wait(&self, wait: Wait, queued: impl Fn() -> usize) {
        self.writer.get_or_init(std::thread::current);
        let until = Instant::now() + AT_MOST;
        self.wanted.store(wait.requests, Ordering::SeqCst);
        let mut before = 0;
        loop {
            let now = queued();
            if now == before || now >= wait.requests || Instant::now() >= until {
                break;
            }
            before = now;
            // A wake by chance only means one batch with less company.
            std::thread::park_timeout(wait.quiet);
        }
        self.wanted.store(0, Ordering::SeqCst);
    }

    /// Called by the writer's thread alone. Sleeps until somebody comes or the time has come.
    pub(super) fn wait_for_one(&self, until: Instant, has_come: impl Fn() -> bool) {
        self.writer.get_or_init(std::thread::current);
        self.wanted.store(1, Ordering::SeqCst);
        while !has_come() && Instant::now() < until {
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
        self.wanted.store(0, Ordering::SeqCst);
    }

    /// Wakes a writer that waits: nobody else will come.
    pub(super) fn finish(&self) {
        if let Some(writer) = self.writer.get() {
            writer.unpark();
        }
    }

    /// Called after a request was queued, with how many there are now.
    pub(super) fn arrived(&self, queued: usize) {
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
        for load in [Load::Spare, Load::Full] {
            assert_eq!(plan_wait(1, 0, COMMIT, load), None);
            assert_eq!(plan_wait(2, 1, COMMIT, load), None);
        }
    }

    #[test]
    fn half_of_many_writers_share_a_batch_within_a_bounded_time() {
        assert_eq!(plan_wait(8, 8, COMMIT, Load::Spare), Some(Wait { requests: 8, quiet: COMMIT * 2 }));
        let slow = plan_wait(1024, 1024, Duration::from_millis(20), Load::Spare).expect("a crowd");
        assert_eq!(slow, Wait { requests: 512, quiet: QUIET_AT_MOST });
    }

    #[test]
    fn batches_grow_until_they_are_full_while_the_processors_are_busy() {
        let (mut batch, mut sizes) = (4, Vec::new());
        for _ in 0..5 {
            batch = plan_wait(batch, batch / 2, COMMIT, Load::Full).expect("a crowd").requests;
            sizes.push(batch);
        }
        assert_eq!(sizes, [6, 9, 13, 19, 28]);
        assert_eq!(plan_wait(28, 200, COMMIT, Load::Full).expect("a crowd").requests, 114);
        assert_eq!(plan_wait(28, 20, COMMIT, Load::Full), Some(Wait { requests: FULL, quiet: QUIET_AT_MOST }));
    }

    #[test]
    fn the_load_is_full_when_every_processor_is_busy_here() {
        let ms = Duration::from_millis;
        assert_eq!(compute_load(ms(100), ms(97), 1), Load::Full);
        assert_eq!(compute_load(ms(100), ms(90), 1), Load::Spare);
        assert_eq!(compute_load(ms(100), ms(120), 2), Load::Spare);
        assert_eq!(compute_load(ms(100), ms(195), 2), Load::Full);
    }

    #[test]
    fn the_last_one_waited_for_ends_the_wait() {
        let gathering = Arc::new(Gathering::default());
        let queued = Arc::new(AtomicUsize::new(1));
        let waiting = {
            let (gathering, queued) = (gathering.clone(), queued.clone());
            // An hour: were it not ended, the test would be.
            let wait = Wait { requests: 3, quiet: Duration::from_secs(3600) };
            std::thread::spawn(move || gathering.wait(wait, || queued.load(Ordering::SeqCst)))
        };
        for _ in 0..2 {
            let now = queued.fetch_add(1, Ordering::SeqCst) + 1;
            gathering.arrived(now);
        }
        waiting.join().expect("the wait ends");
    }

    #[test]
    fn a_wait_ends_when_nobody_comes_any_more() {
        let gathering = Gathering::default();
        let looks = AtomicUsize::new(0);
        // One more at each of three looks, then none.
        let queued = || (looks.fetch_add(1, Ordering::SeqCst) + 1).min(3);
        gathering.wait(Wait { requests: 100, quiet: COMMIT }, queued);
        assert_eq!(looks.load(Ordering::SeqCst), 4);
        assert_eq!(gathering.wanted.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn those_who_keep_coming_do_not_keep_the_first_for_ever() {
        let gathering = Gathering::default();
        let looks = AtomicUsize::new(0);
        gathering.wait(Wait { requests: usize::MAX, quiet: COMMIT }, || looks.fetch_add(1, Ordering::SeqCst) + 1);
        assert!(looks.load(Ordering::SeqCst) > 2);
    }
}
