//! The rules of a role (rbac/validation ValidatePolicyRule).

use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub fn validate_rules(errors: &mut ErrorList, role: &Value, namespaced: bool) {
    for (index, rule) in role.list("rules").iter().enumerate() {
        validate_rule(errors, rule, namespaced, &Path::new("rules").index(index));
    }
}

fn validate_rule(errors: &mut ErrorList, rule: &Value, namespaced: bool, path: &Path) {
    let is_empty = |key: &str| rule.list(key).is_empty();
    if is_empty("verbs") {
        errors.push(Error::required(&path.child("verbs"), "verbs must contain at least one value"));
    }
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
