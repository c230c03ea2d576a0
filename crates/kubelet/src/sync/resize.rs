//! Carries out a resize: the pod's cgroup and those of its containers, in an order that never
//! leaves a container with more than its pod (upstream: doPodResizeAction of
//! pkg/kubelet/kuberuntime/kuberuntime_manager.go).

use super::PodSync;
use crate::allocation::amounts::ContainerAmounts;
use crate::cgroup::{self, CgroupChange, CgroupValues};
use crate::container::resources::{PodCgroup, compute_pod_cgroup, compute_resizable};
use crate::container::sandbox;
use crate::observed::PodRuntime;
use crate::plan::{ContainerUpdate, ResizePlan};
use crate::stats::CgroupUsage;
use std::collections::HashMap;

/// A limit that is not there is larger than any.
const UNLIMITED: i64 = i64::MAX;

impl PodSync<'_> {
    /// The error is the message of the pod's condition; what was done before it stays done, and
    /// the next round goes on from there.
    pub(super) async fn resize(&self, plan: &ResizePlan, observed: &PodRuntime) -> Result<(), String> {
        let parent = sandbox::cgroup_parent(self.pod(), &self.context.machine().cgroup_root);
        let wanted = compute_pod_cgroup(self.pod());
        let current = observed.cgroup.unwrap_or_default();
        self.check_memory(plan, &parent, &wanted, &current).await?;
        let mut resize = Resize { parent, current: HashMap::new(), sync: self };
        let done = resize.run(plan, &wanted, &current).await;
        resize.remember(observed).await;
        done
    }

    /// A limit below what is in use would make the kernel kill processes.
    async fn check_memory(
        &self,
        plan: &ResizePlan,
        parent: &str,
        wanted: &PodCgroup,
        current: &CgroupValues,
    ) -> Result<(), String> {
        let pod = wanted.memory_limit.filter(|limit| *limit < current.memory_limit.unwrap_or(UNLIMITED));
        let shrinks = |update: &&ContainerUpdate| {
            let ContainerAmounts { memory_limit: before, .. } = update.current;
            let after = update.desired.memory_limit;
            after != 0 && (before == 0 || after < before)
        };
        let containers: Vec<ContainerUpdate> = plan.memory.iter().filter(shrinks).cloned().collect();
        if pod.is_none() && containers.is_empty() {
            return Ok(());
        }
        let parent = parent.to_owned();
        let judged = tokio::task::spawn_blocking(move || {
            let usage = CgroupUsage::of_this_machine();
            let used = |cgroup: &str| usage.memory(cgroup).map(|memory| memory.usage);
            let pod = pod.map(|limit| (limit, used(&parent)));
            let containers = containers.into_iter().map(|update| {
                let used = used(&format!("{parent}/{}", update.id));
                (update.name, update.desired.memory_limit, used)
            });
            judge_memory(pod, &containers.collect::<Vec<_>>())
        });
        judged.await.map_err(|error| error.to_string())?
    }
}

/// The limits that are lowered, each with what is used of it. Pure.
fn judge_memory(pod: Option<(i64, Option<u64>)>, containers: &[(String, i64, Option<u64>)]) -> Result<(), String> {
    let mut errors = Vec::new();
    match pod {
        Some((_, None)) => errors.push("missing pod memory usage".to_owned()),
        Some((limit, Some(used))) if i64::try_from(used).is_ok_and(|used| used >= limit) => {
            errors.push(format!("attempting to set pod memory limit ({limit}) below current usage ({used})"));
        }
        _ => {}
    }
    for (name, limit, used) in containers {
        match used {
            None => errors.push(format!("missing container {name:?} memory usage")),
            Some(used) if i64::try_from(*used).is_ok_and(|used| used >= *limit) => errors.push(format!(
                "attempting to set container {name:?} memory limit ({limit}) below current usage ({used})"
            )),
            Some(_) => {}
        }
    }
    match errors.len() {
        0 => Ok(()),
        1 => Err(format!("cannot decrease memory limits: {}", errors[0])),
        _ => Err(format!("cannot decrease memory limits: [{}]", errors.join(", "))),
    }
}

/// The resource that a step is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Memory,
    Cpu,
}

struct Resize<'a> {
    sync: &'a PodSync<'a>,
    parent: String,
    /// The amounts that containers have by now, by their ids.
    current: HashMap<String, ContainerAmounts>,
}

