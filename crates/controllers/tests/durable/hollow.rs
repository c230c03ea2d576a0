//! Hollow nodes: scheduler and kubelet in one, without containers. A pod is bound to a node, runs
//! at once, ends as its fate says, and goes when it is deleted.

use crate::cluster::Cluster;
use async_trait::async_trait;
use ferry_api::rules::node_selector::required_affinity;
use ferry_api::rules::pod::is_terminal;
use ferry_api::view::core::v1::{Binding, Pod, PodView};

use ferry_client::{DeleteParams, Informers, Patch, Recorder, SharedObject};
use ferry_controllers::runner::{Action, Clock, Context, Controller, Key, Watch, run_controller};
use ferry_controllers::{Error, Result};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

pub const NODES: usize = 10;

/// The end of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Runs,
    Succeeds,
    Fails,
}

type Decide = fn(PodView<'_>) -> Fate;

struct Hollow {
    fate: Decide,
}

/// Creates the nodes and plays their kubelets until the cluster goes.
pub async fn furnish(cluster: &Cluster, fate: Decide) {
    let client = cluster.client();
    for n in 0..NODES {
        let quantities = json!({"cpu": "64", "memory": "256Gi", "pods": "500"});
        let node = json!({"metadata": {"name": format!("hollow-{n}")}, "status": {"capacity": quantities,
            "allocatable": quantities, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}});
        client.api("").create(&ferry_api::view::core::v1::Node::from(node)).await.expect("a node");
    }
    let informers = cluster.informers();
    let recorder = Recorder::new(client.clone(), "hollow", "");
    let context = Context { client, informers, recorder, clock: Clock::system() };
    let running = run_controller(Arc::new(Hollow { fate }), context, Default::default(), cluster.shutdown());
    tokio::spawn(async move { running.await.expect("hollow kubelets do not panic") });
}

#[async_trait]
impl Controller for Hollow {
    fn name(&self) -> &'static str {
        "hollow-kubelets"
    }

    fn workers(&self) -> usize {
        16
    }

    /// The server may be down for a moment only.
    fn longest_pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(informers.of::<Pod>())]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(pod) = ctx.informers.of::<Pod>().get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let done = self.act(ctx, &pod).await;
        match done {
            // Our copy is late: the pod is another by now, or gone.
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(Action::Done),
            other => other.map(|()| Action::Done).map_err(|error| Error::Retry(error.to_string())),
        }
    }
}

impl Hollow {
    async fn act(&self, ctx: &Context, pod: &SharedObject<Pod>) -> Result<(), ferry_client::Error> {
        let api = ctx.client.api::<Pod>(pod.namespace());
        let (view, name) = (pod.view(), pod.name());
        if pod.is_deleting() {
            let params =
                DeleteParams { grace_period_seconds: Some(0), uid: Some(pod.uid().to_owned()), ..Default::default() };
            return api.delete(name, &params).await;
        }
        if view.spec().node_name().is_empty() {
            let any = || format!("hollow-{}", fingerprint(pod.uid()) % NODES as u64);
            let node = pinned_to(view).map_or_else(any, str::to_owned);
            let binding =
                json!({"metadata": {"name": name, "uid": pod.uid()}, "target": {"kind": "Node", "name": node}});
            return api.create_subresource::<Binding>(name, "binding", &binding).await.map(drop);
        }
        let fate = (self.fate)(view);
        let status = match (view.status().phase(), fate) {
            ("Pending", _) => running(),
            ("Running", Fate::Succeeds) => json!({"phase": "Succeeded"}),
            ("Running", Fate::Fails) => json!({"phase": "Failed"}),
            _ => return Ok(()),
        };
        debug_assert!(!is_terminal(view), "a pod that has ended stays as it is");
        let patch = json!({"metadata": {"uid": pod.uid()}, "status": status});
        api.patch_status(name, &Patch::Strategic(patch)).await.map(drop)
    }
}

/// The node that a daemon pod is made for.
fn pinned_to(pod: PodView<'_>) -> Option<&str> {
    let terms = required_affinity(pod.spec())?.node_selector_terms();
    terms.iter().flat_map(|term| term.match_fields()).flat_map(|field| field.values()).next()
}

fn running() -> Value {
    let now = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).expect("a time");
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now});
    json!({"phase": "Running", "startTime": now, "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}],
        "conditions": [condition("Initialized"), condition("ContainersReady"), condition("Ready")]})
}

/// A number that a text always has.
pub fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(14_695_981_039_346_656_037, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211))
        >> 16
}
