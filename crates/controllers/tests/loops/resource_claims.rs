//! ResourceClaims against an API in memory: made of templates, reserved for pods that bring
//! their node along, and freed when the last pod is done.

use crate::harness::{new_api, start};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};

fn template(api: &MemoryApi) {
    api.create(
        "resourceclaimtemplates",
        json!({"metadata": {"name": "gpu", "namespace": "default"}, "spec": {"spec": {"devices": {"requests": [{"name": "r"}]}}}}),
    );
}

fn pod(api: &MemoryApi, claims: Value, spec: Value) -> Value {
    let mut all = json!({"containers": [{"name": "c"}], "resourceClaims": claims});
    for (key, value) in spec.as_object().expect("a spec") {
        all[key] = value.clone();
    }
    api.create("pods", json!({"metadata": {"name": "web", "namespace": "default"}, "spec": all}))
}

fn claim(api: &MemoryApi, name: &str) -> Value {
    api.get("resourceclaims", "default", name).unwrap_or_default()
}

#[tokio::test]
async fn a_template_becomes_a_claim_that_goes_with_the_pods_end() {
    let api = new_api();
    let _guard = start(&api);
    pod(&api, json!([{"name": "one", "resourceClaimTemplateName": "gpu"}]), json!({}));
    let has_failed =
        |api: &MemoryApi| api.list("events").iter().any(|event| event["reason"] == "FailedResourceClaimCreation");
    api.until("the missing template is reported", has_failed).await;
    template(&api);
    let named = |api: &MemoryApi| {
        let pod = api.get("pods", "default", "web").unwrap_or_default();
        let status = pod["status"]["resourceClaimStatuses"][0].clone();
        (status["name"] == "one").then(|| status["resourceClaimName"].as_str().unwrap_or_default().to_owned())
    };
    api.until("the claim is reported", |api| named(api).is_some()).await;
    let name = named(&api).expect("the claim");
    assert_eq!(api.list("resourceclaims").len(), 1);
    assert_eq!(claim(&api, &name)["metadata"]["annotations"]["resource.kubernetes.io/pod-claim-name"], "one");
    api.edit("pods", "default", "web", |pod| pod["status"]["phase"] = json!("Succeeded"));
    api.until("the claim is gone", |api| api.list("resourceclaims").is_empty()).await;
}

#[tokio::test]
async fn a_stale_cache_makes_no_second_claim() {
    let api = new_api();
    let _guard = start(&api);
    template(&api);
    api.hold("resourceclaims");
    pod(&api, json!([{"name": "one", "resourceClaimTemplateName": "gpu"}]), json!({}));
    api.until("the claim is made", |api| api.list("resourceclaims").len() == 1).await;
    // The status is lost, and the claim is not in the cache yet.
    for round in 0..3 {
        api.edit("pods", "default", "web", |pod| {
            pod["status"] = json!({});
            pod["metadata"]["labels"] = json!({"round": round.to_string()});
        });
    }
    api.release("resourceclaims");
    api.until("the claim is reported", |api| {
        api.get("pods", "default", "web").unwrap_or_default()["status"]["resourceClaimStatuses"].is_array()
    })
    .await;
    assert_eq!(api.calls("POST", "resourceclaims"), 1);
}

#[tokio::test]
async fn a_claim_is_reserved_for_a_pod_with_a_node_and_freed_with_it() {
    let api = new_api();
    let _guard = start(&api);
    api.create(
        "resourceclaims",
        json!({"metadata": {"name": "shared", "namespace": "default",
            "finalizers": ["resource.kubernetes.io/delete-protection"]},
            "status": {"allocation": {"devices": {"results": []}},
                "reservedFor": [{"resource": "pods", "name": "gone", "uid": "u-gone"},
                    {"apiGroup": "example.com", "resource": "others", "name": "x", "uid": "u-x"}]}}),
    );
    let consumers = |api: &MemoryApi| -> Vec<Value> {
        let reserved = claim(api, "shared")["status"]["reservedFor"].as_array().cloned().unwrap_or_default();
        reserved.iter().map(|consumer| consumer["name"].clone()).collect()
    };
    api.until("a pod that never was is let go", |api| consumers(api) == [json!("x")]).await;
    pod(&api, json!([{"name": "one", "resourceClaimName": "shared"}]), json!({"nodeName": "n1"}));
    api.until("the pod is a consumer", |api| consumers(api) == [json!("x"), json!("web")]).await;
    api.edit("resourceclaims", "default", "shared", |claim| {
        let web = claim["status"]["reservedFor"][1].clone();
        claim["status"]["reservedFor"] = json!([web]);
    });
    api.delete("pods", "default", "web", "Background");
    api.until("the claim is free", |api| {
        let claim = claim(api, "shared");
        claim["status"].get("allocation").is_none()
            && claim["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty)
    })
    .await;
    assert_eq!(api.list("resourceclaims").len(), 1, "a user's claim stays");
}

#[tokio::test]
async fn a_pod_leaves_a_tainted_device() {
    let api = new_api();
    let _guard = start(&api);
    let slice = |taints: Value| {
        json!({"driver": "d.example.com", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu", "taints": taints}]})
    };
    api.create("resourceslices", json!({"metadata": {"name": "s"}, "spec": slice(json!([]))}));
    let pod = pod(&api, json!([{"name": "one", "resourceClaimName": "shared"}]), json!({"nodeName": "n1"}));
    api.create(
        "resourceclaims",
        json!({"metadata": {"name": "shared", "namespace": "default"},
            "status": {"reservedFor": [{"resource": "pods", "name": "web", "uid": pod["metadata"]["uid"]}],
                "allocation": {"devices": {"results": [{"driver": "d.example.com", "pool": "p", "device": "gpu",
                    "tolerations": [{"operator": "Exists", "effect": "NoExecute", "key": "slow"}]}]}}}}),
    );
    let set = |key: &str| {
        let taints = json!([{"key": key, "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}]);
        api.edit("resourceslices", "", "s", |object| object["spec"] = slice(taints));
    };
    set("slow");
    let has_event = |api: &MemoryApi| {
        api.list("events")
            .iter()
            .any(|event| event["reason"] == "DeviceTaintManagerEviction" && event["message"] == "Marking for deletion")
    };
    assert!(!has_event(&api) && api.list("pods").len() == 1);
    set("broken");
    api.until("the pod has left", |api| api.list("pods").is_empty()).await;
    api.until("it is reported", has_event).await;
}
