//! The next step for one pod: the sandbox and containers to make and those to kill.
//!
//! [`plan_pod`] is pure and follows upstream's computePodActions
//! (pkg/kubelet/kuberuntime/kuberuntime_manager.go); `sync` carries the plan out.

mod resize;

pub use resize::{ContainerUpdate, ResizePlan, is_resize_in_progress};

use crate::observed::{ContainerRecord, PodRuntime, State};
use crate::pod;
use crate::probe::Outcome;
use ferry_api::view::core::v1::{ContainerView, PodView};

/// Why a container is killed; it decides whose grace period counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    SpecChanged,
    Resize,
    LivenessProbe,
    StartupProbe,
    Unknown,
    PostStartHook,
    PodKilled,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    pub id: String,
    pub name: String,
    pub message: String,
    pub reason: KillReason,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Stop everything the pod has, before anything else.
    pub kill_pod: bool,
    pub create_sandbox: bool,
    /// The sandbox to run containers in, or the one that is being replaced.
    pub sandbox_id: Option<String>,
    pub attempt: u32,
    pub init_to_start: Vec<usize>,
    pub to_start: Vec<usize>,
    pub ephemeral_to_start: Vec<usize>,
    pub to_kill: Vec<Kill>,
    pub resize: ResizePlan,
}

/// Outcomes of the probes that can condemn a container.
pub trait Verdicts {
    fn liveness(&self, container_id: &str) -> Option<Outcome>;
    fn startup(&self, container_id: &str) -> Option<Outcome>;
}

/// Does the pod need a new sandbox? Also the attempt and the id that follow from it.
pub fn sandbox_changed(pod: PodView<'_>, runtime: &PodRuntime) -> (bool, u32, Option<String>) {
    let Some(newest) = runtime.sandboxes.first() else { return (true, 0, None) };
    let id = Some(newest.id.clone());
    if runtime.sandboxes.iter().filter(|s| s.ready).count() > 1 || !newest.ready {
        return (true, newest.attempt + 1, id);
    }
    if newest.host_network != pod::is_host_network(pod) {
        return (true, newest.attempt + 1, None);
    }
    if !newest.host_network && newest.ips.is_empty() {
        return (true, newest.attempt + 1, id);
    }
    (false, newest.attempt, id)
}

pub fn plan_pod(pod: PodView<'_>, runtime: &PodRuntime, verdicts: &dyn Verdicts) -> Plan {
    let (changed, attempt, sandbox_id) = sandbox_changed(pod, runtime);
    let mut plan = Plan { kill_pod: changed, create_sandbox: changed, sandbox_id, attempt, ..Default::default() };
    if changed {
        plan_new_sandbox(pod, runtime, &mut plan);
        return plan;
    }
    for (index, container) in pod::ephemeral_containers(pod).iter().enumerate() {
        // Never restarted: one record of it, dead or alive, is enough.
        if runtime.latest(container.name()).is_none() {
            plan.ephemeral_to_start.push(index);
        }
    }
    let initialized = plan_init_containers(pod, runtime, verdicts, &mut plan);
    if plan.kill_pod || !initialized {
        return plan;
    }
    let kept = plan_containers(pod, runtime, verdicts, &mut plan);
    plan.resize.pod = resize::is_pod_resized(pod, runtime);
    if kept == 0 && plan.to_start.is_empty() {
        plan.kill_pod = true;
        // Sidecars must not keep a finished pod alive.
        plan.init_to_start.clear();
    }
    plan
}

fn plan_new_sandbox(pod: PodView<'_>, runtime: &PodRuntime, plan: &mut Plan) {
    // A pod that may not restart and has once run is finished, whatever became of its sandbox.
    if pod::restart_policy(pod) == "Never" && plan.attempt != 0 && !runtime.containers.is_empty() {
        plan.create_sandbox = false;
        return;
    }
    let is_done = |container: ContainerView<'_>| {
        let succeeded = runtime.latest(container.name()).is_some_and(|c| c.state == State::Exited && c.exit_code == 0);
        succeeded && pod::container_restart_policy(container, pod) == "OnFailure"
    };
    let containers = pod::containers(pod).iter().enumerate();
    let to_start: Vec<usize> =
        containers.filter(|(_, container)| !is_done(*container)).map(|(index, _)| index).collect();
    let created_before = pod::containers(pod).iter().any(|c| runtime.latest(c.name()).is_some());
    if to_start.is_empty() && created_before {
        plan.create_sandbox = false;
        return;
    }
    if pod::init_containers(pod).is_empty() {
        plan.to_start = to_start;
    } else {
        plan.init_to_start = vec![0];
    }
}

