//! Pods by the ResourceClaims that they use: by name, or made of a template for the pod alone.
//!
//! Upstream: k8s.io/dynamic-resource-allocation/resourceclaim.

use crate::runner::Key;
use ferry_api::rules::pod::{is_deleting, is_terminal};
pub(super) use ferry_api::rules::resource_claim::{ClaimName, check_owner, claims_of};
use ferry_api::view::core::v1::{Pod, PodView};
use ferry_client::{Informer, SharedObject};

/// The index of pods by the claims that they use, and by the templates of them.
const BY_CLAIM: &str = "resource-claim";
const BY_TEMPLATE: &str = "resource-claim-template";

/// Whether the pod has ended, or was deleted before it got a node.
pub(super) fn is_done(pod: PodView<'_>) -> bool {
    is_terminal(pod) || (is_deleting(pod) && pod.spec().node_name().is_empty())
}

pub(super) fn indexed(pods: Informer<Pod>) -> Informer<Pod> {
    let pods = pods.indexed(BY_CLAIM, |pod| {
        claims_of(pod.view()).map(|name| Key::new(pod.namespace(), name).to_string()).collect()
    });
    pods.indexed(BY_TEMPLATE, |pod| {
        let entries = pod.view().spec().resource_claims().iter();
        let templates = entries.filter_map(|entry| entry.resource_claim_template_name());
        templates.map(|name| Key::new(pod.namespace(), name).to_string()).collect()
    })
}

pub(super) fn pods_with_claim(pods: &Informer<Pod>, claim: &Key) -> Vec<SharedObject<Pod>> {
    pods.by_index(BY_CLAIM, &claim.to_string())
}

pub(super) fn pods_with_template(pods: &Informer<Pod>, template: &Key) -> Vec<SharedObject<Pod>> {
    pods.by_index(BY_TEMPLATE, &template.to_string())
}
