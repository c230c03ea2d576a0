//! All controllers together against an API in memory: what a user does at one end comes
//! out at the other, and stale caches, cycles and refusals do no harm.

use crate::harness::{config, namespace, new_api, start, start_with};
use crate::memory_api::MemoryApi;
use ferry_client::ResourcePath;
use ferry_controllers::Config;
use serde_json::{Value, json};
use std::time::Duration;

fn web(replicas: i32) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas, "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}},
        },
    })
}

/// Plays the kubelet: every pod runs on node n1 and is ready.
fn run_pods(api: &MemoryApi) {
    for (number, pod) in api.list("pods").into_iter().enumerate() {
        let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
        let namespace = pod["metadata"]["namespace"].as_str().expect("a namespace").to_owned();
        if pod.pointer("/status/phase").is_none() {
            api.edit("pods", &namespace, &name, |pod| {
                pod["spec"]["nodeName"] = json!("n1");
                pod["status"] = json!({"phase": "Running", "podIPs": [{"ip": format!("10.244.0.{}", number + 1)}],
                    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}]});
            });
        }
    }
}

fn node(api: &MemoryApi) {
    api.create(
        "nodes",
        json!({"metadata": {"name": "n1"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    );
}

/// Keeps playing the kubelet until `condition` holds.
async fn until_with_pods(api: &MemoryApi, what: &str, condition: impl Fn(&MemoryApi) -> bool) {
    api.until(what, |api| {
        run_pods(api);
        condition(api)
    })
    .await;
}

fn complete(api: &MemoryApi, replicas: i64) -> bool {
    let deployment = api.get("deployments", "default", "web").unwrap_or_default();
    let status = &deployment["status"];
    status["observedGeneration"] == deployment["metadata"]["generation"]
        && ["replicas", "updatedReplicas", "availableReplicas"].iter().all(|key| status[key] == json!(replicas))
}

#[tokio::test]
async fn a_deployment_becomes_pods_and_endpoints_and_rolls() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    node(&api);
    api.create(
        "services",
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {"clusterIP": "10.96.0.9",
        "selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}}),
    );
    let _guard = start(&api);
    api.create("deployments", web(3));
    until_with_pods(&api, "three pods are available", |api| complete(api, 3)).await;
    let ready = |api: &MemoryApi| -> usize {
        let endpoints = |slice: &Value| slice["endpoints"].as_array().cloned().unwrap_or_default();
        api.list("endpointslices")
            .iter()
            .flat_map(endpoints)
            .filter(|e| e["conditions"]["ready"] == json!(true))
            .count()
    };
    api.until("three endpoints are ready", |api| ready(api) == 3).await;
    api.until("the older endpoints agree", |api| {
        let endpoints = api.get("endpoints", "default", "web").unwrap_or_default();
        endpoints.pointer("/subsets/0/addresses").and_then(Value::as_array).is_some_and(|list| list.len() == 3)
    })
    .await;
    api.edit("deployments", "default", "web", |deployment| {
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = json!("v2");
        deployment["metadata"]["generation"] = json!(2);
    });
    until_with_pods(&api, "the new version is out", |api| {
        complete(api, 3) && api.list("pods").iter().all(|pod| pod["spec"]["containers"][0]["image"] == json!("v2"))
    })
    .await;
    assert_eq!(api.list("replicasets").len(), 2);
    let deployment = api.get("deployments", "default", "web").expect("a deployment");
    assert_eq!(deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"], json!("2"));
    api.until("the rollout was told", |api| {
        let messages: Vec<Value> = api.list("events").iter().map(|event| event["message"].clone()).collect();
        messages.iter().any(|m| {
            m.as_str().is_some_and(|m| m.starts_with("Scaled up replica set web-") && m.ends_with(" from 0 to 3"))
        })
    })
    .await;
}

#[tokio::test]
async fn pods_that_cannot_be_deleted_count_against_the_surge_of_a_roll_out() {
    let api = new_api();
    node(&api);
    let mut deployment = web(4);
    deployment["spec"]["strategy"]["rollingUpdate"] = json!({"maxSurge": 1, "maxUnavailable": 2});
    api.create("deployments", deployment);
    let _guard = start(&api);
    until_with_pods(&api, "the deployment is complete", |api| complete(api, 4)).await;
    api.refuse_deletes_of("pods", true);
    api.edit("deployments", "default", "web", |web| {
        web["spec"]["template"]["spec"]["containers"][0]["image"] = json!("v2");
        web["metadata"]["generation"] = json!(2);
    });
    let within_bounds = |api: &MemoryApi| assert!(api.list("pods").len() <= 5, "{} pods", api.list("pods").len());
    let refused = |api: &MemoryApi| {
        within_bounds(api);
        api.calls("DELETE", "pods") >= 12
    };
    until_with_pods(&api, "deletions have been tried for a while", refused).await;
    api.refuse_deletes_of("pods", false);
    until_with_pods(&api, "the new template is rolled out", |api| {
        within_bounds(api);
        let is_new = |pod: &Value| pod["spec"]["containers"][0]["image"] == "v2";
        api.list("pods").len() == 4 && api.list("pods").iter().all(is_new)
    })
    .await;
}

#[tokio::test]
async fn a_stale_cache_creates_nothing_twice() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    let _guard = start(&api);
    api.hold("pods");
    api.create("deployments", web(5));
    api.until("five pods were made", |api| api.list("pods").len() == 5).await;
    // Each touch of the set wakes it while its cache still shows no pod.
    for round in 0..20 {
        let set = api.list("replicasets").remove(0);
        let name = set["metadata"]["name"].as_str().expect("a name");
        api.edit("replicasets", "default", name, |set| {
            set["metadata"]["annotations"]["touched"] = json!(round.to_string())
        });
        tokio::task::yield_now().await;
    }
    api.release("pods");
    until_with_pods(&api, "all are counted", |api| complete(api, 5)).await;
    assert_eq!(api.calls("POST", "pods"), 5);
    assert_eq!(api.calls("DELETE", "pods"), 0);
}

#[tokio::test]
async fn a_replication_controller_keeps_its_pods() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    node(&api);
    let _guard = start(&api);
    api.create(
        "replicationcontrollers",
        json!({"metadata": {"name": "rc", "namespace": "default", "generation": 1}, "spec": {
            "replicas": 2, "selector": {"app": "rc"},
            "template": {"metadata": {"labels": {"app": "rc"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}}}}),
    );
    until_with_pods(&api, "two pods are available", |api| {
        let status = api.get("replicationcontrollers", "default", "rc").unwrap_or_default()["status"].clone();
        status
            == json!({"replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
                "observedGeneration": 1})
    })
    .await;
    let owner = &api.list("pods")[0]["metadata"]["ownerReferences"][0];
    assert_eq!((&owner["apiVersion"], &owner["kind"]), (&json!("v1"), &json!("ReplicationController")));
    let written = api.calls("PUT", "replicationcontrollers");
    // A status that says the same again must not be written: it would wake the next reconcile.
    api.edit("replicationcontrollers", "default", "rc", |rc| rc["spec"]["replicas"] = json!(1));
    until_with_pods(&api, "one is left", |api| {
        api.get("replicationcontrollers", "default", "rc").unwrap_or_default()["status"]["replicas"] == json!(1)
            && api.list("pods").len() == 1
    })
    .await;
    assert!(api.calls("PUT", "replicationcontrollers") <= written + 3);
}

#[tokio::test]
async fn a_daemon_set_runs_on_every_node_and_rolls() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    node(&api);
    let _guard = start(&api);
    api.create(
        "daemonsets",
        json!({"metadata": {"name": "agent", "namespace": "default", "generation": 1}, "spec": {
            "selector": {"matchLabels": {"app": "agent"}}, "revisionHistoryLimit": 10,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}}}}),
    );
    let settled = |api: &MemoryApi, generation: i64| {
        let set = api.get("daemonsets", "default", "agent").unwrap_or_default();
        let status = &set["status"];
        status["observedGeneration"] == json!(generation)
            && ["desiredNumberScheduled", "numberAvailable", "updatedNumberScheduled"]
                .iter()
                .all(|key| status[key] == json!(1))
    };
    until_with_pods(&api, "the daemon runs", |api| settled(api, 1)).await;
    let pod = api.list("pods").remove(0);
    let first = api.list("controllerrevisions").remove(0);
    assert_eq!(
        pod["metadata"]["labels"]["controller-revision-hash"],
        first["metadata"]["labels"]["controller-revision-hash"]
    );
    assert_eq!((&first["revision"], &first["data"]["spec"]["template"]["$patch"]), (&json!(1), &json!("replace")));
    api.edit("daemonsets", "default", "agent", |set| {
        set["spec"]["template"]["spec"]["containers"][0]["image"] = json!("v2");
        set["metadata"]["generation"] = json!(2);
    });
    until_with_pods(&api, "the new version is out", |api| {
        settled(api, 2) && api.list("pods").iter().all(|pod| pod["spec"]["containers"][0]["image"] == json!("v2"))
    })
    .await;
    let mut revisions: Vec<Value> =
        api.list("controllerrevisions").iter().map(|revision| revision["revision"].clone()).collect();
    revisions.sort_by_key(Value::as_i64);
    assert_eq!(revisions, [json!(1), json!(2)]);
}

