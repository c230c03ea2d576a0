//! Exclusive CPUs and NUMA alignment on this node: the machine's topology is read, `ferry_devices::cpu`
//! decides, the assignments are kept in a file, and running containers follow when the shared CPUs
//! change (upstream: pkg/kubelet/cm/cpumanager, pkg/kubelet/cm/topologymanager).
//!
//! **Invariant:** an assignment is on the disk before a container runs on it.

use crate::Config;
use crate::admit::Rejection;
use crate::context::Context;
use crate::cri::v1;
use crate::devices::{DeviceManager, Reusable};
use crate::observed::{CONTAINER_NAME_LABEL, POD_UID_LABEL};
use crate::pod;
use crate::state_file::StateFile;
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::{ContainerView, PodView};
use ferry_devices::CpuSet;
use ferry_devices::cpu::{CpuError, CpuInfo, CpuManager, CpuTopology, Options};
use ferry_devices::topology::{Hints, NumaInfo, Policy, Scope, TopologyManager};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Upstream's name of the file.
const CHECKPOINT: &str = "cpu_manager_state";
const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

pub struct ExclusiveCpus {
    file: StateFile,
    /// `None` where the policy is none.
    manager: Option<Mutex<CpuManager>>,
    topology: TopologyManager,
    /// One admission at a time: a hint holds only until another takes what it counted on.
    admission: tokio::sync::Mutex<()>,
}

/// The CPUs that the container has alone: as many as it requests, where its pod is Guaranteed and
/// they are whole (upstream: guaranteedCPUs).
pub fn exclusive_count(pod: PodView<'_>, container: ContainerView<'_>) -> usize {
    if qos_class(pod) != QosClass::Guaranteed || pod.spec().resources().is_some() {
        return 0;
    }
    let milli = container.resources().requests().get("cpu").map_or(0, |quantity| quantity.milli_value());
    // A limit without a request asks for as much.
    let milli = match milli {
        0 => container.resources().limits().get("cpu").map_or(0, |quantity| quantity.milli_value()),
        milli => milli,
    };
    if milli % 1000 == 0 { usize::try_from(milli / 1000).unwrap_or(0) } else { 0 }
}

fn misaligned() -> Rejection {
    Rejection {
        reason: "TopologyAffinityError".into(),
        message: "Resources cannot be allocated with Topology locality".into(),
    }
}

/// Upstream: pkg/kubelet/cm/admission/errors.go.
pub fn unexpected(why: &str) -> Rejection {
    let message = format!("Allocate failed due to {why}, which is unexpected");
    Rejection { reason: "UnexpectedAdmissionError".into(), message }
}

impl ExclusiveCpus {
    /// Reads the machine and takes over the assignments of an earlier kubelet. Blocking.
    pub fn new(config: &Config) -> Result<Self, String> {
        let configuration = &config.configuration;
        let policy = Policy::parse(&configuration.topology_manager_policy).unwrap_or_default();
        let numa = read_numa(Path::new(NODES));
        let mut prefers_closest = false;
        let mut max_nodes = ferry_devices::topology::MAX_NUMA_NODES;
        for (name, value) in &configuration.topology_manager_policy_options {
            match (name.as_str(), value.as_str()) {
                ("prefer-closest-numa-nodes", value) => prefers_closest = value == "true",
                ("max-allowable-numa-nodes", value) => {
                    max_nodes = value
                        .parse()
                        .map_err(|error| format!("unable to convert policy option to integer {name:?}: {error}"))?;
                }
                _ => return Err(format!("unknown Topology Manager Policy option: {name:?}")),
            }
        }
        if policy != Policy::None && numa.nodes.len() > max_nodes {
            return Err(format!("unsupported on machines with more than {max_nodes} NUMA Nodes",));
        }
        let scope = if configuration.topology_manager_scope == "pod" { Scope::Pod } else { Scope::Container };
        let topology = TopologyManager { policy, scope, prefers_closest, numa };
        let file = StateFile::new(config.root_dir.clone(), CHECKPOINT);
        let state = file.load().map_err(|error| error.to_string())?;
        let broken = |why: String| {
            format!(
                "could not restore state from checkpoint: {why}, please drain this node and delete the CPU manager checkpoint file {:?} before restarting Kubelet",
                config.root_dir.join(CHECKPOINT)
            )
        };
        if configuration.cpu_manager_policy != "static" {
            if !configuration.cpu_manager_policy_options.is_empty() {
                return Err("cpuManagerPolicyOptions need the policy static".into());
            }
            if state.is_some_and(|state| state.contains("\"static\"")) {
                let why = "configured policy \"none\" differs from state checkpoint policy \"static\"";
                return Err(broken(why.into()));
            }
            return Ok(Self { file, manager: None, topology, admission: Default::default() });
        }
        let options = Options::parse(&configuration.cpu_manager_policy_options)?;
        let reserved: CpuSet = configuration.reserved_system_cpus.parse().unwrap_or_default();
        let milli = crate::node::reserved_milli_cpu(configuration);
        let mut manager =
            CpuManager::new(read_topology(Path::new(CPUS), &topology.numa.cpus), options, &reserved, milli)?;
        if let Some(state) = state {
            manager.restore(&state).map_err(broken)?;
        }
        let manager = Some(Mutex::new(manager));
        Ok(Self { file, manager, topology, admission: Default::default() })
    }

