//! What pods ask for and nodes have, as numbers. The rules for a pod are upstream's
//! component-helpers/resource: containers add up, init containers run one after another
//! so only the largest counts, and sidecars run beside all that come after them.

use crate::view::{Container, Pod, ResourceList};
use ferry_api::quantity::Quantity;
use std::collections::BTreeMap;

/// What a container that asks for nothing is counted as when nodes are scored, so that
/// such pods do not all go to one node.
const DEFAULT_MILLI_CPU: i64 = 100;
const DEFAULT_MEMORY: i64 = 200 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    pub milli_cpu: i64,
    pub memory: i64,
    pub ephemeral_storage: i64,
    /// Pods that fit; only nodes have it.
    pub pods: i64,
    /// Huge pages and extended resources.
    pub scalar: BTreeMap<String, i64>,
}

impl Resources {
    /// Amounts that do not parse count as none: the API has checked them.
    pub fn of(list: &ResourceList) -> Self {
        let mut out = Self::default();
        for (name, amount) in list {
            let Ok(quantity) = Quantity::parse(amount) else { continue };
            match name.as_str() {
                "cpu" => out.milli_cpu = quantity.milli_value(),
                "memory" => out.memory = quantity.value(),
                "ephemeral-storage" => out.ephemeral_storage = quantity.value(),
                "pods" => out.pods = quantity.value(),
                _ => {
                    out.scalar.insert(name.clone(), quantity.value());
                }
            }
        }
        out
    }

    pub fn add(&mut self, other: &Self) {
        self.combine(other, |own, other| own.saturating_add(other));
    }

    pub fn subtract(&mut self, other: &Self) {
        self.combine(other, |own, other| own.saturating_sub(other));
    }

    /// Raises each amount to the other's where that is larger.
    pub fn raise_to(&mut self, other: &Self) {
        self.combine(other, i64::max);
    }

    fn combine(&mut self, other: &Self, with: impl Fn(i64, i64) -> i64) {
        self.milli_cpu = with(self.milli_cpu, other.milli_cpu);
        self.memory = with(self.memory, other.memory);
        self.ephemeral_storage = with(self.ephemeral_storage, other.ephemeral_storage);
        for (name, &amount) in &other.scalar {
            let own = self.scalar.entry(name.clone()).or_default();
            *own = with(*own, amount);
        }
    }

    /// Asks for nothing of a node but a place.
    pub fn is_zero(&self) -> bool {
        self.milli_cpu == 0 && self.memory == 0 && self.ephemeral_storage == 0 && self.scalar.is_empty()
    }

    pub fn scalar(&self, name: &str) -> i64 {
        self.scalar.get(name).copied().unwrap_or(0)
    }
}

/// What a pod asks for, overhead included.
pub fn compute_requests(pod: &Pod) -> Resources {
    sum(pod, |container| Resources::of(&container.resources.requests))
}

/// The same with the defaults that scoring counts for containers that ask for nothing.
pub fn compute_non_zero_requests(pod: &Pod) -> Resources {
    sum(pod, |container| {
        let requests = &container.resources.requests;
        let mut resources = Resources::of(requests);
        if !requests.contains_key("cpu") {
            resources.milli_cpu = DEFAULT_MILLI_CPU;
        }
        if !requests.contains_key("memory") {
            resources.memory = DEFAULT_MEMORY;
        }
        resources
    })
}

fn sum(pod: &Pod, requests: impl Fn(&Container) -> Resources) -> Resources {
    let mut total = Resources::default();
    for container in &pod.spec.containers {
        total.add(&requests(container));
    }
    let mut sidecars = Resources::default();
    let mut initial = Resources::default();
    for container in &pod.spec.init_containers {
        let own = requests(container);
        if container.restart_policy.as_deref() == Some("Always") {
            total.add(&own);
            sidecars.add(&own);
            initial.raise_to(&sidecars);
        } else {
            let mut while_it_runs = own;
            while_it_runs.add(&sidecars);
            initial.raise_to(&while_it_runs);
        }
    }
    total.raise_to(&initial);
    if let Some(whole) = &pod.spec.resources {
        let own = Resources::of(&whole.requests);
        for name in whole.requests.keys() {
            match name.as_str() {
                "cpu" => total.milli_cpu = own.milli_cpu,
                "memory" => total.memory = own.memory,
                other if other.starts_with("hugepages-") => {
                    total.scalar.insert(other.to_owned(), own.scalar(other));
                }
                _ => {}
            }
        }
    }
    total.add(&Resources::of(&pod.spec.overhead));
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(spec: Value, milli_cpu: i64, memory: i64) {
        let pod: Pod = serde_json::from_value(json!({"spec": spec})).expect("a pod");
        let requests = compute_requests(&pod);
        assert_eq!((requests.milli_cpu, requests.memory), (milli_cpu, memory), "{spec}");
    }

    fn container(cpu: &str) -> Value {
        json!({"resources": {"requests": {"cpu": cpu, "memory": "1Ki"}}})
    }

    fn sidecar(cpu: &str) -> Value {
        let mut container = container(cpu);
        container["restartPolicy"] = "Always".into();
        container
    }

    #[test]
    fn containers_add_up_and_init_containers_do_not() {
        check(json!({"containers": [container("100m"), container("1")]}), 1100, 2048);
        check(json!({"containers": [container("1")], "initContainers": [container("3"), container("2")]}), 3000, 1024);
        check(json!({"containers": [container("1")], "overhead": {"cpu": "10m"}}), 1010, 1024);
    }

    #[test]
    fn sidecars_run_beside_what_comes_after_them() {
        check(json!({"containers": [container("1")], "initContainers": [sidecar("1"), container("3")]}), 4000, 2048);
        check(json!({"containers": [container("1")], "initContainers": [container("3"), sidecar("1")]}), 3000, 2048);
        check(json!({"containers": [container("2")], "initContainers": [sidecar("1"), sidecar("1")]}), 4000, 3072);
    }

    #[test]
    fn what_the_pod_asks_for_as_a_whole_counts() {
        check(json!({"containers": [container("1")], "resources": {"requests": {"cpu": "500m"}}}), 500, 1024);
    }

    #[test]
    fn scoring_counts_something_for_nothing() {
        let pod: Pod = serde_json::from_value(json!({"spec": {"containers": [{}, container("1")]}})).expect("a pod");
        let requests = compute_non_zero_requests(&pod);
        assert_eq!((requests.milli_cpu, requests.memory), (1100, 200 * 1024 * 1024 + 1024));
    }
}
