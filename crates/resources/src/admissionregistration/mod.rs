//! The kinds of the group `admissionregistration.k8s.io`.

pub(crate) mod policy;
pub(crate) mod policy_binding;
mod rule;
pub(crate) mod webhook_configuration;

/// Names with this ending are for configurations that come from files.
const STATIC_SUFFIX: &str = ".static.k8s.io";

fn warn_of_static_suffix(name: &str) -> Vec<String> {
    if !name.ends_with(STATIC_SUFFIX) {
        return Vec::new();
    }
    vec![format!(
        "metadata.name: names ending with {STATIC_SUFFIX:?} are reserved for static manifest-based configurations and cannot be managed via the API"
    )]
}
