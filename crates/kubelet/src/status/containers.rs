//! The status of each container (upstream: kubelet_pods.go convertToAPIContainerStatuses).

use super::Inputs;
use crate::observed::{ContainerRecord, State};
use crate::pod;
use crate::probe::{Outcome, ProbeKind};
use k8s_openapi::api::core::v1::{
    Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting, ContainerStatus,
    VolumeMountStatus,
};

const RUNTIME: &str = "containerd";

pub(super) fn regular(inputs: &Inputs<'_>) -> Vec<ContainerStatus> {
    let old = inputs.old.container_statuses.as_deref().unwrap_or_default();
    let initializing = !pod::init_containers(inputs.pod).is_empty();
    let mut statuses = convert(inputs, pod::containers(inputs.pod), old, initializing, false);
    for status in &mut statuses {
        let container = pod::containers(inputs.pod).iter().find(|c| c.name == status.name);
        if let Some(container) = container {
            let started = has_started(inputs, container, status);
            status.started = Some(started);
            status.ready = started && is_ready(inputs, container, status);
        }
    }
    statuses.sort_by(|a, b| a.name.cmp(&b.name));
    statuses
}

pub(super) fn init(inputs: &Inputs<'_>) -> Option<Vec<ContainerStatus>> {
    let containers = pod::init_containers(inputs.pod);
    if containers.is_empty() {
        return None;
    }
    let old = inputs.old.init_container_statuses.as_deref().unwrap_or_default();
    let mut statuses = convert(inputs, containers, old, true, true);
    for (status, container) in statuses.iter_mut().zip(containers) {
        let started = has_started(inputs, container, status);
        status.started = Some(started);
        status.ready = if pod::is_sidecar(container) {
            started && is_ready(inputs, container, status)
        } else {
            terminated(status).is_some_and(|end| end.exit_code == 0)
        };
    }
    Some(statuses)
}

pub(super) fn ephemeral(inputs: &Inputs<'_>) -> Option<Vec<ContainerStatus>> {
    let containers: Vec<Container> =
        pod::ephemeral_containers(inputs.pod).iter().map(pod::ephemeral_as_container).collect();
    if containers.is_empty() {
        return None;
    }
    let old = inputs.old.ephemeral_container_statuses.as_deref().unwrap_or_default();
    Some(convert(inputs, &containers, old, !pod::init_containers(inputs.pod).is_empty(), false))
}

fn convert(
    inputs: &Inputs<'_>,
    containers: &[Container],
    old: &[ContainerStatus],
    initializing: bool,
    is_init: bool,
) -> Vec<ContainerStatus> {
    containers.iter().map(|container| one(inputs, container, old, initializing, is_init)).collect()
}

fn one(
    inputs: &Inputs<'_>,
    container: &Container,
    old: &[ContainerStatus],
    initializing: bool,
    is_init: bool,
) -> ContainerStatus {
    let before = old.iter().find(|status| status.name == container.name);
    let mut records = inputs.runtime.containers.iter().filter(|record| record.name == container.name);
    let mut status = match records.next() {
        Some(newest) => {
            let mut status = from_record(newest, before);
            if let Some(previous) = records.next() {
                status.last_state = Some(state_of(previous));
            } else if let Some(before) = before {
                // The predecessor may be collected; what was written of it still holds.
                if before.container_id.as_deref() == status.container_id.as_deref() {
                    status.last_state = before.last_state.clone();
                } else if terminated(before).is_some() {
                    status.last_state = before.state.clone();
                } else {
                    status.last_state = before.last_state.clone();
                }
            }
            status
        }
        None => unseen(inputs, container, before, initializing),
    };
    if let Some(waiting) = inputs.failures.get(&container.name)
        && will_start(inputs, container, &status, is_init)
    {
        if terminated(&status).is_some() {
            status.last_state = status.state.take();
        }
        status.state = Some(ContainerState {
            waiting: Some(ContainerStateWaiting {
                reason: Some(waiting.reason.clone()),
                message: (!waiting.message.is_empty()).then(|| waiting.message.clone()),
            }),
            ..Default::default()
        });
    }
    let resources = container.resources.clone().unwrap_or_default();
    status.allocated_resources = resources.requests.clone().filter(|requests| !requests.is_empty());
    status.resources = Some(resources);
    status.volume_mounts = volume_mounts(container);
    status.last_state = status.last_state.filter(|state| state.terminated.is_some());
    status
}

