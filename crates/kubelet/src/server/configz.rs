//! /configz: the settings of this kubelet by the names of upstream's KubeletConfiguration. Pure.

use crate::Config;
use serde_json::{Map, Value, json};

pub(super) fn render(config: &Config) -> Value {
    json!({ "kubeletconfig": settings(config) })
}

/// By name.
pub(super) fn settings(config: &Config) -> Map<String, Value> {
    let server = config.server.as_ref();
    let settings = json!({
        "address": server.map(|server| server.address.ip().to_string()),
        "port": server.map(|server| server.address.port()),
        "cgroupRoot": config.cgroup_root,
        "clusterDNS": config.cluster_dns,
        "clusterDomain": config.cluster_domain,
        "containerRuntimeEndpoint": config.runtime_endpoint,
        "enableSystemLogHandler": true,
        "enableSystemLogQuery": config.system_log_query,
        "maxParallelImagePulls": config.runtime.max_parallel_image_pulls,
        "serializeImagePulls": config.runtime.serialize_image_pulls,
        "maxPods": config.max_pods,
        "nodeStatusUpdateFrequency": format!("{}s", config.heartbeat.as_secs()),
        "podLogsDir": config.log_dir,
        "registerWithTaints": config.register_taints.len(),
        "resolvConf": config.resolv_conf,
    });
    match settings {
        Value::Object(settings) => settings.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}