    /// Gives the pod's containers their CPUs and devices, near each other as the policy asks.
    pub async fn admit(&self, devices: &DeviceManager, pod: PodView<'_>) -> Result<(), Rejection> {
        let mut containers = pod.spec().init_containers().iter().chain(pod.spec().containers());
        let is_served = |container| {
            (self.manager.is_some() && exclusive_count(pod, container) > 0) || devices.is_asked(pod, container)
        };
        // A pod that asks for nothing of this does not wait for the plugins of another.
        if !containers.any(is_served) {
            return Ok(());
        }
        let _turn = self.admission.lock().await;
        let mut reusable = Reusable::default();
        let mut reusable_cpus = CpuSet::new();
        let mut has_devices = false;
        let whole = match self.topology.scope {
            // What it has already is where it is.
            Scope::Pod if self.has_pod(pod::uid(pod)) || devices.has_pod(pod::uid(pod)) => Some(None),
            Scope::Pod => Some(self.align(self.pod_hints(devices, pod))?),
            Scope::Container => None,
        };
        let init = pod.spec().init_containers().iter().map(|container| (container, !pod::is_sidecar(container)));
        let regular = pod.spec().containers().iter().map(|container| (container, false));
        for (container, ends) in init.chain(regular) {
            let affinity = match &whole {
                Some(affinity) => affinity.clone(),
                None => {
                    let mut hints = vec![self.cpu_hints(pod, container, &reusable_cpus)];
                    hints.extend(devices.hints(pod, container, &reusable, &self.topology.numa.nodes));
                    self.align(hints)?
                }
            };
            self.allocate_cpus(pod, container, ends, &mut reusable_cpus, affinity.as_ref())?;
            let assigned = devices.admit(pod, container, ends, &mut reusable, affinity.as_ref()).await;
            has_devices |= assigned.map_err(|why| unexpected(&why))?;
        }
        if has_devices {
            devices.store_assignments().await.map_err(|why| unexpected(&why))?;
        }
        if self.manager.is_some() {
            self.store().await.map_err(|error| unexpected(&error.to_string()))?;
        }
        Ok(())
    }

    fn has_pod(&self, uid: &str) -> bool {
        self.manager.as_ref().is_some_and(|manager| manager.lock().has_pod(uid))
    }

    fn align(&self, hints: Vec<Hints>) -> Result<Option<CpuSet>, Rejection> {
        let (best, is_admitted) = self.topology.merge(&hints);
        if is_admitted { Ok(best.nodes) } else { Err(misaligned()) }
    }

