//! What a DaemonSet reports about its nodes and pods.

use super::plan::{Observed, by_age};
use super::pod::is_updated;
use ferry_api::rules::pod::is_ready;
use ferry_api::view::apps::v1::DaemonSetStatus;
use ferry_api::view::{Owned, View, alike};

/// The new status, or None when nothing changed. `settled` says that this generation of
/// the set has been acted upon.
pub(super) fn compute_status(observed: &Observed<'_>, settled: bool) -> Option<DaemonSetStatus> {
    let set = observed.set;
    let (mut desired, mut current, mut misplaced, mut ready, mut available, mut updated) = (0, 0, 0, 0, 0, 0);
    for node in observed.nodes {
        let pods = observed.pods.get(node.name()).map(Vec::as_slice).unwrap_or_default();
        if !observed.fit(node.view()).run {
            misplaced += i32::from(!pods.is_empty());
            continue;
        }
        desired += 1;
        let Some(pod) = by_age(pods).first().map(|pod| pod.view()) else { continue };
        current += 1;
        ready += i32::from(is_ready(pod));
        available += i32::from(observed.is_available(pod));
        updated += i32::from(is_updated(pod, set, observed.hash));
    }
    // Zero counts are left out on the wire where the API does not require them.
    let some = |count: i32| (count != 0).then_some(count);
    let old = set.status();
    let mut status = old
        .to_owned()
        .with_desired_number_scheduled(desired)
        .with_current_number_scheduled(current)
        .with_number_misscheduled(misplaced)
        .with_number_ready(ready)
        .with_number_available(some(available))
        .with_number_unavailable(some(desired - available))
        .with_updated_number_scheduled(some(updated));
    if settled {
        status.set_observed_generation(set.metadata().generation());
    }
    (!alike(old.node(), status.view().node())).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::super::node::Criteria;
    use super::super::plan::PodsByNode;
    use super::*;
    use ferry_api::view::apps::v1::{DaemonSet, DaemonSetView};
    use ferry_client::SharedObject;
    use serde_json::json;

    #[test]
    fn nodes_are_counted_by_what_runs_on_them() {
        let set = DaemonSet::from(json!({"metadata": {"generation": 2}, "spec": {"selector": {},
            "template": {"spec": {"containers": [], "nodeSelector": {"on": "yes"}}}}}));
        let node = |name: &str, on: &str| SharedObject::of(json!({"metadata": {"name": name, "labels": {"on": on}}}));
        let pod = |ready: &str| {
            let pod = json!({"metadata": {"labels": {"controller-revision-hash": "new"}},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}});
            vec![SharedObject::of(pod)]
        };
        let nodes = [node("n1", "yes"), node("n2", "yes"), node("n3", "yes"), node("n4", "no")];
        let pods = PodsByNode::from([
            ("n1".to_owned(), pod("True")),
            ("n2".to_owned(), pod("False")),
            ("n4".to_owned(), pod("True")),
        ]);
        let now = "2024-01-02T00:00:00Z".parse().expect("a time");
        let observe = |set: DaemonSetView<'_>| {
            let criteria = Criteria::of(set.spec().template());
            compute_status(&Observed { set, criteria, nodes: &nodes, pods: &pods, hash: "new", now }, true)
        };
        let status = observe(set.view()).expect("a change");
        assert_eq!(
            *status.value(),
            json!({"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberMisscheduled": 1,
                "numberReady": 1, "numberAvailable": 1, "numberUnavailable": 2, "updatedNumberScheduled": 2,
                "observedGeneration": 2})
        );
        assert_eq!(observe(set.clone().with_status(status).view()), None);
    }
}
