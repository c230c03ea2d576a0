//! What a DaemonSet reports about its nodes and pods.

use super::ledger::Counts;
use ferry_api::view::apps::v1::{DaemonSetStatus, DaemonSetView};
use ferry_api::view::{Owned, View, alike};

/// The new status, or None when nothing changed. `settled` says that this generation of
/// the set has been acted upon.
pub(super) fn compute_status(set: DaemonSetView<'_>, counts: Counts, settled: bool) -> Option<DaemonSetStatus> {
    let Counts { desired, current, misplaced, ready, available, updated, .. } = counts;
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
    use super::super::ledger::{Basis, Ledger};
    use super::super::node::Criteria;
    use super::super::plan::{Observed, Outside, PodsByNode};
    use super::*;
    use ferry_api::view::apps::v1::DaemonSet;
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
            let outside = Outside::default();
            let observed = Observed { set, criteria: &criteria, nodes: &nodes, pods: &pods, hash: "new", now, outside };
            let basis = Basis { uid: "u".to_owned(), generation: 2, template_generation: None, hash: "new".to_owned() };
            let mut ledger = Ledger::new(basis);
            ledger.update_all(&observed);
            compute_status(set, ledger.counts(), true)
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
