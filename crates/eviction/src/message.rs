//! The words of an eviction: the pod's message, and the annotations of its event (upstream:
//! `evictionMessage` of pkg/kubelet/eviction/helpers.go).

use crate::pressure::Conditions;
use crate::signal::Resource;
use crate::threshold::{Observations, Threshold};
use crate::usage::{Candidate, ContainerUsage, DiskUsage};
use ferry_api::quantity::{Format, Quantity};
use ferry_api::rules::pod_requests::has_pod_level_resources;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The reason of the status and of the event of an evicted pod.
pub const EVICTED: &str = "Evicted";

pub type Annotations = BTreeMap<&'static str, String>;

/// The message about a pod that goes because `resource` runs short. `starved` are the thresholds
/// that are acted on, in their order.
pub fn eviction_message(
    resource: Resource,
    candidate: Candidate<'_>,
    starved: &[Threshold],
    observations: &Observations,
) -> (String, Annotations) {
    let mut message = format!("The node was low on resource: {resource}. ");
    let mut annotations = Annotations::new();
    let met = starved.iter().filter(|threshold| threshold.signal.resource() == resource);
    if let Some((threshold, observed)) =
        met.filter_map(|threshold| Some((threshold, observations.get(&threshold.signal)?))).next()
    {
        let quantity = threshold.value.quantity(observed.capacity);
        let _ = write!(message, "Threshold quantity: {quantity}, available: {}. ", observed.available);
    }
    let Candidate { pod, usage: Some(usage) } = candidate else { return (message, annotations) };
    let whole = pod.spec().resources().filter(|_| has_pod_level_resources(pod.spec()));
    if resource == Resource::Memory
        && let Some(request) = whole.and_then(|own| own.requests().get("memory"))
        && let Some(used) = usage.memory
    {
        let (name, used) = (pod.metadata().name(), bytes(used));
        let _ = write!(
            message,
            "Pod {name} was using {used}, request is {request}, has larger consumption of {resource}. "
        );
        annotations.insert("offending_pod", name.to_owned());
        annotations.insert("offending_pod_usage", used.to_string());
    }
    let (mut names, mut amounts) = (Vec::new(), Vec::new());
    for container in &usage.containers {
        let of_name = pod.spec().containers().iter().chain(pod.spec().init_containers());
        let Some(spec) = of_name.into_iter().find(|spec| spec.name() == container.name) else { continue };
        let request = spec.resources().requests().get(resource.as_str()).unwrap_or_default();
        let Some(used) = used_by(container, resource).filter(|used| *used > request) else { continue };
        let name = &container.name;
        let _ = write!(
            message,
            "Container {name} was using {used}, request is {request}, has larger consumption of {resource}. "
        );
        names.push(name.as_str());
        amounts.push(used.to_string());
    }
    annotations.insert("offending_containers", names.join(","));
    annotations.insert("offending_containers_usage", amounts.join(","));
    annotations.insert("starved_resource", resource.as_str().to_owned());
    (message, annotations)
}

/// The message of a pod that is rejected while these conditions hold.
pub fn rejection_message(conditions: &Conditions) -> String {
    let names: Vec<&str> = conditions.iter().map(|condition| condition.as_str()).collect();
    format!("The node had condition: [{}]. ", names.join(" "))
}

fn used_by(container: &ContainerUsage, resource: Resource) -> Option<Quantity> {
    match resource {
        Resource::Memory => container.memory.map(bytes),
        Resource::EphemeralStorage => {
            let DiskUsage { bytes: used, .. } = container.root?.plus(container.logs?);
            Some(bytes(used))
        }
        Resource::Inodes | Resource::Pids => None,
    }
}

