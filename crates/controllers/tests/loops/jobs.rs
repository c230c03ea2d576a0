//! The Job controller against an API in memory, with the test as the kubelet: pods are counted
//! once while the controllers stop and start, failures and suspension end as upstream's, and
//! finished Jobs cost nothing.

use crate::harness::{has_event, new_api, start};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Mutex;

fn job(name: &str, spec: Value) -> Value {
    let mut all = json!({"parallelism": 1, "completions": 1, "backoffLimit": 6, "selector": {"matchLabels": {"job": name}},
        "template": {"metadata": {"labels": {"job": name}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "v1"}]}}});
    for (key, value) in spec.as_object().expect("a spec") {
        all[key] = value.clone();
    }
    json!({"metadata": {"name": name, "namespace": "default"}, "spec": all})
}

/// Gives every new pod the phase that `decide` chooses for its name.
fn play_kubelet(api: &MemoryApi, decide: &dyn Fn(&Value) -> &'static str) {
    for pod in api.list("pods") {
        let name = pod["metadata"]["name"].as_str().expect("a name");
        if pod.pointer("/status/phase").is_none() && pod["metadata"].get("deletionTimestamp").is_none() {
            let phase = decide(&pod);
            let code = i32::from(phase == "Failed");
            api.edit("pods", "default", name, |pod| {
                pod["status"] = json!({"phase": phase, "containerStatuses": [{"name": "c", "state":
                    {"terminated": {"exitCode": code, "finishedAt": "2024-01-01T00:00:00Z"}}}]});
            });
        }
    }
}

fn status(api: &MemoryApi, name: &str) -> Value {
    api.get("jobs", "default", name).unwrap_or_default()["status"].clone()
}

fn condition(api: &MemoryApi, name: &str, kind: &str) -> Option<Value> {
    let conditions = status(api, name)["conditions"].as_array().cloned().unwrap_or_default();
    conditions.into_iter().find(|condition| condition["type"] == kind && condition["status"] == "True")
}

fn tracked_pods(api: &MemoryApi) -> usize {
    let is_tracked = |pod: &&Value| {
        let finalizers = pod["metadata"]["finalizers"].as_array();
        finalizers.is_some_and(|list| list.contains(&json!("batch.kubernetes.io/job-tracking")))
    };
    api.list("pods").iter().filter(is_tracked).count()
}

#[tokio::test]
async fn every_pod_is_counted_once_while_the_controllers_restart() {
    let api = new_api();
    api.create("jobs", job("pi", json!({"completions": 200, "parallelism": 20, "backoffLimit": 100_000})));
    let phases: Mutex<HashMap<String, &'static str>> = Mutex::default();
    // Every third pod fails.
    let decide = |pod: &Value| {
        let mut phases = phases.lock().expect("no panic");
        let phase = if phases.len() % 3 == 2 { "Failed" } else { "Succeeded" };
        phases.insert(pod["metadata"]["uid"].as_str().expect("a uid").to_owned(), phase);
        phase
    };
    let mut seed = 7_usize;
    while condition(&api, "pi", "Complete").is_none() {
        let guard = start(&api);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The controllers are stopped after a number of writes that falls anywhere in a round.
        let writes =
            |api: &MemoryApi| api.calls("PATCH", "pods") + api.calls("PUT", "jobs") + api.calls("POST", "pods");
        let enough = writes(&api) + 5 + (seed >> 33) % 120;
        api.until("some writes are made", |api| {
            play_kubelet(api, &decide);
            writes(api) >= enough || condition(api, "pi", "Complete").is_some()
        })
        .await;
        drop(guard);
    }
    let phases = phases.into_inner().expect("no panic");
    let count = |wanted: &str| phases.values().filter(|phase| **phase == wanted).count();
    let status = status(&api, "pi");
    assert_eq!((&status["succeeded"], count("Succeeded")), (&json!(200), 200), "{status}");
    assert_eq!(status["failed"], json!(count("Failed")), "{status}");
    assert_eq!(status["uncountedTerminatedPods"], json!({}));
    assert_eq!(tracked_pods(&api), 0);
    assert!(status["completionTime"].is_string() && status.get("active").is_none());
}

#[tokio::test]
async fn an_indexed_job_completes_every_index() {
    let api = new_api();
    let _guard = start(&api);
    api.create("jobs", job("pi", json!({"completions": 12, "parallelism": 4, "completionMode": "Indexed"})));
    api.until("the job is complete", |api| {
        play_kubelet(api, &|_| "Succeeded");
        condition(api, "pi", "Complete").is_some()
    })
    .await;
    let status = status(&api, "pi");
    assert_eq!((&status["completedIndexes"], &status["succeeded"]), (&json!("0-11"), &json!(12)));
    assert_eq!(api.list("pods").len(), 12);
    api.until("the events are there", |api| has_event(api, "Completed", "") && has_event(api, "SuccessfulCreate", ""))
        .await;
}

