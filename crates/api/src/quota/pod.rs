//! Pods: their number while they run, and what they request and are limited to.

use super::{Amounts, Requirement, add, one};
use crate::object::Meta;
use crate::rules::pod::is_terminal;
use crate::rules::pod_requests::{self, Options, compute_limits, compute_requests, has_pod_level_resources};
use crate::rules::qos::{QosClass, qos_class};
use crate::rules::resource_name::{REQUESTS, is_extended, is_huge_page, is_native};
use crate::view::core::v1::PodView;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const COUNT: &str = "count/pods";
const DEVICE_CLASS: &str = "deviceclass.resource.kubernetes.io/";

const COMPUTE: [&str; 11] = [
    COUNT,
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];

/// A quota of these makes every container state them. Upstream regrets it and adds no more.
const MUST_BE_STATED: [&str; 6] = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

pub(super) fn measures(name: &str) -> bool {
    let requested = name.strip_prefix(REQUESTS);
    COMPUTE.contains(&name)
        || is_huge_page(name)
        || requested.is_some_and(|name| is_huge_page(name) || name.starts_with(DEVICE_CLASS))
        || (requested.is_some() && !is_native(name))
}

/// A pod that is over, or whose time to end has passed, holds nothing but its place in
/// the store.
pub fn counts(pod: &Value, now: Timestamp) -> bool {
    let pod = PodView::from(pod);
    if is_terminal(pod) {
        return false;
    }
    match (pod.metadata().deletion_timestamp(), pod.metadata().deletion_grace_period_seconds()) {
        (Some(deleted), Some(grace)) => {
            deleted.checked_add(SignedDuration::from_secs(grace)).is_ok_and(|end| now <= end)
        }
        _ => true,
    }
}

pub(super) fn usage(pod: &Value, now: Timestamp) -> Amounts {
    let count = Amounts::from([(COUNT.to_owned(), one())]);
    if !counts(pod, now) {
        return count;
    }
    let (spec, status) = (PodView::from(pod).spec(), PodView::from(pod).status());
    let requests = compute_requests(spec, status, &Options::QUOTA);
    add(&count, &compute(&requests, &compute_limits(spec, status, &Options::QUOTA)))
}

