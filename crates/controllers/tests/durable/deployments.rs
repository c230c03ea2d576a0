//! A Deployment that is rolled out while the control plane is killed again and again.

use crate::cluster::{Cluster, Dice, is_full_size, within};
use crate::hollow::{Fate, furnish};
use crate::watcher::{Sight, watch};
use ferry_api::rules::pod::is_ready;
use ferry_api::view::apps::v1::{Deployment, ReplicaSet};
use ferry_api::view::core::v1::Pod;
use ferry_client::{Patch, SharedObject};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;

/// A roll-out with its bounds.
struct Size {
    replicas: usize,
    max_surge: usize,
    max_unavailable: usize,
    kills: usize,
}

fn size() -> Size {
    match is_full_size() {
        true => Size { replicas: 1_000, max_surge: 250, max_unavailable: 250, kills: 12 },
        false => Size { replicas: 60, max_surge: 9, max_unavailable: 6, kills: 5 },
    }
}

fn deployment(size: &Size) -> Value {
    json!({"metadata": {"name": "web"}, "spec": {
        "replicas": size.replicas, "selector": {"matchLabels": {"app": "web"}}, "revisionHistoryLimit": 2,
        "strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": size.max_surge, "maxUnavailable": size.max_unavailable}},
        "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "registry.example/web:1"}]}}}})
}

/// The state of the world as the events of two watches tell it.
#[derive(Default)]
struct Watched {
    /// Whether each pod that is not being deleted is ready.
    pods: HashMap<String, bool>,
    /// The size that each set asks for and the one that it reports.
    sets: HashMap<String, (i32, i32)>,
    fewest_available: usize,
    most_pods: usize,
}

impl Watched {
    fn pods(&mut self, sight: Sight<Pod>) {
        match sight {
            Sight::All(pods) => {
                self.pods.clear();
                pods.iter().for_each(|pod| self.pod(pod));
            }
            Sight::Present(pod) => self.pod(&pod),
            Sight::Gone(pod) => drop(self.pods.remove(pod.name())),
        }
    }

    fn pod(&mut self, pod: &SharedObject<Pod>) {
        match pod.is_deleting() {
            true => self.pods.remove(pod.name()),
            false => self.pods.insert(pod.name().to_owned(), is_ready(pod.view())),
        };
    }

    fn sets(&mut self, sight: Sight<ReplicaSet>) {
        match sight {
            Sight::All(sets) => {
                self.sets.clear();
                sets.iter().for_each(|set| self.set(set));
            }
            Sight::Present(set) => self.set(&set),
            Sight::Gone(set) => drop(self.sets.remove(set.name())),
        }
    }

    fn set(&mut self, set: &SharedObject<ReplicaSet>) {
        let replicas = set.view().spec().replicas().unwrap_or(1);
        self.sets.insert(set.name().to_owned(), (replicas, set.view().status().replicas()));
    }

    /// The pods of each set.
    fn count(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        self.pods
            .keys()
            .for_each(|name| *counts.entry(name.rsplit_once('-').map_or("", |(set, _)| set)).or_default() += 1);
        counts
    }

    fn check(&mut self, size: &Size) {
        let available = self.pods.values().filter(|ready| **ready).count();
        self.fewest_available = self.fewest_available.min(available);
        self.most_pods = self.most_pods.max(self.pods.len());
        assert!(available >= size.replicas - size.max_unavailable, "only {available} pods are available");
        let planned: i32 = self.sets.values().map(|(wanted, _)| wanted).sum();
        assert!(planned as usize <= size.replicas + size.max_surge, "the sets ask for {planned} pods");
        assert!(
            self.pods.len() <= size.replicas + size.max_surge,
            "there are {:?} pods of {:?}",
            self.count(),
            self.sets
        );
    }
}

/// Waits until the Deployment of this generation or a later one is as it should be.
async fn until_complete(deployments: &mut UnboundedReceiver<Sight<Deployment>>, replicas: usize, generation: i64) {
    let is_complete = |deployment: &SharedObject<Deployment>| {
        let (meta, status) = (deployment.meta(), deployment.view().status());
        let counts = [status.replicas(), status.updated_replicas(), status.available_replicas()];
        meta.generation() >= generation
            && status.observed_generation() == meta.generation()
            && counts == [replicas as i32; 3]
    };
    while let Some(sight) = deployments.recv().await {
        let seen = match sight {
            Sight::All(deployments) => deployments,
            Sight::Present(deployment) => vec![deployment],
            Sight::Gone(_) => panic!("the deployment is gone"),
        };
        if seen.iter().any(is_complete) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_roll_out_keeps_its_bounds_while_the_control_plane_is_killed() {
    let size = size();
    let mut dice = Dice::new();
    let mut cluster = Cluster::start().await;
    furnish(&cluster, |_| Fate::Runs).await;
    let client = cluster.client();
    let api = client.api::<Deployment>("default");
    let mut deployments = watch::<Deployment>(client.clone());
    let limit = Duration::from_secs(if is_full_size() { 600 } else { 60 });
    api.create(&Deployment::from(deployment(&size))).await.expect("a deployment");
    let start = Instant::now();
    within(limit, "the deployment is complete", until_complete(&mut deployments, size.replicas, 1)).await;
    println!("{} replicas are available after {:?}", size.replicas, start.elapsed());

    let (mut pods, mut sets) = (watch::<Pod>(client.clone()), watch::<ReplicaSet>(client.clone()));
    let mut watched = Watched { fewest_available: usize::MAX, ..Default::default() };
    // The bounds hold from here on.
    watched.pods(pods.recv().await.expect("the pods"));
    watched.sets(sets.recv().await.expect("the sets"));
    watched.check(&size);
    let image =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "registry.example/web:2"}]}}}});
    let rolled = api.patch("web", &Patch::Strategic(image)).await.expect("a new template");
    let generation = rolled.meta().generation();

    let (mut kills, mut seen) = (0, 0);
    let events_of_a_roll_out = 6 * size.replicas as u64;
    let mut kill_at = dice.roll(events_of_a_roll_out / size.kills as u64) as usize;
    let rollout = async {
        loop {
            tokio::select! {
                Some(sight) = pods.recv() => {
                    watched.pods(sight);
                    seen += 1;
                }
                Some(sight) = sets.recv() => watched.sets(sight),
                () = until_complete(&mut deployments, size.replicas, generation) => break,
            }
            watched.check(&size);
            if seen >= kill_at && kills < size.kills {
                kills += 1;
                kill_at = seen + dice.roll(events_of_a_roll_out / size.kills as u64) as usize;
                cluster.restart().await;
            }
        }
    };
    within(limit, "the new template is rolled out", rollout).await;
    assert!(kills >= 2, "the control plane was killed {kills} times");
    println!("{kills} kills, at least {} available, at most {} pods", watched.fewest_available, watched.most_pods);
    let all = client.api::<Pod>("default").list(&Default::default()).await.expect("pods");
    let is_new = |pod: &SharedObject<Pod>| {
        pod.view().spec().containers().iter().all(|container| container.image() == "registry.example/web:2")
    };
    assert!(all.items.iter().filter(|pod| !pod.is_deleting()).all(is_new));
}
