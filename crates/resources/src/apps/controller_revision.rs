//! ControllerRevision: the strategy of a snapshot of a controller's template.

use crate::Strategy;
use crate::read::{Read, ReadNode};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::gvk::{GroupResource, GroupVersion};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct ControllerRevision;

impl Strategy for ControllerRevision {
    fn validate(&self, revision: &Value) -> ErrorList {
        match revision.field("data") {
            Some(data) if !data.is_object() => {
                vec![Error::required(&Path::new("data"), "data must be a valid JSON object")]
            }
            _ => ErrorList::new(),
        }
    }

    fn validate_update(&self, _new: &Value, _old: &Value) -> ErrorList {
        ErrorList::new()
    }

    fn computed_cells(&self, revision: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let owners = revision.field("metadata").list("ownerReferences");
        let controller = match owners.iter().find(|owner| owner.flag("controller")) {
            None => "<none>".to_owned(),
            Some(owner) => {
                let group = GroupVersion::parse(owner.text("apiVersion")).group;
                let kind = GroupResource::new(group, owner.text("kind").to_lowercase());
                format!("{kind}/{}", owner.text("name"))
            }
        };
        vec![controller.into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check};
    use serde_json::json;

    #[test]
    fn a_revision_holds_an_object() {
        check(&ControllerRevision, json!({"data": {}, "revision": 1}), &[]);
        check(&ControllerRevision, json!({"revision": 1}), &["data: Required value: data is mandatory"]);
    }

    #[test]
    fn a_revision_shows_its_controller() {
        let revision = json!({"metadata": {"name": "a", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": true}]}, "revision": 2});
        assert_eq!(Value::from(cells("ControllerRevision", revision)), json!(["a", "daemonset.apps/d", 2, "10m"]));
    }
}
