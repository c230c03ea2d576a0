//! What a configuration may not be, in upstream's sentences
//! (pkg/kubelet/apis/config/validation/validation.go). Every mistake is gathered.

mod node_allocatable;
mod numbers;
mod policies;

use crate::{KubeletConfiguration, Surroundings, feature_gates, reservation};
use ferry_api::rules::duration::{GoDuration, format_duration};
use ferry_devices::CpuSet;
use std::collections::BTreeSet;

/// Sentences without their prefix.
#[derive(Default)]
struct Mistakes(Vec<String>);

impl Mistakes {
    fn push(&mut self, sentence: impl Into<String>) {
        self.0.push(format!("invalid configuration: {}", sentence.into()));
    }

    fn require(&mut self, holds: bool, sentence: impl FnOnce() -> String) {
        if !holds {
            self.push(sentence());
        }
    }
}

fn text(duration: GoDuration) -> String {
    format_duration(duration.0)
}

const SECOND: i64 = 1_000_000_000;

pub fn validate(own: &KubeletConfiguration, surroundings: &Surroundings) -> Vec<String> {
    let mut out = Mistakes::default();
    numbers::validate(own, &mut out);
    policies::validate(own, &mut out);
    node_allocatable::validate(own, &mut out);
    validate_reserved(own, &mut out);
    validate_machine(own, surroundings, &mut out);
    validate_logs(own, &mut out);
    out.0.extend(own.pressure_settings().validate());
    out.0
}

fn validate_reserved(own: &KubeletConfiguration, out: &mut Mistakes) {
    if !own.reserved_system_cpus.is_empty() {
        out.require(own.system_reserved_cgroup.is_empty() && own.kube_reserved_cgroup.is_empty(), || {
            "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)".into()
        });
        if let Err(error) = own.reserved_system_cpus.parse::<CpuSet>() {
            let cpus = &own.reserved_system_cpus;
            out.push(format!("unable to parse reservedSystemCPUs (--reserved-cpus) {cpus}, error: {error}"));
        }
    }
    for amounts in [&own.system_reserved, &own.kube_reserved] {
        if let Err(error) = reservation::parse(amounts) {
            out.0.push(error);
        }
    }
    let mut seen = BTreeSet::new();
    for reserved in &own.reserved_memory {
        let node = reserved.numa_node;
        for (name, amount) in &reserved.limits {
            out.require(name == "memory" || name.starts_with("hugepages-"), || {
                format!(
                    "the limit type {name:?} for NUMA node {node} is not supported, only [memory hugepages-<HugePageSize>] is accepted"
                )
            });
            let is_zero = amount.parse::<ferry_api::quantity::Quantity>().is_ok_and(|quantity| quantity.is_zero());
            out.require(!is_zero, || {
                format!("reserved memory may not be zero for NUMA node {node} and resource {name:?}")
            });
            out.require(seen.insert((node, name)), || {
                format!("the reserved memory has a duplicate value for NUMA node {node} and resource {name:?}")
            });
        }
    }
}

/// Upstream: validation_linux.go.
fn validate_machine(own: &KubeletConfiguration, surroundings: &Surroundings, out: &mut Mistakes) {
    let is_v1 = !surroundings.is_cgroup_v2;
    if is_v1 && own.fail_cgroup_v1 {
        out.0.push("kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release".into());
    }
    out.require(!is_v1 || own.single_process_oom_kill != Some(false), || {
        "singleProcessOOMKill must not be explicitly set to false when using cgroup v1".into()
    });
    const UNIT: i64 = 65_536;
    if let Some(ids) = own.user_namespaces.as_ref().and_then(|own| own.ids_per_pod) {
        let name = "userNamespaces.idsPerPod must";
        if ids < UNIT {
            out.push(format!("{name} not be less than {UNIT}"));
        } else if ids % UNIT != 0 {
            out.push(format!("{name} be a multiple of {UNIT}"));
        } else if ids > i64::from(u32::MAX) {
            out.push(format!("{name} not be more than {}", u32::MAX));
        }
    }
}

fn validate_logs(own: &KubeletConfiguration, out: &mut Mistakes) {
    out.require(!own.enable_system_log_query || own.enable_system_log_handler, || {
        "enableSystemLogHandler is required for enableSystemLogQuery".into()
    });
    let path = own.pod_logs_dir.as_str();
    out.require(path.starts_with('/'), || format!("pod logs path {path:?} must be absolute path"));
    let is_clean = path == "/" || path.split('/').skip(1).all(|part| !["", ".", ".."].contains(&part));
    out.require(is_clean, || format!("pod logs path {path:?} must be normalized"));
    out.require(path.is_ascii(), || format!("pod logs path {path:?} mut contains ASCII characters only"));
}

fn has_gate(own: &KubeletConfiguration, name: &str) -> bool {
    feature_gates::is_enabled(&own.feature_gates, name)
}
