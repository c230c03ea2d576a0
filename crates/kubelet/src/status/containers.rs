//! The status of each container (upstream: kubelet_pods.go convertToAPIContainerStatuses).

use super::{Inputs, non_empty, resources};
use crate::observed::{ContainerRecord, State};
use crate::pod;
use crate::probe::{Outcome, ProbeKind};
use ferry_api::quantity::Quantity;
use ferry_api::view::core::v1::{
    ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateTerminatedView,
    ContainerStateWaiting, ContainerStatus, ContainerStatusView, ContainerView, VolumeMountStatus,
};
use ferry_api::view::{List, Map, Owned};

const RUNTIME: &str = "containerd";

/// The statuses of the regular containers, by name.
pub(super) fn regular(inputs: &Inputs<'_>) -> Vec<ContainerStatus> {
    let initializing = !pod::init_containers(inputs.pod).is_empty();
    let list = Listed { old: inputs.old.container_statuses(), initializing, is_init: false };
    let mut statuses: Vec<ContainerStatus> = pod::containers(inputs.pod)
        .iter()
        .map(|container| {
            let mut status = one(inputs, container, &list);
            let started = has_started(inputs, container, status.view());
            let ready = started && is_ready(inputs, container, status.view());
            status.set_started(started);
            status.set_ready(ready);
            status
        })
        .collect();
    statuses.sort_by(|a, b| a.view().name().cmp(b.view().name()));
    statuses
}

/// The statuses of the init containers, in the order of the spec.
pub(super) fn init(inputs: &Inputs<'_>) -> Vec<ContainerStatus> {
    let list = Listed { old: inputs.old.init_container_statuses(), initializing: true, is_init: true };
    pod::init_containers(inputs.pod)
        .iter()
        .map(|container| {
            let mut status = one(inputs, container, &list);
            let started = has_started(inputs, container, status.view());
            let ready = if pod::is_sidecar(container) {
                started && is_ready(inputs, container, status.view())
            } else {
                terminated(status.view()).is_some_and(|end| end.exit_code() == 0)
            };
            status.set_started(started);
            status.set_ready(ready);
            status
        })
        .collect()
}

/// The statuses of the ephemeral containers, in the order of the spec.
pub(super) fn ephemeral(inputs: &Inputs<'_>) -> Vec<ContainerStatus> {
    let initializing = !pod::init_containers(inputs.pod).is_empty();
    let list = Listed { old: inputs.old.ephemeral_container_statuses(), initializing, is_init: false };
    let containers = pod::ephemeral_containers(inputs.pod).iter().map(pod::ephemeral_as_container);
    containers.map(|container| one(inputs, container, &list)).collect()
}

/// The list that a container stands in.
struct Listed<'a> {
    old: List<'a, ContainerStatusView<'a>>,
    /// Init containers hold back those that have not been made yet.
    initializing: bool,
    is_init: bool,
}

fn one(inputs: &Inputs<'_>, container: ContainerView<'_>, list: &Listed<'_>) -> ContainerStatus {
    let before = list.old.iter().find(|status| status.name() == container.name());
    let mut records = inputs.runtime.containers.iter().filter(|record| record.name == container.name());
    let mut status = match records.next() {
        Some(newest) => {
            let last = match (records.next(), before) {
                (Some(previous), _) => Some(state_of(previous)),
                // The predecessor may be collected; what was written of it still holds.
                (None, Some(before)) if is_of(before, newest) || terminated(before).is_none() => {
                    Some(before.last_state().to_owned())
                }
                (None, Some(before)) => Some(before.state().to_owned()),
                (None, None) => None,
            };
            from_record(newest, before).with_last_state(last)
        }
        None => unseen(inputs, container, before, list.initializing),
    };
    if let Some(waiting) = inputs.failures.get(container.name())
        && will_start(inputs, container, status.view(), list.is_init)
    {
        if terminated(status.view()).is_some() {
            let ended = status.view().state().to_owned();
            status.set_last_state(ended);
        }
        let waiting =
            ContainerStateWaiting::new().with_reason(&waiting.reason).with_message(non_empty(&waiting.message));
        status.set_state(ContainerState::new().with_waiting(waiting));
    }
    status.set_allocated_resources(texts(container.resources().requests()));
    status.set_resources(resources::of_container(inputs, container, before));
    status.set_volume_mounts(volume_mounts(container));
    if status.view().last_state().terminated().is_none() {
        status.set_last_state(None::<ContainerState>);
    }
    status
}

/// Quantities as they are written, so that the status repeats the spec's own words.
fn texts(amounts: Map<'_, Quantity>) -> impl Iterator<Item = (&str, &str)> {
    amounts.node().entries().filter_map(|(name, amount)| Some((name, amount.as_str()?)))
}

