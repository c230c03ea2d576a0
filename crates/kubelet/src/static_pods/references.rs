//! The objects of the API that a pod refers to. A static pod may refer to none, because it runs
//! without the API (upstream: HasAPIObjectReference of pkg/api/pod/util.go, under the gate
//! PreventStaticPodAPIReferences).

use crate::container::referenced_names;
use ferry_api::view::core::v1::PodView;

/// The first kind of object that the pod refers to, as upstream's error names it.
pub fn api_reference(pod: PodView<'_>) -> Option<&'static str> {
    let spec = pod.spec();
    if !spec.service_account_name().is_empty() {
        return Some("serviceaccounts");
    }
    let names = referenced_names(pod);
    // Upstream looks for the names in volumes, too, before it looks at each volume.
    if !names.secrets.is_empty() {
        return Some("secrets");
    }
    if !names.config_maps.is_empty() {
        return Some("configmaps");
    }
    if !spec.resource_claims().is_empty() {
        return Some("resourceclaims");
    }
    for volume in spec.volumes() {
        let kind = [
            (volume.config_map().is_some(), "configmaps (via configmap volumes)"),
            (volume.secret().is_some(), "secrets (via secret volumes)"),
            (volume.csi().is_some(), "csidrivers (via CSI volumes)"),
            (volume.glusterfs().is_some(), "endpoints (via glusterFS volumes)"),
            (volume.persistent_volume_claim().is_some(), "persistentvolumeclaims"),
            (volume.ephemeral().is_some(), "persistentvolumeclaims (via ephemeral volumes)"),
            (volume.azure_file().is_some(), "secrets (via azureFile volumes)"),
        ];
        if let Some((_, kind)) = kind.into_iter().find(|(is_used, _)| *is_used) {
            return Some(kind);
        }
        for source in volume.projected().into_iter().flat_map(|projected| projected.sources()) {
            let kind = [
                (source.config_map().is_some(), "configmaps (via projected volumes)"),
                (source.secret().is_some(), "secrets (via projected volumes)"),
                (source.service_account_token().is_some(), "serviceaccounts (via projected volumes)"),
                (source.cluster_trust_bundle().is_some(), "clustertrustbundles"),
                (source.pod_certificate().is_some(), "podcertificates"),
            ];
            if let Some((_, kind)) = kind.into_iter().find(|(is_used, _)| *is_used) {
                return Some(kind);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::{Value, json};

    fn check(spec: Value, expected: Option<&str>) {
        assert_eq!(api_reference(pod(spec).view()), expected);
    }

    #[test]
    fn references_to_the_api_are_found_wherever_they_stand() {
        let with = |volume: Value| json!({ "containers": [], "volumes": [volume] });
        check(json!({ "containers": [{ "name": "a" }] }), None);
        check(with(json!({ "name": "v", "hostPath": { "path": "/x" } })), None);
        check(with(json!({ "name": "v", "projected": { "sources": [{ "downwardAPI": {} }] } })), None);
        check(json!({ "containers": [], "serviceAccountName": "s" }), Some("serviceaccounts"));
        check(json!({ "containers": [], "resourceClaims": [{ "name": "r" }] }), Some("resourceclaims"));
        check(json!({ "containers": [], "imagePullSecrets": [{ "name": "s" }] }), Some("secrets"));
        let env = json!([{ "name": "X", "valueFrom": { "configMapKeyRef": { "name": "c", "key": "k" } } }]);
        check(json!({ "containers": [{ "name": "a", "env": env }] }), Some("configmaps"));
        check(
            with(json!({ "name": "v", "persistentVolumeClaim": { "claimName": "c" } })),
            Some("persistentvolumeclaims"),
        );
        let token = json!({ "serviceAccountToken": { "path": "t" } });
        check(
            with(json!({ "name": "v", "projected": { "sources": [token] } })),
            Some("serviceaccounts (via projected volumes)"),
        );
    }
}
