//! CSINode: the strategy of the storage drivers on a node.

use crate::read::{Read, remove};
use crate::validation::equality::same_at;
use crate::validation::{FIELD_IS_IMMUTABLE, each};
use crate::{Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Value, json};
use std::collections::HashSet;

pub(crate) struct CsiNode;

const MAX_NODE_ID_BYTES: usize = 256;

impl Strategy for CsiNode {
    fn validate(&self, node: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let path = Path::new("spec").child("drivers");
        for (index, driver) in node.field("spec").list("drivers").iter().enumerate() {
            let path = path.index(index);
            let id = driver.text("nodeID");
            if id.len() > MAX_NODE_ID_BYTES {
                let detail = format!("must be {MAX_NODE_ID_BYTES} characters or less");
                errors.push(Error::invalid(&path.child("nodeID"), id, detail));
            }
            validate_topology_keys(&mut errors, driver, &path);
        }
        errors
    }

    /// A driver may come and go, but not change while it is there; only how many volumes
    /// fit may.
    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate(new);
        let path = Path::new("spec").child("drivers");
        for before in old.field("spec").list("drivers") {
            let same_name = |driver: &&Value| driver.text("name") == before.text("name");
            for driver in new.field("spec").list("drivers").iter().filter(same_name) {
                let mut pair = [driver.clone(), before.clone()];
                pair.iter_mut().for_each(|driver| remove(driver, "allocatable"));
                let [now, before] = pair.map(|driver| json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "spec": {"drivers": [driver]}}));
                if !same_at(&now, &before, &["spec", "drivers"]) {
                    errors.push(Error::invalid(&path, driver.clone(), FIELD_IS_IMMUTABLE));
                }
            }
        }
        errors
    }
}

fn validate_topology_keys(errors: &mut ErrorList, driver: &Value, path: &Path) {
    let mut seen = HashSet::new();
    for key in driver.texts("topologyKeys") {
        if key.is_empty() {
            errors.push(Error::required(path, ""));
        }
        if !seen.insert(key) {
            errors.push(Error::duplicate(path, key));
        }
        each(errors, path, key, names::is_qualified_name(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};

    fn node(drivers: Value) -> Value {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "a"}, "spec": {"drivers": drivers}})
    }

    #[test]
    fn drivers_are_named_once() {
        check(&CsiNode, node(json!([{"name": "example.com", "nodeID": "1", "topologyKeys": ["zone"]}])), &[]);
        check(
            &CsiNode,
            node(json!([
                {"name": "example.com", "nodeID": "", "allocatable": {"count": -1}},
                {"name": "example.com", "nodeID": "1", "topologyKeys": ["zone", "zone"]},
            ])),
            &[
                "spec.drivers[0].nodeID: Required value",
                "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
                "spec.drivers[1].name: Duplicate value: \"example.com\"",
                "spec.drivers[1]: Duplicate value: \"zone\"",
            ],
        );
    }

    #[test]
    fn a_driver_stays_what_it_is() {
        let driver = |id: &str, count: i64| node(json!([{"name": "a", "nodeID": id, "allocatable": {"count": count}}]));
        check_update(&CsiNode, driver("1", 1), driver("1", 2), &[]);
        check_update(&CsiNode, driver("1", 1), node(json!([])), &[]);
        check_update(
            &CsiNode,
            driver("1", 1),
            driver("2", 1),
            &[
                "spec.drivers: Invalid value: {\"allocatable\":{\"count\":1},\"name\":\"a\",\"nodeID\":\"2\"}: field is immutable",
            ],
        );
        assert_eq!(Value::from(cells("CSINode", driver("1", 1))), json!(["a", 1, "10m"]));
    }
}
