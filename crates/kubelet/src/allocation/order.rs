//! The order in which resizes that wait are tried (upstream: sortPendingResizes of
//! pkg/kubelet/allocation/allocation_manager.go). Pure.

use super::amounts::PodAllocation;
use ferry_api::rules::pod_requests::spec_requests;
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::Pod;
use ferry_client::SharedObject;
use jiff::Timestamp;
use std::cmp::Reverse;

pub struct Candidate<'a> {
    pub pod: &'a SharedObject<Pod>,
    pub allocation: &'a PodAllocation,
    /// None for a resize that has not been tried yet.
    pub deferred_since: Option<Timestamp>,
}

/// The uids of the pods: first those that ask for no more than they have, then by priority, then
/// Guaranteed pods, then those that have waited longest.
pub fn sort<'a>(candidates: impl Iterator<Item = Candidate<'a>>) -> Vec<String> {
    let mut keyed: Vec<_> = candidates
        .map(|candidate| {
            let pod = candidate.pod.view();
            let key = (
                increases(&candidate),
                Reverse(pod.spec().priority().unwrap_or(0)),
                qos_class(pod) != QosClass::Guaranteed,
                candidate.deferred_since.unwrap_or(Timestamp::MAX),
            );
            (key, candidate.pod.uid().to_owned())
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, uid)| uid).collect()
}

fn increases(candidate: &Candidate<'_>) -> bool {
    let allocated = candidate.allocation.overlay(candidate.pod);
    let (before, after) = (spec_requests(allocated.view().spec()), spec_requests(candidate.pod.view().spec()));
    ["cpu", "memory"].into_iter().any(|name| after.get(name) > before.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(uid: &str, cpu: &str, priority: i32, limit: Option<&str>) -> SharedObject<Pod> {
        let mut resources = json!({ "requests": { "cpu": cpu, "memory": "1Mi" } });
        if let Some(limit) = limit {
            resources["limits"] = json!({ "cpu": limit, "memory": "1Mi" });
        }
        SharedObject::of(json!({ "metadata": { "uid": uid }, "spec": { "priority": priority,
            "containers": [{ "name": "a", "resources": resources }] } }))
    }

    #[test]
    fn shrinking_pods_come_first_then_priority_class_and_time() {
        let now = |second| Timestamp::from_second(second).ok();
        let one = PodAllocation::of(pod("", "1", 0, None).view());
        let pods = [
            (pod("late", "2", 0, None), now(9)),
            (pod("early", "2", 0, None), now(3)),
            (pod("sure", "2", 0, Some("2")), now(9)),
            (pod("important", "2", 7, None), None),
            (pod("shrinks", "500m", 0, None), None),
        ];
        let candidates = pods.iter().map(|(pod, since)| Candidate { pod, allocation: &one, deferred_since: *since });
        assert_eq!(sort(candidates), ["shrinks", "important", "sure", "early", "late"]);
    }
}
