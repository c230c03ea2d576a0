//! Claims and volumes against an API in memory: they find each other whichever comes first,
//! and whenever the controllers are stopped and started.

use crate::harness::{has_event, new_api, start};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};
use std::collections::HashSet;

fn claim(name: &str, class: Value) -> Value {
    json!({"metadata": {"name": name, "namespace": "default"}, "status": {"phase": "Pending"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": "1Gi"}}}})
}

fn volume(name: &str, size: &str) -> Value {
    json!({"metadata": {"name": name}, "status": {"phase": "Pending"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": size}, "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/data"}}})
}

fn phase(api: &MemoryApi, plural: &str, name: &str) -> String {
    let namespace = if plural == "persistentvolumes" { "" } else { "default" };
    let object = api.get(plural, namespace, name).unwrap_or_default();
    object["status"]["phase"].as_str().unwrap_or_default().to_owned()
}

fn claims_volume(api: &MemoryApi, name: &str) -> String {
    let claim = api.get("persistentvolumeclaims", "default", name).unwrap_or_default();
    claim["spec"]["volumeName"].as_str().unwrap_or_default().to_owned()
}

async fn until_bound(api: &MemoryApi, name: &str) {
    api.until("the claim is bound", |api| phase(api, "persistentvolumeclaims", name) == "Bound").await;
}

#[tokio::test]
async fn a_claim_gets_the_smallest_volume_and_releases_it() {
    let api = new_api();
    let _running = start(&api);
    for (name, size) in [("large", "9Gi"), ("small", "2Gi"), ("tiny", "1Mi")] {
        api.create("persistentvolumes", volume(name, size));
    }
    api.until("all volumes are available", |api| {
        api.list("persistentvolumes").iter().all(|volume| volume["status"]["phase"] == "Available")
    })
    .await;
    api.create("persistentvolumeclaims", claim("data", json!("")));
    until_bound(&api, "data").await;
    assert_eq!(claims_volume(&api, "data"), "small");
    assert_eq!(phase(&api, "persistentvolumes", "small"), "Bound");
    let bound = api.get("persistentvolumeclaims", "default", "data").expect("it is there");
    assert_eq!(bound["status"]["capacity"]["storage"], "2Gi");
    assert_eq!(bound["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"], "yes");
    api.delete("persistentvolumeclaims", "default", "data", "Background");
    api.until("the volume is released", |api| phase(api, "persistentvolumes", "small") == "Released").await;
    // Retained data is nobody's until an administrator has looked at it.
    api.create("persistentvolumeclaims", claim("data", json!("")));
    until_bound(&api, "data").await;
    assert_eq!(claims_volume(&api, "data"), "large");
    assert_eq!(phase(&api, "persistentvolumes", "small"), "Released");
}

#[tokio::test]
async fn a_claim_that_came_first_is_woken_by_its_volume_and_lost_with_it() {
    let api = new_api();
    let _running = start(&api);
    api.create("persistentvolumeclaims", claim("data", json!("")));
    let text = "no persistent volumes available for this claim and no storage class is set";
    api.until("the claim reports that it waits", |api| has_event(api, "FailedBinding", text)).await;
    api.create("persistentvolumes", volume("v", "1Gi"));
    until_bound(&api, "data").await;
    api.edit("persistentvolumeclaims", "default", "data", |claim| {
        claim["spec"]["resources"]["requests"]["storage"] = json!("2Gi");
    });
    let text = "waiting for an external controller to expand this PVC";
    api.until("a claim that grows waits", |api| has_event(api, "ExternalExpanding", text)).await;
    // A bound claim whose volume is gone is lost for good.
    api.edit("persistentvolumes", "", "v", |volume| {
        volume["metadata"]["deletionTimestamp"] = json!("2024-01-01T00:00:00Z");
        volume["metadata"]["finalizers"] = json!([]);
    });
    api.until("the claim is lost", |api| phase(api, "persistentvolumeclaims", "data") == "Lost").await;
    let text = "Bound claim has lost its PersistentVolume. Data on the volume is lost!";
    api.until("the loss is reported", |api| has_event(api, "ClaimLost", text)).await;
}

#[tokio::test]
async fn a_claim_gets_a_default_class_that_came_later_and_its_provisioner_is_asked() {
    let api = new_api();
    let _running = start(&api);
    api.create("persistentvolumeclaims", claim("data", Value::Null));
    api.create(
        "storageclasses",
        json!({"metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
            "provisioner": "example.com/disk", "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer"}),
    );
    let asked = |api: &MemoryApi| {
        let claim = api.get("persistentvolumeclaims", "default", "data").unwrap_or_default();
        claim["metadata"]["annotations"]["volume.kubernetes.io/storage-provisioner"] == "example.com/disk"
    };
    let first = "waiting for first consumer to be created before binding";
    api.until("the claim waits for a pod", |api| has_event(api, "WaitForFirstConsumer", first)).await;
    assert!(!asked(&api));
    let mount = json!([{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]);
    api.create(
        "pods",
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {"volumes": mount, "containers": []}}),
    );
    let scheduled = "waiting for pod web to be scheduled";
    api.until("the claim waits for the pod's node", |api| has_event(api, "WaitForPodScheduled", scheduled)).await;
    api.edit("persistentvolumeclaims", "default", "data", |claim| {
        claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = json!("n1");
    });
    api.until("the provisioner is asked", asked).await;
    let uid = api.get("persistentvolumeclaims", "default", "data").expect("there")["metadata"]["uid"].clone();
    let mut made = volume("pvc-1", "1Gi");
    made["spec"]["storageClassName"] = json!("fast");
    made["spec"]["persistentVolumeReclaimPolicy"] = json!("Delete");
    made["spec"]["claimRef"] = json!({"namespace": "default", "name": "data", "uid": uid});
    made["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "example.com/disk"});
    api.create("persistentvolumes", made);
    until_bound(&api, "data").await;
    assert_eq!(claims_volume(&api, "data"), "pvc-1");
    api.delete("pods", "default", "web", "Background");
    api.delete("persistentvolumeclaims", "default", "data", "Background");
    // Its provisioner, and not the binder, deletes it.
    api.until("the volume is released", |api| phase(api, "persistentvolumes", "pvc-1") == "Released").await;
}

#[tokio::test]
async fn claims_and_volumes_pair_off_while_the_controllers_are_restarted() {
    const PAIRS: usize = 60;
    let api = new_api();
    for i in 0..PAIRS {
        api.create("persistentvolumeclaims", claim(&format!("c{i}"), json!("")));
        api.create("persistentvolumes", volume(&format!("v{i}"), "1Gi"));
    }
    let bound = |api: &MemoryApi| {
        let claims = api.list("persistentvolumeclaims");
        claims.iter().filter(|claim| claim["status"]["phase"] == "Bound").count()
    };
    while bound(&api) < PAIRS {
        let target = (bound(&api) + 7).min(PAIRS);
        let running = start(&api);
        api.until("a few more claims are bound", |api| bound(api) >= target).await;
        // Killed in the middle of whatever it was writing.
        drop(running);
    }
    let _running = start(&api);
    api.until("all volumes are bound", |api| {
        api.list("persistentvolumes").iter().all(|volume| volume["status"]["phase"] == "Bound")
    })
    .await;
    let volumes: HashSet<String> = (0..PAIRS).map(|i| claims_volume(&api, &format!("c{i}"))).collect();
    assert_eq!(volumes.len(), PAIRS, "every claim has a volume of its own");
    for volume in api.list("persistentvolumes") {
        let (name, claim) = (&volume["metadata"]["name"], volume["spec"]["claimRef"]["name"].as_str());
        assert_eq!(*name, claims_volume(&api, claim.expect("a claim")), "both sides agree");
    }
}

#[tokio::test]
async fn an_ephemeral_volume_gets_a_claim_of_its_own_and_takes_no_other() {
    let api = new_api();
    let _running = start(&api);
    api.create("persistentvolumeclaims", claim("web-taken", json!("")));
    let template = |name: &str| {
        json!({"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"],
        "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}}}})
    };
    let pod = |name: &str, volumes: Value| json!({"metadata": {"name": name, "namespace": "default"}, "spec": {"volumes": volumes, "containers": []}});
    let made = api.create("pods", pod("job", json!([template("scratch")])));
    api.until("the claim is made", |api| {
        api.get("persistentvolumeclaims", "default", "job-scratch")
            .is_some_and(|claim| claim["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"])
    })
    .await;
    api.create("pods", pod("web", json!([template("taken")])));
    let text = "ephemeral volume taken: PVC default/web-taken was not created for pod default/web (pod is not owner)";
    api.until("the pod reports the conflict", |api| has_event(api, "FailedBinding", text)).await;
}
