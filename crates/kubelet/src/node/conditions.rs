//! The node's conditions, with upstream's reasons and messages
//! (pkg/kubelet/nodestatus/setters.go).

use ferry_api::rules::condition;
use ferry_api::view::List;
use ferry_api::view::core::v1::{NodeCondition, NodeConditionView};
use jiff::Timestamp;
use std::path::Path;

/// Below this much available memory upstream begins to evict.
const LEAST_MEMORY: u64 = 100 << 20;
/// Upstream's hard thresholds for the node's file system.
const LEAST_SPACE_PERCENT: u64 = 10;
const LEAST_INODES_PERCENT: u64 = 5;

/// What the conditions are judged by.
pub struct Health {
    pub runtime: Result<(), String>,
    pub network: Result<(), String>,
    pub memory_pressure: bool,
    pub disk_pressure: bool,
    pub pid_pressure: bool,
}

impl Health {
    pub fn from_machine(root: &Path) -> Self {
        let available = super::capacity::meminfo("MemAvailable:").unwrap_or(u64::MAX);
        let disk_pressure = nix::sys::statvfs::statvfs(root).is_ok_and(|fs| {
            let short = |free: u64, all: u64, percent: u64| all > 0 && free.saturating_mul(100) / all < percent;
            short(fs.blocks_available(), fs.blocks(), LEAST_SPACE_PERCENT)
                || short(fs.files_available(), fs.files(), LEAST_INODES_PERCENT)
        });
        Self {
            runtime: Ok(()),
            network: Ok(()),
            memory_pressure: available < LEAST_MEMORY,
            disk_pressure,
            pid_pressure: false,
        }
    }
}

/// The four conditions of the kubelet's own. One whose status has not changed keeps its
/// transition time from `old`.
pub fn compute_conditions(health: &Health, old: List<'_, NodeConditionView<'_>>, now: Timestamp) -> Vec<NodeCondition> {
    let errors: Vec<&str> =
        [&health.runtime, &health.network].into_iter().filter_map(|r| r.as_ref().err()).map(String::as_str).collect();
    let (ready, reason, message) = match errors.as_slice() {
        [] => (true, "KubeletReady", "kubelet is posting ready status".to_string()),
        [one] => (false, "KubeletNotReady", one.to_string()),
        [first, second] if first == second => (false, "KubeletNotReady", first.to_string()),
        many => (false, "KubeletNotReady", format!("[{}]", many.join(", "))),
    };
    let pressure = |holds, yes: (&'static str, &'static str), no: (&'static str, &'static str)| {
        let (reason, message) = if holds { yes } else { no };
        (holds, reason, message.to_string())
    };
    let judged = [
        (
            "MemoryPressure",
            pressure(
                health.memory_pressure,
                ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
                ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ),
        ),
        (
            "DiskPressure",
            pressure(
                health.disk_pressure,
                ("KubeletHasDiskPressure", "kubelet has disk pressure"),
                ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ),
        ),
        (
            "PIDPressure",
            pressure(
                health.pid_pressure,
                ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
                ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ),
        ),
        ("Ready", (ready, reason, message)),
    ];
    judged
        .into_iter()
        .map(|(kind, (holds, reason, message))| {
            let status = if holds { "True" } else { "False" };
            let unchanged = condition::find(old, kind).filter(|condition| condition.status() == status);
            let since = unchanged.and_then(|condition| condition.last_transition_time());
            NodeCondition::new()
                .with_type(kind)
                .with_status(status)
                .with_reason(reason)
                .with_message(message)
                .with_last_heartbeat_time(now)
                .with_last_transition_time(since.unwrap_or(now))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::NodeStatus;

    #[test]
    fn ready_tells_why_not_and_since_when() {
        let mut health = Health {
            runtime: Ok(()),
            network: Err("container runtime network not ready: x".into()),
            memory_pressure: false,
            disk_pressure: false,
            pid_pressure: false,
        };
        let at = |second| Timestamp::from_second(second).expect("a time");
        let follow = |health: &Health, old: &NodeStatus, now| {
            NodeStatus::new().with_conditions(compute_conditions(health, old.view().conditions(), now))
        };
        fn nth(status: &NodeStatus, position: usize) -> NodeConditionView<'_> {
            status.view().conditions().get(position).expect("a condition")
        }
        let first = follow(&health, &NodeStatus::new(), at(1));
        assert_eq!(nth(&first, 3).reason(), "KubeletNotReady");
        assert_eq!(nth(&first, 3).message(), "container runtime network not ready: x");
        let second = follow(&health, &first, at(2));
        assert_eq!(nth(&second, 3).last_transition_time(), nth(&first, 3).last_transition_time());
        health.network = Ok(());
        let third = follow(&health, &second, at(3));
        assert_eq!((nth(&third, 3).status(), nth(&third, 3).last_transition_time()), ("True", Some(at(3))));
        assert_eq!(nth(&third, 0).last_transition_time(), nth(&first, 0).last_transition_time());
    }
}