/// Nothing in the runtime: not made yet, or lost.
fn unseen(
    inputs: &Inputs<'_>,
    container: ContainerView<'_>,
    before: Option<ContainerStatusView<'_>>,
    initializing: bool,
) -> ContainerStatus {
    let reason = if initializing { "PodInitializing" } else { "ContainerCreating" };
    let waiting = ContainerState::new().with_waiting(ContainerStateWaiting::new().with_reason(reason));
    let status = blank(container.name()).with_image(container.image()).with_state(waiting);
    let Some(before) = before else { return status };
    if terminated(before).is_some() {
        return before.to_owned();
    }
    let was_running = before.state().running().is_some();
    if !was_running || before.last_state().terminated().is_some() {
        return status.with_restart_count(before.restart_count()).with_last_state(before.last_state());
    }
    let lost = ContainerStateTerminated::new()
        .with_reason("ContainerStatusUnknown")
        .with_message("The container could not be located when the pod was deleted.  The container used to be Running")
        .with_exit_code(137);
    let restarts = before.restart_count() + i32::from(!pod::is_deleting(inputs.pod));
    status.with_restart_count(restarts).with_last_state(ContainerState::new().with_terminated(lost))
}

/// A status with the fields that Go writes even where they are zero.
fn blank(name: &str) -> ContainerStatus {
    ContainerStatus::new().with_name(name).with_image("").with_image_id("").with_ready(false).with_restart_count(0)
}

fn from_record(record: &ContainerRecord, before: Option<ContainerStatusView<'_>>) -> ContainerStatus {
    let restart_count = i32::try_from(record.restart_count).unwrap_or(i32::MAX);
    let same = before.filter(|before| is_of(*before, record));
    blank(&record.name)
        .with_image(&record.image)
        .with_image_id(&record.image_id)
        .with_container_id(container_id(record))
        .with_restart_count(same.map_or(restart_count, |before| before.restart_count().max(restart_count)))
        .with_state(state_of(record))
}

fn container_id(record: &ContainerRecord) -> String {
    format!("{RUNTIME}://{}", record.id)
}

/// Whether the status was written of this very container.
fn is_of(status: ContainerStatusView<'_>, record: &ContainerRecord) -> bool {
    status.container_id() == container_id(record)
}

fn state_of(record: &ContainerRecord) -> ContainerState {
    let started_at = pod::time_from_nanos(record.started_at);
    match record.state {
        State::Running => ContainerState::new().with_running(ContainerStateRunning::new().with_started_at(started_at)),
        State::Exited => ContainerState::new().with_terminated(
            ContainerStateTerminated::new()
                .with_container_id(container_id(record))
                .with_exit_code(record.exit_code)
                .with_reason(non_empty(&record.reason))
                .with_message(non_empty(&record.message))
                .with_started_at(started_at)
                .with_finished_at(pod::time_from_nanos(record.finished_at)),
        ),
        State::Created | State::Unknown => ContainerState::new().with_waiting(ContainerStateWaiting::new()),
    }
}

/// Only a container that is to be started again is waiting; the others show how they are.
fn will_start(
    inputs: &Inputs<'_>,
    container: ContainerView<'_>,
    status: ContainerStatusView<'_>,
    is_init: bool,
) -> bool {
    if pod::is_deleting(inputs.pod) {
        return false;
    }
    match inputs.runtime.latest(container.name()) {
        None => true,
        Some(record) => match record.state {
            State::Running => false,
            State::Created | State::Unknown => true,
            State::Exited if is_init && !pod::is_sidecar(container) && record.exit_code == 0 => false,
            State::Exited => {
                pod::should_restart_on_exit(container, inputs.pod, record.exit_code)
                    && status.state().running().is_none()
            }
        },
    }
}

fn has_started(inputs: &Inputs<'_>, container: ContainerView<'_>, status: ContainerStatusView<'_>) -> bool {
    status.state().running().is_some()
        && (container.startup_probe().is_none() || probed(inputs, status, ProbeKind::Startup) == Some(Outcome::Success))
}

fn is_ready(inputs: &Inputs<'_>, container: ContainerView<'_>, status: ContainerStatusView<'_>) -> bool {
    container.readiness_probe().is_none() || probed(inputs, status, ProbeKind::Readiness) == Some(Outcome::Success)
}

fn probed(inputs: &Inputs<'_>, status: ContainerStatusView<'_>, kind: ProbeKind) -> Option<Outcome> {
    let id = status.container_id().split_once("://")?.1;
    inputs.probes.outcome(id, kind)
}

pub(super) fn terminated(status: ContainerStatusView<'_>) -> Option<ContainerStateTerminatedView<'_>> {
    status.state().terminated()
}

fn volume_mounts(container: ContainerView<'_>) -> impl Iterator<Item = VolumeMountStatus> {
    container.volume_mounts().iter().map(|mount| {
        let read_only = mount.read_only();
        VolumeMountStatus::new()
            .with_name(mount.name())
            .with_mount_path(mount.mount_path())
            .with_read_only(read_only.then_some(true))
            .with_recursive_read_only(read_only.then_some("Disabled"))
    })
}
