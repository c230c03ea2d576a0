//! Requests and limits as cgroup numbers.

use super::Machine;
use crate::cri::v1::LinuxContainerResources;
use crate::pod;
use crate::resource;
use k8s_openapi::api::core::v1::{Container, Pod};
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
pub fn oom_score_adj(pod: &Pod, container: &Container, memory_capacity: i64) -> i64 {
    let spec = pod::spec(pod);
    // system-node-critical and above.
    if spec.priority.unwrap_or(0) >= 2_000_001_000 {
        return -997;
    }
    match pod::qos_class(pod) {
        "Guaranteed" => -997,
        "BestEffort" => 1000,
        _ => {
            let request = requested(container, "memory").map(resource::value).unwrap_or(0);
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

fn requested<'a>(
    container: &'a Container,
    name: &str,
) -> Option<&'a k8s_openapi::apimachinery::pkg::api::resource::Quantity> {
    container.resources.as_ref()?.requests.as_ref()?.get(name)
}

fn limited<'a>(
    container: &'a Container,
    name: &str,
) -> Option<&'a k8s_openapi::apimachinery::pkg::api::resource::Quantity> {
    container.resources.as_ref()?.limits.as_ref()?.get(name)
}

pub fn compute_resources(pod: &Pod, container: &Container, machine: &Machine) -> LinuxContainerResources {
    let milli_limit = limited(container, "cpu").map(resource::milli_value).unwrap_or(0);
    // A limit without a request asks for as much as it may use.
    let milli_request = requested(container, "cpu").map(resource::milli_value).unwrap_or(milli_limit);
    let mut unified = HashMap::new();
    if machine.cgroup_v2 {
        // All of a container's processes die together rather than one at random.
        unified.insert("memory.oom.group".to_string(), "1".to_string());
    }
    let hugepage_limits = container
        .resources
        .iter()
        .flat_map(|resources| resources.limits.iter().flatten())
        .filter_map(|(name, quantity)| {
            let size = name.strip_prefix("hugepages-")?;
            Some(crate::cri::v1::HugepageLimit {
                // The runtime spells sizes 2MB, the API 2Mi.
                page_size: format!("{}B", size.trim_end_matches('i')),
                limit: resource::value(quantity).max(0) as u64,
            })
        })
        .collect();
    LinuxContainerResources {
        cpu_period: PERIOD_MICROSECONDS,
        cpu_quota: cpu_quota(milli_limit),
        cpu_shares: cpu_shares(milli_request),
        memory_limit_in_bytes: limited(container, "memory").map(resource::value).unwrap_or(0),
        oom_score_adj: oom_score_adj(pod, container, machine.memory_capacity),
        hugepage_limits,
        unified,
        ..Default::default()
    }
}

/// What the pod's own cgroup is told: the sum of its containers, with limits only where
/// every container has one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodCgroup {
    pub cpu_shares: i64,
    pub cpu_quota: Option<i64>,
    pub memory_limit: Option<i64>,
}

pub fn compute_pod_cgroup(pod: &Pod) -> PodCgroup {
    let sum = |pick: fn(&Container) -> Option<i64>| {
        // Init containers run alone, so the pod needs the larger of the two, sidecars in both.
        let sidecars: i64 = pod::init_containers(pod).iter().filter(|c| pod::is_sidecar(c)).filter_map(pick).sum();
        let regular: i64 = pod::containers(pod).iter().filter_map(pick).sum::<i64>() + sidecars;
        let init = pod::init_containers(pod).iter().filter(|c| !pod::is_sidecar(c)).filter_map(pick).max().unwrap_or(0);
        regular.max(init + sidecars)
    };
    let all = || pod::containers(pod).iter().chain(pod::init_containers(pod));
    let milli_request = |c: &Container| requested(c, "cpu").or_else(|| limited(c, "cpu")).map(resource::milli_value);
    let milli_limit = |c: &Container| limited(c, "cpu").map(resource::milli_value).filter(|v| *v > 0);
    let memory_limit = |c: &Container| limited(c, "memory").map(resource::value).filter(|v| *v > 0);
    PodCgroup {
        cpu_shares: cpu_shares(sum(milli_request)),
        cpu_quota: all().all(|c| milli_limit(c).is_some()).then(|| cpu_quota(sum(milli_limit))),
        memory_limit: all().all(|c| memory_limit(c).is_some()).then(|| sum(memory_limit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use serde_json::json;

    fn check(resources: serde_json::Value) -> LinuxContainerResources {
        let pod = pod(json!({ "containers": [{ "name": "a", "resources": resources }] }));
        let machine = Machine { memory_capacity: 4 << 30, ..Default::default() };
        compute_resources(&pod, &pod::containers(&pod)[0], &machine)
    }

    #[test]
    fn requests_and_limits_become_cgroup_numbers() {
        let none = check(json!({}));
        assert_eq!((none.cpu_shares, none.cpu_quota, none.memory_limit_in_bytes, none.oom_score_adj), (2, 0, 0, 1000));
        let burst = check(json!({ "requests": { "cpu": "250m", "memory": "1Gi" }, "limits": { "cpu": "500m" } }));
        assert_eq!((burst.cpu_shares, burst.cpu_quota, burst.oom_score_adj), (256, 50_000, 750));
        let sure = check(json!({ "limits": { "cpu": "2", "memory": "64Mi" } }));
        assert_eq!((sure.cpu_shares, sure.memory_limit_in_bytes, sure.oom_score_adj), (2048, 64 << 20, -997));
        assert_eq!(check(json!({ "limits": { "cpu": "1m" } })).cpu_quota, 1000);
    }

    #[test]
    fn a_pod_is_limited_only_if_all_its_containers_are() {
        let limited = json!({ "name": "a", "resources": { "limits": { "cpu": "1", "memory": "64Mi" } } });
        let one = pod(json!({ "containers": [limited.clone()] }));
        assert_eq!(compute_pod_cgroup(&one).memory_limit, Some(64 << 20));
        let two = pod(json!({ "containers": [limited, { "name": "b" }] }));
        assert_eq!(compute_pod_cgroup(&two).memory_limit, None);
    }
}
