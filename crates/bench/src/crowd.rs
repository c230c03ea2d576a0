//! A cluster of many: what 500 nodes, 3,000 pods and 8,000 ConfigMaps cost in memory. The
//! nodes are objects only; no kubelet stands behind them.

use crate::load::{self, Connect, Connection};
use anyhow::Result;
use serde_json::json;

const NODES: usize = 500;
pub const PODS: usize = 3_000;
const CONFIG_MAPS: usize = 8_000;

pub async fn fill(cluster: &dyn Connect) -> Result<()> {
    load::spread(cluster, 16, NODES, |connection: &mut Connection, n| {
        let body = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": format!("node-{n}")},
            "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}});
        Box::pin(async move { connection.post("/api/v1/nodes", &body).await.map(drop) })
    })
    .await?;
    pods(cluster).await?;
    load::spread(cluster, 64, CONFIG_MAPS, |connection: &mut Connection, n| {
        let body = crate::config_map(&format!("crowd-{n}"));
        Box::pin(async move { connection.post(crate::CONFIGMAPS, &body).await.map(drop) })
    })
    .await?;
    Ok(())
}

/// Pods that are placed on nodes of the crowd, whether or not these exist.
pub async fn pods(cluster: &dyn Connect) -> Result<()> {
    load::spread(cluster, 16, PODS, |connection: &mut Connection, n| {
        let container = |name: &str| {
            json!({"name": name, "image": "registry.example/web:1", "env": [{"name": "A", "value": "b"}],
                "resources": {"requests": {"cpu": "10m", "memory": "10Mi"}}, "ports": [{"containerPort": 8080}]})
        };
        let body = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("pod-{n}"), "labels": {"app": format!("app-{}", n % 100)}},
            "spec": {"nodeName": format!("node-{}", n % NODES), "containers": [container("web"), container("side")]}});
        Box::pin(async move { connection.post("/api/v1/namespaces/default/pods", &body).await.map(drop) })
    })
    .await?;
    Ok(())
}
