//! The kinds that nothing acts on yet. `ferry status` lists what there is of them.

use crate::object::Meta;
use serde_json::Value;

/// A kind whose objects are stored and served, and have no effect.
#[derive(Debug)]
pub struct UnsupportedKind {
    pub group: &'static str,
    /// The version that `ferry status` asks for.
    pub version: &'static str,
    pub resource: &'static str,
    pub kind: &'static str,
    /// A selectable field and its value, where only some objects of the kind are meant.
    pub only: Option<(&'static str, &'static str)>,
    /// The effect that is missing.
    pub effect: &'static str,
}

impl UnsupportedKind {
    /// Whether this object is one of those that nothing acts on.
    pub fn is_asked(&self, object: &Value) -> bool {
        let Some((field, value)) = self.only else { return true };
        object.str_at(&field.split('.').collect::<Vec<_>>()) == value
    }

    /// `NetworkPolicy`, or `Service with spec.type=LoadBalancer`.
    pub fn name(&self) -> String {
        match self.only {
            Some((field, value)) => format!("{} with {field}={value}", self.kind),
            None => self.kind.to_owned(),
        }
    }

    pub fn sentence(&self) -> String {
        format!("{}: stored, and nothing acts on it yet: {}", self.name(), self.effect)
    }
}

const fn kind(
    group: &'static str,
    version: &'static str,
    resource: &'static str,
    kind: &'static str,
    effect: &'static str,
) -> UnsupportedKind {
    UnsupportedKind { group, version, resource, kind, only: None, effect }
}

pub const KINDS: &[UnsupportedKind] = &[
    kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", "no traffic is filtered"),
    kind("networking.k8s.io", "v1", "ingresses", "Ingress", "no traffic is routed by it"),
    kind("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", "nothing is scaled"),
    kind("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", "no volume is attached"),
    kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", "no device is allocated"),
    kind("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", "no claims are made"),
    UnsupportedKind {
        group: "",
        version: "v1",
        resource: "services",
        kind: "Service",
        only: Some(("spec.type", "LoadBalancer")),
        effect: "no address from outside is given to it",
    },
];
