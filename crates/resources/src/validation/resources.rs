//! Names and amounts of resources: cpu, memory, hugepages, extended resources
//! (core/validation and core/helper). Used by pods, quotas, limit ranges and nodes.

use super::{NOT_NEGATIVE, each};
use crate::names;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, ErrorType, Path};
use ferry_api::quantity::Quantity;
use ferry_api::rules::resource_name;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const QUOTA_HUGE_PAGES: &str = "requests.hugepages-";

pub use ferry_api::quantity::from_value as quantity;
pub use ferry_api::rules::resource_name::{is_extended, is_huge_page, is_native};

/// The quantity of one resource in a list of them.
pub fn amount(list: &Map<String, Value>, name: &str) -> Option<Quantity> {
    list.get(name).and_then(quantity)
}

/// Native resources may be limited above what is requested, but for huge pages.
pub fn is_overcommit_allowed(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

fn is_quota_huge_page(name: &str) -> bool {
    is_huge_page(name) || name.starts_with(QUOTA_HUGE_PAGES)
}

/// Resources that are counted and therefore whole numbers.
const COUNTED: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

const COMPUTE: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "requests.storage",
];

fn is_standard(name: &str) -> bool {
    COUNTED.contains(&name) || COMPUTE.contains(&name) || name == "storage" || is_quota_huge_page(name)
}

pub fn is_standard_for_quota(name: &str) -> bool {
    COUNTED.contains(&name) || COMPUTE.contains(&name) || is_quota_huge_page(name)
}

fn is_standard_for_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_huge_page(name)
}

pub fn validate_resource_name(errors: &mut ErrorList, name: &str, path: &Path) -> bool {
    let before = errors.len();
    each(errors, path, name, names::is_qualified_name(name));
    if errors.len() == before && !name.contains('/') && !is_standard(name) {
        errors.push(Error::invalid(path, name, "must be a standard resource type or fully qualified"));
    }
    errors.len() == before
}

pub fn validate_container_resource_name(errors: &mut ErrorList, name: &str, path: &Path) {
    validate_resource_name(errors, name, path);
    if !name.contains('/') {
        if !is_standard_for_containers(name) {
            errors.push(Error::invalid(path, name, "must be a standard resource for containers"));
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.push(Error::invalid(path, name, "doesn't follow extended resource name standard"));
    }
}

/// What `spec.resources` of a whole pod may name.
pub fn is_supported_for_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_page(name)
}

fn validate_pod_resource_name(errors: &mut ErrorList, name: &str, path: &Path) {
    if validate_resource_name(errors, name, path) && !is_supported_for_pods(name) {
        errors.push(Error::not_supported(path, name, &["cpu", "hugepages-", "memory"]));
    }
}

pub fn validate_quota_resource_name(errors: &mut ErrorList, name: &str, path: &Path) {
    validate_resource_name(errors, name, path);
    if !name.contains('/') && !is_standard_for_quota(name) {
        errors.push(Error::invalid(path, name, "must be a standard resource for quota"));
    }
}

/// Amounts are not negative, and whole where things are counted.
pub fn validate_amount(errors: &mut ErrorList, name: &str, value: &Value, path: &Path) {
    let Some(quantity) = quantity(value) else { return };
    if quantity.is_negative() {
        errors.push(Error::invalid(path, quantity.to_string(), NOT_NEGATIVE));
    }
    if (COUNTED.contains(&name) || is_extended(name)) && !is_whole(&quantity) {
        errors.push(Error::invalid(path, quantity.to_string(), "must be an integer"));
    }
}

/// Whether nothing is left after whole units, down to thousandths.
pub fn is_whole(quantity: &Quantity) -> bool {
    quantity.milli_value() % 1000 == 0
}

/// Who may ask for which resources.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Consumer {
    Container,
    Pod,
}

pub fn validate_requirements(
    errors: &mut ErrorList,
    requirements: Option<&Value>,
    consumer: Consumer,
    claim_names: &BTreeSet<&str>,
    path: &Path,
) {
    let (limits, requests) = (requirements.entries("limits"), requirements.entries("requests"));
    let (limits_path, requests_path) = (path.child("limits"), path.child("requests"));
    let validate_name = match consumer {
        Consumer::Container => validate_container_resource_name,
        Consumer::Pod => validate_pod_resource_name,
    };
    for (name, value) in limits {
        let path = limits_path.key(name);
        validate_name(errors, name, &path);
        validate_amount(errors, name, value, &path);
        validate_huge_page_amount(errors, name, value, &path);
    }
    for (name, value) in requests {
        let path = requests_path.key(name);
        validate_name(errors, name, &path);
        validate_amount(errors, name, value, &path);
        match (quantity(value), amount(limits, name)) {
            (Some(request), Some(limit)) => {
                if request != limit && !is_overcommit_allowed(name) {
                    errors.push(Error::invalid(
                        &requests_path,
                        request.to_string(),
                        format!("must be equal to {name} limit of {limit}"),
                    ));
                } else if request > limit {
                    errors.push(Error::invalid(
                        &requests_path,
                        request.to_string(),
                        format!("must be less than or equal to {name} limit of {limit}"),
                    ));
                }
            }
            (_, None) if !is_overcommit_allowed(name) => {
                errors.push(Error::required(&limits_path, "Limit must be set for non overcommitable resources"));
            }
            _ => {}
        }
        validate_huge_page_amount(errors, name, value, &path);
    }
    let names = || limits.keys().chain(requests.keys());
    if names().any(|name| is_huge_page(name)) && !names().any(|name| name == "cpu" || name == "memory") {
        errors.push(Error::forbidden(path, "HugePages require cpu or memory"));
    }
    validate_claim_names(errors, requirements.list("claims"), claim_names, &path.child("claims"));
}

