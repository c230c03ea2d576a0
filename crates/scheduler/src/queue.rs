//! Which pod is tried next, and when a pod that found no node is tried again.
//!
//! A pod is in one of four places: active (to be tried now), backing off (to be tried at
//! a time), unschedulable (waiting for something to happen) or gated (kept out). An event
//! moves those pods out of unschedulable whose rejecting plugins say that it may help;
//! five minutes move them in any case. Nothing here waits or ticks: the loop asks for the
//! next deadline and calls when it has come.

use crate::framework::{ClusterEvent, Framework, Hint};
use crate::view::Pod;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

const FIRST_BACKOFF: Duration = Duration::from_secs(1);
const LAST_BACKOFF: Duration = Duration::from_secs(10);
/// The longest a pod waits for an event.
const MAX_UNSCHEDULABLE: Duration = Duration::from_secs(5 * 60);

/// Time as the queue sees it.
pub trait Clock: Send {
    fn now(&self) -> Instant;
}

pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
}

#[derive(Clone, Debug)]
pub struct QueuedPod {
    pub pod: Arc<Pod>,
    /// Its turn among pods of one priority: when it entered the queue.
    pub order: u64,
    /// How often in a row it was tried in vain.
    pub failures: u32,
    /// The plugins that rejected it last.
    pub rejected_by: BTreeSet<&'static str>,
}

impl QueuedPod {
    pub fn new(pod: Arc<Pod>, order: u64) -> Self {
        Self { pod, order, failures: 0, rejected_by: BTreeSet::new() }
    }
}

/// Why a pod comes back.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No node fits; these plugins said no. None at all means that anything may help.
    Unschedulable(BTreeSet<&'static str>),
    /// Something went wrong that may not the next time.
    Error,
}

type ActiveKey = ((i64, u64), String);
type DeadlineKey = (Instant, String);

enum Place {
    Active(ActiveKey),
    Backoff(DeadlineKey),
    Unschedulable { flush: DeadlineKey, backoff_until: Instant },
    Gated,
}

struct Slot {
    queued: QueuedPod,
    place: Place,
}

pub struct SchedulingQueue<C> {
    clock: C,
    framework: Arc<Framework>,
    pods: HashMap<String, Slot>,
    active: BTreeSet<ActiveKey>,
    backoff: BTreeSet<DeadlineKey>,
    flushes: BTreeSet<DeadlineKey>,
    /// Pods that are being tried, with what is to be remembered of them.
    in_flight: BTreeMap<String, QueuedPod>,
    order: u64,
}

impl<C: Clock> SchedulingQueue<C> {
    pub fn new(clock: C, framework: Arc<Framework>) -> Self {
        Self {
            clock,
            framework,
            pods: HashMap::new(),
            active: BTreeSet::new(),
            backoff: BTreeSet::new(),
            flushes: BTreeSet::new(),
            in_flight: BTreeMap::new(),
            order: 0,
        }
    }

    /// A pod that has no node yet.
    pub fn add(&mut self, pod: Arc<Pod>) {
        if self.in_flight.contains_key(pod.uid()) {
            return;
        }
        self.order += 1;
        let queued = QueuedPod::new(pod, self.order);
        self.enter(queued);
    }

    /// A waiting pod has changed. It is tried again if the change may matter.
    pub fn update(&mut self, old: &Pod, new: Arc<Pod>) {
        let uid = new.uid().to_owned();
        if let Some(queued) = self.in_flight.get_mut(&uid) {
            queued.pod = new;
            return;
        }
        let Some(slot) = self.pods.get_mut(&uid) else { return self.add(new) };
        slot.queued.pod = new.clone();
        match &slot.place {
            Place::Gated => {
                if let Some(queued) = self.take(&uid) {
                    self.enter(queued);
                }
            }
            Place::Unschedulable { .. } => {
                let event = ClusterEvent::PodUpdated { old, new: &new };
                self.wake_if(&event, |queued| queued.pod.uid() == new.uid());
            }
            // The key may hold the old priority.
            Place::Active(_) => {
                if let Some(queued) = self.take(&uid) {
                    self.activate(queued);
                }
            }
            Place::Backoff(_) => {}
        }
    }

