//! The dead containers and sandboxes that go (upstream: pkg/kubelet/kuberuntime/kuberuntime_gc.go,
//! with its defaults: one dead container of each name of a pod, any number on the node).

use std::collections::{HashMap, HashSet};

/// One dead container of a name is kept for `kubectl logs --previous`.
const MAX_PER_POD_CONTAINER: usize = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerRecord {
    pub id: String,
    pub pod_uid: String,
    pub name: String,
    pub sandbox_id: String,
    pub created_at: i64,
    pub running: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxRecord {
    pub id: String,
    pub pod_uid: String,
    pub created_at: i64,
    pub ready: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerGcPlan {
    pub containers: Vec<String>,
    pub sandboxes: Vec<String>,
}

/// `is_over` answers whether nothing of a pod runs or will run again; all that is dead of such a
/// pod goes. Of the others a dead container of each name stays, and the newest sandbox.
pub fn plan_container_gc(
    containers: &[ContainerRecord],
    sandboxes: &[SandboxRecord],
    is_over: impl Fn(&str) -> bool,
) -> ContainerGcPlan {
    let mut dead: Vec<&ContainerRecord> = containers.iter().filter(|container| !container.running).collect();
    dead.sort_by_key(|container| std::cmp::Reverse(container.created_at));
    let mut kept: HashMap<(&str, &str), usize> = HashMap::new();
    let mut gone: Vec<&ContainerRecord> = Vec::new();
    for container in dead {
        let count = kept.entry((container.pod_uid.as_str(), container.name.as_str())).or_default();
        *count += 1;
        if *count > MAX_PER_POD_CONTAINER || is_over(&container.pod_uid) {
            gone.push(container);
        }
    }
    let gone_ids: HashSet<&str> = gone.iter().map(|container| container.id.as_str()).collect();
    let stays = |container: &&ContainerRecord| !gone_ids.contains(container.id.as_str());
    let busy: HashSet<&str> = containers.iter().filter(stays).map(|container| container.sandbox_id.as_str()).collect();
    let mut newest: HashMap<&str, (i64, &str)> = HashMap::new();
    for sandbox in sandboxes {
        let of_pod = newest.entry(&sandbox.pod_uid).or_insert((i64::MIN, ""));
        *of_pod = (*of_pod).max((sandbox.created_at, &sandbox.id));
    }
    let sandboxes = sandboxes.iter().filter(|sandbox| {
        let is_newest = newest.get(sandbox.pod_uid.as_str()).is_some_and(|(_, id)| *id == sandbox.id);
        !sandbox.ready && !busy.contains(sandbox.id.as_str()) && (!is_newest || is_over(&sandbox.pod_uid))
    });
    ContainerGcPlan {
        sandboxes: sandboxes.map(|sandbox| sandbox.id.clone()).collect(),
        containers: gone.into_iter().map(|container| container.id.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(id: &str, pod: &str, name: &str, created_at: i64, running: bool) -> ContainerRecord {
        ContainerRecord {
            id: id.into(),
            pod_uid: pod.into(),
            name: name.into(),
            sandbox_id: format!("{pod}-new"),
            created_at,
            running,
        }
    }

    fn sandbox(id: &str, pod: &str, created_at: i64, ready: bool) -> SandboxRecord {
        SandboxRecord { id: id.into(), pod_uid: pod.into(), created_at, ready }
    }

    #[test]
    fn one_dead_container_of_a_name_stays_while_its_pod_is_alive() {
        let containers = [
            container("now", "alive", "c", 4, true),
            container("previous", "alive", "c", 3, false),
            container("older", "alive", "c", 2, false),
            container("init", "alive", "i", 1, false),
            container("last", "over", "c", 2, false),
        ];
        let sandboxes = [
            sandbox("alive-old", "alive", 1, false),
            sandbox("alive-new", "alive", 2, true),
            sandbox("over-new", "over", 1, false),
        ];
        let mut plan = plan_container_gc(&containers, &sandboxes, |uid| uid == "over");
        plan.containers.sort();
        assert_eq!(plan.containers, ["last", "older"]);
        assert_eq!(plan.sandboxes, ["alive-old", "over-new"]);
    }

    #[test]
    fn a_sandbox_stays_while_it_is_the_newest_or_has_containers() {
        let containers = [ContainerRecord { sandbox_id: "old".into(), ..container("c", "p", "c", 1, false) }];
        let sandboxes =
            [sandbox("old", "p", 1, false), sandbox("middle", "p", 2, false), sandbox("new", "p", 3, false)];
        let plan = plan_container_gc(&containers, &sandboxes, |_| false);
        assert_eq!(plan, ContainerGcPlan { containers: vec![], sandboxes: vec!["middle".into()] });
    }
}
