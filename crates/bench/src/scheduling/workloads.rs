//! Upstream's scheduler_perf workloads as data: nodes, steps and the floor below which
//! upstream's own CI fails (test/integration/scheduler_perf/*/performance-config.yaml of
//! v1.36). A step creates pods and waits until all of them are bound; the last one is measured.
//!
//! At ten times the floor most of upstream's measured steps would end within a few seconds, so
//! that they are longer here: at least ten seconds at the goal, where the nodes have room.

use super::templates::PodTemplate::{self, *};

pub struct Workload {
    pub name: &'static str,
    pub nodes: usize,
    /// How many pods a node takes.
    pub room: usize,
    /// Zones that the nodes are labelled with in turn.
    pub zones: &'static [&'static str],
    /// The namespace, the template and the number of pods that are there before.
    pub before: &'static [(&'static str, PodTemplate, usize)],
    pub churn: Churn,
    pub measured: (&'static str, PodTemplate, usize),
    /// Pods per second below which upstream's CI fails.
    pub floor: f64,
}

/// Objects that come, or come and go, while pods are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Churn {
    None,
    /// One more pod every 200 ms.
    Create(PodTemplate),
    /// A node, a pod that fits nowhere and a Service, made anew every second.
    Recreate,
}

const ONE_ZONE: &[&str] = &["zone1"];
const THREE_ZONES: &[&str] = &["moon-1", "moon-2", "moon-3"];

/// 5,000 nodes without zones, nothing before and no churn.
const BASE: Workload = Workload {
    name: "",
    nodes: 5_000,
    room: 110,
    zones: &[],
    before: &[],
    churn: Churn::None,
    measured: ("namespace-2", Default, 10_000),
    floor: 0.0,
};

pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "SchedulingBasic",
        before: &[("namespace-1", Default, 1_000)],
        measured: ("namespace-2", Default, 30_000),
        floor: 270.0,
        ..BASE
    },
    Workload {
        name: "SchedulingWithMixedChurn",
        churn: Churn::Recreate,
        measured: ("namespace-2", Default, 30_000),
        floor: 265.0,
        ..BASE
    },
    Workload {
        name: "SchedulingSecrets",
        before: &[("namespace-1", SecretVolume, 1_000)],
        measured: ("namespace-2", SecretVolume, 30_000),
        floor: 260.0,
        ..BASE
    },
    Workload {
        name: "SchedulingNodeAffinity",
        zones: ONE_ZONE,
        before: &[("namespace-1", NodeAffinity, 5_000)],
        measured: ("namespace-2", NodeAffinity, 25_000),
        floor: 220.0,
        ..BASE
    },
    Workload {
        name: "Unschedulable",
        before: &[("namespace-1", Default, 100)],
        churn: Churn::Create(LargeCpu),
        measured: ("namespace-3", Default, 20_000),
        floor: 170.0,
        ..BASE
    },
    Workload {
        name: "PreemptionAsync",
        before: &[("namespace-1", LowPriority, 20_000)],
        churn: Churn::Create(HighPriority),
        measured: ("namespace-3", Default, 16_000),
        floor: 160.0,
        ..BASE
    },
    Workload {
        name: "MixedSchedulingBasePod",
        zones: ONE_ZONE,
        before: &[
            ("sched-0", Default, 2_000),
            ("sched-0", Affinity, 2_000),
            ("sched-0", AntiAffinity, 2_000),
            ("sched-0", PreferredAffinity, 2_000),
            ("sched-0", PreferredAntiAffinity, 2_000),
        ],
        measured: ("namespace-2", Default, 15_000),
        floor: 140.0,
        ..BASE
    },
    Workload {
        name: "PreferredTopologySpreading",
        zones: THREE_ZONES,
        before: &[("namespace-1", Default, 5_000)],
        measured: ("namespace-2", PreferredSpreading, 13_000),
        floor: 125.0,
        ..BASE
    },
    Workload {
        name: "TopologySpreading",
        zones: THREE_ZONES,
        before: &[("namespace-1", Default, 5_000)],
        measured: ("namespace-2", Spreading, 9_000),
        floor: 85.0,
        ..BASE
    },
    Workload {
        name: "SchedulingPreferredPodAffinity",
        before: &[("sched-0", PreferredAffinity, 5_000)],
        measured: ("sched-1", PreferredAffinity, 9_000),
        floor: 90.0,
        ..BASE
    },
    Workload {
        name: "SchedulingPreferredPodAntiAffinity",
        before: &[("sched-0", PreferredAntiAffinity, 5_000)],
        measured: ("sched-1", PreferredAntiAffinity, 9_000),
        floor: 90.0,
        ..BASE
    },
    Workload {
        // A node takes one such pod.
        name: "SchedulingPodAntiAffinity",
        before: &[("sched-0", AntiAffinity, 1_000)],
        measured: ("sched-1", AntiAffinity, 3_900),
        floor: 60.0,
        ..BASE
    },
    Workload {
        name: "SchedulingPodAffinity",
        zones: ONE_ZONE,
        before: &[("sched-0", Affinity, 5_000)],
        measured: ("sched-1", Affinity, 5_000),
        floor: 35.0,
        ..BASE
    },
    Workload {
        name: "SchedulingCSIPVs",
        before: &[("namespace-1", CsiVolume, 5_000)],
        measured: ("namespace-2", CsiVolume, 5_000),
        floor: 48.0,
        ..BASE
    },
    Workload {
        // A node has 20 devices, of upstream's 10, to be measured for long enough.
        name: "SchedulingWithResourceClaimTemplate",
        nodes: 500,
        before: &[("init", ClaimTemplate, 2_500)],
        measured: ("test", ClaimTemplate, 7_000),
        floor: 56.0,
        ..BASE
    },
];

/// Pods that are created and bound on 1,000 nodes, to see whether the rate falls as they grow.
pub const GROWING: Workload =
    Workload { name: "growing", nodes: 1_000, room: 250, measured: ("namespace-1", Default, 20_000), ..BASE };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_fits_on_its_nodes() {
        for workload in WORKLOADS.iter().chain([&GROWING]) {
            let all: usize = workload.before.iter().map(|(_, _, count)| count).sum::<usize>() + workload.measured.2;
            // A node has 4 processors, and a default pod asks for a tenth of one.
            let room = workload.nodes * workload.room.min(40);
            assert!(all <= room, "{}: {all} pods in {room}", workload.name);
            assert!(workload.name == GROWING.name || workload.floor > 0.0, "{}", workload.name);
        }
    }
}