impl Resize<'_> {
    async fn run(&mut self, plan: &ResizePlan, wanted: &PodCgroup, current: &CgroupValues) -> Result<(), String> {
        if !plan.memory.is_empty() || plan.pod {
            let (before, after) = plan_limit(wanted.memory_limit, current.memory_limit, CgroupChange::MemoryLimit);
            self.change(before).await?;
            self.update(Resource::Memory, &plan.memory).await?;
            self.change(after).await?;
        }
        if !plan.cpu.is_empty() || plan.pod {
            let quota = wanted.cpu_quota.filter(|quota| *quota > 0);
            let (before, after) = plan_limit(quota, current.cpu_quota, CgroupChange::CpuQuota);
            self.change(before).await?;
            if !current.has_shares(wanted.cpu_shares) {
                self.change(Some(CgroupChange::CpuShares(wanted.cpu_shares))).await?;
            }
            self.update(Resource::Cpu, &plan.cpu).await?;
            self.change(after).await?;
        }
        Ok(())
    }

    async fn change(&self, change: Option<CgroupChange>) -> Result<(), String> {
        let Some(change) = change else { return Ok(()) };
        let parent = self.parent.clone();
        let done = tokio::task::spawn_blocking(move || cgroup::change(&parent, change)).await;
        done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// The other resource stays as the container has it.
    async fn update(&mut self, resource: Resource, updates: &[ContainerUpdate]) -> Result<(), String> {
        for update in updates {
            let current = self.current.get(&update.id).copied().unwrap_or(update.current);
            let next = compute_step(resource, current, update.desired);
            let resources = compute_resizable(next, &self.sync.context.machine().rules);
            let runtime = &self.sync.context.runtime;
            let done = runtime.update_container_resources(&update.id, resources).await;
            done.map_err(|error| error.to_string())?;
            self.current.insert(update.id.clone(), next);
        }
        Ok(())
    }

    /// Stores the amounts that containers have now. Those of containers that are gone are dropped.
    async fn remember(self, observed: &PodRuntime) {
        if self.current.is_empty() {
            return;
        }
        let (allocations, uid) = (self.sync.context.allocations.clone(), self.sync.pod.uid().to_owned());
        let mut actuated = allocations.actuated(&uid);
        actuated.extend(self.current);
        actuated.retain(|id, _| observed.containers.iter().any(|record| record.id == *id));
        let _ = tokio::task::spawn_blocking(move || allocations.set_actuated(&uid, actuated)).await;
    }
}

/// A higher limit comes before the containers' updates, a lower one after them. Limits are not
/// taken away, as upstream.
fn plan_limit(
    wanted: Option<i64>,
    current: Option<i64>,
    change: impl Fn(i64) -> CgroupChange,
) -> (Option<CgroupChange>, Option<CgroupChange>) {
    let Some(wanted) = wanted.filter(|wanted| current != Some(*wanted)) else { return (None, None) };
    if wanted > current.unwrap_or(UNLIMITED) { (Some(change(wanted)), None) } else { (None, Some(change(wanted))) }
}

fn compute_step(resource: Resource, current: ContainerAmounts, desired: ContainerAmounts) -> ContainerAmounts {
    match resource {
        Resource::Memory => {
            ContainerAmounts { memory_request: desired.memory_request, memory_limit: desired.memory_limit, ..current }
        }
        Resource::Cpu => ContainerAmounts { cpu_request: desired.cpu_request, cpu_limit: desired.cpu_limit, ..current },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_rise_before_the_containers_and_fall_after_them() {
        let check = |wanted, current| plan_limit(wanted, current, CgroupChange::MemoryLimit);
        let to = |limit| Some(CgroupChange::MemoryLimit(limit));
        assert_eq!(check(Some(20), Some(10)), (to(20), None));
        assert_eq!(check(Some(10), Some(20)), (None, to(10)));
        assert_eq!(check(Some(10), None), (None, to(10)), "a first limit is lower than none");
        assert_eq!(check(Some(10), Some(10)), (None, None));
        assert_eq!(check(None, Some(10)), (None, None));
    }

    #[test]
    fn each_step_changes_one_resource() {
        let current = ContainerAmounts { cpu_request: 1, cpu_limit: 2, memory_request: 3, memory_limit: 4 };
        let desired = ContainerAmounts { cpu_request: 10, cpu_limit: 20, memory_request: 30, memory_limit: 40 };
        let memory = compute_step(Resource::Memory, current, desired);
        assert_eq!(memory, ContainerAmounts { memory_request: 30, memory_limit: 40, ..current });
        assert_eq!(compute_step(Resource::Cpu, memory, desired), desired);
    }

    #[test]
    fn memory_in_use_is_not_taken_away() {
        assert_eq!(judge_memory(Some((100, Some(99))), &[("a".into(), 50, Some(49))]), Ok(()));
        let why = judge_memory(Some((100, Some(100))), &[]).expect_err("in use");
        assert_eq!(
            why,
            "cannot decrease memory limits: attempting to set pod memory limit (100) below current usage (100)"
        );
        let why = judge_memory(None, &[("a".into(), 50, Some(60)), ("b".into(), 50, None)]).expect_err("in use");
        assert_eq!(
            why,
            "cannot decrease memory limits: [attempting to set container \"a\" memory limit (50) below current usage \
             (60), missing container \"b\" memory usage]"
        );
    }
}
