//! What every cluster has from the start besides the API's own objects: the name
//! service's Service, and the slice that says where it is answered.

use crate::cluster::Cluster;
use anyhow::{Context, Result};
use ferry_client::{Client, Patch, ResourcePath};
use serde_json::{Value, json};
use std::net::Ipv4Addr;

/// Declares kube-system/kube-dns with the answers coming from `dns_address`.
pub async fn apply(client: &Client, cluster: &Cluster, dns_address: Ipv4Addr) -> Result<()> {
    for (group, plural, document) in documents(cluster, dns_address) {
        let name = document["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let patch = Patch::Apply { manager: "ferry".into(), force: true, body: document };
        let path = ResourcePath::new(group, "v1", plural);
        let _: Value = client
            .patch_at(&path, "kube-system", &name, None, &patch)
            .await
            .with_context(|| format!("cannot declare {plural} kube-system/{name}"))?;
    }
    Ok(())
}

fn documents(cluster: &Cluster, dns_address: Ipv4Addr) -> [(&'static str, &'static str, Value); 2] {
    let labels =
        json!({"k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS"});
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": labels},
        "spec": {
            "clusterIP": cluster.service_ip(10).to_string(),
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
            ],
        },
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kube-dns",
            "namespace": "kube-system",
            "labels": {"kubernetes.io/service-name": "kube-dns", "endpointslice.kubernetes.io/managed-by": "ferry"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [dns_address.to_string()], "conditions": {"ready": true}, "nodeName": cluster.node_name}],
        "ports": [
            {"name": "dns", "port": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
        ],
    });
    [("", "services", service), ("discovery.k8s.io", "endpointslices", slice)]
}
