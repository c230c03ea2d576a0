//! The order in which pods go when something runs short (upstream: `rankMemoryPressure`,
//! `rankPIDPressure` and `rankDiskPressureFunc` of pkg/kubelet/eviction/helpers.go).
//!
//! Pods whose usage is not known go first. Then, for memory and disk, those that use more than
//! they request; then those of lower priority; then those that use most beyond their request.
//! Pods that are alike keep the order in which they came.

use crate::signal::Resource;
use crate::usage::{Candidate, DiskPart, request};
use std::cmp::Reverse;

/// Sorts the pods, the first to go in front. `parts` is the local storage that counts for the
/// signal, where it is about a disk.
pub fn rank(pods: &mut [Candidate<'_>], resource: Resource, parts: &[DiskPart]) {
    pods.sort_by_cached_key(|pod| rank_of(pod, resource, parts));
}

/// The smallest goes first.
fn rank_of(candidate: &Candidate<'_>, resource: Resource, parts: &[DiskPart]) -> (bool, bool, i32, Reverse<i64>) {
    let priority = candidate.pod.spec().priority().unwrap_or(0);
    let Some(usage) = candidate.usage else {
        // Processes are compared by priority first, whether they could be counted or not.
        return (resource == Resource::Pids, false, priority, Reverse(i64::MAX));
    };
    let pod = candidate.pod;
    let amount = |used: u64| i64::try_from(used).unwrap_or(i64::MAX);
    let (used, requested, beyond) = match resource {
        Resource::Memory => {
            let (used, requested) = (amount(usage.memory.unwrap_or(0)), request(pod, "memory"));
            (used, requested, requested)
        }
        Resource::EphemeralStorage => {
            let (used, requested) = (amount(usage.disk(pod, parts).bytes), request(pod, "ephemeral-storage"));
            (used, requested, requested)
        }
        // Nobody can request inodes; and as upstream, the request of bytes is taken off them.
        Resource::Inodes => (amount(usage.disk(pod, parts).inodes), 0, request(pod, "ephemeral-storage")),
        Resource::Pids => {
            return (true, false, priority, Reverse(amount(usage.processes.unwrap_or(0))));
        }
    };
    (true, used <= requested, priority, Reverse(used.saturating_sub(beyond)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::{ContainerUsage, DiskUsage, PodUsage};
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;
    use serde_json::json;

    const GI: u64 = 1 << 30;
    const ALL: &[DiskPart] = &[DiskPart::Root, DiskPart::Logs, DiskPart::LocalVolumes];

    fn pod(name: &str, priority: i32, requests: serde_json::Value) -> Pod {
        Pod::from(json!({ "metadata": { "name": name }, "spec": { "priority": priority,
            "volumes": [{ "name": "v", "emptyDir": {} }, { "name": "h", "hostPath": { "path": "/" } }],
            "containers": [{ "name": "c", "resources": { "requests": requests } }] } }))
    }

    fn memory(bytes: u64) -> PodUsage {
        PodUsage { memory: Some(bytes), ..PodUsage::default() }
    }

    fn check(resource: Resource, parts: &[DiskPart], pods: &[(Pod, Option<PodUsage>)], expected: &[&str]) {
        let mut candidates: Vec<Candidate<'_>> =
            pods.iter().map(|(pod, usage)| Candidate { pod: pod.view(), usage: usage.as_ref() }).collect();
        rank(&mut candidates, resource, parts);
        let names: Vec<&str> = candidates.iter().map(|candidate| candidate.pod.metadata().name()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn memory_goes_by_excess_over_requests_then_priority_then_amount() {
        let request = |amount: &str| json!({ "memory": amount });
        check(
            Resource::Memory,
            &[],
            &[
                (pod("below-request", 0, request("2Gi")), Some(memory(2 * GI))),
                (pod("below-request-low", -1, request("2Gi")), Some(memory(GI))),
                (pod("above-high", 100, json!({})), Some(memory(9 * GI))),
                (pod("above-low-small", 0, request("1Gi")), Some(memory(GI + 1))),
                (pod("above-low-large", 0, request("1Gi")), Some(memory(3 * GI))),
                (pod("best-effort", 0, json!({})), Some(memory(GI))),
                (pod("unknown", 1000, request("9Gi")), None),
            ],
            &[
                "unknown",
                "above-low-large",
                "best-effort",
                "above-low-small",
                "above-high",
                "below-request-low",
                "below-request",
            ],
        );
    }

    #[test]
    fn processes_go_by_priority_then_number() {
        let processes = |count| Some(PodUsage { processes: Some(count), ..PodUsage::default() });
        check(
            Resource::Pids,
            &[],
            &[
                (pod("many-high", 5, json!({})), processes(1000)),
                (pod("few", 0, json!({})), processes(1)),
                (pod("many", 0, json!({})), processes(10)),
            ],
            &["many", "few", "many-high"],
        );
    }

    #[test]
    fn disk_counts_the_parts_of_the_filesystem_alone() {
        let usage = |root: u64, logs: u64, volume: u64| {
            let disk = |bytes| DiskUsage { bytes, inodes: bytes / 10 };
            Some(PodUsage {
                containers: vec![ContainerUsage {
                    name: "c".into(),
                    root: Some(disk(root)),
                    logs: Some(disk(logs)),
                    ..ContainerUsage::default()
                }],
                volumes: [("v".to_owned(), disk(volume)), ("h".to_owned(), disk(9999))].into(),
                ..PodUsage::default()
            })
        };
        let pods = [
            (pod("root", 0, json!({})), usage(500, 0, 0)),
            (pod("logs", 0, json!({})), usage(0, 400, 0)),
            (pod("volume", 0, json!({})), usage(0, 0, 300)),
            (pod("within", 0, json!({ "ephemeral-storage": "1000" })), usage(300, 300, 300)),
        ];
        check(Resource::EphemeralStorage, ALL, &pods, &["root", "logs", "volume", "within"]);
        check(Resource::EphemeralStorage, &[DiskPart::Root], &pods, &["root", "logs", "volume", "within"]);
        let node = [DiskPart::Logs, DiskPart::LocalVolumes];
        check(Resource::EphemeralStorage, &node, &pods, &["logs", "volume", "root", "within"]);
        // A request of bytes does not cover inodes, but is taken off them.
        check(Resource::Inodes, ALL, &pods, &["root", "logs", "volume", "within"]);
    }
}