pub(crate) fn bytes(amount: u64) -> Quantity {
    Quantity::from_int(i64::try_from(amount).unwrap_or(i64::MAX), Format::BinarySi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{NodeCondition, Signal};
    use crate::threshold::{Observation, ThresholdValue};
    use crate::usage::PodUsage;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;
    use serde_json::json;

    const MI: u64 = 1 << 20;

    #[test]
    fn containers_above_their_requests_are_named() {
        let pod = Pod::from(json!({ "metadata": { "name": "web" }, "spec": {
            "containers": [{ "name": "a", "resources": { "requests": { "memory": "64Mi" } } }, { "name": "b" },
                { "name": "within", "resources": { "requests": { "memory": "1Gi" } } }],
            "initContainers": [{ "name": "side" }] } }));
        let container = |name: &str, memory| ContainerUsage { name: name.into(), memory, ..ContainerUsage::default() };
        let usage = PodUsage {
            containers: vec![
                container("a", Some(128 * MI)),
                container("b", Some(1025)),
                container("within", Some(MI)),
                container("side", Some(2048)),
                container("debugger", Some(MI)),
            ],
            ..PodUsage::default()
        };
        let hundred = ThresholdValue::Quantity(Quantity::parse("100Mi").expect("read"));
        let starved = [Threshold::hard(Signal::MemoryAvailable, hundred)];
        let observations = [(Signal::MemoryAvailable, Observation::bytes(99 * MI, 1 << 30))].into();
        let candidate = Candidate { pod: pod.view(), usage: Some(&usage) };
        let (message, annotations) = eviction_message(Resource::Memory, candidate, &starved, &observations);
        assert_eq!(
            message,
            "The node was low on resource: memory. Threshold quantity: 100Mi, available: 99Mi. \
             Container a was using 128Mi, request is 64Mi, has larger consumption of memory. \
             Container b was using 1025, request is 0, has larger consumption of memory. \
             Container side was using 2Ki, request is 0, has larger consumption of memory. "
        );
        assert_eq!(annotations["offending_containers"], "a,b,side");
        assert_eq!(annotations["offending_containers_usage"], "128Mi,1025,2Ki");
        assert_eq!(annotations["starved_resource"], "memory");
        let unknown = Candidate { pod: pod.view(), usage: None };
        let (message, annotations) = eviction_message(Resource::Inodes, unknown, &starved, &observations);
        assert_eq!((message.as_str(), annotations.len()), ("The node was low on resource: inodes. ", 0));
    }

    #[test]
    fn a_pod_with_a_request_of_its_own_is_named() {
        let pod = Pod::from(json!({ "metadata": { "name": "web" }, "spec": { "containers": [{ "name": "a" }],
            "resources": { "requests": { "memory": "1Mi" } } } }));
        let usage = PodUsage { memory: Some(3 * MI), ..PodUsage::default() };
        let candidate = Candidate { pod: pod.view(), usage: Some(&usage) };
        let (message, annotations) = eviction_message(Resource::Memory, candidate, &[], &Observations::new());
        assert_eq!(
            message,
            "The node was low on resource: memory. Pod web was using 3Mi, request is 1Mi, has larger consumption of memory. "
        );
        assert_eq!(
            (annotations["offending_pod"].as_str(), annotations["offending_pod_usage"].as_str()),
            ("web", "3Mi")
        );
    }

    #[test]
    fn storage_counts_the_layer_and_the_logs_where_both_are_known() {
        let pod = Pod::from(json!({ "metadata": { "name": "web" },
            "spec": { "containers": [{ "name": "a", "resources": { "requests": { "ephemeral-storage": "1Ki" } } }] } }));
        let disk = |bytes| Some(DiskUsage { bytes, inodes: 1 });
        let message = |root, logs| {
            let container = ContainerUsage { name: "a".into(), root, logs, memory: None };
            let usage = PodUsage { containers: vec![container], ..PodUsage::default() };
            let candidate = Candidate { pod: pod.view(), usage: Some(&usage) };
            eviction_message(Resource::EphemeralStorage, candidate, &[], &Observations::new()).0
        };
        assert_eq!(
            message(disk(1024), disk(1024)),
            "The node was low on resource: ephemeral-storage. Container a was using 2Ki, request is 1Ki, has larger consumption of ephemeral-storage. "
        );
        assert_eq!(message(disk(4096), None), "The node was low on resource: ephemeral-storage. ");
    }

    #[test]
    fn a_rejection_names_all_conditions() {
        let both = Conditions::from([NodeCondition::PidPressure, NodeCondition::DiskPressure]);
        assert_eq!(rejection_message(&both), "The node had condition: [DiskPressure PIDPressure]. ");
    }
}
