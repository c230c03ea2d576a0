//! LimitRange: the strategy of limits for each object of a namespace.

use crate::read::{Read, field_mut, list_mut};
use crate::validation::each;
use crate::validation::resources::{
    amount, is_overcommit_allowed, validate_container_resource_name, validate_resource_name,
};
use crate::{Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::ensure_object;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};

pub(crate) struct LimitRange;

const STORAGE: &str = "storage";

impl Strategy for LimitRange {
    fn default(&self, range: &mut Value) {
        let Some(spec) = field_mut(range, "spec") else { return };
        for limit in list_mut(spec, "limits") {
            if limit.text("type") == "Container" {
                default_container_limit(limit);
            }
        }
    }

    fn validate(&self, range: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let mut types = HashSet::new();
        for (index, limit) in range.field("spec").list("limits").iter().enumerate() {
            let path = Path::new("spec").child("limits").index(index);
            let kind = limit.text("type");
            validate_type(&mut errors, kind, &path.child("type"));
            if !types.insert(kind) {
                errors.push(Error::duplicate(&path.child("type"), kind));
            }
            validate_names(&mut errors, limit, kind, &path);
            validate_amounts(&mut errors, limit, kind, &path);
        }
        errors
    }
}

/// A default limit comes from the most, a default request from the limit or the least.
fn default_container_limit(limit: &mut Value) {
    let list = |key: &str| limit.entries(key).clone();
    let (most, least) = (list("max"), list("min"));
    let mut default = list("default");
    let mut request = list("defaultRequest");
    let fill = |into: &mut Map<String, Value>, from: &Map<String, Value>| {
        for (name, value) in from {
            into.entry(name.clone()).or_insert_with(|| value.clone());
        }
    };
    fill(&mut default, &most);
    fill(&mut request, &default);
    fill(&mut request, &least);
    let fields = ensure_object(limit);
    for (key, list) in [("default", default), ("defaultRequest", request)] {
        if !list.is_empty() {
            fields.insert(key.to_owned(), list.into());
        }
    }
}

fn validate_type(errors: &mut ErrorList, kind: &str, path: &Path) {
    let sentences = names::is_qualified_name(kind);
    if !sentences.is_empty() {
        each(errors, path, kind, sentences);
    } else if !kind.contains('/') && !matches!(kind, "Pod" | "Container" | "PersistentVolumeClaim") {
        errors.push(Error::invalid(path, kind, "must be a standard limit type or fully qualified"));
    }
}

fn validate_names(errors: &mut ErrorList, limit: &Value, kind: &str, path: &Path) {
    let check = |errors: &mut ErrorList, list: &str| {
        for name in limit.entries(list).keys() {
            let path = path.child(list).key(name);
            if matches!(kind, "Pod" | "Container") {
                validate_container_resource_name(errors, name, &path);
            } else {
                validate_resource_name(errors, name, &path);
            }
        }
    };
    check(errors, "max");
    check(errors, "min");
    for list in ["default", "defaultRequest"] {
        if kind != "Pod" {
            check(errors, list);
        } else if !limit.entries(list).is_empty() {
            errors.push(Error::forbidden(&path.child(list), "may not be specified when `type` is 'Pod'"));
        }
    }
    if kind == "PersistentVolumeClaim"
        && !limit.entries("min").contains_key(STORAGE)
        && !limit.entries("max").contains_key(STORAGE)
    {
        errors.push(Error::required(
            &path.child("limits"),
            "either minimum or maximum storage value is required, but neither was provided",
        ));
    }
    check(errors, "maxLimitRequestRatio");
}

/// Least ≤ default request ≤ default ≤ most, for each resource.
fn validate_amounts(errors: &mut ErrorList, limit: &Value, kind: &str, path: &Path) {
    let of_pod = kind == "Pod";
    let lists = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];
    let names: BTreeSet<&String> = lists.iter().flat_map(|list| limit.entries(list).keys()).collect();
    for name in names {
        let get = |list: &str| amount(limit.entries(list), name);
        let (least, most, ratio) = (get("min"), get("max"), get("maxLimitRequestRatio"));
        let (default, request) = if of_pod { (None, None) } else { (get("default"), get("defaultRequest")) };
        let mut more = |low: &Option<_>, high: &Option<_>, list: &str, what: (&str, &str), show_high: bool| {
            if let (Some(low), Some(high)) = (low, high)
                && low > high
            {
                let shown: &ferry_api::quantity::Quantity = if show_high { high } else { low };
                let detail = format!("{} {low} is greater than {} {high}", what.0, what.1);
                errors.push(Error::invalid(&path.child(list).key(name), shown.to_string(), detail));
            }
        };
        more(&least, &most, "min", ("min value", "max value"), false);
        more(&least, &request, "defaultRequest", ("min value", "default request value"), true);
        more(&request, &most, "defaultRequest", ("default request value", "max value"), false);
        more(&request, &default, "defaultRequest", ("default request value", "default limit value"), false);
        more(&least, &default, "default", ("min value", "default value"), false);
        more(&default, &most, "default", ("default value", "max value"), true);
        let at = path.child("maxLimitRequestRatio").key(name);
        if let Some(ratio) = &ratio {
            if ratio.milli_value() < 1000 {
                errors.push(Error::invalid(&at, ratio.to_string(), format!("ratio {ratio} is less than 1")));
            }
            if let (Some(least), Some(most)) = (&least, &most) {
                let bound = most.as_f64() / least.as_f64();
                if ratio.as_f64() > bound {
                    let detail = format!("ratio {ratio} is greater than max/min = {bound:.6}");
                    errors.push(Error::invalid(&at, ratio.to_string(), detail));
                }
            }
        }
        if let (Some(default), Some(request)) = (&default, &request)
            && !is_overcommit_allowed(name)
            && default != request
        {
            let detail = format!("default value {default} must equal to defaultRequest value {request} in {name}");
            errors.push(Error::invalid(&path.child("defaultRequest").key(name), request.to_string(), detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn defaults_flow_from_most_to_request() {
        let mut range =
            json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"memory": "1Mi"}}]}});
        crate::testing::default(&LimitRange, &mut range);
        assert_eq!(range["spec"]["limits"][0]["default"], json!({"cpu": "1"}));
        assert_eq!(range["spec"]["limits"][0]["defaultRequest"], json!({"cpu": "1", "memory": "1Mi"}));
    }

    #[test]
    fn amounts_are_in_order() {
        check(&LimitRange, json!({"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}), &[]);
        check(
            &LimitRange,
            json!({"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}, "min": {"cpu": "2"}}]}}),
            &["spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1"],
        );
    }
}
