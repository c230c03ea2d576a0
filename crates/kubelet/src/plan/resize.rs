//! The resize of running containers: what they were given against what is allocated to them
//! (upstream: computePodResizeAction of pkg/kubelet/kuberuntime/kuberuntime_manager.go). Pure.

use super::{Kill, KillReason, Plan};
use crate::allocation::amounts::ContainerAmounts;
use crate::container::resources::compute_pod_cgroup;
use crate::observed::{ContainerRecord, PodRuntime, State};
use crate::pod;
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::{ContainerView, PodView};

/// A running container that is to have other amounts.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerUpdate {
    pub id: String,
    pub name: String,
    pub current: ContainerAmounts,
    pub desired: ContainerAmounts,
}

/// The updates of each resource, those that give something back first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResizePlan {
    pub memory: Vec<ContainerUpdate>,
    pub cpu: Vec<ContainerUpdate>,
    /// The pod's own cgroup is not as it should be.
    pub pod: bool,
}

impl ResizePlan {
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.cpu.is_empty() && !self.pod
    }
}

/// The way in which a container is resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    Restarted,
}

/// Adds the updates of one running container to the plan, or its end where its resize policy asks
/// for a restart. The caller starts it again.
pub(super) fn plan_container(
    pod: PodView<'_>,
    container: ContainerView<'_>,
    record: &ContainerRecord,
    plan: &mut Plan,
) -> Fate {
    let desired = ContainerAmounts::of(pod.spec(), container);
    let Some(current) = record.actuated.filter(|current| *current != desired) else { return Fate::Kept };
    let restarts = |resource: &str| {
        let mut policies = container.resize_policy().iter();
        let policy = policies.find(|policy| policy.resource_name() == resource);
        policy.is_some_and(|policy| policy.restart_policy() == "RestartContainer")
    };
    let memory = compare(desired.memory_limit, current.memory_limit, desired.memory_request, current.memory_request);
    let cpu = compare(desired.cpu_limit, current.cpu_limit, desired.cpu_request, current.cpu_request);
    if (memory.is_some() && restarts("memory")) || (cpu.is_some() && restarts("cpu")) {
        plan.to_kill.push(Kill {
            id: record.id.clone(),
            name: record.name.clone(),
            message: format!("Container {} resize requires restart", container.name()),
            reason: KillReason::Resize,
        });
        return Fate::Restarted;
    }
    let update = || ContainerUpdate { id: record.id.clone(), name: record.name.clone(), current, desired };
    for (change, updates) in [(memory, &mut plan.resize.memory), (cpu, &mut plan.resize.cpu)] {
        match change {
            Some(Change::More) => updates.push(update()),
            Some(Change::Less) => updates.insert(0, update()),
            None => {}
        }
    }
    Fate::Kept
}

#[derive(Clone, Copy)]
enum Change {
    More,
    Less,
}

/// The limit decides, or else the request.
fn compare(limit: i64, current_limit: i64, request: i64, current_request: i64) -> Option<Change> {
    let (wanted, current) = if limit != current_limit { (limit, current_limit) } else { (request, current_request) };
    match wanted.cmp(&current) {
        std::cmp::Ordering::Greater => Some(Change::More),
        std::cmp::Ordering::Less => Some(Change::Less),
        std::cmp::Ordering::Equal => None,
    }
}

/// Whether the pod's cgroup is to be changed. A pod without resources has none to hold it to.
pub(super) fn is_pod_resized(pod: PodView<'_>, runtime: &PodRuntime) -> bool {
    let Some(values) = runtime.cgroup.filter(|_| qos_class(pod) != QosClass::BestEffort) else { return false };
    !values.is_as(&compute_pod_cgroup(pod))
}

