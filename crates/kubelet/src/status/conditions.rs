//! A pod's conditions (upstream: pkg/kubelet/status/generate.go).

use super::Inputs;
use super::containers::terminated;
use crate::plan::sandbox_changed;
use crate::pod;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// The types the kubelet decides; all others are kept as they are.
pub const OWNED: &[&str] = &["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

pub(super) fn all_statuses(status: &PodStatus) -> Vec<ContainerStatus> {
    status.init_container_statuses.iter().chain(&status.container_statuses).flatten().cloned().collect()
}

pub(super) fn apply(inputs: &Inputs<'_>, phase: &str, status: &mut PodStatus) {
    let statuses = all_statuses(status);
    let foreign: Vec<PodCondition> = inputs
        .pod
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten())
        .filter(|condition| !OWNED.contains(&condition.type_.as_str()))
        .cloned()
        .collect();
    let sandbox_ready = !sandbox_changed(inputs.pod, inputs.runtime).0;
    let containers_ready = containers_ready(inputs.pod, &statuses, phase);
    let own = [
        ("PodReadyToStartContainers", Judgement::plain(sandbox_ready)),
        ("Initialized", initialized(inputs.pod, &statuses, phase)),
        ("Ready", ready(inputs.pod, &containers_ready, &foreign)),
        ("ContainersReady", containers_ready),
        ("PodScheduled", Judgement::plain(true)),
    ];
    let old: Vec<&PodCondition> = inputs.old.conditions.iter().flatten().collect();
    let own = own.into_iter().map(|(kind, judgement)| {
        let value = if judgement.holds { "True" } else { "False" };
        let before = old.iter().find(|condition| condition.type_ == kind && condition.status == value);
        PodCondition {
            type_: kind.into(),
            status: value.into(),
            reason: judgement.reason.map(Into::into),
            message: judgement.message,
            observed_generation: inputs.pod.metadata.generation,
            last_probe_time: None,
            last_transition_time: before
                .and_then(|condition| condition.last_transition_time.clone())
                .or(Some(Time(inputs.now))),
        }
    });
    status.conditions = Some(foreign.iter().cloned().chain(own).collect());
}

#[derive(Clone, Default)]
struct Judgement {
    holds: bool,
    reason: Option<&'static str>,
    message: Option<String>,
}

impl Judgement {
    fn plain(holds: bool) -> Self {
        Self { holds, ..Default::default() }
    }

    fn no(reason: &'static str, message: Option<String>) -> Self {
        Self { holds: false, reason: Some(reason), message }
    }
}

/// Names in brackets, as Go prints a slice.
fn bracketed(names: &[&str]) -> String {
    format!("[{}]", names.join(" "))
}

fn containers_ready(pod: &Pod, statuses: &[ContainerStatus], phase: &str) -> Judgement {
    let (mut unknown, mut unready) = (Vec::new(), Vec::new());
    let sidecars = pod::init_containers(pod).iter().filter(|c| pod::is_sidecar(c));
    for container in sidecars.chain(pod::containers(pod)) {
        match statuses.iter().find(|status| status.name == container.name) {
            Some(status) if status.ready => {}
            Some(_) => unready.push(container.name.as_str()),
            None => unknown.push(container.name.as_str()),
        }
    }
    match phase {
        "Succeeded" if unknown.is_empty() => return Judgement::no("PodCompleted", None),
        "Failed" => return Judgement::no("PodFailed", None),
        _ => {}
    }
    let mut messages = Vec::new();
    if !unknown.is_empty() {
        messages.push(format!("containers with unknown status: {}", bracketed(&unknown)));
    }
    if !unready.is_empty() {
        messages.push(format!("containers with unready status: {}", bracketed(&unready)));
    }
    if messages.is_empty() {
        Judgement::plain(true)
    } else {
        Judgement::no("ContainersNotReady", Some(messages.join(", ")))
    }
}

fn ready(pod: &Pod, containers_ready: &Judgement, conditions: &[PodCondition]) -> Judgement {
    if !containers_ready.holds {
        return containers_ready.clone();
    }
    let mut messages = Vec::new();
    for gate in pod::spec(pod).readiness_gates.iter().flatten() {
        let name = &gate.condition_type;
        match conditions.iter().find(|condition| condition.type_ == *name) {
            None => messages.push(format!("corresponding condition of pod readiness gate {name:?} does not exist.")),
            Some(condition) if condition.status != "True" => messages
                .push(format!("the status of pod readiness gate {name:?} is not \"True\", but {}", condition.status)),
            Some(_) => {}
        }
    }
    if messages.is_empty() {
        Judgement::plain(true)
    } else {
        Judgement::no("ReadinessGatesNotReady", Some(messages.join(", ")))
    }
}

fn initialized(pod: &Pod, statuses: &[ContainerStatus], phase: &str) -> Judgement {
    let (mut unknown, mut incomplete) = (Vec::new(), Vec::new());
    for container in pod::init_containers(pod) {
        let Some(status) = statuses.iter().find(|status| status.name == container.name) else {
            unknown.push(container.name.as_str());
            continue;
        };
        let done = if pod::is_sidecar(container) { status.started == Some(true) } else { status.ready };
        if !done {
            incomplete.push(container.name.as_str());
        }
    }
    if phase == "Succeeded" && unknown.is_empty() {
        return Judgement { holds: true, reason: Some("PodCompleted"), message: None };
    }
    let regular_started = pod::containers(pod).iter().any(|container| {
        statuses.iter().find(|status| status.name == container.name).is_some_and(|status| {
            let running = status.state.as_ref().is_some_and(|state| state.running.is_some());
            running || terminated(status).is_some() || status.last_state.is_some()
        })
    });
    if regular_started {
        return Judgement::plain(true);
    }
    let mut messages = Vec::new();
    if !unknown.is_empty() {
        messages.push(format!("containers with unknown status: {}", bracketed(&unknown)));
    }
    if !incomplete.is_empty() {
        messages.push(format!("containers with incomplete status: {}", bracketed(&incomplete)));
    }
    if messages.is_empty() {
        Judgement::plain(true)
    } else {
        Judgement::no("ContainersNotInitialized", Some(messages.join(", ")))
    }
}
