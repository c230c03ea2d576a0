//! A StatefulSet that comes up and is updated in its order while the control plane is killed.

use crate::cluster::{Cluster, Dice, is_full_size, within};
use crate::hollow::{Fate, furnish};
use crate::watcher::{Sight, watch};
use ferry_api::rules::pod::is_ready;
use ferry_api::view::apps::v1::StatefulSet;
use ferry_api::view::core::v1::Pod;
use ferry_client::{Patch, SharedObject};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

fn set(replicas: usize) -> Value {
    json!({"metadata": {"name": "db"}, "spec": {
        "replicas": replicas, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}},
            "spec": {"terminationGracePeriodSeconds": 0,
                "containers": [{"name": "db", "image": "registry.example/db:1"}]}}}})
}

fn ordinal(pod: &SharedObject<Pod>) -> usize {
    pod.name().rsplit('-').next().and_then(|number| number.parse().ok()).expect("an ordinal")
}

fn image(pod: &SharedObject<Pod>) -> String {
    pod.view().spec().containers().iter().next().map(|container| container.image().to_owned()).unwrap_or_default()
}

/// Whether a pod is ready, and its image.
fn state(pod: &SharedObject<Pod>) -> (bool, String) {
    (is_ready(pod.view()) && !pod.is_deleting(), image(pod))
}

/// The pods as a watch tells them: ready or not, and their image.
#[derive(Default)]
struct Watched {
    pods: BTreeMap<usize, (bool, String)>,
    replicas: usize,
    /// Pods below keep the first image.
    partition: Option<usize>,
}

impl Watched {
    fn see(&mut self, sight: Sight<Pod>) {
        match sight {
            Sight::All(pods) => {
                self.pods = pods.iter().map(|pod| (ordinal(pod), state(pod))).collect();
            }
            Sight::Gone(pod) => drop(self.pods.remove(&ordinal(&pod))),
            Sight::Present(pod) => {
                let at = ordinal(&pod);
                if !self.pods.contains_key(&at) {
                    // A pod comes after all that stand before it are there and ready.
                    let before = self.pods.range(..at).filter(|(_, (ready, _))| *ready).count();
                    assert_eq!(before, at, "pod {at} was made while only {before} before it were ready");
                }
                self.pods.insert(at, state(&pod));
            }
        }
        self.check();
    }

    fn check(&self) {
        let waiting = self.pods.values().filter(|(ready, _)| !ready).count();
        assert!(waiting <= 1, "{waiting} pods at once are not ready");
        let Some(partition) = self.partition else { return };
        // An update goes from the last pod to the first: above every new one all are new.
        let new: Vec<usize> =
            self.pods.iter().filter(|(_, (_, image))| image.ends_with(":2")).map(|(at, _)| *at).collect();
        if let Some(first) = new.first() {
            assert!(*first >= partition, "pod {first} is below the partition {partition}");
            let above = self.pods.range(first..).filter(|(_, (_, image))| image.ends_with(":1")).count();
            assert!(above <= 1, "{above} pods above {first} were left out");
        }
    }

    fn count_new(&self) -> usize {
        self.pods.values().filter(|(ready, image)| *ready && image.ends_with(":2")).count()
    }

    fn count_ready(&self) -> usize {
        self.pods.values().filter(|(ready, _)| *ready).count()
    }
}

/// Follows the pods until `is_over`, and kills the control plane after a random number of events.
async fn follow(
    cluster: &mut Cluster,
    dice: &mut Dice,
    pods: &mut UnboundedReceiver<Sight<Pod>>,
    watched: &mut Watched,
    kills: usize,
    is_over: impl Fn(&Watched) -> bool,
) -> usize {
    let gap = (3 * watched.replicas / kills) as u64;
    let (mut killed, mut seen, mut kill_at) = (0, 0, dice.roll(gap) as usize);
    while let Some(sight) = pods.recv().await {
        seen += 1;
        watched.see(sight);
        if is_over(watched) {
            break;
        }
        if seen >= kill_at && killed < kills {
            killed += 1;
            kill_at = seen + 1 + dice.roll(gap) as usize;
            cluster.restart().await;
        }
    }
    killed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn order_and_partition_hold_while_the_control_plane_is_killed() {
    let (replicas, kills) = if is_full_size() { (100, 10) } else { (12, 3) };
    let limit = Duration::from_secs(if is_full_size() { 600 } else { 60 });
    let mut dice = Dice::new();
    let mut cluster = Cluster::start().await;
    furnish(&cluster, |_| Fate::Runs).await;
    let client = cluster.client();
    let api = client.api::<StatefulSet>("default");
    let mut pods = watch::<Pod>(client.clone());
    let mut watched = Watched { replicas, ..Default::default() };
    api.create(&StatefulSet::from(set(replicas))).await.expect("a set");
    let all =
        follow(&mut cluster, &mut dice, &mut pods, &mut watched, kills, |watched| watched.count_ready() == replicas);
    let mut killed = within(limit, "every pod is ready", all).await;

    for partition in [replicas / 2, 0] {
        watched.partition = Some(partition);
        let patch = json!({"spec": {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}},
            "template": {"spec": {"containers": [{"name": "db", "image": "registry.example/db:2"}]}}}});
        api.patch("db", &Patch::Strategic(patch)).await.expect("a new template");
        let wanted = replicas - partition;
        let some = follow(&mut cluster, &mut dice, &mut pods, &mut watched, kills, |watched| {
            watched.count_new() == wanted && watched.count_ready() == replicas
        });
        killed += within(limit, "the pods from the partition on are new", some).await;
    }
    assert!(killed >= 3, "the control plane was killed {killed} times");
    println!("{killed} kills");
}