/// Plans the init containers and answers whether they are all done. The last one that
/// left a trace tells how far the pod is, because older ones may have been collected.
fn plan_init_containers(pod: PodView<'_>, runtime: &PodRuntime, verdicts: &dyn Verdicts, plan: &mut Plan) -> bool {
    let inits: Vec<_> = pod::init_containers(pod).iter().collect();
    if inits.is_empty() {
        return true;
    }
    let mut initialized = pod::containers(pod).iter().any(|c| {
        runtime.latest(c.name()).is_some_and(|record| matches!(record.state, State::Created | State::Running))
    });
    let mut later_has_begun = initialized;
    let last = inits.len() - 1;
    for (index, container) in inits.into_iter().enumerate().rev() {
        let sidecar = pod::is_sidecar(container);
        let Some(record) = runtime.latest(container.name()) else {
            if later_has_begun && sidecar {
                plan.init_to_start.push(index);
            }
            continue;
        };
        if later_has_begun && !sidecar {
            continue;
        }
        match record.state {
            State::Created => plan.init_to_start.push(index),
            State::Running if !sidecar => {
                let _ = resize::plan_container(pod, container, record, plan);
            }
            State::Running => {
                if let Some(started) = judge_sidecar(pod, container, record, verdicts, index, plan)
                    && started
                {
                    if index == last {
                        initialized = true;
                    } else if !later_has_begun {
                        plan.init_to_start.push(index + 1);
                    }
                }
            }
            State::Exited if sidecar => plan.init_to_start.push(index),
            State::Exited if record.exit_code != 0 => {
                if pod::is_deleting(pod) || !pod::should_restart_on_exit(container, pod, record.exit_code) {
                    plan.kill_pod = true;
                    plan.init_to_start.clear();
                    return false;
                }
                plan.init_to_start.push(index);
            }
            State::Exited if index == last => initialized = true,
            State::Exited => plan.init_to_start.push(index + 1),
            State::Unknown => {
                let policy = pod::container_restart_policy(container, pod);
                if !sidecar && policy == "Never" {
                    plan.kill_pod = true;
                    plan.init_to_start.clear();
                    return false;
                }
                plan.to_kill.push(Kill {
                    id: record.id.clone(),
                    name: record.name.clone(),
                    message: "Init container is in \"unknown\" state, try killing it before restart".into(),
                    reason: KillReason::Unknown,
                });
                plan.init_to_start.push(index);
            }
        }
        later_has_begun = true;
    }
    if !later_has_begun {
        plan.init_to_start.push(0);
    }
    plan.init_to_start.sort_unstable();
    plan.init_to_start.dedup();
    initialized
}

/// A running sidecar: `Some(true)` once it counts as started, `None` while its startup
/// probe has not spoken or has condemned it.
fn judge_sidecar(
    pod: PodView<'_>,
    container: ContainerView<'_>,
    record: &ContainerRecord,
    verdicts: &dyn Verdicts,
    index: usize,
    plan: &mut Plan,
) -> Option<bool> {
    let mut restart = |what: &str, reason| {
        plan.to_kill.push(Kill {
            id: record.id.clone(),
            name: record.name.clone(),
            message: format!("Init container {} {what}", container.name()),
            reason,
        });
        plan.init_to_start.push(index);
    };
    if container.startup_probe().is_some() {
        match verdicts.startup(&record.id) {
            Some(Outcome::Success) => {}
            Some(Outcome::Failure) => {
                restart("failed startup probe", KillReason::StartupProbe);
                return None;
            }
            None => return None,
        }
    }
    if record.hash != pod::container_hash(container) {
        restart("definition changed", KillReason::SpecChanged);
    } else if verdicts.liveness(&record.id) == Some(Outcome::Failure) {
        restart("failed liveness probe", KillReason::LivenessProbe);
    } else if resize::plan_container(pod, container, record, plan) == resize::Fate::Restarted {
        plan.init_to_start.push(index);
    }
    Some(true)
}

