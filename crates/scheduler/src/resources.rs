//! The amounts that pods request and nodes have, as numbers that are added and compared for
//! every node of a search. The sums are those of [`pod_requests`].

use ferry_api::quantity::Quantity;
use ferry_api::rules::pod_requests;
use ferry_api::view::core::v1::PodView;
use std::collections::BTreeMap;

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

/// A resource that plugins score by, told from its name once and not for every node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceKey {
    Cpu,
    Memory,
    EphemeralStorage,
    Scalar(String),
}

impl From<&str> for ResourceKey {
    fn from(name: &str) -> Self {
        match name {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            "ephemeral-storage" => Self::EphemeralStorage,
            _ => Self::Scalar(name.to_owned()),
        }
    }
}

impl Resources {
    pub fn of<'a>(amounts: impl IntoIterator<Item = (&'a str, Quantity)>) -> Self {
        let mut out = Self::default();
        for (name, amount) in amounts {
            match name {
                "cpu" => out.milli_cpu = amount.milli_value(),
                "memory" => out.memory = amount.value(),
                "ephemeral-storage" => out.ephemeral_storage = amount.value(),
                "pods" => out.pods = amount.value(),
                _ => drop(out.scalar.insert(name.to_owned(), amount.value())),
            }
        }
        out
    }

    pub fn add(&mut self, other: &Self) {
        self.combine(other, i64::saturating_add);
    }

    pub fn subtract(&mut self, other: &Self) {
        self.combine(other, i64::saturating_sub);
    }

    fn combine(&mut self, other: &Self, with: impl Fn(i64, i64) -> i64) {
        self.milli_cpu = with(self.milli_cpu, other.milli_cpu);
        self.memory = with(self.memory, other.memory);
        self.ephemeral_storage = with(self.ephemeral_storage, other.ephemeral_storage);
        for (name, &amount) in &other.scalar {
            match self.scalar.get_mut(name) {
                Some(own) => *own = with(*own, amount),
                None => drop(self.scalar.insert(name.clone(), with(0, amount))),
            }
        }
    }

    /// Asks for nothing of a node but a place.
    pub fn is_zero(&self) -> bool {
        self.milli_cpu == 0 && self.memory == 0 && self.ephemeral_storage == 0 && self.scalar.is_empty()
    }

    /// The amount of any resource; of cpu in thousandths.
    pub fn get(&self, resource: &ResourceKey) -> i64 {
        match resource {
            ResourceKey::Cpu => self.milli_cpu,
            ResourceKey::Memory => self.memory,
            ResourceKey::EphemeralStorage => self.ephemeral_storage,
            ResourceKey::Scalar(name) => self.scalar(name),
        }
    }

    pub fn scalar(&self, name: &str) -> i64 {
        self.scalar.get(name).copied().unwrap_or(0)
    }
}

/// The amounts that a pod takes of a node, overhead included.
pub fn compute_requests(pod: PodView<'_>) -> Resources {
    Resources::of(pod_requests::requests(pod))
}

/// The same with the defaults that scoring counts for containers that ask for nothing.
pub fn compute_non_zero_requests(pod: PodView<'_>) -> Resources {
    Resources::of(pod_requests::non_zero_requests(pod))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(spec: Value, milli_cpu: i64, memory: i64) {
        let requests = compute_requests(PodView::from(&json!({"spec": spec})));
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
        let pod = json!({"spec": {"containers": [{}, container("1")]}});
        let requests = compute_non_zero_requests(PodView::from(&pod));
        assert_eq!((requests.milli_cpu, requests.memory), (1100, 200 * 1024 * 1024 + 1024));
    }

    #[test]
    fn extended_resources_add_up_and_are_given_back() {
        let gpus = |amount: i64| Resources { scalar: [("gpu".to_owned(), amount)].into(), ..Default::default() };
        let mut total = Resources::default();
        total.add(&gpus(2));
        total.add(&gpus(1));
        total.subtract(&gpus(2));
        assert_eq!(total, gpus(1));
    }
}
