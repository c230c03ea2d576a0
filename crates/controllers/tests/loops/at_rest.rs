//! The cost of doing nothing, and of what cannot be done: finished Jobs and waiting CronJobs wake
//! nobody, and impossible specs end in upstream's condition or event and not in a loop. Requests
//! and reconciles are counted, under a clock that the test turns.

use crate::harness::{has_event, new_api, paused_clock, reconciles, reconciles_by_name, start_with};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

fn finished_job(n: usize) -> Value {
    let condition = json!({"type": "Complete", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"});
    json!({"metadata": {"name": format!("done-{n}"), "namespace": "default"},
        "spec": {"parallelism": 1, "completions": 1, "backoffLimit": 6, "completionMode": "NonIndexed",
            "selector": {"matchLabels": {"job": n.to_string()}},
            "template": {"metadata": {"labels": {"job": n.to_string()}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "v1"}]}}},
        "status": {"succeeded": 1, "completionTime": "2024-01-01T00:00:00Z", "startTime": "2024-01-01T00:00:00Z",
            "conditions": [condition], "uncountedTerminatedPods": {}}})
}

/// Runs once a year, and had this year's run.
fn waiting_cron_job(n: usize) -> Value {
    json!({"metadata": {"name": format!("yearly-{n}"), "namespace": "default"},
        "spec": {"schedule": "0 0 1 1 *", "timeZone": "Etc/UTC", "concurrencyPolicy": "Forbid", "suspend": false,
            "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1,
            "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": []}}}}},
        "status": {"lastScheduleTime": "2027-01-01T00:00:00Z"}})
}

/// Lets the paused clock run until no request and no reconcile has come for a minute.
async fn settle(api: &MemoryApi, config: &ferry_controllers::Config) -> (usize, usize) {
    let mut last = (0, 0);
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let now = (api.all_calls(), reconciles(config));
        if now == last {
            return now;
        }
        last = now;
    }
    panic!("the controllers did not come to rest in an hour: {:?}", api.calls_by_kind());
}

#[tokio::test(start_paused = true)]
async fn thousands_of_finished_jobs_and_waiting_cron_jobs_wake_nobody() {
    let api = new_api();
    (0..10_000).for_each(|n| drop(api.create("jobs", finished_job(n))));
    (0..5_000).for_each(|n| drop(api.create("cronjobs", waiting_cron_job(n))));
    let config = paused_clock();
    let _running = start_with(&api, config.clone()).0;
    let (requests, reconciled) = settle(&api, &config).await;
    let by_kind = api.calls_by_kind();
    for plural in ["jobs", "cronjobs"] {
        let writes = by_kind.iter().filter(|((method, of), _)| method != "GET" && of == plural);
        assert_eq!(writes.count(), 0, "{plural} are as they should be: {by_kind:?}");
    }
    tokio::time::sleep(HOUR).await;
    let after = (api.all_calls(), reconciles(&config));
    assert_eq!(after, (requests, reconciled), "an hour costs nothing, not even a read");
}

