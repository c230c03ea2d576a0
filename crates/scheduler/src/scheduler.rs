//! The scheduler's loop: events from the watch fill the cache and the queue, and while
//! the queue has pods it decides about one after another.
//!
//! Decisions are made in this one task, so none sees a half-made other. Binding takes a
//! round trip and runs beside it; until it is confirmed the pod is assumed on its node.

use crate::Error;
use crate::cycle::{self, NoFit, Refusal};
use crate::fit_error::{Diagnosis, FitError};
use crate::framework::{ClusterEvent, CycleState, Framework, Nominated, Preemption};
use crate::plugins::all::all;
use crate::queue::{Outcome, QueuedPod, SchedulingQueue, SystemClock};
use crate::report::{Reason, compute_status_patch, render_victim_patch, truncate};
use crate::resources::compute_requests;
use crate::snapshot::{Cache, Snapshot};
use crate::view::{Node, Pod};
use ferry_client::{Client, DeleteParams, Event, Informer, Informers, ListParams, Patch, Recorder};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node as ApiNode, Pod as ApiPod};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The name that pods ask for us by, and that events carry.
const SCHEDULER_NAME: &str = "default-scheduler";

/// Schedules until `shutdown` is cancelled.
pub async fn run(client: Client, informers: Informers, shutdown: CancellationToken) {
    let pods: Informer<Pod> = informers.view::<ApiPod, Pod>(ListParams::default());
    let nodes: Informer<Node> = informers.view::<ApiNode, Node>(ListParams::default());
    tokio::select! {
        () = async { nodes.synced().await; pods.synced().await } => {}
        () = shutdown.cancelled() => return,
    }
    let (mut node_events, mut pod_events) = (nodes.subscribe(), pods.subscribe());
    let (sender, mut bindings) = mpsc::unbounded_channel();
    let mut scheduler = Scheduler::new(client, pods, sender);
    // What is known already comes first, so that the first decision sees all of it.
    while let Ok(event) = node_events.try_recv() {
        scheduler.on_node(event);
    }
    while let Ok(event) = pod_events.try_recv() {
        scheduler.on_pod(event);
    }
    loop {
        let deadline = scheduler.queue.next_deadline();
        tokio::select! {
            () = shutdown.cancelled() => return,
            event = node_events.recv() => match event {
                Some(event) => scheduler.on_node(event),
                None => return,
            },
            event = pod_events.recv() => match event {
                Some(event) => scheduler.on_pod(event),
                None => return,
            },
            Some(binding) = bindings.recv() => scheduler.on_binding(binding),
            () = sleep_until(deadline), if deadline.is_some() => scheduler.queue.flush(),
            () = std::future::ready(()), if scheduler.queue.has_active() => scheduler.schedule_one(),
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        tokio::time::sleep_until(deadline.into()).await;
    }
}

/// How a binding went.
struct Binding {
    pod: Arc<Pod>,
    node: String,
    state: CycleState,
    result: Result<(), Error>,
}

struct Scheduler {
    client: Client,
    recorder: Recorder,
    framework: Arc<Framework>,
    pods: Informer<Pod>,
    cache: Cache,
    snapshot: Snapshot,
    queue: SchedulingQueue<SystemClock>,
    nominated: Nominated,
    bindings: mpsc::UnboundedSender<Binding>,
    /// Where the next search through the nodes begins.
    start: usize,
}

impl Scheduler {
    fn new(client: Client, pods: Informer<Pod>, bindings: mpsc::UnboundedSender<Binding>) -> Self {
        let framework = Arc::new(Framework::new(all()));
        Self {
            recorder: Recorder::new(client.clone(), SCHEDULER_NAME, ""),
            client,
            queue: SchedulingQueue::new(SystemClock, framework.clone()),
            framework,
            pods,
            cache: Cache::default(),
            snapshot: Snapshot::default(),
            nominated: Nominated::default(),
            bindings,
            start: 0,
        }
    }

    fn on_node(&mut self, event: Event<Node>) {
        match event {
            Event::Added(node) => {
                self.cache.set_node(node.clone());
                self.queue.wake(&ClusterEvent::NodeAdded(&node));
            }
            // Heartbeats come every few seconds from every node and change nothing here.
            Event::Updated { old, new } => {
                if new.differs_from(&old) {
                    self.cache.set_node(new.clone());
                    self.queue.wake(&ClusterEvent::NodeUpdated { old: &old, new: &new });
                }
            }
            Event::Deleted(node) => self.cache.remove_node(node.name()),
        }
    }

    fn on_pod(&mut self, event: Event<Pod>) {
        match event {
            Event::Added(new) => self.pod_changed(None, new),
            Event::Updated { old, new } => {
                // A pod that was deleted and made anew under its name between two events.
                if old.uid() != new.uid() {
                    self.pod_gone(&old);
                    self.pod_changed(None, new);
                } else {
                    self.pod_changed(Some(&old), new);
                }
            }
            Event::Deleted(pod) => self.pod_gone(&pod),
        }
    }

    fn pod_changed(&mut self, old: Option<&Pod>, new: Arc<Pod>) {
        if new.is_finished() {
            return self.pod_gone(&new);
        }
        if new.is_assigned() {
            self.queue.remove(new.uid());
            self.nominated.remove(new.uid());
            self.cache.add_pod(&new);
            // Of what changes on a node's pod only its size can help another.
            if let Some(old) = old.filter(|old| old.is_assigned())
                && compute_requests(old) != compute_requests(&new)
            {
                self.queue.wake(&ClusterEvent::PodUpdated { old, new: &new });
            }
            return;
        }
        // An event from before the binding says nothing about an assumed pod.
        if new.spec.scheduler_name != SCHEDULER_NAME || self.cache.is_assumed(new.uid()) {
            return;
        }
        self.nominated.set(&new, &new.status.nominated_node_name);
        match old {
            Some(old) => self.queue.update(old, new),
            None => self.queue.add(new),
        }
    }

    fn pod_gone(&mut self, pod: &Pod) {
        self.queue.remove(pod.uid());
        self.nominated.remove(pod.uid());
        let held_room = pod.is_assigned() || self.cache.is_assumed(pod.uid());
        self.cache.remove_pod(pod.uid());
        if held_room {
            self.queue.wake(&ClusterEvent::PodRemoved(pod));
        }
    }

    fn schedule_one(&mut self) {
        let Some(QueuedPod { pod, .. }) = self.queue.pop() else { return };
        if pod.is_deleting() {
            let message = format!("skip schedule deleting pod: {}/{}", pod.namespace(), pod.name());
            self.recorder.warning(&pod.reference(), "FailedScheduling", message);
            return self.queue.done(pod.uid());
        }
        self.cache.update_snapshot(&mut self.snapshot);
        let decision =
            cycle::decide(&self.framework, &self.snapshot, &pod, &self.nominated, &mut self.start, &mut rand::rng());
        match decision {
            Ok(decision) => self.place(pod, decision.node, decision.state),
            Err(refusal) => self.refused(&pod, refusal),
        }
    }

    /// Assumes the pod on its node and starts the binding.
    fn place(&mut self, pod: Arc<Pod>, node: String, state: CycleState) {
        self.cache.assume_pod(&pod, &node);
        self.nominated.remove(pod.uid());
        let permit = self.framework.reserve(&state, &pod, &node).and_then(|()| {
            self.framework.permit(&state, &pod, &node).inspect_err(|_| self.framework.unreserve(&state, &pod, &node))
        });
        let wait = match permit {
            Ok(wait) => wait,
            Err(rejection) => {
                self.cache.forget_pod(pod.uid());
                let mut diagnosis = Diagnosis::default();
                diagnosis.reject(&node, rejection);
                let why = NoFit::Unfit(Box::new(FitError { all_nodes: 1, diagnosis }));
                return self.refused(&pod, Refusal { why, post_filter: None });
            }
        };
        let (client, framework, sender) = (self.client.clone(), self.framework.clone(), self.bindings.clone());
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            let result = framework.bind(&client, &pod, &node).await;
            // The receiver goes away only when the scheduler ends.
            let _ = sender.send(Binding { pod, node, state, result });
        });
    }

    fn on_binding(&mut self, binding: Binding) {
        let Binding { pod, node, state, result } = binding;
        match result {
            Ok(()) => {
                self.queue.done(pod.uid());
                tracing::info!(pod = %format_args!("{}/{}", pod.namespace(), pod.name()), %node, "bound");
                let message = format!("Successfully assigned {}/{} to {node}", pod.namespace(), pod.name());
                self.recorder.normal(&pod.reference(), "Scheduled", message);
            }
            Err(error) => {
                self.framework.unreserve(&state, &pod, &node);
                self.cache.forget_pod(pod.uid());
                // What it had assumed is free again.
                let mut freed = (*pod).clone();
                freed.spec.node_name = node;
                self.queue.wake(&ClusterEvent::PodRemoved(&freed));
                let why = Reason { reason: "SchedulerError", message: error.to_string() };
                self.tell_failure(&pod, why, Outcome::Error, None);
            }
        }
    }

    fn refused(&mut self, pod: &Arc<Pod>, refusal: Refusal) {
        let message = refusal.why.to_string();
        let plugins = match &refusal.why {
            NoFit::NoNodes => BTreeSet::new(),
            NoFit::Unfit(error) => error.diagnosis.plugins.clone(),
        };
        let mut nominated = Some(String::new());
        if let Some(result) = refusal.post_filter {
            if let Some(preemption) = result.preemption {
                self.nominated.set(pod, &preemption.node);
                nominated = Some(preemption.node.clone());
                self.preempt(pod.clone(), preemption);
            } else if !result.clears_nomination {
                nominated = None;
            }
        }
        if nominated.as_deref() == Some("") {
            self.nominated.remove(pod.uid());
        }
        let why = Reason { reason: "Unschedulable", message };
        self.tell_failure(pod, why, Outcome::Unschedulable(plugins), nominated);
    }

    /// Puts the pod back and tells it why, unless it is gone or has a node by now.
    fn tell_failure(&mut self, pod: &Pod, why: Reason, outcome: Outcome, nominated: Option<String>) {
        let current = self.pods.get(pod.namespace(), pod.name()).filter(|current| current.uid() == pod.uid());
        let Some(current) = current.filter(|current| !current.is_assigned()) else {
            return self.queue.done(pod.uid());
        };
        if !self.queue.put_back(pod.uid(), outcome) {
            return;
        }
        tracing::debug!(pod = %format_args!("{}/{}", pod.namespace(), pod.name()), why = %why.message, "not scheduled");
        self.recorder.warning(&current.reference(), "FailedScheduling", truncate(&why.message));
        let Some(patch) = compute_status_patch(&current, &why, nominated.as_deref(), Timestamp::now()) else { return };
        let client = self.client.clone();
        tokio::spawn(async move {
            let result =
                client.patch_status::<ApiPod>(current.namespace(), current.name(), &Patch::Strategic(patch)).await;
            if let Err(error) = result
                && !error.is_not_found()
            {
                tracing::warn!(pod = current.name(), %error, "cannot tell the pod why it is not scheduled");
            }
        });
    }

    /// Removes the victims of a preemption; their going wakes the pod they made room for.
    fn preempt(&self, preemptor: Arc<Pod>, preemption: Preemption) {
        let (client, recorder) = (self.client.clone(), self.recorder.clone());
        tokio::spawn(async move {
            for victim in preemption.victims.iter().filter(|victim| !victim.is_deleting) {
                let patch = render_victim_patch(&victim.uid, &preemptor, Timestamp::now());
                let told =
                    client.patch_status::<ApiPod>(&victim.namespace, &victim.name, &Patch::Strategic(patch)).await;
                let pod = match told {
                    Ok(pod) => pod,
                    Err(error) if error.is_not_found() => continue,
                    Err(error) => {
                        tracing::warn!(victim = victim.name, %error, "cannot tell a pod that it is preempted");
                        continue;
                    }
                };
                let params = DeleteParams { uid: Some(victim.uid.clone()), ..Default::default() };
                match client.delete::<ApiPod>(&victim.namespace, &victim.name, &params).await {
                    Ok(()) => {
                        let message = format!("Preempted by pod {} on node {}", preemptor.uid(), preemption.node);
                        recorder.normal(&ferry_client::reference(&pod), "Preempted", message);
                    }
                    Err(error) if error.is_not_found() => {}
                    Err(error) => tracing::warn!(victim = victim.name, %error, "cannot preempt a pod"),
                }
            }
        });
    }
}
