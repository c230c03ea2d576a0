//! The defaults of a pod spec that depend on other fields (upstream's core/v1/defaults.go).
//! The constants stand in the facts, and each kind fills them in from its root.
//! `default_pod_spec` serves templates too; `default_pod` adds what only a Pod gets.

use super::image::default_pull_policy;
use crate::read::{Read, default_int, default_value, field_mut, list_mut, set};
use crate::validation::resources::{is_huge_page, is_overcommit_allowed, is_supported_for_pods, round_up_to_milli};
use ferry_api::object::ensure_object;
use ferry_api::rules::pod_requests::{Options, compute_limits, compute_requests};
use ferry_api::view::core::v1::{PodSpecView, PodStatusView};
use serde_json::{Map, Value, json};

/// Defaults that a Pod has and a template has not, so that a template stays as written
/// and a Pod is complete.
pub(crate) fn default_pod(spec: &mut Value) {
    for list in ["containers", "initContainers"] {
        for container in list_mut(spec, list) {
            default_requests_to_limits(container);
        }
    }
    default_pod_level_resources(spec);
    default_value(spec, "enableServiceLinks", true);
    if spec.flag("hostNetwork") {
        for list in ["containers", "initContainers"] {
            for container in list_mut(spec, list) {
                for port in list_mut(container, "ports") {
                    let number = port.int("containerPort");
                    default_int(port, "hostPort", number);
                }
            }
        }
    }
    default_pod_spec(spec);
}

pub(crate) fn default_pod_spec(spec: &mut Value) {
    mirror_service_account(spec);
    for volume in list_mut(spec, "volumes") {
        default_volume(volume);
    }
    for list in super::CONTAINER_LISTS {
        for container in list_mut(spec, list) {
            default_container(container);
        }
    }
    round_up_to_milli(field_mut(spec, "overhead"));
    if let Some(resources) = field_mut(spec, "resources") {
        default_resources(resources);
    }
}

/// Upstream answers with the account under its old name too, and takes either.
fn mirror_service_account(spec: &mut Value) {
    let name = match (spec.text("serviceAccountName"), spec.text("serviceAccount")) {
        ("", "") => return,
        ("", old) => old.to_owned(),
        (name, _) => name.to_owned(),
    };
    set(spec, "serviceAccount", name.as_str());
    set(spec, "serviceAccountName", name);
}

fn default_requests_to_limits(container: &mut Value) {
    let Some(resources) = field_mut(container, "resources") else { return };
    let Some(Value::Object(limits)) = resources.field("limits").cloned() else { return };
    let requests = ensure_object(ensure_object(resources).entry("requests").or_insert(Value::Null));
    for (name, value) in limits {
        requests.entry(name).or_insert(value);
    }
}

/// A pod that states resources for itself as a whole gets the missing half from its
/// containers and from its own limits.
fn default_pod_level_resources(spec: &mut Value) {
    let Some(resources) = spec.field("resources") else { return };
    let (limits, requests) = (resources.entries("limits"), resources.entries("requests"));
    if limits.is_empty() && requests.is_empty() {
        return;
    }
    let mut new_limits = limits.clone();
    let (view, status) = (PodSpecView::from(&*spec), PodStatusView::default());
    for (name, amount) in compute_limits(view, status, &Options::CONTAINERS) {
        if is_huge_page(name) && !requests.contains_key(name) && !limits.contains_key(name) {
            new_limits.insert(name.to_owned(), amount.to_string().into());
        }
    }
    let mut new_requests = requests.clone();
    if !new_limits.is_empty() {
        for (name, amount) in compute_requests(view, status, &Options::CONTAINERS) {
            if is_supported_for_pods(name) && is_overcommit_allowed(name) && !new_requests.contains_key(name) {
                new_requests.insert(name.to_owned(), amount.to_string().into());
            }
        }
        for (name, value) in &new_limits {
            if is_supported_for_pods(name) && !new_requests.contains_key(name) {
                new_requests.insert(name.clone(), value.clone());
            }
        }
    }
    let resources = &mut spec["resources"];
    let mut put = |key: &str, list: Map<String, Value>| {
        if !list.is_empty() {
            set(resources, key, list);
        }
    };
    put("limits", new_limits);
    put("requests", new_requests);
}

fn default_resources(resources: &mut Value) {
    round_up_to_milli(field_mut(resources, "limits"));
    round_up_to_milli(field_mut(resources, "requests"));
}

fn default_container(container: &mut Value) {
    if container.text("imagePullPolicy").is_empty() {
        let policy = default_pull_policy(container.text("image"));
        set(container, "imagePullPolicy", policy);
    }
    if let Some(resources) = field_mut(container, "resources") {
        default_resources(resources);
    }
}

fn default_volume(volume: &mut Value) {
    let has_source =
        volume.as_object().is_some_and(|fields| fields.iter().any(|(key, value)| key != "name" && !value.is_null()));
    if !has_source {
        set(volume, "emptyDir", json!({}));
    }
    if let Some(image) = field_mut(volume, "image")
        && image.text("pullPolicy").is_empty()
    {
        let policy = default_pull_policy(image.text("reference"));
        set(image, "pullPolicy", policy);
    }
    if let Some(claim) = field_mut(volume, "ephemeral")
        .and_then(|source| field_mut(source, "volumeClaimTemplate"))
        .and_then(|template| field_mut(template, "spec"))
    {
        default_claim_spec(claim);
    }
}

/// The spec of a claim, whether it stands alone or in a template.
pub(crate) fn default_claim_spec(claim: &mut Value) {
    if let Some(resources) = field_mut(claim, "resources") {
        default_resources(resources);
    }
}
