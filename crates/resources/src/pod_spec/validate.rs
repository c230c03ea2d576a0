//! Validation of a whole pod spec, in upstream's order (core/validation ValidatePodSpec).

use super::container::{
    InPod, validate_containers, validate_ephemeral_containers, validate_image_is_trimmed, validate_init_containers,
};
use super::env::validate_file_volumes;
use super::naming::{validate_dns_config, validate_hostname};
use super::scheduling::{validate_affinity, validate_topology_spread};
use super::security::{validate_host_users, validate_os, validate_pod_security_context};
use super::volume::validate_volumes;
use crate::names;
use crate::read::Read;
use crate::validation::resources::{Consumer, amount, is_huge_page, quantity, validate_requirements};
use crate::validation::{each, shown};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::pod_requests::{Options, compute_limits, compute_requests};
use ferry_api::view::core::v1::{PodSpecView, PodStatusView};
use serde_json::Value;
use std::collections::BTreeSet;

/// Whose spec it is: a template may leave some things to the pods made from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecOf {
    Pod,
    Template,
}

/// Every mistake in a pod spec. `metadata` is the pod's own, `None` for a template.
pub(crate) fn validate_pod_spec(
    errors: &mut ErrorList,
    spec: &Value,
    metadata: Option<&Value>,
    context: SpecOf,
    path: &Path,
) {
    let pod_name = metadata.map(|metadata| metadata.text("name"));
    let volumes = validate_volumes(errors, spec, pod_name, context, &path.child("volumes"));
    let claim_names: BTreeSet<&str> =
        spec.list("resourceClaims").iter().map(|claim| claim.text("name")).filter(|name| !name.is_empty()).collect();
    validate_resource_claims(errors, spec, metadata, &path.child("resourceClaims"));
    let pod = InPod { spec, volumes: &volumes, claim_names: &claim_names };
    validate_containers(errors, &pod, &path.child("containers"));
    validate_init_containers(errors, &pod, &path.child("initContainers"));
    validate_ephemeral_containers(errors, &pod, &path.child("ephemeralContainers"));
    validate_pod_resources(errors, spec, &claim_names, path);
    validate_host_network_ports(errors, spec, context, path);
    validate_pod_security_context(errors, spec, &path.child("securityContext"));
    validate_affinity(errors, spec.field("affinity"), &path.child("affinity"));
    validate_dns_config(errors, spec, &path.child("dnsConfig"));
    let constraints = spec.list("topologySpreadConstraints");
    validate_topology_spread(errors, constraints, &path.child("topologySpreadConstraints"));
    validate_host_users(errors, spec, path);
    validate_hostname(errors, spec, path);
    if let Some(overhead) = spec.field("overhead") {
        let limits = serde_json::json!({"limits": overhead});
        validate_requirements(errors, Some(&limits), Consumer::Container, &BTreeSet::new(), &path.child("overhead"));
    }
    validate_os(errors, spec, path);
    if let Some(group) = spec.field("schedulingGroup") {
        let path = path.child("schedulingGroup").child("podGroupName");
        match group.opt_text("podGroupName") {
            None => errors.push(Error::invalid(&path, shown(None), "must specify one of: `podGroupName`")),
            Some(name) => each(errors, &path, name, names::dns1123_subdomain(name, false)),
        }
    }
    validate_file_volumes(errors, spec, path);
}

/// What upstream asks of pods beyond templates, so that old templates stay valid.
pub(crate) fn validate_only_for_pods(errors: &mut ErrorList, spec: &Value, path: &Path) {
    if spec.text("serviceAccountName").is_empty() {
        for (index, volume) in spec.list("volumes").iter().enumerate() {
            let path = path.child("volumes").index(index).child("projected");
            for (index, source) in volume.field("projected").list("sources").iter().enumerate() {
                if source.has("serviceAccountToken") {
                    errors.push(Error::forbidden(
                        &path.child("sources").index(index).child("serviceAccountToken"),
                        "must not be specified when serviceAccountName is not set",
                    ));
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for (index, container) in spec.list(list).iter().enumerate() {
            validate_image_is_trimmed(errors, container, &path.child(list).index(index));
        }
    }
}

fn validate_resource_claims(errors: &mut ErrorList, spec: &Value, metadata: Option<&Value>, path: &Path) {
    for (index, claim) in spec.list("resourceClaims").iter().enumerate() {
        if metadata.field("annotations").has(super::update::MIRROR_POD) {
            errors.push(Error::forbidden(&Path::root(), "static pods do not support resource claims"));
            return;
        }
        let path = path.index(index);
        match (claim.has("resourceClaimName"), claim.has("resourceClaimTemplateName")) {
            (true, true) => errors.push(Error::invalid(
                &path,
                claim.clone(),
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            )),
            (false, false) => errors.push(Error::invalid(
                &path,
                claim.clone(),
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            )),
            _ => {}
        }
    }
}

/// Resources stated for the pod as a whole hold what its containers ask for.
fn validate_pod_resources(errors: &mut ErrorList, spec: &Value, claims: &BTreeSet<&str>, path: &Path) {
    let Some(resources) = spec.field("resources") else { return };
    let path = path.child("resources");
    if spec.field("os").text("name") == "windows" {
        errors.push(Error::forbidden(&path, "may not be set for a windows pod"));
        return;
    }
    if resources.has("claims") {
        errors.push(Error::forbidden(&path.child("claims"), "claims may not be set for Resources at pod-level"));
    }
    validate_requirements(errors, Some(resources), Consumer::Pod, claims, &path);
    let (limits, requests) = (resources.entries("limits"), resources.entries("requests"));
    let (view, status) = (PodSpecView::from(spec), PodStatusView::default());
    for (name, total) in compute_requests(view, status, &Options::CONTAINERS) {
        if let Some(stated) = amount(requests, name)
            && total > stated
        {
            errors.push(Error::invalid(
                &path.child("requests").key(name),
                stated.to_string(),
                format!("must be greater than or equal to aggregate container requests of {total}"),
            ));
        }
    }
    let totals = compute_limits(view, status, &Options::CONTAINERS);
    for (name, total) in totals.into_iter().filter(|(name, _)| is_huge_page(name)) {
        if let Some(stated) = amount(limits, name)
            && total > stated
        {
            errors.push(Error::invalid(
                &path.child("limits").key(name),
                stated.to_string(),
                format!("must be greater than or equal to aggregate container limits of {total}"),
            ));
        }
    }
    for (index, container) in spec.list("containers").iter().enumerate() {
        for (name, value) in container.field("resources").entries("limits") {
            if let (Some(limit), Some(stated)) = (quantity(value), amount(limits, name))
                && limit > stated
            {
                errors.push(Error::invalid(
                    &path.child("containers").index(index).key(name).child("limits"),
                    limit.to_string(),
                    format!("must be less than or equal to pod limits of {stated}"),
                ));
            }
        }
    }
}

/// On the host's network a port is the host's port; a template may leave it to its pods.
fn validate_host_network_ports(errors: &mut ErrorList, spec: &Value, context: SpecOf, path: &Path) {
    if !spec.flag("hostNetwork") {
        return;
    }
    for (index, container) in spec.list("containers").iter().enumerate() {
        for (port_index, port) in container.list("ports").iter().enumerate() {
            let host_port = port.int("hostPort");
            if (context == SpecOf::Pod || host_port != 0) && host_port != port.int("containerPort") {
                errors.push(Error::invalid(
                    &path.child("containers").index(index).child("ports").index(port_index).child("hostPort"),
                    host_port,
                    "must match `containerPort` when `hostNetwork` is true",
                ));
            }
        }
    }
}
