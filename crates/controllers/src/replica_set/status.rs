//! What a ReplicaSet reports about its pods.

use crate::error::Error;
use crate::{pod, selector};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::sync::Arc;

const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The set's new status, or None when nothing changed. `terminating` is None for a kind
/// whose status does not count them.
pub fn compute_status(
    set: &ReplicaSet,
    active: &[Arc<Pod>],
    terminating: Option<&[Arc<Pod>]>,
    failure: Option<&Error>,
    now: Timestamp,
) -> Option<ReplicaSetStatus> {
    let spec = set.spec.as_ref()?;
    // Zero counts are left out on the wire.
    let count = |holds: &dyn Fn(&Pod) -> bool| match active.iter().filter(|pod| holds(pod)).count() {
        0 => None,
        counted => Some(length(counted)),
    };
    let old = set.status.clone().unwrap_or_default();
    let template_labels =
        spec.template.as_ref().and_then(|template| template.metadata.as_ref()?.labels.clone()).unwrap_or_default();
    let min_ready = spec.min_ready_seconds.unwrap_or(0);
    let wanted = spec.replicas.unwrap_or(1);
    let status = ReplicaSetStatus {
        replicas: length(active.len()),
        fully_labeled_replicas: count(&|pod| selector::contains(pod.metadata.labels.as_ref(), &template_labels)),
        ready_replicas: count(&pod::is_ready),
        available_replicas: count(&|pod| pod::is_available(pod, min_ready, now)),
        terminating_replicas: terminating.map(|pods| length(pods.len())),
        observed_generation: set.metadata.generation,
        conditions: compute_conditions(&old, length(active.len()), wanted, failure, now),
    };
    let unchanged = old.replicas == status.replicas
        && old.fully_labeled_replicas.unwrap_or(0) == status.fully_labeled_replicas.unwrap_or(0)
        && old.ready_replicas.unwrap_or(0) == status.ready_replicas.unwrap_or(0)
        && old.available_replicas.unwrap_or(0) == status.available_replicas.unwrap_or(0)
        && old.terminating_replicas == status.terminating_replicas
        && old.observed_generation == status.observed_generation
        && old.conditions == status.conditions;
    (!unchanged).then_some(status)
}

fn compute_conditions(
    old: &ReplicaSetStatus,
    active: i32,
    wanted: i32,
    failure: Option<&Error>,
    now: Timestamp,
) -> Option<Vec<ReplicaSetCondition>> {
    let mut conditions = old.conditions.clone().unwrap_or_default();
    let failed_before = conditions.iter().any(|condition| condition.type_ == REPLICA_FAILURE);
    match failure {
        Some(error) if !failed_before => conditions.push(ReplicaSetCondition {
            type_: REPLICA_FAILURE.to_owned(),
            status: "True".to_owned(),
            reason: Some(if active < wanted { "FailedCreate" } else { "FailedDelete" }.to_owned()),
            message: Some(api_message(error)),
            last_transition_time: Some(Time(now)),
        }),
        None => conditions.retain(|condition| condition.type_ != REPLICA_FAILURE),
        Some(_) => {}
    }
    (!conditions.is_empty()).then_some(conditions)
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
    use serde_json::{Value, json};

    fn now() -> Timestamp {
        "2024-01-01T12:00:00Z".parse().expect("a time")
    }

    fn set(status: Value) -> ReplicaSet {
        serde_json::from_value(json!({
            "metadata": {"name": "web", "generation": 2},
            "spec": {"replicas": 3, "minReadySeconds": 10, "selector": {}, "template":
                {"metadata": {"labels": {"app": "web"}}}},
            "status": status,
        }))
        .expect("a replica set")
    }

    fn pod(labels: Value, ready_since: Option<&str>) -> Arc<Pod> {
        let conditions = ready_since.map(|at| json!([{"type": "Ready", "status": "True", "lastTransitionTime": at}]));
        Arc::new(
            serde_json::from_value(json!({"metadata": {"labels": labels}, "status": {"conditions": conditions}}))
                .expect("a pod"),
        )
    }

    #[test]
    fn pods_are_counted_by_label_readiness_and_availability() {
        let active = [
            pod(json!({"app": "web"}), Some("2024-01-01T11:00:00Z")),
            pod(json!({"app": "web"}), Some("2024-01-01T11:59:55Z")),
            pod(json!({"app": "other"}), None),
        ];
        let terminating = [pod(json!({}), None)];
        let updated = compute_status(&set(json!({"replicas": 0})), &active, Some(&terminating), None, now());
        let status = updated.expect("a change");
        assert_eq!(
            serde_json::to_value(&status).expect("JSON"),
            json!({"replicas": 3, "fullyLabeledReplicas": 2, "readyReplicas": 2, "availableReplicas": 1,
                "terminatingReplicas": 1, "observedGeneration": 2})
        );
        let again = set(serde_json::to_value(&status).expect("JSON"));
        assert_eq!(compute_status(&again, &active, Some(&terminating), None, now()), None);
        let uncounted = compute_status(&again, &active, None, None, now()).expect("a change");
        assert_eq!(uncounted.terminating_replicas, None);
    }

    #[test]
    fn a_failure_is_reported_until_it_is_over() {
        let source = Status::forbidden(&GroupResource::new("", "pods"), "web-", "exceeded quota").into();
        let error = Error::Call { operation: "create a pod of", object: "default/web".into(), source };
        let failed = compute_status(&set(json!({"replicas": 0})), &[], None, Some(&error), now()).expect("a change");
        let condition = &failed.conditions.clone().expect("conditions")[0];
        assert_eq!(condition.reason.as_deref(), Some("FailedCreate"));
        assert_eq!(condition.message.as_deref(), Some("pods \"web-\" is forbidden: exceeded quota"));
        let failed = set(serde_json::to_value(&failed).expect("JSON"));
        let healed = compute_status(&failed, &[], None, None, now()).expect("a change");
        assert_eq!(healed.conditions, None);
    }
}
