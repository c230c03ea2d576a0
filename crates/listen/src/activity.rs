//! The requests being served on one connection. Its server marks each ([`Activity::serve`])
//! and closes the connection when [`Activity::dismissed`] returns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::gate::Gate;
use crate::{HEADER_TIMEOUT, IDLE_TIMEOUT};

/// No request of the connection has come in whole yet.
const FRESH: u8 = 0;
const SERVED: u8 = 1;
/// It was fresh, and had to make room.
const EVICTED: u8 = 2;

pub struct Activity {
    state: AtomicU8,
    /// Requests that are being served.
    serving: AtomicUsize,
    opened: Instant,
    /// When the last request ended, in milliseconds after `opened`.
    idle_since: AtomicU64,
    eviction: Notify,
    gate: Arc<Gate>,
    pub(crate) source: std::net::IpAddr,
}

impl Activity {
    pub(crate) fn new(gate: Arc<Gate>, source: std::net::IpAddr) -> Self {
        Self {
            state: AtomicU8::new(FRESH),
            serving: AtomicUsize::new(0),
            opened: Instant::now(),
            idle_since: AtomicU64::new(0),
            eviction: Notify::new(),
            gate,
            source,
        }
    }

    /// Marks a request as being served until the guard is dropped.
    pub fn serve(self: &Arc<Self>) -> Serving {
        self.serving.fetch_add(1, Ordering::AcqRel);
        if self.leave_fresh(SERVED) {
            self.gate.note_first_request(self.source);
        }
        Serving(self.clone())
    }

    /// Returns when the connection is to be closed: it had to make room, its first request does
    /// not come, or it has had none for long. A connection on which something is being served is
    /// never dismissed.
    pub async fn dismissed(&self) {
        let timeout = async {
            while let Some(wait) = self.time_left() {
                tokio::time::sleep(wait).await;
            }
        };
        tokio::select! {
            () = timeout => {}
            () = self.evicted() => {}
        }
    }

    /// Returns when the connection had to make room for a newer one.
    pub async fn evicted(&self) {
        loop {
            let notified = self.eviction.notified();
            if self.state.load(Ordering::Acquire) == EVICTED {
                return;
            }
            notified.await;
        }
    }

    /// Whether any request of the connection has come in whole.
    pub fn has_served(&self) -> bool {
        self.state.load(Ordering::Acquire) == SERVED
    }

    pub(crate) fn is_fresh(&self) -> bool {
        self.state.load(Ordering::Acquire) == FRESH
    }

    /// Whether this call ended the fresh state by eviction.
    pub(crate) fn evict(&self) -> bool {
        let evicted = self.leave_fresh(EVICTED);
        if evicted {
            self.eviction.notify_waiters();
        }
        evicted
    }

    /// Whether this call ended the fresh state because the connection is gone.
    pub(crate) fn end(&self) -> bool {
        self.leave_fresh(SERVED)
    }

    fn leave_fresh(&self, to: u8) -> bool {
        self.state.compare_exchange(FRESH, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// How long until it has to be looked at again; `None` when its time is over.
    fn time_left(&self) -> Option<Duration> {
        let limit = if self.is_fresh() { HEADER_TIMEOUT } else { IDLE_TIMEOUT };
        if self.serving.load(Ordering::Acquire) > 0 {
            return Some(limit);
        }
        let idle_since = self.opened + Duration::from_millis(self.idle_since.load(Ordering::Acquire));
        let left = limit.saturating_sub(idle_since.elapsed());
        (!left.is_zero()).then_some(left)
    }
}

/// A request that is being served.
pub struct Serving(Arc<Activity>);

impl Drop for Serving {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.idle_since.store(now, Ordering::Release);
        self.0.serving.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::{Gate, Limits, Pass};
    use std::net::{IpAddr, Ipv4Addr};

    fn admitted() -> Pass {
        let gate = Arc::new(Gate::new(Limits::of_total(8)));
        gate.admit(IpAddr::from(Ipv4Addr::LOCALHOST)).expect("room")
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_first_request_is_dismissed() {
        let (pass, start) = (admitted(), Instant::now());
        let activity = &pass.activity;
        activity.dismissed().await;
        assert_eq!(start.elapsed().as_secs(), HEADER_TIMEOUT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_dismissed_and_a_busy_one_is_not() {
        let (pass, start) = (admitted(), Instant::now());
        let activity = &pass.activity;
        let serving = activity.serve();
        assert!(tokio::time::timeout(IDLE_TIMEOUT * 100, activity.dismissed()).await.is_err(), "a watch lasts");
        drop(serving);
        let ended = Instant::now();
        assert!(ended - start >= IDLE_TIMEOUT * 100);
        activity.dismissed().await;
        // Times are kept in whole milliseconds.
        let waited = ended.elapsed() + Duration::from_millis(2);
        assert!(waited >= IDLE_TIMEOUT && waited < IDLE_TIMEOUT + Duration::from_secs(1), "{waited:?}");
    }
}
