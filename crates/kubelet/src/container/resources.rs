//! Requests and limits as cgroup numbers.

use super::Machine;
use crate::cri::v1::{HugepageLimit, LinuxContainerResources};
use ferry_api::rules::pod_requests::{spec_limits, spec_requests};
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::{ContainerView, PodView, ResourceRequirementsView};
use std::collections::HashMap;

const PERIOD_MICROSECONDS: i64 = 100_000;
/// The kernel refuses quotas below a millisecond.
const MIN_QUOTA_MICROSECONDS: i64 = 1000;
const MIN_SHARES: i64 = 2;
const MAX_SHARES: i64 = 262_144;

/// A request of 1000m is 1024 shares; none at all is the least the kernel knows.
pub fn cpu_shares(milli: i64) -> i64 {
    if milli <= 0 {
        return MIN_SHARES;
    }
    (milli.saturating_mul(1024) / 1000).clamp(MIN_SHARES, MAX_SHARES)
}

/// Zero means no quota.
pub fn cpu_quota(milli: i64) -> i64 {
    if milli <= 0 {
        return 0;
    }
    (milli.saturating_mul(PERIOD_MICROSECONDS) / 1000).max(MIN_QUOTA_MICROSECONDS)
}

/// How soon the kernel should pick a process when memory runs out: a Guaranteed pod's
/// last, a BestEffort pod's first, and in between by how much was asked for
/// (upstream: pkg/kubelet/qos/policy.go).
pub fn oom_score_adj(pod: PodView<'_>, container: ContainerView<'_>, memory_capacity: i64) -> i64 {
    // system-node-critical and above.
    if pod.spec().priority().unwrap_or(0) >= 2_000_001_000 {
        return -997;
    }
    match qos_class(pod) {
        QosClass::Guaranteed => -997,
        QosClass::BestEffort => 1000,
        QosClass::Burstable => {
            let request = container.resources().requests().get("memory").map_or(0, |quantity| quantity.value());
            if memory_capacity <= 0 {
                return 999;
            }
            let score = 1000 - (1000i128 * i128::from(request) / i128::from(memory_capacity)) as i64;
            if score < 3 {
                3
            } else if score == 1000 {
                999
            } else {
                score
            }
        }
    }
}

/// The resources of one container, as the runtime sets them on its cgroup.
pub fn compute_resources(pod: PodView<'_>, container: ContainerView<'_>, machine: &Machine) -> LinuxContainerResources {
    let (requests, limits) = (container.resources().requests(), container.resources().limits());
    let milli_limit = limits.get("cpu").map_or(0, |quantity| quantity.milli_value());
    // A limit without a request asks for as much as it may use.
    let milli_request = requests.get("cpu").map_or(milli_limit, |quantity| quantity.milli_value());
    let mut unified = HashMap::new();
    if machine.cgroup_v2 {
        // All of a container's processes die together rather than one at random.
        unified.insert("memory.oom.group".to_string(), "1".to_string());
    }
    let hugepage_limits = limits
        .iter()
        .filter_map(|(name, quantity)| {
            let size = name.strip_prefix("hugepages-")?;
            Some(HugepageLimit {
                // The runtime spells sizes 2MB, the API 2Mi.
                page_size: format!("{}B", size.trim_end_matches('i')),
                limit: quantity.value().max(0) as u64,
            })
        })
        .collect();
    LinuxContainerResources {
        cpu_period: PERIOD_MICROSECONDS,
        cpu_quota: cpu_quota(milli_limit),
        cpu_shares: cpu_shares(milli_request),
        memory_limit_in_bytes: limits.get("memory").map_or(0, |quantity| quantity.value()),
        oom_score_adj: oom_score_adj(pod, container, machine.memory_capacity),
        hugepage_limits,
        unified,
        ..Default::default()
    }
}

/// The numbers of the pod's own cgroup.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodCgroup {
    pub cpu_shares: i64,
    pub cpu_quota: Option<i64>,
    pub memory_limit: Option<i64>,
}

