//! The scheduler's loop: events from the watch fill the cache and the queue, and while
//! the queue has pods it decides about one after another.
//!
//! Decisions are made in this one task, so none sees a half-made other. Binding takes a
//! round trip and runs beside it; until it is confirmed the pod is assumed on its node.

use crate::configuration::Configuration;
use crate::cycle::{self, Decision, NoFit, Refusal};
use crate::devices::{self, Devices};
use crate::explain::Decisions;
use crate::extender::Extenders;
use crate::fit_error::{Diagnosis, FitError};
use crate::framework::{BindContext, ClusterEvent, Code, CycleState, Errand, Handle, Nominated, Preemption, Profiles};
use crate::inputs::{Binding, Finished, Input, Inputs};
use crate::node_info::differs;
use crate::pod_info::PodInfo;
use crate::queue::{Outcome, QueuedPod, SchedulingQueue, SystemClock};
use crate::report::{Reason, compute_status_patch, truncate};
use crate::requests::{evict, nominate};
use crate::snapshot::{Cache, Snapshot};
use ferry_api::rules::pod::is_terminal;
use ferry_api::view::core::v1::{Namespace, Node, Pod};
use ferry_client::{Client, Event, Informer, Informers, Patch, Recorder, SharedObject};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Decisions between two rests, in which the runtime's other tasks have their turn: a
/// millisecond's worth on a thousand nodes.
const DECISIONS_AT_ONCE: usize = 16;
/// A snapshot that no decision needs is brought up to date this often: it would keep the pods
/// of its nodes in memory, long after they are deleted, until the next pod is scheduled.
const REFRESH: Duration = Duration::from_secs(1);
/// Inputs between two decisions. A flood of them must not keep pods from being scheduled.
const INPUTS_AT_ONCE: usize = 1024;

/// The parts of a scheduler that its caller chooses.
#[derive(Clone, Default)]
pub struct Options {
    pub configuration: Configuration,
    /// Filled with the decisions as they are made.
    pub decisions: Decisions,
}

/// Schedules with the default profile until `shutdown` is cancelled.
pub fn run(client: Client, informers: Informers, shutdown: CancellationToken) -> BoxFuture<'static, ()> {
    run_with(client, informers, Options::default(), shutdown)
}

/// Schedules until `shutdown` is cancelled.
pub fn run_with(
    client: Client,
    informers: Informers,
    options: Options,
    shutdown: CancellationToken,
) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let ended = shutdown.clone();
        tokio::select! {
            () = ended.cancelled() => {}
            () = schedule(client, informers, options) => {}
        }
    })
}