#[tokio::test]
async fn a_job_past_its_limit_deletes_its_pods_and_then_fails() {
    let api = new_api();
    let _guard = start(&api);
    api.create("jobs", job("pi", json!({"completions": 4, "parallelism": 3, "backoffLimit": 0})));
    let first = Mutex::new(true);
    let decide = |_: &Value| if std::mem::take(&mut *first.lock().expect("no panic")) { "Failed" } else { "Running" };
    api.until("the job has failed", |api| {
        if api.list("pods").len() == 3 {
            play_kubelet(api, &decide);
        }
        condition(api, "pi", "Failed").is_some()
    })
    .await;
    let failed = condition(&api, "pi", "Failed").expect("the condition");
    assert_eq!(failed["reason"], "BackoffLimitExceeded");
    assert_eq!(failed["message"], "Job has reached the specified backoff limit");
    assert!(condition(&api, "pi", "FailureTarget").is_some());
    let status = status(&api, "pi");
    assert_eq!((&status["failed"], status.get("active")), (&json!(3), None));
    assert_eq!((api.list("pods").len(), tracked_pods(&api)), (1, 0), "only the failed pod stays");
    api.until("the event is there", |api| has_event(api, "BackoffLimitExceeded", "")).await;
}

#[tokio::test]
async fn a_job_is_suspended_and_resumed() {
    let api = new_api();
    let _guard = start(&api);
    api.create("jobs", job("pi", json!({"completions": 2, "parallelism": 2, "suspend": true})));
    api.until("it is suspended", |api| condition(api, "pi", "Suspended").is_some()).await;
    assert_eq!((api.list("pods").len(), status(&api, "pi").get("startTime")), (0, None));
    let suspend = |suspend: bool| {
        api.edit("jobs", "default", "pi", |job| {
            job["spec"]["suspend"] = json!(suspend);
            job["metadata"]["generation"] = json!(job["metadata"]["generation"].as_i64().unwrap_or(0) + 1);
        });
    };
    suspend(false);
    api.until("two pods run", |api| status(api, "pi")["active"] == json!(2)).await;
    assert!(status(&api, "pi")["startTime"].is_string());
    suspend(true);
    api.until("its pods are gone", |api| api.list("pods").is_empty() && condition(api, "pi", "Suspended").is_some())
        .await;
    suspend(false);
    api.until("it completes", |api| {
        play_kubelet(api, &|_| "Succeeded");
        condition(api, "pi", "Complete").is_some()
    })
    .await;
    assert_eq!(status(&api, "pi").get("failed"), None, "pods of a suspended job do not count as failed");
}

#[tokio::test]
async fn a_deleted_job_leaves_no_finalizer_behind() {
    let api = new_api();
    let _guard = start(&api);
    api.create("jobs", job("pi", json!({"completions": 3, "parallelism": 3})));
    api.until("three pods run", |api| status(api, "pi")["active"] == json!(3)).await;
    api.delete("jobs", "default", "pi", "Background");
    api.until("nothing is left", |api| api.list("jobs").is_empty() && api.list("pods").is_empty()).await;
}

#[tokio::test]
async fn a_job_of_another_controller_is_left_alone_and_finished_ones_wake_nothing() {
    let api = new_api();
    for number in 0..10_000 {
        let mut finished = job(&format!("done-{number}"), json!({}));
        finished["status"] = json!({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]});
        api.create("jobs", finished);
    }
    api.create("jobs", job("foreign", json!({"managedBy": "example.com/queue"})));
    let _guard = start(&api);
    api.create("jobs", job("pi", json!({})));
    api.until("the one job is complete", |api| {
        play_kubelet(api, &|_| "Succeeded");
        condition(api, "pi", "Complete").is_some()
    })
    .await;
    assert_eq!(api.calls("POST", "pods"), 1);
    assert!(api.calls("PUT", "jobs") <= 4, "{} writes", api.calls("PUT", "jobs"));
    assert_eq!(status(&api, "foreign"), Value::Null);
}

#[tokio::test]
async fn a_finished_job_goes_when_its_time_to_live_is_over() {
    let api = new_api();
    let _guard = start(&api);
    // Jobs of the API in memory ended years ago as soon as they have an end.
    let finished = |name: &str, ttl: Value| {
        let mut job = job(name, json!({"ttlSecondsAfterFinished": ttl}));
        job["status"] = json!({"conditions":
            [{"type": "Complete", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}]});
        api.create("jobs", job);
    };
    finished("forever", Value::Null);
    finished("later", json!(i32::MAX));
    let calls = || (api.calls("GET", "jobs"), api.calls("DELETE", "jobs"));
    let (gets, _) = calls();
    finished("now", json!(60));
    api.until("the expired job is gone", |api| api.get("jobs", "default", "now").is_none()).await;
    let names: Vec<Value> = api.list("jobs").iter().map(|job| job["metadata"]["name"].clone()).collect();
    assert_eq!(names, [json!("forever"), json!("later")]);
    assert_eq!(calls().1, 1);
    assert!(calls().0 > gets, "the job is read anew before it is deleted");
}
