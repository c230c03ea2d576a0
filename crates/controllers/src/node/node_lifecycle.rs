//! Reports nodes that have gone silent: conditions, taints, pods that are not ready.
//!
//! A kubelet renews its Lease every ten seconds. Each node is looked at when it changes
//! and when its time is up; a healthy cluster costs one look a node each grace period.
//! health.rs judges, zone.rs counts the nodes that are well, taint.rs plans the
//! taints; the pods are taken away by taint_eviction.rs. The reference is upstream's
//! pkg/controller/nodelifecycle.
//!
//! | key | reconciled |
//! |---|---|
//! | `""`/node | when the node changes, when it is silent and its Lease is renewed, when its time is up, when its zone's evictions change |
//! | namespace/pod | when the pod arrives on a silent node, or its node becomes silent |

mod health;
mod taint;
mod zone;

use crate::Config;
use crate::error::{During, Result};
use crate::node_index::{by_node, on_node};
use crate::runner::{Action, Clock, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::pod;
use ferry_api::view::coordination::v1::Lease;
use ferry_api::view::core::v1::{Node, NodeView, Pod};
use ferry_client::{Event, Informer, Informers, ListParams, Patch, Reference, SharedObject};
use health::{Heartbeats, Judgement, is_silent, judge, ready_status};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use taint::plan_taints;
use zone::Zones;

const LEASE_NAMESPACE: &str = "kube-node-lease";

pub(crate) struct NodeLifecycleController {
    grace: Duration,
    startup_grace: Duration,
    clock: Clock,
    heartbeats: Arc<Heartbeats>,
    zones: Arc<Mutex<Zones>>,
    known: Mutex<HashSet<String>>,
    /// When the last node of a zone was tainted for eviction.
    last_eviction: Mutex<HashMap<String, Timestamp>>,
}

impl NodeLifecycleController {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            grace: config.node_monitor_grace_period,
            startup_grace: config.node_startup_grace_period,
            clock: config.clock.clone(),
            heartbeats: Arc::default(),
            zones: Arc::default(),
            known: Mutex::default(),
            last_eviction: Mutex::default(),
        }
    }

    /// Records an event for a node that is new or gone.
    fn note_presence(&self, ctx: &Context, name: &str, node: Option<&SharedObject<Node>>) {
        let mut known = self.known.lock();
        match node {
            Some(node) if known.insert(name.to_owned()) => {
                let message = format!("Node {name} event: Registered Node {name} in Controller");
                ctx.recorder.normal(node, "RegisteredNode", message);
            }
            None if known.remove(name) => {
                let gone = Reference {
                    api_version: "v1".to_owned(),
                    kind: "Node".to_owned(),
                    name: name.to_owned(),
                    ..Default::default()
                };
                let message = format!("Node {name} event: Removing Node {name} from Controller");
                ctx.recorder.normal(gone, "RemovingNode", message);
            }
            _ => {}
        }
    }

    /// Whether a node of the zone may be tainted for eviction now, or how long it has to wait.
    fn take_turn(&self, zone: &str, now: Timestamp) -> Result<(), Duration> {
        let interval = self.zones.lock().eviction_interval(zone);
        let mut evictions = self.last_eviction.lock();
        let elapsed = evictions.get(zone).map(|last| Duration::try_from(now.duration_since(*last)).unwrap_or_default());
        match elapsed.and_then(|elapsed| interval.checked_sub(elapsed)).filter(|left| !left.is_zero()) {
            Some(left) => Err(left),
            None => {
                evictions.insert(zone.to_owned(), now);
                Ok(())
            }
        }
    }
}

