//! Devices of hollow nodes, by the facts of upstream's scheduler_perf (dra.go and its templates):
//! each node has a pool of like devices, and pods get one by a claim of a template.

use super::CREATORS;
use super::templates::{PodTemplate, node_name};
use crate::load::{self, Connect, Connection};
use anyhow::Result;
use serde_json::{Value, json};

pub const SLICES: &str = "/apis/resource.k8s.io/v1/resourceslices";
pub const CLASSES: &str = "/apis/resource.k8s.io/v1/deviceclasses";
pub const TEMPLATE: &str = "test-claim-template";
const DRIVER: &str = "test-driver.cdi.k8s.io";
const CLASS: &str = "test-class";
/// How many pods with a claim a node takes.
const DEVICES_PER_NODE: usize = 20;

fn slice(n: usize) -> Value {
    let device = |index: usize| {
        json!({"name": format!("instance-{index}"),
            "attributes": {"model": {"string": "A100"}, "family": {"string": "GPU"},
                "driverVersion": {"version": "1.2.3"}, "dra.example.com/numa": {"int": index}},
            "capacity": {"memory": {"value": "1Gi"}}})
    };
    let devices: Vec<Value> = (0..DEVICES_PER_NODE).map(device).collect();
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": node_name(n)},
        "spec": {"driver": DRIVER, "nodeName": node_name(n),
            "pool": {"name": node_name(n), "generation": 0, "resourceSliceCount": 1}, "devices": devices}})
}

/// The devices of all nodes, and the class that selects them.
pub async fn publish(server: &dyn Connect, nodes: usize) -> Result<()> {
    let selector = json!({"cel": {"expression": format!("device.driver == {DRIVER:?}")}});
    let class = json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": CLASS},
        "spec": {"selectors": [selector]}});
    server.connect().await?.post(CLASSES, &class).await?;
    load::spread(server, CREATORS, nodes, move |connection: &mut Connection, n| {
        Box::pin(async move { connection.post(SLICES, &slice(n)).await.map(drop) })
    })
    .await?;
    Ok(())
}

pub fn templates_in(namespace: &str) -> String {
    format!("/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates")
}

/// The template that pods with claims name is there before them.
pub async fn prepare(server: &dyn Connect, namespace: &str, template: PodTemplate) -> Result<()> {
    if template != PodTemplate::ClaimTemplate {
        return Ok(());
    }
    let requests = json!([{"name": "req-0", "exactly": {"deviceClassName": CLASS}}]);
    let template = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": {"name": TEMPLATE}, "spec": {"spec": {"devices": {"requests": requests}}}});
    server.connect().await?.post(&templates_in(namespace), &template).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::super::workloads::WORKLOADS;
    use super::*;

    #[test]
    fn every_pod_with_a_claim_finds_a_device() {
        for workload in WORKLOADS.iter().filter(|workload| workload.measured.1 == PodTemplate::ClaimTemplate) {
            let all: usize = workload.before.iter().map(|(.., count)| count).sum::<usize>() + workload.measured.2;
            assert!(all <= workload.nodes * DEVICES_PER_NODE, "{}: {all} pods", workload.name);
        }
    }
}