    fn cpu_hints(&self, pod: PodView<'_>, container: ContainerView<'_>, reusable: &CpuSet) -> Hints {
        let manager = self.manager.as_ref()?.lock();
        manager.hints(pod::uid(pod), container.name(), exclusive_count(pod, container), reusable)
    }

    /// The hints of all containers together: what runs beside each other, and no less than any init
    /// container needs.
    fn pod_hints(&self, devices: &DeviceManager, pod: PodView<'_>) -> Vec<Hints> {
        let count = |container| exclusive_count(pod, container);
        let (mut beside, mut most) = (0, 0);
        for container in pod.spec().init_containers() {
            if pod::is_sidecar(container) {
                beside += count(container);
                most = most.max(beside);
            } else {
                most = most.max(beside + count(container));
            }
        }
        let total = most.max(beside + pod.spec().containers().iter().map(count).sum::<usize>());
        let cpus =
            self.manager.as_ref().and_then(|manager| manager.lock().hints(pod::uid(pod), "", total, &CpuSet::new()));
        let mut hints = vec![cpus];
        hints.extend(devices.pod_hints(pod, &self.topology.numa.nodes));
        hints
    }

    fn allocate_cpus(
        &self,
        pod: PodView<'_>,
        container: ContainerView<'_>,
        ends: bool,
        reusable: &mut CpuSet,
        affinity: Option<&CpuSet>,
    ) -> Result<(), Rejection> {
        let Some(manager) = &self.manager else { return Ok(()) };
        let mut manager = manager.lock();
        let (uid, name) = (pod::uid(pod), container.name());
        manager.allocate(uid, name, exclusive_count(pod, container), reusable, affinity).map_err(
            |error| match error {
                CpuError::Alignment(message) => Rejection { reason: "SMTAlignmentError".into(), message },
                CpuError::Other(why) => unexpected(&why),
            },
        )?;
        if let Some(own) = manager.of_container(uid, name) {
            *reusable = if ends { reusable.union(own) } else { reusable.difference(own) };
        }
        Ok(())
    }

    /// The CPUs that a container runs on; `None` where nothing is said of them.
    pub fn cpus_of(&self, uid: &str, container: &str) -> Option<String> {
        Some(self.manager.as_ref()?.lock().cpus_of(uid, container).to_string())
    }

    /// Gives back the CPUs of a pod that has ended. Returns whether others may run on more now.
    pub async fn release(&self, uid: &str) -> bool {
        let Some(manager) = &self.manager else { return false };
        let is_changed = manager.lock().release(uid);
        self.note(is_changed).await
    }

    pub async fn retain_pods(&self, is_active: impl Fn(&str) -> bool) -> bool {
        let Some(manager) = &self.manager else { return false };
        let is_changed = manager.lock().retain_pods(is_active);
        self.note(is_changed).await
    }

    async fn note(&self, is_changed: bool) -> bool {
        if is_changed && let Err(error) = self.store().await {
            tracing::error!(%error, "cannot store the assignments of CPUs");
        }
        is_changed
    }

    async fn store(&self) -> std::io::Result<()> {
        let Some(manager) = &self.manager else { return Ok(()) };
        self.file.store(|| manager.lock().to_checkpoint()).await
    }
}

/// Running containers follow the CPUs that they have by now, after a pod has come or gone.
pub async fn follow(context: &Context) {
    if context.cpus.manager.is_none() {
        return;
    }
    let filter = v1::ContainerFilter {
        state: Some(v1::ContainerStateValue { state: v1::ContainerState::ContainerRunning as i32 }),
        ..Default::default()
    };
    for container in context.runtime.list_containers(Some(filter)).await.unwrap_or_default() {
        let (Some(uid), Some(name)) = (container.labels.get(POD_UID_LABEL), container.labels.get(CONTAINER_NAME_LABEL))
        else {
            continue;
        };
        let Some(cpuset_cpus) = context.cpus.cpus_of(uid, name).filter(|cpus| !cpus.is_empty()) else { continue };
        let resources = v1::LinuxContainerResources { cpuset_cpus, ..Default::default() };
        if let Err(error) = context.runtime.update_container_resources(&container.id, resources).await {
            tracing::warn!(container = %container.id, %error, "cannot change the CPUs of a container");
        }
    }
}