    pub fn remove(&mut self, uid: &str) {
        self.take(uid);
        self.in_flight.remove(uid);
    }

    pub fn has_active(&self) -> bool {
        !self.active.is_empty()
    }

    /// The pod to try now. It stays in flight until it comes back or is done.
    pub fn pop(&mut self) -> Option<QueuedPod> {
        let (_, uid) = self.active.first()?.clone();
        let queued = self.take(&uid)?;
        self.in_flight.insert(uid, queued.clone());
        Some(queued)
    }

    /// The pod has its node.
    pub fn done(&mut self, uid: &str) {
        self.in_flight.remove(uid);
    }

    /// The pod was tried in vain. `false` when it is not waited for any more.
    pub fn put_back(&mut self, uid: &str, outcome: Outcome) -> bool {
        let Some(mut queued) = self.in_flight.remove(uid) else { return false };
        queued.failures += 1;
        let until = self.clock.now() + backoff_after(queued.failures);
        match outcome {
            Outcome::Error => {
                queued.rejected_by.clear();
                self.back_off(queued, until);
            }
            Outcome::Unschedulable(plugins) => {
                queued.rejected_by = plugins;
                let flush = (self.clock.now() + MAX_UNSCHEDULABLE, uid.to_owned());
                self.flushes.insert(flush.clone());
                let place = Place::Unschedulable { flush, backoff_until: until };
                self.pods.insert(uid.to_owned(), Slot { queued, place });
            }
        }
        true
    }

    /// Something happened: moves the pods that it may help.
    pub fn wake(&mut self, event: &ClusterEvent<'_>) {
        self.wake_if(event, |_| true);
    }

    fn wake_if(&mut self, event: &ClusterEvent<'_>, concerns: impl Fn(&QueuedPod) -> bool) {
        let helps = |queued: &QueuedPod| {
            queued.rejected_by.is_empty()
                || queued.rejected_by.iter().any(|name| {
                    self.framework.plugin(name).is_none_or(|plugin| plugin.hint(&queued.pod, event) == Hint::Queue)
                })
        };
        let woken: Vec<String> = self
            .flushes
            .iter()
            .map(|(_, uid)| uid)
            .filter(|uid| self.pods.get(*uid).is_some_and(|slot| concerns(&slot.queued) && helps(&slot.queued)))
            .cloned()
            .collect();
        for uid in woken {
            self.release(&uid);
        }
    }

    /// When `flush` has to be called next.
    pub fn next_deadline(&self) -> Option<Instant> {
        let first = |set: &BTreeSet<DeadlineKey>| set.first().map(|(at, _)| *at);
        first(&self.backoff).into_iter().chain(first(&self.flushes)).min()
    }

    /// Moves the pods whose time has come.
    pub fn flush(&mut self) {
        let now = self.clock.now();
        while let Some((at, uid)) = self.backoff.first().cloned()
            && at <= now
        {
            if let Some(queued) = self.take(&uid) {
                self.activate(queued);
            }
        }
        while let Some((at, uid)) = self.flushes.first().cloned()
            && at <= now
        {
            self.release(&uid);
        }
    }

    /// How many pods wait for an event.
    pub fn unschedulable(&self) -> usize {
        self.flushes.len()
    }

    fn enter(&mut self, queued: QueuedPod) {
        if self.framework.pre_enqueue(&queued.pod).is_ok() {
            self.activate(queued);
        } else {
            let uid = queued.pod.uid().to_owned();
            self.take(&uid);
            self.pods.insert(uid, Slot { queued, place: Place::Gated });
        }
    }

