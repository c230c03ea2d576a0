//! The facts of a cluster that each of its machines must know, and the nodes that were removed
//! from it: ConfigMap kube-system/ferry-cluster. Written by the server, read by a machine that
//! joins with its token, and followed by those that have joined.

use crate::cluster::Cluster;
use crate::node::pod_network::Backend;
use anyhow::{Context, Result};
use ferry_api::view::core::v1::ConfigMapView;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const NAMESPACE: &str = "kube-system";
pub const NAME: &str = "ferry-cluster";
const SETTINGS: &str = "settings.json";
/// One key for each removed node, `removed.<name>`, with the second of its removal.
const REMOVED: &str = "removed.";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterSettings {
    pub cluster_cidr: String,
    pub service_cidr: String,
    pub cluster_domain: String,
    #[serde(default)]
    pub pod_network: Backend,
    pub vni: u32,
}

impl ClusterSettings {
    pub fn of(cluster: &Cluster) -> Self {
        Self {
            cluster_cidr: cluster.pod_cidr.clone(),
            service_cidr: cluster.service_cidr.clone(),
            cluster_domain: cluster.cluster_domain.clone(),
            pod_network: cluster.node.pod_network,
            vni: cluster.node.vni,
        }
    }

    pub fn render(&self) -> Result<Value> {
        Ok(json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": {SETTINGS: serde_json::to_string(self)?},
        }))
    }

    pub fn parse(map: ConfigMapView<'_>) -> Result<Self> {
        let text = map.data().get(SETTINGS).with_context(|| format!("ConfigMap {NAME} has no {SETTINGS}"))?;
        serde_json::from_str(text).with_context(|| format!("{SETTINGS} of ConfigMap {NAME} is damaged"))
    }
}

/// When a node was removed, in seconds of the server's clock.
pub fn removed_at(map: ConfigMapView<'_>, node_name: &str) -> Option<i64> {
    map.data().get(&format!("{REMOVED}{node_name}"))?.parse().ok()
}

/// The patch that notes a removal.
pub fn render_removal(node_name: &str, at: i64) -> Value {
    let data = BTreeMap::from([(format!("{REMOVED}{node_name}"), at.to_string())]);
    json!({ "data": data })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::ConfigMap;

    #[test]
    fn the_map_carries_settings_and_removals() {
        let settings = ClusterSettings {
            cluster_cidr: "10.244.0.0/16".into(),
            service_cidr: "10.96.0.0/12".into(),
            cluster_domain: "cluster.local".into(),
            pod_network: Backend::Vxlan,
            vni: 4096,
        };
        let mut map = settings.render().expect("rendered");
        map["data"]["removed.b"] = "1800000000".into();
        let map = ConfigMap::from(map);
        assert_eq!(ClusterSettings::parse(map.view()).expect("parsed"), settings);
        assert_eq!((removed_at(map.view(), "b"), removed_at(map.view(), "a")), (Some(1_800_000_000), None));
        assert_eq!(render_removal("b", 7), json!({"data": {"removed.b": "7"}}));
        assert!(ClusterSettings::parse(ConfigMap::from(json!({})).view()).is_err());
    }
}
