//! Role and ClusterRole: the strategy of permissions, in a namespace or everywhere, perhaps
//! gathered from other roles (rbac/validation ValidatePolicyRule).

use crate::Strategy;
use crate::read::Read;
use crate::validation::labels::is_label_selector;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub(crate) struct Role<const NAMESPACED: bool>;

impl<const NAMESPACED: bool> Strategy for Role<NAMESPACED> {
    fn validate(&self, role: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        for (index, rule) in role.list("rules").iter().enumerate() {
            validate_rule(&mut errors, rule, NAMESPACED, &Path::new("rules").index(index));
        }
        let path = Path::new("aggregationRule").child("clusterRoleSelectors");
        let selectors = role.field("aggregationRule").list("clusterRoleSelectors");
        for (index, _) in selectors.iter().enumerate().filter(|(_, selector)| !is_label_selector(selector)) {
            errors.push(Error::invalid(&path.index(index), Value::Null, "invalid label selector."));
        }
        errors
    }
}

fn validate_rule(errors: &mut ErrorList, rule: &Value, namespaced: bool, path: &Path) {
    let is_empty = |key: &str| rule.list(key).is_empty();
    if !is_empty("nonResourceURLs") {
        let (path, urls) = (path.child("nonResourceURLs"), rule.list("nonResourceURLs"));
        if namespaced {
            errors.push(Error::invalid(&path, urls, "namespaced rules cannot apply to non-resource URLs"));
        }
        if ["apiGroups", "resources", "resourceNames"].iter().any(|key| !is_empty(key)) {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.push(Error::invalid(&path, urls, detail));
        }
        return;
    }
    if is_empty("apiGroups") {
        errors.push(Error::required(&path.child("apiGroups"), "resource rules must supply at least one api group"));
    }
    if is_empty("resources") {
        errors.push(Error::required(&path.child("resources"), "resource rules must supply at least one resource"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, row};
    use serde_json::json;

    #[test]
    fn rules_say_what_may_be_done_to_what() {
        check(&Role::<true>, json!({"rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]}), &[]);
        check(
            &Role::<true>,
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
        assert!(row("Role").validate_name("system:leader", false).is_empty());
        assert_eq!(row("Role").validate_name("a/b", false), ["may not contain '/'"]);
    }
}
