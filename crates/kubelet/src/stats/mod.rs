//! The node's resource usage: CPU time and memory of the machine, its pods and their
//! containers.
//!
//! Nothing is measured until somebody asks: [`Stats::sample`] reads the runtime and the
//! cgroups, and gives the same sample to all who ask within [`FRESH`]. `server/` renders it
//! as /stats/summary ([`summary`]) and /metrics/resource ([`resource_metrics`]).

mod cgroup_usage;
pub mod resource_metrics;
pub mod summary;

pub(crate) use cgroup_usage::CgroupUsage;

use crate::container::sandbox::cgroup_parents;
use crate::cri::{Runtime, RuntimeError, v1};
use crate::observed::{CONTAINER_NAME_LABEL, PodIdentity};
use cgroup_usage::MemoryCounters;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Askers within this share a sample. Shorter than the pause between the two samples that
/// the API server takes when it knows none (`apiserver/src/resource_metrics`).
const FRESH: Duration = Duration::from_millis(500);

/// Rates are taken over at least this, cAdvisor's housekeeping interval, where an older
/// sample is known.
const RATE_WINDOW: Duration = Duration::from_secs(10);

/// A sample older than this says nothing of the present rate.
const RATE_WINDOW_MAX: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUsage {
    /// Nanoseconds since the epoch at which the counter was read.
    pub time: i64,
    pub core_nano_seconds: u64,
    /// The rate since an earlier sample, where there is one.
    pub nano_cores: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUsage {
    pub time: i64,
    pub available: Option<u64>,
    pub usage: Option<u64>,
    pub working_set: Option<u64>,
    pub rss: Option<u64>,
    pub page_faults: Option<u64>,
    pub major_page_faults: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerUsage {
    pub time: i64,
    pub used: Option<u64>,
    pub inodes: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerUsage {
    pub id: String,
    pub name: String,
    /// Nanoseconds since the epoch.
    pub started: i64,
    pub cpu: Option<CpuUsage>,
    pub memory: Option<MemoryUsage>,
    pub writable_layer: Option<LayerUsage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodUsage {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub started: i64,
    pub cpu: Option<CpuUsage>,
    pub memory: Option<MemoryUsage>,
    pub containers: Vec<ContainerUsage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageSample {
    /// When the machine was started.
    pub started: i64,
    pub cpu: Option<CpuUsage>,
    pub memory: Option<MemoryUsage>,
    pub pods: Vec<PodUsage>,
}

/// The samples that are kept: the newest one, and one that rates are measured from.
#[derive(Default)]
struct Kept {
    newest: Option<(Instant, Arc<UsageSample>)>,
    baseline: Option<(Instant, Arc<UsageSample>)>,
}

pub struct Stats {
    cgroups: CgroupUsage,
    /// Held while a sample is taken, so that all who ask meanwhile get the same one.
    kept: Mutex<Kept>,
}

impl Default for Stats {
    fn default() -> Self {
        Self { cgroups: CgroupUsage::of_this_machine(), kept: Mutex::default() }
    }
}

impl Stats {
    /// The usage now, or half a second ago.
    pub async fn sample(&self, runtime: &dyn Runtime, cgroup_root: &str) -> Result<Arc<UsageSample>, RuntimeError> {
        let mut kept = self.kept.lock().await;
        let now = Instant::now();
        if let Some((at, sample)) = &kept.newest
            && now.duration_since(*at) < FRESH
        {
            return Ok(sample.clone());
        }
        let mut sample = self.measure(runtime, cgroup_root).await?;
        // The newest of the known samples that is old enough becomes the one to measure from.
        if let Some((at, _)) = &kept.newest
            && (now.duration_since(*at) >= RATE_WINDOW || kept.baseline.is_none())
        {
            kept.baseline = kept.newest.take();
        }
        kept.baseline = kept.baseline.take().filter(|(at, _)| now.duration_since(*at) <= RATE_WINDOW_MAX);
        if let Some((_, baseline)) = &kept.baseline {
            add_rates(&mut sample, baseline);
        }
        let sample = Arc::new(sample);
        kept.newest = Some((now, sample.clone()));
        Ok(sample)
    }

    async fn measure(&self, runtime: &dyn Runtime, cgroup_root: &str) -> Result<UsageSample, RuntimeError> {
        // The runtime keeps the remains of containers that ended; only what runs uses anything.
        let running = v1::ContainerStateValue { state: v1::ContainerState::ContainerRunning as i32 };
        let filter = v1::ContainerFilter { state: Some(running), ..Default::default() };
        let (containers, stats, sandboxes) = tokio::try_join!(
            runtime.list_containers(Some(filter)),
            runtime.list_container_stats(),
            runtime.list_pod_sandboxes(None),
        )?;
        let mut sample = group_containers(&containers, &stats, &sandboxes);
        let (cgroups, root) = (self.cgroups.clone(), cgroup_root.to_owned());
        let read = tokio::task::spawn_blocking(move || {
            read_cgroups(&cgroups, &root, &mut sample);
            sample
        });
        read.await.map_err(|error| RuntimeError::new(tonic::Code::Internal, error.to_string()))
    }
}

/// The pods that have running containers, each with those.
fn group_containers(
    containers: &[v1::Container],
    stats: &[v1::ContainerStats],
    sandboxes: &[v1::PodSandbox],
) -> UsageSample {
    let stats: HashMap<&str, &v1::ContainerStats> =
        stats.iter().filter_map(|stat| Some((stat.attributes.as_ref()?.id.as_str(), stat))).collect();
    let started: HashMap<&str, i64> =
        sandboxes.iter().map(|sandbox| (sandbox.id.as_str(), sandbox.created_at)).collect();
    let mut pods: BTreeMap<(String, String, String), PodUsage> = BTreeMap::new();
    for container in containers.iter().filter(|c| c.state == v1::ContainerState::ContainerRunning as i32) {
        let Some(identity) = PodIdentity::from_labels(&container.labels) else { continue };
        let Some(name) = container.labels.get(CONTAINER_NAME_LABEL) else { continue };
        let key = (identity.namespace.clone(), identity.name.clone(), identity.uid.clone());
        let pod = pods.entry(key).or_insert_with(|| PodUsage {
            namespace: identity.namespace,
            name: identity.name,
            uid: identity.uid,
            started: started.get(container.pod_sandbox_id.as_str()).copied().unwrap_or(container.created_at),
            ..PodUsage::default()
        });
        let mut usage = ContainerUsage {
            id: container.id.clone(),
            name: name.clone(),
            started: container.created_at,
            ..ContainerUsage::default()
        };
        if let Some(stat) = stats.get(container.id.as_str()) {
            fill(&mut usage, stat);
        }
        pod.containers.push(usage);
    }
    for pod in pods.values_mut() {
        pod.containers.sort_by(|a, b| a.name.cmp(&b.name));
    }
    UsageSample { pods: pods.into_values().collect(), ..UsageSample::default() }
}

fn fill(usage: &mut ContainerUsage, stat: &v1::ContainerStats) {
    let amount = |value: &Option<v1::UInt64Value>| value.as_ref().map(|value| value.value);
    usage.cpu = stat.cpu.as_ref().and_then(|cpu| {
        let core_nano_seconds = amount(&cpu.usage_core_nano_seconds)?;
        Some(CpuUsage { time: cpu.timestamp, core_nano_seconds, nano_cores: None })
    });
    usage.memory = stat.memory.as_ref().map(|memory| MemoryUsage {
        time: memory.timestamp,
        available: amount(&memory.available_bytes),
        usage: amount(&memory.usage_bytes),
        working_set: amount(&memory.working_set_bytes),
        rss: amount(&memory.rss_bytes),
        page_faults: amount(&memory.page_faults),
        major_page_faults: amount(&memory.major_page_faults),
    });
    usage.writable_layer = stat.writable_layer.as_ref().map(|layer| LayerUsage {
        time: layer.timestamp,
        used: amount(&layer.used_bytes),
        inodes: amount(&layer.inodes_used),
    });
}

fn nanoseconds_now() -> i64 {
    i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

/// Adds the pods' own cgroups, which also hold their sandboxes, and the machine. Blocking.
fn read_cgroups(cgroups: &CgroupUsage, root: &str, sample: &mut UsageSample) {
    for pod in &mut sample.pods {
        let parents = cgroup_parents(&pod.uid, root);
        let cpu = parents.iter().find_map(|parent| cgroups.cpu(parent));
        let memory = parents.iter().find_map(|parent| cgroups.memory(parent));
        pod.cpu = cpu.map(read_now).or_else(|| sum_cpu(&pod.containers));
        pod.memory = memory.map(memory_now).or_else(|| sum_memory(&pod.containers));
    }
    sample.started = cgroups.boot_time().and_then(|second| i64::try_from(second).ok()).unwrap_or(0) * 1_000_000_000;
    sample.cpu = cgroups.machine_cpu().map(read_now);
    sample.memory = cgroups.machine_memory().map(|counters| {
        let total = cgroups.machine_memory_total();
        let available = total.map(|total| total.saturating_sub(counters.working_set));
        MemoryUsage { available, ..memory_now(counters) }
    });
}

fn read_now(core_nano_seconds: u64) -> CpuUsage {
    CpuUsage { time: nanoseconds_now(), core_nano_seconds, nano_cores: None }
}

fn memory_now(counters: MemoryCounters) -> MemoryUsage {
    MemoryUsage {
        time: nanoseconds_now(),
        available: None,
        usage: Some(counters.usage),
        working_set: Some(counters.working_set),
        rss: Some(counters.rss),
        page_faults: Some(counters.page_faults),
        major_page_faults: Some(counters.major_page_faults),
    }
}

/// A pod whose cgroup cannot be read uses what its containers use.
fn sum_cpu(containers: &[ContainerUsage]) -> Option<CpuUsage> {
    let used: Vec<CpuUsage> = containers.iter().filter_map(|container| container.cpu).collect();
    let time = used.iter().map(|cpu| cpu.time).max()?;
    Some(CpuUsage { time, core_nano_seconds: used.iter().map(|cpu| cpu.core_nano_seconds).sum(), nano_cores: None })
}

fn sum_memory(containers: &[ContainerUsage]) -> Option<MemoryUsage> {
    let used: Vec<MemoryUsage> = containers.iter().filter_map(|container| container.memory).collect();
    let time = used.iter().map(|memory| memory.time).max()?;
    let working_set = used.iter().filter_map(|memory| memory.working_set).sum();
    Some(MemoryUsage { time, working_set: Some(working_set), ..MemoryUsage::default() })
}

fn add_rates(sample: &mut UsageSample, baseline: &UsageSample) {
    add_rate(sample.cpu.as_mut(), baseline.cpu.as_ref());
    let pods: HashMap<&str, &PodUsage> = baseline.pods.iter().map(|pod| (pod.uid.as_str(), pod)).collect();
    for pod in &mut sample.pods {
        let Some(before) = pods.get(pod.uid.as_str()) else { continue };
        add_rate(pod.cpu.as_mut(), before.cpu.as_ref());
        for container in &mut pod.containers {
            let before = before.containers.iter().find(|before| before.id == container.id);
            add_rate(container.cpu.as_mut(), before.and_then(|before| before.cpu.as_ref()));
        }
    }
}

fn add_rate(now: Option<&mut CpuUsage>, before: Option<&CpuUsage>) {
    let (Some(now), Some(before)) = (now, before) else { return };
    let Some(window) = u128::try_from(now.time - before.time).ok().filter(|window| *window > 0) else { return };
    let Some(used) = now.core_nano_seconds.checked_sub(before.core_nano_seconds) else { return };
    now.nano_cores = u64::try_from(u128::from(used) * 1_000_000_000 / window).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn labels(pod: &str, container: &str) -> HashMap<String, String> {
        [
            (crate::observed::POD_NAMESPACE_LABEL, "default"),
            (crate::observed::POD_NAME_LABEL, pod),
            (crate::observed::POD_UID_LABEL, "u1"),
            (CONTAINER_NAME_LABEL, container),
        ]
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
    }

    fn container(id: &str, name: &str, state: v1::ContainerState) -> v1::Container {
        let labels = labels("web", name);
        v1::Container { id: id.into(), state: state as i32, labels, created_at: 5, ..Default::default() }
    }

    fn stat(id: &str, time: i64, cpu: u64, memory: u64) -> v1::ContainerStats {
        v1::ContainerStats {
            attributes: Some(v1::ContainerAttributes { id: id.into(), ..Default::default() }),
            cpu: Some(v1::CpuUsage {
                timestamp: time,
                usage_core_nano_seconds: Some(v1::UInt64Value { value: cpu }),
                ..Default::default()
            }),
            memory: Some(v1::MemoryUsage {
                timestamp: time,
                working_set_bytes: Some(v1::UInt64Value { value: memory }),
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn only_running_containers_count_and_a_pod_without_a_cgroup_is_their_sum() {
        let running = v1::ContainerState::ContainerRunning;
        let containers = [
            container("old", "main", v1::ContainerState::ContainerExited),
            container("c2", "side", running),
            container("c1", "main", running),
        ];
        let stats = [stat("old", 9, 900, 9000), stat("c1", 10, 100, 1000), stat("c2", 11, 200, 2000)];
        let mut sample = group_containers(&containers, &stats, &[]);
        read_cgroups(&CgroupUsage::new(Path::new("/nowhere"), Path::new("/nowhere")), "/kubepods", &mut sample);
        let [pod] = sample.pods.as_slice() else { panic!("one pod: {sample:?}") };
        let names: Vec<&str> = pod.containers.iter().map(|container| container.name.as_str()).collect();
        assert_eq!(names, ["main", "side"]);
        assert_eq!(pod.cpu, Some(CpuUsage { time: 11, core_nano_seconds: 300, nano_cores: None }));
        assert_eq!(pod.memory.and_then(|memory| memory.working_set), Some(3000));
        assert_eq!((sample.cpu, sample.memory), (None, None));
    }

    #[test]
    fn rates_are_between_two_samples_of_the_same_container() {
        let running = v1::ContainerState::ContainerRunning;
        let check = |before: (&str, i64, u64), after: (&str, i64, u64), expected: Option<u64>| {
            let sample = |(id, time, cpu): (&str, i64, u64)| {
                group_containers(&[container(id, "main", running)], &[stat(id, time, cpu, 1)], &[])
            };
            let mut now = sample(after);
            add_rates(&mut now, &sample(before));
            let rate = now.pods[0].containers[0].cpu.and_then(|cpu| cpu.nano_cores);
            assert_eq!(rate, expected, "{before:?} to {after:?}");
        };
        let second = 1_000_000_000;
        check(("a", second, 0), ("a", 3 * second, second as u64), Some(500_000_000));
        check(("a", second, 7), ("a", second, 7), None);
        check(("a", second, 9), ("a", 2 * second, 7), None);
        check(("a", second, 0), ("b", 2 * second, 7), None);
    }
}
