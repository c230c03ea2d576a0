//! Tables over [`plan_set`]: pods are written as `ordinal:state@revision`, steps as they are taken.

use super::*;
use ferry_api::view::apps::v1::StatefulSet;
use serde_json::{Value, json};

fn set(replicas: i64, spec: Value) -> StatefulSet {
    let mut set = json!({"metadata": {"name": "web", "namespace": "ns", "uid": "set"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "podManagementPolicy": "OrderedReady",
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}}});
    for (name, value) in spec.as_object().cloned().unwrap_or_default() {
        set["spec"][name] = value;
    }
    StatefulSet::from(set)
}

/// `1:ready@new`, `1:pending@old`, `1:failed`, `1:leaving` (ready and being deleted).
fn pod(text: &str) -> SharedObject<Pod> {
    let (text, revision) = text.split_once('@').unwrap_or((text, "new"));
    let (place, state) = text.split_once(':').expect("an ordinal and a state");
    let (phase, ready) = match state {
        "ready" | "leaving" => ("Running", "True"),
        "running" | "leaving-unready" => ("Running", "False"),
        "pending" => ("Pending", "False"),
        "failed" => ("Failed", "False"),
        "succeeded" => ("Succeeded", "False"),
        other => panic!("{other} is no state"),
    };
    let name = format!("web-{place}");
    let deletion = state.starts_with("leaving").then_some("2024-01-01T00:00:00Z");
    SharedObject::of(json!({
        "metadata": {"name": name, "uid": format!("uid-{place}"), "deletionTimestamp": deletion, "labels": {
            "statefulset.kubernetes.io/pod-name": name, "controller-revision-hash": revision}},
        "status": {"phase": phase, "conditions": [
            {"type": "Ready", "status": ready, "lastTransitionTime": "2024-01-01T00:00:00Z"}]}}))
}

fn steps(set: &StatefulSet, pods: &[&str], claims: &Claims) -> Vec<String> {
    let of = |revision: &str| RevisedTemplate {
        revision: revision.to_owned(),
        template: set.view().spec().template().to_owned(),
    };
    let pods: Vec<SharedObject<Pod>> = pods.iter().map(|text| pod(text)).collect();
    let observed = Observed {
        set: set.view(),
        current: &of("old"),
        update: &of("new"),
        pods: &pods,
        claims,
        now: "2024-01-01T00:00:30Z".parse().expect("a time"),
    };
    let plan = plan_set(&observed);
    let place = |pod: PodView<'_>| ordinal(set.view(), pod).expect("an ordinal");
    let tell = |step: &Step| match step {
        Step::Create(pod) => format!("create {}@{}", place(pod.view()), revision_of(pod.view())),
        Step::Delete(pod) => format!("delete {}", place(pod.view())),
        Step::MakeClaims(pod) => format!("make claims {}", place(pod.view())),
        Step::Mend(pod) => format!("mend {}", place(pod.view())),
        Step::RetainClaims(pod) => format!("retain claims {}", place(pod.view())),
    };
    let outdated = plan.outdated.iter().map(|pod| format!("replace {}", place(pod.view())));
    plan.rounds.iter().flatten().map(tell).chain(outdated).collect()
}

#[track_caller]
fn check(set: &StatefulSet, pods: &[&str], expected: &[&str]) {
    assert_eq!(steps(set, pods, &Claims::new()), expected, "{pods:?}");
}

#[test]
fn an_ordered_set_makes_one_pod_after_the_other() {
    let web = set(3, json!({}));
    check(&web, &[], &["create 0@new"]);
    check(&web, &["0:pending"], &[]);
    check(&web, &["0:running"], &[]);
    check(&web, &["0:ready"], &["create 1@new"]);
    check(&web, &["0:leaving"], &[]);
    check(&web, &["0:ready", "1:ready", "2:ready"], &[]);
    // A gap is filled before anything above it is looked at.
    check(&web, &["0:ready", "2:failed"], &["create 1@new"]);
    check(&web, &["0:failed", "1:ready"], &["delete 0"]);
    check(&web, &["0:succeeded", "1:ready"], &["delete 0"]);
    check(&set(0, json!({})), &[], &[]);
}

#[test]
fn a_parallel_set_makes_and_deletes_all_at_once() {
    let web = set(3, json!({"podManagementPolicy": "Parallel"}));
    check(&web, &[], &["create 0@new", "create 1@new", "create 2@new"]);
    check(&web, &["0:pending", "1:failed"], &["delete 1", "create 2@new"]);
    check(&web, &["0:pending", "1:ready", "2:running", "3:ready", "4:pending", "5:leaving"], &["delete 4", "delete 3"]);
    // Its rolling update still replaces one pod at a time.
    check(&web, &["0:ready@old", "1:ready@old", "2:ready@old"], &["replace 2"]);
    check(&web, &["0:ready@old", "1:ready@old", "2:pending"], &[]);
    check(&web, &["0:ready@old", "1:ready@old"], &["create 2@new"]);
}

#[test]
fn an_ordered_set_scales_down_from_the_highest_and_waits_for_the_unhealthy() {
    let web = set(1, json!({}));
    check(&web, &["0:ready", "1:ready", "2:ready"], &["delete 2"]);
    check(&web, &["0:ready", "1:ready", "2:leaving"], &[]);
    check(&web, &["0:ready", "1:running", "2:ready"], &["delete 2"]);
    check(&web, &["0:ready", "1:ready", "2:running"], &["delete 2"]);
    // 1 is the first unhealthy one: 2 waits for it.
    check(&web, &["0:ready", "1:running", "2:running"], &[]);
    check(&web, &["0:running", "1:ready", "2:ready"], &[]);
    check(&web, &["1:ready"], &["create 0@new"]);
}

