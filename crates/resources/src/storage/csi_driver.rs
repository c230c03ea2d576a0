//! CSIDriver: the strategy of what the cluster knows about a storage driver.

use crate::read::{Read, ReadNode, remove};
use crate::validation::equality::{changed, same_at};
use crate::{Context, Strategy, print};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct CsiDriver;

impl Strategy for CsiDriver {
    fn prepare_for_create(&self, _context: &Context, driver: &mut Value) {
        drop_scheduling(driver);
    }

    /// The generation begins to count with the first change.
    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        if !old.field("spec").has("preventPodSchedulingIfMissing") {
            drop_scheduling(new);
        }
        if changed(new, old, &["spec"]) {
            new.set_meta("generation", old.generation().saturating_add(1));
        }
    }

    fn validate(&self, driver: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (driver.field("spec"), Path::new("spec"));
        if let Some(in_secrets) = spec.opt_flag("serviceAccountTokenInSecrets")
            && spec.list("tokenRequests").is_empty()
        {
            let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
            errors.push(Error::invalid(&path.child("serviceAccountTokenInSecrets"), in_secrets, detail));
        }
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let spec = new.field("spec");
        let asks = !spec.list("tokenRequests").is_empty() && !spec.has("serviceAccountTokenInSecrets");
        if asks && old.is_none_or(|old| !same_at(new, old, &["spec", "tokenRequests"])) {
            return vec![
                "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"
                    .to_owned(),
            ];
        }
        Vec::new()
    }

    fn computed_cells(&self, driver: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let spec = driver.field("spec");
        let modes: Vec<&str> = spec.texts("volumeLifecycleModes").collect();
        let tokens = if spec.has("tokenRequests") {
            let audiences: Vec<&str> = spec.list("tokenRequests").iter().map(|token| token.text("audience")).collect();
            audiences.join(",")
        } else {
            "<unset>".to_owned()
        };
        vec![tokens.into(), print::or_none(modes.join(",")).into()]
    }
}

/// The feature behind this field is off in 1.36.
fn drop_scheduling(driver: &mut Value) {
    if let Some(spec) = crate::read::field_mut(driver, "spec") {
        remove(spec, "preventPodSchedulingIfMissing");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, context};
    use serde_json::json;

    fn driver(spec: Value) -> Value {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "example.com"}, "spec": spec})
    }

    #[test]
    fn a_driver_says_what_it_wants() {
        check(&CsiDriver, driver(json!({})), &[]);
        check(
            &CsiDriver,
            driver(json!({
                "fsGroupPolicy": "Some", "volumeLifecycleModes": ["Some"], "nodeAllocatableUpdatePeriodSeconds": 1,
                "tokenRequests": [{"audience": "a", "expirationSeconds": 1}, {"audience": "a"}],
            })),
            &[
                "spec.fsGroupPolicy: Unsupported value: \"Some\": supported values: \"File\", \"None\", \"ReadWriteOnceWithFSType\"",
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
                "spec.tokenRequests[1].audience: Duplicate value: \"a\"",
                "spec.volumeLifecycleModes: Unsupported value: \"Some\": supported values: \"Persistent\", \"Ephemeral\"",
                "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 1: must be greater than or equal to 10 seconds",
            ],
        );
        check(
            &CsiDriver,
            driver(json!({"serviceAccountTokenInSecrets": true})),
            &[
                "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
            ],
        );
    }

    #[test]
    fn attaching_never_changes_and_the_rest_is_counted() {
        check_update(
            &CsiDriver,
            driver(json!({})),
            driver(json!({"attachRequired": false})),
            &["spec.attachedRequired: Invalid value: false: field is immutable"],
        );
        let old = driver(json!({}));
        let mut new = driver(json!({"requiresRepublish": true, "preventPodSchedulingIfMissing": true}));
        CsiDriver.prepare_for_update(&context(), &mut new, &old);
        assert_eq!(new.generation(), 1);
        assert!(!new["spec"].has("preventPodSchedulingIfMissing"));
    }

    #[test]
    fn a_driver_shows_what_it_wants() {
        let object = driver(json!({"tokenRequests": [{"audience": "a"}, {"audience": "b"}]}));
        assert_eq!(CsiDriver.warnings(&object, None).len(), 1);
        assert_eq!(
            Value::from(cells("CSIDriver", object)),
            json!(["example.com", true, false, false, "a,b", false, "Persistent", "10m"])
        );
        assert_eq!(cells("CSIDriver", driver(json!({})))[4], "<unset>");
    }
}
