//! `serviceaccounts/token`: what may be asked of it, and the token that answers.
//! Called by the subresource's handler with the decoded TokenRequest.

use super::Authenticator;
use super::token::{Claims, Kubernetes, Reference};
use super::user::service_account_user;
use ferry_api::field::{Error, Path};
use ferry_api::gvk::{GroupResource, GroupVersion, GroupVersionKind};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use jiff::Timestamp;
use serde_json::{Value, json};

const DEFAULT_SECONDS: i64 = 60 * 60;
const MINIMUM_SECONDS: i64 = 10 * 60;
const MAXIMUM_SECONDS: i64 = 1 << 32;
/// The lifetime that the service account admission asks for in projected volumes. A pod
/// that asks for exactly this may be old code that never re-reads its token, so its token
/// lives a year and only warns after the hour.
pub const PROJECTED_SECONDS: i64 = 60 * 60 + 7;
const EXTENDED_SECONDS: i64 = 365 * 24 * 60 * 60;

impl Authenticator {
    /// The TokenRequest filled in, with `status.token` and `status.expirationTimestamp`.
    /// Admission has seen the request before.
    pub fn issue_token(&self, namespace: &str, account: &str, request: Value, now: Timestamp) -> Result<Value, Status> {
        let mut request = request;
        let kind = GroupVersionKind::new("authentication.k8s.io", "v1", "TokenRequest");
        let invalid = |name: &str, error: Error| Err(Status::invalid(&kind, name, vec![error]));
        let metadata = Path::new("metadata");
        for (field, expected) in [("name", account), ("namespace", namespace)] {
            let given = request.meta_str(field);
            if !given.is_empty() && given != expected {
                let detail = format!("must match the service account {field} if specified");
                return invalid(account, Error::invalid(&metadata.child(field), given, detail));
            }
        }
        let accounts = GroupResource::new("", "serviceaccounts");
        let stored = self
            .lookup()
            .get("", "serviceaccounts", namespace, account)
            .ok_or_else(|| Status::not_found(&accounts, account))?;
        let service_account = stored.value();
        let uid = service_account.uid();
        let claimed = request.uid();
        if !claimed.is_empty() && claimed != uid {
            let why = format!(
                "the UID in the token request ({claimed}) does not match the UID of the service account ({uid})"
            );
            return Err(Status::conflict(&GroupResource::new("authentication.k8s.io", "TokenRequest"), account, &why));
        }
        let seconds = request.i64_at(&["spec", "expirationSeconds"]).unwrap_or(DEFAULT_SECONDS);
        let path = Path::new("spec").child("expirationSeconds");
        if seconds < MINIMUM_SECONDS {
            return invalid("", Error::invalid(&path, seconds, "may not specify a duration less than 10 minutes"));
        }
        if seconds > MAXIMUM_SECONDS {
            return invalid("", Error::invalid(&path, seconds, "may not specify a duration larger than 2^32 seconds"));
        }
        let mut audiences: Vec<String> =
            request.items_at(&["spec", "audiences"]).iter().filter_map(Value::as_str).map(str::to_owned).collect();
        if audiences.is_empty() {
            audiences = self.tokens().audiences().to_vec();
        }

        let mut kubernetes = Kubernetes {
            namespace: namespace.to_owned(),
            serviceaccount: Reference { name: account.to_owned(), uid: uid.to_owned() },
            ..Kubernetes::default()
        };
        if let Some(reference) = request.at(&["spec", "boundObjectRef"]).filter(|value| value.is_object()) {
            self.bind(&mut kubernetes, account, reference)?;
        }
        let (mut lifetime, mut warn_after) = (seconds, None);
        let for_us = audiences.iter().all(|audience| self.tokens().audiences().contains(audience));
        if kubernetes.pod.is_some() && seconds == PROJECTED_SECONDS && for_us {
            warn_after = Some(now.as_second() + seconds);
            lifetime = EXTENDED_SECONDS;
        }
        kubernetes.warnafter = warn_after;
        let claims = Claims {
            aud: audiences.clone(),
            exp: now.as_second() + lifetime,
            iat: now.as_second(),
            nbf: now.as_second(),
            jti: uuid::Uuid::new_v4().to_string(),
            sub: service_account_user(namespace, account),
            kubernetes,
            iss: String::new(),
        };
        let token =
            self.tokens().sign(claims).map_err(|why| Status::internal(format!("failed to generate token: {why}")))?;
        let expires = Timestamp::from_second(now.as_second() + seconds).unwrap_or(Timestamp::MAX);
        let created = Timestamp::from_second(now.as_second()).unwrap_or(now);

        request.set_gvk(&kind);
        request.set_meta("name", account);
        request.set_meta("namespace", namespace);
        request.set_meta("uid", uid);
        request.set_meta("creationTimestamp", created.to_string());
        let object = ensure_object(&mut request);
        let spec = ensure_object(object.entry("spec").or_insert(Value::Null));
        spec.insert("audiences".into(), json!(audiences));
        spec.insert("expirationSeconds".into(), seconds.into());
        if !spec.contains_key("boundObjectRef") {
            spec.insert("boundObjectRef".into(), Value::Null);
        }
        object.insert("status".into(), json!({"token": token, "expirationTimestamp": expires.to_string()}));
        Ok(request)
    }

