//! How many connections a listener holds, in all, from one source, and of those that have
//! brought no request yet. Decides whether a new one is let in, and which one goes for it.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::activity::Activity;
use crate::descriptors;

/// How often a full listener is logged.
const COMPLAIN_EVERY: Duration = Duration::from_secs(10);

/// The most connections that a listener holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections in all.
    pub total: usize,
    /// Connections of one source: less than all, so that no source can lock the others out.
    pub per_source: usize,
    /// Connections without a whole request yet, in all and of one source.
    pub fresh: usize,
    pub fresh_per_source: usize,
}

impl Limits {
    /// A listener that may take one in so many of the process's descriptors, and no more
    /// than this in any case.
    pub fn of_share(one_in: usize, at_most: usize) -> Self {
        Self::of_total((descriptors::limit() / one_in.max(1)).clamp(16, at_most.max(16)))
    }

    /// The proportions. A thousand clients of one machine that start at once are nothing
    /// unusual, hence a source gets much of what there is.
    pub(crate) fn of_total(total: usize) -> Self {
        Self { total, per_source: total * 3 / 4, fresh: total / 2, fresh_per_source: total / 4 }
    }
}

pub(crate) struct Gate {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: usize,
    fresh: Fresh,
    sources: HashMap<IpAddr, Source>,
    refused: usize,
    complained: Option<Instant>,
}

#[derive(Default)]
struct Source {
    open: usize,
    fresh: Fresh,
}

/// Connections without a request, oldest first. Those that have got beyond that are skipped
/// when they come up, and swept out when they are the greater part.
#[derive(Default)]
struct Fresh {
    count: usize,
    queue: VecDeque<Arc<Activity>>,
}

impl Fresh {
    fn push(&mut self, activity: Arc<Activity>) {
        if self.queue.len() > 2 * self.count + 16 {
            self.queue.retain(|one| one.is_fresh());
        }
        self.count += 1;
        self.queue.push_back(activity);
    }

    /// Evicts the oldest; answers its source.
    fn evict(&mut self) -> Option<IpAddr> {
        while let Some(oldest) = self.queue.pop_front() {
            if oldest.evict() {
                return Some(oldest.source);
            }
        }
        None
    }
}

impl Gate {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    pub(crate) fn open(&self) -> usize {
        self.state.lock().open
    }

    /// Lets a connection in, for which the oldest without a request may have to go; `None` when
    /// even that makes no room.
    pub(crate) fn admit(self: &Arc<Self>, source: IpAddr) -> Option<Pass> {
        let mut state = self.state.lock();
        let mine = state.sources.entry(source).or_default();
        if mine.fresh.count >= self.limits.fresh_per_source && mine.fresh.evict().is_some() {
            state.note_fresh_left(source);
        }
        if state.fresh.count >= self.limits.fresh {
            state.evict_oldest();
        }
        let mine = state.sources.entry(source).or_default();
        if mine.open >= self.limits.per_source || state.open >= self.limits.total {
            state.complain(source);
            state.forget_if_unused(source);
            return None;
        }
        let activity = Arc::new(Activity::new(self.clone(), source));
        state.open += 1;
        state.fresh.push(activity.clone());
        let mine = state.sources.entry(source).or_default();
        mine.open += 1;
        mine.fresh.push(activity.clone());
        Some(Pass { activity, gate: self.clone() })
    }

    pub(crate) fn evict_oldest(&self) {
        self.state.lock().evict_oldest();
    }

    /// A connection has brought its first request.
    pub(crate) fn note_first_request(&self, source: IpAddr) {
        self.state.lock().note_fresh_left(source);
    }

    fn leave(&self, activity: &Activity) {
        let mut state = self.state.lock();
        if activity.end() {
            state.note_fresh_left(activity.source);
        }
        state.open -= 1;
        if let Some(source) = state.sources.get_mut(&activity.source) {
            source.open -= 1;
        }
        state.forget_if_unused(activity.source);
    }
}

impl State {
    fn evict_oldest(&mut self) {
        if let Some(source) = self.fresh.evict() {
            self.note_fresh_left(source);
        }
    }

    fn note_fresh_left(&mut self, source: IpAddr) {
        // The first request of a connection is noted without the lock; should the last connection
        // of its source end in that moment, the source is gone by now, or a new one.
        self.fresh.count = self.fresh.count.saturating_sub(1);
        if let Some(source) = self.sources.get_mut(&source) {
            source.fresh.count = source.fresh.count.saturating_sub(1);
        }
    }

    fn forget_if_unused(&mut self, source: IpAddr) {
        if self.sources.get(&source).is_some_and(|one| one.open == 0) {
            self.sources.remove(&source);
        }
    }

    /// A flood must not become a flood of log lines.
    fn complain(&mut self, source: IpAddr) {
        self.refused += 1;
        if self.complained.is_none_or(|at| at.elapsed() >= COMPLAIN_EVERY) {
            tracing::warn!(%source, open = self.open, refused = self.refused, "there is no room for a connection");
            self.complained = Some(Instant::now());
            self.refused = 0;
        }
    }
}

/// A connection's place; given back when it is dropped.
pub(crate) struct Pass {
    pub activity: Arc<Activity>,
    gate: Arc<Gate>,
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.gate.leave(&self.activity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const MALLORY: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 66));
    const ALICE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    fn gate() -> Arc<Gate> {
        Arc::new(Gate::new(Limits { total: 8, per_source: 6, fresh: 4, fresh_per_source: 2 }))
    }

    fn is_evicted(pass: &Pass) -> bool {
        !pass.activity.is_fresh()
    }

    #[test]
    fn the_oldest_without_a_request_goes() {
        let gate = gate();
        let held: Vec<Pass> = (0..5).map(|_| gate.admit(MALLORY).expect("room")).collect();
        assert_eq!(held.iter().map(is_evicted).collect::<Vec<_>>(), [true, true, true, false, false]);
        // Another source's are not touched by that.
        let honest = gate.admit(ALICE).expect("room");
        assert!(!is_evicted(&honest) && !is_evicted(&held[4]));
    }

    #[test]
    fn many_sources_that_send_nothing_keep_nobody_out() {
        let gate = gate();
        let mut held: Vec<Pass> = Vec::new();
        for last in 0..100 {
            held.push(gate.admit(IpAddr::from([198, 51, 100, last])).expect("room"));
            // An evicted connection is closed by its server.
            held.retain(|pass| !is_evicted(pass));
            assert!(held.len() <= 4);
        }
        assert!(gate.admit(ALICE).is_some());
    }

    #[test]
    fn connections_that_were_served_are_limited_by_source_and_in_all() {
        let gate = gate();
        let serve = |source| {
            let pass = gate.admit(source)?;
            drop(pass.activity.serve());
            Some(pass)
        };
        let mallory: Vec<Option<Pass>> = (0..7).map(|_| serve(MALLORY)).collect();
        assert_eq!(mallory.iter().flatten().count(), 6);
        let alice: Vec<Option<Pass>> = (0..3).map(|_| serve(ALICE)).collect();
        assert_eq!(alice.iter().flatten().count(), 2);
        drop(mallory);
        assert!(serve(ALICE).is_some());
    }

    #[test]
    fn all_is_forgotten_when_all_have_left() {
        let gate = gate();
        let served = gate.admit(ALICE).expect("room");
        let serving = served.activity.serve();
        let passes: Vec<Pass> = (0..4).filter_map(|_| gate.admit(MALLORY)).collect();
        drop((served, passes));
        drop(serving);
        let state = gate.state.lock();
        assert_eq!((state.open, state.fresh.count, state.sources.len()), (0, 0, 0));
    }
}
