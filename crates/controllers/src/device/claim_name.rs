//! The ResourceClaims that a pod uses: by name, or made of a template for the pod alone.
//!
//! Upstream: k8s.io/dynamic-resource-allocation/resourceclaim.

use crate::runner::Key;
use ferry_api::rules::owner::is_controlled_by;
use ferry_api::rules::pod::{is_deleting, is_terminal};
use ferry_api::view::core::v1::{Pod, PodResourceClaimView, PodView};
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_client::{Informer, SharedObject};

/// The index of pods by the claims that they use, and by the templates of them.
const BY_CLAIM: &str = "resource-claim";
const BY_TEMPLATE: &str = "resource-claim-template";

/// The claim behind an entry of `spec.resourceClaims`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimName<'a> {
    /// The user's claim.
    Named(&'a str),
    /// The claim that was made of a template for this pod.
    Generated(&'a str),
    /// It was found that the entry needs no claim.
    NotNeeded,
    NotMadeYet,
}

impl<'a> ClaimName<'a> {
    pub(super) fn of(pod: PodView<'a>, entry: PodResourceClaimView<'a>) -> Self {
        if let Some(name) = entry.resource_claim_name() {
            return Self::Named(name);
        }
        let mut statuses = pod.status().resource_claim_statuses().iter();
        match statuses.find(|status| status.name() == entry.name()).map(|status| status.resource_claim_name()) {
            Some(Some(name)) => Self::Generated(name),
            Some(None) => Self::NotNeeded,
            None => Self::NotMadeYet,
        }
    }

    pub(super) fn known(self) -> Option<&'a str> {
        match self {
            Self::Named(name) | Self::Generated(name) => Some(name),
            Self::NotNeeded | Self::NotMadeYet => None,
        }
    }
}

/// Every claim of the pod that has a name, the one of its extended resources too.
pub(super) fn claims_of(pod: PodView<'_>) -> impl Iterator<Item = &str> {
    let entries = pod.spec().resource_claims().iter().filter_map(move |entry| ClaimName::of(pod, entry).known());
    let extended = pod.status().extended_resource_claim_status().map(|status| status.resource_claim_name());
    entries.chain(extended)
}

/// Whether the pod has ended, or was deleted before it got a node.
pub(super) fn is_done(pod: PodView<'_>) -> bool {
    is_terminal(pod) || (is_deleting(pod) && pod.spec().node_name().is_empty())
}

/// An error where a claim with the name of the pod's own belongs to something else.
pub(super) fn check_owner(claim: ObjectMetaView<'_>, pod: ObjectMetaView<'_>) -> Result<(), String> {
    if is_controlled_by(claim, pod) {
        return Ok(());
    }
    Err(format!("ResourceClaim {} was not created for pod {} (pod is not owner)", Key::of(claim), Key::of(pod)))
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
