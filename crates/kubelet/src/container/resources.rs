//! Requests and limits as cgroup numbers.

use super::{ContainerRules, Machine};
use crate::allocation::amounts::ContainerAmounts;
use crate::cri::v1::{HugepageLimit, LinuxContainerResources};
use crate::pod;
use ferry_api::rules::pod::is_sidecar;
use ferry_api::rules::pod_requests::{Options, compute_requests, spec_limits, spec_requests};
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::{ContainerView, PodStatusView, PodView, ResourceRequirementsView};
use std::collections::HashMap;

pub const PERIOD_MICROSECONDS: i64 = 100_000;
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
    // The class of a static pod is resolved by nobody.
    let is_node_critical = pod.spec().priority_class_name() == "system-node-critical" && pod::is_critical(pod);
    if is_node_critical || pod.spec().priority().unwrap_or(0) >= 2_000_001_000 {
        return -997;
    }
    match qos_class(pod) {
        QosClass::Guaranteed => -997,
        QosClass::BestEffort => 1000,
        QosClass::Burstable => {
            if memory_capacity <= 0 {
                return 999;
            }
            let of = |request: i64| 1000 - (1000i128 * i128::from(request) / i128::from(memory_capacity)) as i64;
            let request = |container: ContainerView<'_>| {
                container.resources().requests().get("memory").map_or(0, |quantity| quantity.value())
            };
            let share = unclaimed_memory(pod);
            let mut score = of(request(container) + share);
            // A sidecar lives as long as the containers that it serves.
            if is_sidecar(container) && pod.spec().init_containers().iter().any(|own| own.name() == container.name()) {
                let least = pod.spec().containers().iter().map(request).min().unwrap_or(0);
                score = score.min(of(least + share));
            }
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

/// The memory that the pod as a whole requests beyond its containers, divided among them.
fn unclaimed_memory(pod: PodView<'_>) -> i64 {
    let spec = pod.spec();
    let whole = spec.resources().and_then(|own| own.requests().get("memory")).map_or(0, |quantity| quantity.value());
    let count = spec.containers().len() + spec.init_containers().len();
    if whole == 0 || count == 0 {
        return 0;
    }
    let claimed = compute_requests(spec, PodStatusView::default(), &Options::CONTAINERS);
    let claimed = claimed.get("memory").map_or(0, |quantity| quantity.value());
    (whole - claimed) / count as i64
}

/// The part of a container's resources that a resize changes.
pub fn compute_resizable(amounts: ContainerAmounts, rules: &ContainerRules) -> LinuxContainerResources {
    // A limit without a request asks for as much as it may use.
    let request = if amounts.cpu_request == 0 { amounts.cpu_limit } else { amounts.cpu_request };
    LinuxContainerResources {
        cpu_period: PERIOD_MICROSECONDS,
        cpu_quota: if rules.no_cpu_quota { 0 } else { cpu_quota(amounts.cpu_limit) },
        cpu_shares: cpu_shares(request),
        memory_limit_in_bytes: amounts.memory_limit,
        ..Default::default()
    }
}

/// The resources of one container, as the runtime sets them on its cgroup.
pub fn compute_resources(pod: PodView<'_>, container: ContainerView<'_>, machine: &Machine) -> LinuxContainerResources {
    let limits = container.resources().limits();
    let mut unified = HashMap::new();
    if machine.cgroup_v2 && !machine.rules.single_process_oom_kill {
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
        oom_score_adj: oom_score_adj(pod, container, machine.memory_capacity),
        hugepage_limits,
        unified,
        ..compute_resizable(ContainerAmounts::of(pod.spec(), container), &machine.rules)
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
    fn memory_that_the_pod_requests_as_a_whole_counts_for_each_container() {
        let pod = pod(json!({ "resources": { "requests": { "memory": "2Gi" }, "limits": { "memory": "3Gi" } },
            "initContainers": [{ "name": "s", "restartPolicy": "Always" }],
            "containers": [{ "name": "a", "resources": { "requests": { "memory": "1Gi" } } }] }));
        let score = |name: &str| {
            let (_, container) = crate::pod::find_container(pod.view(), name).expect("a container");
            oom_score_adj(pod.view(), container, 4 << 30)
        };
        assert_eq!((score("a"), score("s")), (625, 625), "the sidecar is kept as long as the container");
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
