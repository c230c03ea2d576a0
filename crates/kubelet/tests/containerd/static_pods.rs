//! Static pods on a real runtime: with their mirrors, over changes of the manifest, over a new
//! kubelet, and without the API.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, Machine};
use super::{Kubelet, LIMIT, NODE, assert_nothing_left, first, is_ready, wait_for, wait_gone};
use crate::support::eventually;
use ferry_kubelet::static_pods::manifest::PodRules;
use ferry_kubelet_config::KubeletConfiguration;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The defaults that these pods need.
#[derive(Debug)]
struct FewDefaults;

impl PodRules for FewDefaults {
    fn complete(&self, pod: &mut Value) -> Vec<String> {
        pod["spec"]["enableServiceLinks"] = json!(false);
        pod["spec"]["terminationGracePeriodSeconds"] = json!(0);
        Vec::new()
    }
}

fn manifests(machine: &Machine) -> PathBuf {
    machine.directory.join("manifests")
}

fn config(machine: &Machine) -> ferry_kubelet::Config {
    let mut config = machine.config(NODE);
    let text = format!(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nstaticPodPath: {}\nnodeStatusUpdateFrequency: 1s\n",
        manifests(machine).display()
    );
    let parsed = KubeletConfiguration::parse(&text, &config.surroundings()).expect("a good file");
    config.configure(parsed);
    config.pod_rules = Some(Arc::new(FewDefaults));
    config
}

fn write(machine: &Machine, name: &str, words: &[&str]) {
    let manifest = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
        "spec": { "containers": [{ "name": "c", "image": IMAGE, "args": words }] } });
    std::fs::create_dir_all(manifests(machine)).expect("made");
    std::fs::write(manifests(machine).join(format!("{name}.json")), manifest.to_string()).expect("written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn static_pods_run_with_their_mirrors_and_outlive_the_kubelet() {
    let machine = Machine::start("static").await;
    let api = FakeApi::new();
    write(&machine, "web", &["pause"]);
    std::fs::write(manifests(&machine).join("bad.yaml"), "kind: {").expect("written");
    let kubelet = Kubelet::start_with(config(&machine), &api).await;

    let mirror = wait_for(&api, "web-node-a", "ready", is_ready).await;
    let annotations = &mirror["metadata"]["annotations"];
    let hash = annotations["kubernetes.io/config.hash"].as_str().expect("a hash").to_owned();
    assert_eq!(annotations["kubernetes.io/config.mirror"], hash);
    assert_eq!(annotations["kubernetes.io/config.source"], "file");
    assert!(annotations["kubernetes.io/config.seen"].is_string());
    let owner = &mirror["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["kind"], &owner["name"], &owner["controller"]), (&json!("Node"), &json!(NODE), &json!(true)));
    let id = first(&mirror)["containerID"].clone();
    let logs = machine.directory.join(format!("logs/default_web-node-a_{hash}/c/0.log"));
    eventually("a log", LIMIT, || std::fs::metadata(&logs).map(drop).map_err(|error| error.to_string())).await;

    // A mirror that is deleted comes back, and the pod runs on.
    let uid = mirror["metadata"]["uid"].clone();
    api.delete_pod("default", "web-node-a", 30);
    let again =
        wait_for(&api, "web-node-a", "another mirror", |pod| pod["metadata"]["uid"] != uid && is_ready(pod)).await;
    assert_eq!((&first(&again)["containerID"], &first(&again)["restartCount"]), (&id, &json!(0)));

    // A new kubelet adopts it.
    kubelet.stop().await;
    let kubelet = Kubelet::start_with(config(&machine), &api).await;
    let adopted = wait_for(&api, "web-node-a", "still ready", is_ready).await;
    assert_eq!((&first(&adopted)["containerID"], &first(&adopted)["restartCount"]), (&id, &json!(0)));
    assert_eq!(adopted["metadata"]["uid"], again["metadata"]["uid"]);

    // Another text is another pod, which starts when the old one has ended.
    write(&machine, "web", &["serve", "8080", "/program"]);
    let changed = |pod: &Value| pod["metadata"]["annotations"]["kubernetes.io/config.hash"] != hash && is_ready(pod);
    wait_for(&api, "web-node-a", "the new pod", changed).await;
    assert_eq!(machine.containers().len(), 2, "a sandbox and its container");

    // So does a text that changes while no kubelet looks.
    kubelet.stop().await;
    write(&machine, "web", &["pause"]);
    let kubelet = Kubelet::start_with(config(&machine), &api).await;
    let back = |pod: &Value| pod["metadata"]["annotations"]["kubernetes.io/config.hash"] == hash && is_ready(pod);
    wait_for(&api, "web-node-a", "the first text again", back).await;
    eventually("one pod", LIMIT, || match machine.containers().len() {
        2 => Ok(()),
        count => Err(count.to_string()),
    })
    .await;

    std::fs::remove_file(manifests(&machine).join("web.json")).expect("removed");
    wait_gone(&api, "web-node-a").await;
    eventually("nothing runs", LIMIT, || match machine.containers().as_slice() {
        [] => Ok(()),
        left => Err(format!("{left:?}")),
    })
    .await;
    kubelet.stop().await;
    assert_nothing_left(&machine);
}
