//! A DaemonSet that is rolled out node by node while the control plane is killed.

use crate::cluster::{Cluster, Dice, within};
use crate::hollow::{Fate, NODES, furnish};
use crate::watcher::{Sight, watch};
use ferry_api::rules::pod::is_ready;
use ferry_api::view::apps::v1::DaemonSet;
use ferry_api::view::core::v1::Pod;
use ferry_client::{Patch, SharedObject};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const MAX_UNAVAILABLE: usize = 2;

fn agent() -> Value {
    json!({"metadata": {"name": "agent"}, "spec": {"selector": {"matchLabels": {"app": "agent"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": MAX_UNAVAILABLE, "maxSurge": 0}},
        "template": {"metadata": {"labels": {"app": "agent"}},
            "spec": {"containers": [{"name": "agent", "image": "registry.example/agent:1"}]}}}})
}

/// The daemon pods that are not being deleted, as a watch tells them.
#[derive(Default)]
struct Watched(BTreeMap<String, DaemonPod>);

struct DaemonPod {
    node: String,
    is_ready: bool,
    is_new: bool,
}

impl Watched {
    fn see(&mut self, sight: Sight<Pod>) {
        match sight {
            Sight::All(pods) => {
                self.0.clear();
                pods.iter().for_each(|pod| self.pod(pod));
            }
            Sight::Present(pod) => self.pod(&pod),
            Sight::Gone(pod) => drop(self.0.remove(pod.name())),
        }
    }

    fn pod(&mut self, pod: &SharedObject<Pod>) {
        if pod.is_deleting() {
            self.0.remove(pod.name());
            return;
        }
        let view = pod.view();
        let is_new = view.spec().containers().iter().all(|container| container.image().ends_with(":2"));
        let node = view.spec().node_name().to_owned();
        self.0.insert(pod.name().to_owned(), DaemonPod { node, is_ready: is_ready(view), is_new });
    }

    fn check(&self) {
        let available = self.0.values().filter(|pod| pod.is_ready).count();
        assert!(available >= NODES - MAX_UNAVAILABLE, "only {available} daemon pods are available");
        let bound = self.0.values().filter(|pod| !pod.node.is_empty());
        let nodes: BTreeSet<&str> = bound.clone().map(|pod| pod.node.as_str()).collect();
        assert_eq!(nodes.len(), bound.count(), "a node has two daemon pods");
    }

    fn count(&self, is_new: bool) -> usize {
        self.0.values().filter(|pod| pod.is_ready && pod.is_new == is_new).count()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_keeps_its_bounds_while_the_control_plane_is_killed() {
    const KILLS: usize = 5;
    let limit = Duration::from_secs(60);
    let mut dice = Dice::new();
    let mut cluster = Cluster::start().await;
    furnish(&cluster, |_| Fate::Runs).await;
    let client = cluster.client();
    let api = client.api::<DaemonSet>("default");
    let mut pods = watch::<Pod>(client.clone());
    let mut watched = Watched::default();
    api.create(&DaemonSet::from(agent())).await.expect("a set");
    let complete = async {
        while watched.count(false) < NODES {
            watched.see(pods.recv().await.expect("the watch goes on"));
        }
    };
    within(limit, "every node has its pod", complete).await;
    watched.check();
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "agent", "image": "registry.example/agent:2"}]}}}});
    api.patch("agent", &Patch::Strategic(image)).await.expect("a new template");
    let (mut kills, mut seen, mut kill_at) = (0, 0, dice.roll(8));
    let update = async {
        while watched.count(true) < NODES {
            watched.see(pods.recv().await.expect("the watch goes on"));
            watched.check();
            seen += 1;
            if seen >= kill_at && kills < KILLS {
                kills += 1;
                kill_at = seen + 1 + dice.roll(8);
                cluster.restart().await;
            }
        }
    };
    within(limit, "every node has its new pod", update).await;
    assert!(kills >= 2, "the control plane was killed {kills} times");
}
