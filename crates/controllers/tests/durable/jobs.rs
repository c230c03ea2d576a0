//! A Job whose pods fail now and then, counted while the control plane is killed.

use crate::cluster::{Cluster, Dice, is_full_size, within};
use crate::hollow::{Fate, fingerprint, furnish};
use ferry_api::rules::condition;
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::Pod;
use ferry_client::SharedObject;
use serde_json::json;
use std::time::Duration;

/// Every fifth pod fails.
fn fate(uid: &str) -> Fate {
    if fingerprint(uid).is_multiple_of(5) { Fate::Fails } else { Fate::Succeeds }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_pod_is_counted_once_while_the_control_plane_is_killed() {
    let (completions, parallelism, kills) = if is_full_size() { (1_000, 100, 12) } else { (80, 12, 5) };
    let limit = Duration::from_secs(if is_full_size() { 600 } else { 60 });
    let mut dice = Dice::new();
    let mut cluster = Cluster::start().await;
    furnish(&cluster, |pod| fate(pod.metadata().uid())).await;
    let client = cluster.client();
    let informers = cluster.informers();
    let jobs = informers.of::<Job>();
    jobs.synced().await;
    let mut events = jobs.subscribe();
    let job = json!({"metadata": {"name": "sum"}, "spec": {"completions": completions, "parallelism": parallelism,
        "backoffLimit": completions, "template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "sum", "image": "registry.example/sum:1"}]}}}});
    client.api::<Job>("default").create(&Job::from(job)).await.expect("a job");

    let (mut counted, mut killed) = ((0, 0), 0);
    let mut kill_at = dice.roll(completions as u64 / kills) as i32;
    let run = async {
        while let Some(event) = events.recv().await {
            let Some(job) = event.versions().1 else { panic!("the job is gone") };
            let status = job.view().status();
            let now = (status.succeeded(), status.failed());
            assert!(now.0 >= counted.0 && now.1 >= counted.1, "{now:?} comes after {counted:?}");
            assert!(now.0 <= completions, "{} completions", now.0);
            counted = now;
            if condition::is_true(status.conditions(), "Complete") {
                return;
            }
            assert!(!condition::is_true(status.conditions(), "Failed"), "the job failed: {counted:?}");
            if now.0 + now.1 >= kill_at && killed < kills {
                killed += 1;
                kill_at = now.0 + now.1 + 1 + dice.roll(completions as u64 / kills) as i32;
                cluster.restart().await;
            }
        }
    };
    within(limit, "the job is complete", run).await;
    assert!(killed >= 2, "the control plane was killed {killed} times");
    let pods = client.api::<Pod>("default").list(&Default::default()).await.expect("pods").items;
    let count = |phase: &str| pods.iter().filter(|pod| pod.view().status().phase() == phase).count() as i32;
    assert_eq!(counted, (count("Succeeded"), count("Failed")), "what was counted and what there is");
    assert_eq!(counted.0, completions);
    assert!(counted.1 > 0, "no pod failed");
    let is_tracked = |pod: &&SharedObject<Pod>| pod.meta().finalizers().contains("batch.kubernetes.io/job-tracking");
    assert_eq!(pods.iter().filter(is_tracked).count(), 0, "a counted pod has no finalizer any more");
    println!("{killed} kills, {counted:?} counted");
}
