//! What a DaemonSet reports about its nodes and pods.

use super::node::{judge, name};
use super::plan::{Observed, by_age};
use super::pod::is_updated;
use crate::pod::{is_available, is_ready};
use k8s_openapi::api::apps::v1::DaemonSetStatus;

/// The new status, or None when nothing changed. `settled` says that this generation of
/// the set has been acted upon.
pub fn compute_status(observed: &Observed<'_>, settled: bool) -> Option<DaemonSetStatus> {
    let set = observed.set;
    let spec = set.spec.as_ref()?;
    let old = set.status.clone().unwrap_or_default();
    let (mut desired, mut current, mut misplaced, mut ready, mut available, mut updated) = (0, 0, 0, 0, 0, 0);
    for node in observed.nodes {
        let pods = observed.pods.get(name(node)).map(Vec::as_slice).unwrap_or_default();
        if !judge(node, &spec.template).run {
            misplaced += i32::from(!pods.is_empty());
            continue;
        }
        desired += 1;
        let Some(pod) = by_age(pods).first().copied() else { continue };
        current += 1;
        ready += i32::from(is_ready(pod));
        available += i32::from(is_available(pod, spec.min_ready_seconds.unwrap_or(0), observed.now));
        updated += i32::from(is_updated(pod, set, observed.hash));
    }
    // Zero counts are left out on the wire where the API does not require them.
    let some = |count: i32| (count != 0).then_some(count);
    let status = DaemonSetStatus {
        desired_number_scheduled: desired,
        current_number_scheduled: current,
        number_misscheduled: misplaced,
        number_ready: ready,
        number_available: some(available),
        number_unavailable: some(desired - available),
        updated_number_scheduled: some(updated),
        observed_generation: if settled { set.metadata.generation } else { old.observed_generation },
        ..old.clone()
    };
    (status != old).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::super::plan::PodsByNode;
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn nodes_are_counted_by_what_runs_on_them() {
        let set = serde_json::from_value(json!({"metadata": {"generation": 2}, "spec": {"selector": {},
            "template": {"spec": {"containers": [], "nodeSelector": {"on": "yes"}}}}}))
        .expect("a daemon set");
        let node = |name: &str, on: &str| {
            let node = json!({"metadata": {"name": name, "labels": {"on": on}}});
            Arc::new(serde_json::from_value(node).expect("a node"))
        };
        let pod = |ready: &str| {
            let pod = json!({"metadata": {"labels": {"controller-revision-hash": "new"}},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}});
            vec![Arc::new(serde_json::from_value(pod).expect("a pod"))]
        };
        let nodes = [node("n1", "yes"), node("n2", "yes"), node("n3", "yes"), node("n4", "no")];
        let pods = PodsByNode::from([
            ("n1".to_owned(), pod("True")),
            ("n2".to_owned(), pod("False")),
            ("n4".to_owned(), pod("True")),
        ]);
        let now = "2024-01-02T00:00:00Z".parse().expect("a time");
        let observed = Observed { set: &set, nodes: &nodes, pods: &pods, hash: "new", now };
        let status = compute_status(&observed, true).expect("a change");
        assert_eq!(
            serde_json::to_value(&status).expect("JSON"),
            json!({"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberMisscheduled": 1,
                "numberReady": 1, "numberAvailable": 1, "numberUnavailable": 2, "updatedNumberScheduled": 2,
                "observedGeneration": 2})
        );
        let mut again: k8s_openapi::api::apps::v1::DaemonSet = set.clone();
        again.status = Some(status);
        assert_eq!(compute_status(&Observed { set: &again, ..observed }, true), None);
    }
}