/// Plans the regular containers and answers how many running ones are kept.
fn plan_containers(pod: PodView<'_>, runtime: &PodRuntime, verdicts: &dyn Verdicts, plan: &mut Plan) -> usize {
    let mut kept = 0;
    for (index, container) in pod::containers(pod).iter().enumerate() {
        let record = match runtime.latest(container.name()) {
            Some(record) if record.state == State::Running => record,
            other => {
                if should_start(container, pod, other) {
                    plan.to_start.push(index);
                    if let Some(record) = other.filter(|r| r.state == State::Unknown) {
                        plan.to_kill.push(Kill {
                            id: record.id.clone(),
                            name: record.name.clone(),
                            message: "Container is in \"unknown\" state, try killing it before restart".into(),
                            reason: KillReason::Unknown,
                        });
                    }
                }
                continue;
            }
        };
        let policy = pod::container_restart_policy(container, pod);
        let mut restart = policy != "Never";
        let (message, reason) = if record.hash != pod::container_hash(container) {
            restart = true;
            (format!("Container {} definition changed", container.name()), KillReason::SpecChanged)
        } else if verdicts.liveness(&record.id) == Some(Outcome::Failure) {
            (format!("Container {} failed liveness probe", container.name()), KillReason::LivenessProbe)
        } else if verdicts.startup(&record.id) == Some(Outcome::Failure) {
            (format!("Container {} failed startup probe", container.name()), KillReason::StartupProbe)
        } else if resize::plan_container(pod, container, record, plan) == resize::Fate::Restarted {
            plan.to_start.push(index);
            continue;
        } else {
            kept += 1;
            continue;
        };
        let message = if restart {
            plan.to_start.push(index);
            format!("{message}, will be restarted")
        } else {
            message
        };
        plan.to_kill.push(Kill { id: record.id.clone(), name: record.name.clone(), message, reason });
    }
    kept
}

