//! CSIStorageCapacity: the strategy of how much storage of a class is left where.

use crate::Strategy;
use crate::pod_spec::warnings::deprecated_node_label;
use crate::read::{Read, ReadNode};
use ferry_api::document::Node;
use ferry_api::field::Path;
use ferry_api::quantity::Quantity;
use ferry_api::view::Element;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct CsiStorageCapacity;

impl Strategy for CsiStorageCapacity {
    fn warnings(&self, capacity: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        let (topology, path) = (capacity.field("nodeTopology"), Path::new("nodeTopology"));
        for (index, expression) in topology.list("matchExpressions").iter().enumerate() {
            let key = expression.text("key");
            if let Some(message) = deprecated_node_label(key) {
                let path = path.child("matchExpressions").index(index).child("key");
                warnings.push(format!("{path}: {key} is {message}"));
            }
        }
        for key in topology.entries("matchLabels").keys() {
            if let Some(message) = deprecated_node_label(key) {
                warnings.push(format!("{}: {message}", path.child("matchLabels").child(key)));
            }
        }
        warnings
    }

    fn computed_cells(&self, capacity: Node<'_>, __now: Timestamp) -> Vec<Value> {
        let amount = capacity.field("capacity").and_then(Quantity::of);
        let amount = amount.map_or_else(|| "<unset>".to_owned(), |amount| amount.to_string());
        vec![amount.into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use serde_json::json;

    #[test]
    fn a_capacity_is_of_one_class_in_one_place() {
        let capacity = |class: &str, amount: &str| {
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "a"},
                "storageClassName": class, "capacity": amount})
        };
        check(&CsiStorageCapacity, capacity("fast", "1Gi"), &[]);
        check(
            &CsiStorageCapacity,
            capacity("fast", "-1"),
            &["capacity: Invalid value: \"-1\": must be greater than or equal to 0"],
        );
        check_update(&CsiStorageCapacity, capacity("fast", "1Gi"), capacity("fast", "2Gi"), &[]);
        check_update(
            &CsiStorageCapacity,
            capacity("fast", "1Gi"),
            capacity("slow", "1Gi"),
            &["storageClassName: Invalid value: \"slow\": field is immutable"],
        );
        assert_eq!(Value::from(cells("CSIStorageCapacity", capacity("fast", "1Gi"))), json!(["a", "fast", "1Gi"]));
    }
}
