//! /stats/summary: a sample as the JSON of upstream's stats/v1alpha1 Summary.

use super::{CpuUsage, LayerUsage, MemoryUsage, UsageSample};
use jiff::Timestamp;
use nix::sys::statvfs::statvfs;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Room on a filesystem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilesystemRoom {
    pub available: u64,
    pub capacity: u64,
    pub inodes_free: u64,
    pub inodes: u64,
}

impl FilesystemRoom {
    /// The filesystem that has this path. Blocking, but for no disk.
    pub fn of(path: &Path) -> Option<Self> {
        let found = statvfs(path).ok()?;
        Some(Self {
            available: found.blocks_available() * found.fragment_size(),
            capacity: found.blocks() * found.fragment_size(),
            inodes_free: found.files_free(),
            inodes: found.files(),
        })
    }
}

/// The filesystems of the summary: the kubelet's own, and that of the images with the
/// bytes and inodes that images use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filesystems {
    pub node: Option<FilesystemRoom>,
    pub images: Option<(FilesystemRoom, u64, Option<u64>)>,
}

/// The page; without `filesystems` it is the one of `?only_cpu_and_memory=true`.
pub fn render(node_name: &str, sample: &UsageSample, filesystems: Option<Filesystems>) -> Value {
    let mut node = Map::new();
    node.insert("nodeName".into(), node_name.into());
    node.insert("startTime".into(), time(sample.started));
    insert(&mut node, "cpu", sample.cpu.as_ref().map(cpu));
    insert(&mut node, "memory", sample.memory.as_ref().map(memory));
    if let Some(filesystems) = filesystems {
        let now = time_of(Timestamp::now());
        insert(
            &mut node,
            "fs",
            filesystems.node.map(|room| {
                let used = room.capacity.saturating_sub(room.available);
                filesystem(&now, room, used, Some(room.inodes.saturating_sub(room.inodes_free)))
            }),
        );
        let images = filesystems.images.map(|(room, used, inodes)| filesystem(&now, room, used, inodes));
        insert(&mut node, "runtime", images.map(|images| json!({ "imageFs": images })));
    }
    let pods: Vec<Value> = sample
        .pods
        .iter()
        .map(|pod| {
            let mut entry = Map::new();
            entry.insert("podRef".into(), json!({ "name": pod.name, "namespace": pod.namespace, "uid": pod.uid }));
            entry.insert("startTime".into(), time(pod.started));
            let containers: Vec<Value> = pod
                .containers
                .iter()
                .map(|container| {
                    let mut entry = Map::new();
                    entry.insert("name".into(), container.name.as_str().into());
                    entry.insert("startTime".into(), time(container.started));
                    insert(&mut entry, "cpu", container.cpu.as_ref().map(cpu));
                    insert(&mut entry, "memory", container.memory.as_ref().map(memory));
                    insert(&mut entry, "rootfs", container.writable_layer.as_ref().map(layer));
                    entry.into()
                })
                .collect();
            entry.insert("containers".into(), containers.into());
            insert(&mut entry, "cpu", pod.cpu.as_ref().map(cpu));
            insert(&mut entry, "memory", pod.memory.as_ref().map(memory));
            entry.into()
        })
        .collect();
    json!({ "node": node, "pods": pods })
}

fn insert(object: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(key.into(), value);
    }
}

fn time(nanoseconds: i64) -> Value {
    Timestamp::from_nanosecond(i128::from(nanoseconds)).map_or(Value::Null, time_of)
}

fn time_of(time: Timestamp) -> Value {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()
}

fn numbers(time: Value, fields: &[(&str, Option<u64>)]) -> Value {
    let mut object = Map::new();
    object.insert("time".into(), time);
    for (name, value) in fields {
        insert(&mut object, name, value.map(Value::from));
    }
    object.into()
}

fn cpu(usage: &CpuUsage) -> Value {
    let fields = [("usageNanoCores", usage.nano_cores), ("usageCoreNanoSeconds", Some(usage.core_nano_seconds))];
    numbers(time(usage.time), &fields)
}

fn memory(usage: &MemoryUsage) -> Value {
    let fields = [
        ("availableBytes", usage.available),
        ("usageBytes", usage.usage),
        ("workingSetBytes", usage.working_set),
        ("rssBytes", usage.rss),
        ("pageFaults", usage.page_faults),
        ("majorPageFaults", usage.major_page_faults),
    ];
    numbers(time(usage.time), &fields)
}

fn layer(usage: &LayerUsage) -> Value {
    numbers(time(usage.time), &[("usedBytes", usage.used), ("inodesUsed", usage.inodes)])
}

fn filesystem(time: &Value, room: FilesystemRoom, used: u64, inodes_used: Option<u64>) -> Value {
    let fields = [
        ("availableBytes", Some(room.available)),
        ("capacityBytes", Some(room.capacity)),
        ("usedBytes", Some(used)),
        ("inodesFree", Some(room.inodes_free)),
        ("inodes", Some(room.inodes)),
        ("inodesUsed", inodes_used),
    ];
    numbers(time.clone(), &fields)
}

#[cfg(test)]
mod tests {
    use super::super::{ContainerUsage, PodUsage};
    use super::*;

    #[test]
    fn a_summary_has_upstreams_fields_and_leaves_out_what_is_not_known() {
        let cpu = Some(CpuUsage { time: 1_700_000_000_999_000_000, core_nano_seconds: 7, nano_cores: Some(3) });
        let memory = Some(MemoryUsage { time: 0, working_set: Some(5), ..MemoryUsage::default() });
        let container = ContainerUsage { name: "main".into(), cpu, ..ContainerUsage::default() };
        let pod = PodUsage {
            name: "web".into(),
            namespace: "a".into(),
            uid: "u".into(),
            containers: vec![container],
            ..PodUsage::default()
        };
        let sample = UsageSample { started: 0, cpu, memory, pods: vec![pod] };
        let room = FilesystemRoom { available: 3, capacity: 10, inodes_free: 1, inodes: 5 };
        let summary = render("n1", &sample, Some(Filesystems { node: Some(room), images: None }));
        let epoch = "1970-01-01T00:00:00Z";
        let expected = json!({ "time": "2023-11-14T22:13:20Z", "usageNanoCores": 3, "usageCoreNanoSeconds": 7 });
        assert_eq!(summary["node"]["cpu"], expected);
        assert_eq!(summary["node"]["memory"], json!({ "time": epoch, "workingSetBytes": 5 }));
        assert_eq!((&summary["node"]["fs"]["usedBytes"], &summary["node"]["fs"]["inodesUsed"]), (&json!(7), &json!(4)));
        let containers = json!([{ "name": "main", "startTime": epoch, "cpu": expected }]);
        let pod_ref = json!({ "name": "web", "namespace": "a", "uid": "u" });
        assert_eq!(summary["pods"], json!([{ "podRef": pod_ref, "startTime": epoch, "containers": containers }]));
    }
}
