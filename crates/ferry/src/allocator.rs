//! The allocator of the process, and the return of freed memory to the machine. `main.rs`
//! builds the runtime of `ferry up` with it.
//!
//! mimalloc keeps a freed page for a second in case it is wanted again, and looks for pages
//! whose second is over when their thread allocates. A process that has nothing to do allocates
//! nothing: after one large LIST an idle cluster kept five times the memory of its objects.
//!
//! Each thread has pages of its own, and what another thread frees in them comes back only when
//! their owner looks. So every worker looks through its pages before it sleeps, once a round.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Builder;

/// Under writes a third faster than the C library's, for a few megabytes more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often freed pages are returned. A round over the heap of a large cluster takes less
/// than a millisecond.
const PERIOD: Duration = Duration::from_secs(5);

/// A thread of blocking calls that has nothing to do for so long ends, and leaves its pages to
/// the others.
const BLOCKING_THREAD_STAYS: Duration = Duration::from_secs(2);

/// The number of the round.
static ROUND: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The last round that this thread took part in.
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "the crate's binding of this function needs a feature that brings a dependency")]
mod mimalloc_c {
    // SAFETY: the signature is that of mimalloc.h. The function may be called from any thread
    // at any time, and no memory in use is touched.
    unsafe extern "C" {
        pub safe fn mi_collect(force: bool);
    }
}

/// Makes the workers of a runtime return their freed memory before they sleep.
pub fn with_returned_memory(builder: &mut Builder) -> &mut Builder {
    builder.thread_keep_alive(BLOCKING_THREAD_STAYS).on_thread_park(|| {
        let round = ROUND.load(Ordering::Relaxed);
        if TAKEN.replace(round) != round {
            mimalloc_c::mi_collect(true);
        }
    })
}

/// Begins the rounds, for as long as the process runs. Tasks that do nothing wake the workers
/// that sleep; one that is awake takes part when it next goes to sleep.
pub async fn return_freed_memory(workers: usize) {
    let mut rounds = tokio::time::interval(PERIOD);
    rounds.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        rounds.tick().await;
        ROUND.fetch_add(1, Ordering::Relaxed);
        for _ in 0..2 * workers {
            tokio::spawn(tokio::task::yield_now());
        }
    }
}
