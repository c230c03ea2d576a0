//! The work queue of reconcilers, with the rules of client-go's: a key that waits is
//! not added twice, a key that is being worked on is handed out again only after
//! `done`, and failures come back later and later. It counts what it does.

use crate::Key;
use crate::metrics::{Metrics, Observed, QueueSeries, QueueState};
use crate::sparse::GiveBack;
use ferry_api::view::meta::v1::ObjectMetaView;
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The first pause after a failure.
const BASE_DELAY: Duration = Duration::from_millis(5);

/// Delays come from objects (`tolerationSeconds`, `ttl`), and the clock cannot hold the
/// largest of them. A key that is handed out a year early is only looked at once more.
const MAX_DELAY: Duration = Duration::from_secs(365 * 24 * 3600);

pub struct Queue<T> {
    inner: Arc<Inner<T>>,
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

struct Inner<T> {
    state: Mutex<State<T>>,
    changed: Notify,
    series: QueueSeries,
}

struct State<T> {
    ready: VecDeque<T>,
    /// Waits in `ready`, or must be handed out again when its worker is done.
    dirty: HashSet<T>,
    /// Since when the keys in `ready` wait there.
    waiting_since: HashMap<T, Instant>,
    /// The keys that workers have in hand, and since when.
    processing: HashMap<T, Instant>,
    later: BinaryHeap<Reverse<(Instant, u64)>>,
    /// What the entries of `later` stand for; an earlier time replaces a later one.
    delayed: HashMap<T, (Instant, u64)>,
    by_ticket: HashMap<u64, T>,
    next_ticket: u64,
    failures: HashMap<T, u32>,
    closed: bool,
}

impl<T> Queue<T> {
    /// The longest pause after a failure unless a caller wants a shorter one.
    pub const LONGEST_PAUSE: Duration = Duration::from_secs(1000);
}

impl Queue<Key> {
    pub fn add_object(&self, meta: ObjectMetaView<'_>) {
        self.add(Key::of(meta));
    }
}

impl<T: Clone + Eq + Hash + Send + Sync + 'static> Queue<T> {
    /// The name is the label of its metrics.
    pub fn new(name: &'static str, metrics: &Metrics) -> Self {
        let state = State {
            ready: VecDeque::new(),
            dirty: HashSet::new(),
            waiting_since: HashMap::new(),
            processing: HashMap::new(),
            later: BinaryHeap::new(),
            delayed: HashMap::new(),
            by_ticket: HashMap::new(),
            next_ticket: 0,
            failures: HashMap::new(),
            closed: false,
        };
        let inner = Arc::new(Inner { state: Mutex::new(state), changed: Notify::new(), series: metrics.series(name) });
        let observed: Arc<dyn Observed> = inner.clone();
        metrics.observe(name, Arc::downgrade(&observed));
        Self { inner }
    }

    pub fn add(&self, key: T) {
        if self.inner.state.lock().add(key, Instant::now()) {
            self.inner.series.adds.count();
        }
        self.inner.changed.notify_one();
    }

    pub fn add_after(&self, key: T, delay: Duration) {
        if delay.is_zero() {
            return self.add(key);
        }
        self.inner.state.lock().add_at(key, Instant::now() + delay.min(MAX_DELAY));
        self.inner.changed.notify_one();
    }

    /// After a failure: 5 ms, 10 ms, … up to `longest_pause`, until `forget`.
    pub fn add_rate_limited(&self, key: T, longest_pause: Duration) {
        let delay = {
            let mut state = self.inner.state.lock();
            let failures = state.failures.entry(key.clone()).or_insert(0);
            let delay = BASE_DELAY.saturating_mul(1u32.checked_shl(*failures).unwrap_or(u32::MAX)).min(longest_pause);
            *failures = failures.saturating_add(1).min(31);
            delay
        };
        self.inner.series.retries.count();
        self.add_after(key, delay);
    }

    /// How often the key has failed since it was last forgotten.
    pub fn failures(&self, key: &T) -> u32 {
        self.inner.state.lock().failures.get(key).copied().unwrap_or(0)
    }

    pub fn forget(&self, key: &T) {
        self.inner.state.lock().failures.remove(key);
    }

