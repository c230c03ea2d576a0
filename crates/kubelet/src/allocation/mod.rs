//! The resources that this node has allocated to its pods, and their resize.
//!
//! A pod is admitted with the resources of its spec and keeps them, whatever the spec says later,
//! until the node has room for a resize (upstream: pkg/kubelet/allocation). `pod_worker` asks in
//! each round and works with the pod as it is allocated; `plan` then compares that with what the
//! containers were given.
//!
//! **Invariant:** an allocation is on the disk before anything acts on it.

pub mod amounts;
mod checkpoint;
pub mod conditions;
mod order;

use crate::admit::{self, Rejection};
use crate::wakers::Wakers;
use amounts::{ContainerAmounts, PodAllocation};
use checkpoint::Checkpoint;
use conditions::{ResizeConditions, render_message};
use ferry_api::rules::pod_requests;
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::{Node, Pod};
use ferry_client::{EventType, Recorder, SharedObject};
use jiff::Timestamp;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

pub struct Allocations {
    root: PathBuf,
    wakers: Arc<Wakers>,
    recorder: Recorder,
    /// Pods that this node has taken on and that have not finished, by uid.
    entries: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    /// The pod as the API has it, with its newest status.
    pod: SharedObject<Pod>,
    checkpoint: Checkpoint,
    conditions: ResizeConditions,
}

impl Entry {
    fn allocated(&self) -> SharedObject<Pod> {
        self.checkpoint.allocation.overlay(&self.pod)
    }

    fn is_pending(&self) -> bool {
        self.checkpoint.allocation.differs(self.pod.view())
    }
}

/// Whether a pod is new to this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    New,
    /// An earlier kubelet has admitted it.
    Adopted,
}

impl Allocations {
    /// `root` is the kubelet's directory.
    pub fn new(root: PathBuf, wakers: Arc<Wakers>, recorder: Recorder) -> Self {
        Self { root, wakers, recorder, entries: Mutex::default() }
    }

    /// Takes over the pods whose allocations an earlier kubelet has left, before any worker
    /// starts: a resize that waits must not be given the room of a pod that is yet to be
    /// adopted. Blocking.
    pub fn restore(&self, pods: impl IntoIterator<Item = SharedObject<Pod>>) {
        let mut entries = self.entries.lock();
        for pod in pods {
            if let Some(checkpoint) = checkpoint::load(&self.root, pod.uid()) {
                let conditions = ResizeConditions::from_status(pod.view().status());
                entries.insert(pod.uid().to_owned(), Entry { pod, checkpoint, conditions });
            }
        }
    }

    /// Takes the pod on, if the node has room for it. Blocking.
    pub fn admit(
        &self,
        pod: &SharedObject<Pod>,
        node: Option<&SharedObject<Node>>,
        arrival: Arrival,
    ) -> Result<(), Rejection> {
        let uid = pod.uid();
        let mut entries = self.entries.lock();
        let known = entries.get(uid).map(|entry| entry.checkpoint.clone());
        let known = known.or_else(|| checkpoint::load(&self.root, uid));
        let is_known = known.is_some();
        let checkpoint =
            known.unwrap_or_else(|| Checkpoint { allocation: PodAllocation::of(pod.view()), actuated: HashMap::new() });
        let allocated = checkpoint.allocation.overlay(pod);
        if let (Arrival::New, Some(node)) = (arrival, node) {
            admit::admit(allocated.view(), node.view(), &others(&entries, uid))?;
        }
        if !is_known && checkpoint.allocation.is_stated() {
            self.store(uid, &checkpoint);
        }
        let conditions = ResizeConditions::from_status(pod.view().status());
        entries.insert(uid.to_owned(), Entry { pod: pod.clone(), checkpoint, conditions });
        Ok(())
    }

    /// The pod with the resources that it has on this node.
    pub fn allocated(&self, pod: &SharedObject<Pod>) -> SharedObject<Pod> {
        match self.entries.lock().get(pod.uid()) {
            Some(entry) => entry.checkpoint.allocation.overlay(pod),
            None => pod.clone(),
        }
    }

    /// Notes the newest version of the pod. Returns whether [`Self::retry`] has something to do: the
    /// pod asks for a resize, or takes less of the node than before.
    pub fn note(&self, pod: &SharedObject<Pod>) -> bool {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(pod.uid()) else { return false };
        let before = std::mem::replace(&mut entry.pod, pod.clone());
        if !entry.is_pending() {
            entry.conditions.pending = None;
        }
        let shrinks = takes_less(&entry.checkpoint.allocation, &before, pod);
        entry.is_pending() || (shrinks && entries.values().any(Entry::is_pending))
    }

