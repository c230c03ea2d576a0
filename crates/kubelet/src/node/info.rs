//! nodeInfo: what the machine and its runtime say about themselves.

use super::capacity::read_capacity;
use crate::Config;
use crate::cgroup;
use crate::container::Machine;
use crate::cri::Runtime;
use ferry_api::view::core::v1::NodeSystemInfo;

pub(super) async fn read_info(runtime: &dyn Runtime, config: &Config) -> NodeSystemInfo {
    let container_runtime_version = match runtime.version().await {
        Ok(version) => format!("{}://{}", version.runtime_name, version.runtime_version),
        Err(_) => String::new(),
    };
    let line = |path: &str| std::fs::read_to_string(path).map(|text| text.trim().to_string()).unwrap_or_default();
    let machine_id = line("/etc/machine-id");
    let system_uuid = line("/sys/class/dmi/id/product_uuid");
    NodeSystemInfo::new()
        .with_architecture(architecture())
        .with_boot_id(line("/proc/sys/kernel/random/boot_id"))
        .with_container_runtime_version(container_runtime_version)
        .with_kernel_version(line("/proc/sys/kernel/osrelease"))
        .with_kubelet_version(config.version.as_str())
        .with_operating_system("linux")
        .with_os_image(os_image(&line("/etc/os-release")))
        .with_system_uuid(if system_uuid.is_empty() { &machine_id } else { &system_uuid })
        .with_machine_id(&machine_id)
        // Upstream no longer knows it, and the field is not optional.
        .with_kube_proxy_version("")
}

/// Go's name of the architecture.
pub fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    }
}

fn os_image(os_release: &str) -> String {
    let value = |key: &str| {
        let line = os_release.lines().find_map(|line| line.strip_prefix(key))?;
        Some(line.trim_start_matches('=').trim_matches('"').to_string())
    };
    value("PRETTY_NAME").or_else(|| value("NAME")).unwrap_or_else(|| "Unknown".into())
}

/// What containers are told about this machine.
pub fn local_machine(config: &Config) -> Machine {
    let capacity = read_capacity(config);
    let clamp = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    Machine {
        node_name: config.node_name.clone(),
        node_ips: config.node_ips.clone(),
        memory_capacity: clamp(capacity.memory),
        allocatable_milli_cpu: clamp(capacity.cpus.saturating_mul(1000)),
        allocatable_memory: clamp(capacity.allocatable_memory()),
        allocatable_storage: clamp(capacity.allocatable_storage()),
        cgroup_v2: cgroup::is_v2(),
        cgroup_root: format!("/{}", config.cgroup_root.trim_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_os_is_called_by_its_pretty_name() {
        assert_eq!(
            os_image("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)"
        );
        assert_eq!(os_image(""), "Unknown");
    }
}
