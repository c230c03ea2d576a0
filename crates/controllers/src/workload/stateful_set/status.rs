//! The status that a StatefulSet reports of its pods. Pure; called by mod.rs after the pods were changed.

use super::identity::revision_of;
use super::plan::Observed;
use ferry_api::rules::pod::is_ready;
use ferry_api::view::apps::v1::StatefulSetStatus;
use ferry_api::view::core::v1::Pod;
use ferry_api::view::{Owned, View, alike};
use ferry_client::SharedObject;

/// The status as it is to be; `None` where it already is. `replaced` is how many pods of the
/// current revision were deleted for the update in this reconcile.
pub(super) fn compute_status(observed: &Observed<'_>, collisions: i32, replaced: i32) -> Option<StatefulSetStatus> {
    let set = observed.set;
    let members = observed.members();
    let pods: Vec<&SharedObject<Pod>> =
        members.replicas.iter().filter_map(|(_, pod)| pod.as_ref()).chain(&members.condemned).collect();
    let count = |counts: &dyn Fn(&SharedObject<Pod>) -> bool| {
        i32::try_from(pods.iter().filter(|pod| counts(pod)).count()).unwrap_or(i32::MAX)
    };
    let runs = |pod: &SharedObject<Pod>| pod.view().status().phase() == "Running" && is_ready(pod.view());
    let of = |revision: &str, pod: &SharedObject<Pod>| !pod.is_deleting() && revision_of(pod.view()) == revision;
    let replicas = count(&|_| true);
    let ready = count(&runs);
    let updated = count(&|pod| of(&observed.update.revision, pod));
    let mut current = (count(&|pod| of(&observed.current.revision, pod)) - replaced).max(0);
    let mut current_revision = observed.current.revision.as_str();
    let wanted = set.spec().replicas().unwrap_or(1);
    let is_rolling = set.spec().update_strategy().type_() == "RollingUpdate";
    // The update is complete: its revision is the current one from now on.
    if is_rolling && [updated, ready, replicas] == [wanted; 3] {
        (current, current_revision) = (updated, &observed.update.revision);
    }
    // Zero counts are left out on the wire where the API does not require them.
    let some = |count: i32| (count != 0).then_some(count);
    let status = set
        .status()
        .to_owned()
        .with_observed_generation(set.metadata().generation())
        .with_replicas(replicas)
        .with_ready_replicas(some(ready))
        .with_available_replicas(count(&|pod| runs(pod) && observed.is_available(pod.view())))
        .with_current_replicas(some(current))
        .with_updated_replicas(some(updated))
        .with_current_revision(current_revision)
        .with_update_revision(&observed.update.revision)
        .with_collision_count(collisions);
    (!alike(set.status().node(), status.view().node())).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::super::identity::RevisedTemplate;
    use super::super::plan::Claims;
    use super::*;
    use ferry_api::view::apps::v1::StatefulSet;
    use ferry_api::view::core::v1::PodTemplateSpec;
    use serde_json::{Value, json};

    fn pod(name: &str, revision: &str, ready: &str, since: &str) -> SharedObject<Pod> {
        SharedObject::of(json!({"metadata": {"name": name, "labels": {"controller-revision-hash": revision}},
            "status": {"phase": "Running",
                "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}]}}))
    }

    fn status(set: &Value, pods: &[SharedObject<Pod>], replaced: i32) -> Option<Value> {
        let of = |revision: &str| RevisedTemplate { revision: revision.to_owned(), template: PodTemplateSpec::new() };
        let (set, claims) = (StatefulSet::from(set.clone()), Claims::new());
        let observed = Observed {
            set: set.view(),
            current: &of("old"),
            update: &of("new"),
            pods,
            claims: &claims,
            now: "2024-01-02T00:00:00Z".parse().expect("a time"),
        };
        compute_status(&observed, 0, replaced).map(Into::into)
    }

    #[test]
    fn pods_are_counted_by_readiness_and_revision() {
        let mut set = json!({"metadata": {"name": "web", "generation": 3}, "spec": {"replicas": 2, "minReadySeconds": 60,
            "updateStrategy": {"type": "RollingUpdate"}}});
        let (long_ago, just_now) = ("2024-01-01T00:00:00Z", "2024-01-01T23:59:30Z");
        let pods = [
            pod("web-0", "old", "True", long_ago),
            pod("web-1", "new", "True", just_now),
            pod("web-2", "old", "False", long_ago),
            pod("stranger", "old", "True", long_ago),
        ];
        let counted = json!({"observedGeneration": 3, "replicas": 3, "readyReplicas": 2, "availableReplicas": 1,
            "currentReplicas": 2, "updatedReplicas": 1, "currentRevision": "old", "updateRevision": "new",
            "collisionCount": 0});
        assert_eq!(status(&set, &pods, 0), Some(counted.clone()));
        set["status"] = counted;
        assert_eq!(status(&set, &pods, 0), None);
        let replaced = status(&set, &pods, 1).expect("a change");
        assert_eq!(replaced["currentReplicas"], json!(1));
    }

    #[test]
    fn a_complete_update_makes_its_revision_the_current_one() {
        let mut set =
            json!({"metadata": {"name": "web"}, "spec": {"replicas": 1, "updateStrategy": {"type": "RollingUpdate"}}});
        let pods = [pod("web-0", "new", "True", "2024-01-01T00:00:00Z")];
        let complete = status(&set, &pods, 0).expect("a change");
        assert_eq!((&complete["currentRevision"], &complete["currentReplicas"]), (&json!("new"), &json!(1)));
        set["spec"]["updateStrategy"]["type"] = json!("OnDelete");
        let kept = status(&set, &pods, 0).expect("a change");
        assert_eq!((&kept["currentRevision"], kept.get("currentReplicas")), (&json!("old"), None));
    }
}