/// Nothing in the runtime: not made yet, or lost.
fn unseen(
    inputs: &Inputs<'_>,
    container: &Container,
    before: Option<&ContainerStatus>,
    initializing: bool,
) -> ContainerStatus {
    let reason = if initializing { "PodInitializing" } else { "ContainerCreating" };
    let mut status = ContainerStatus {
        name: container.name.clone(),
        image: container.image.clone().unwrap_or_default(),
        state: Some(ContainerState {
            waiting: Some(ContainerStateWaiting { reason: Some(reason.into()), message: None }),
            ..Default::default()
        }),
        ..Default::default()
    };
    let Some(before) = before else { return status };
    if terminated(before).is_some() {
        return before.clone();
    }
    status.restart_count = before.restart_count;
    status.last_state = before.last_state.clone();
    let was_running = before.state.as_ref().is_some_and(|state| state.running.is_some());
    let has_last = before.last_state.as_ref().is_some_and(|state| state.terminated.is_some());
    if was_running && !has_last {
        status.last_state = Some(ContainerState {
            terminated: Some(ContainerStateTerminated {
                reason: Some("ContainerStatusUnknown".into()),
                message: Some(
                    "The container could not be located when the pod was deleted.  The container used to be Running"
                        .into(),
                ),
                exit_code: 137,
                ..Default::default()
            }),
            ..Default::default()
        });
        if !pod::is_deleting(inputs.pod) {
            status.restart_count += 1;
        }
    }
    status
}

fn from_record(record: &ContainerRecord, before: Option<&ContainerStatus>) -> ContainerStatus {
    let restart_count = i32::try_from(record.restart_count).unwrap_or(i32::MAX);
    let same = before.filter(|before| before.container_id.as_deref() == Some(&container_id(record)));
    ContainerStatus {
        name: record.name.clone(),
        image: record.image.clone(),
        image_id: record.image_id.clone(),
        container_id: Some(container_id(record)),
        restart_count: same.map_or(restart_count, |before| before.restart_count.max(restart_count)),
        state: Some(state_of(record)),
        ..Default::default()
    }
}

fn container_id(record: &ContainerRecord) -> String {
    format!("{RUNTIME}://{}", record.id)
}

fn state_of(record: &ContainerRecord) -> ContainerState {
    match record.state {
        State::Running => ContainerState {
            running: Some(ContainerStateRunning { started_at: pod::time_from_nanos(record.started_at) }),
            ..Default::default()
        },
        State::Exited => ContainerState {
            terminated: Some(ContainerStateTerminated {
                container_id: Some(container_id(record)),
                exit_code: record.exit_code,
                reason: (!record.reason.is_empty()).then(|| record.reason.clone()),
                message: (!record.message.is_empty()).then(|| record.message.clone()),
                started_at: pod::time_from_nanos(record.started_at),
                finished_at: pod::time_from_nanos(record.finished_at),
                signal: None,
            }),
            ..Default::default()
        },
        State::Created | State::Unknown => {
            ContainerState { waiting: Some(ContainerStateWaiting::default()), ..Default::default() }
        }
    }
}

/// Only a container that is to be started again is waiting; the others show how they are.
fn will_start(inputs: &Inputs<'_>, container: &Container, status: &ContainerStatus, is_init: bool) -> bool {
    if pod::is_deleting(inputs.pod) {
        return false;
    }
    match inputs.runtime.latest(&container.name) {
        None => true,
        Some(record) => match record.state {
            State::Running => false,
            State::Created | State::Unknown => true,
            State::Exited if is_init && !pod::is_sidecar(container) && record.exit_code == 0 => false,
            State::Exited => {
                pod::should_restart_on_exit(container, inputs.pod, record.exit_code)
                    && status.state.as_ref().is_some_and(|state| state.running.is_none())
            }
        },
    }
}

fn has_started(inputs: &Inputs<'_>, container: &Container, status: &ContainerStatus) -> bool {
    let running = status.state.as_ref().is_some_and(|state| state.running.is_some());
    running
        && (container.startup_probe.is_none() || probed(inputs, status, ProbeKind::Startup) == Some(Outcome::Success))
}

fn is_ready(inputs: &Inputs<'_>, container: &Container, status: &ContainerStatus) -> bool {
    container.readiness_probe.is_none() || probed(inputs, status, ProbeKind::Readiness) == Some(Outcome::Success)
}

fn probed(inputs: &Inputs<'_>, status: &ContainerStatus, kind: ProbeKind) -> Option<Outcome> {
    let id = status.container_id.as_deref()?.split_once("://")?.1;
    inputs.probes.outcome(id, kind)
}

pub(super) fn terminated(status: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    status.state.as_ref().and_then(|state| state.terminated.as_ref())
}

fn volume_mounts(container: &Container) -> Option<Vec<VolumeMountStatus>> {
    let mounts = container.volume_mounts.as_deref().filter(|mounts| !mounts.is_empty())?;
    let status = |mount: &k8s_openapi::api::core::v1::VolumeMount| {
        let read_only = mount.read_only == Some(true);
        VolumeMountStatus {
            name: mount.name.clone(),
            mount_path: mount.mount_path.clone(),
            read_only: read_only.then_some(true),
            recursive_read_only: read_only.then(|| "Disabled".to_string()),
            ..Default::default()
        }
    };
    Some(mounts.iter().map(status).collect())
}