    /// Puts the object that the token shall die with into the claims.
    fn bind(&self, kubernetes: &mut Kubernetes, account: &str, reference: &Value) -> Result<(), Status> {
        let text = |key: &str| reference.get(key).and_then(Value::as_str).unwrap_or_default();
        let (kind, name) = (text("kind"), text("name"));
        let version = GroupVersion::parse(text("apiVersion"));
        let namespace = kubernetes.namespace.clone();
        let find = |plural: &'static str, namespace: &str| {
            self.lookup()
                .get("", plural, namespace, name)
                .map(|stored| stored.value())
                .ok_or_else(|| Status::not_found(&GroupResource::new("", plural), name))
        };
        let refer = |object: &Value| Some(Reference { name: name.to_owned(), uid: object.uid().to_owned() });
        let uid = match (version.group.as_ref(), kind) {
            ("", "Pod") => {
                let pod = find("pods", &namespace)?;
                if pod.str_at(&["spec", "serviceAccountName"]) != account {
                    return Err(Status::bad_request(format!(
                        "cannot bind token for serviceaccount {account:?} to pod running with different serviceaccount name."
                    )));
                }
                kubernetes.pod = refer(&pod);
                let node_name = pod.str_at(&["spec", "nodeName"]);
                if !node_name.is_empty() {
                    let node = self.lookup().get("", "nodes", "", node_name).map(|stored| stored.value());
                    let uid = node.map(|node| node.uid().to_owned()).unwrap_or_default();
                    kubernetes.node = Some(Reference { name: node_name.to_owned(), uid });
                }
                pod.uid().to_owned()
            }
            ("", "Node") => {
                let node = find("nodes", "")?;
                kubernetes.node = refer(&node);
                node.uid().to_owned()
            }
            ("", "Secret") => {
                let secret = find("secrets", &namespace)?;
                kubernetes.secret = refer(&secret);
                secret.uid().to_owned()
            }
            _ => {
                let kind = version.with_kind(kind.to_owned());
                return Err(Status::bad_request(format!("cannot bind token to object of type {kind}")));
            }
        };
        let claimed = text("uid");
        if !claimed.is_empty() && claimed != uid {
            let why = format!(
                "the UID in the bound object reference ({claimed}) does not match the UID in record. The object might have been deleted and then recreated"
            );
            return Err(Status::conflict(&GroupResource::new(version.group, kind.to_owned()), name, &why));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::{Objects, authenticator, now};
    use crate::authn::token::Claims;

    fn objects() -> std::sync::Arc<Objects> {
        Objects::of(&[
            json!({"kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "ns", "uid": "u-sa"}}),
            json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "u-pod"},
                   "spec": {"serviceAccountName": "web", "nodeName": "n1"}}),
            json!({"kind": "Pod", "metadata": {"name": "other", "namespace": "ns", "uid": "u-o"},
                   "spec": {"serviceAccountName": "default"}}),
            json!({"kind": "Node", "metadata": {"name": "n1", "uid": "u-node"}}),
            json!({"kind": "Secret", "metadata": {"name": "s", "namespace": "ns", "uid": "u-sec"}}),
        ])
    }

