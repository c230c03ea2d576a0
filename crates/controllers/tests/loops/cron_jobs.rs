//! CronJobs against an API in memory: Jobs are started, listed and cleaned up, a run is
//! started once however often the controllers restart, and idle CronJobs cost nothing.

use crate::harness::{has_event, new_api, start};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};

/// Objects of the API in memory were made in 2024, so that a run is due at once. The suspended
/// Job makes no pods.
fn cron_job(name: &str, spec: Value) -> Value {
    let mut all = json!({"schedule": "@yearly", "concurrencyPolicy": "Allow",
        "successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 1,
        "jobTemplate": {"spec": {"suspend": true, "selector": {"matchLabels": {"job": name}},
            "template": {"metadata": {"labels": {"job": name}},
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "v1"}]}}}}});
    for (key, value) in spec.as_object().expect("a spec") {
        all[key] = value.clone();
    }
    json!({"metadata": {"name": name, "namespace": "default"}, "spec": all})
}

fn finish(api: &MemoryApi, name: &str, kind: &str, at: &str) {
    api.edit("jobs", "default", name, |job| {
        let status = &mut job["status"];
        status["startTime"] = json!(at);
        status["completionTime"] = json!(at);
        status["conditions"] = json!([{"type": kind, "status": "True"}]);
    });
}

fn status(api: &MemoryApi, name: &str) -> Value {
    api.get("cronjobs", "default", name).unwrap_or_default()["status"].clone()
}

fn active(api: &MemoryApi, name: &str) -> usize {
    status(api, name)["active"].as_array().map_or(0, Vec::len)
}

fn only_job(api: &MemoryApi) -> Value {
    let mut jobs = api.list("jobs");
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

#[tokio::test]
async fn a_run_is_started_listed_and_seen_to_end() {
    let api = new_api();
    let _guard = start(&api);
    api.create("cronjobs", cron_job("tick", json!({})));
    api.until("the run is listed", |api| active(api, "tick") == 1).await;
    let job = only_job(&api);
    let name = job["metadata"]["name"].as_str().expect("a name").to_owned();
    let listed = &status(&api, "tick")["active"][0];
    assert_eq!(
        (&listed["name"], &listed["uid"], &listed["kind"]),
        (&json!(name), &job["metadata"]["uid"], &json!("Job"))
    );
    let scheduled = status(&api, "tick")["lastScheduleTime"].as_str().expect("a time").to_owned();
    assert!(scheduled.ends_with("-01-01T00:00:00Z"), "{scheduled}");
    assert_eq!(job["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"], json!(scheduled));
    finish(&api, &name, "Complete", "2026-01-01T00:05:00Z");
    api.until("its end is seen", |api| {
        status(api, "tick")["lastSuccessfulTime"] == "2026-01-01T00:05:00Z" && active(api, "tick") == 0
    })
    .await;
    api.until("the events are there", |api| {
        has_event(api, "SuccessfulCreate", "") && has_event(api, "SawCompletedJob", "")
    })
    .await;
    assert_eq!(api.calls("POST", "jobs"), 1, "the run of this year has been");
}

#[tokio::test]
async fn a_run_is_started_once_while_the_controllers_restart() {
    let api = new_api();
    api.create("cronjobs", cron_job("tick", json!({})));
    // The watches fall silent, as if the caches lagged behind each write.
    for round in 0..5 {
        api.hold("cronjobs");
        let guard = start(&api);
        api.until("the run is there", |api| api.list("jobs").len() == 1 && active(api, "tick") == 1).await;
        if round < 3 {
            // As if the process had ended between the Job and the status.
            drop(guard);
            api.edit("cronjobs", "default", "tick", |cron_job| cron_job["status"] = json!({}));
        }
        api.release("cronjobs");
    }
    assert_eq!((api.list("jobs").len(), active(&api, "tick")), (1, 1));
}

#[tokio::test]
async fn the_history_is_kept_short() {
    let api = new_api();
    let owner = api.create("cronjobs", cron_job("tick", json!({"suspend": true})));
    for number in 0..6 {
        let (name, kind) = (format!("old-{number}"), if number % 2 == 0 { "Complete" } else { "Failed" });
        let owner = json!({"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "controller": true,
            "uid": owner["metadata"]["uid"]});
        api.create(
            "jobs",
            json!({"metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]},
            "spec": {"template": {}}}),
        );
        finish(&api, &name, kind, &format!("2026-01-01T00:0{number}:00Z"));
    }
    let _guard = start(&api);
    api.until("one of each kind is left", |api| api.list("jobs").len() == 2).await;
    let mut left: Vec<Value> = api.list("jobs").iter().map(|job| job["metadata"]["name"].clone()).collect();
    left.sort_by_key(Value::to_string);
    assert_eq!(left, [json!("old-4"), json!("old-5")]);
    api.until("it is reported", |api| has_event(api, "SuccessfulDelete", "")).await;
    assert!(!has_event(&api, "FailedDelete", ""));
}

#[tokio::test]
async fn a_replaced_job_makes_way() {
    let api = new_api();
    let _guard = start(&api);
    api.create("cronjobs", cron_job("tick", json!({"concurrencyPolicy": "Replace"})));
    api.until("the run is listed", |api| active(api, "tick") == 1).await;
    let first = only_job(&api);
    api.edit("cronjobs", "default", "tick", |cron_job| {
        // A run of the last minute is due, and the one before it still runs.
        cron_job["spec"]["schedule"] = json!("* * * * *");
        cron_job["status"]["lastScheduleTime"] = json!("2026-01-01T00:00:00Z");
    });
    // A schedule that changes waits for its next time; any other change does not.
    api.edit("cronjobs", "default", "tick", |cron_job| cron_job["metadata"]["labels"] = json!({"touched": "1"}));
    api.until("another job runs", |api| {
        active(api, "tick") == 1 && only_job(api)["metadata"]["uid"] != first["metadata"]["uid"]
    })
    .await;
    api.until("the missed runs are reported", |api| has_event(api, "TooManyMissedTimes", "")).await;
}

#[tokio::test]
async fn a_job_that_cannot_be_made_is_reported_and_tried_again() {
    let api = new_api();
    api.refuse_creates_of("jobs", true);
    let _guard = start(&api);
    api.create("cronjobs", cron_job("tick", json!({})));
    api.until("it is reported", |api| has_event(api, "FailedCreate", "")).await;
    api.refuse_creates_of("jobs", false);
    api.until("the run is listed", |api| active(api, "tick") == 1).await;
}

#[tokio::test]
async fn idle_and_impossible_cron_jobs_cost_nothing() {
    let api = new_api();
    for number in 0..5_000 {
        let mut idle = cron_job(&format!("idle-{number}"), json!({}));
        idle["status"] = json!({"lastScheduleTime": "2026-01-01T00:00:00Z"});
        // Runs of later years would be due in later years.
        idle["spec"]["suspend"] = json!(number % 2 == 0);
        idle["spec"]["startingDeadlineSeconds"] = json!(1);
        api.create("cronjobs", idle);
    }
    api.create("cronjobs", cron_job("never", json!({"schedule": "0 0 30 2 *"})));
    let _guard = start(&api);
    api.create("cronjobs", cron_job("tick", json!({})));
    api.until("the one run is listed", |api| active(api, "tick") == 1).await;
    api.until("the impossible one is reported", |api| has_event(api, "InvalidSchedule", "")).await;
    assert_eq!((api.calls("POST", "jobs"), api.calls("PUT", "cronjobs")), (1, 1));
    assert_eq!(api.list("events").iter().filter(|event| event["reason"] == "InvalidSchedule").count(), 1);
}
