//! The two kinds that keep a number of pods. A ReplicationController is the older form of
//! a ReplicaSet; it is seen through the newer one's view, so that both are reconciled alike
//! (upstream's pkg/controller/replication/conversion.go). All of their fields are called the
//! same but the selector, which is a map in the older one.

use crate::label_index::Selecting;
use ferry_api::rules::label_selector;
use ferry_api::view::apps::v1::{ReplicaSet, ReplicaSetStatus, ReplicaSetView};
use ferry_api::view::core::v1::ReplicationController;
use ferry_api::view::{Kind, Map, View};
use ferry_client::SharedObject;

pub(crate) trait ReplicaKind: Selecting {
    const CONTROLLER: &'static str;

    /// Whether the status says how many pods are on their way out.
    const COUNTS_TERMINATING: bool;

    fn selects(set: &SharedObject<Self>, labels: Map<'_, &str>) -> bool;
}

impl ReplicaKind for ReplicaSet {
    const CONTROLLER: &'static str = "replicaset-controller";
    const COUNTS_TERMINATING: bool = true;

    fn selects(set: &SharedObject<Self>, labels: Map<'_, &str>) -> bool {
        label_selector::matches(set.view().spec().selector(), labels)
    }
}

impl ReplicaKind for ReplicationController {
    const CONTROLLER: &'static str = "replication-controller";
    const COUNTS_TERMINATING: bool = false;

    /// An empty selector selects nothing: validation keeps such controllers out.
    fn selects(controller: &SharedObject<Self>, labels: Map<'_, &str>) -> bool {
        label_selector::matches_service(controller.view().spec().selector(), labels)
    }
}

/// The set itself, or the controller as a set. The selector is not to be read from it.
pub(super) fn as_replica_set<K: ReplicaKind>(set: &SharedObject<K>) -> ReplicaSetView<'_> {
    ReplicaSetView::over(set.view().node())
}

/// A copy of the set with another status.
pub(super) fn with_status<K: Kind>(set: &SharedObject<K>, status: ReplicaSetStatus) -> K {
    let mut own = set.to_owned();
    ferry_api::object::ensure_object(own.value_mut()).insert("status".to_owned(), status.into());
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::json;

    #[test]
    fn a_replication_controller_is_seen_as_a_replica_set_and_back() {
        let value = json!({
            "metadata": {"name": "web", "generation": 3},
            "spec": {"replicas": 2, "minReadySeconds": 5, "selector": {"app": "web"}},
            "status": {"replicas": 1, "readyReplicas": 1, "observedGeneration": 2, "conditions": [
                {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "m",
                    "lastTransitionTime": "2024-01-01T00:00:00Z"}]},
        });
        let older = SharedObject::<ReplicationController>::of(value.clone());
        let newer = as_replica_set(&older);
        assert_eq!((newer.spec().replicas(), newer.spec().min_ready_seconds()), (Some(2), 5));
        assert_eq!(*with_status(&older, newer.status().to_owned()).value(), value);
        let labels = |value: &str| SharedObject::<ReplicaSet>::of(json!({"metadata": {"labels": {"app": value}}}));
        let selects = |value: &str| ReplicationController::selects(&older, labels(value).meta().labels());
        assert!(selects("web") && !selects("db"));
    }
}
