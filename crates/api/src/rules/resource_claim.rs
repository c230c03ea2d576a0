//! The ResourceClaims that a pod uses, and the pods that a claim is reserved for. The scheduler
//! allocates by it, the controllers make, free and delete claims by it, the kubelet prepares by it.
//!
//! Upstream: k8s.io/dynamic-resource-allocation/resourceclaim.

use super::key::ObjectKey;
use super::owner::is_controlled_by;
use crate::view::core::v1::{PodResourceClaimView, PodView};
use crate::view::meta::v1::ObjectMetaView;
use crate::view::resource::v1::{DeviceTaintView, DeviceTolerationView, ResourceClaimView};

/// A claim keeps its devices while it has this finalizer.
pub const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
/// A claim that the scheduler made for the extended resources of a pod has this annotation.
pub const EXTENDED_RESOURCE_CLAIM: &str = "resource.kubernetes.io/extended-resource-claim";
/// The extended resource that every device class has, with the class's name after it.
pub const DEVICE_CLASS_RESOURCE: &str = "deviceclass.resource.kubernetes.io/";

/// The claim behind an entry of `spec.resourceClaims`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimName<'a> {
    /// The user's claim.
    Named(&'a str),
    /// The claim that was made of a template for this pod.
    Generated(&'a str),
    /// It was found that the entry needs no claim.
    NotNeeded,
    NotMadeYet,
}

impl<'a> ClaimName<'a> {
    pub fn of(pod: PodView<'a>, entry: PodResourceClaimView<'a>) -> Self {
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

    pub fn known(self) -> Option<&'a str> {
        match self {
            Self::Named(name) | Self::Generated(name) => Some(name),
            Self::NotNeeded | Self::NotMadeYet => None,
        }
    }
}

/// Every claim of the pod that has a name, the one of its extended resources too.
pub fn claims_of(pod: PodView<'_>) -> impl Iterator<Item = &str> {
    let entries = pod.spec().resource_claims().iter().filter_map(move |entry| ClaimName::of(pod, entry).known());
    let extended = pod.status().extended_resource_claim_status().map(|status| status.resource_claim_name());
    entries.chain(extended)
}

/// An error where a claim with the name of the pod's own belongs to something else.
pub fn check_owner(claim: ObjectMetaView<'_>, pod: ObjectMetaView<'_>) -> Result<(), String> {
    if is_controlled_by(claim, pod) {
        return Ok(());
    }
    let (claim, pod) = (ObjectKey::of(claim), ObjectKey::of(pod));
    Err(format!("ResourceClaim {claim} was not created for Pod {pod} (Pod is not owner)"))
}

/// Whether the claim may be used by the pod of this uid.
pub fn is_reserved_for(claim: ResourceClaimView<'_>, pod_uid: &str) -> bool {
    claim.status().reserved_for().iter().any(|consumer| consumer.uid() == pod_uid)
}

/// Whether a toleration of a device request covers a device's taint. An empty effect or key
/// covers every one.
pub fn tolerates_device_taint(toleration: DeviceTolerationView<'_>, taint: DeviceTaintView<'_>) -> bool {
    let is_or_blank = |own: &str, other: &str| own.is_empty() || own == other;
    is_or_blank(toleration.effect(), taint.effect())
        && is_or_blank(toleration.key(), taint.key())
        && match toleration.operator() {
            "" | "Equal" => toleration.value_() == taint.value_(),
            "Exists" => true,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_claim_is_found_by_its_name_or_through_the_pods_status() {
        let pod = json!({
            "spec": {"resourceClaims": [{"name": "a", "resourceClaimName": "mine"},
                {"name": "b", "resourceClaimTemplateName": "t"}, {"name": "c", "resourceClaimTemplateName": "t"},
                {"name": "d", "resourceClaimTemplateName": "t"}]},
            "status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made"}, {"name": "c"}],
                "extendedResourceClaimStatus": {"resourceClaimName": "extended"}},
        });
        let pod = PodView::from(&pod);
        let names: Vec<_> = pod.spec().resource_claims().iter().map(|entry| ClaimName::of(pod, entry)).collect();
        let expected =
            [ClaimName::Named("mine"), ClaimName::Generated("made"), ClaimName::NotNeeded, ClaimName::NotMadeYet];
        assert_eq!(names, expected);
        assert_eq!(claims_of(pod).collect::<Vec<_>>(), ["mine", "made", "extended"]);
    }

    #[test]
    fn a_taint_of_a_device_is_tolerated_by_key_value_and_effect() {
        let check = |toleration: Value, expected: bool| {
            let taint = json!({"key": "broken", "value": "yes", "effect": "NoSchedule"});
            let found = tolerates_device_taint((&toleration).into(), (&taint).into());
            assert_eq!(found, expected, "{toleration}");
        };
        check(json!({"operator": "Exists"}), true);
        check(json!({"key": "broken", "value": "yes"}), true);
        check(json!({"key": "broken", "value": "no"}), false);
        check(json!({"key": "other", "operator": "Exists"}), false);
        check(json!({"key": "broken", "operator": "Exists", "effect": "NoExecute"}), false);
    }
}
