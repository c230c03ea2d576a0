//! StatefulSets against an API in memory: the order of their pods holds while the controllers
//! are stopped and started at random, and so does the partition of an update.

use crate::harness::{Dice, new_api, start};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};

fn cluster() -> MemoryApi {
    let api = new_api();
    api.create(
        "nodes",
        json!({"metadata": {"name": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    );
    api
}

fn web(replicas: i64) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas, "serviceName": "web", "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}}],
        },
    })
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().expect("a name")
}

fn ordinal(pod: &Value) -> i64 {
    name(pod).rsplit_once('-').and_then(|(_, number)| number.parse().ok()).expect("an ordinal")
}

fn image(pod: &Value) -> &str {
    pod["spec"]["containers"][0]["image"].as_str().expect("an image")
}

fn is_ready(pod: &Value) -> bool {
    pod.pointer("/status/conditions/0/status") == Some(&json!("True"))
}

/// Plays the API server's part (a new pod is Pending), the kubelet's (it runs), and checks the
/// order at every look.
fn play(api: &MemoryApi) {
    let mut pods = api.list("pods");
    pods.sort_by_key(ordinal);
    // Every pod below one that is not ready must be ready: they come and go one at a time.
    let unready = pods.iter().filter(|pod| !is_ready(pod)).count();
    assert!(unready <= 1, "{unready} pods at once are not ready");
    for pod in pods {
        if pod.pointer("/status/phase").is_none() {
            api.edit("pods", "default", name(&pod), |pod| {
                pod["spec"]["nodeName"] = json!("n1");
                pod["status"] = json!({"phase": "Running", "conditions": [
                    {"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}]});
            });
        }
    }
}

fn status(api: &MemoryApi) -> Value {
    api.get("statefulsets", "default", "web").unwrap_or_default()["status"].clone()
}

fn edit_spec(api: &MemoryApi, change: impl FnOnce(&mut Value)) {
    api.edit("statefulsets", "default", "web", |set| {
        change(&mut set["spec"]);
        set["metadata"]["generation"] = json!(set["metadata"]["generation"].as_i64().unwrap_or(1) + 1);
    });
}

/// Plays the kubelet until `condition` holds, while the controllers are stopped and started.
async fn until_with_restarts(api: &MemoryApi, dice: &mut Dice, what: &str, condition: impl Fn(&MemoryApi) -> bool) {
    let mut guard = Some(start(api));
    let mut stop_at = api.calls("POST", "pods") + 1;
    while !condition(api) {
        let stop = api.calls("POST", "pods") + api.calls("DELETE", "pods") >= stop_at;
        if stop {
            drop(guard.take());
            // The old workers end at their next await; some of their writes still come.
            for _ in 0..dice.roll(20) {
                tokio::task::yield_now().await;
            }
            play(api);
            guard = Some(start(api));
            stop_at = api.calls("POST", "pods") + api.calls("DELETE", "pods") + 1 + dice.roll(6) as usize;
        }
        api.until(what, |api| {
            play(api);
            condition(api) || api.calls("POST", "pods") + api.calls("DELETE", "pods") >= stop_at
        })
        .await;
    }
}

#[tokio::test]
async fn order_and_partition_hold_while_the_controllers_are_restarted() {
    let api = cluster();
    let mut dice = Dice(42);
    api.create("statefulsets", web(20));
    until_with_restarts(&api, &mut dice, "20 pods are ready", |api| {
        api.list("pods").len() == 20 && api.list("pods").iter().all(is_ready)
    })
    .await;
    assert_eq!(api.list("persistentvolumeclaims").len(), 20);
    // An update above a partition of 15 leaves the pods below it alone.
    let before: Vec<Value> = api.list("pods").iter().filter(|pod| ordinal(pod) < 15).cloned().collect();
    edit_spec(&api, |spec| {
        spec["template"]["spec"]["containers"][0]["image"] = json!("v2");
        spec["updateStrategy"]["rollingUpdate"]["partition"] = json!(15);
    });
    until_with_restarts(&api, &mut dice, "the pods above the partition are new", |api| {
        let pods = api.list("pods");
        pods.len() == 20 && pods.iter().all(|pod| is_ready(pod) && (image(pod) == "v2") == (ordinal(pod) >= 15))
    })
    .await;
    for pod in &before {
        let now = api.get("pods", "default", name(pod)).expect("the pod is there");
        assert_eq!(now["metadata"]["uid"], pod["metadata"]["uid"], "{} was replaced", name(pod));
    }
    // A pod below the partition that is lost comes back as it was.
    api.delete("pods", "default", "web-3", "Background");
    until_with_restarts(&api, &mut dice, "web-3 is back", |api| {
        api.get("pods", "default", "web-3").is_some_and(|pod| is_ready(&pod))
    })
    .await;
    assert_eq!(api.get("pods", "default", "web-3").as_ref().map(image), Some("v1"));
    edit_spec(&api, |spec| spec["replicas"] = json!(2));
    until_with_restarts(&api, &mut dice, "two are left", |api| api.list("pods").len() == 2).await;
    let mut left: Vec<String> = api.list("pods").iter().map(|pod| name(pod).to_owned()).collect();
    left.sort();
    assert_eq!(left, ["web-0", "web-1"]);
    // The policy is Retain: the data outlives the pods.
    assert_eq!(api.list("persistentvolumeclaims").len(), 20);
}

#[tokio::test]
async fn a_set_reports_its_pods_and_its_revisions() {
    let api = cluster();
    let _guard = start(&api);
    api.create("statefulsets", web(2));
    let is_complete = |api: &MemoryApi| {
        play(api);
        status(api)["readyReplicas"] == json!(2)
    };
    api.until("two pods are ready", is_complete).await;
    let first = status(&api);
    assert_eq!(first["currentRevision"], first["updateRevision"]);
    let revision = first["updateRevision"].as_str().expect("a revision").to_owned();
    assert_eq!(
        first,
        json!({"observedGeneration": 1, "replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "currentReplicas": 2,
            "updatedReplicas": 2, "currentRevision": revision, "updateRevision": revision, "collisionCount": 0})
    );
    let pod = api.get("pods", "default", "web-1").expect("a pod");
    assert_eq!(
        pod["metadata"]["labels"],
        json!({"app": "web", "statefulset.kubernetes.io/pod-name": "web-1", "apps.kubernetes.io/pod-index": "1",
            "controller-revision-hash": revision})
    );
    assert_eq!((&pod["spec"]["hostname"], &pod["spec"]["subdomain"]), (&json!("web-1"), &json!("web")));
    // A rollback makes the old revision the latest again, and no third one.
    edit_spec(&api, |spec| spec["template"]["spec"]["containers"][0]["image"] = json!("v2"));
    api.until("the update is complete", |api| {
        play(api);
        let status = status(api);
        status["updateRevision"] != json!(revision) && status["currentRevision"] == status["updateRevision"]
    })
    .await;
    edit_spec(&api, |spec| spec["template"]["spec"]["containers"][0]["image"] = json!("v1"));
    api.until("the rollback is complete", |api| {
        play(api);
        status(api)["currentRevision"] == json!(revision) && api.list("pods").iter().all(|pod| image(pod) == "v1")
    })
    .await;
    let mut numbers: Vec<i64> =
        api.list("controllerrevisions").iter().filter_map(|revision| revision["revision"].as_i64()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [2, 3]);
    api.until("the events are written", |api| {
        let has = |text: &str| api.list("events").iter().any(|event| event["message"] == json!(text));
        has("Create Pod web-0 in StatefulSet web successful")
            && has("Create Claim data-web-0 Pod web-0 in StatefulSet web success")
            && has("Delete Pod web-1 in StatefulSet web successful")
    })
    .await;
}

#[tokio::test]
async fn a_stale_cache_makes_no_pod_twice_and_a_refusal_is_no_hot_loop() {
    let api = cluster();
    let mut set = web(3);
    set["spec"]["podManagementPolicy"] = json!("Parallel");
    let _guard = start(&api);
    api.hold("pods");
    api.create("statefulsets", set);
    api.until("three pods were made", |api| api.list("pods").len() == 3).await;
    for round in 0..20 {
        edit_spec(&api, |spec| spec["minReadySeconds"] = json!(round % 2));
        tokio::task::yield_now().await;
    }
    api.release("pods");
    api.until("all are counted", |api| status(api)["replicas"] == json!(3)).await;
    assert_eq!(api.calls("POST", "pods"), 3);
    api.refuse_creates_of("pods", true);
    let before = api.calls("POST", "pods");
    api.delete("pods", "default", "web-0", "Background");
    api.until("the refusal is told", |api| {
        api.list("events").iter().any(|event| {
            event["reason"] == json!("FailedCreate")
                && event["message"].as_str().is_some_and(|text| {
                    text.starts_with("Create Pod web-0 in StatefulSet web failed error: ")
                        && text.contains("exceeded quota")
                })
        })
    })
    .await;
    assert!(api.calls("POST", "pods") - before < 12, "the pauses grow");
    api.refuse_creates_of("pods", false);
    api.until("web-0 is back", |api| api.get("pods", "default", "web-0").is_some()).await;
}