    fn claims_of(answer: &Value) -> Claims {
        jsonwebtoken::dangerous::insecure_decode_claims(answer.str_at(&["status", "token"])).expect("a token")
    }

    #[test]
    fn a_pods_token_carries_pod_node_and_warning() {
        let authenticator = authenticator(objects());
        let request = json!({"spec": {"expirationSeconds": 3607, "boundObjectRef":
            {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-pod"}}});
        let answer = authenticator.issue_token("ns", "web", request, now()).expect("issued");
        let claims = claims_of(&answer);
        assert_eq!(claims.sub, "system:serviceaccount:ns:web");
        assert_eq!(claims.aud, ["https://kubernetes.default.svc.cluster.local"]);
        assert_eq!(claims.exp - claims.iat, EXTENDED_SECONDS);
        let kubernetes = claims.kubernetes;
        assert_eq!(kubernetes.warnafter, Some(claims.iat + 3607));
        assert_eq!(kubernetes.pod, Some(Reference { name: "p".into(), uid: "u-pod".into() }));
        assert_eq!(kubernetes.node, Some(Reference { name: "n1".into(), uid: "u-node".into() }));
        assert_eq!(answer.str_at(&["status", "expirationTimestamp"]), "2027-01-15T09:00:07Z");
        assert_eq!(answer.i64_at(&["spec", "expirationSeconds"]), Some(3607));
        assert_eq!((answer.name(), answer.uid()), ("web", "u-sa"));
    }

    #[test]
    fn what_may_not_be_asked_is_answered_with_upstreams_texts() {
        let authenticator = authenticator(objects());
        let bound = |kind: &str, name: &str, uid: &str| json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}}});
        let cases = [
            (
                json!({"spec": {"expirationSeconds": 599}}),
                422,
                "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes",
            ),
            (
                json!({"spec": {"expirationSeconds": 4294967297_i64}}),
                422,
                "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
            ),
            (
                json!({"metadata": {"name": "x"}}),
                422,
                "TokenRequest.authentication.k8s.io \"web\" is invalid: metadata.name: Invalid value: \"x\": must match the service account name if specified",
            ),
            (bound("Pod", "absent", ""), 404, "pods \"absent\" not found"),
            (
                bound("Pod", "other", ""),
                400,
                "cannot bind token for serviceaccount \"web\" to pod running with different serviceaccount name.",
            ),
            (bound("ConfigMap", "x", ""), 400, "cannot bind token to object of type v1, Kind=ConfigMap"),
            (
                bound("Secret", "s", "old"),
                409,
                "Operation cannot be fulfilled on Secret \"s\": the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated",
            ),
        ];
        for (request, code, message) in cases {
            let status = authenticator.issue_token("ns", "web", request, now()).expect_err(message);
            assert_eq!((status.code, status.message.as_str()), (code, message));
        }
        let absent = authenticator.issue_token("ns", "nobody", json!({}), now()).expect_err("absent");
        assert_eq!(absent.message, "serviceaccounts \"nobody\" not found");
    }

    #[test]
    fn other_bindings_and_audiences_live_as_long_as_asked() {
        let authenticator = authenticator(objects());
        let request = json!({"spec": {"audiences": ["vault"], "expirationSeconds": 3607, "boundObjectRef":
            {"apiVersion": "v1", "kind": "Pod", "name": "p"}}});
        let claims = claims_of(&authenticator.issue_token("ns", "web", request, now()).expect("issued"));
        assert_eq!((claims.exp - claims.iat, claims.kubernetes.warnafter), (3607, None));
        for kind in ["Node", "Secret"] {
            let name = if kind == "Node" { "n1" } else { "s" };
            let request = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": name}}});
            let claims = claims_of(&authenticator.issue_token("ns", "web", request, now()).expect("issued"));
            assert_eq!(claims.exp - claims.iat, 3600);
            assert_eq!(claims.kubernetes.node.is_some(), kind == "Node");
            assert_eq!(claims.kubernetes.secret.is_some(), kind == "Secret");
        }
    }
}
