//! The figures of pods' volumes (`volume/stats.rs`) in /stats/summary, and those of claims in
//! /metrics. Rendering is pure.
//!
//! Upstream: pkg/kubelet/server/stats and pkg/kubelet/metrics/collectors/volume_stats.go.

use crate::context::Context;
use crate::pod;
use crate::volume::VolumeUsage;
use ferry_metrics::family::{head, line, render_labels};
use futures_util::future::join_all;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The figures of the volumes of every pod, by its uid.
pub(super) type Usages = HashMap<String, (String, Arc<[VolumeUsage]>)>;

pub(super) async fn read(context: &Context) -> Usages {
    let mut pods = Vec::new();
    context.pods.for_each(|pod| pods.push((pod.uid().to_owned(), pod::namespace(pod.view()).to_owned())));
    let measured = pods.into_iter().map(|(uid, namespace)| async move {
        let usage = context.volumes.usage(&uid).await;
        (uid, (namespace, usage))
    });
    join_all(measured).await.into_iter().filter(|(_, (_, usage))| !usage.is_empty()).collect()
}

/// Adds the volumes to the pods of a summary.
pub(super) fn add_to_summary(summary: &mut Value, usages: &Usages) {
    for pod in summary["pods"].as_array_mut().into_iter().flatten() {
        let found = pod["podRef"]["uid"].as_str().and_then(|uid| usages.get(uid));
        if let Some((namespace, volumes)) = found {
            pod["volume"] = volumes.iter().map(|usage| render(namespace, usage)).collect();
        }
    }
}

fn render(namespace: &str, usage: &VolumeUsage) -> Value {
    let stats = &usage.stats;
    let time = Timestamp::from_nanosecond(i128::from(usage.time)).unwrap_or_default();
    let mut volume = json!({ "time": time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "availableBytes": stats.available, "capacityBytes": stats.capacity, "usedBytes": stats.used,
        "inodesFree": stats.inodes_free, "inodes": stats.inodes, "inodesUsed": stats.inodes_used, "name": usage.name });
    if let Some(claim) = &usage.claim {
        volume["pvcRef"] = json!({ "name": claim, "namespace": namespace });
    }
    volume
}

/// Each claim once, however many pods have it.
pub(super) fn render_metrics(usages: &Usages, page: &mut String) {
    let all = usages.values().flat_map(|(namespace, volumes)| volumes.iter().map(move |usage| (namespace, usage)));
    let claims: BTreeMap<(&str, &str), _> = all
        .filter_map(|(namespace, usage)| Some(((namespace.as_str(), usage.claim.as_deref()?), usage.stats)))
        .collect();
    type Read = fn(&crate::volume::VolumeStats) -> u64;
    let metrics: [(&str, &str, Read); 6] = [
        ("kubelet_volume_stats_available_bytes", "Number of available bytes in the volume", |own| own.available),
        ("kubelet_volume_stats_capacity_bytes", "Capacity in bytes of the volume", |own| own.capacity),
        ("kubelet_volume_stats_inodes", "Maximum number of inodes in the volume", |own| own.inodes),
        ("kubelet_volume_stats_inodes_free", "Number of free inodes in the volume", |own| own.inodes_free),
        ("kubelet_volume_stats_inodes_used", "Number of used inodes in the volume", |own| own.inodes_used),
        ("kubelet_volume_stats_used_bytes", "Number of used bytes in the volume", |own| own.used),
    ];
    for (name, help, read) in metrics {
        if claims.is_empty() {
            return;
        }
        head(page, name, "gauge", &format!("[ALPHA] {help}"));
        for ((namespace, claim), stats) in &claims {
            let labels = render_labels(&["namespace", "persistentvolumeclaim"], &[namespace, claim]);
            line(page, name, &labels, read(stats));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::VolumeStats;

    #[test]
    fn volumes_stand_in_the_summary_of_their_pod_and_claims_once_in_the_metrics() {
        let stats = VolumeStats { available: 1, capacity: 4, used: 3, inodes: 9, inodes_free: 7, inodes_used: 2 };
        let usage = |name: &str, claim: Option<&str>| VolumeUsage {
            name: name.into(),
            claim: claim.map(str::to_owned),
            is_local_ephemeral: claim.is_none(),
            time: 1_700_000_000_000_000_000,
            stats,
        };
        let of = |volumes: Vec<VolumeUsage>| ("ns".to_owned(), Arc::from(volumes));
        let shared = || usage("data", Some("c"));
        let usages = Usages::from([
            ("u".to_owned(), of(vec![shared(), usage("tmp", None)])),
            ("w".to_owned(), of(vec![shared()])),
        ]);
        let mut summary = json!({ "pods": [{ "podRef": { "uid": "u" } }, { "podRef": { "uid": "x" } }] });
        add_to_summary(&mut summary, &usages);
        let expected = json!({ "time": "2023-11-14T22:13:20Z", "availableBytes": 1, "capacityBytes": 4, "usedBytes": 3,
            "inodesFree": 7, "inodes": 9, "inodesUsed": 2, "name": "data", "pvcRef": { "name": "c", "namespace": "ns" } });
        assert_eq!(summary["pods"][0]["volume"][0], expected);
        assert_eq!(summary["pods"][0]["volume"][1]["pvcRef"], Value::Null);
        assert_eq!(summary["pods"][1]["volume"], Value::Null);
        let mut page = String::new();
        render_metrics(&usages, &mut page);
        let lines: Vec<&str> =
            page.lines().filter(|line| line.starts_with("kubelet_volume_stats_used_bytes")).collect();
        assert_eq!(lines, ["kubelet_volume_stats_used_bytes{namespace=\"ns\",persistentvolumeclaim=\"c\"} 3"]);
    }
}
