//! A pod's status from what the runtime has, what failed, and what the probes say.
//!
//! `pod_worker` computes it after every look at the runtime and writes it when it
//! differs. The pieces: [`containers`], [`phase`], [`conditions`], [`patch`].

pub mod conditions;
pub mod containers;
pub mod devices;
pub mod patch;
pub mod phase;
mod resources;

use crate::allocation::conditions::ResizeConditions;
use crate::observed::{PodRuntime, State};
use crate::pod;
use crate::probe::{Outcome, ProbeKind};
use ferry_api::rules::qos::qos_class;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{ContainerStatusView, HostIP, PodIP, PodStatus, PodStatusView, PodView};
use jiff::Timestamp;
use std::collections::HashMap;

/// Why a container is not running although it should be.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub reason: String,
    pub message: String,
}

/// The outcomes of the probes of a pod; absent means not asked yet.
pub trait ProbeOutcomes {
    fn outcome(&self, container_id: &str, kind: ProbeKind) -> Option<Outcome>;
}

impl ProbeOutcomes for crate::probe::Probes {
    fn outcome(&self, container_id: &str, kind: ProbeKind) -> Option<Outcome> {
        Self::outcome(self, container_id, kind)
    }
}

pub struct Inputs<'a> {
    pub pod: PodView<'a>,
    pub runtime: &'a PodRuntime,
    /// The last failure to start, by container.
    pub failures: &'a HashMap<String, Waiting>,
    pub probes: &'a dyn ProbeOutcomes,
    /// The status as it was last known to be written.
    pub old: PodStatusView<'a>,
    pub node_ips: &'a [String],
    pub resize: &'a ResizeConditions,
    /// Nothing of the pod will be started again, whatever its restart policy.
    pub terminal: bool,
    pub now: Timestamp,
}

/// The whole status but for the fields that others write (`patch::FOREIGN`).
pub fn compute_status(inputs: &Inputs<'_>) -> PodStatus {
    let Inputs { pod, runtime, old, .. } = *inputs;
    let regular = containers::regular(inputs);
    let init = containers::init(inputs);
    let all: Vec<ContainerStatusView<'_>> = init.iter().chain(&regular).map(Owned::view).collect();
    let started = pod::containers(pod)
        .iter()
        .any(|c| runtime.latest(c.name()).is_some_and(|r| matches!(r.state, State::Running | State::Exited)));
    // A pod that has once finished stays finished.
    let old_phase = pod::phase_or_pending(old);
    let phase = match pod::is_terminal_phase(old_phase) {
        true => old_phase,
        false => phase::compute_phase(pod, &all, inputs.terminal, started),
    };
    let mut status = PodStatus::new()
        .with_qos_class(qos_class(pod).as_str())
        .with_start_time(old.start_time().unwrap_or(inputs.now))
        .with_observed_generation(non_zero(pod.metadata().generation()))
        .with_phase(phase)
        .with_conditions(conditions::compute_conditions(inputs, phase, &all));
    if phase == old_phase {
        status.set_reason(non_empty(old.reason()));
        status.set_message(non_empty(old.message()));
    }
    drop(all);
    status.set_container_statuses(regular);
    status.set_init_container_statuses(init);
    status.set_ephemeral_container_statuses(containers::ephemeral(inputs));
    set_addresses(inputs, &mut status);
    resources::set_pod_resources(inputs, phase, &mut status);
    status
}

/// Go writes no field for an empty text, nor for a number of zero.
fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn non_zero(number: i64) -> Option<i64> {
    Some(number).filter(|number| *number != 0)
}