    /// The next key to work on; `None` once the queue is closed.
    pub async fn next(&self) -> Option<T> {
        loop {
            let changed = self.inner.changed.notified();
            let wake_at = {
                let mut state = self.inner.state.lock();
                if state.closed {
                    return None;
                }
                let now = Instant::now();
                self.inner.series.adds.add(state.promote(now));
                if let Some(key) = state.ready.pop_front() {
                    state.dirty.remove(&key);
                    if let Some(since) = state.waiting_since.remove(&key) {
                        self.inner.series.queue_duration.observe_time(now - since);
                    }
                    state.processing.insert(key.clone(), now);
                    state.ready.give_back();
                    state.dirty.give_back();
                    state.waiting_since.give_back();
                    // More may be ready than this worker takes.
                    if !state.ready.is_empty() {
                        self.inner.changed.notify_one();
                    }
                    return Some(key);
                }
                state.later.peek().map(|Reverse((at, _))| *at)
            };
            match wake_at {
                Some(at) => {
                    tokio::select! {
                        () = changed => {}
                        () = tokio::time::sleep_until(at) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// Ends the work on a key; if it was added meanwhile it is handed out again.
    pub fn done(&self, key: &T) {
        let mut state = self.inner.state.lock();
        if let Some(since) = state.processing.remove(key) {
            self.inner.series.work_duration.observe_time(since.elapsed());
        }
        if state.dirty.contains(key) {
            state.ready.push_back(key.clone());
            self.inner.changed.notify_one();
        }
    }

    pub fn len(&self) -> usize {
        self.inner.state.lock().ready.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn close(&self) {
        self.inner.state.lock().closed = true;
        self.inner.changed.notify_waiters();
        self.inner.changed.notify_one();
    }
}

impl<T: Send + Sync> Observed for Inner<T> {
    fn state(&self, now: Instant) -> QueueState {
        let state = self.state.lock();
        let seconds = || state.processing.values().map(|since| (now - *since).as_secs_f64());
        QueueState { depth: state.ready.len(), unfinished: seconds().sum(), longest: seconds().fold(0.0, f64::max) }
    }
}

impl<T: Clone + Eq + Hash> State<T> {
    /// False for a key that waits already.
    fn add(&mut self, key: T, now: Instant) -> bool {
        if let Some((_, ticket)) = self.delayed.remove(&key) {
            self.by_ticket.remove(&ticket);
        }
        if !self.dirty.insert(key.clone()) {
            return false;
        }
        self.waiting_since.insert(key.clone(), now);
        if !self.processing.contains_key(&key) {
            self.ready.push_back(key);
        }
        true
    }

    fn add_at(&mut self, key: T, at: Instant) {
        if let Some((planned, ticket)) = self.delayed.get(&key) {
            if *planned <= at {
                return;
            }
            self.by_ticket.remove(ticket);
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.delayed.insert(key.clone(), (at, ticket));
        self.by_ticket.insert(ticket, key);
        self.later.push(Reverse((at, ticket)));
    }

    /// Moves the keys that are due from `later` to `ready`, and returns how many were added.
    fn promote(&mut self, now: Instant) -> u64 {
        let mut added = 0;
        while let Some(Reverse((at, ticket))) = self.later.peek().copied() {
            let Some(key) = self.by_ticket.get(&ticket) else {
                self.later.pop();
                continue;
            };
            if at > now {
                break;
            }
            let key = key.clone();
            self.later.pop();
            self.by_ticket.remove(&ticket);
            self.delayed.remove(&key);
            added += u64::from(self.add(key, now));
        }
        self.delayed.give_back();
        self.by_ticket.give_back();
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_in_hand_is_not_handed_out_twice() {
        let queue = Queue::new("test", &Metrics::default());
        queue.add("a");
        queue.add("a");
        assert_eq!(queue.next().await, Some("a"));
        assert!(queue.is_empty());
        queue.add("a");
        assert!(queue.is_empty(), "it waits for done");
        queue.done(&"a");
        assert_eq!(queue.next().await, Some("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn delayed_keys_come_in_time_and_the_earlier_time_wins() {
        let queue = Queue::new("test", &Metrics::default());
        let start = Instant::now();
        queue.add_after("slow", Duration::from_secs(10));
        queue.add_after("fast", Duration::from_secs(1));
        queue.add_after("slow", Duration::from_secs(5));
        assert_eq!(queue.next().await, Some("fast"));
        assert_eq!(queue.next().await, Some("slow"));
        assert_eq!(start.elapsed().as_secs(), 5);
        queue.done(&"slow");
        queue.close();
        assert_eq!(queue.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_longer_than_the_clock_can_hold_does_not_panic() {
        let queue = Queue::new("test", &Metrics::default());
        queue.add_after("never", Duration::MAX);
        queue.add_after("soon", Duration::from_secs(1));
        assert_eq!(queue.next().await, Some("soon"));
    }

    #[tokio::test(start_paused = true)]
    async fn failures_back_off_until_forgotten() {
        let queue = Queue::new("test", &Metrics::default());
        let mut waits = Vec::new();
        for _ in 0..4 {
            let start = Instant::now();
            queue.add_rate_limited("a", Duration::from_millis(25));
            assert_eq!(queue.next().await, Some("a"));
            queue.done(&"a");
            waits.push(start.elapsed().as_millis());
        }
        assert_eq!(waits, [5, 10, 20, 25]);
        queue.forget(&"a");
        assert_eq!(queue.failures(&"a"), 0);
    }
}