#[tokio::test]
async fn lost_pods_are_replaced_and_surplus_ones_removed() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    node(&api);
    let _guard = start(&api);
    api.create("deployments", web(3));
    until_with_pods(&api, "three pods are available", |api| complete(api, 3)).await;
    let victim = api.list("pods").remove(0)["metadata"]["name"].as_str().expect("a name").to_owned();
    api.delete("pods", "default", &victim, "Background");
    until_with_pods(&api, "another took its place", |api| {
        complete(api, 3) && api.list("pods").len() == 3 && api.get("pods", "default", &victim).is_none()
    })
    .await;
    api.edit("deployments", "default", "web", |deployment| {
        deployment["spec"]["replicas"] = json!(1);
        deployment["metadata"]["generation"] = json!(2);
    });
    until_with_pods(&api, "one is left", |api| complete(api, 1) && api.list("pods").len() == 1).await;
}

#[tokio::test]
async fn a_refused_creation_is_reported_and_ends() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    let _guard = start(&api);
    api.refuse_creates_of("pods", true);
    api.create("deployments", web(4));
    api.until("the failure is in the status", |api| {
        let deployment = api.get("deployments", "default", "web").unwrap_or_default();
        let conditions = deployment["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|c| c["type"] == json!("ReplicaFailure") && c["reason"] == json!("FailedCreate"))
    })
    .await;
    api.refuse_creates_of("pods", false);
    until_with_pods(&api, "it heals", |api| {
        let deployment = api.get("deployments", "default", "web").unwrap_or_default();
        let conditions = deployment["status"]["conditions"].as_array().cloned().unwrap_or_default();
        complete(api, 4) && conditions.iter().all(|condition| condition["type"] != json!("ReplicaFailure"))
    })
    .await;
}