fn set_addresses(inputs: &Inputs<'_>, status: &mut PodStatus) {
    let node_ips = inputs.node_ips;
    status.set_host_ip(node_ips.first());
    status.set_host_ips(node_ips.iter().map(|ip| HostIP::new().with_ip(ip)));
    let mut ips = inputs.runtime.ips();
    if pod::is_host_network(inputs.pod) && !inputs.runtime.sandboxes.is_empty() {
        ips = node_ips;
    }
    // A finished pod is still known by the address it had.
    if ips.is_empty() {
        status.set_pod_ip(non_empty(inputs.old.pod_ip()));
        status.set_pod_ips(inputs.old.pod_ips());
    } else {
        status.set_pod_ip(ips.first());
        status.set_pod_ips(ips.iter().map(|ip| PodIP::new().with_ip(ip)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{ContainerRecord, Sandbox};
    use crate::pod::tests::pod;
    use ferry_api::view::core::v1::{Pod, PodCondition};
    use serde_json::{Value, json};

    #[derive(Default)]
    struct Said(HashMap<(String, ProbeKind), Outcome>);

    impl ProbeOutcomes for Said {
        fn outcome(&self, id: &str, kind: ProbeKind) -> Option<Outcome> {
            self.0.get(&(id.to_string(), kind)).copied()
        }
    }

    fn record(name: &str, id: &str, state: State, exit_code: i32, restarts: u32) -> ContainerRecord {
        ContainerRecord {
            id: id.into(),
            name: name.into(),
            sandbox_id: "s".into(),
            state,
            created_at: 1 + i64::from(restarts),
            started_at: 2_000_000_000,
            finished_at: if state == State::Exited { 3_000_000_000 } else { 0 },
            exit_code,
            reason: if exit_code == 0 { "Completed".into() } else { "Error".into() },
            message: String::new(),
            image: "web:1".into(),
            image_id: "sha256:1".into(),
            hash: 0,
            restart_count: restarts,
            log_path: String::new(),
            actuated: None,
            cgroup: None,
        }
    }

    fn runtime(containers: Vec<ContainerRecord>) -> PodRuntime {
        let sandbox = Sandbox {
            id: "s".into(),
            attempt: 0,
            created_at: 1,
            ready: true,
            host_network: false,
            ips: vec!["10.0.0.2".into()],
        };
        PodRuntime { sandboxes: vec![sandbox], containers, cgroup: None }
    }

    fn check(pod: &Pod, runtime: &PodRuntime, failures: &[(&str, &str)], said: &Said) -> Value {
        let failures = failures
            .iter()
            .map(|(name, reason)| (name.to_string(), Waiting { reason: reason.to_string(), message: "m".into() }))
            .collect();
        let status = compute_status(&Inputs {
            pod: pod.view(),
            runtime,
            failures: &failures,
            probes: said,
            old: pod.view().status(),
            node_ips: &["192.0.2.1".into()],
            resize: &ResizeConditions::default(),
            terminal: false,
            now: Timestamp::from_second(10).expect("a time"),
        });
        status.into()
    }

    fn condition<'a>(status: &'a Value, kind: &str) -> &'a Value {
        status["conditions"].as_array().expect("conditions").iter().find(|c| c["type"] == kind).expect("the condition")
    }

    fn web() -> Pod {
        pod(json!({ "containers": [{ "name": "a", "image": "web:1" }] }))
    }

    #[test]
    fn a_new_pod_is_being_created() {
        let status = check(&web(), &PodRuntime::default(), &[], &Said::default());
        assert_eq!(status["phase"], "Pending");
        assert_eq!(status["containerStatuses"][0]["state"]["waiting"]["reason"], "ContainerCreating");
        assert_eq!(condition(&status, "PodReadyToStartContainers")["status"], "False");
        assert_eq!(condition(&status, "Ready")["message"], "containers with unready status: [a]");
        assert_eq!(condition(&status, "Initialized")["status"], "True");
        assert_eq!(condition(&status, "PodScheduled")["status"], "True");
    }

    #[test]
    fn a_running_pod_is_ready() {
        let status = check(&web(), &runtime(vec![record("a", "x", State::Running, 0, 0)]), &[], &Said::default());
        assert_eq!(status["phase"], "Running");
        assert_eq!(status["podIP"], "10.0.0.2");
        assert_eq!(status["containerStatuses"][0]["containerID"], "containerd://x");
        assert_eq!(status["containerStatuses"][0]["ready"], true);
        assert_eq!(status["containerStatuses"][0]["started"], true);
        assert_eq!(condition(&status, "Ready")["status"], "True");
    }

    #[test]
    fn readiness_waits_for_its_probe() {
        let pod =
            pod(json!({ "containers": [{ "name": "a", "image": "web:1", "readinessProbe": {}, "startupProbe": {} }] }));
        let runtime = runtime(vec![record("a", "x", State::Running, 0, 0)]);
        let started = |said: &Said| {
            let status = check(&pod, &runtime, &[], said);
            let container = &status["containerStatuses"][0];
            (container["started"].as_bool(), container["ready"].as_bool())
        };
        let mut said = Said::default();
        assert_eq!(started(&said), (Some(false), Some(false)));
        said.0.insert(("x".into(), ProbeKind::Startup), Outcome::Success);
        assert_eq!(started(&said), (Some(true), Some(false)));
        said.0.insert(("x".into(), ProbeKind::Readiness), Outcome::Success);
        assert_eq!(started(&said), (Some(true), Some(true)));
    }

    #[test]
    fn a_crash_loop_shows_the_wait_and_the_last_end() {
        let containers = vec![record("a", "y", State::Exited, 1, 1), record("a", "x", State::Exited, 2, 0)];
        let status = check(&web(), &runtime(containers), &[("a", "CrashLoopBackOff")], &Said::default());
        let container = &status["containerStatuses"][0];
        assert_eq!(status["phase"], "Running");
        assert_eq!(container["state"]["waiting"]["reason"], "CrashLoopBackOff");
        assert_eq!(container["lastState"]["terminated"]["exitCode"], 1);
        assert_eq!(container["restartCount"], 1);
    }

    #[test]
    fn a_finished_pod_succeeded_or_failed() {
        let never = pod(json!({ "restartPolicy": "Never", "containers": [{ "name": "a", "image": "web:1" }] }));
        let status = check(&never, &runtime(vec![record("a", "x", State::Exited, 0, 0)]), &[], &Said::default());
        assert_eq!(status["phase"], "Succeeded");
        assert_eq!(condition(&status, "Ready")["reason"], "PodCompleted");
        let status = check(&never, &runtime(vec![record("a", "x", State::Exited, 3, 0)]), &[], &Said::default());
        assert_eq!(status["phase"], "Failed");
        assert_eq!(status["containerStatuses"][0]["state"]["terminated"]["exitCode"], 3);
    }

    #[test]
    fn init_containers_hold_the_others_back() {
        let pod = pod(json!({ "containers": [{ "name": "a", "image": "web:1" }],
            "initContainers": [{ "name": "i", "image": "web:1" }] }));
        let status = check(&pod, &runtime(vec![record("i", "x", State::Running, 0, 0)]), &[], &Said::default());
        assert_eq!(status["phase"], "Pending");
        assert_eq!(status["containerStatuses"][0]["state"]["waiting"]["reason"], "PodInitializing");
        assert_eq!(condition(&status, "Initialized")["reason"], "ContainersNotInitialized");
        assert_eq!(condition(&status, "Initialized")["message"], "containers with incomplete status: [i]");
        let status = check(&pod, &runtime(vec![record("i", "x", State::Exited, 0, 0)]), &[], &Said::default());
        assert_eq!(condition(&status, "Initialized")["status"], "True");
        assert_eq!(status["initContainerStatuses"][0]["ready"], true);
    }

    #[test]
    fn readiness_gates_are_waited_for() {
        let mut pod = pod(
            json!({ "readinessGates": [{ "conditionType": "x/y" }], "containers": [{ "name": "a", "image": "web:1" }] }),
        );
        let runtime = runtime(vec![record("a", "x", State::Running, 0, 0)]);
        let status = check(&pod, &runtime, &[], &Said::default());
        assert_eq!(condition(&status, "Ready")["reason"], "ReadinessGatesNotReady");
        let gate = PodCondition::new().with_type("x/y").with_status("True");
        pod.edit_status(|status| status.push_conditions(gate));
        let status = check(&pod, &runtime, &[], &Said::default());
        assert_eq!(condition(&status, "Ready")["status"], "True");
        assert_eq!(condition(&status, "x/y")["status"], "True");
    }
}