    /// Allocates the resizes that wait, in upstream's order, as far as the node has room. Blocking.
    pub fn retry(&self, node: &SharedObject<Node>) {
        let mut entries = self.entries.lock();
        let pending = order::sort(entries.values().filter(|entry| entry.is_pending()).map(|entry| order::Candidate {
            pod: &entry.pod,
            allocation: &entry.checkpoint.allocation,
            deferred_since: entry.conditions.pending.as_ref().map(|condition| condition.since),
        }));
        for uid in pending {
            let others = others(&entries, &uid);
            let Some(entry) = entries.get_mut(&uid) else { continue };
            let (pod, now) = (entry.pod.clone(), Timestamp::now());
            let generation = pod.meta().generation();
            let is_news = match admit::admit(pod.view(), node.view(), &others) {
                Ok(()) => {
                    let allocation = PodAllocation::of(pod.view());
                    let checkpoint = Checkpoint { allocation, actuated: entry.checkpoint.actuated.clone() };
                    if !self.store(&uid, &checkpoint) {
                        continue;
                    }
                    entry.checkpoint = checkpoint;
                    entry.conditions.begin(generation, now);
                    self.report(&pod, EventType::Normal, "ResizeStarted", "Pod resize started", generation, "");
                    true
                }
                Err(rejection) => {
                    let is_news = entry.conditions.defer(rejection.message.clone(), generation, now);
                    if is_news {
                        let (kind, prefix) = (EventType::Warning, "Pod resize Deferred");
                        self.report(&pod, kind, "ResizeDeferred", prefix, generation, &rejection.message);
                    }
                    is_news
                }
            };
            if is_news {
                self.wakers.wake(&uid);
            }
        }
    }

    /// Forgets a pod that has ended. Returns whether a resize may have room now.
    pub fn remove(&self, uid: &str) -> bool {
        let mut entries = self.entries.lock();
        entries.remove(uid).is_some() && entries.values().any(Entry::is_pending)
    }

    /// The CPU that pods of class Burstable request together, in thousandths.
    pub fn burstable_milli_cpu(&self) -> i64 {
        let entries = self.entries.lock();
        let burstable = entries.values().filter(|entry| qos_class(entry.pod.view()) == QosClass::Burstable);
        let cpu = |entry: &Entry| {
            pod_requests::requests(entry.allocated().view()).get("cpu").map_or(0, |quantity| quantity.milli_value())
        };
        burstable.map(cpu).sum()
    }

    pub fn conditions(&self, uid: &str) -> ResizeConditions {
        self.entries.lock().get(uid).map(|entry| entry.conditions.clone()).unwrap_or_default()
    }

    /// Whether the containers have what is allocated to them.
    pub fn note_progress(&self, uid: &str, is_in_progress: bool) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(uid) else { return };
        if is_in_progress {
            entry.conditions.keep_in_progress(entry.pod.meta().generation(), Timestamp::now());
        } else if let Some(generation) = entry.conditions.complete() {
            let pod = entry.allocated();
            self.report(&pod, EventType::Normal, "ResizeCompleted", "Pod resize completed", generation, "");
        }
    }

    /// A step of the resize failed; it is tried again.
    pub fn note_failure(&self, uid: &str, message: &str) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(uid) else { return };
        let generation = entry.pod.meta().generation();
        if let Some(generation) = entry.conditions.fail(message, generation, Timestamp::now()) {
            let pod = entry.allocated();
            self.report(&pod, EventType::Warning, "ResizeError", "Pod resize error", generation, message);
        }
    }

    /// The amounts that containers of the pod were resized to, by their ids.
    pub fn actuated(&self, uid: &str) -> HashMap<String, ContainerAmounts> {
        self.entries.lock().get(uid).map(|entry| entry.checkpoint.actuated.clone()).unwrap_or_default()
    }

    /// Remembers the amounts that containers were resized to. Blocking.
    pub fn set_actuated(&self, uid: &str, actuated: HashMap<String, ContainerAmounts>) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(uid) else { return };
        entry.checkpoint.actuated = actuated;
        self.store(uid, &entry.checkpoint);
    }

    /// Writes the checkpoint; false where the disk does not take it.
    fn store(&self, uid: &str, checkpoint: &Checkpoint) -> bool {
        let stored = checkpoint::store(&self.root, uid, checkpoint);
        stored.inspect_err(|error| tracing::error!(%uid, %error, "cannot store the allocation of a pod")).is_ok()
    }

    fn report(
        &self,
        pod: &SharedObject<Pod>,
        kind: EventType,
        reason: &str,
        prefix: &str,
        generation: i64,
        error: &str,
    ) {
        self.recorder.event(pod, kind, reason, render_message(prefix, pod.view(), generation, error));
    }
}

/// The other pods of this node, as they are allocated.
fn others(entries: &HashMap<String, Entry>, uid: &str) -> Vec<SharedObject<Pod>> {
    entries.iter().filter(|(other, _)| *other != uid).map(|(_, entry)| entry.allocated()).collect()
}

/// Whether a new version of the pod takes less CPU or memory of the node than the one before.
fn takes_less(allocation: &PodAllocation, before: &SharedObject<Pod>, after: &SharedObject<Pod>) -> bool {
    let (before, after) = (allocation.overlay(before), allocation.overlay(after));
    let (before, after) = (pod_requests::requests(before.view()), pod_requests::requests(after.view()));
    ["cpu", "memory"].into_iter().any(|name| after.get(name) < before.get(name))
}
