//! Tables over the plan of a Job, after the cases of upstream's job_controller_test.go.

use super::super::pods::{INDEX, TRACKING_FINALIZER};
use super::*;
use ferry_api::view::Owned;
use ferry_api::view::batch::v1::Job;
use ferry_client::SharedObject;
use serde_json::{Value, json};

const NOW: &str = "2026-01-01T01:00:00Z";

fn now() -> Timestamp {
    NOW.parse().expect("a time")
}

fn job(spec: Value, status: Value) -> Job {
    let mut all = json!({"parallelism": 2, "completions": 3, "backoffLimit": 6, "completionMode": "NonIndexed",
        "podReplacementPolicy": "TerminatingOrFailed",
        "template": {"metadata": {"labels": {"app": "pi"}}, "spec": {"restartPolicy": "Never",
            "containers": [{"name": "c"}], "initContainers": [{"name": "i", "env": [{"name": "JOB_COMPLETION_INDEX"}]}]}}});
    for (key, value) in spec.as_object().expect("a spec") {
        all[key] = value.clone();
    }
    Job::from(json!({"metadata": {"name": "pi", "namespace": "ns", "uid": "u"}, "spec": all, "status": status}))
}

/// `name phase [index] [ready] [deleting] [untracked] [fresh]`, with failures `x1` of its index.
fn pod(text: &str) -> SharedObject<Pod> {
    let words: Vec<&str> = text.split(' ').collect();
    let has = |word: &str| words.contains(&word);
    let mut meta = json!({"name": words[0], "namespace": "ns", "uid": words[0], "annotations": {}});
    for word in &words[2..] {
        if word.parse::<i32>().is_ok() {
            meta["annotations"][INDEX] = json!(word);
        } else if let Some(failures) = word.strip_prefix('x') {
            meta["annotations"]["batch.kubernetes.io/job-index-failure-count"] = json!(failures);
        }
    }
    if !has("untracked") {
        meta["finalizers"] = json!([TRACKING_FINALIZER]);
    }
    if has("deleting") {
        meta["deletionTimestamp"] = json!(NOW);
    }
    let ended = if has("fresh") { NOW } else { "2026-01-01T00:00:00Z" };
    let ready = if has("ready") { "True" } else { "False" };
    SharedObject::of(json!({"metadata": meta, "status": {"phase": words[1],
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": ended}],
        "containerStatuses": [{"name": "c", "restartCount": 0, "state": {"terminated": {"exitCode": 1, "finishedAt": ended}}}]}}))
}

struct Seen {
    verdict: Option<String>,
    create: Vec<Pod>,
    delete: Vec<String>,
    wait: Option<Duration>,
    status: Value,
    released: Vec<String>,
    event: Option<&'static str>,
}

/// Plans a reconcile, carries it out in the mind, and returns what it did.
fn plan(spec: Value, status: Value, pods: &[&str]) -> Seen {
    let job = job(spec, status);
    let terms = JobTerms::of(job.view());
    let pods: Vec<JobPod> = pods.iter().map(|text| JobPod::read(pod(text), &terms)).collect();
    let observed = Observation::of(terms, &pods, FailureRecord::default(), now());
    let plan = plan_pods(&observed);
    let deleted_ready = plan.delete.iter().filter(|pod| pod.is_ready).count();
    let done = PodsDone { created: plan.create.len(), deleted: plan.delete.len(), deleted_ready };
    let tracking = plan_tracking(&observed, done);
    let names = |pods: &[&JobPod]| -> Vec<String> { pods.iter().map(|pod| pod.object.name().to_owned()).collect() };
    let stored = terms.job.status();
    let status = tracking.tally.render(stored).unwrap_or_else(|| stored.to_owned());
    Seen {
        verdict: tracking.verdict.map(|verdict| format!("{:?} {}", verdict.outcome, verdict.reason)),
        delete: names(&plan.delete),
        wait: plan.wait,
        create: plan.create,
        status: status.value().clone(),
        released: names(&tracking.release),
        event: tracking.suspension.map(|(reason, _)| reason),
    }
}

fn counts(status: &Value) -> [i64; 5] {
    ["active", "ready", "terminating", "succeeded", "failed"].map(|key| status[key].as_i64().unwrap_or(0))
}