    fn activate(&mut self, queued: QueuedPod) {
        let uid = queued.pod.uid().to_owned();
        self.take(&uid);
        let key = (self.framework.sort_key(&queued), uid.clone());
        self.active.insert(key.clone());
        self.pods.insert(uid, Slot { queued, place: Place::Active(key) });
    }

    fn back_off(&mut self, queued: QueuedPod, until: Instant) {
        let uid = queued.pod.uid().to_owned();
        let key = (until, uid.clone());
        self.backoff.insert(key.clone());
        self.pods.insert(uid, Slot { queued, place: Place::Backoff(key) });
    }

    /// Out of unschedulable: to be tried now, or when its backoff is over.
    fn release(&mut self, uid: &str) {
        let until = match self.pods.get(uid).map(|slot| &slot.place) {
            Some(Place::Unschedulable { backoff_until, .. }) => *backoff_until,
            _ => return,
        };
        let Some(queued) = self.take(uid) else { return };
        if until <= self.clock.now() { self.activate(queued) } else { self.back_off(queued, until) }
    }

    fn take(&mut self, uid: &str) -> Option<QueuedPod> {
        let slot = self.pods.remove(uid)?;
        match &slot.place {
            Place::Active(key) => self.active.remove(key),
            Place::Backoff(key) => self.backoff.remove(key),
            Place::Unschedulable { flush, .. } => self.flushes.remove(flush),
            Place::Gated => true,
        };
        Some(slot.queued)
    }
}

