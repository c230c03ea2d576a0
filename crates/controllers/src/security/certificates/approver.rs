//! Approves what a kubelet asks for itself: a client certificate in the name of its node,
//! if the requester is authorized to have one.

use super::request::Asked;
use super::{KUBELET_CLIENT, RequestController, certificate, has_condition, push_condition};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Key};
use async_trait::async_trait;
use ferry_api::view::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use ferry_api::view::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestView};
use ferry_client::SharedObject;

pub(crate) struct ApprovingController;

/// A right, and the sentence of an approval that is given because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Right {
    subresource: &'static str,
    message: &'static str,
}

const SELF_NODE_CLIENT: Right = Right {
    subresource: "selfnodeclient",
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
};
const NODE_CLIENT: Right = Right {
    subresource: "nodeclient",
    message: "Auto approving kubelet client certificate after SubjectAccessReview.",
};

#[async_trait]
impl RequestController for ApprovingController {
    const NAME: &'static str = "certificatesigningrequest-approving-controller";
    const WORKERS: usize = 5;

    async fn reconcile_request(
        &self,
        ctx: &Context,
        key: &Key,
        request: &SharedObject<CertificateSigningRequest>,
    ) -> Result<Action> {
        let rights =
            plan_rights(request.view()).map_err(|why| Error::Retry(format!("unable to parse csr {key}: {why}")))?;
        for right in &rights {
            let review = review(request.view(), right);
            let answer = ctx.client.api("").create(&review).await.during("ask whether to approve", key)?;
            if !answer.view().status().allowed() {
                continue;
            }
            let mut approved = request.to_owned();
            push_condition(&mut approved, "Approved", "AutoApproved", right.message);
            match ctx.client.api("").replace_subresource(&approved, "approval").await {
                Err(error) if error.is_not_found() => {}
                other => drop(other.during("approve", key)?),
            }
            return Ok(Action::Done);
        }
        match rights.as_slice() {
            [] => Ok(Action::Done),
            // The right may still be given, and nothing would wake us then.
            tried => {
                let tried: Vec<&str> = tried.iter().map(|right| right.subresource).collect();
                Err(Error::Retry(format!(
                    "recognized csr \"{key}\" as [{}] but subject access review was not approved",
                    tried.join(" ")
                )))
            }
        }
    }
}

/// The rights of which one is enough to approve the request; none where it is not of the
/// kind that is approved here, or somebody has decided.
fn plan_rights(request: CertificateSigningRequestView<'_>) -> std::result::Result<Vec<Right>, String> {
    let spec = request.spec();
    let is_decided = has_condition(request, "Approved") || has_condition(request, "Denied");
    if is_decided || certificate(request).is_some() || spec.signer_name() != KUBELET_CLIENT {
        return Ok(Vec::new());
    }
    let asked = Asked::parse(&spec.request().decode())?;
    if asked.check_kubelet_client(&spec.usages().to_vec()).is_err() {
        return Ok(Vec::new());
    }
    let is_self = spec.username() == asked.common_name;
    Ok(if is_self { vec![SELF_NODE_CLIENT, NODE_CLIENT] } else { vec![NODE_CLIENT] })
}

fn review(request: CertificateSigningRequestView<'_>, right: &Right) -> SubjectAccessReview {
    let requester = request.spec();
    let attributes = ResourceAttributes::new()
        .with_group("certificates.k8s.io")
        .with_version("*")
        .with_resource("certificatesigningrequests")
        .with_subresource(right.subresource)
        .with_verb("create");
    let spec = SubjectAccessReviewSpec::new()
        .with_user(requester.username())
        .with_uid(requester.uid())
        .with_groups(requester.groups())
        .with_extra(requester.extra().iter().map(|(key, values)| (key, values.node())))
        .with_resource_attributes(attributes);
    SubjectAccessReview::new().with_spec(spec)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{pem, request};
    use super::*;
    use ferry_api::view::Owned;

    #[test]
    fn a_kubelet_may_ask_for_itself_and_others_only_with_a_right() {
        let usages = &["digital signature", "client auth"];
        let own = request(KUBELET_CLIENT, usages, pem("system:node:a", "system:nodes", &[]));
        assert_eq!(plan_rights(own.view()), Ok(vec![SELF_NODE_CLIENT, NODE_CLIENT]));
        let other = request(KUBELET_CLIENT, usages, pem("system:node:b", "system:nodes", &[]));
        assert_eq!(plan_rights(other.view()), Ok(vec![NODE_CLIENT]));
        let none = Ok(Vec::new());
        let serving = request(super::super::KUBELET_SERVING, usages, pem("system:node:a", "system:nodes", &[]));
        assert_eq!(plan_rights(serving.view()), none);
        let admin = request(KUBELET_CLIENT, usages, pem("system:node:a", "system:masters", &[]));
        assert_eq!(plan_rights(admin.view()), none);
        for decided in ["Approved", "Denied"] {
            let mut decided_one = own.clone();
            push_condition(&mut decided_one, decided, "", "");
            assert_eq!(plan_rights(decided_one.view()), none);
        }
        assert!(plan_rights(request(KUBELET_CLIENT, usages, b"torn".to_vec()).view()).is_err());
    }
}
