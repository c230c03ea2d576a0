//! Notices nodes that have gone silent and says so: conditions, taints, pods not ready.
//!
//! A kubelet renews its Lease every ten seconds. Each node is looked at when it changes
//! and when its time is up; a healthy cluster costs one look a node each grace period.
//! health.rs judges, taint.rs says which taints follow; the pods are taken away by
//! taint_eviction.rs. The reference is upstream's pkg/controller/nodelifecycle.

mod health;
mod taint;

use crate::Config;
use crate::error::{During, Result};
use crate::pod;
use crate::runner::{Action, Clock, Context, Controller, Key, Watch, event_versions};
use async_trait::async_trait;
use ferry_client::{Event, Informer, Informers, ListParams, Patch, reference};
use health::{Heartbeats, Judgement, judge, ready_status};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use taint::{Zones, plan_taints};

const LEASE_NAMESPACE: &str = "kube-node-lease";

/// One node a zone may be tainted for eviction in this time (upstream's rate of 0.1/s).
const EVICTION_INTERVAL: Duration = Duration::from_secs(10);

pub struct NodeLifecycleController {
    grace: Duration,
    startup_grace: Duration,
    heartbeats: Arc<Heartbeats>,
    known: Mutex<HashSet<String>>,
    /// When the next node of a zone may be tainted for eviction.
    next_eviction: Mutex<HashMap<String, Timestamp>>,
}

impl NodeLifecycleController {
    pub fn new(config: &Config) -> Self {
        Self {
            grace: config.node_monitor_grace_period,
            startup_grace: config.node_startup_grace_period,
            heartbeats: Arc::default(),
            known: Mutex::default(),
            next_eviction: Mutex::default(),
        }
    }

