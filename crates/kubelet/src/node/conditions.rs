//! The node's conditions, with upstream's reasons and messages
//! (pkg/kubelet/nodestatus/setters.go).

use jiff::Timestamp;
use k8s_openapi::api::core::v1::NodeCondition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
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

pub fn compute_conditions(health: &Health, old: &[NodeCondition], now: Timestamp) -> Vec<NodeCondition> {
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
            let since = old
                .iter()
                .find(|condition| condition.type_ == kind && condition.status == status)
                .and_then(|condition| condition.last_transition_time.clone());
            NodeCondition {
                type_: kind.into(),
                status: status.into(),
                reason: Some(reason.into()),
                message: Some(message),
                last_heartbeat_time: Some(Time(now)),
                last_transition_time: since.or(Some(Time(now))),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let first = compute_conditions(&health, &[], at(1));
        assert_eq!(first[3].reason.as_deref(), Some("KubeletNotReady"));
        assert_eq!(first[3].message.as_deref(), Some("container runtime network not ready: x"));
        let second = compute_conditions(&health, &first, at(2));
        assert_eq!(second[3].last_transition_time, first[3].last_transition_time);
        health.network = Ok(());
        let third = compute_conditions(&health, &second, at(3));
        assert_eq!((third[3].status.as_str(), third[3].last_transition_time.clone()), ("True", Some(Time(at(3)))));
        assert_eq!(third[0].last_transition_time, first[0].last_transition_time);
    }
}