#[async_trait]
impl Controller for NodeLifecycleController {
    fn name(&self) -> &'static str {
        "node-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let nodes = informers.of::<Node>();
        let pods = by_node(informers.of::<Pod>());
        vec![
            Watch::new(nodes.clone(), {
                let (zones, pods) = (self.zones.clone(), pods.clone());
                move |event, enqueue| wake_for_node(event, &zones, &pods, enqueue)
            }),
            Watch::new(leases(informers), {
                let (heartbeats, clock, nodes) = (self.heartbeats.clone(), self.clock.clone(), nodes.clone());
                move |event, enqueue| {
                    if matches!(event, Event::Deleted(_)) {
                        return;
                    }
                    let lease = event.object();
                    heartbeats.lease_renewed(lease.name(), lease.view().spec().renew_time(), clock.now());
                    // A node that is well is looked at when its time is up, not at each beat.
                    if nodes.get("", lease.name()).is_some_and(|node| is_silent(node.view())) {
                        enqueue.add(Key::new("", lease.name()));
                    }
                }
            }),
            Watch::new(pods, move |event, enqueue| {
                // A pod that arrives on a silent node must not look ready.
                let pod = event.object();
                let name = pod.view().spec().node_name();
                let arrived = match event {
                    Event::Added(_) => true,
                    Event::Updated { old, .. } => old.view().spec().node_name() != name,
                    Event::Deleted(_) => false,
                };
                if arrived && nodes.get("", name).is_some_and(|node| is_silent(node.view())) {
                    enqueue.add_object(pod.meta());
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        // Nodes have no namespace and pods always have one.
        if !key.namespace.is_empty() {
            return mark_pod_not_ready(ctx, key).await.map(|()| Action::Done);
        }
        let node = ctx.informers.of::<Node>().get("", &key.name);
        self.note_presence(ctx, &key.name, node.as_ref());
        let Some(node) = node else {
            self.heartbeats.forget(&key.name);
            return Ok(Action::Done);
        };
        let now = ctx.now();
        let seen = self.heartbeats.last_seen(node.view(), now);
        let ready = ready_status(node.view());
        let grace = if ready.is_some() { self.grace } else { self.startup_grace };
        let left = match judge(node.view(), seen, grace, now) {
            Judgement::Alive { for_another } => for_another,
            Judgement::Silent { status: None } => None,
            Judgement::Silent { status: Some(status) } => {
                let mut silent = node.to_owned();
                silent.set_status(status);
                match ctx.client.api("").replace_status(&silent).await {
                    Err(error) if error.is_not_found() => return Ok(Action::Done),
                    other => drop(other.during("report the silence of node", key)?),
                }
                if ready == Some("True") {
                    let message = format!("Node {} status is now: NodeNotReady", key.name);
                    ctx.recorder.normal(&node, "NodeNotReady", message);
                }
                // The change comes back as an event; taints and pods follow from it.
                return Ok(Action::Done);
            }
        };
        let turn = self.apply_taints(ctx, node.view(), now).await?;
        Ok(Action::after(left.into_iter().chain(turn).min()))
    }
}

impl NodeLifecycleController {
    /// Returns how long to wait when it is not this node's turn to be emptied.
    async fn apply_taints(&self, ctx: &Context, node: NodeView<'_>, now: Timestamp) -> Result<Option<Duration>> {
        let zone = zone::name(node);
        let evictions = self.zones.lock().may_evict(&zone);
        let mut plan = plan_taints(node, evictions, now);
        let mut wait = None;
        if plan.evicts
            && let Err(left) = self.take_turn(&zone, now)
        {
            plan = plan_taints(node, taint::Evictions::Held, now);
            wait = Some(left);
        }
        let Some(taints) = plan.taints else { return Ok(wait) };
        let (name, version) = (node.metadata().name(), node.metadata().resource_version());
        // The list is replaced as a whole, so the revision it was read at must still hold.
        let taints: Vec<Value> = taints.into_iter().map(Value::from).collect();
        let patch = json!({"metadata": {"resourceVersion": version}, "spec": {"taints": taints}});
        match ctx.client.api::<Node>("").patch(name, &Patch::Merge(patch)).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("taint node", name)?),
        }
        Ok(wait)
    }
}

fn wake_for_node(event: &Event<Node>, zones: &Mutex<Zones>, pods: &Informer<Pod>, enqueue: &Enqueue) {
    let node = event.object();
    let (old, new) = event.versions();
    let affected = zones.lock().observe(node.name(), new.map(SharedObject::view));
    enqueue.add_object(node.meta());
    for name in affected {
        enqueue.add(Key::new("", name));
    }
    let is_silent = |node: Option<&SharedObject<Node>>| node.is_some_and(|node| is_silent(node.view()));
    if is_silent(new) && !is_silent(old) {
        for pod in on_node(pods, node.name()) {
            enqueue.add_object(pod.meta());
        }
    }
}

/// Reports a ready pod of a silent node as not ready, since its kubelet cannot; endpoints
/// follow from it.
async fn mark_pod_not_ready(ctx: &Context, key: &Key) -> Result<()> {
    let informers = &ctx.informers;
    let pod = informers.of::<Pod>().get(&key.namespace, &key.name);
    let Some(pod) = pod.filter(|pod| pod::is_ready(pod.view())) else { return Ok(()) };
    let node = informers.of::<Node>().get("", pod.view().spec().node_name());
    if !node.is_some_and(|node| is_silent(node.view())) {
        return Ok(());
    }
    let patch = json!({"metadata": {"uid": pod.uid()}, "status": {"conditions": [
        {"type": "Ready", "status": "False", "lastTransitionTime": ctx.now()},
    ]}});
    match ctx.client.api::<Pod>(&key.namespace).patch_status(&key.name, &Patch::Strategic(patch)).await {
        Err(error) if error.is_not_found() => return Ok(()),
        other => drop(other.during("mark as not ready the pod", key)?),
    }
    ctx.recorder.warning(&pod, "NodeNotReady", "Node is not ready");
    Ok(())
}

fn leases(informers: &Informers) -> Informer<Lease> {
    let selector = format!("metadata.namespace={LEASE_NAMESPACE}");
    informers.with(ListParams { field_selector: Some(selector), ..Default::default() })
}
