//! The node's conditions, with upstream's reasons and messages
//! (pkg/kubelet/nodestatus/setters.go).

use ferry_api::rules::condition;
use ferry_api::view::List;
use ferry_api::view::core::v1::{NodeCondition, NodeConditionView};
use ferry_eviction::pressure::Conditions;
use ferry_eviction::signal::NodeCondition as Pressure;
use jiff::Timestamp;
/// What the conditions are judged by.
pub struct Health {
    pub runtime: Result<(), String>,
    pub network: Result<(), String>,
    /// The shutdown of the node, which makes it unready.
    pub shutdown: Result<(), String>,
    /// What runs short, as `eviction` has it.
    pub pressure: Conditions,
}

/// The four conditions of the kubelet's own. One whose status has not changed keeps its
/// transition time from `old`.
pub fn compute_conditions(health: &Health, old: List<'_, NodeConditionView<'_>>, now: Timestamp) -> Vec<NodeCondition> {
    let errors: Vec<&str> = [&health.runtime, &health.network, &health.shutdown]
        .into_iter()
        .filter_map(|r| r.as_ref().err())
        .map(String::as_str)
        .collect();
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
    let holds = |condition| health.pressure.contains(&condition);
    let judged = [
        (
            "MemoryPressure",
            pressure(
                holds(Pressure::MemoryPressure),
                ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
                ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ),
        ),
        (
            "DiskPressure",
            pressure(
                holds(Pressure::DiskPressure),
                ("KubeletHasDiskPressure", "kubelet has disk pressure"),
                ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ),
        ),
        (
            "PIDPressure",
            pressure(
                holds(Pressure::PidPressure),
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
            shutdown: Ok(()),
            pressure: Conditions::new(),
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
        health.pressure.insert(Pressure::PidPressure);
        health.shutdown = Err("node is shutting down".into());
        let fourth = follow(&health, &third, at(4));
        let pressed = (nth(&fourth, 2).type_(), nth(&fourth, 2).status(), nth(&fourth, 2).reason());
        assert_eq!(pressed, ("PIDPressure", "True", "KubeletHasInsufficientPID"));
        assert_eq!((nth(&fourth, 1).status(), nth(&fourth, 3).message()), ("False", "node is shutting down"));
    }
}
