//! The resources in a status: allocated, and as the cgroups have them (upstream:
//! convertContainerStatusResources and convertToAPIPodLevelResourcesStatus of
//! pkg/kubelet/kubelet_pods.go).
//!
//! A cgroup's number stands for the allocated amount wherever that gives the same number, so that
//! rounding in the kernel is no difference in the API.

use super::Inputs;
use crate::cgroup::CgroupValues;
use crate::observed::State;
use ferry_api::quantity::{Format, Quantity};
use ferry_api::rules::pod_requests::{Amounts, spec_limits, spec_requests};
use ferry_api::view::View;
use ferry_api::view::core::v1::{
    ContainerStatusView, ContainerView, PodStatus, ResourceRequirements, ResourceRequirementsView,
};
use serde_json::{Map, Value, json};

/// Requests of up to this and limits of up to that are the least that the kernel knows, whatever
/// was asked for; thousandths of a CPU.
const LEAST_REQUEST: i64 = 2;
const LEAST_LIMIT: i64 = 10;

/// The resources of one container: those allocated, with CPU and memory as its cgroup has them.
pub(super) fn of_container(
    inputs: &Inputs<'_>,
    container: ContainerView<'_>,
    before: Option<ContainerStatusView<'_>>,
) -> ResourceRequirements {
    let mut resources = stated(container.resources());
    let record = inputs.runtime.latest(container.name()).filter(|record| record.state == State::Running);
    let Some(record) = record else { return ResourceRequirements::from(resources) };
    let old = before.filter(|before| before.container_id().ends_with(&record.id)).and_then(|old| old.resources());
    let old = old.unwrap_or_default();
    let values = record.cgroup.unwrap_or_default();
    if let Some(limits) = list(&mut resources, "limits") {
        set_cpu_limit(limits, &values, old);
        set_memory_limit(limits, &values, old);
    }
    if let Some(requests) = list(&mut resources, "requests") {
        set_cpu_request(requests, &values, old);
        // The kernel knows nothing of a memory request.
        match record.actuated.map(|actuated| actuated.memory_request) {
            Some(bytes) => set(requests, "memory", Some(bytes), |amount| amount.value(), bytes_text),
            None => keep_old(requests, "memory", old.requests().get("memory")),
        }
    }
    ResourceRequirements::from(resources)
}

/// status.resources and status.allocatedResources of the pod as a whole.
pub(super) fn set_pod_resources(inputs: &Inputs<'_>, phase: &str, status: &mut PodStatus) {
    let spec = inputs.pod.spec();
    let requests = spec_requests(spec);
    status.set_allocated_resources(requests.iter().map(|(name, amount)| (*name, amount.to_string())));
    let mut resources = stated(spec.resources().unwrap_or_default());
    let old = inputs.old.resources().filter(|_| inputs.old.phase() == "Running");
    if let (None, "Running", Some(old)) = (inputs.runtime.cgroup, phase, old) {
        // Nothing is known of the cgroup at this moment.
        status.set_resources(old.to_owned());
        return;
    }
    let Some(values) = inputs.runtime.cgroup.filter(|_| phase == "Running") else {
        insert_all(&mut resources, "requests", &requests);
        insert_all(&mut resources, "limits", &spec_limits(spec));
        status.set_resources(ResourceRequirements::from(resources));
        return;
    };
    let old = old.unwrap_or_default();
    if let Some(fields) = resources.as_object_mut() {
        for list in ["requests", "limits"] {
            let present = fields.entry(list).or_insert_with(|| json!({}));
            if present.is_null() {
                *present = json!({});
            }
        }
    }
    if let Some(list) = list(&mut resources, "requests") {
        if !list.contains_key("memory")
            && let Some(memory) = requests.get("memory")
        {
            list.insert("memory".into(), memory.to_string().into());
        }
        match list.contains_key("cpu") {
            true => set_cpu_request(list, &values, old),
            false => {
                let expected = requests.get("cpu").map_or(0, Quantity::milli_value);
                let milli = values.cpu_request(expected).filter(|milli| *milli > LEAST_REQUEST);
                insert(list, "cpu", milli.map(milli_text));
            }
        }
    }
    if let Some(list) = list(&mut resources, "limits") {
        let limits = spec_limits(spec);
        match list.contains_key("cpu") {
            true => set_cpu_limit(list, &values, old),
            false => {
                let expected = limits.get("cpu").map_or(0, Quantity::milli_value);
                let milli = values.cpu_limit(expected).filter(|milli| *milli > LEAST_LIMIT);
                insert(list, "cpu", milli.map(milli_text));
            }
        }
        match list.contains_key("memory") {
            true => set_memory_limit(list, &values, old),
            false => insert(list, "memory", values.memory_limit.map(bytes_text)),
        }
    }
    prune(&mut resources);
    status.set_resources(ResourceRequirements::from(resources));
}

