//! The time of one scheduling decision, for the pod templates of upstream's scheduler_perf:
//! `cargo run --release -p ferry-scheduler --example decisions -- 5000 2000`.
//!
//! A decision is the update of the snapshot, the search, the scores and the assumption of the
//! pod on its node; binding and the API are not in it.

use ferry_client::SharedObject;
use ferry_scheduler::cycle::decide;
use ferry_scheduler::framework::{Framework, Handle, Nominated};
use ferry_scheduler::plugins::all::all;
use ferry_scheduler::pod_info::PodInfo;
use ferry_scheduler::snapshot::{Cache, Snapshot};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

struct Case {
    name: &'static str,
    labels: Value,
    spec: Value,
}

fn cases() -> Vec<Case> {
    let case = |name, labels: Value, spec: Value| Case { name, labels, spec };
    let required = |kind: &str, color: &str, key: &str| {
        let term = json!({"labelSelector": {"matchLabels": {"color": color}}, "topologyKey": key});
        json!({"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}})
    };
    let preferred = |kind: &str, color: &str| {
        let term = json!({"labelSelector": {"matchLabels": {"color": color}}, "topologyKey": "kubernetes.io/hostname"});
        json!({"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}})
    };
    let spread = |when: &str| {
        json!({"topologySpreadConstraints": [{"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": when, "labelSelector": {"matchLabels": {"color": "blue"}}}]})
    };
    let zones = json!([{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["moon-1", "moon-2"]}]}]);
    vec![
        case("SchedulingBasic", json!({}), json!({})),
        case(
            "NodeAffinity",
            json!({}),
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": zones}}}}),
        ),
        case("nodeSelector", json!({}), json!({"nodeSelector": {"topology.kubernetes.io/zone": "moon-1"}})),
        case("TopologySpreading", json!({"color": "blue"}), spread("DoNotSchedule")),
        case("PreferredTopologySpreading", json!({"color": "blue"}), spread("ScheduleAnyway")),
        case(
            "PodAntiAffinity",
            json!({"color": "green"}),
            required("podAntiAffinity", "green", "kubernetes.io/hostname"),
        ),
        case("PodAffinity", json!({"color": "blue"}), required("podAffinity", "blue", "topology.kubernetes.io/zone")),
        case("PreferredPodAffinity", json!({"color": "red"}), preferred("podAffinity", "red")),
        case("PreferredPodAntiAffinity", json!({"color": "yellow"}), preferred("podAntiAffinity", "yellow")),
    ]
}

fn node(index: usize) -> Value {
    let name = format!("node-{index:05}");
    json!({
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": format!("moon-{}", index % 3 + 1),
            "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}},
        "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
    })
}

fn pod(case: &Case, prefix: &str, index: usize) -> Arc<PodInfo> {
    let name = format!("{prefix}-{index}");
    let mut spec = case.spec.clone();
    spec["containers"] =
        json!([{"name": "pause", "image": "pause", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}]);
    Arc::new(PodInfo::of(SharedObject::of(json!({
        "metadata": {"name": name, "namespace": "default", "uid": name, "labels": case.labels},
        "spec": spec,
    }))))
}

/// Schedules the pods and returns the microseconds of each decision, sorted.
fn schedule(cache: &mut Cache, snapshot: &mut Snapshot, framework: &Framework, pods: Vec<Arc<PodInfo>>) -> Vec<f64> {
    let (nominated, mut start, mut rng) = (Nominated::default(), 0, rand::rng());
    let mut times: Vec<f64> = pods
        .into_iter()
        .map(|pod| {
            let began = Instant::now();
            cache.update_snapshot(snapshot);
            match decide(framework, snapshot, &pod, &nominated, &mut start, &mut rng) {
                Ok(decision) => cache.assume_pod(pod, &decision.node),
                Err(refusal) => println!("  not scheduled: {}", refusal.why),
            }
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn main() {
    let argument = |position: usize, default: usize| {
        std::env::args().nth(position).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (nodes, pods) = (argument(1, 5000), argument(2, 2000));
    println!("{nodes} nodes, {pods} pods of each template after half as many; microseconds a decision");
    for case in cases() {
        let framework = Framework::new(all(&Handle::default()));
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        (0..nodes).for_each(|index| cache.set_node(SharedObject::of(node(index))));
        let batch = |prefix: &str, count: usize| (0..count).map(|index| pod(&case, prefix, index)).collect::<Vec<_>>();
        schedule(&mut cache, &mut snapshot, &framework, batch("init", pods / 2));
        let times = schedule(&mut cache, &mut snapshot, &framework, batch("measured", pods));
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
        println!(
            "{:<28} mean {mean:>7.0}  p50 {:>7.0}  p99 {:>7.0}  {:>6.0}/s",
            case.name,
            at(0.5),
            at(0.99),
            1e6 / mean
        );
    }
}
