//! Authentication as a whole: forged, expired and misdirected credentials.

use super::testing::{Objects, authenticator, config, now, ready};
use super::token::{Claims, Kubernetes, Reference};
use super::{Authenticator, UserInfo};
use crate::transport::Peer;
use base64::Engine as _;
use ferry_api::object::Meta;
use ferry_pki::{Authority, ClientSubject, Identity};
use http::HeaderMap;
use jiff::SignedDuration;
use serde_json::{Value, json};
use std::sync::Arc;

fn objects() -> Arc<Objects> {
    Objects::of(&[
        json!({"kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "ns", "uid": "u-sa"}}),
        json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "u-pod"},
               "spec": {"serviceAccountName": "web"}}),
    ])
}

fn pod_token(authenticator: &Authenticator) -> String {
    let request = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "p"}}});
    let answer = authenticator.issue_token("ns", "web", request, now()).expect("issued");
    answer.str_at(&["status", "token"]).to_owned()
}

fn bearer(token: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {token}").parse().expect("a value"));
    headers
}

fn tls(identities: &[&Identity]) -> Peer {
    let chain = identities
        .iter()
        .flat_map(|identity| ferry_pki::certificate::parse_chain("x", &identity.certificate_pem).expect("a chain"))
        .map(|der| der.to_vec())
        .collect();
    Peer::Tls { certificates: Arc::new(chain), remote: None }
}

#[test]
fn a_good_token_names_account_pod_and_credential() {
    let authenticator = authenticator(objects());
    let token = pod_token(&authenticator);
    let user = ready(authenticator.authenticate_at(&bearer(&token), &tls(&[]), "/api", now())).expect("known");
    assert_eq!(user.name, "system:serviceaccount:ns:web");
    assert_eq!(user.uid, "u-sa");
    assert_eq!(user.groups, ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"]);
    assert_eq!(user.extra["authentication.kubernetes.io/pod-name"], ["p"]);
    assert!(user.extra["authentication.kubernetes.io/credential-id"][0].starts_with("JTI="));

    let mut socket = HeaderMap::new();
    let encoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&token);
    let protocols = format!("v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.{encoded}");
    socket.insert("sec-websocket-protocol", protocols.parse().expect("a value"));
    assert_eq!(ready(authenticator.authenticate_at(&socket, &tls(&[]), "/api", now())).expect("known").name, user.name);
}

