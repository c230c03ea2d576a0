//! What a ReplicaSet reports about its pods.

use crate::error::Error;
use ferry_api::rules::{condition, label_selector, pod};
use ferry_api::view::apps::v1::{ReplicaSetCondition, ReplicaSetStatus, ReplicaSetStatusView, ReplicaSetView};
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_api::view::{Owned, View, alike};
use ferry_client::SharedObject;
use jiff::Timestamp;

const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The set's new status, or None when nothing changed. `terminating` is None for a kind
/// whose status does not count them.
pub(super) fn compute_status(
    set: ReplicaSetView<'_>,
    active: &[SharedObject<Pod>],
    terminating: Option<&[SharedObject<Pod>]>,
    failure: Option<&Error>,
    now: Timestamp,
) -> Option<ReplicaSetStatus> {
    let (spec, old) = (set.spec(), set.status());
    // Zero counts are left out on the wire.
    let count = |holds: &dyn Fn(PodView<'_>) -> bool| match active.iter().filter(|pod| holds(pod.view())).count() {
        0 => None,
        counted => Some(length(counted)),
    };
    let template_labels = spec.template().metadata().labels();
    let min_ready = spec.min_ready_seconds();
    let mut status = ReplicaSetStatus::new()
        .with_replicas(length(active.len()))
        .with_fully_labeled_replicas(count(&|pod| label_selector::contains(pod.metadata().labels(), template_labels)))
        .with_ready_replicas(count(&|pod| pod::is_ready(pod)))
        .with_available_replicas(count(&|pod| pod::is_available(pod, min_ready, now)))
        .with_terminating_replicas(terminating.map(|pods| length(pods.len())))
        .with_observed_generation(Some(set.metadata().generation()).filter(|generation| *generation != 0))
        .with_conditions(old.conditions());
    report_failure(&mut status, length(active.len()), spec.replicas().unwrap_or(1), failure, now);
    (!is_same(old, status.view())).then_some(status)
}

/// No terminating pods and none counted are two things.
fn is_same(old: ReplicaSetStatusView<'_>, new: ReplicaSetStatusView<'_>) -> bool {
    old.terminating_replicas() == new.terminating_replicas() && alike(old.node(), new.node())
}

/// A failure stands as it was first seen until it is over.
fn report_failure(status: &mut ReplicaSetStatus, active: i32, wanted: i32, failure: Option<&Error>, now: Timestamp) {
    let failed_before = condition::find(status.view().conditions(), REPLICA_FAILURE).is_some();
    match failure {
        Some(error) if !failed_before => status.push_conditions(
            ReplicaSetCondition::new()
                .with_type(REPLICA_FAILURE)
                .with_status("True")
                .with_reason(if active < wanted { "FailedCreate" } else { "FailedDelete" })
                .with_message(api_message(error))
                .with_last_transition_time(now),
        ),
        None => drop(condition::remove(status, REPLICA_FAILURE)),
        Some(_) => {}
    }
}

/// The API's own sentence is what users and upstream's tests look for.
fn api_message(error: &Error) -> String {
    match error {
        Error::Call { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

fn length(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::gvk::GroupResource;
    use ferry_api::status::Status;
    use ferry_api::view::apps::v1::ReplicaSet;
    use serde_json::{Value, json};

    fn now() -> Timestamp {
        "2024-01-01T12:00:00Z".parse().expect("a time")
    }

    fn set(status: Value) -> ReplicaSet {
        ReplicaSet::from(json!({
            "metadata": {"name": "web", "generation": 2},
            "spec": {"replicas": 3, "minReadySeconds": 10, "selector": {}, "template":
                {"metadata": {"labels": {"app": "web"}}}},
            "status": status,
        }))
    }

    fn pod(labels: Value, ready_since: Option<&str>) -> SharedObject<Pod> {
        let conditions = ready_since.map(|at| json!([{"type": "Ready", "status": "True", "lastTransitionTime": at}]));
        SharedObject::of(json!({"metadata": {"labels": labels}, "status": {"conditions": conditions}}))
    }

    #[test]
    fn pods_are_counted_by_label_readiness_and_availability() {
        let active = [
            pod(json!({"app": "web"}), Some("2024-01-01T11:00:00Z")),
            pod(json!({"app": "web"}), Some("2024-01-01T11:59:55Z")),
            pod(json!({"app": "other"}), None),
        ];
        let terminating = [pod(json!({}), None)];
        let updated = compute_status(set(json!({"replicas": 0})).view(), &active, Some(&terminating), None, now());
        let status = updated.expect("a change");
        assert_eq!(
            *status.value(),
            json!({"replicas": 3, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 1,
                "terminatingReplicas": 1, "observedGeneration": 2})
        );
        let again = set(status.into());
        assert_eq!(compute_status(again.view(), &active, Some(&terminating), None, now()), None);
        let uncounted = compute_status(again.view(), &active, None, None, now()).expect("a change");
        assert_eq!(uncounted.view().terminating_replicas(), None);
    }

    #[test]
    fn a_failure_is_reported_until_it_is_over() {
        let source = Status::forbidden(&GroupResource::new("", "pods"), "web-", "exceeded quota").into();
        let error = Error::Call { operation: "create a pod of", object: "default/web".into(), source };
        let fresh = set(json!({"replicas": 0}));
        let failed = compute_status(fresh.view(), &[], None, Some(&error), now()).expect("a change");
        let condition = failed.view().conditions().first().expect("conditions");
        assert_eq!(condition.reason(), "FailedCreate");
        assert_eq!(condition.message(), "pods \"web-\" is forbidden: exceeded quota");
        let failed = set(failed.into());
        let healed = compute_status(failed.view(), &[], None, None, now()).expect("a change");
        assert!(healed.view().conditions().is_empty());
    }
}