#[test]
fn scaling_goes_before_updating() {
    let web = set(2, json!({}));
    check(&web, &["0:ready@old", "1:ready@old", "2:ready@old"], &["delete 2"]);
    check(&web, &["0:ready@old", "1:ready@old", "2:leaving@old"], &[]);
    check(&web, &["0:ready@old"], &["create 1@new"]);
}

#[test]
fn a_rolling_update_goes_down_from_the_highest_to_the_partition() {
    let web = set(3, json!({}));
    check(&web, &["0:ready@old", "1:ready@old", "2:ready@old"], &["replace 2"]);
    check(&web, &["0:ready@old", "1:ready@old", "2:ready"], &["replace 1"]);
    check(&web, &["0:ready@old", "1:ready@old", "2:leaving@old"], &[]);
    check(&web, &["0:ready@old", "1:ready@old", "2:running"], &[]);
    let partitioned = set(3, json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}}));
    check(&partitioned, &["0:ready@old", "1:ready@old", "2:ready@old"], &["replace 2"]);
    check(&partitioned, &["0:ready@old", "1:ready@old", "2:ready"], &[]);
    check(&partitioned, &["0:ready@old", "2:ready"], &["create 1@old"]);
    check(&partitioned, &["0:ready@old", "1:ready@old"], &["create 2@new"]);
    let on_delete = set(3, json!({"updateStrategy": {"type": "OnDelete"}}));
    check(&on_delete, &["0:ready@old", "1:ready@old", "2:ready@old"], &[]);
    check(&on_delete, &["0:ready@old", "1:ready@old"], &["create 2@new"]);
}

#[test]
fn without_a_partition_a_lost_pod_comes_back_at_the_revision_that_it_had() {
    let mut web = set(3, json!({"updateStrategy": {"type": "RollingUpdate"}}));
    web.edit_status(|status| status.set_current_replicas(2));
    check(&web, &["0:ready@old", "2:ready"], &["create 1@old"]);
    check(&web, &["0:ready@old", "1:ready@old"], &["create 2@new"]);
}

#[test]
fn ordinals_may_begin_above_zero() {
    let web = set(
        2,
        json!({"ordinals": {"start": 3},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}),
    );
    check(&web, &[], &["create 3@old"]);
    check(&web, &["3:ready@old"], &["create 4@new"]);
    check(&web, &["3:ready@old", "4:ready", "0:ready", "7:ready"], &["delete 7"]);
    check(&web, &["3:ready@old", "4:ready", "0:ready"], &["delete 0"]);
    check(&web, &["3:ready@old", "4:ready@old"], &["replace 4"]);
}

#[test]
fn a_pod_is_available_after_min_ready_seconds() {
    // The pods have been ready for 30 seconds.
    check(&set(2, json!({"minReadySeconds": 60})), &["0:ready"], &[]);
    check(&set(2, json!({"minReadySeconds": 30})), &["0:ready"], &["create 1@new"]);
}

#[test]
fn a_set_that_is_being_deleted_changes_nothing() {
    let mut web = set(3, json!({}));
    web.edit_metadata(|meta| meta.set_deletion_timestamp("2024-01-01T00:00:00Z".parse::<Timestamp>().expect("a time")));
    check(&web, &["0:failed"], &[]);
}

#[test]
fn claims_are_made_and_given_their_owners() {
    let with = |scaled: &str, replicas: i64| {
        set(
            replicas,
            json!({"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}],
                "persistentVolumeClaimRetentionPolicy": {"whenScaled": scaled, "whenDeleted": "Retain"}}),
        )
    };
    let claim = |place: i64, owner: Option<&str>| {
        let owners: Vec<Value> = owner
            .map(|uid| json!({"apiVersion": "v1", "kind": "Pod", "name": format!("web-{place}"), "uid": uid, "controller": true}))
            .into_iter()
            .collect();
        let name = format!("data-web-{place}");
        (name.clone(), SharedObject::of(json!({"metadata": {"name": name, "ownerReferences": owners}})))
    };
    let check = |set: &StatefulSet, pods: &[&str], claims: Vec<_>, expected: &[&str]| {
        assert_eq!(steps(set, pods, &claims.into_iter().collect()), expected, "{pods:?}");
    };
    let (retains, deletes) = (with("Retain", 1), with("Delete", 1));
    check(&retains, &["0:pending"], vec![], &["make claims 0"]);
    check(&retains, &["0:pending"], vec![claim(0, None)], &[]);
    // The table's pods mount nothing, so that a running one is to be mended.
    check(&retains, &["0:ready"], vec![claim(0, None)], &["mend 0"]);
    check(&retains, &[], vec![claim(0, Some("former"))], &["create 0@new"]);
    check(&deletes, &[], vec![claim(0, Some("former"))], &[]);
    let none = with("Delete", 0);
    check(&none, &["0:ready"], vec![claim(0, None)], &["retain claims 0", "delete 0"]);
    check(&none, &["0:ready"], vec![claim(0, Some("uid-0"))], &["delete 0"]);
}