/// Ends when an informer does.
async fn schedule(client: Client, informers: Informers, options: Options) {
    let (pods, nodes, namespaces) = (informers.of::<Pod>(), informers.of::<Node>(), informers.of::<Namespace>());
    let handle = Handle::new(&informers);
    handle.synced().await;
    namespaces.synced().await;
    nodes.synced().await;
    pods.synced().await;
    let (sender, finished) = mpsc::unbounded_channel();
    let (objects_sender, objects) = mpsc::unbounded_channel();
    let mut inputs = Inputs {
        namespaces: namespaces.subscribe(),
        nodes: nodes.subscribe(),
        pods: pods.subscribe(),
        objects,
        finished,
    };
    let profiles = match options.configuration.build(&handle) {
        Ok(profiles) => profiles,
        // A configuration that was read has been put together once.
        Err(error) => return tracing::error!(%error, "cannot schedule"),
    };
    let Some(profiles) = Profiles::new(profiles) else { return };
    let mut scheduler = Scheduler::new(client, pods, handle.devices.clone(), profiles, &options, sender);
    scheduler.extenders = match options.configuration.build_extenders() {
        Ok(extenders) => extenders,
        Err(error) => return tracing::error!(%error, "cannot schedule"),
    };
    let is_watched = |resource| scheduler.profiles.iter().any(|framework| framework.is_watched(resource));
    handle.subscribe(|resource| devices::KINDS.contains(&resource) || is_watched(resource), &objects_sender);
    // The first decision sees everything that is known already.
    while let Ok(input) = inputs.try_next() {
        scheduler.take_in(input);
    }
    loop {
        for _ in 0..DECISIONS_AT_ONCE {
            scheduler.queue.flush();
            if !scheduler.queue.has_active() {
                break;
            }
            scheduler.schedule_one().await;
            for _ in 0..INPUTS_AT_ONCE {
                match inputs.try_next() {
                    Ok(input) => scheduler.take_in(input),
                    Err(mpsc::error::TryRecvError::Empty) => break,
                    Err(mpsc::error::TryRecvError::Disconnected) => return,
                }
            }
        }
        if scheduler.queue.has_active() {
            tokio::task::yield_now().await;
            continue;
        }
        let deadline = scheduler.queue.next_deadline();
        let refresh = scheduler.cache.is_newer_than(&scheduler.snapshot).then(|| scheduler.refreshed + REFRESH);
        tokio::select! {
            input = inputs.next() => match input {
                Some(input) => scheduler.take_in(input),
                None => return,
            },
            () = sleep_until(deadline), if deadline.is_some() => {}
            () = sleep_until(refresh), if refresh.is_some() => scheduler.refresh(),
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        tokio::time::sleep_until(deadline.into()).await;
    }
}

struct Scheduler {
    client: Client,
    /// By the name of the profile.
    recorders: HashMap<String, Recorder>,
    profiles: Arc<Profiles>,
    extenders: Extenders,
    pods: Informer<Pod>,
    devices: Arc<Devices>,
    cache: Cache,
    snapshot: Snapshot,
    /// When the snapshot was brought up to date.
    refreshed: Instant,
    queue: SchedulingQueue<SystemClock>,
    nominated: Nominated,
    finished: mpsc::UnboundedSender<Finished>,
    decisions: Decisions,
    /// The pods whose victims are being asked to go, with whether their turn came meanwhile.
    preempting: HashMap<Arc<str>, bool>,
    /// The bindings that have not ended, by uid, with the way to end them.
    under_way: HashMap<Arc<str>, CancellationToken>,
    /// Where the next search through the nodes begins.
    start: usize,
}

impl Scheduler {
    fn new(
        client: Client,
        pods: Informer<Pod>,
        devices: Arc<Devices>,
        profiles: Profiles,
        options: &Options,
        finished: mpsc::UnboundedSender<Finished>,
    ) -> Self {
        let profiles = Arc::new(profiles);
        let recorder = |name: &str| (name.to_owned(), Recorder::new(client.clone(), name, ""));
        let queue = SchedulingQueue::new(SystemClock, profiles.clone()).with_backoff(options.configuration.backoff);
        Self {
            recorders: profiles.names().map(recorder).collect(),
            client,
            queue,
            profiles,
            pods,
            devices,
            extenders: Extenders::default(),
            cache: Cache::default(),
            snapshot: Snapshot::default(),
            refreshed: Instant::now(),
            nominated: Nominated::default(),
            finished,
            decisions: options.decisions.clone(),
            preempting: HashMap::new(),
            under_way: HashMap::new(),
            start: 0,
        }
    }

    /// Events about a pod come from its profile.
    fn recorder(&self, pod: &PodInfo) -> Option<&Recorder> {
        self.recorders.get(pod.spec().scheduler_name())
    }

    fn take_in(&mut self, input: Input) {
        match input {
            Input::Namespace(Event::Deleted(namespace)) => self.cache.remove_namespace(namespace.name()),
            Input::Namespace(Event::Added(namespace) | Event::Updated { new: namespace, .. }) => {
                self.cache.set_namespace(&namespace);
            }
            Input::Object(event) => {
                drop(self.devices.catch_up());
                self.queue.wake(&event.cluster_event());
            }
            Input::Node(event) => self.on_node(event),
            Input::Pod(event) => self.on_pod(event),
            Input::Finished(Finished::Binding(binding)) => self.on_binding(binding),
            Input::Finished(Finished::Errand { pod }) => self.queue.retry(&pod),
            Input::Finished(Finished::Preemption { preemptor, is_complete }) => {
                let was_tried = self.preempting.remove(&preemptor);
                // Its victims' going may have been reported before.
                if was_tried == Some(true) || !is_complete {
                    self.queue.retry(&preemptor);
                }
            }
        }
    }

    fn on_node(&mut self, event: Event<Node>) {
        let node = match event {
            Event::Deleted(node) => {
                let old = self.cache.node(node.name()).cloned();
                self.cache.remove_node(node.name());
                self.devices.forget_node(node.name());
                return old.iter().for_each(|old| self.queue.wake(&ClusterEvent::node_removed(old)));
            }
            // Heartbeats come every few seconds from every node and change nothing here.
            Event::Updated { old, new } if !differs(old.view(), new.view()) => return self.cache.refresh_node(new),
            Event::Added(node) | Event::Updated { new: node, .. } => node,
        };
        let old = self.cache.node(node.name()).cloned();
        self.cache.set_node(node.clone());
        let Some(new) = self.cache.node(node.name()) else { return };
        self.queue.wake(&match &old {
            Some(old) => ClusterEvent::node_updated(old, new),
            None => ClusterEvent::node_added(new),
        });
    }

    fn on_pod(&mut self, event: Event<Pod>) {
        match event {
            Event::Deleted(pod) => self.pod_gone(pod.uid()),
            Event::Added(pod) | Event::Updated { new: pod, .. } if is_terminal(pod.view()) => self.pod_gone(pod.uid()),
            Event::Added(pod) | Event::Updated { new: pod, .. } if !pod.view().spec().node_name().is_empty() => {
                self.pod_assigned(pod);
            }
            Event::Added(pod) => {
                if let Some(pod) = self.pod_waiting(pod) {
                    self.queue.add(pod);
                }
            }
            Event::Updated { new: pod, .. } => {
                if let Some(pod) = self.pod_waiting(pod) {
                    self.queue.update(pod);
                }
            }
        }
    }

    fn pod_assigned(&mut self, pod: SharedObject<Pod>) {
        let new = Arc::new(PodInfo::of(pod));
        self.queue.remove(&new.uid);
        self.nominated.remove(&new.uid);
        let old = self.cache.add_pod(new.clone());
        match old.filter(|old| old.is_assigned()) {
            None => self.queue.wake(&ClusterEvent::pod_added(&new)),
            // Of what changes on a node's pod only its size and its labels can help another.
            Some(old) if old.requests != new.requests || old.labels != new.labels => {
                self.queue.wake(&ClusterEvent::pod_updated(&old, &new));
            }
            Some(_) => {}
        }
    }

    /// The pod, if it is ours to find a node for.
    fn pod_waiting(&mut self, pod: SharedObject<Pod>) -> Option<Arc<PodInfo>> {
        // An event from before the binding says nothing about an assumed pod.
        if !self.profiles.contains(pod.view().spec().scheduler_name()) || self.cache.is_assumed(pod.uid()) {
            return None;
        }
        let pod = Arc::new(PodInfo::of(pod));
        self.nominated.set(&pod, pod.nominated_node_name());
        Some(pod)
    }

    fn pod_gone(&mut self, uid: &str) {
        self.queue.remove(uid);
        self.nominated.remove(uid);
        if let Some(gone) = self.under_way.get(uid) {
            gone.cancel();
        }
        if let Some(pod) = self.cache.remove_pod(uid) {
            self.queue.wake(&ClusterEvent::pod_removed(&pod));
        }
    }

    fn refresh(&mut self) {
        self.cache.update_snapshot(&mut self.snapshot);
        self.refreshed = Instant::now();
    }

    async fn schedule_one(&mut self) {
        let Some(QueuedPod { pod, rejected_by, .. }) = self.queue.pop() else { return };
        // A second search would find the same victims, who have not been told yet.
        if let Some(was_tried) = self.preempting.get_mut(&pod.uid) {
            *was_tried = true;
            self.queue.put_back(&pod.uid, Outcome::Waiting(rejected_by));
            return;
        }
        if pod.is_deleting {
            let message = format!("skip schedule deleting pod: {}/{}", pod.namespace(), pod.name());
            if let Some(recorder) = self.recorder(&pod) {
                recorder.warning(&pod.pod, "FailedScheduling", message);
            }
            return self.queue.done(&pod.uid);
        }
        self.refresh();
        let (framework, snapshot, nominated) = (self.profiles.of(&pod), &self.snapshot, &self.nominated);
        let decision = if self.extenders.is_empty() {
            cycle::decide(framework, snapshot, &pod, nominated, &mut self.start, &mut rand::rng())
        } else {
            cycle::decide_with(&self.extenders, framework, snapshot, &pod, nominated, &mut self.start).await
        };
        match decision {
            Ok(decision) => {
                let Decision { node, state, scored, diagnosis } = decision;
                self.decisions.placed(&pod, &node, scored, diagnosis, &self.snapshot);
                self.place(pod, node, state);
            }
            Err(refusal) => {
                let nothing = Diagnosis::default();
                let diagnosis = match &refusal.why {
                    NoFit::NoNodes | NoFit::Error(_) => &nothing,
                    NoFit::Unfit(error) => &error.diagnosis,
                };
                self.decisions.refused(&pod, &refusal.why.to_string(), diagnosis, &self.snapshot);
                self.refused(&pod, refusal);
            }
        }
    }

    /// Assumes the pod on its node and starts the binding.
    fn place(&mut self, pod: Arc<PodInfo>, node: Arc<str>, state: CycleState) {
        self.cache.assume_pod(pod.clone(), &node);
        self.nominated.remove(&pod.uid);
        let framework = self.profiles.of(&pod).clone();
        let permit = framework.reserve(&state, &pod, &node).and_then(|()| framework.permit(&state, &pod, &node));
        let wait = match permit {
            Ok(wait) => wait,
            Err(rejection) => {
                self.unreserve(&pod, &node, &state);
                self.cache.forget_pod(&pod.uid);
                if rejection.code == Code::Error {
                    let why = NoFit::Error(rejection.reasons.join(", "));
                    return self.refused(&pod, Refusal { why, post_filter: None });
                }
                let mut diagnosis = Diagnosis::default();
                let slot = self.snapshot.get(&node).map_or(u32::MAX, |node| node.slot);
                diagnosis.reject(slot, rejection);
                let why = NoFit::Unfit(Box::new(FitError { all_nodes: 1, diagnosis }));
                return self.refused(&pod, Refusal { why, post_filter: None });
            }
        };
        let (client, sender) = (self.client.clone(), self.finished.clone());
        let (recorder, extenders) = (self.recorder(&pod).cloned(), self.extenders.clone());
        let gone = CancellationToken::new();
        self.under_way.insert(pod.uid.clone(), gone.clone());
        tokio::spawn(async move {
            // A pod that has to wait is known by its node meanwhile (NominatedNodeNameForExpectation).
            let is_expected = !wait.is_zero() || framework.has_pre_bind_work(&state, &pod, &node);
            if is_expected && pod.nominated_node_name() != &*node {
                nominate(&client, &pod, Some(&node)).await;
            }
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            let context = BindContext { client: &client, recorder: recorder.as_ref(), extenders: &extenders };
            let result = framework.bind(&context, &state, &pod, &node, &gone).await;
            if result.is_err() && (is_expected || !pod.nominated_node_name().is_empty()) {
                nominate(&client, &pod, None).await;
            }
            // The receiver goes away only when the scheduler ends.
            let _ = sender.send(Finished::Binding(Binding { pod, node, state, result }));
        });
    }

    /// Takes back what plugins have reserved for a pod that is not bound after all.
    fn unreserve(&self, pod: &Arc<PodInfo>, node: &str, state: &CycleState) {
        for errand in self.profiles.of(pod).unreserve(state, pod, node) {
            self.start(errand, pod);
        }
    }

    fn start(&self, errand: Errand, pod: &PodInfo) {
        let (work, sender, uid) = (errand(self.client.clone()), self.finished.clone(), pod.uid.clone());
        tokio::spawn(async move {
            if let Err(error) = work.await {
                tracing::warn!(pod = &*uid, %error, "a request for a pod that has no node failed");
                let _ = sender.send(Finished::Errand { pod: uid });
            }
        });
    }

    fn on_binding(&mut self, binding: Binding) {
        let Binding { pod, node, state, result } = binding;
        self.under_way.remove(&pod.uid);
        match result {
            Ok(()) => {
                self.queue.done(&pod.uid);
                let message = format!("Successfully assigned {}/{} to {node}", pod.namespace(), pod.name());
                tracing::debug!("{message}");
                if let Some(recorder) = self.recorder(&pod) {
                    recorder.normal(&pod.pod, "Scheduled", message);
                }
            }
            Err(error) => {
                self.unreserve(&pod, &node, &state);
                self.cache.forget_pod(&pod.uid);
                // The room that it had assumed is free again.
                self.queue.wake(&ClusterEvent::pod_removed(&pod));
                let why = Reason { reason: "SchedulerError", message: error.to_string() };
                self.report_failure(&pod, why, Outcome::Error, None);
            }
        }
    }

    fn refused(&mut self, pod: &Arc<PodInfo>, refusal: Refusal) {
        let message = refusal.why.to_string();
        let plugins = match &refusal.why {
            NoFit::Error(_) => {
                let why = Reason { reason: "SchedulerError", message };
                self.nominated.remove(&pod.uid);
                return self.report_failure(pod, why, Outcome::Error, Some(String::new()));
            }
            NoFit::NoNodes => BTreeSet::new(),
            NoFit::Unfit(error) => error.diagnosis.plugins.clone(),
        };
        let mut nominated = Some(String::new());
        if let Some(result) = refusal.post_filter {
            if let Some(errand) = result.errand {
                self.start(errand, pod);
            }
            if let Some(preemption) = result.preemption {
                self.nominated.set(pod, &preemption.node);
                nominated = Some(preemption.node.clone());
                self.preempt(pod.clone(), preemption);
            } else if !result.clears_nomination {
                nominated = None;
            }
        }
        if nominated.as_deref() == Some("") {
            self.nominated.remove(&pod.uid);
        }
        let why = Reason { reason: "Unschedulable", message };
        self.report_failure(pod, why, Outcome::Unschedulable(plugins), nominated);
    }

    /// Puts the pod back and writes the reason to its status, unless it is gone or has a node
    /// by now.
    fn report_failure(&mut self, pod: &PodInfo, why: Reason, outcome: Outcome, nominated: Option<String>) {
        let current = self.pods.get(pod.namespace(), pod.name()).filter(|current| *current.uid() == *pod.uid);
        let Some(current) = current.filter(|current| current.view().spec().node_name().is_empty()) else {
            return self.queue.done(&pod.uid);
        };
        if !self.queue.put_back(&pod.uid, outcome) {
            return;
        }
        tracing::debug!(pod = %format_args!("{}/{}", pod.namespace(), pod.name()), why = %why.message, "not scheduled");
        if let Some(recorder) = self.recorder(pod) {
            recorder.warning(&current, "FailedScheduling", truncate(&why.message));
        }
        let patch = compute_status_patch(current.view(), &why, nominated.as_deref(), Timestamp::now());
        let Some(patch) = patch.map(Patch::Strategic) else { return };
        let client = self.client.clone();
        tokio::spawn(async move {
            let result = client.api::<Pod>(current.namespace()).patch_status(current.name(), &patch).await;
            if let Err(error) = result
                && !error.is_not_found()
            {
                tracing::warn!(pod = current.name(), %error, "cannot report why a pod is not scheduled");
            }
        });
    }

    /// Removes the victims of a preemption; their going wakes the pod they made room for.
    fn preempt(&mut self, preemptor: Arc<PodInfo>, preemption: Preemption) {
        let (client, sender) = (self.client.clone(), self.finished.clone());
        let recorder = self.recorder(&preemptor).cloned();
        // Less important pods that were promised the node may not fit there any more.
        let outdone = self.nominated.less_important(&preemption.node, preemptor.priority);
        outdone.iter().for_each(|pod| self.nominated.remove(&pod.uid));
        self.preempting.insert(preemptor.uid.clone(), false);
        tokio::spawn(async move {
            for pod in outdone {
                nominate(&client, &pod, None).await;
            }
            let mut is_complete = true;
            for victim in preemption.victims.iter().filter(|victim| !victim.is_deleting) {
                is_complete &= evict(&client, recorder.as_ref(), &preemptor, victim, &preemption.node).await;
            }
            let _ = sender.send(Finished::Preemption { preemptor: preemptor.uid.clone(), is_complete });
        });
    }
}