#[tokio::test]
async fn deleting_a_deployment_collects_everything_below_it() {
    for policy in ["Background", "Foreground"] {
        let api = MemoryApi::new();
        namespace(&api, "default");
        let _guard = start(&api);
        api.create("deployments", web(2));
        until_with_pods(&api, "two pods are available", |api| complete(api, 2)).await;
        api.delete("deployments", "default", "web", policy);
        api.until("nothing is left", |api| {
            ["deployments", "replicasets", "pods"].iter().all(|plural| api.list(plural).is_empty())
        })
        .await;
    }
}

#[tokio::test]
async fn orphaned_sets_live_on_and_are_adopted_again() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    let _guard = start(&api);
    api.create("deployments", web(2));
    until_with_pods(&api, "two pods are available", |api| complete(api, 2)).await;
    api.delete("deployments", "default", "web", "Orphan");
    api.until("the deployment is gone", |api| api.list("deployments").is_empty()).await;
    let sets = api.list("replicasets");
    assert_eq!((sets.len(), api.list("pods").len()), (1, 2));
    assert_eq!(sets[0]["metadata"].get("ownerReferences"), None);
    let again = api.create("deployments", web(2));
    api.until("the new one has adopted the set", |api| {
        api.list("replicasets")[0].pointer("/metadata/ownerReferences/0/uid") == Some(&again["metadata"]["uid"])
    })
    .await;
    until_with_pods(&api, "nothing was restarted", |api| complete(api, 2)).await;
    assert_eq!(api.list("replicasets").len(), 1);
    assert_eq!(api.calls("POST", "pods"), 2);
}