#[tokio::test(start_paused = true)]
async fn impossible_specs_are_reported_and_end() {
    let api = new_api();
    let object = |name: &str, spec: Value| json!({"metadata": {"name": name, "namespace": "default"}, "spec": spec});
    let template = |app: &str| json!({"metadata": {"labels": {"app": app}}, "spec": {"restartPolicy": "Always", "containers": [{"name": "c"}]}});
    // Two objects that own each other.
    let circle = |name: &str, owner: Value| {
        json!({"metadata": {"name": name, "namespace": "default", "ownerReferences": [
            {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]}})
    };
    let first = api.create("configmaps", json!({"metadata": {"name": "a", "namespace": "default"}}));
    let second = api.create("configmaps", circle("b", first));
    let back = circle("a", second)["metadata"]["ownerReferences"].clone();
    api.edit("configmaps", "default", "a", |map| map["metadata"]["ownerReferences"] = back);
    // Selectors that match nothing.
    api.create(
        "services",
        object(
            "nobody",
            json!({"selector": {"app": "nobody"}, "ports": [{"port": 80}], "type": "ClusterIP",
        "clusterIP": "10.0.0.9", "clusterIPs": ["10.0.0.9"], "ipFamilies": ["IPv4"]}),
        ),
    );
    api.create(
        "poddisruptionbudgets",
        object("nobody", json!({"minAvailable": 1, "selector": {"matchLabels": {"app": "nobody"}}})),
    );
    // A set whose pods are refused.
    api.refuse_creates_of("pods", true);
    api.create(
        "replicasets",
        object("refused", json!({"replicas": 3, "selector": {"matchLabels": {"app": "r"}}, "template": template("r")})),
    );
    api.create("statefulsets", object("refused", json!({"replicas": 3, "serviceName": "s", "selector": {"matchLabels": {"app": "s"}},
        "template": template("s"), "updateStrategy": {"type": "RollingUpdate"}, "podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10})));
    // A day that no year has, and a time that does not parse.
    let cron = |schedule: &str| {
        let mut spec = waiting_cron_job(0)["spec"].clone();
        spec["schedule"] = json!(schedule);
        spec
    };
    api.create("cronjobs", object("never", cron("0 0 31 2 *")));
    api.create("cronjobs", object("garbled", cron("every now and then")));
    // Claims that nobody can satisfy.
    let claim = |class: Value| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": class, "resources": {"requests": {"storage": "1Gi"}}});
        json!({"spec": spec, "status": {"phase": "Pending"}})
    };
    for (name, class) in [("no-class", json!("missing")), ("no-volume", json!(""))] {
        let mut claim = claim(class);
        claim["metadata"] = json!({"name": name, "namespace": "default"});
        api.create("persistentvolumeclaims", claim);
    }
    // A volume whose policy nobody can follow, and one that names a claim that never was.
    api.create(
        "persistentvolumes",
        json!({"metadata": {"name": "recycled"}, "status": {"phase": "Bound"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "persistentVolumeReclaimPolicy": "Delete",
        "hostPath": {"path": "/data"}, "claimRef": {"namespace": "default", "name": "gone", "uid": "gone"}}}),
    );
    // A volume that is attached to a node that never was.
    api.create(
        "volumeattachments",
        json!({"metadata": {"name": "csi-nobody"}, "spec": {"attacher": "csi.example.com",
        "nodeName": "never", "source": {"persistentVolumeName": "never"}}}),
    );
    // An autoscaler without a target.
    api.create("horizontalpodautoscalers", object("aimless", json!({"maxReplicas": 3, "minReplicas": 1,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nothing"},
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}]})));
    // A namespace that cannot be emptied.
    crate::harness::namespace(&api, "stuck");
    api.create(
        "widgets",
        json!({"metadata": {"name": "held", "namespace": "stuck", "finalizers": ["example.com/held"]}}),
    );
    api.delete("namespaces", "", "stuck", "Background");

    let config = paused_clock();
    let _running = start_with(&api, config.clone()).0;
    tokio::time::sleep(HOUR).await;
    for (reason, text) in [
        ("FailedCreate", "exceeded quota"),
        ("UnparseableSchedule", "unparseable schedule: \"every now and then\""),
        ("InvalidSchedule", "invalid schedule: 0 0 31 2 *"),
        ("NoPods", "No matching pods found"),
        ("ProvisioningFailed", "storageclass.storage.k8s.io \"missing\" not found"),
        ("FailedBinding", "no persistent volumes available for this claim and no storage class is set"),
        ("VolumeFailedDelete", "error getting deleter volume plugin for volume \"recycled\""),
        ("FailedGetScale", "not found"),
    ] {
        let events: Vec<(Value, Value)> =
            api.list("events").into_iter().map(|event| (event["reason"].clone(), event["message"].clone())).collect();
        assert!(has_event(&api, reason, text), "{reason}: {text} is not among {events:#?}");
    }
    let condition = |plural: &str, name: &str, kind: &str| {
        let object = api.get(plural, "default", name).unwrap_or_default();
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let found = conditions.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default();
        (
            found["status"].as_str().unwrap_or_default().to_owned(),
            found["reason"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let pair = |status: &str, reason: &str| (status.to_owned(), reason.to_owned());
    assert_eq!(condition("replicasets", "refused", "ReplicaFailure"), pair("True", "FailedCreate"));
    assert_eq!(condition("poddisruptionbudgets", "nobody", "DisruptionAllowed"), pair("False", "InsufficientPods"));
    assert_eq!(condition("horizontalpodautoscalers", "aimless", "AbleToScale"), pair("False", "FailedGetScale"));
    assert_eq!(api.get("persistentvolumes", "", "recycled").unwrap_or_default()["status"]["phase"], "Failed");
    let stuck = api.get("namespaces", "", "stuck").unwrap_or_default();
    assert_eq!(stuck["status"]["phase"], "Terminating", "{stuck}");
    assert!(stuck["status"]["conditions"].to_string().contains("SomeFinalizersRemain"), "{stuck}");

    // Failures come back after 5 ms, 10 ms and so on up to 1,000 s; the autoscaler is looked at every
    // 15 s and the namespace every 8.5 s, as upstream looks at them.
    let before = reconciles_by_name(&config);
    tokio::time::sleep(HOUR).await;
    let more: BTreeMap<String, usize> = reconciles_by_name(&config)
        .into_iter()
        .map(|(name, count)| (name.clone(), count - before.get(&name).copied().unwrap_or(0)))
        .filter(|(_, count)| *count > 0)
        .collect();
    assert!(more.values().sum::<usize>() <= 240 + 425 + 20, "reconciles in an hour: {more:?}");
    println!("{more:?}");
}