fn read_line(path: PathBuf) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

/// NUMA nodes with their distances; a kernel without them has one node.
fn read_numa(directory: &Path) -> NumaInfo {
    let mut numa = NumaInfo::default();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(node) = name.to_str().and_then(|name| name.strip_prefix("node")?.parse::<usize>().ok()) else {
            continue;
        };
        let distances = read_line(entry.path().join("distance")).unwrap_or_default();
        let distances = distances.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let cpus = read_line(entry.path().join("cpulist")).and_then(|text| text.parse().ok()).unwrap_or_default();
        numa.nodes.insert(node);
        numa.distances.insert(node, distances);
        numa.cpus.insert(node, cpus);
    }
    if numa.nodes.is_empty() {
        numa.nodes.insert(0);
    }
    numa
}

/// The CPUs that are online.
fn read_topology(directory: &Path, numa: &BTreeMap<usize, CpuSet>) -> CpuTopology {
    let online: CpuSet = read_line(directory.join("online")).and_then(|text| text.parse().ok()).unwrap_or_default();
    let info = |cpu: usize| {
        let at = directory.join(format!("cpu{cpu}/topology"));
        let number = |name: &str| read_line(at.join(name)).and_then(|text| text.parse::<usize>().ok());
        // A core is named by its first thread, which is unique in the machine.
        let siblings: Option<CpuSet> = read_line(at.join("thread_siblings_list")).and_then(|text| text.parse().ok());
        CpuInfo {
            core: siblings.and_then(|cpus| cpus.first()).unwrap_or(cpu),
            socket: number("physical_package_id").unwrap_or(0),
            numa_node: numa.iter().find(|(_, cpus)| cpus.contains(cpu)).map_or(0, |(node, _)| *node),
        }
    };
    CpuTopology::new(online.iter().map(|cpu| (cpu, info(cpu))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::{Value, json};

    #[test]
    fn whole_cpus_of_guaranteed_pods_are_exclusive() {
        let check = |resources: Value, expected: usize| {
            let pod = pod(json!({ "containers": [{ "name": "a", "resources": resources }] }));
            let container = pod::containers(pod.view()).first().expect("a container");
            assert_eq!(exclusive_count(pod.view(), container), expected);
        };
        let amounts = |cpu: &str| json!({ "cpu": cpu, "memory": "1Gi" });
        check(json!({ "requests": amounts("2"), "limits": amounts("2") }), 2);
        check(json!({ "requests": amounts("2000m"), "limits": amounts("2") }), 2);
        check(json!({ "requests": amounts("1500m"), "limits": amounts("1500m") }), 0);
        check(json!({ "requests": amounts("1"), "limits": amounts("2") }), 0);
        check(json!({}), 0);
    }

    #[test]
    fn the_machine_is_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("online", "0-3\n");
        for (cpu, siblings, socket) in [(0, "0,2", "0"), (1, "1,3", "1"), (2, "0,2", "0"), (3, "1,3", "1")] {
            write(&format!("cpu{cpu}/topology/thread_siblings_list"), siblings);
            write(&format!("cpu{cpu}/topology/physical_package_id"), socket);
        }
        write("node0/cpulist", "0,2\n");
        write("node0/distance", "10 20\n");
        write("node1/cpulist", "1,3\n");
        write("node1/distance", "20 10\n");
        let numa = read_numa(directory.path());
        assert_eq!((numa.nodes.to_string(), &numa.distances[&1]), ("0-1".to_owned(), &vec![20, 10]));
        let topology = read_topology(directory.path(), &numa.cpus);
        assert_eq!(topology.get(3), CpuInfo { core: 1, socket: 1, numa_node: 1 });
        assert_eq!(topology.threads_per_core(), 2);
        let own = read_topology(Path::new(CPUS), &read_numa(Path::new(NODES)).cpus);
        assert!(!own.cpus().is_empty(), "this machine has CPUs");
    }
}