/// Three ConfigMaps that own each other in a circle, each holding its owner up.
#[tokio::test]
async fn a_circle_of_owners_is_collected() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    let _guard = start(&api);
    let made: Vec<Value> = ["a", "b", "c"]
        .iter()
        .map(|name| api.create("configmaps", json!({"metadata": {"name": name, "namespace": "default"}})))
        .collect();
    for (index, name) in ["a", "b", "c"].iter().enumerate() {
        let owner = &made[(index + 1) % 3]["metadata"];
        api.edit("configmaps", "default", name, |object| {
            object["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap",
                "name": owner["name"], "uid": owner["uid"], "blockOwnerDeletion": true}]);
        });
    }
    api.delete("configmaps", "default", "a", "Foreground");
    api.until("the circle is gone", |api| {
        ["a", "b", "c"].iter().all(|name| api.get("configmaps", "default", name).is_none())
    })
    .await;
}

#[tokio::test]
async fn an_object_goes_with_its_last_owner_only() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    let owners: Vec<Value> = ["one", "two"]
        .iter()
        .map(|name| api.create("configmaps", json!({"metadata": {"name": name, "namespace": "default"}})))
        .collect();
    let references: Vec<Value> = owners
        .iter()
        .map(|owner| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}))
        .collect();
    api.create(
        "configmaps",
        json!({"metadata": {"name": "owned", "namespace": "default", "ownerReferences": references}}),
    );
    // An owner that never existed is found out at the start.
    api.create(
        "configmaps",
        json!({"metadata": {"name": "stray", "namespace": "default", "ownerReferences":
        [{"apiVersion": "v1", "kind": "ConfigMap", "name": "never", "uid": "nowhere"}]}}),
    );
    let _guard = start(&api);
    api.until("the stray one is gone", |api| api.get("configmaps", "default", "stray").is_none()).await;
    api.delete("configmaps", "default", "one", "Background");
    api.until("one reference is dropped", |api| {
        let owned = api.get("configmaps", "default", "owned").expect("it lives on");
        owned["metadata"]["ownerReferences"].as_array().is_some_and(|list| list.len() == 1)
    })
    .await;
    api.delete("configmaps", "default", "two", "Background");
    api.until("it has gone too", |api| api.get("configmaps", "default", "owned").is_none()).await;
}

/// One controller may have begun to follow a kind that was gone before the garbage collector
/// ever saw it; nobody else would end that informer.
#[tokio::test(start_paused = true)]
async fn an_informer_of_a_kind_that_lived_for_a_moment_ends() {
    let api = MemoryApi::new();
    let (_guard, informers) = start_with(&api, config());
    namespace(&api, "default");
    api.until("the controllers run", |api| api.get("serviceaccounts", "default", "default").is_some()).await;
    let informers = informers;
    let ships = informers.metadata(&ResourcePath::new("example.com", "v1", "ships"));
    ships.synced().await;
    let followed = informers.followed_metadata();
    assert!(followed.len() > 5 && followed.iter().any(|path| path.plural == "ships"), "{followed:?}");
    let mut events = ships.subscribe();
    api.create("customresourcedefinitions", json!({"metadata": {"name": "ships.example.com"}}));
    let end = tokio::time::timeout(Duration::from_secs(30), events.recv()).await.expect("the informer ends");
    assert!(end.is_none());
    let followed_now = informers.followed_metadata();
    assert_eq!(followed_now.len(), followed.len() - 1, "{followed_now:?}");
}