/// Whether something that runs does not have its allocation yet; containers that do not run get
/// it when they start.
pub fn is_resize_in_progress(pod: PodView<'_>, runtime: &PodRuntime) -> bool {
    let spec = pod.spec();
    let sidecars = spec.init_containers().iter().filter(|container| pod::is_sidecar(*container));
    let waits = |container: ContainerView<'_>| {
        let record = runtime.latest(container.name()).filter(|record| record.state == State::Running);
        let actuated = record.and_then(|record| record.actuated);
        actuated.is_some_and(|actuated| actuated != ContainerAmounts::of(spec, container))
    };
    sidecars.chain(spec.containers()).any(waits) || (spec.resources().is_some() && is_pod_resized(pod, runtime))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::{CgroupValues, CpuWeight};
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;
    use serde_json::{Value, json};

    fn amounts(cpu: i64, memory: i64) -> ContainerAmounts {
        ContainerAmounts { cpu_request: cpu, cpu_limit: cpu, memory_request: memory, memory_limit: memory }
    }

    fn sized(policy: Value) -> Pod {
        let amounts = json!({ "cpu": "200m", "memory": "100" });
        pod(json!({ "containers": [{ "name": "a", "image": "i", "resizePolicy": policy,
            "resources": { "requests": amounts, "limits": amounts } }] }))
    }

    fn record(pod: &Pod, actuated: Option<ContainerAmounts>) -> ContainerRecord {
        let container = pod.view().spec().containers().first().expect("a container");
        ContainerRecord {
            id: "id-a".into(),
            name: "a".into(),
            sandbox_id: "s".into(),
            state: State::Running,
            created_at: 1,
            started_at: 1,
            finished_at: 0,
            exit_code: 0,
            reason: String::new(),
            message: String::new(),
            image: "i".into(),
            image_id: "i".into(),
            hash: pod::container_hash(container),
            restart_count: 0,
            log_path: String::new(),
            actuated,
            cgroup: None,
        }
    }

    fn check(policy: Value, actuated: Option<ContainerAmounts>) -> (Fate, Plan) {
        let (pod, mut plan) = (sized(policy), Plan::default());
        let container = pod.view().spec().containers().first().expect("a container");
        let fate = plan_container(pod.view(), container, &record(&pod, actuated), &mut plan);
        (fate, plan)
    }

    #[test]
    fn only_what_differs_is_updated() {
        assert_eq!(check(Value::Null, Some(amounts(200, 100))), (Fate::Kept, Plan::default()));
        assert_eq!(check(Value::Null, None), (Fate::Kept, Plan::default()));
        let (fate, plan) = check(Value::Null, Some(amounts(100, 100)));
        assert_eq!((fate, plan.resize.cpu.len(), plan.resize.memory.len()), (Fate::Kept, 1, 0));
        let (_, plan) = check(Value::Null, Some(amounts(200, 50)));
        assert_eq!((plan.resize.cpu.len(), plan.resize.memory.len()), (0, 1));
    }

    #[test]
    fn a_policy_restarts_for_its_own_resource_only() {
        let memory = json!([{ "resourceName": "memory", "restartPolicy": "RestartContainer" }]);
        let (fate, plan) = check(memory.clone(), Some(amounts(100, 100)));
        assert_eq!((fate, plan.to_kill.len(), plan.resize.cpu.len()), (Fate::Kept, 0, 1));
        let (fate, plan) = check(memory, Some(amounts(100, 50)));
        assert_eq!((fate, plan.resize.is_empty()), (Fate::Restarted, true));
        assert_eq!(plan.to_kill[0].message, "Container a resize requires restart");
    }

    #[test]
    fn less_comes_before_more() {
        let amounts_of = |cpu: &str| json!({ "requests": { "cpu": cpu, "memory": "1" } });
        let pod = pod(json!({ "containers": [{ "name": "a", "resources": amounts_of("300m") },
            { "name": "b", "resources": amounts_of("100m") }] }));
        let mut plan = Plan::default();
        for container in pod.view().spec().containers() {
            let before = ContainerAmounts { cpu_request: 200, memory_request: 1, ..Default::default() };
            let record = ContainerRecord { name: container.name().into(), ..record(&sized(Value::Null), Some(before)) };
            plan_container(pod.view(), container, &record, &mut plan);
        }
        let names: Vec<&str> = plan.resize.cpu.iter().map(|update| update.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
    }

    #[test]
    fn the_pods_cgroup_is_compared_with_what_is_allocated() {
        let pod = sized(Value::Null);
        let values = CgroupValues { cpu: Some(CpuWeight::Shares(204)), cpu_quota: Some(20_000), memory_limit: Some(0) };
        let runtime = |cgroup| PodRuntime { cgroup, ..Default::default() };
        assert!(!is_pod_resized(pod.view(), &runtime(Some(values))));
        assert!(!is_pod_resized(pod.view(), &runtime(None)));
        let other = CgroupValues { cpu_quota: Some(10_000), ..values };
        assert!(is_pod_resized(pod.view(), &runtime(Some(other))));
    }
}
