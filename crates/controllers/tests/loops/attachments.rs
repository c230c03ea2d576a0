//! CSI volumes against an API in memory, with the test as the driver's attacher and as kubelet:
//! attached where pods are, detached when nodes have let go, and never given to two nodes.

use crate::harness::{Dice, has_event, new_api, paused_clock, start, start_with};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

const DRIVER: &str = "csi.example.com";
const UNIQUE: &str = "kubernetes.io/csi/csi.example.com^handle-data";

fn node(api: &MemoryApi, name: &str) {
    api.create(
        "nodes",
        json!({"metadata": {"name": name, "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    );
}

/// A claim and a volume that are bound to each other.
fn volume(api: &MemoryApi, name: &str, modes: Value) {
    let claim = api.create(
        "persistentvolumeclaims",
        json!({"metadata": {"name": name, "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            "spec": {"volumeName": format!("pv-{name}"), "accessModes": modes, "storageClassName": "",
                "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"phase": "Bound", "accessModes": modes, "capacity": {"storage": "1Gi"}}}),
    );
    api.create(
        "persistentvolumes",
        json!({"metadata": {"name": format!("pv-{name}")}, "status": {"phase": "Bound"}, "spec": {
            "accessModes": modes, "capacity": {"storage": "1Gi"}, "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": DRIVER, "volumeHandle": format!("handle-{name}")},
            "claimRef": {"namespace": "default", "name": name, "uid": claim["metadata"]["uid"]}}}),
    );
}

fn pod(api: &MemoryApi, name: &str, node: &str, claim: &str) {
    api.create(
        "pods",
        json!({"metadata": {"name": name, "namespace": "default"}, "status": {"phase": "Running"}, "spec": {
            "nodeName": node, "containers": [{"name": "c"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]}}),
    );
}

/// Plays the driver's attacher: attaches what is asked for and lets go of what is deleted.
fn play_attacher(api: &MemoryApi) {
    for attachment in api.list("volumeattachments") {
        let name = attachment["metadata"]["name"].as_str().expect("a name").to_owned();
        let is_leaving = attachment["metadata"].get("deletionTimestamp").is_some();
        if is_leaving {
            api.edit("volumeattachments", "", &name, |attachment| attachment["metadata"]["finalizers"] = json!([]));
        } else if attachment["status"]["attached"] != true {
            api.edit("volumeattachments", "", &name, |attachment| {
                attachment["metadata"]["finalizers"] = json!(["external-attacher/csi-example-com"]);
                attachment["status"] = json!({"attached": true});
            });
        }
    }
}

async fn until(api: &MemoryApi, what: &str, condition: impl Fn(&MemoryApi) -> bool) {
    api.until(what, |api| {
        play_attacher(api);
        condition(api)
    })
    .await;
}

/// The volumes that a node reports as attached.
fn reported(api: &MemoryApi, node: &str) -> Vec<String> {
    let node = api.get("nodes", "", node).unwrap_or_default();
    let list = node["status"]["volumesAttached"].as_array().cloned().unwrap_or_default();
    list.iter().map(|volume| volume["name"].as_str().expect("a name").to_owned()).collect()
}

/// The nodes that have attachments, whatever their state.
fn attached_to(api: &MemoryApi) -> Vec<String> {
    let list = api.list("volumeattachments");
    let mut nodes: Vec<String> =
        list.iter().map(|attachment| attachment["spec"]["nodeName"].as_str().expect("a node").to_owned()).collect();
    nodes.sort();
    nodes
}

fn set_in_use(api: &MemoryApi, node: &str, volumes: Value) {
    api.edit("nodes", "", node, |node| node["status"]["volumesInUse"] = volumes);
}

#[tokio::test]
async fn a_volume_follows_its_pod_from_node_to_node() {
    let api = new_api();
    node(&api, "a");
    node(&api, "b");
    volume(&api, "data", json!(["ReadWriteOnce"]));
    let _running = start(&api);
    pod(&api, "first", "a", "data");
    until(&api, "the volume is reported by its node", |api| reported(api, "a") == [UNIQUE]).await;
    let attachment = api.list("volumeattachments").remove(0);
    assert_eq!(
        attachment["spec"],
        json!({"attacher": DRIVER, "nodeName": "a", "source": {"persistentVolumeName": "pv-data"}})
    );
    let name = attachment["metadata"]["name"].as_str().expect("a name");
    assert!(name.starts_with("csi-") && name.len() == 68, "{name}");
    until(&api, "the pod is told", |api| {
        has_event(api, "SuccessfulAttachVolume", "AttachVolume.Attach succeeded for volume \"pv-data\" ")
    })
    .await;
    set_in_use(&api, "a", json!([UNIQUE]));
    // The second pod must wait for the first, and then for the kubelet of its node.
    pod(&api, "second", "b", "data");
    let used = "Waiting for detach for volume \"pv-data\" Volume is already used by pod(s) first";
    until(&api, "the second pod is told who has the volume", |api| has_event(api, "FailedAttachVolume", used)).await;
    api.delete("pods", "default", "first", "Background");
    pod(&api, "third", "b", "data");
    api.until("the claim is looked at again", |api| api.get("pods", "default", "first").is_none()).await;
    assert_eq!((attached_to(&api), reported(&api, "a")), (vec!["a".to_owned()], vec![UNIQUE.to_owned()]));
    set_in_use(&api, "a", json!([]));
    until(&api, "the volume has moved", |api| reported(api, "b") == [UNIQUE]).await;
    assert_eq!((attached_to(&api), reported(&api, "a").len()), (vec!["b".to_owned()], 0));
}

#[tokio::test]
async fn a_driver_that_attaches_nothing_is_left_in_peace() {
    let api = new_api();
    node(&api, "a");
    volume(&api, "data", json!(["ReadWriteOnce"]));
    volume(&api, "other", json!(["ReadWriteOnce"]));
    api.create("csidrivers", json!({"metadata": {"name": DRIVER}, "spec": {"attachRequired": false}}));
    let _running = start(&api);
    pod(&api, "first", "a", "data");
    pod(&api, "second", "a", "other");
    // A volume of another driver comes last, so that the two had their turn when it is attached.
    volume(&api, "third", json!(["ReadWriteOnce"]));
    api.edit("persistentvolumes", "", "pv-third", |volume| volume["spec"]["csi"]["driver"] = json!("csi.other.com"));
    pod(&api, "third", "a", "third");
    until(&api, "the volume of the other driver is attached", |api| reported(api, "a").len() == 1).await;
    assert_eq!(api.calls("POST", "volumeattachments"), 1);
    // The driver changes its mind, which is the only event that can wake the volumes.
    api.delete("csidrivers", "", DRIVER, "Background");
    until(&api, "both volumes are attached too", |api| reported(api, "a").len() == 3).await;
    api.create("csidrivers", json!({"metadata": {"name": DRIVER}, "spec": {"attachRequired": false}}));
    until(&api, "both are detached", |api| reported(api, "a").len() == 1 && attached_to(api).len() == 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_mounted_volume_leaves_a_dead_node_after_six_minutes_and_one_out_of_service_at_once() {
    let api = new_api();
    node(&api, "a");
    node(&api, "b");
    volume(&api, "data", json!(["ReadWriteOnce"]));
    let _running = start_with(&api, paused_clock()).0;
    let take_down = async |pod_name: &str, taints: Value| {
        pod(&api, pod_name, "a", "data");
        until(&api, "the volume is attached", |api| reported(api, "a") == [UNIQUE]).await;
        let began = Instant::now();
        api.edit("nodes", "", "a", |node| {
            node["status"]["volumesInUse"] = json!([UNIQUE]);
            node["status"]["conditions"] = json!([{"type": "Ready", "status": "Unknown"}]);
            node["spec"] = json!({"taints": taints});
        });
        api.edit("pods", "default", pod_name, |pod| {
            pod["metadata"]["deletionTimestamp"] = json!("2024-01-01T00:00:00Z");
            pod["metadata"]["finalizers"] = json!([]);
        });
        loop {
            play_attacher(&api);
            if attached_to(&api).is_empty() {
                break began.elapsed();
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let waited = take_down("first", json!([])).await;
    assert!((358..=365).contains(&waited.as_secs()), "{waited:?}");
    api.edit("nodes", "", "a", |node| {
        node["status"] = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        node["spec"] = json!({});
    });
    let taints = json!([{"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}]);
    let waited = take_down("second", taints).await;
    assert!(waited.as_secs() < 5, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_does_not_answer_and_one_that_fails_are_reported() {
    let api = new_api();
    node(&api, "a");
    volume(&api, "data", json!(["ReadWriteOnce"]));
    let _running = start_with(&api, paused_clock()).0;
    pod(&api, "first", "a", "data");
    let silence = "timed out waiting for external-attacher of csi.example.com CSI driver to attach volume handle-data";
    // The clock of a paused test jumps to the next timer, so that nothing is waited for.
    while !has_event(&api, "FailedAttachVolume", silence) {
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    let name = api.list("volumeattachments")[0]["metadata"]["name"].as_str().expect("a name").to_owned();
    api.edit("volumeattachments", "", &name, |attachment| {
        attachment["status"] = json!({"attached": false, "attachError": {"message": "rpc error: no such volume"}});
    });
    let failure = "AttachVolume.Attach failed for volume \"pv-data\" : rpc error: no such volume";
    while !has_event(&api, "FailedAttachVolume", failure) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(reported(&api, "a").is_empty());
}

#[tokio::test]
async fn attachments_that_nobody_wants_are_found_after_a_restart() {
    let api = new_api();
    node(&api, "a");
    for name in ["data", "kept", "lost"] {
        volume(&api, name, json!(["ReadWriteOnce"]));
    }
    let running = start(&api);
    for name in ["data", "kept", "lost"] {
        pod(&api, name, "a", name);
    }
    until(&api, "all are attached", |api| reported(api, "a").len() == 3).await;
    drop(running);
    // While nobody looks, two pods go, one of them with its claim and its volume, and the node
    // forgets its report.
    for name in ["data", "lost"] {
        api.edit("pods", "default", name, |pod| {
            pod["metadata"]["deletionTimestamp"] = json!("2024-01-01T00:00:00Z");
            pod["metadata"]["finalizers"] = json!([]);
        });
    }
    for plural in ["persistentvolumeclaims", "persistentvolumes"] {
        let (namespace, name) = if plural == "persistentvolumes" { ("", "pv-lost") } else { ("default", "lost") };
        api.edit(plural, namespace, name, |object| {
            object["metadata"]["deletionTimestamp"] = json!("2024-01-01T00:00:00Z");
            object["metadata"]["finalizers"] = json!([]);
        });
    }
    let _running = start(&api);
    let kept = "kubernetes.io/csi/csi.example.com^handle-kept";
    until(&api, "only the volume in use stays", |api| attached_to(api).len() == 1 && reported(api, "a") == [kept])
        .await;
    api.edit("nodes", "", "a", |node| node["status"]["volumesAttached"] = json!([]));
    until(&api, "a report that somebody wiped is written again", |api| reported(api, "a") == [kept]).await;
}

#[tokio::test]
async fn a_stale_cache_attaches_nothing_twice() {
    let api = new_api();
    node(&api, "a");
    node(&api, "b");
    volume(&api, "data", json!(["ReadWriteOnce"]));
    let _running = start(&api);
    api.hold("volumeattachments");
    pod(&api, "first", "a", "data");
    api.until("the volume is being attached", |api| attached_to(api) == ["a"]).await;
    // The pod moves before the controller has seen its own attachment.
    api.delete("pods", "default", "first", "Background");
    pod(&api, "second", "b", "data");
    let at_most_one = |api: &MemoryApi| assert!(attached_to(api).len() <= 1, "{:?}", attached_to(api));
    api.until("the attachment is taken back", |api| {
        at_most_one(api);
        api.calls("DELETE", "volumeattachments") > 0
    })
    .await;
    api.release("volumeattachments");
    until(&api, "the volume is with the second pod", |api| {
        at_most_one(api);
        reported(api, "b") == [UNIQUE]
    })
    .await;
    assert_eq!(api.calls("POST", "volumeattachments"), 2);
}

#[tokio::test]
async fn an_exclusive_volume_is_never_on_two_nodes_while_the_controllers_restart() {
    const NODES: [&str; 3] = ["a", "b", "c"];
    let api = new_api();
    NODES.iter().for_each(|name| node(&api, name));
    for name in ["v0", "v1", "v2"] {
        volume(&api, name, json!(["ReadWriteOnce"]));
    }
    let mut dice = Dice(7);
    for round in 0..12 {
        let place = NODES[dice.roll(3) as usize];
        for name in ["v0", "v1", "v2"] {
            pod(&api, &format!("{name}-{round}"), place, name);
        }
        // Killed after some of its writes, and started again.
        let kill_at = api.calls("POST", "volumeattachments") + dice.roll(3) as usize;
        let running = start(&api);
        until(&api, "some writes are made", |api| {
            api.calls("POST", "volumeattachments") >= kill_at || reported(api, place).len() == 3
        })
        .await;
        drop(running);
        let _running = start(&api);
        until(&api, "the volumes are where their pods are", |api| {
            let list = api.list("volumeattachments");
            for name in ["pv-v0", "pv-v1", "pv-v2"] {
                let places: Vec<&Value> = list
                    .iter()
                    .filter(|attachment| attachment["spec"]["source"]["persistentVolumeName"] == name)
                    .map(|attachment| &attachment["spec"]["nodeName"])
                    .collect();
                assert!(places.len() <= 1, "{name} is on {places:?}");
            }
            reported(api, place).len() == 3
        })
        .await;
        for name in ["v0", "v1", "v2"] {
            api.delete("pods", "default", &format!("{name}-{round}"), "Background");
        }
    }
}