/// The pod's cgroup has what the pod requests and is limited to, with the overhead of its
/// runtime class. A resource is limited only where the pod as a whole or every container
/// has a limit of it (upstream: ResourceConfigForPod of pkg/kubelet/cm/helpers_linux.go).
pub fn compute_pod_cgroup(pod: PodView<'_>) -> PodCgroup {
    let spec = pod.spec();
    let limits = spec_limits(spec);
    let limit = |name: &str| {
        let has = |own: ResourceRequirementsView<'_>| own.limits().get(name).is_some_and(|limit| !limit.is_zero());
        let mut containers = spec.containers().iter().chain(spec.init_containers());
        let is_limited = spec.resources().is_some_and(has) || containers.all(|container| has(container.resources()));
        limits.get(name).filter(|_| is_limited)
    };
    PodCgroup {
        cpu_shares: cpu_shares(spec_requests(spec).get("cpu").map_or(0, |quantity| quantity.milli_value())),
        cpu_quota: limit("cpu").map(|quantity| cpu_quota(quantity.milli_value())),
        memory_limit: limit("memory").map(|quantity| quantity.value()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    fn check(resources: serde_json::Value) -> LinuxContainerResources {
        let pod = pod(json!({ "containers": [{ "name": "a", "resources": resources }] }));
        let machine = Machine { memory_capacity: 4 << 30, ..Default::default() };
        compute_resources(pod.view(), pod.view().spec().containers().first().expect("a container"), &machine)
    }

    #[test]
    fn requests_and_limits_become_cgroup_numbers() {
        let none = check(json!({}));
        assert_eq!((none.cpu_shares, none.cpu_quota, none.memory_limit_in_bytes, none.oom_score_adj), (2, 0, 0, 1000));
        let burst = check(json!({ "requests": { "cpu": "250m", "memory": "1Gi" }, "limits": { "cpu": "500m" } }));
        assert_eq!((burst.cpu_shares, burst.cpu_quota, burst.oom_score_adj), (256, 50_000, 750));
        let amounts = json!({ "cpu": "2", "memory": "64Mi" });
        assert_eq!(check(json!({ "limits": amounts })).cpu_shares, 2048);
        let sure = check(json!({ "requests": amounts, "limits": amounts }));
        assert_eq!((sure.cpu_shares, sure.memory_limit_in_bytes, sure.oom_score_adj), (2048, 64 << 20, -997));
        assert_eq!(check(json!({ "limits": { "cpu": "1m" } })).cpu_quota, 1000);
    }

    #[test]
    fn a_pod_is_limited_only_if_all_its_containers_are() {
        let limited = json!({ "name": "a", "resources": { "limits": { "cpu": "1", "memory": "64Mi" } } });
        let one = pod(json!({ "containers": [limited.clone()] }));
        assert_eq!(compute_pod_cgroup(one.view()).memory_limit, Some(64 << 20));
        let two = pod(json!({ "containers": [limited, { "name": "b" }] }));
        assert_eq!(compute_pod_cgroup(two.view()).memory_limit, None);
    }

    #[test]
    fn a_pods_own_resources_and_its_overhead_count_in_its_cgroup() {
        let amounts = json!({ "requests": { "cpu": "500m" }, "limits": { "cpu": "1", "memory": "64Mi" } });
        let pod = pod(json!({ "resources": amounts, "overhead": { "cpu": "250m", "memory": "16Mi" },
            "containers": [{ "name": "a", "resources": { "requests": { "cpu": "100m" } } }, { "name": "b" }] }));
        let cgroup = compute_pod_cgroup(pod.view());
        assert_eq!(cgroup, PodCgroup { cpu_shares: 768, cpu_quota: Some(125_000), memory_limit: Some(80 << 20) });
    }

    #[test]
    fn an_init_container_runs_beside_the_sidecars_before_it_only() {
        let limited = |cpu: &str| json!({ "requests": { "cpu": cpu }, "limits": { "cpu": cpu } });
        let pod = pod(json!({ "containers": [{ "name": "a", "resources": limited("100m") }], "initContainers": [
            { "name": "i", "resources": limited("1") },
            { "name": "s", "restartPolicy": "Always", "resources": limited("500m") }] }));
        let cgroup = compute_pod_cgroup(pod.view());
        assert_eq!((cgroup.cpu_shares, cgroup.cpu_quota), (1024, Some(100_000)));
    }
}