#[test]
fn parallelism_and_completions_bound_the_active_pods() {
    let check = |spec: Value, status: Value, pods: &[&str], create: usize, delete: usize| {
        let seen = plan(spec.clone(), status, pods);
        assert_eq!((seen.create.len(), seen.delete.len()), (create, delete), "{spec} {pods:?}");
    };
    check(json!({}), json!({}), &[], 2, 0);
    check(json!({}), json!({"succeeded": 2}), &[], 1, 0);
    check(json!({}), json!({}), &["a Running", "b Succeeded", "c Succeeded"], 0, 0);
    check(json!({"parallelism": 1}), json!({}), &["a Running", "b Pending"], 0, 1);
    check(json!({"parallelism": 0}), json!({}), &["a Running"], 0, 1);
    check(json!({"completions": null}), json!({}), &["a Running"], 1, 0);
    check(json!({"completions": null}), json!({}), &["a Running", "b Succeeded"], 0, 0);
    check(json!({"parallelism": 5000, "completions": 5000}), json!({}), &[], 500, 0);
    check(json!({}), json!({}), &["a Running deleting", "b Running"], 1, 0);
    check(json!({"podReplacementPolicy": "Failed"}), json!({}), &["a Running deleting", "b Running"], 0, 0);
    check(json!({"podFailurePolicy": {"rules": []}}), json!({}), &["a Running deleting", "b Running"], 0, 0);
    // The least far go first.
    assert_eq!(plan(json!({"parallelism": 1}), json!({}), &["a Running ready", "b Pending"]).delete, ["b"]);
}