    fn note_presence(&self, ctx: &Context, name: &str, node: Option<&Node>) {
        let mut known = self.known.lock();
        match node {
            Some(node) if known.insert(name.to_owned()) => {
                let message = format!("Node {name} event: Registered Node {name} in Controller");
                ctx.recorder.normal(&reference(node), "RegisteredNode", message);
            }
            None if known.remove(name) => {
                let gone = Node {
                    metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                        name: Some(name.to_owned()),
                        ..Default::default()
                    },
                    ..Default::default()
                };
                let message = format!("Node {name} event: Removing Node {name} from Controller");
                ctx.recorder.normal(&reference(&gone), "RemovingNode", message);
            }
            _ => {}
        }
    }

    /// Whether the node may be tainted for eviction now, or how long it has to wait.
    fn take_turn(&self, zone: &str, now: Timestamp) -> Result<(), Duration> {
        let mut next = self.next_eviction.lock();
        match next.get(zone) {
            Some(next) if *next > now => Err(Duration::try_from(next.duration_since(now)).unwrap_or_default()),
            _ => {
                next.insert(zone.to_owned(), now.saturating_add(EVICTION_INTERVAL).unwrap_or(now));
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
        let (nodes, of_leases) = (informers.of::<Node>(), informers.of::<Node>());
        let (heartbeats, clock) = (self.heartbeats.clone(), Clock::system());
        vec![
            Watch::new(informers.of::<Node>(), move |event, enqueue| {
                let (old, new) = event_versions(event);
                let ready = |node: Option<&Arc<Node>>| node.map(|node| ready_status(node).map(str::to_owned));
                enqueue.add_object(&event.object().metadata);
                // Whether pods are evicted at all depends on how many nodes are well.
                if ready(old) != ready(new) && !matches!(event, Event::Added(_)) {
                    for node in nodes.list(None) {
                        enqueue.add_object(&node.metadata);
                    }
                }
            }),
            Watch::new(leases(informers), move |event, enqueue| {
                let lease = event.object();
                let name = lease.metadata.name.as_deref().unwrap_or_default();
                if matches!(event, Event::Deleted(_)) {
                    return;
                }
                let renewed = lease.spec.as_ref().and_then(|spec| spec.renew_time.clone());
                heartbeats.lease_renewed(name, renewed, clock.now());
                // A node that is well is looked at when its time is up, not at each beat.
                let is_well = of_leases.get("", name).is_none_or(|node| ready_status(&node) != Some("Unknown"));
                if !is_well {
                    enqueue.add(Key::new("", name));
                }
            }),
            Watch::new(informers.of::<Pod>(), {
                let nodes = informers.of::<Node>();
                move |event, enqueue| {
                    // A pod that arrives on a silent node must not look ready.
                    let name = pod::node_name(event.object());
                    let arrived = match event {
                        Event::Added(_) => true,
                        Event::Updated { old, .. } => pod::node_name(old) != name,
                        Event::Deleted(_) => false,
                    };
                    if arrived && nodes.get("", name).is_some_and(|node| ready_status(&node) == Some("Unknown")) {
                        enqueue.add(Key::new("", name));
                    }
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let node = ctx.informers.of::<Node>().get("", &key.name);
        self.note_presence(ctx, &key.name, node.as_deref());
        let Some(node) = node else {
            self.heartbeats.forget(&key.name);
            return Ok(Action::Done);
        };
        let now = ctx.now();
        let seen = self.heartbeats.last_seen(&node, now);
        let grace = if ready_status(&node).is_some() { self.grace } else { self.startup_grace };
        let left = match judge(&node, seen, grace, now) {
            Judgement::Alive { for_another } => for_another,
            Judgement::Silent { status: None } => None,
            Judgement::Silent { status: Some(status) } => {
                let was_ready = ready_status(&node) == Some("True");
                let mut silent = Node::clone(&node);
                silent.status = Some(*status);
                match ctx.client.replace_status("", &silent).await {
                    Err(error) if error.is_not_found() => return Ok(Action::Done),
                    other => drop(other.during("report the silence of node", key)?),
                }
                if was_ready {
                    let message = format!("Node {} status is now: NodeNotReady", key.name);
                    ctx.recorder.normal(&reference(&*node), "NodeNotReady", message);
                }
                // The change comes back as an event; taints and pods follow from it.
                return Ok(Action::Done);
            }
        };
        let turn = self.apply_taints(ctx, &node, now).await?;
        if ready_status(&node) == Some("Unknown") {
            mark_pods_not_ready(ctx, &key.name, now).await?;
        }
        Ok(Action::after(left.into_iter().chain(turn).min()))
    }
}

impl NodeLifecycleController {
    /// Returns how long to wait when it is not this node's turn to be emptied.
    async fn apply_taints(&self, ctx: &Context, node: &Node, now: Timestamp) -> Result<Option<Duration>> {
        let zones = Zones::of(&ctx.informers.of::<Node>().list(None));
        let zone = taint::zone(node);
        let mut plan = plan_taints(node, zones.may_evict(&zone), now);
        let mut wait = None;
        if plan.evicts
            && let Err(left) = self.take_turn(&zone, now)
        {
            plan = plan_taints(node, taint::Evictions::Held, now);
            wait = Some(left);
        }
        let Some(taints) = plan.taints else { return Ok(wait) };
        let name = node.metadata.name.as_deref().unwrap_or_default();
        // The list is replaced as a whole, so the revision it was read at must still hold.
        let patch =
            json!({"metadata": {"resourceVersion": node.metadata.resource_version}, "spec": {"taints": taints}});
        match ctx.client.patch::<Node>("", name, &Patch::Merge(patch)).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("taint node", name)?),
        }
        Ok(wait)
    }
}

/// Nobody else can say it for a kubelet that is silent; endpoints follow from it.
async fn mark_pods_not_ready(ctx: &Context, node: &str, now: Timestamp) -> Result<()> {
    for pod in ctx.informers.of::<Pod>().list(None) {
        if pod::node_name(&pod) != node || !pod::is_ready(&pod) {
            continue;
        }
        let key = Key::of(&pod.metadata);
        let patch = json!({"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": now},
        ]}});
        match ctx.client.patch_status::<Pod>(&key.namespace, &key.name, &Patch::Strategic(patch)).await {
            Err(error) if error.is_not_found() => continue,
            other => drop(other.during("mark as not ready the pod", &key)?),
        }
        ctx.recorder.warning(&reference(&*pod), "NodeNotReady", "Node is not ready");
    }
    Ok(())
}

fn leases(informers: &Informers) -> Informer<Lease> {
    let selector = format!("metadata.namespace={LEASE_NAMESPACE}");
    informers.with(ListParams { field_selector: Some(selector), ..Default::default() })
}
