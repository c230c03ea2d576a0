//! The resources that a resize may change, in numbers that can be compared, and the part of a
//! pod's spec that remembers them. Pure.

use ferry_api::view::core::v1::{ContainerView, Pod, PodSpecView, PodView, ResourceRequirementsView};
use ferry_api::view::{View, alike};
use ferry_client::SharedObject;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// CPU in thousandths and memory in bytes, of one container. Zero is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContainerAmounts {
    pub cpu_request: i64,
    pub cpu_limit: i64,
    pub memory_request: i64,
    pub memory_limit: i64,
}

impl ContainerAmounts {
    /// A container without a limit has the pod's own (upstream: GetLimits of
    /// pkg/kubelet/util/util.go).
    pub fn of(spec: PodSpecView<'_>, container: ContainerView<'_>) -> Self {
        let (own, whole) = (container.resources(), spec.resources().unwrap_or_default());
        let milli =
            |resources: ResourceRequirementsView<'_>| resources.limits().get("cpu").map(|cpu| cpu.milli_value());
        let bytes =
            |resources: ResourceRequirementsView<'_>| resources.limits().get("memory").map(|memory| memory.value());
        let stated = |amount: Option<i64>| amount.filter(|amount| *amount != 0);
        Self {
            cpu_request: own.requests().get("cpu").map_or(0, |cpu| cpu.milli_value()),
            cpu_limit: stated(milli(own)).or(milli(whole)).unwrap_or(0),
            memory_request: own.requests().get("memory").map_or(0, |memory| memory.value()),
            memory_limit: stated(bytes(own)).or(bytes(whole)).unwrap_or(0),
        }
    }

    /// Four numbers, for an annotation or a file.
    pub fn render(self) -> String {
        let Self { cpu_request, cpu_limit, memory_request, memory_limit } = self;
        format!("{cpu_request} {cpu_limit} {memory_request} {memory_limit}")
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        let found = Self { cpu_request: next()?, cpu_limit: next()?, memory_request: next()?, memory_limit: next()? };
        numbers.next().is_none().then_some(found)
    }
}

/// The resources that the node has set aside for a pod: those of its containers, and its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodAllocation {
    /// Null for a pod without resources of its own.
    pod: Value,
    containers: BTreeMap<String, Value>,
}

const LISTS: [&str; 2] = ["initContainers", "containers"];

impl PodAllocation {
    pub fn of(pod: PodView<'_>) -> Self {
        let spec = pod.spec();
        let containers = spec.init_containers().iter().chain(spec.containers());
        Self {
            pod: spec.resources().map(|own| own.node().to_value()).unwrap_or_default(),
            containers: containers
                .map(|container| (container.name().to_owned(), container.resources().node().to_value()))
                .collect(),
        }
    }

    /// Whether there is anything that a resize could change. A pod without requests and limits
    /// is of the class BestEffort, which a resize must keep.
    pub fn is_stated(&self) -> bool {
        let is_stated = |resources: &Value| {
            let lists = ["requests", "limits"].into_iter().filter_map(|list| resources.get(list)?.as_object());
            lists.flat_map(Map::keys).any(|name| name == "cpu" || name == "memory")
        };
        is_stated(&self.pod) || self.containers.values().any(is_stated)
    }

    /// Whether the pod asks for other amounts. Other words for the same amount are no difference.
    pub fn differs(&self, pod: PodView<'_>) -> bool {
        let spec = pod.spec();
        let mut containers = spec.init_containers().iter().chain(spec.containers());
        let own = spec.resources().unwrap_or_default();
        !same_resources((&self.pod).into(), own)
            || containers.any(|container| {
                let known = self.containers.get(container.name());
                known.is_some_and(|known| !same_resources(known.into(), container.resources()))
            })
    }

    /// The pod with these resources in its spec.
    pub fn overlay(&self, pod: &SharedObject<Pod>) -> SharedObject<Pod> {
        if !self.differs(pod.view()) {
            return pod.clone();
        }
        let mut value: Value = pod.to_owned().into();
        let Some(spec) = value.get_mut("spec").and_then(Value::as_object_mut) else { return pod.clone() };
        match &self.pod {
            Value::Null => drop(spec.remove("resources")),
            own => drop(spec.insert("resources".into(), own.clone())),
        }
        for list in LISTS {
            for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
                let Some(known) = self.containers.get(name).cloned() else { continue };
                if let Some(fields) = container.as_object_mut() {
                    fields.insert("resources".into(), if known.is_null() { json!({}) } else { known });
                }
            }
        }
        SharedObject::of(value)
    }

    pub fn to_value(&self) -> Value {
        json!({ "pod": self.pod, "containers": self.containers })
    }

    pub fn from_value(value: &Value) -> Option<Self> {
        let containers = value.get("containers")?.as_object()?;
        Some(Self {
            pod: value.get("pod").cloned().unwrap_or_default(),
            containers: containers.iter().map(|(name, resources)| (name.clone(), resources.clone())).collect(),
        })
    }
}

fn same_resources(a: ResourceRequirementsView<'_>, b: ResourceRequirementsView<'_>) -> bool {
    let amounts = |resources: ResourceRequirementsView<'_>| -> [BTreeMap<String, _>; 2] {
        [resources.requests(), resources.limits()]
            .map(|list| list.iter().map(|(name, amount)| (name.to_owned(), amount)).collect())
    };
    amounts(a) == amounts(b) && alike(a.claims().node(), b.claims().node())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;

    fn sized(cpu: &str) -> Pod {
        pod(json!({ "containers": [{ "name": "a", "resources": { "requests": { "cpu": cpu, "memory": "1Mi" } } }] }))
    }

    #[test]
    fn other_words_for_an_amount_are_no_resize() {
        let allocation = PodAllocation::of(sized("1").view());
        assert!(!allocation.differs(sized("1000m").view()));
        assert!(allocation.differs(sized("1001m").view()));
        let overlaid = allocation.overlay(&SharedObject::of(sized("2")));
        assert!(!allocation.differs(overlaid.view()));
        assert_eq!(PodAllocation::from_value(&allocation.to_value()), Some(allocation));
    }

    #[test]
    fn a_pod_without_amounts_has_nothing_to_resize() {
        let bare = pod(json!({ "containers": [{ "name": "a" }] }));
        assert!(!PodAllocation::of(bare.view()).is_stated());
        assert!(PodAllocation::of(sized("1").view()).is_stated());
        let whole = pod(json!({ "resources": { "limits": { "memory": "1Mi" } }, "containers": [{ "name": "a" }] }));
        assert!(PodAllocation::of(whole.view()).is_stated());
    }

    #[test]
    fn a_container_without_a_limit_has_the_pods() {
        let pod = pod(json!({ "resources": { "limits": { "cpu": "1", "memory": "2Mi" } }, "containers": [
            { "name": "a", "resources": { "requests": { "cpu": "10m" }, "limits": { "cpu": "100m" } } }] }));
        let container = pod.view().spec().containers().first().expect("a container");
        let amounts = ContainerAmounts::of(pod.view().spec(), container);
        let expected = ContainerAmounts { cpu_request: 10, cpu_limit: 100, memory_request: 0, memory_limit: 2 << 20 };
        assert_eq!(amounts, expected);
        assert_eq!(ContainerAmounts::parse(&amounts.render()), Some(amounts));
        for text in ["", "1 2 3", "1 2 3 4 5", "1 2 3 x"] {
            assert_eq!(ContainerAmounts::parse(text), None, "{text:?}");
        }
    }
}
