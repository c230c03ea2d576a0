//! Which facts file holds which API group. Files are named for upstream's Go packages
//! (`rbac/v1`), requests name groups (`rbac.authorization.k8s.io/v1`).

use crate::gvk::GroupVersionKind;

/// One facts file.
#[derive(Debug)]
pub struct Package {
    /// `rbac/v1`: the name that types carry in [`super::TypeDef::package`].
    pub name: &'static str,
    /// `rbac.authorization.k8s.io`; empty for the core group.
    pub group: &'static str,
    pub version: &'static str,
    /// What OpenAPI puts before a type's name: `io.k8s.api.rbac.v1`.
    pub openapi_prefix: &'static str,
    pub(super) facts: &'static str,
}

macro_rules! packages {
    ($($name:literal $group:literal $version:literal $prefix:literal $file:literal,)*) => {
        &[$(Package {
            name: $name,
            group: $group,
            version: $version,
            openapi_prefix: concat!($prefix, ".", $version),
            facts: include_str!(concat!("../../facts/", $file, ".facts")),
        }),*]
    };
}

static PACKAGES: &[Package] = packages! {
    "admission/v1" "admission.k8s.io" "v1" "io.k8s.api.admission" "admission.v1",
    "admissionregistration/v1" "admissionregistration.k8s.io" "v1" "io.k8s.api.admissionregistration" "admissionregistration.v1",
    "admissionregistration/v1beta1" "admissionregistration.k8s.io" "v1beta1" "io.k8s.api.admissionregistration" "admissionregistration.v1beta1",
    "apidiscovery/v2" "apidiscovery.k8s.io" "v2" "io.k8s.api.apidiscovery" "apidiscovery.v2",
    "apiextensions/v1" "apiextensions.k8s.io" "v1" "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions" "apiextensions.v1",
    "apiregistration/v1" "apiregistration.k8s.io" "v1" "io.k8s.kube-aggregator.pkg.apis.apiregistration" "apiregistration.v1",
    "apps/v1" "apps" "v1" "io.k8s.api.apps" "apps.v1",
    "authentication/v1" "authentication.k8s.io" "v1" "io.k8s.api.authentication" "authentication.v1",
    "authorization/v1" "authorization.k8s.io" "v1" "io.k8s.api.authorization" "authorization.v1",
    "autoscaling/v1" "autoscaling" "v1" "io.k8s.api.autoscaling" "autoscaling.v1",
    "autoscaling/v2" "autoscaling" "v2" "io.k8s.api.autoscaling" "autoscaling.v2",
    "batch/v1" "batch" "v1" "io.k8s.api.batch" "batch.v1",
    "certificates/v1" "certificates.k8s.io" "v1" "io.k8s.api.certificates" "certificates.v1",
    "certificates/v1beta1" "certificates.k8s.io" "v1beta1" "io.k8s.api.certificates" "certificates.v1beta1",
    "coordination/v1" "coordination.k8s.io" "v1" "io.k8s.api.coordination" "coordination.v1",
    "coordination/v1beta1" "coordination.k8s.io" "v1beta1" "io.k8s.api.coordination" "coordination.v1beta1",
    "core/v1" "" "v1" "io.k8s.api.core" "core.v1",
    "discovery/v1" "discovery.k8s.io" "v1" "io.k8s.api.discovery" "discovery.v1",
    "events/v1" "events.k8s.io" "v1" "io.k8s.api.events" "events.v1",
    "flowcontrol/v1" "flowcontrol.apiserver.k8s.io" "v1" "io.k8s.api.flowcontrol" "flowcontrol.v1",
    "meta/v1" "meta.k8s.io" "v1" "io.k8s.apimachinery.pkg.apis.meta" "meta.v1",
    "metrics/v1beta1" "metrics.k8s.io" "v1beta1" "io.k8s.metrics.pkg.apis.metrics" "metrics.v1beta1",
    "networking/v1" "networking.k8s.io" "v1" "io.k8s.api.networking" "networking.v1",
    "networking/v1beta1" "networking.k8s.io" "v1beta1" "io.k8s.api.networking" "networking.v1beta1",
    "node/v1" "node.k8s.io" "v1" "io.k8s.api.node" "node.v1",
    "policy/v1" "policy" "v1" "io.k8s.api.policy" "policy.v1",
    "rbac/v1" "rbac.authorization.k8s.io" "v1" "io.k8s.api.rbac" "rbac.v1",
    "resource/v1" "resource.k8s.io" "v1" "io.k8s.api.resource" "resource.v1",
    "resource/v1beta1" "resource.k8s.io" "v1beta1" "io.k8s.api.resource" "resource.v1beta1",
    "resource/v1beta2" "resource.k8s.io" "v1beta2" "io.k8s.api.resource" "resource.v1beta2",
    "scheduling/v1" "scheduling.k8s.io" "v1" "io.k8s.api.scheduling" "scheduling.v1",
    "storage/v1" "storage.k8s.io" "v1" "io.k8s.api.storage" "storage.v1",
    "storage/v1beta1" "storage.k8s.io" "v1beta1" "io.k8s.api.storage" "storage.v1beta1",
    "storagemigration/v1beta1" "storagemigration.k8s.io" "v1beta1" "io.k8s.api.storagemigration" "storagemigration.v1beta1",
};

/// Every facts file, in the order of their names.
pub fn packages() -> &'static [Package] {
    PACKAGES
}

/// The facts file of a group and version: `core/v1`, `rbac/v1` (not
/// `rbac.authorization.k8s.io/v1`). A group that has none keeps its own name, so that no
/// group of a custom resource is ever taken for a builtin one.
pub fn package_of(kind: &GroupVersionKind) -> String {
    match PACKAGES.iter().find(|package| package.group == kind.group && package.version == kind.version) {
        Some(package) => package.name.to_owned(),
        None => kind.api_version(),
    }
}

/// The API group and version of a facts file: `("rbac.authorization.k8s.io", "v1")`.
pub fn group_of_package(package: &str) -> Option<(&'static str, &'static str)> {
    PACKAGES.iter().find(|known| known.name == package).map(|known| (known.group, known.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_packages_map_both_ways() {
        for package in packages() {
            let kind = GroupVersionKind::new(package.group, package.version, "Any");
            assert_eq!(package_of(&kind), package.name);
            assert_eq!(group_of_package(package.name), Some((package.group, package.version)));
        }
        let custom = GroupVersionKind::new("apps.example.com", "v1", "Deployment");
        assert_eq!(package_of(&custom), "apps.example.com/v1");
    }
}
