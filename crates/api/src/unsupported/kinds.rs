//! The kinds that nothing acts on yet. `ferry status` lists what there is of them.

/// A kind whose objects are stored and served, and have no effect.
#[derive(Debug)]
pub struct UnsupportedKind {
    pub group: &'static str,
    /// The version that `ferry status` asks for.
    pub version: &'static str,
    pub resource: &'static str,
    pub kind: &'static str,
    /// The effect that is missing.
    pub effect: &'static str,
}

impl UnsupportedKind {
    pub fn sentence(&self) -> String {
        format!("{}: stored, and nothing acts on it yet: {}", self.kind, self.effect)
    }
}

const fn kind(
    group: &'static str,
    version: &'static str,
    resource: &'static str,
    kind: &'static str,
    effect: &'static str,
) -> UnsupportedKind {
    UnsupportedKind { group, version, resource, kind, effect }
}

pub const KINDS: &[UnsupportedKind] = &[
    kind("networking.k8s.io", "v1", "ingresses", "Ingress", "no traffic is routed by it"),
    kind(
        "resource.k8s.io",
        "v1",
        "resourceclaims",
        "ResourceClaim",
        "devices are allocated, and no node prepares them",
    ),
];