#[test]
fn bad_tokens_say_why_and_get_401() {
    let objects = objects();
    let authenticator = authenticator(objects.clone());
    let other = super::testing::authenticator(objects.clone());
    let token = pod_token(&authenticator);
    let check = |token: &str, at: jiff::Timestamp, why: &str| {
        assert_eq!(
            ready(authenticator.verify_token_at(token, &[], at)).map(|v| v.user.name.clone()),
            Err(why.to_owned())
        );
        let status = ready(authenticator.authenticate_at(&bearer(token), &tls(&[]), "/healthz", at)).expect_err(why);
        assert_eq!((status.code, status.message.as_str()), (401, "Unauthorized"));
    };
    check("nonsense", now(), "invalid bearer token");
    check("a.b.c", now(), "invalid bearer token");
    check(&pod_token(&other), now(), "invalid signature, no keys found");

    // The same header and claims with one changed, signed by nobody.
    let mut parts: Vec<&str> = token.split('.').collect();
    let mut claims: Value =
        serde_json::from_slice(&base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(parts[1]).expect("base64"))
            .expect("claims");
    claims["sub"] = "system:serviceaccount:kube-system:root".into();
    let forged = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(claims.to_string());
    parts[1] = &forged;
    check(&parts.join("."), now(), "go-jose/go-jose: error in cryptographic primitive");
    // `alg: none` with no signature.
    let none = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
    check(&format!("{none}.{forged}."), now(), "invalid bearer token");

    let hour = SignedDuration::from_hours(1);
    check(&token, now() + 2 * hour, "service account token has expired");
    check(&token, now() - hour, "service account token is not valid yet");
    assert!(ready(authenticator.verify_token_at(&token, &[], now())).is_ok(), "remembered");
    check(&token, now() + 2 * hour, "service account token has expired");

    let vault = ["vault".to_owned()];
    assert_eq!(
        ready(authenticator.verify_token_at(&token, &vault, now())).map(|v| v.audiences),
        Err("token audiences [\"https://kubernetes.default.svc.cluster.local\"] is invalid for the target audiences [\"vault\"]".into())
    );

    // The pod is replaced by another of the same name, then goes, then the account goes.
    objects.put(json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "u-new"}}));
    check(&token, now(), "pod UID (u-new) does not match service account pod ref claim (u-pod)");
    objects.delete("pods", "ns", "p");
    check(&token, now(), "service account token has been invalidated");
    objects.put(json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "u-pod"}}));
    assert!(ready(authenticator.verify_token_at(&token, &[], now())).is_ok());
    let deleting = |at: &str| json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "u-pod", "deletionTimestamp": at}});
    objects.put(deleting("2027-01-15T08:00:00Z"));
    assert!(ready(authenticator.verify_token_at(&token, &[], now())).is_ok(), "still within its grace period");
    check(&token, now() + SignedDuration::from_secs(120), "service account token has been invalidated");
    objects.put(json!({"kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "u-pod"}}));
    objects.delete("serviceaccounts", "ns", "web");
    check(&token, now(), "serviceaccounts \"web\" not found");
    objects.put(json!({"kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "ns", "uid": "u-2"}}));
    check(&token, now(), "service account UID (u-2) does not match claim (u-sa)");
}

#[test]
fn a_node_bound_token_dies_with_its_node() {
    let objects = objects();
    let authenticator = authenticator(objects.clone());
    let claims = Claims {
        aud: vec!["https://kubernetes.default.svc.cluster.local".into()],
        exp: now().as_second() + 600,
        kubernetes: Kubernetes {
            namespace: "ns".into(),
            serviceaccount: Reference { name: "web".into(), uid: "u-sa".into() },
            node: Some(Reference { name: "n".into(), uid: "u-n".into() }),
            ..Kubernetes::default()
        },
        ..Claims::default()
    };
    let token = authenticator.tokens().sign(claims).expect("signed");
    assert!(ready(authenticator.verify_token_at(&token, &[], now())).is_err());
    objects.put(json!({"kind": "Node", "metadata": {"name": "n", "uid": "u-n"}}));
    assert!(ready(authenticator.verify_token_at(&token, &[], now())).is_ok());
}

#[test]
fn reviews_tell_the_outcome_without_failing() {
    let authenticator = authenticator(objects());
    let token = pod_token(&authenticator);
    let review = |spec: Value| ready(authenticator.review_token_at(json!({"spec": spec}), now()));
    let good = review(json!({"token": token})).expect("answered");
    assert_eq!(good.bool_at(&["status", "authenticated"]), Some(true));
    assert_eq!(good.str_at(&["status", "user", "username"]), "system:serviceaccount:ns:web");
    let bad = review(json!({"token": token, "audiences": ["vault"]})).expect("answered");
    assert_eq!(bad.bool_at(&["status", "authenticated"]), None);
    assert!(bad.str_at(&["status", "error"]).contains("invalid for the target audiences"));
    assert_eq!(review(json!({})).expect_err("no token").code, 400);
}

#[test]
fn certificates_front_proxies_and_strangers() {
    let ca = Authority::generate("ca", now()).expect("an authority");
    let proxy_ca = Authority::generate("front-proxy-ca", now()).expect("an authority");
    let mut config = config(&ca);
    config.front_proxy_ca_pem = Some(proxy_ca.certificate_pem().to_owned());
    let authenticator = Authenticator::new(config, objects()).expect("set up").0;
    let issue = |authority: &Authority, user: &str| {
        authority.issue_client(&ClientSubject::new(user, Some("system:masters")), now()).expect("issued")
    };
    let none = HeaderMap::new();
    let who = |headers: &HeaderMap, peer: &Peer, path: &str| {
        ready(authenticator.authenticate_at(headers, peer, path, now()))
            .map(|user| user.name.clone())
            .map_err(|s| s.code)
    };
    assert_eq!(who(&none, &tls(&[&issue(&ca, "alice")]), "/api"), Ok("alice".into()));
    let stranger = Authority::generate("ca", now()).expect("an authority");
    assert_eq!(who(&none, &tls(&[&issue(&stranger, "alice")]), "/api"), Err(401));
    assert_eq!(who(&none, &tls(&[&issue(&stranger, "alice")]), "/livez"), Err(401));
    for path in ["/livez", "/readyz", "/healthz", "/version"] {
        assert_eq!(who(&none, &tls(&[]), path), Ok("system:anonymous".into()), "{path}");
        assert_eq!(who(&none, &Peer::Plain { remote: None }, path), Ok("system:anonymous".into()), "{path}");
    }
    for path in ["/", "/api", "/livez/etcd", "/metrics", "/openapi/v3"] {
        assert_eq!(who(&none, &tls(&[]), path), Err(401), "{path}");
    }

    let mut remote = HeaderMap::new();
    remote.insert("x-remote-user", "bob".parse().expect("a value"));
    remote.insert("x-remote-group", "system:masters".parse().expect("a value"));
    assert_eq!(who(&remote, &tls(&[&issue(&proxy_ca, "front-proxy-client")]), "/api"), Ok("bob".into()));
    assert_eq!(who(&remote, &tls(&[&issue(&proxy_ca, "another")]), "/api"), Err(401), "a name not allowed");
    assert_eq!(who(&remote, &tls(&[&issue(&ca, "alice")]), "/api"), Ok("alice".into()), "headers of a mere client");
    assert_eq!(who(&remote, &tls(&[]), "/api"), Err(401));

    let inside = Peer::InProcess(Arc::new(UserInfo::authenticated("system:kube-scheduler", &[])));
    assert_eq!(who(&none, &inside, "/api"), Ok("system:kube-scheduler".into()));
}