fn validate_huge_page_amount(errors: &mut ErrorList, name: &str, value: &Value, path: &Path) {
    let (Some(size), Some(quantity)) = (name.strip_prefix(resource_name::HUGE_PAGES), quantity(value)) else { return };
    let divisible = match size.parse::<Quantity>() {
        Ok(size) => size.value() > 0 && is_whole(&size) && quantity.value() % size.value() == 0,
        Err(_) => false,
    };
    if !divisible {
        errors.push(Error::invalid(
            path,
            quantity.to_string(),
            format!("{quantity} is not positive integer multiple of {name}"),
        ));
    }
}

/// Each claim a container names is one of the pod's, and is named once.
fn validate_claim_names(errors: &mut ErrorList, claims: &[Value], known: &BTreeSet<&str>, path: &Path) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (index, claim) in claims.iter().enumerate() {
        let (path, name, request) = (path.index(index), claim.text("name"), claim.text("request"));
        if name.is_empty() {
            errors.push(Error::required(&path, ""));
            continue;
        }
        let key = if request.is_empty() { name.to_owned() } else { format!("{name}/{request}") };
        if seen.contains(name) {
            errors.push(Error::duplicate(&path, name));
        } else {
            if !request.is_empty() {
                each(errors, &path.child("request"), request, names::is_dns1123_label(request));
            }
            if seen.contains(&key) {
                errors.push(Error::duplicate(&path, key.clone()));
            } else if request.is_empty() && seen.iter().any(|other| other.split('/').next() == Some(name)) {
                errors.push(Error::duplicate(&path, name));
            }
            seen.insert(key);
        }
        if !known.contains(name) {
            let detail = if known.is_empty() {
                "must be one of the names in pod.spec.resourceClaims which is empty".to_owned()
            } else {
                let names: Vec<&str> = known.iter().copied().collect();
                format!("must be one of the names in pod.spec.resourceClaims: {}", names.join(", "))
            };
            errors.push(Error { kind: ErrorType::NotFound, field: path.to_string(), value: Some(name.into()), detail });
        }
    }
}

/// Rounds every amount of a list up to thousandths, which is as fine as upstream stores.
pub fn round_up_to_milli(list: Option<&mut Value>) {
    let Some(Value::Object(list)) = list else { return };
    for value in list.values_mut() {
        // Most amounts have no part below a thousandth; only those are rewritten.
        let Some(exact) = quantity(value) else { continue };
        // Beyond this the thousandths do not fit 64 bits, and matter to nobody.
        if exact.value().abs() >= i64::MAX / 1000 {
            continue;
        }
        let rounded = Quantity::from_milli(exact.milli_value());
        if rounded != exact {
            *value = rounded.to_string().into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(requirements: Value, expected: &[&str]) {
        let mut errors = ErrorList::new();
        validate_requirements(
            &mut errors,
            Some(&requirements),
            Consumer::Container,
            &BTreeSet::new(),
            &Path::new("resources"),
        );
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn requests_and_limits_agree() {
        check(json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}), &[]);
        check(
            json!({"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
            &["resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"],
        );
        check(
            json!({"requests": {"example.com/gpu": "1"}}),
            &["resources.limits: Required value: Limit must be set for non overcommitable resources"],
        );
        check(
            json!({"limits": {"cpu": "-1"}}),
            &["resources.limits[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"],
        );
        check(
            json!({"limits": {"disk": "1"}}),
            &[
                "resources.limits[disk]: Invalid value: \"disk\": must be a standard resource type or fully qualified",
                "resources.limits[disk]: Invalid value: \"disk\": must be a standard resource for containers",
            ],
        );
        check(
            json!({"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}, "requests": {"hugepages-2Mi": "3Mi"}}),
            &[
                "resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi",
                "resources.requests[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi",
            ],
        );
        check(json!({"limits": {"hugepages-2Mi": "4Mi"}}), &["resources: Forbidden: HugePages require cpu or memory"]);
    }
}