#[test]
fn finished_pods_are_written_down_before_their_finalizers_go() {
    let seen = plan(json!({}), json!({}), &["a Succeeded", "b Failed", "c Running ready", "d Succeeded untracked"]);
    assert_eq!(seen.released, ["a", "b"]);
    assert_eq!(seen.status["uncountedTerminatedPods"], json!({"succeeded": ["a"], "failed": ["b"]}));
    assert_eq!(counts(&seen.status)[3..], [0, 0]);
    // Pods whose finalizer has gone are counted, and those that are written down are not twice.
    let uncounted = json!({"succeeded": 1, "uncountedTerminatedPods": {"succeeded": ["a", "x"], "failed": ["b", "y"]}});
    let seen = plan(json!({}), uncounted, &["a Succeeded", "b Failed"]);
    assert_eq!(seen.status["uncountedTerminatedPods"], json!({"succeeded": ["a"], "failed": ["b"]}));
    assert_eq!(counts(&seen.status)[3..], [2, 1]);
    let many: Vec<String> = (0..700).map(|number| format!("p{number} Succeeded")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(plan(json!({"completions": 1000}), json!({}), &many).released.len(), 500);
}

#[test]
fn a_job_ends_by_the_first_rule_that_applies() {
    let check = |spec: Value, status: Value, pods: &[&str], verdict: &str| {
        let seen = plan(spec.clone(), status, pods);
        assert_eq!(seen.verdict.as_deref().unwrap_or_default(), verdict, "{spec} {pods:?}");
    };
    check(json!({}), json!({"succeeded": 2}), &["a Succeeded"], "Success CompletionsReached");
    check(json!({}), json!({"succeeded": 1}), &["a Succeeded"], "");
    check(json!({"completions": 0}), json!({}), &[], "Success CompletionsReached");
    check(json!({"completions": null}), json!({}), &["a Succeeded"], "Success CompletionsReached");
    check(json!({"completions": null}), json!({}), &["a Succeeded", "b Running"], "");
    check(json!({"backoffLimit": 1}), json!({"failed": 1}), &["a Failed", "b Running"], "Failure BackoffLimitExceeded");
    check(json!({"backoffLimit": 1}), json!({}), &["a Failed"], "");
    let ignore = json!({"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}]});
    check(json!({"backoffLimit": 0, "podFailurePolicy": ignore}), json!({}), &["a Failed"], "");
    let fail = json!({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]});
    check(json!({"podFailurePolicy": fail}), json!({}), &["a Failed", "b Running"], "Failure PodFailurePolicy");
    let started = json!({"startTime": "2026-01-01T00:59:00Z"});
    check(json!({"activeDeadlineSeconds": 60}), started.clone(), &["a Running"], "Failure DeadlineExceeded");
    check(json!({"activeDeadlineSeconds": 61}), started.clone(), &["a Running"], "");
    check(json!({"activeDeadlineSeconds": 60, "suspend": true}), started, &[], "");
    let announced = |kind: &str| json!({"conditions": [{"type": kind, "status": "True", "reason": "Why"}]});
    check(json!({}), announced("FailureTarget"), &["a Running"], "Failure Why");
    check(json!({"backoffLimit": 0}), announced("SuccessCriteriaMet"), &["a Failed"], "Success Why");
}

#[test]
fn an_end_deletes_what_runs_and_announces_itself_first() {
    let seen = plan(json!({"backoffLimit": 0}), json!({}), &["a Failed", "b Running ready"]);
    assert_eq!((seen.delete, seen.released), (vec!["b".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(counts(&seen.status), [0, 0, 1, 0, 0]);
    assert_eq!(seen.status["uncountedTerminatedPods"]["failed"], json!(["a", "b"]));
    let condition = &seen.status["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("FailureTarget"), &json!("True")));
    assert_eq!(condition["message"], "Job has reached the specified backoff limit");
    let mut tally = Tally::default();
    let verdict = Verdict::failure("R", "m");
    tally.terminating = 1;
    assert!(!tally.seal(&verdict, now()), "a pod has still to end");
    tally.terminating = 0;
    tally.uncounted_failed.push("a".to_owned());
    assert!(!tally.seal(&verdict, now()), "a pod has still to be counted");
    tally.count_released(|_| false);
    assert!(tally.seal(&verdict, now()));
}

#[test]
fn a_suspended_job_has_no_pods_and_no_start() {
    let running = json!({"startTime": "2026-01-01T00:00:00Z", "active": 2});
    let seen = plan(json!({"suspend": true}), running, &["a Running ready", "b Pending"]);
    assert_eq!((seen.delete.len(), seen.event), (2, Some("Suspended")));
    assert_eq!((&seen.status["startTime"], counts(&seen.status)), (&Value::Null, [0, 0, 2, 0, 0]));
    let suspended = seen.status;
    let again = plan(json!({"suspend": true}), suspended.clone(), &[]);
    assert_eq!((again.event, again.create.len()), (None, 0));
    let resumed = plan(json!({}), suspended, &[]);
    assert_eq!((resumed.event, &resumed.status["startTime"]), (Some("Resumed"), &json!(NOW)));
    assert_eq!(resumed.status["conditions"][0]["status"], "False");
    // A Job that never was suspended has no condition.
    assert_eq!(plan(json!({}), json!({}), &[]).status.get("conditions"), None);
}

#[test]
fn a_failure_delays_the_replacement() {
    assert_eq!(plan(json!({}), json!({}), &["a Failed fresh"]).wait, Some(Duration::from_secs(10)));
    let seen = plan(json!({}), json!({}), &["a Failed fresh", "b Running"]);
    assert_eq!((seen.create.len(), counts(&seen.status)[0]), (0, 1));
    assert_eq!(plan(json!({}), json!({}), &["a Failed"]).create.len(), 2);
}

#[test]
fn an_indexed_job_has_one_pod_for_each_index() {
    let indexed = || json!({"completionMode": "Indexed", "completions": 4, "parallelism": 3});
    let indexes = |seen: &Seen| -> Vec<String> {
        seen.create.iter().filter_map(|pod| pod.view().metadata().labels().get(INDEX).map(str::to_owned)).collect()
    };
    let seen = plan(indexed(), json!({}), &["a Running 1", "b Succeeded 0"]);
    assert_eq!(
        (indexes(&seen), seen.status["completedIndexes"].as_str()),
        (vec!["2".to_owned(), "3".to_owned()], Some("0"))
    );
    assert_eq!((&seen.status["succeeded"], seen.released), (&json!(1), vec!["b".to_owned()]));
    let seen = plan(indexed(), json!({}), &["a Running 1 ready", "b Pending 1", "c Running", "d Running 9"]);
    let mut delete = seen.delete;
    delete.sort();
    assert_eq!(delete, ["b", "c", "d"]);
    let made = plan(indexed(), json!({}), &[]).create.remove(1);
    let made = made.value();
    assert_eq!(made["metadata"]["generateName"], "pi-1-");
    assert_eq!(made["metadata"]["annotations"], json!({INDEX: "1"}));
    assert_eq!(made["metadata"]["labels"], json!({"app": "pi", INDEX: "1"}));
    assert_eq!(made["metadata"]["finalizers"], json!([TRACKING_FINALIZER]));
    assert_eq!(made["spec"]["hostname"], "pi-1");
    let path = format!("metadata.labels['{INDEX}']");
    assert_eq!(
        made["spec"]["containers"][0]["env"],
        json!([{"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}}])
    );
    assert_eq!(made["spec"]["initContainers"][0]["env"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_index_fails_by_its_own_limit() {
    let spec = |more: Value| {
        let mut spec = json!({"completionMode": "Indexed", "completions": 3, "parallelism": 3,
            "backoffLimit": i32::MAX, "backoffLimitPerIndex": 1});
        for (key, value) in more.as_object().expect("fields") {
            spec[key] = value.clone();
        }
        spec
    };
    // The first failure of index 0 keeps its pod until the replacement is there.
    let seen = plan(spec(json!({})), json!({}), &["a Failed 0 x0", "b Running 1", "c Running 2"]);
    assert_eq!((seen.released.len(), seen.create.len()), (0, 1));
    let annotations = seen.create[0].value()["metadata"]["annotations"].clone();
    assert_eq!(annotations["batch.kubernetes.io/job-index-failure-count"], "1");
    let seen = plan(spec(json!({})), json!({}), &["a Failed 0 x0", "d Running 0 x1", "b Running 1", "c Running 2"]);
    assert_eq!(seen.released, ["a"]);
    let seen = plan(spec(json!({})), json!({}), &["a Failed 0 x1", "b Running 1", "c Running 2"]);
    assert_eq!((&seen.status["failedIndexes"], seen.create.len()), (&json!("0"), 0));
    assert_eq!((seen.released, seen.verdict), (vec!["a".to_owned()], None));
    let waiting = plan(spec(json!({})), json!({}), &["a Failed 0 x0 fresh", "b Running 1", "c Running 2"]);
    assert_eq!((waiting.create.len(), waiting.wait), (0, Some(Duration::from_secs(10))));
    let verdict = |more: Value, pods: &[&str]| plan(spec(more), json!({"completedIndexes": "1"}), pods).verdict;
    assert_eq!(verdict(json!({}), &["a Failed 0 x1", "c Succeeded 2"]).as_deref(), Some("Failure FailedIndexes"));
    assert_eq!(
        verdict(json!({"maxFailedIndexes": 0}), &["a Failed 0 x1", "c Running 2"]).as_deref(),
        Some("Failure MaxFailedIndexesExceeded")
    );
}

#[test]
fn a_success_policy_ends_a_job_and_counts_no_survivor_as_failed() {
    let spec = json!({"completionMode": "Indexed", "completions": 3, "parallelism": 3,
        "successPolicy": {"rules": [{"succeededIndexes": "0"}]}});
    let seen = plan(spec, json!({}), &["a Succeeded 0", "b Running 1"]);
    assert_eq!((seen.verdict.as_deref(), seen.delete), (Some("Success SuccessPolicy"), vec!["b".to_owned()]));
    assert_eq!(seen.status["uncountedTerminatedPods"], json!({}));
    assert_eq!(seen.status["conditions"][0]["type"], "SuccessCriteriaMet");
    assert_eq!(seen.status["conditions"][0]["message"], "Matched rules at index 0");
}

#[test]
fn the_failure_policy_also_judges_pods_that_the_end_of_the_job_stops() {
    let check = |action: &str, counted: bool| {
        let policy = json!({"rules": [{"action": action, "onExitCodes": {"operator": "In", "values": [1]}}]});
        let announced =
            json!({"conditions": [{"type": "FailureTarget", "status": "True", "reason": "DeadlineExceeded"}]});
        let seen = plan(json!({"podFailurePolicy": policy}), announced, &["a Running"]);
        assert_eq!((seen.delete, seen.released), (vec!["a".to_owned()], vec!["a".to_owned()]), "{action}");
        let uncounted = seen.status["uncountedTerminatedPods"]["failed"].as_array().map_or(0, Vec::len);
        assert_eq!(uncounted == 1, counted, "{action}: {}", seen.status);
    };
    check("Ignore", false);
    check("Count", true);
    let policy = json!({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]});
    let seen = plan(json!({"podFailurePolicy": policy}), json!({}), &["a Running"]);
    assert_eq!(seen.verdict, None, "a pod that runs fails no Job");
}
