//! The order in which pods are tried, and the time at which a pod that found no node is
//! tried again.
//!
//! A pod is in one of four places: active (to be tried now), backing off (to be tried at
//! a time, or earlier while nothing else is to do), unschedulable (waiting for something to happen) or gated (kept out). An event
//! moves those pods out of unschedulable whose rejecting plugins say that it may help;
//! five minutes move them in any case. Nothing here waits or ticks: the loop asks for the
//! next deadline and calls when it has come.

use crate::framework::{ClusterEvent, Hint, Profiles, Resource, Scope};
use crate::pod_info::PodInfo;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    pub pod: Arc<PodInfo>,
    /// Its turn among pods of one priority: when it entered the queue.
    pub order: u64,
    /// How often in a row it was tried in vain.
    pub failures: u32,
    /// The plugins that rejected it last.
    pub rejected_by: BTreeSet<&'static str>,
}

impl QueuedPod {
    pub fn new(pod: Arc<PodInfo>, order: u64) -> Self {
        Self { pod, order, failures: 0, rejected_by: BTreeSet::new() }
    }
}

/// The reason for which a pod comes back.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// No node fits; these plugins said no. None at all means that anything may help.
    Unschedulable(BTreeSet<&'static str>),
    /// Something went wrong that may not the next time.
    Error,
    /// It was not tried at all; these plugins said no the time before.
    Waiting(BTreeSet<&'static str>),
}

type Uid = Arc<str>;
type ActiveKey = ((i64, u64), Uid);
type DeadlineKey = (Instant, Uid);

/// Pods that back off in the order in which they are tried early: by the second in which
/// their time comes, and within it as the active ones.
type EarlyKey = (u64, ActiveKey);

enum Place {
    Active(ActiveKey),
    Backoff {
        deadline: DeadlineKey,
        /// `None` after an error, which is likely to happen again at once.
        early: Option<EarlyKey>,
    },
    Unschedulable {
        flush: DeadlineKey,
        backoff_until: Instant,
    },
    Gated,
}

/// An object that pods name, by kind, namespace and name.
type NamedObject = (Resource, Box<str>, Box<str>);

struct Slot {
    queued: QueuedPod,
    place: Place,
}

pub struct SchedulingQueue<C> {
    clock: C,
    profiles: Arc<Profiles>,
    pods: HashMap<Uid, Slot>,
    active: BTreeSet<ActiveKey>,
    backoff: BTreeSet<DeadlineKey>,
    early: BTreeSet<EarlyKey>,
    /// The seconds of [`EarlyKey`] count from here.
    epoch: Instant,
    backoff_times: BackoffTimes,
    flushes: BTreeSet<DeadlineKey>,
    /// The unschedulable pods by each plugin that rejected them: an event goes over those
    /// that a watching plugin rejected, and not over all.
    rejected: HashMap<&'static str, HashSet<Uid>>,
    /// The unschedulable and gated pods by the objects that they name.
    users: HashMap<NamedObject, HashSet<Uid>>,
    /// The unschedulable pods that anything may help.
    unexplained: HashSet<Uid>,
    /// How many pods are kept out.
    gated: usize,
    /// Pods that are being tried, with what is to be remembered of them.
    in_flight: HashMap<Uid, QueuedPod>,
    order: u64,
}

impl<C: Clock> SchedulingQueue<C> {
    pub fn new(clock: C, profiles: Arc<Profiles>) -> Self {
        Self {
            epoch: clock.now(),
            backoff_times: BackoffTimes::default(),
            early: BTreeSet::new(),
            clock,
            profiles,
            pods: HashMap::new(),
            active: BTreeSet::new(),
            backoff: BTreeSet::new(),
            flushes: BTreeSet::new(),
            rejected: HashMap::new(),
            users: HashMap::new(),
            unexplained: HashSet::new(),
            gated: 0,
            in_flight: HashMap::new(),
            order: 0,
        }
    }

    pub fn with_backoff(mut self, times: BackoffTimes) -> Self {
        self.backoff_times = times;
        self
    }

    /// A pod that has no node yet.
    pub fn add(&mut self, pod: Arc<PodInfo>) {
        if self.in_flight.contains_key(&pod.uid) {
            return;
        }
        self.order += 1;
        let queued = QueuedPod::new(pod, self.order);
        self.enter(queued);
    }

    /// A waiting pod has changed. It is tried again if the change may matter.
    pub fn update(&mut self, new: Arc<PodInfo>) {
        let uid = new.uid.clone();
        if let Some(queued) = self.in_flight.get_mut(&uid) {
            queued.pod = new;
            return;
        }
        let Some(slot) = self.pods.get_mut(&uid) else { return self.add(new) };
        if matches!(slot.place, Place::Gated) {
            if let Some(mut queued) = self.take(&uid) {
                queued.pod = new;
                self.enter(queued);
            }
            return;
        }
        let old = std::mem::replace(&mut slot.queued.pod, new.clone());
        match &slot.place {
            Place::Gated => {}
            Place::Unschedulable { .. } => {
                let rejected_by = &slot.queued.rejected_by;
                let event = ClusterEvent::pod_updated(&old, &new);
                let helps = rejected_by.is_empty()
                    || rejected_by
                        .iter()
                        .any(|plugin| self.profiles.of(&new).hint(plugin, &new, &event) == Hint::Queue);
                unname(&mut self.users, &old);
                name(&mut self.users, &new);
                if helps {
                    self.release(&uid);
                }
            }
            // The key may hold the old priority.
            Place::Active(_) => {
                if let Some(queued) = self.take(&uid) {
                    self.activate(queued);
                }
            }
            Place::Backoff { .. } => {}
        }
    }

    pub fn remove(&mut self, uid: &str) {
        self.take(uid);
        self.in_flight.remove(uid);
    }

    /// Whether there is a pod to try now.
    pub fn has_active(&self) -> bool {
        !self.active.is_empty() || !self.early.is_empty()
    }

    /// Tries the pod again as soon as its backoff is over, though no event came.
    pub fn retry(&mut self, uid: &str) {
        self.release(uid);
    }

    /// The pod to try now. It stays in flight until it comes back or is done.
    pub fn pop(&mut self) -> Option<QueuedPod> {
        // Rather than wait for the time of the next to come (SchedulerPopFromBackoffQ).
        let next = self.active.first().or_else(|| self.early.first().map(|(_, key)| key));
        let uid = next?.1.clone();
        let queued = self.take(&uid)?;
        self.in_flight.insert(uid, queued.clone());
        Some(queued)
    }

    /// The pod has its node.
    pub fn done(&mut self, uid: &str) {
        self.in_flight.remove(uid);
    }

    /// The pod was tried in vain. Returns `false` for a pod that is gone or has a node.
    pub fn put_back(&mut self, uid: &str, outcome: Outcome) -> bool {
        let Some((uid, mut queued)) = self.in_flight.remove_entry(uid) else { return false };
        queued.failures += u32::from(!matches!(outcome, Outcome::Waiting(_)));
        let until = self.clock.now() + self.backoff_times.after(queued.failures);
        match outcome {
            Outcome::Error => {
                queued.rejected_by.clear();
                self.back_off(queued, until, false);
            }
            Outcome::Unschedulable(plugins) | Outcome::Waiting(plugins) => {
                for plugin in &plugins {
                    self.rejected.entry(plugin).or_default().insert(uid.clone());
                }
                name(&mut self.users, &queued.pod);
                // A plugin that is not in the profile has no hint to give.
                if plugins.is_empty()
                    || plugins.iter().any(|plugin| self.profiles.of(&queued.pod).plugin(plugin).is_none())
                {
                    self.unexplained.insert(uid.clone());
                }
                queued.rejected_by = plugins;
                let flush = (self.clock.now() + MAX_UNSCHEDULABLE, uid.clone());
                self.flushes.insert(flush.clone());
                self.pods.insert(uid, Slot { queued, place: Place::Unschedulable { flush, backoff_until: until } });
            }
        }
        true
    }

    /// Something happened: moves the pods that it may help.
    pub fn wake(&mut self, event: &ClusterEvent<'_>) {
        if self.flushes.is_empty() && self.gated == 0 {
            return;
        }
        let mut woken: Vec<Uid> = self.unexplained.iter().cloned().collect();
        for framework in self.profiles.iter() {
            for plugin in framework.watchers(event) {
                let helps = |uid: &&Uid| {
                    self.pods.get(*uid).is_some_and(|Slot { queued: QueuedPod { pod, .. }, .. }| {
                        Arc::ptr_eq(self.profiles.of(pod), framework) && plugin.hint(pod, event) == Hint::Queue
                    })
                };
                let Some(rejected) = self.rejected.get(plugin.name()).filter(|rejected| !rejected.is_empty()) else {
                    continue;
                };
                match plugin.scope(event) {
                    Scope::All => woken.extend(rejected.iter().filter(helps).cloned()),
                    Scope::Users { resource, namespace, name } => {
                        let users = self.users.get(&(resource, namespace.into(), name.into()));
                        let own = users.into_iter().flatten().filter(|uid| rejected.contains(*uid));
                        woken.extend(own.filter(helps).cloned());
                    }
                }
            }
        }
        // A pod that two plugins wake is released by the first.
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
        let rejection = self.profiles.of(&queued.pod).pre_enqueue(&queued.pod).err();
        let Some(rejection) = rejection else { return self.activate(queued) };
        self.take(&queued.pod.uid);
        let uid = queued.pod.uid.clone();
        self.gated += 1;
        self.rejected.entry(rejection.plugin).or_default().insert(uid.clone());
        name(&mut self.users, &queued.pod);
        let queued = QueuedPod { rejected_by: BTreeSet::from([rejection.plugin]), ..queued };
        self.pods.insert(uid, Slot { queued, place: Place::Gated });
    }

    fn activate(&mut self, queued: QueuedPod) {
        let uid = queued.pod.uid.clone();
        self.take(&uid);
        let key = (self.profiles.of(&queued.pod).sort_key(&queued), uid.clone());
        self.active.insert(key.clone());
        self.pods.insert(uid, Slot { queued, place: Place::Active(key) });
    }

    fn back_off(&mut self, queued: QueuedPod, until: Instant, may_be_early: bool) {
        let uid = queued.pod.uid.clone();
        let deadline = (until, uid.clone());
        self.backoff.insert(deadline.clone());
        let early = may_be_early.then(|| {
            let second = until.saturating_duration_since(self.epoch).as_secs();
            (second, (self.profiles.of(&queued.pod).sort_key(&queued), uid.clone()))
        });
        self.early.extend(early.clone());
        self.pods.insert(uid, Slot { queued, place: Place::Backoff { deadline, early } });
    }

    /// Out of unschedulable: to be tried now, or when its backoff is over.
    fn release(&mut self, uid: &str) {
        let until = match self.pods.get(uid).map(|slot| &slot.place) {
            Some(Place::Unschedulable { backoff_until, .. }) => *backoff_until,
            Some(Place::Gated) => {
                let gated = self.take(uid);
                return gated.into_iter().for_each(|queued| self.enter(queued));
            }
            _ => return,
        };
        let Some(queued) = self.take(uid) else { return };
        if until <= self.clock.now() { self.activate(queued) } else { self.back_off(queued, until, true) }
    }

    fn take(&mut self, uid: &str) -> Option<QueuedPod> {
        let slot = self.pods.remove(uid)?;
        match &slot.place {
            Place::Active(key) => drop(self.active.remove(key)),
            Place::Backoff { deadline, early } => {
                self.backoff.remove(deadline);
                if let Some(early) = early {
                    self.early.remove(early);
                }
            }
            Place::Unschedulable { flush, .. } => {
                self.flushes.remove(flush);
                self.unexplained.remove(uid);
                self.unreject(&slot.queued);
            }
            Place::Gated => {
                self.gated -= 1;
                self.unreject(&slot.queued);
            }
        }
        Some(slot.queued)
    }

    fn unreject(&mut self, queued: &QueuedPod) {
        for plugin in &queued.rejected_by {
            if let Some(pods) = self.rejected.get_mut(plugin) {
                pods.remove(&queued.pod.uid);
            }
        }
        unname(&mut self.users, &queued.pod);
    }
}

fn name(users: &mut HashMap<NamedObject, HashSet<Uid>>, pod: &PodInfo) {
    for (resource, name) in pod.names() {
        users.entry((resource, pod.namespace.clone(), name.into())).or_default().insert(pod.uid.clone());
    }
}

fn unname(users: &mut HashMap<NamedObject, HashSet<Uid>>, pod: &PodInfo) {
    for (resource, name) in pod.names() {
        let key = (resource, pod.namespace.clone(), name.into());
        if let Some(pods) = users.get_mut(&key) {
            pods.remove(&pod.uid);
            if pods.is_empty() {
                users.remove(&key);
            }
        }
    }
}

/// 1, 2, 4, 8 and then always 10 seconds, unless configured otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackoffTimes {
    pub initial: Duration,
    pub max: Duration,
}

impl Default for BackoffTimes {
    fn default() -> Self {
        Self { initial: Duration::from_secs(1), max: Duration::from_secs(10) }
    }
}

impl BackoffTimes {
    fn after(self, failures: u32) -> Duration {
        let doubled = self.initial.saturating_mul(1u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
        doubled.min(self.max)
    }
}

#[cfg(test)]
mod tests;
