//! Numbers and the ranges that they lie in.

use super::{Mistakes, SECOND, has_gate, text};
use crate::KubeletConfiguration;

pub(super) fn validate(own: &KubeletConfiguration, out: &mut Mistakes) {
    out.require(own.node_lease_duration_seconds > 0, || "nodeLeaseDurationSeconds must be greater than 0".into());
    out.require(own.system_cgroups.is_empty() || !own.cgroup_root.is_empty(), || {
        "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified".into()
    });
    let not_negative = [
        ("eventBurst (--event-burst)", i64::from(own.event_burst)),
        ("eventRecordQPS (--event-qps)", i64::from(own.event_record_qps)),
        ("kubeAPIBurst (--kube-api-burst)", i64::from(own.kube_api_burst)),
        ("kubeAPIQPS (--kube-api-qps)", i64::from(own.kube_api_qps)),
        ("maxOpenFiles (--max-open-files)", own.max_open_files),
        ("maxPods (--max-pods)", i64::from(own.max_pods)),
        ("podsPerCore (--pods-per-core)", i64::from(own.pods_per_core)),
        ("registryBurst (--registry-burst)", i64::from(own.registry_burst)),
        ("registryPullQPS (--registry-qps)", i64::from(own.registry_pull_qps)),
    ];
    for (name, value) in not_negative {
        out.require(value >= 0, || format!("{name} {value} must not be a negative number"));
    }
    let within = [
        ("iptablesDropBit (--iptables-drop-bit)", own.iptables_drop_bit, 0, 31),
        ("iptablesMasqueradeBit (--iptables-masquerade-bit)", own.iptables_masquerade_bit, 0, 31),
        ("oomScoreAdj (--oom-score-adj)", own.oom_score_adj, -1000, 1000),
        ("port (--port)", own.port, 1, 65_535),
    ];
    for (name, value, low, high) in within {
        out.require((low..=high).contains(&value), || {
            format!("{name} {value} must be between {low} and {high}, inclusive")
        });
    }
    for (name, value, low) in [
        ("healthzPort (--healthz-port)", own.healthz_port, 1),
        ("readOnlyPort (--read-only-port)", own.read_only_port, 0),
    ] {
        out.require((0..=65_535).contains(&value), || {
            format!("{name} {value} must be between {low} and 65535, inclusive")
        });
    }
    validate_periods(own, out);
    out.require(own.node_status_max_images >= -1, || {
        format!("nodeStatusMaxImages (--node-status-max-images) {} must be -1 or greater", own.node_status_max_images)
    });
    if let Some(pulls) = own.max_parallel_image_pulls {
        out.require(pulls >= 1, || format!("maxParallelImagePulls {pulls} must be a positive number"));
        out.require(!own.serialize_image_pulls || pulls <= 1, || {
            "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false".into()
        });
    }
    if let Some(factor) = own.memory_throttling_factor {
        out.require(factor > 0.0 && factor <= 1.0, || {
            format!("memoryThrottlingFactor {factor} must be greater than 0 and less than or equal to 1.0")
        });
    }
}

fn validate_periods(own: &KubeletConfiguration, out: &mut Mistakes) {
    let period = own.cpu_cfs_quota_period;
    let name = "cpuCFSQuotaPeriod (--cpu-cfs-quota-period)";
    if has_gate(own, "CustomCPUCFSQuotaPeriod") {
        out.require((SECOND / 1000..=SECOND).contains(&period.0), || {
            format!("{name} {{{}}} must be between 1ms and 1sec, inclusive", text(period))
        });
    } else {
        out.require(period.0 == SECOND / 10, || {
            format!("{name} {{{}}} requires feature gate CustomCPUCFSQuotaPeriod", text(period))
        });
    }
    match own.crash_loop_back_off.max_container_restart_period {
        None => out.push(
            "FeatureGate KubeletCrashLoopBackOffMax is enabled, CrashLoopBackOff.MaxContainerRestartPeriod must be set",
        ),
        Some(period) => out.require((1000..=300_000).contains(&(period.0 / 1_000_000)), || {
            let seconds = period.0 as f64 / SECOND as f64;
            format!(
                "CrashLoopBackOff.MaxContainerRestartPeriod (got: {seconds} seconds) must be set between 1s and 300s"
            )
        }),
    }
}
