//! What a pod asks for in all (upstream's component-helpers/resource): the sum of the
//! containers that run side by side, or the most that the pod needs while it initializes,
//! whichever is more; amounts that are stated for the pod itself count instead.
//!
//! A running container counts with what it has been given where that is more than what
//! its spec says, until a resize is through.

use super::is_restartable_init_container;
use crate::object::Meta;
use crate::quantity::{Quantity, from_value};
use serde_json::Value;
use std::collections::BTreeMap;

pub type Amounts<'a> = BTreeMap<&'a str, Quantity>;

/// The aggregate of every container's `requests` or `limits`, as the spec has them.
pub fn aggregate<'a>(spec: &'a Value, which: &str) -> Amounts<'a> {
    sum(spec, |container| amounts(container.get("resources"), which))
}

/// What the whole pod requests, with its overhead.
pub fn requests(pod: &Value) -> Amounts<'_> {
    let mut total = effective(pod, "requests");
    add(&mut total, &amounts(pod.get("spec"), "overhead"));
    total
}

/// What the whole pod is limited to. The overhead is added to limits that there are.
pub fn limits(pod: &Value) -> Amounts<'_> {
    let mut total = effective(pod, "limits");
    for (name, more) in amounts(pod.get("spec"), "overhead") {
        if let Some(limit) = total.get_mut(name).filter(|limit| !limit.is_zero()) {
            *limit = limit.add(&more);
        }
    }
    total
}

/// The resources that may be stated for a pod as a whole.
pub fn is_own_resource(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// Whether amounts are stated for the pod as a whole.
pub fn has_own_resources(pod: &Value) -> bool {
    ["requests", "limits"]
        .iter()
        .any(|which| amounts(pod.at(&["spec", "resources"]), which).keys().any(|name| is_own_resource(name)))
}

fn effective<'a>(pod: &'a Value, which: &str) -> Amounts<'a> {
    let Some(spec) = pod.get("spec") else { return Amounts::new() };
    let infeasible = pod.items_at(&["status", "conditions"]).iter().any(|condition| {
        condition.str_at(&["type"]) == "PodResizePending" && condition.str_at(&["reason"]) == "Infeasible"
    });
    let mut total = sum(spec, |container| {
        let stated = amounts(container.get("resources"), which);
        // An init container that is over by the time the others run has nothing to resize.
        let is_sidecar = is_restartable_init_container(container);
        let statuses: &[&str] =
            if is_sidecar { &["containerStatuses", "initContainerStatuses"] } else { &["containerStatuses"] };
        let status = statuses
            .iter()
            .flat_map(|list| pod.items_at(&["status", list]))
            .find(|status| status.str_at(&["name"]) == container.str_at(&["name"]))
            .filter(|status| status.get("resources").is_some_and(Value::is_object));
        let Some(status) = status else { return stated };
        let mut given = amounts(status.get("resources"), which);
        if which == "requests" {
            raise(&mut given, &amounts(Some(status), "allocatedResources"));
        }
        if !infeasible {
            raise(&mut given, &stated);
        }
        given
    });
    for (name, amount) in amounts(spec.get("resources"), which) {
        if is_own_resource(name) {
            total.insert(name, amount);
        }
    }
    total
}

fn sum<'a>(spec: &'a Value, of: impl Fn(&'a Value) -> Amounts<'a>) -> Amounts<'a> {
    let mut total = Amounts::new();
    for container in spec.items_at(&["containers"]) {
        add(&mut total, &of(container));
    }
    // Sidecars run beside all that starts after them; other init containers run alone
    // but for the sidecars started before.
    let mut sidecars = Amounts::new();
    let mut initializing = Amounts::new();
    for container in spec.items_at(&["initContainers"]) {
        let mut needs = of(container);
        if is_restartable_init_container(container) {
            add(&mut total, &needs);
            add(&mut sidecars, &needs);
            needs = sidecars.clone();
        } else {
            add(&mut needs, &sidecars);
        }
        raise(&mut initializing, &needs);
    }
    raise(&mut total, &initializing);
    total
}

/// The quantities of the list at a key; what does not parse is left to validation.
pub(super) fn amounts<'a>(holder: Option<&'a Value>, key: &str) -> Amounts<'a> {
    let Some(Value::Object(list)) = holder.and_then(|holder| holder.get(key)) else { return Amounts::new() };
    list.iter().filter_map(|(name, value)| Some((name.as_str(), from_value(value)?))).collect()
}

fn add<'a>(to: &mut Amounts<'a>, more: &Amounts<'a>) {
    for (name, amount) in more {
        match to.get_mut(name) {
            Some(sum) => *sum = sum.add(amount),
            None => drop(to.insert(name, *amount)),
        }
    }
}

fn raise<'a>(to: &mut Amounts<'a>, other: &Amounts<'a>) {
    for (name, amount) in other {
        if to.get(name).is_none_or(|current| current < amount) {
            to.insert(name, *amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn init_containers_count_by_their_most() {
        let needs = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let mut sidecar = needs("1");
        sidecar["restartPolicy"] = "Always".into();
        let spec = json!({"containers": [needs("1"), needs("500m")], "initContainers": [sidecar, needs("4")]});
        let total = aggregate(&spec, "requests");
        assert_eq!(total["cpu"].to_string(), "5");
    }

    #[test]
    fn overhead_is_added_and_limits_take_it_only_where_there_are_some() {
        let pod = json!({"spec": {
            "overhead": {"cpu": "250m", "memory": "1Mi"},
            "containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}],
        }});
        let show = |amounts: Amounts<'_>| amounts.iter().map(|(n, q)| format!("{n}={q}")).collect::<Vec<_>>().join(",");
        assert_eq!(show(requests(&pod)), "cpu=1250m,memory=1Mi");
        assert_eq!(show(limits(&pod)), "cpu=2250m");
    }

    #[test]
    fn a_resize_that_is_not_through_counts_with_the_larger_amount() {
        let mut pod = json!({
            "spec": {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"containerStatuses": [{"name": "a", "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "1500m"}}]},
        });
        assert_eq!(requests(&pod)["cpu"].to_string(), "2");
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "5".into();
        assert_eq!(requests(&pod)["cpu"].to_string(), "5");
        pod["status"]["conditions"] = json!([{"type": "PodResizePending", "reason": "Infeasible"}]);
        assert_eq!(requests(&pod)["cpu"].to_string(), "2");
        pod["spec"]["resources"] = json!({"requests": {"cpu": "7"}});
        assert_eq!(requests(&pod)["cpu"].to_string(), "7");
        assert!(has_own_resources(&pod));
    }
}
