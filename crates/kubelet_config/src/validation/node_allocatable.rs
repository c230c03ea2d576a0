//! enforceNodeAllocatable: what may stand beside what.

use super::Mistakes;
use crate::KubeletConfiguration;
use std::collections::BTreeSet;

const NAME: &str = "enforceNodeAllocatable (--enforce-node-allocatable)";

pub(super) fn validate(own: &KubeletConfiguration, out: &mut Mistakes) {
    let all = &own.enforce_node_allocatable;
    let has = |name: &str| all.iter().any(|value| value == name);
    for (whole, part) in
        [("system-reserved", "system-reserved-compressible"), ("kube-reserved", "kube-reserved-compressible")]
    {
        out.require(!(has(whole) && has(part)), || {
            format!("both {whole:?} and {part:?} cannot be specified together in {NAME}")
        });
    }
    let mut seen = BTreeSet::new();
    for value in all {
        if !seen.insert(value) {
            out.push(format!("duplicated enforcements {value:?} in {NAME}"));
            continue;
        }
        match value.as_str() {
            "pods" => {}
            "system-reserved" | "system-reserved-compressible" => {
                out.require(!own.system_reserved_cgroup.is_empty(), || {
                    format!("systemReservedCgroup (--system-reserved-cgroup) must be specified when \"system-reserved\" or \"system-reserved-compressible\" included in {NAME}")
                });
            }
            "kube-reserved" | "kube-reserved-compressible" => {
                out.require(!own.kube_reserved_cgroup.is_empty(), || {
                    format!("kubeReservedCgroup (--kube-reserved-cgroup) must be specified when \"kube-reserved\" or \"kube-reserved-compressible\" included in {NAME}")
                });
            }
            "none" => {
                out.require(all.len() == 1, || {
                    format!("{NAME} may not contain additional enforcements when \"none\" is specified")
                });
                continue;
            }
            other => {
                out.push(format!("option {other:?} specified for {NAME}. Valid options are \"pods\", \"system-reserved\", \"system-reserved-compressible\", \"kube-reserved\", \"kube-reserved-compressible\" or \"none\""));
                continue;
            }
        }
        out.require(own.cgroups_per_qos, || {
            format!("cgroupsPerQOS (--cgroups-per-qos) must be set to true when {value:?} contained in {NAME}")
        });
    }
}
