//! Approves what a kubelet asks for itself: a client certificate in the name of its node,
//! if authorization says that whoever asked may have one.

use super::request::Asked;
use super::{IDENTITY, KUBELET_CLIENT, certificate, has_condition, push_condition};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_client::{Informers, ResourcePath};
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;

pub struct ApprovingController;

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
impl Controller for ApprovingController {
    fn name(&self) -> &'static str {
        "certificatesigningrequest-approving-controller"
    }

    fn identity(&self) -> &'static str {
        IDENTITY
    }

    fn workers(&self) -> usize {
        5
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(informers.of::<CertificateSigningRequest>())]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(request) = ctx.informers.of::<CertificateSigningRequest>().get("", &key.name) else {
            return Ok(Action::Done);
        };
        let rights = plan_rights(&request).map_err(|why| Error::Retry(format!("unable to parse csr {key}: {why}")))?;
        for right in &rights {
            let review = review(&request, right);
            let answer = ctx.client.create("", &review).await.during("ask whether to approve", key)?;
            if !answer.status.is_some_and(|status| status.allowed) {
                continue;
            }
            let mut approved = (*request).clone();
            push_condition(&mut approved, "Approved", "AutoApproved", right.message);
            let path = ResourcePath::of::<CertificateSigningRequest>();
            let done: std::result::Result<CertificateSigningRequest, _> =
                ctx.client.replace_subresource(&path, "", &key.name, "approval", &approved).await;
            match done {
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
fn plan_rights(request: &CertificateSigningRequest) -> std::result::Result<Vec<Right>, String> {
    let is_decided = has_condition(request, "Approved") || has_condition(request, "Denied");
    if is_decided || certificate(request).is_some() || request.spec.signer_name != KUBELET_CLIENT {
        return Ok(Vec::new());
    }
    let asked = Asked::parse(&request.spec.request.0)?;
    if asked.check_kubelet_client(request.spec.usages.as_deref().unwrap_or_default()).is_err() {
        return Ok(Vec::new());
    }
    let is_self = request.spec.username.as_deref() == Some(asked.common_name.as_str());
    Ok(if is_self { vec![SELF_NODE_CLIENT, NODE_CLIENT] } else { vec![NODE_CLIENT] })
}

fn review(request: &CertificateSigningRequest, right: &Right) -> SubjectAccessReview {
    let spec = &request.spec;
    SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: spec.username.clone(),
            uid: spec.uid.clone(),
            groups: spec.groups.clone(),
            extra: spec.extra.clone(),
            resource_attributes: Some(ResourceAttributes {
                group: Some("certificates.k8s.io".to_owned()),
                version: Some("*".to_owned()),
                resource: Some("certificatesigningrequests".to_owned()),
                subresource: Some(right.subresource.to_owned()),
                verb: Some("create".to_owned()),
                ..Default::default()
            }),
            ..Default::default()
        },
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{pem, request};
    use super::*;

    #[test]
    fn a_kubelet_may_ask_for_itself_and_others_only_with_a_right() {
        let usages = &["digital signature", "client auth"];
        let own = request(KUBELET_CLIENT, usages, pem("system:node:a", "system:nodes", &[]));
        assert_eq!(plan_rights(&own), Ok(vec![SELF_NODE_CLIENT, NODE_CLIENT]));
        let other = request(KUBELET_CLIENT, usages, pem("system:node:b", "system:nodes", &[]));
        assert_eq!(plan_rights(&other), Ok(vec![NODE_CLIENT]));
        let none = Ok(Vec::new());
        let serving = request(super::super::KUBELET_SERVING, usages, pem("system:node:a", "system:nodes", &[]));
        assert_eq!(plan_rights(&serving), none);
        let admin = request(KUBELET_CLIENT, usages, pem("system:node:a", "system:masters", &[]));
        assert_eq!(plan_rights(&admin), none);
        for decided in ["Approved", "Denied"] {
            let mut decided_one = own.clone();
            push_condition(&mut decided_one, decided, "", "");
            assert_eq!(plan_rights(&decided_one), none);
        }
        assert!(plan_rights(&request(KUBELET_CLIENT, usages, b"torn".to_vec())).is_err());
    }
}
