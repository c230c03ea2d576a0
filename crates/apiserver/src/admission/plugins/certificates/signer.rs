//! Whether somebody may act for a signer of certificates: asked by the three plugins that
//! guard approval, signing and trust bundles (upstream's pkg/certauthorization).

use crate::authn::UserInfo;
use crate::authz::{Attributes, Authorizer};

/// For the signer itself, or for all of its domain (`kubernetes.io/*`).
pub(crate) async fn may(authorizer: &Authorizer, user: &UserInfo, verb: &str, signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    for name in [signer, &format!("{domain}/*")] {
        let attributes = Attributes {
            user,
            verb,
            api_group: "certificates.k8s.io",
            api_version: "*",
            resource: "signers",
            subresource: "",
            namespace: "",
            name,
            path: "",
            is_resource: true,
            field_selector: "",
            label_selector: "",
        };
        if authorizer.decide(&attributes).await.is_allowed() {
            return true;
        }
    }
    false
}
