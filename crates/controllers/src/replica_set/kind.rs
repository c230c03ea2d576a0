//! The two kinds that keep a number of pods. A ReplicationController is the older form of
//! a ReplicaSet; it is seen through the newer one, so that both are reconciled alike
//! (upstream's pkg/controller/replication/conversion.go).

use crate::selector::{self, Labels};
use ferry_client::{Cached, Object};
use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetSpec, ReplicaSetStatus};
use k8s_openapi::api::core::v1::{ReplicationController, ReplicationControllerCondition, ReplicationControllerStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use std::borrow::Cow;

pub trait ReplicaKind: Object + Cached {
    const CONTROLLER: &'static str;

    /// Whether the status says how many pods are on their way out.
    const COUNTS_TERMINATING: bool;

    fn as_replica_set(&self) -> Cow<'_, ReplicaSet>;

    fn selects(&self, labels: Option<&Labels>) -> bool;

    fn with_status(&self, status: ReplicaSetStatus) -> Self;
}

impl ReplicaKind for ReplicaSet {
    const CONTROLLER: &'static str = "replicaset-controller";
    const COUNTS_TERMINATING: bool = true;

    fn as_replica_set(&self) -> Cow<'_, ReplicaSet> {
        Cow::Borrowed(self)
    }

    fn selects(&self, labels: Option<&Labels>) -> bool {
        self.spec.as_ref().is_some_and(|spec| selector::matches(&spec.selector, labels))
    }

    fn with_status(&self, status: ReplicaSetStatus) -> Self {
        Self { status: Some(status), ..self.clone() }
    }
}

impl ReplicaKind for ReplicationController {
    const CONTROLLER: &'static str = "replication-controller";
    const COUNTS_TERMINATING: bool = false;

    fn as_replica_set(&self) -> Cow<'_, ReplicaSet> {
        let spec = self.spec.clone().map(|spec| ReplicaSetSpec {
            min_ready_seconds: spec.min_ready_seconds,
            replicas: spec.replicas,
            selector: LabelSelector { match_labels: spec.selector, match_expressions: None },
            template: spec.template,
        });
        let status = self.status.clone().map(|status| ReplicaSetStatus {
            replicas: status.replicas,
            fully_labeled_replicas: status.fully_labeled_replicas,
            ready_replicas: status.ready_replicas,
            available_replicas: status.available_replicas,
            terminating_replicas: None,
            observed_generation: status.observed_generation,
            conditions: status.conditions.map(|conditions| {
                let newer = |condition: ReplicationControllerCondition| ReplicaSetCondition {
                    type_: condition.type_,
                    status: condition.status,
                    reason: condition.reason,
                    message: condition.message,
                    last_transition_time: condition.last_transition_time,
                };
                conditions.into_iter().map(newer).collect()
            }),
        });
        Cow::Owned(ReplicaSet { metadata: self.metadata.clone(), spec, status })
    }

    /// An empty selector selects nothing: validation keeps such controllers out.
    fn selects(&self, labels: Option<&Labels>) -> bool {
        self.spec.as_ref().is_some_and(|spec| selector::matches_map(spec.selector.as_ref(), labels))
    }

    fn with_status(&self, status: ReplicaSetStatus) -> Self {
        let older = |condition: ReplicaSetCondition| ReplicationControllerCondition {
            type_: condition.type_,
            status: condition.status,
            reason: condition.reason,
            message: condition.message,
            last_transition_time: condition.last_transition_time,
        };
        let status = ReplicationControllerStatus {
            replicas: status.replicas,
            fully_labeled_replicas: status.fully_labeled_replicas,
            ready_replicas: status.ready_replicas,
            available_replicas: status.available_replicas,
            observed_generation: status.observed_generation,
            conditions: status.conditions.map(|conditions| conditions.into_iter().map(older).collect()),
        };
        Self { status: Some(status), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_replication_controller_is_seen_as_a_replica_set_and_back() {
        let older: ReplicationController = serde_json::from_value(json!({
            "metadata": {"name": "web", "generation": 3},
            "spec": {"replicas": 2, "minReadySeconds": 5, "selector": {"app": "web"}},
            "status": {"replicas": 1, "readyReplicas": 1, "observedGeneration": 2, "conditions": [
                {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "m",
                    "lastTransitionTime": "2024-01-01T00:00:00Z"}]},
        }))
        .expect("a replication controller");
        let newer = older.as_replica_set().into_owned();
        let spec = newer.spec.as_ref().expect("a spec");
        assert_eq!((spec.replicas, spec.min_ready_seconds), (Some(2), Some(5)));
        let status = newer.status.expect("a status");
        assert_eq!(older.with_status(status), older);
        let labels = |value: &str| Labels::from([("app".to_owned(), value.to_owned())]);
        assert!(older.selects(Some(&labels("web"))) && !older.selects(Some(&labels("db"))));
    }
}