/// The clock is the runtime's own, which jumps ahead while all wait: a quarter of an hour
/// of failures takes no time.
#[tokio::test(start_paused = true)]
async fn a_namespace_goes_within_a_minute_of_the_broken_api_service_being_removed() {
    let api = MemoryApi::new();
    api.break_group(Some("broken.example.com"));
    let _guard = start(&api);
    namespace(&api, "team");
    api.until("it is furnished", |api| api.get("serviceaccounts", "team", "default").is_some()).await;
    api.delete("namespaces", "", "team", "Background");
    api.until("it waits for the group", |api| {
        let namespace = api.get("namespaces", "", "team").unwrap_or_default();
        let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|c| c["type"] == "NamespaceDeletionDiscoveryFailure" && c["status"] == "True")
    })
    .await;
    tokio::time::sleep(Duration::from_secs(900)).await;
    assert!(api.get("namespaces", "", "team").is_some(), "nobody knows what the group holds");
    api.break_group(None);
    let removed = tokio::time::Instant::now();
    while api.get("namespaces", "", "team").is_some() {
        assert!(removed.elapsed() < Duration::from_secs(60), "it is still there after a minute");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn a_namespace_is_furnished_and_emptied() {
    let api = MemoryApi::new();
    let _guard = start(&api);
    namespace(&api, "team");
    api.until("it has its account and certificate", |api| {
        api.get("serviceaccounts", "team", "default").is_some()
            && api.get("configmaps", "team", "kube-root-ca.crt").is_some()
    })
    .await;
    api.create(
        "configmaps",
        json!({"metadata": {"name": "kept", "namespace": "team", "finalizers": ["example.com/wait"]}}),
    );
    api.delete("namespaces", "", "team", "Background");
    api.until("it says what it waits for", |api| {
        let namespace = api.get("namespaces", "", "team").unwrap_or_default();
        let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|c| {
            c["message"]
                == json!(
                    "Some content in the namespace has finalizers remaining: example.com/wait in 1 resource instances"
                )
        })
    })
    .await;
    assert_eq!(api.get("serviceaccounts", "team", "default"), None);
    api.edit("configmaps", "team", "kept", |object| object["metadata"]["finalizers"] = json!([]));
    // A touch stands in for the deadline, which is some seconds away.
    api.edit("namespaces", "", "team", |namespace| namespace["metadata"]["labels"] = json!({"touched": "yes"}));
    api.until("it is gone", |api| api.list("namespaces").is_empty()).await;
}

#[tokio::test]
async fn a_group_that_lists_null_hides_the_objects_of_no_other() {
    let api = MemoryApi::new();
    api.list_empty_group("empty.example.com");
    let _guard = start(&api);
    namespace(&api, "team");
    api.until("it is furnished", |api| api.get("serviceaccounts", "team", "default").is_some()).await;
    let kept = json!({"metadata": {"name": "kept", "namespace": "team", "finalizers": ["example.com/wait"]}});
    api.create("deployments", kept);
    api.delete("namespaces", "", "team", "Background");
    api.until("all else is gone", |api| api.get("serviceaccounts", "team", "default").is_none()).await;
    api.until("it waits for the deployment", |api| {
        let namespace = api.get("namespaces", "", "team").expect("an object is left in it");
        let conditions = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|c| c["type"] == "NamespaceFinalizersRemaining" && c["status"] == "True")
    })
    .await;
    api.edit("deployments", "team", "kept", |object| object["metadata"]["finalizers"] = json!([]));
    // A touch stands in for the deadline, which is some seconds away.
    api.edit("namespaces", "", "team", |namespace| namespace["metadata"]["labels"] = json!({"touched": "yes"}));
    api.until("it is gone", |api| api.list("namespaces").is_empty()).await;
}

