//! The KubeletConfiguration of a file, taken into [`Config`]. `ferry` calls [`Config::configure`]
//! before it starts the kubelet; flags that say the same come after and win, as upstream's do.

use crate::settings::VerificationPolicy;
use crate::{Config, cgroup};
use ferry_api::view::core::v1::Taint;
use ferry_kubelet_config::{KubeletConfiguration, PressureSettings, Surroundings};
use serde_json::json;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

impl Config {
    /// The values that this kubelet has where a file leaves them out. cgroup v1 is served, swap is
    /// no reason not to start, and pulls are parallel, all of which upstream decides otherwise.
    pub fn surroundings(&self) -> Surroundings {
        let mut own_values = json!({
            "podLogsDir": self.log_dir,
            "clusterDNS": self.cluster_dns,
            "clusterDomain": self.cluster_domain,
            "resolvConf": self.resolv_conf,
            "maxPods": self.max_pods,
            "serializeImagePulls": self.runtime.serialize_image_pulls,
            "maxParallelImagePulls": self.runtime.max_parallel_image_pulls,
            "failSwapOn": false,
            "failCgroupV1": false,
            "containerRuntimeEndpoint": format!("unix://{}", self.runtime_endpoint.trim_start_matches("unix://")),
        });
        if let Some(server) = &self.server {
            own_values["address"] = json!(server.address.ip());
            own_values["port"] = json!(server.address.port());
        }
        Surroundings { is_cgroup_v2: cgroup::is_v2(), own_values }
    }

    pub(crate) fn device_plugin_dir(&self) -> PathBuf {
        self.device_plugins.clone().unwrap_or_else(|| self.root_dir.join("device-plugins"))
    }

    /// Takes a configuration that was read with [`Config::surroundings`].
    pub fn configure(&mut self, configuration: KubeletConfiguration) {
        self.log_dir = configuration.pod_logs_dir.clone().into();
        self.cluster_dns.clone_from(&configuration.cluster_dns);
        self.cluster_domain.clone_from(&configuration.cluster_domain);
        self.resolv_conf = configuration.resolv_conf.clone().into();
        self.max_pods = u32::try_from(configuration.max_pods).unwrap_or(self.max_pods);
        self.runtime.serialize_image_pulls = configuration.serialize_image_pulls;
        self.runtime.max_parallel_image_pulls =
            configuration.max_parallel_image_pulls.map(|pulls| usize::try_from(pulls).unwrap_or(1));
        self.runtime.request_timeout = configuration.runtime_request_timeout.duration();
        self.runtime.allowed_unsafe_sysctls.clone_from(&configuration.allowed_unsafe_sysctls);
        self.runtime.seccomp_default = configuration.seccomp_default;
        self.runtime.verification = verification_policy(&configuration);
        let PressureSettings { eviction, image_gc, log_rotation, shutdown } = configuration.pressure_settings();
        self.settings.eviction = eviction;
        self.settings.image_gc = image_gc;
        self.settings.log_rotation = log_rotation;
        self.settings.shutdown = shutdown;
        self.heartbeat = configuration.node_status_update_frequency.duration();
        let taints = configuration.register_with_taints.iter();
        self.register_taints.extend(
            taints.map(|taint| Taint::new().with_key(&taint.key).with_value(&taint.value).with_effect(&taint.effect)),
        );
        match (&mut self.server, configuration.address.parse::<IpAddr>()) {
            (_, _) if !configuration.enable_server => self.server = None,
            (Some(server), Ok(address)) => server.address.set_ip(address),
            _ => {}
        }
        self.configuration = Arc::new(configuration);
    }
}

/// The policy by its name; validation has refused other names.
fn verification_policy(configuration: &KubeletConfiguration) -> VerificationPolicy {
    match configuration.image_pull_credentials_verification_policy.as_str() {
        "NeverVerify" => VerificationPolicy::NeverVerify,
        "AlwaysVerify" => VerificationPolicy::AlwaysVerify,
        "NeverVerifyAllowlistedImages" => VerificationPolicy::NeverVerifyAllowlistedImages(
            configuration.preloaded_images_verification_allowlist.clone(),
        ),
        _ => VerificationPolicy::NeverVerifyPreloadedImages,
    }
}

/// Why this machine may not run the kubelet, by failSwapOn (upstream: newSwapManager of
/// pkg/kubelet/cm/container_manager_linux.go). `swaps` is the text of /proc/swaps.
pub fn judge_swap(configuration: &KubeletConfiguration, swaps: &str) -> Result<(), String> {
    // The first line names the columns; zram is no disk and counts none the less.
    let is_on = swaps.lines().skip(1).any(|line| !line.trim().is_empty());
    if configuration.fail_swap_on && is_on {
        let contents = swaps.lines().collect::<Vec<_>>().join("; ");
        return Err(format!(
            "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false. /proc/swaps contents: [{contents}]"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const HEADER: &str = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

    fn configured(fields: &str) -> Config {
        let mut config = Config::new("a", "192.0.2.1", Path::new("/data"), "/run/containerd.sock");
        let parsed = KubeletConfiguration::parse(&format!("{HEADER}{fields}"), &config.surroundings());
        config.configure(parsed.expect("a good file"));
        config
    }

    #[test]
    fn a_file_changes_what_it_names_and_nothing_else() {
        let before = Config::new("a", "192.0.2.1", Path::new("/data"), "/run/containerd.sock");
        let empty = configured("");
        assert_eq!((empty.max_pods, &empty.runtime), (before.max_pods, &before.runtime));
        assert_eq!((&empty.log_dir, &empty.cluster_dns), (&before.log_dir, &before.cluster_dns));
        assert_eq!(empty.settings, before.settings);
        assert_eq!((empty.heartbeat, empty.cluster_domain.as_str()), (before.heartbeat, "cluster.local"));
        let own = configured(
            "maxPods: 7\nserializeImagePulls: true\npodLogsDir: /x\nclusterDomain: d\nnodeStatusUpdateFrequency: 3s\nregisterWithTaints: [{ key: k, effect: NoSchedule }]\n",
        );
        assert_eq!((own.max_pods, own.runtime.parallel_pulls(), own.cluster_domain.as_str()), (7, 1, "d"));
        assert_eq!((own.log_dir.as_path(), own.heartbeat.as_secs()), (Path::new("/x"), 3));
        assert_eq!(own.register_taints.len(), 1);
        assert_eq!(own.configuration.effective["maxPods"], 7);
    }

    #[test]
    fn swap_is_refused_where_the_file_asks_for_it() {
        let on = "Filename Type Size Used Priority\n/swapfile file 1 0 -2\n";
        let configuration = |fail_swap_on| KubeletConfiguration { fail_swap_on, ..Default::default() };
        assert!(
            judge_swap(&configuration(true), on).expect_err("on").starts_with("running with swap on is not supported")
        );
        assert_eq!(judge_swap(&configuration(true), "Filename Type Size Used Priority\n"), Ok(()));
        assert_eq!(judge_swap(&configuration(false), on), Ok(()));
    }
}
