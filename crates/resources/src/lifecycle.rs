//! Which builtin kinds are on their way out, since when, until when and for what: the
//! facts of upstream's prerelease lifecycle that hold for Kubernetes 1.36. The API server
//! warns of them on every verb.

use crate::Row;

/// A kind that is deprecated in the release that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// `1.33`.
    since: &'static str,
    /// The release that no longer has it, if that has been said.
    pub removed: Option<&'static str>,
    /// `discovery.k8s.io/v1 EndpointSlice`.
    replacement: Option<&'static str>,
}

impl Deprecation {
    const fn since(since: &'static str) -> Self {
        Self { since, removed: None, replacement: None }
    }

    const fn removed(self, removed: &'static str) -> Self {
        Self { removed: Some(removed), ..self }
    }

    const fn replacement(self, replacement: &'static str) -> Self {
        Self { replacement: Some(replacement), ..self }
    }

    /// Asked for every request, so it compares a few short names and no more.
    pub fn of(row: &Row) -> Option<Self> {
        if row.custom.is_some() {
            return None;
        }
        Some(match (&*row.group, &*row.version, &*row.kind) {
            ("", "v1", "ComponentStatus") => Self::since("1.19"),
            ("", "v1", "Endpoints") => Self::since("1.33").replacement("discovery.k8s.io/v1 EndpointSlice"),
            ("networking.k8s.io", "v1beta1", "IPAddress" | "ServiceCIDR") => Self::since("1.34").removed("1.37"),
            ("storage.k8s.io", "v1beta1", "VolumeAttributesClass") => {
                Self::since("1.34").removed("1.37").replacement("storage.k8s.io/v1 VolumeAttributesClass")
            }
            (
                "resource.k8s.io",
                version @ ("v1beta1" | "v1beta2"),
                "DeviceClass" | "ResourceClaim" | "ResourceClaimTemplate" | "ResourceSlice",
            ) => match version {
                "v1beta1" => Self::since("1.35").removed("1.38"),
                _ => Self::since("1.36").removed("1.39"),
            },
            ("coordination.k8s.io", "v1beta1", "LeaseCandidate") => Self::since("1.36").removed("1.39"),
            _ => return None,
        })
    }

    /// The sentence that clients show.
    pub fn warning(&self, row: &Row) -> String {
        let mut text = format!("{} {} is deprecated in v{}+", row.group_version(), row.kind, self.since);
        if let Some(removed) = self.removed {
            text.push_str(&format!(", unavailable in v{removed}+"));
        }
        if let Some(replacement) = self.replacement {
            text.push_str(&format!("; use {replacement}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_on_their_way_out_say_so_in_upstreams_words() {
        let all: Vec<String> = crate::all()
            .iter()
            .filter_map(|row| Deprecation::of(row).map(|deprecation| deprecation.warning(row)))
            .collect();
        for text in [
            "v1 ComponentStatus is deprecated in v1.19+",
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
            "networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+",
            "storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass",
            "resource.k8s.io/v1beta1 ResourceClaim is deprecated in v1.35+, unavailable in v1.38+",
            "resource.k8s.io/v1beta2 DeviceClass is deprecated in v1.36+, unavailable in v1.39+",
            "coordination.k8s.io/v1beta1 LeaseCandidate is deprecated in v1.36+, unavailable in v1.39+",
        ] {
            assert!(all.iter().any(|said| said == text), "{text}\n{all:#?}");
        }
        // What is stable stays, and so do betas whose time has not come.
        let stays = |group: &str, version: &str, plural: &str| {
            let row =
                crate::all().iter().find(|row| row.group == group && row.version == version && row.plural == plural);
            assert_eq!(Deprecation::of(row.expect("a builtin kind")), None, "{group}/{version} {plural}");
        };
        stays("", "v1", "pods");
        stays("resource.k8s.io", "v1", "resourceclaims");
        stays("resource.k8s.io", "v1beta2", "devicetaintrules");
        stays("admissionregistration.k8s.io", "v1beta1", "mutatingadmissionpolicies");
    }
}
