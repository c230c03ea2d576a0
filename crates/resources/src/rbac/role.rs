//! Role: the strategy of permissions within a namespace.

use super::rule::validate_rules;
use crate::{Strategy, names};
use ferry_api::field::ErrorList;
use serde_json::Value;

pub struct Role;

impl Strategy for Role {
    fn validate_name(&self, name: &str, _prefix: bool) -> Vec<String> {
        names::path_segment(name, false)
    }

    fn validate(&self, role: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_rules(&mut errors, role, true);
        errors
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn rules_say_what_may_be_done_to_what() {
        check(&Role, json!({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}), &[]);
        check(
            &Role,
            json!({"rules": [{"resources": ["pods"]}, {"verbs": ["get"], "nonResourceURLs": ["/x"], "resources": ["pods"]}]}),
            &[
                "rules[0].verbs: Required value: verbs must contain at least one value",
                "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
                "rules[1].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to non-resource URLs",
                "rules[1].nonResourceURLs: Invalid value: [\"/x\"]: rules cannot apply to both regular resources and non-resource URLs",
            ],
        );
    }

    #[test]
    fn names_may_hold_colons() {
        assert!(Role.validate_name("system:leader", false).is_empty());
        assert_eq!(Role.validate_name("a/b", false), ["may not contain '/'"]);
    }
}