/// Requests and limits under the names that quotas have for them.
fn compute(requests: &pod_requests::Amounts<'_>, limits: &pod_requests::Amounts<'_>) -> Amounts {
    let mut out = Amounts::from([("pods".to_owned(), one())]);
    for (name, amount) in requests {
        let is_plain = matches!(*name, "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name);
        if is_plain {
            out.insert((*name).to_owned(), *amount);
        }
        if is_plain || is_extended(name) || name.starts_with(DEVICE_CLASS) {
            out.insert(format!("{REQUESTS}{name}"), *amount);
        }
    }
    for (name, amount) in limits {
        if matches!(*name, "cpu" | "memory" | "ephemeral-storage") {
            out.insert(format!("limits.{name}"), *amount);
        }
    }
    out
}

pub(super) fn check_constraints(required: &[&str], pod: &Value) -> Result<(), String> {
    if has_pod_level_resources(PodView::from(pod).spec()) {
        return Ok(());
    }
    let required = || required.iter().copied().filter(|name| MUST_BE_STATED.contains(name));
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in ["containers", "initContainers"].iter().flat_map(|list| pod.items_at(&["spec", list])) {
        let states = |which: &str, name: &str| container.at(&["resources", which, name]).is_some();
        for name in required() {
            let stated = match name.split_once('.') {
                Some((which, name)) => states(which, name),
                None => states("requests", name),
            };
            if !stated {
                missing.entry(name).or_default().insert(container.str_at(&["name"]));
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let of = |containers: &BTreeSet<&str>| containers.iter().copied().collect::<Vec<_>>().join(",");
    let parts: Vec<String> =
        missing.iter().map(|(name, containers)| format!("{name} for: {}", of(containers))).collect();
    Err(format!("must specify {}", parts.join("; ")))
}

/// Whether the pod has a time after which it is ended.
pub fn is_terminating(pod: &Value) -> bool {
    pod.i64_at(&["spec", "activeDeadlineSeconds"]).is_some_and(|seconds| seconds >= 0)
}

pub(super) fn matches_scope(requirement: &Requirement<'_>, pod: &Value) -> bool {
    match requirement.scope {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => qos_class(PodView::from(pod)) == QosClass::BestEffort,
        "NotBestEffort" => qos_class(PodView::from(pod)) != QosClass::BestEffort,
        "PriorityClass" => {
            let class = pod.str_at(&["spec", "priorityClassName"]);
            requirement.accepts(Some(class).filter(|class| !class.is_empty()))
        }
        "CrossNamespacePodAffinity" => reaches_other_namespaces(pod),
        _ => false,
    }
}

fn reaches_other_namespaces(pod: &Value) -> bool {
    let reaches = |term: &Value| {
        !term.items_at(&["namespaces"]).is_empty() || term.get("namespaceSelector").is_some_and(|v| !v.is_null())
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|affinity| {
        let at = |key: &str| pod.items_at(&["spec", "affinity", affinity, key]);
        at("requiredDuringSchedulingIgnoredDuringExecution").iter().any(reaches)
            || at("preferredDuringSchedulingIgnoredDuringExecution")
                .iter()
                .any(|weighted| weighted.get("podAffinityTerm").is_some_and(reaches))
    })
}

pub(super) fn needs_recount(old: &Value, new: &Value, now: Timestamp) -> bool {
    let given = |pod: &Value| -> Vec<Value> {
        ["containerStatuses", "initContainerStatuses"]
            .iter()
            .flat_map(|list| pod.items_at(&["status", list]))
            .map(|status| serde_json::json!([status.get("name"), status.get("resources")]))
            .collect()
    };
    is_terminating(old) != is_terminating(new) || (counts(old, now) && !counts(new, now)) || given(old) != given(new)
}

#[cfg(test)]
mod tests {
    use super::super::amounts::render;
    use super::*;
    use serde_json::json;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn container(name: &str, requests: Value, limits: Value) -> Value {
        json!({"name": name, "resources": {"requests": requests, "limits": limits}})
    }

    #[test]
    fn a_pod_uses_what_its_containers_request() {
        let pod = json!({"spec": {"containers": [
            container("a", json!({"cpu": "100m", "memory": "1Gi", "hugepages-2Mi": "2Mi", "example.com/gpu": "1"}), json!({"cpu": "1"})),
            container("b", json!({"cpu": "100m", "ephemeral-storage": "1Gi"}), json!({"ephemeral-storage": "2Gi"})),
        ]}});
        assert_eq!(
            render(&usage(&pod, NOW)),
            "count/pods=1,cpu=200m,ephemeral-storage=1Gi,hugepages-2Mi=2Mi,limits.cpu=1,limits.ephemeral-storage=2Gi,memory=1Gi,pods=1,requests.cpu=200m,requests.ephemeral-storage=1Gi,requests.example.com/gpu=1,requests.hugepages-2Mi=2Mi,requests.memory=1Gi"
        );
    }

    #[test]
    fn what_is_over_holds_only_its_place_in_the_store() {
        let gone = json!({"metadata": {"deletionTimestamp": "1969-12-31T23:00:00Z", "deletionGracePeriodSeconds": 30}});
        let going =
            json!({"metadata": {"deletionTimestamp": "1970-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}});
        for (pod, expected) in [
            (json!({"status": {"phase": "Succeeded"}}), "count/pods=1"),
            (json!({"status": {"phase": "Failed"}}), "count/pods=1"),
            (gone, "count/pods=1"),
            (going, "count/pods=1,pods=1"),
        ] {
            assert_eq!(render(&usage(&pod, NOW)), expected);
        }
    }

    #[test]
    fn what_must_be_stated_is_asked_of_every_container() {
        let pod = json!({"spec": {
            "containers": [container("b", json!({"cpu": "1"}), json!({})), container("a", json!({}), json!({}))],
            "initContainers": [container("i", json!({"cpu": "1", "memory": "1"}), json!({}))],
        }});
        let refused = check_constraints(&["limits.cpu", "memory", "pods", "requests.cpu"], &pod);
        assert_eq!(refused, Err("must specify limits.cpu for: a,b,i; memory for: a,b; requests.cpu for: a".to_owned()));
        assert_eq!(check_constraints(&["pods", "requests.ephemeral-storage"], &pod), Ok(()));
        let mut whole = pod;
        whole["spec"]["resources"] = json!({"requests": {"cpu": "3"}});
        assert_eq!(check_constraints(&["limits.cpu"], &whole), Ok(()));
    }

    #[test]
    fn scopes_sort_pods() {
        let check =
            |quota: Value, pod: Value| super::super::Evaluator::Pod.matches_scopes(&json!({"spec": quota}), &pod);
        let plain = || json!({"spec": {"containers": [{}]}});
        let busy = || json!({"spec": {"containers": [container("a", json!({"cpu": "1"}), json!({}))]}});
        assert!(check(json!({"scopes": ["BestEffort", "NotTerminating"]}), plain()));
        assert!(!check(json!({"scopes": ["BestEffort"]}), busy()));
        assert!(check(json!({"scopes": ["NotBestEffort"]}), busy()));
        let class = |operator: &str, values: Value| json!({"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": operator, "values": values}]}});
        let high = || json!({"spec": {"priorityClassName": "high"}});
        assert!(check(class("In", json!(["high"])), high()) && !check(class("In", json!(["low"])), high()));
        assert!(check(class("NotIn", json!(["low"])), high()) && check(class("NotIn", json!(["low"])), plain()));
        assert!(check(class("Exists", json!([])), high()) && !check(class("Exists", json!([])), plain()));
        assert!(check(class("DoesNotExist", json!([])), plain()));
        let term = json!({"labelSelector": {}, "topologyKey": "zone", "namespaces": ["other"]});
        let far = json!({"spec": {"affinity": {"podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}}});
        assert!(check(json!({"scopes": ["CrossNamespacePodAffinity"]}), far));
        assert!(!check(json!({"scopes": ["CrossNamespacePodAffinity"]}), plain()));
    }

    #[test]
    fn names_of_pods_resources_are_known() {
        for name in [
            "pods",
            "limits.cpu",
            "hugepages-2Mi",
            "requests.hugepages-1Gi",
            "requests.example.com/gpu",
            "requests.deviceclass.resource.kubernetes.io/gpu",
        ] {
            assert!(measures(name), "{name}");
        }
        for name in ["services", "requests.storage", "example.com/gpu", "limits.example.com/gpu", "count/secrets"] {
            assert!(!measures(name), "{name}");
        }
    }
}