fn should_start(container: ContainerView<'_>, pod: PodView<'_>, record: Option<&ContainerRecord>) -> bool {
    if pod::is_deleting(pod) {
        return false;
    }
    match record {
        None => true,
        Some(record) => match record.state {
            State::Running => false,
            State::Created | State::Unknown => true,
            State::Exited => pod::should_restart_on_exit(container, pod, record.exit_code),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::Sandbox;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;
    use serde_json::json;
    use std::collections::HashMap;

    #[derive(Default)]
    struct Said {
        liveness: HashMap<String, Outcome>,
        startup: HashMap<String, Outcome>,
    }

    impl Verdicts for Said {
        fn liveness(&self, id: &str) -> Option<Outcome> {
            self.liveness.get(id).copied()
        }
        fn startup(&self, id: &str) -> Option<Outcome> {
            self.startup.get(id).copied()
        }
    }

    fn ready() -> Sandbox {
        Sandbox {
            id: "s".into(),
            attempt: 0,
            created_at: 1,
            ready: true,
            host_network: false,
            ips: vec!["10.0.0.2".into()],
        }
    }

    fn record(pod: &Pod, name: &str, state: State, exit_code: i32) -> ContainerRecord {
        let (_, container) = pod::find_container(pod.view(), name).expect("the test names a container of the pod");
        ContainerRecord {
            id: format!("id-{name}"),
            name: name.into(),
            sandbox_id: "s".into(),
            state,
            created_at: 1,
            started_at: 1,
            finished_at: 1,
            exit_code,
            reason: String::new(),
            message: String::new(),
            image: "i".into(),
            image_id: "i".into(),
            hash: pod::container_hash(container),
            restart_count: 0,
            log_path: String::new(),
            actuated: None,
            cgroup: None,
        }
    }

    fn check(pod: &Pod, sandboxes: Vec<Sandbox>, containers: Vec<ContainerRecord>, said: &Said) -> Plan {
        plan_pod(pod.view(), &PodRuntime { sandboxes, containers, cgroup: None }, said)
    }

    fn two() -> Pod {
        pod(json!({ "containers": [{ "name": "a", "image": "i" }, { "name": "b", "image": "i" }] }))
    }

    #[test]
    fn a_new_pod_gets_a_sandbox_and_all_its_containers() {
        let plan = check(&two(), vec![], vec![], &Said::default());
        assert!(plan.kill_pod && plan.create_sandbox);
        assert_eq!((plan.attempt, plan.sandbox_id, plan.to_start), (0, None, vec![0, 1]));
    }

    #[test]
    fn a_running_pod_is_left_alone() {
        let pod = two();
        let containers = vec![record(&pod, "a", State::Running, 0), record(&pod, "b", State::Running, 0)];
        let plan = check(&pod, vec![ready()], containers, &Said::default());
        assert_eq!(plan, Plan { sandbox_id: Some("s".into()), ..Default::default() });
    }

    #[test]
    fn a_dead_container_is_started_again_beside_its_living_sibling() {
        let pod = two();
        let containers = vec![record(&pod, "a", State::Exited, 1), record(&pod, "b", State::Running, 0)];
        let plan = check(&pod, vec![ready()], containers, &Said::default());
        assert!(!plan.kill_pod);
        assert_eq!(plan.to_start, vec![0]);
    }

    #[test]
    fn a_dead_sandbox_is_replaced_with_everything_in_it() {
        let pod = two();
        let dead = Sandbox { ready: false, ..ready() };
        let plan = check(&pod, vec![dead], vec![record(&pod, "a", State::Exited, 1)], &Said::default());
        assert!(plan.kill_pod && plan.create_sandbox);
        assert_eq!((plan.attempt, plan.to_start), (1, vec![0, 1]));
    }

    #[test]
    fn a_finished_pod_is_killed_and_not_begun_again() {
        let pod = pod(json!({ "restartPolicy": "Never", "containers": [{ "name": "a", "image": "i" }] }));
        let plan = check(&pod, vec![ready()], vec![record(&pod, "a", State::Exited, 0)], &Said::default());
        assert!(plan.kill_pod && !plan.create_sandbox && plan.to_start.is_empty());
        let dead = Sandbox { ready: false, ..ready() };
        let plan = check(&pod, vec![dead], vec![record(&pod, "a", State::Exited, 0)], &Said::default());
        assert!(plan.kill_pod && !plan.create_sandbox && plan.to_start.is_empty());
    }

    #[test]
    fn a_failed_liveness_probe_kills_and_restarts() {
        let pod = two();
        let containers = vec![record(&pod, "a", State::Running, 0), record(&pod, "b", State::Running, 0)];
        let said = Said { liveness: HashMap::from([("id-a".into(), Outcome::Failure)]), ..Default::default() };
        let plan = check(&pod, vec![ready()], containers, &said);
        assert_eq!(plan.to_start, vec![0]);
        assert_eq!(plan.to_kill[0].message, "Container a failed liveness probe, will be restarted");
    }

    #[test]
    fn another_image_replaces_the_container() {
        let pod = two();
        let old = ContainerRecord { hash: 7, ..record(&pod, "a", State::Running, 0) };
        let plan = check(&pod, vec![ready()], vec![old, record(&pod, "b", State::Running, 0)], &Said::default());
        assert_eq!(plan.to_kill[0].message, "Container a definition changed, will be restarted");
        assert_eq!(plan.to_start, vec![0]);
    }

    fn with_init(policy: &str) -> Pod {
        pod(json!({ "restartPolicy": policy, "containers": [{ "name": "a", "image": "i" }],
            "initContainers": [{ "name": "i1", "image": "i" }, { "name": "i2", "image": "i" }] }))
    }

    #[test]
    fn init_containers_run_one_after_another() {
        let pod = with_init("Always");
        let plan = check(&pod, vec![], vec![], &Said::default());
        assert_eq!((plan.init_to_start.clone(), plan.to_start.clone()), (vec![0], vec![]));
        let plan = check(&pod, vec![ready()], vec![record(&pod, "i1", State::Running, 0)], &Said::default());
        assert!(plan.init_to_start.is_empty() && plan.to_start.is_empty() && !plan.kill_pod);
        let plan = check(&pod, vec![ready()], vec![record(&pod, "i1", State::Exited, 0)], &Said::default());
        assert_eq!(plan.init_to_start, vec![1]);
        let done = vec![record(&pod, "i2", State::Exited, 0), record(&pod, "i1", State::Exited, 0)];
        let plan = check(&pod, vec![ready()], done, &Said::default());
        assert_eq!((plan.init_to_start, plan.to_start), (vec![], vec![0]));
    }

    #[test]
    fn a_failed_init_container_is_retried_or_fails_the_pod() {
        let pod = with_init("Always");
        let plan = check(&pod, vec![ready()], vec![record(&pod, "i1", State::Exited, 1)], &Said::default());
        assert_eq!(plan.init_to_start, vec![0]);
        let pod = with_init("Never");
        let plan = check(&pod, vec![ready()], vec![record(&pod, "i1", State::Exited, 1)], &Said::default());
        assert!(plan.kill_pod && plan.init_to_start.is_empty());
    }

    #[test]
    fn a_sidecar_is_kept_running_and_lets_the_next_one_start() {
        let pod = pod(json!({ "containers": [{ "name": "a", "image": "i" }], "initContainers": [
            { "name": "side", "image": "i", "restartPolicy": "Always" }, { "name": "i2", "image": "i" }] }));
        let plan = check(&pod, vec![ready()], vec![record(&pod, "side", State::Running, 0)], &Said::default());
        assert_eq!(plan.init_to_start, vec![1]);
        let later = vec![record(&pod, "a", State::Running, 0), record(&pod, "side", State::Exited, 1)];
        let plan = check(&pod, vec![ready()], later, &Said::default());
        assert_eq!(plan.init_to_start, vec![0]);
    }
}
