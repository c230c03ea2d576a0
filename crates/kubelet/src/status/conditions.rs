//! A pod's conditions (upstream: pkg/kubelet/status/generate.go).

use super::containers::terminated;
use super::{Inputs, non_empty, non_zero};
use crate::allocation::conditions::{IN_PROGRESS, PENDING, ResizeConditions};
use crate::plan::sandbox_changed;
use crate::pod;
use ferry_api::rules::condition;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{
    ContainerStatusView, PodCondition, PodConditionView, PodStatus, PodStatusView, PodView,
};
use jiff::Timestamp;

/// The types the kubelet decides; all others are kept as they are.
pub const OWNED: &[&str] =
    &["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled", PENDING, IN_PROGRESS];

/// The condition of a pod that others or its node end before its time, and the reason of the
/// node's. Controllers of disruptions write it too, so that it is none of [`OWNED`].
pub const DISRUPTION_TARGET: &str = "DisruptionTarget";
pub const TERMINATION_BY_KUBELET: &str = "TerminationByKubelet";

/// Marks the status of a pod that this node has ended.
pub fn set_disruption_target(
    status: &mut PodStatus,
    old: PodStatusView<'_>,
    generation: i64,
    message: &str,
    now: Timestamp,
) {
    let is_other = |condition: &PodConditionView<'_>| condition.type_() != DISRUPTION_TARGET;
    let mut conditions: Vec<PodCondition> =
        status.view().conditions().iter().filter(is_other).map(PodConditionView::to_owned).collect();
    let before = condition::find(old.conditions(), DISRUPTION_TARGET).filter(|old| old.status() == "True");
    conditions.push(
        PodCondition::new()
            .with_type(DISRUPTION_TARGET)
            .with_status("True")
            .with_reason(TERMINATION_BY_KUBELET)
            .with_message(message)
            .with_observed_generation(non_zero(generation))
            .with_last_transition_time(before.and_then(|old| old.last_transition_time()).unwrap_or(now)),
    );
    status.set_conditions(conditions);
}

/// Whether the kubelet writes the condition: one of its own, or the mark of a pod it has ended.
pub(super) fn is_written(condition: PodConditionView<'_>) -> bool {
    OWNED.contains(&condition.type_())
        || (condition.type_() == DISRUPTION_TARGET && condition.reason() == TERMINATION_BY_KUBELET)
}

/// The conditions of others as they are, and the kubelet's own after them.
pub(super) fn compute_conditions(
    inputs: &Inputs<'_>,
    phase: &str,
    statuses: &[ContainerStatusView<'_>],
) -> Vec<PodCondition> {
    let conditions = inputs.pod.status().conditions().iter();
    let foreign: Vec<PodConditionView<'_>> =
        conditions.filter(|condition| !OWNED.contains(&condition.type_())).collect();
    let sandbox_ready = !sandbox_changed(inputs.pod, inputs.runtime).0;
    let containers_ready = containers_ready(inputs.pod, statuses, phase);
    let own = [
        ("PodReadyToStartContainers", Judgement::plain(sandbox_ready)),
        ("Initialized", initialized(inputs.pod, statuses, phase)),
        ("Ready", ready(inputs.pod, &containers_ready, &foreign)),
        ("ContainersReady", containers_ready),
        ("PodScheduled", Judgement::plain(true)),
    ];
    let own = own.into_iter().map(|(kind, judgement)| {
        let value = if judgement.holds { "True" } else { "False" };
        let before = condition::find(inputs.old.conditions(), kind).filter(|before| before.status() == value);
        PodCondition::new()
            .with_type(kind)
            .with_status(value)
            .with_reason(judgement.reason)
            .with_message(judgement.message)
            .with_observed_generation(non_zero(inputs.pod.metadata().generation()))
            .with_last_transition_time(before.and_then(|before| before.last_transition_time()).unwrap_or(inputs.now))
    });
    foreign.into_iter().map(PodConditionView::to_owned).chain(resize(inputs)).chain(own).collect()
}

/// The conditions of a resize; a pod that has ended has none.
fn resize(inputs: &Inputs<'_>) -> Vec<PodCondition> {
    let ResizeConditions { pending, in_progress } = inputs.resize;
    let known = [(PENDING, pending), (IN_PROGRESS, in_progress)];
    let known = known.into_iter().filter(|_| !inputs.terminal);
    known
        .filter_map(|(kind, condition)| {
            let condition = condition.as_ref()?;
            let own = PodCondition::new()
                .with_type(kind)
                .with_status("True")
                .with_reason(non_empty(&condition.reason))
                .with_message(non_empty(&condition.message))
                .with_observed_generation(non_zero(condition.generation))
                .with_last_transition_time(condition.since);
            Some(own)
        })
        .collect()
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

fn find<'a>(statuses: &[ContainerStatusView<'a>], name: &str) -> Option<ContainerStatusView<'a>> {
    statuses.iter().copied().find(|status| status.name() == name)
}

/// Names in brackets, as Go prints a slice.
fn bracketed(names: &[&str]) -> String {
    format!("[{}]", names.join(" "))
}

fn containers_ready(pod: PodView<'_>, statuses: &[ContainerStatusView<'_>], phase: &str) -> Judgement {
    let (mut unknown, mut unready) = (Vec::new(), Vec::new());
    let sidecars = pod::init_containers(pod).iter().filter(|container| pod::is_sidecar(*container));
    for name in sidecars.chain(pod::containers(pod)).map(|container| container.name()) {
        match find(statuses, name) {
            Some(status) if status.ready() => {}
            Some(_) => unready.push(name),
            None => unknown.push(name),
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

fn ready(pod: PodView<'_>, containers_ready: &Judgement, conditions: &[PodConditionView<'_>]) -> Judgement {
    if !containers_ready.holds {
        return containers_ready.clone();
    }
    let mut messages = Vec::new();
    for gate in pod.spec().readiness_gates() {
        let name = gate.condition_type();
        match conditions.iter().find(|condition| condition.type_() == name) {
            None => messages.push(format!("corresponding condition of pod readiness gate {name:?} does not exist.")),
            Some(condition) if condition.status() != "True" => messages
                .push(format!("the status of pod readiness gate {name:?} is not \"True\", but {}", condition.status())),
            Some(_) => {}
        }
    }
    if messages.is_empty() {
        Judgement::plain(true)
    } else {
        Judgement::no("ReadinessGatesNotReady", Some(messages.join(", ")))
    }
}

fn initialized(pod: PodView<'_>, statuses: &[ContainerStatusView<'_>], phase: &str) -> Judgement {
    let (mut unknown, mut incomplete) = (Vec::new(), Vec::new());
    for container in pod::init_containers(pod) {
        let Some(status) = find(statuses, container.name()) else {
            unknown.push(container.name());
            continue;
        };
        let done = if pod::is_sidecar(container) { status.started() == Some(true) } else { status.ready() };
        if !done {
            incomplete.push(container.name());
        }
    }
    if phase == "Succeeded" && unknown.is_empty() {
        return Judgement { holds: true, reason: Some("PodCompleted"), message: None };
    }
    let regular_started = pod::containers(pod).iter().any(|container| {
        find(statuses, container.name()).is_some_and(|status| {
            let was_here = status.last_state().terminated().is_some();
            status.state().running().is_some() || terminated(status).is_some() || was_here
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
