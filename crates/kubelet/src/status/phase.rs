//! A pod's phase from its containers (upstream: kubelet_pods.go getPhase).

use super::containers::terminated;
use crate::pod;
use ferry_api::view::core::v1::{ContainerStateTerminatedView, ContainerStatusView, ContainerView, PodView};

/// `terminal` says that nothing will be started again; `started` that some regular
/// container has been started already, so that a restarting sidecar does not throw the
/// pod back to Pending.
pub(super) fn compute_phase(
    pod: PodView<'_>,
    statuses: &[ContainerStatusView<'_>],
    terminal: bool,
    started: bool,
) -> &'static str {
    let find = |container: ContainerView<'_>| statuses.iter().copied().find(|status| status.name() == container.name());
    let mut pending_init = 0;
    let mut pending_sidecars = 0;
    let mut counts = Counts::default();
    for container in pod::init_containers(pod) {
        if pod::is_sidecar(container) {
            match find(container).map(|status| (status, State::of(status))) {
                None | Some((_, State::Unknown)) => counts.unknown += 1,
                Some((status, State::Running)) => {
                    pending_sidecars += usize::from(status.started() != Some(true));
                    counts.running += 1;
                }
                Some((_, State::Terminated(_) | State::Restarting(_))) => {}
                Some((_, State::Waiting)) => {
                    pending_sidecars += 1;
                    counts.waiting += 1;
                }
            }
            continue;
        }
        match find(container).map(State::of) {
            Some(State::Terminated(end) | State::Restarting(end)) => {
                if end.exit_code() != 0 && !pod::should_restart_on_exit(container, pod, end.exit_code()) {
                    return "Failed";
                }
            }
            _ => pending_init += 1,
        }
    }
    for container in pod::containers(pod) {
        match find(container).map(State::of) {
            None | Some(State::Unknown) => counts.unknown += 1,
            Some(State::Running) => counts.running += 1,
            Some(State::Waiting) => counts.waiting += 1,
            Some(State::Terminated(end)) => {
                counts.stopped += 1;
                counts.succeeded += usize::from(end.exit_code() == 0);
                counts.over += usize::from(!pod::should_restart_on_exit(container, pod, end.exit_code()));
            }
            Some(State::Restarting(end)) => {
                counts.stopped += 1;
                counts.over += usize::from(!pod::should_restart_on_exit(container, pod, end.exit_code()));
            }
        }
    }
    let finished = if counts.stopped == counts.succeeded { "Succeeded" } else { "Failed" };
    match counts {
        _ if pending_init > 0 || (pending_sidecars > 0 && !started) => "Pending",
        Counts { waiting: 1.., .. } => "Pending",
        Counts { running: 1.., unknown: 0, .. } => "Running",
        Counts { running: 0, stopped: 1.., unknown: 0, .. } if terminal => finished,
        Counts { running: 0, stopped, over, unknown: 0, .. } if stopped > 0 => {
            if stopped != over {
                "Running"
            } else {
                finished
            }
        }
        _ => "Pending",
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    unknown: usize,
    running: usize,
    waiting: usize,
    stopped: usize,
    succeeded: usize,
    /// Stopped for good.
    over: usize,
}

enum State<'a> {
    Running,
    Terminated(ContainerStateTerminatedView<'a>),
    /// Waiting, after an earlier end.
    Restarting(ContainerStateTerminatedView<'a>),
    Waiting,
    Unknown,
}

impl<'a> State<'a> {
    fn of(status: ContainerStatusView<'a>) -> Self {
        let state = status.state();
        if state.running().is_some() {
            return Self::Running;
        }
        if let Some(end) = terminated(status) {
            return Self::Terminated(end);
        }
        if state.waiting().is_some() {
            return match status.last_state().terminated() {
                Some(end) => Self::Restarting(end),
                None => Self::Waiting,
            };
        }
        Self::Unknown
    }
}
