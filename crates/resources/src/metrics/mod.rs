//! The kinds of the group `metrics.k8s.io`: CPU and memory that nodes and pods use. They
//! are never stored; the API server measures them when they are asked for. Columns are
//! those of metrics-server.

use crate::Strategy;
use crate::read::ReadNode;
use ferry_api::document::Node;
use ferry_api::quantity::{Format, Quantity};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct NodeMetrics;

pub(crate) struct PodMetrics;

impl Strategy for NodeMetrics {
    fn computed_cells(&self, metrics: Node<'_>, _now: Timestamp) -> Vec<Value> {
        cells(&[metrics.field("usage")])
    }
}

impl Strategy for PodMetrics {
    /// A pod uses what its containers use together.
    fn computed_cells(&self, metrics: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let usages: Vec<_> = metrics.list("containers").iter().map(|container| container.field("usage")).collect();
        cells(&usages)
    }
}

fn cells(usages: &[Option<Node<'_>>]) -> Vec<Value> {
    let sum = |resource: &str, format: Format| {
        let amounts = usages.iter().filter_map(|usage| Quantity::parse(usage.text(resource)).ok());
        amounts.fold(Quantity::from_int(0, format), |sum, amount| sum.add(&amount)).to_string()
    };
    vec![sum("cpu", Format::DecimalSi).into(), sum("memory", Format::BinarySi).into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{now, row};
    use serde_json::json;

    #[test]
    fn a_pods_containers_are_added_up() {
        let check = |kind: &str, metrics: Value, expected: [&str; 4]| {
            assert_eq!(row(kind).cells(Node::Value(&metrics), now()), expected, "{metrics}");
        };
        let usage = |cpu: &str, memory: &str| json!({"usage": {"cpu": cpu, "memory": memory}});
        let pod = json!({"metadata": {"name": "web"}, "window": "15.01s",
            "containers": [usage("1500000n", "1024Ki"), usage("2m", "1Mi")]});
        check("PodMetrics", pod, ["web", "3500u", "2Mi", "15.01s"]);
        check("PodMetrics", json!({"metadata": {"name": "web"}}), ["web", "0", "0", ""]);
        let mut node = usage("250m", "4Gi");
        node["metadata"] = json!({"name": "a"});
        node["window"] = "10s".into();
        check("NodeMetrics", node, ["a", "250m", "4Gi", "10s"]);
    }
}