fn stated(resources: ResourceRequirementsView<'_>) -> Value {
    match resources.node().to_value() {
        Value::Null => json!({}),
        own => own,
    }
}

fn list<'v>(resources: &'v mut Value, name: &str) -> Option<&'v mut Map<String, Value>> {
    resources.get_mut(name)?.as_object_mut()
}

fn insert(list: &mut Map<String, Value>, name: &str, text: Option<String>) {
    if let Some(text) = text {
        list.insert(name.to_owned(), text.into());
    }
}

fn insert_all(resources: &mut Value, list: &str, amounts: &Amounts<'_>) {
    let texts: Map<String, Value> =
        amounts.iter().map(|(name, amount)| ((*name).to_owned(), amount.to_string().into())).collect();
    if let Some(fields) = resources.as_object_mut().filter(|_| !texts.is_empty()) {
        fields.insert(list.to_owned(), texts.into());
    }
}

/// Go writes no empty lists.
fn prune(resources: &mut Value) {
    if let Some(fields) = resources.as_object_mut() {
        fields.retain(|_, list| !list.as_object().is_some_and(Map::is_empty));
    }
}

fn amount_of(list: &Map<String, Value>, name: &str) -> Option<Quantity> {
    Quantity::parse(list.get(name)?.as_str()?).ok()
}

fn milli_text(milli: i64) -> String {
    Quantity::from_milli(milli).to_string()
}

fn bytes_text(bytes: i64) -> String {
    Quantity::from_int(bytes, Format::BinarySi).to_string()
}

/// Writes a number where it is not the one that is there; its words are kept otherwise.
fn set(
    list: &mut Map<String, Value>,
    name: &str,
    actual: Option<i64>,
    number: impl Fn(&Quantity) -> i64,
    text: impl Fn(i64) -> String,
) {
    let expected = amount_of(list, name).map(|amount| number(&amount));
    if let Some(actual) = actual.filter(|actual| expected.is_some_and(|expected| expected != *actual)) {
        list.insert(name.to_owned(), text(actual).into());
    }
}

/// The amount of the last status, where nothing is known of the present one.
fn keep_old(list: &mut Map<String, Value>, name: &str, old: Option<Quantity>) {
    insert(list, name, old.map(|old| old.to_string()));
}

fn set_cpu_request(list: &mut Map<String, Value>, values: &CgroupValues, old: ResourceRequirementsView<'_>) {
    let expected = amount_of(list, "cpu").map_or(0, |amount| amount.milli_value());
    match values.cpu_request(expected) {
        Some(actual) if actual > LEAST_REQUEST || expected > LEAST_REQUEST => {
            set(list, "cpu", Some(actual), Quantity::milli_value, milli_text);
        }
        Some(_) => {}
        None => keep_old(list, "cpu", old.requests().get("cpu")),
    }
}

fn set_cpu_limit(list: &mut Map<String, Value>, values: &CgroupValues, old: ResourceRequirementsView<'_>) {
    let expected = amount_of(list, "cpu").map_or(0, |amount| amount.milli_value());
    match values.cpu_limit(expected) {
        Some(actual) if actual > LEAST_LIMIT || expected > LEAST_LIMIT => {
            set(list, "cpu", Some(actual), Quantity::milli_value, milli_text);
        }
        Some(_) => {}
        None => keep_old(list, "cpu", old.limits().get("cpu")),
    }
}

fn set_memory_limit(list: &mut Map<String, Value>, values: &CgroupValues, old: ResourceRequirementsView<'_>) {
    let expected = amount_of(list, "memory").map_or(0, |amount| amount.value());
    match values.memory_limit {
        Some(_) if values.has_memory_limit(expected) => {}
        Some(actual) => set(list, "memory", Some(actual), Quantity::value, bytes_text),
        None => keep_old(list, "memory", old.limits().get("memory")),
    }
}
