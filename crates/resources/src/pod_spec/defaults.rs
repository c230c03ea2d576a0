//! The defaults of a pod spec (upstream's core/v1/defaults.go and its generated walk).
//! `default_pod_spec` serves templates too; `default_pod` adds what only a Pod gets.

use super::image::default_pull_policy;
use crate::read::{Read, default_int, default_text, default_value, field_mut, list_mut, set};
use crate::validation::resources::{is_huge_page, is_overcommit_allowed, is_supported_for_pods, round_up_to_milli};
use ferry_api::object::ensure_object;
use ferry_api::rules::pod_requests::{Options, compute_limits, compute_requests};
use ferry_api::view::core::v1::{PodSpecView, PodStatusView};
use serde_json::{Map, Value, json};

/// Defaults that a Pod has and a template has not, so that a template stays as written
/// and a Pod is complete.
pub fn default_pod(spec: &mut Value) {
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

pub fn default_pod_spec(spec: &mut Value) {
    default_text(spec, "dnsPolicy", "ClusterFirst");
    default_text(spec, "restartPolicy", "Always");
    default_value(spec, "securityContext", json!({}));
    default_value(spec, "terminationGracePeriodSeconds", 30);
    default_text(spec, "schedulerName", "default-scheduler");
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
    default_text(container, "terminationMessagePath", "/dev/termination-log");
    default_text(container, "terminationMessagePolicy", "File");
    // Upstream writes this struct even when it says nothing.
    default_value(container, "resources", json!({}));
    if let Some(resources) = field_mut(container, "resources") {
        default_resources(resources);
    }
    for port in list_mut(container, "ports") {
        default_text(port, "protocol", "TCP");
    }
    for variable in list_mut(container, "env") {
        let Some(source) = field_mut(variable, "valueFrom") else { continue };
        default_field_ref(field_mut(source, "fieldRef"));
        if let Some(resource) = field_mut(source, "resourceFieldRef") {
            default_value(resource, "divisor", "0");
        }
        if let Some(file) = field_mut(source, "fileKeyRef") {
            default_value(file, "optional", false);
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = field_mut(container, probe) {
            default_probe(probe);
        }
    }
    if let Some(lifecycle) = field_mut(container, "lifecycle") {
        for hook in ["postStart", "preStop"] {
            if let Some(hook) = field_mut(lifecycle, hook) {
                default_http_get(field_mut(hook, "httpGet"));
            }
        }
    }
}

fn default_probe(probe: &mut Value) {
    default_int(probe, "timeoutSeconds", 1);
    default_int(probe, "periodSeconds", 10);
    default_int(probe, "successThreshold", 1);
    default_int(probe, "failureThreshold", 3);
    default_http_get(field_mut(probe, "httpGet"));
    if let Some(grpc) = field_mut(probe, "grpc") {
        default_value(grpc, "service", "");
    }
}

fn default_http_get(action: Option<&mut Value>) {
    if let Some(action) = action {
        default_text(action, "path", "/");
        default_text(action, "scheme", "HTTP");
    }
}

fn default_field_ref(reference: Option<&mut Value>) {
    if let Some(reference) = reference {
        default_text(reference, "apiVersion", "v1");
    }
}

/// The mode of files in volumes made from objects: 0644.
const FILE_MODE: i64 = 0o644;

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
    default_volume_source(volume);
    for key in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = field_mut(volume, key) {
            default_value(source, "defaultMode", FILE_MODE);
        }
    }
    if let Some(source) = field_mut(volume, "downwardAPI") {
        default_downward_items(source);
    }
    if let Some(projected) = field_mut(volume, "projected") {
        for source in list_mut(projected, "sources") {
            if let Some(source) = field_mut(source, "downwardAPI") {
                default_downward_items(source);
            }
            if let Some(token) = field_mut(source, "serviceAccountToken") {
                default_value(token, "expirationSeconds", 3600);
            }
        }
    }
    if let Some(claim) = field_mut(volume, "ephemeral")
        .and_then(|source| field_mut(source, "volumeClaimTemplate"))
        .and_then(|template| field_mut(template, "spec"))
    {
        default_claim_spec(claim);
    }
}

/// The spec of a claim, whether it stands alone or in a template.
pub fn default_claim_spec(claim: &mut Value) {
    default_value(claim, "volumeMode", "Filesystem");
    if let Some(resources) = field_mut(claim, "resources") {
        default_resources(resources);
    }
}

/// The sources that pods and persistent volumes have in common.
pub fn default_volume_source(volume: &mut Value) {
    if let Some(source) = field_mut(volume, "hostPath") {
        default_value(source, "type", "");
    }
    for (source, key, value) in [
        ("iscsi", "iscsiInterface", "default"),
        ("rbd", "pool", "rbd"),
        ("rbd", "user", "admin"),
        ("rbd", "keyring", "/etc/ceph/keyring"),
        ("azureDisk", "cachingMode", "ReadWrite"),
        ("azureDisk", "fsType", "ext4"),
        ("azureDisk", "kind", "Shared"),
        ("scaleIO", "storageMode", "ThinProvisioned"),
        ("scaleIO", "fsType", "xfs"),
    ] {
        if let Some(source) = field_mut(volume, source) {
            default_text(source, key, value);
        }
    }
    if let Some(disk) = field_mut(volume, "azureDisk") {
        default_value(disk, "readOnly", false);
    }
}

fn default_downward_items(source: &mut Value) {
    for item in list_mut(source, "items") {
        default_field_ref(field_mut(item, "fieldRef"));
        if let Some(resource) = field_mut(item, "resourceFieldRef") {
            default_value(resource, "divisor", "0");
        }
    }
}
