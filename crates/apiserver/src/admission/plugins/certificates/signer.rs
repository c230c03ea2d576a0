//! Whether somebody may act for a signer of certificates: asked by the three plugins that
//! guard approval, signing and trust bundles (upstream's pkg/certauthorization).

use crate::authn::UserInfo;
use crate::authz::{Attributes, Authorizer};

/// For the signer itself, or for all of its domain (`kubernetes.io/*`).
pub(crate) async fn may(authorizer: &Authorizer, user: &UserInfo, verb: &str, signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    for name in [signer, &format!("{domain}/*")] {
        let attributes = Attributes { name, ..Attributes::resource(user, verb, "certificates.k8s.io", "*", "signers") };
        if authorizer.decide(&attributes).await.is_allowed() {
            return true;
        }
    }
    false
}