/// 1, 2, 4, 8 and then always 10 seconds.
fn backoff_after(failures: u32) -> Duration {
    let doubled = FIRST_BACKOFF.saturating_mul(1u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
    doubled.min(LAST_BACKOFF)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::all::all;
    use crate::plugins::testing::node;
    use serde_json::{Value, json};
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone)]
    struct FakeClock {
        start: Instant,
        elapsed_ms: Arc<AtomicU64>,
    }

    impl FakeClock {
        fn advance(&self, by: Duration) {
            let millis = u64::try_from(by.as_millis()).expect("a short time");
            self.elapsed_ms.fetch_add(millis, Ordering::Relaxed);
        }
    }

    impl Clock for FakeClock {
        fn now(&self) -> Instant {
            self.start + Duration::from_millis(self.elapsed_ms.load(Ordering::Relaxed))
        }
    }

    fn queue() -> (SchedulingQueue<FakeClock>, FakeClock) {
        let clock = FakeClock { start: Instant::now(), elapsed_ms: Arc::default() };
        (SchedulingQueue::new(clock.clone(), Arc::new(Framework::new(all()))), clock)
    }

    fn pod(name: &str, spec: Value) -> Arc<Pod> {
        let pod = json!({"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec});
        Arc::new(serde_json::from_value(pod).expect("a pod"))
    }

    fn popped(queue: &mut SchedulingQueue<FakeClock>) -> Option<String> {
        queue.pop().map(|queued| queued.pod.name().to_owned())
    }

    fn unfit(plugin: &'static str) -> Outcome {
        Outcome::Unschedulable(BTreeSet::from([plugin]))
    }

    #[test]
    fn the_important_and_then_the_oldest_come_first() {
        let (mut queue, _) = queue();
        queue.add(pod("a", json!({})));
        queue.add(pod("b", json!({})));
        queue.add(pod("vip", json!({"priority": 1000})));
        let order: Vec<_> = std::iter::from_fn(|| popped(&mut queue)).collect();
        assert_eq!(order, ["vip", "a", "b"]);
    }

    #[test]
    fn errors_back_off_one_second_doubling_to_ten() {
        let (mut queue, clock) = queue();
        queue.add(pod("a", json!({})));
        for seconds in [1, 2, 4, 8, 10, 10] {
            assert_eq!(popped(&mut queue).as_deref(), Some("a"));
            assert!(queue.put_back("a", Outcome::Error));
            assert_eq!(queue.next_deadline(), Some(clock.now() + Duration::from_secs(seconds)));
            clock.advance(Duration::from_secs(seconds) - Duration::from_millis(1));
            queue.flush();
            assert!(!queue.has_active());
            clock.advance(Duration::from_millis(1));
            queue.flush();
        }
    }

    #[test]
    fn only_an_event_that_may_help_wakes_a_pod() {
        let (mut queue, clock) = queue();
        queue.add(pod("a", json!({"nodeSelector": {"zone": "x"}})));
        popped(&mut queue);
        assert!(queue.put_back("a", unfit("NodeAffinity")));
        clock.advance(Duration::from_secs(60));
        let (other, right) = (node("n", json!({})), node("n", json!({"metadata": {"labels": {"zone": "x"}}})));
        queue.wake(&ClusterEvent::NodeAdded(&other));
        assert!(!queue.has_active());
        queue.wake(&ClusterEvent::NodeUpdated { old: &other, new: &right });
        assert_eq!(popped(&mut queue).as_deref(), Some("a"));
    }

    #[test]
    fn a_woken_pod_still_serves_its_backoff() {
        let (mut queue, clock) = queue();
        queue.add(pod("a", json!({})));
        popped(&mut queue);
        queue.put_back("a", unfit("NodeName"));
        queue.wake(&ClusterEvent::NodeAdded(&node("n", json!({}))));
        assert!(!queue.has_active());
        assert_eq!(queue.next_deadline(), Some(clock.now() + Duration::from_secs(1)));
        clock.advance(Duration::from_secs(1));
        queue.flush();
        assert!(queue.has_active());
    }

    #[test]
    fn five_minutes_wake_a_pod_in_any_case() {
        let (mut queue, clock) = queue();
        queue.add(pod("a", json!({})));
        popped(&mut queue);
        queue.put_back("a", unfit("NodeAffinity"));
        assert_eq!(queue.next_deadline(), Some(clock.now() + Duration::from_secs(300)));
        clock.advance(Duration::from_secs(300));
        queue.flush();
        assert_eq!(popped(&mut queue).as_deref(), Some("a"));
    }

    #[test]
    fn without_a_reason_anything_wakes_a_pod() {
        let (mut queue, clock) = queue();
        queue.add(pod("a", json!({})));
        popped(&mut queue);
        queue.put_back("a", Outcome::Unschedulable(BTreeSet::new()));
        clock.advance(Duration::from_secs(1));
        queue.wake(&ClusterEvent::NodeAdded(&node("n", json!({"spec": {"unschedulable": true}}))));
        assert!(queue.has_active());
    }

    #[test]
    fn gated_pods_wait_for_their_gates() {
        let (mut queue, _) = queue();
        let gated = pod("a", json!({"schedulingGates": [{"name": "g"}]}));
        queue.add(gated.clone());
        assert!(!queue.has_active() && queue.next_deadline().is_none());
        queue.update(&gated, pod("a", json!({})));
        assert_eq!(popped(&mut queue).as_deref(), Some("a"));
    }

    #[test]
    fn a_pod_that_changes_in_its_favour_is_tried_again() {
        let (mut queue, clock) = queue();
        let old = pod("a", json!({}));
        queue.add(old.clone());
        popped(&mut queue);
        queue.put_back("a", unfit("TaintToleration"));
        clock.advance(Duration::from_secs(2));
        queue.update(&old, pod("a", json!({})));
        assert!(!queue.has_active());
        queue.update(&old, pod("a", json!({"tolerations": [{"operator": "Exists"}]})));
        assert!(queue.has_active());
    }

    #[test]
    fn a_pod_that_goes_away_in_flight_does_not_come_back() {
        let (mut queue, _) = queue();
        queue.add(pod("a", json!({})));
        popped(&mut queue);
        queue.remove("a");
        assert!(!queue.put_back("a", Outcome::Error));
        assert!(queue.pods.is_empty() && queue.in_flight.is_empty());
    }
}
