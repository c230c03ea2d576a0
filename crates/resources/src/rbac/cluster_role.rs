//! ClusterRole: the strategy of permissions everywhere, perhaps gathered from others.

use super::rule::validate_rules;
use crate::read::Read;
use crate::validation::labels::validate_label_selector;
use crate::{Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub struct ClusterRole;

impl Strategy for ClusterRole {
    fn validate_name(&self, name: &str, _prefix: bool) -> Vec<String> {
        names::path_segment(name, false)
    }

    fn validate(&self, role: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_rules(&mut errors, role, false);
        let Some(aggregation) = role.field("aggregationRule") else { return errors };
        let path = Path::new("aggregationRule").child("clusterRoleSelectors");
        let selectors = aggregation.list("clusterRoleSelectors");
        if selectors.is_empty() {
            errors.push(Error::required(
                &path,
                "at least one clusterRoleSelector required if aggregationRule is non-nil",
            ));
        }
        for (index, selector) in selectors.iter().enumerate() {
            let before = errors.len();
            validate_label_selector(&mut errors, Some(selector), &path.index(index));
            if errors.len() > before {
                errors.push(Error::invalid(&path.index(index), Value::Null, "invalid label selector."));
            }
        }
        errors
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }
}