#[tokio::test]
async fn a_silent_node_is_tainted_and_its_pods_leave() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    for name in ["n1", "n2"] {
        api.create(
            "nodes",
            json!({"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        );
    }
    for (name, seconds) in [("patient", 3600), ("hasty", 0)] {
        api.create(
            "pods",
            json!({"metadata": {"name": name, "namespace": "default"},
            "spec": {"nodeName": "n1", "containers": [], "tolerations": [{"key": "node.kubernetes.io/unreachable",
                "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}),
        );
    }
    let config = Config { node_monitor_grace_period: Duration::from_secs(2), ..config() };
    let _guard = start_with(&api, config).0;
    // n2 keeps its lease fresh, n1 does not.
    api.create("leases", json!({"metadata": {"name": "n2", "namespace": "kube-node-lease"}, "spec": {}}));
    let beating = tokio::spawn({
        let api = api.clone();
        async move {
            for beat in 0.. {
                tokio::time::sleep(Duration::from_millis(300)).await;
                let time = format!("2024-01-01T00:{:02}:{:02}.000000Z", beat / 60, beat % 60);
                api.edit("leases", "kube-node-lease", "n2", |lease| lease["spec"]["renewTime"] = json!(time));
            }
        }
    });
    api.until("n1 is unreachable", |api| {
        let node = api.get("nodes", "", "n1").unwrap_or_default();
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        node.pointer("/status/conditions/0/status") == Some(&json!("Unknown"))
            && taints
                .iter()
                .any(|t| t["key"] == json!("node.kubernetes.io/unreachable") && t["effect"] == json!("NoExecute"))
    })
    .await;
    api.until("the hasty pod has left and the patient one is not ready", |api| {
        let patient = api.get("pods", "default", "patient").unwrap_or_default();
        api.get("pods", "default", "hasty").is_none()
            && patient.pointer("/status/conditions/0/status") == Some(&json!("False"))
    })
    .await;
    beating.abort();
    let n2 = api.get("nodes", "", "n2").expect("a node");
    assert_eq!(n2.pointer("/status/conditions/0/status"), Some(&json!("True")));
    assert!(n2["spec"]["podCIDR"].as_str().is_some_and(|range| range.starts_with("10.244.")));
}

#[tokio::test]
async fn a_node_is_annotated_with_its_ttl() {
    let api = MemoryApi::new();
    let _guard = start(&api);
    node(&api);
    api.until("the annotation is there", |api| {
        let node = api.get("nodes", "", "n1").unwrap_or_default();
        node["metadata"]["annotations"]["node.alpha.kubernetes.io/ttl"] == "0"
    })
    .await;
}

#[tokio::test]
async fn services_are_balanced_over_the_nodes_and_share_no_port() {
    let api = MemoryApi::new();
    namespace(&api, "default");
    let _guard = start(&api);
    let service = |name: &str, spec: Value| {
        let mut all = json!({"type": "LoadBalancer", "ports": [{"port": 80, "protocol": "TCP"}]});
        for (key, value) in spec.as_object().expect("a spec") {
            all[key] = value.clone();
        }
        api.create("services", json!({"metadata": {"name": name, "namespace": "default"}, "spec": all}));
    };
    let ingress = |api: &MemoryApi, name: &str| -> Vec<String> {
        let service = api.get("services", "default", name).unwrap_or_default();
        let listed = service["status"]["loadBalancer"]["ingress"].as_array().cloned().unwrap_or_default();
        listed.iter().map(|ingress| ingress["ip"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let error = |api: &MemoryApi, name: &str| {
        let service = api.get("services", "default", name).unwrap_or_default();
        service["status"]["conditions"][0]["message"].as_str().unwrap_or_default().to_owned()
    };
    service("web", json!({}));
    service("classy", json!({"loadBalancerClass": "example.com/vip"}));
    let node = |name: &str, ip: &str| {
        api.create(
            "nodes",
            json!({"metadata": {"name": name}, "status": {"addresses": [{"type": "InternalIP", "address": ip}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "conditions": [{"type": "Ready", "status": "True"}]}}),
        );
    };
    node("n1", "10.0.0.1");
    node("n2", "10.0.0.2");
    api.until("the nodes' addresses are given", |api| ingress(api, "web") == ["10.0.0.1", "10.0.0.2"]).await;
    service("rival", json!({}));
    service("kubelet", json!({"ports": [{"port": 10250, "protocol": "TCP"}]}));
    service("far", json!({"externalTrafficPolicy": "Local", "ports": [{"port": 81, "protocol": "TCP"}]}));
    api.until("taken ports are reported", |api| {
        error(api, "rival") == "port 80/TCP is taken by service default/web"
            && error(api, "kubelet") == "port 10250/TCP is taken by the kubelet"
    })
    .await;
    assert!(ingress(&api, "rival").is_empty() && ingress(&api, "classy").is_empty() && ingress(&api, "far").is_empty());
    api.create(
        "endpointslices",
        json!({"metadata": {"name": "far-1", "namespace": "default", "labels": {"kubernetes.io/service-name": "far"}},
            "addressType": "IPv4", "endpoints": [{"addresses": ["10.244.0.1"], "nodeName": "n2", "conditions": {"ready": true}}]}),
    );
    api.until("only the node with an endpoint is given", |api| ingress(api, "far") == ["10.0.0.2"]).await;
    api.delete("services", "default", "web", "Background");
    api.until("the freed port is given on", |api| {
        ingress(api, "rival") == ["10.0.0.1", "10.0.0.2"] && error(api, "rival").is_empty()
    })
    .await;
    let reasons =
        |api: &MemoryApi| -> Vec<Value> { api.list("events").iter().map(|event| event["reason"].clone()).collect() };
    api.until("it is reported", |api| {
        reasons(api).contains(&json!("EnsuredLoadBalancer")) && reasons(api).contains(&json!("SyncLoadBalancerFailed"))
    })
    .await;
}
