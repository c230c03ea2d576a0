//! Who asks, driven as strangers would: tokens of every kind, issuers and webhooks on
//! loopback, and authorities that are replaced while the server runs.

use crate::loopback::{Loopback, eventually};
use crate::server::{PODS, Server, pod};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::token::TokenAuthority;
use ferry_apiserver::authn::{TokenWebhookConfig, legacy_token, openid};
use ferry_pki::{Authority, ClientSubject, ServiceAccountKey};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// An issuer's key; signing is the same for all JSON web tokens.
fn key() -> TokenAuthority {
    let pair = rcgen::KeyPair::generate().expect("a key");
    let key = ServiceAccountKey { private_pem: pair.serialize_pem(), public_pem: pair.public_key_pem() };
    TokenAuthority::new(&key, "", &[]).expect("an authority")
}

/// An issuer whose keys can be changed.
async fn issuer(keys: &Arc<Mutex<Arc<TokenAuthority>>>) -> Loopback {
    let url = Arc::new(Mutex::new(String::new()));
    let (keys, own) = (keys.clone(), url.clone());
    let server = Loopback::start(move |path, _| match path {
        "/.well-known/openid-configuration" => {
            let url = own.lock().clone();
            (200, json!({"issuer": url, "jwks_uri": format!("{url}/keys")}))
        }
        "/keys" => (200, openid::render_keys(&keys.lock())),
        _ => (404, json!({})),
    })
    .await;
    url.lock().clone_from(&server.url);
    server
}

fn configuration(issuer: &Loopback, rest: &str) -> String {
    let ca = serde_json::to_string(&issuer.ca_pem).expect("text");
    format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer: {{url: '{}', audiences: [ours, theirs], audienceMatchPolicy: MatchAny, certificateAuthority: {ca}}}\n  {rest}\n",
        issuer.url
    )
}

const RULES: &str = r#"claimMappings: {username: {expression: '"i:" + claims.sub'}, groups: {claim: roles, prefix: 'g:'}, uid: {claim: sub}, extra: [{key: example.org/team, valueExpression: 'claims.team'}]}
  claimValidationRules: [{claim: tenant, requiredValue: acme}, {expression: 'claims.team != "banned"', message: 'not them'}]
  userValidationRules: [{expression: '!user.username.endsWith("root")', message: 'no root'}]"#;

/// Claims that pass all of these rules.
fn claims(issuer: &Loopback) -> Value {
    let now = Timestamp::now().as_second();
    json!({"iss": issuer.url, "aud": "ours", "exp": now + 600, "sub": "ann", "roles": ["a", "b"], "team": "t",
        "tenant": "acme", "jti": "id-1"})
}

#[tokio::test]
async fn an_issuers_tokens_name_its_users() {
    let keys = Arc::new(Mutex::new(Arc::new(key())));
    let issuer = issuer(&keys).await;
    let text = configuration(&issuer, RULES);
    let temporary = TempDir::new().expect("a directory");
    let directory = temporary.path().to_owned();
    let server = Server::start_with(temporary, |config| {
        std::fs::write(directory.join("authn.yaml"), text).expect("written");
        config.authentication.options.config_file = Some(directory.join("authn.yaml"));
    })
    .await;
    let file = server.directory.path().join("authn.yaml");
    let sign = |changes: Value| {
        let mut claims = claims(&issuer);
        for (name, value) in changes.as_object().expect("changes") {
            claims[name] = value.clone();
        }
        keys.lock().sign_raw(&claims).expect("signed")
    };
    let good = sign(json!({}));
    eventually("the issuer is found", || async { server.whoami(&good).await.is_ok() }).await;
    assert_eq!(
        server.whoami(&good).await,
        Ok(json!({"username": "i:ann", "uid": "ann", "groups": ["g:a", "g:b", "system:authenticated"],
            "extra": {"example.org/team": ["t"], "authentication.kubernetes.io/credential-id": ["JTI=id-1"]}}))
    );
    let now = Timestamp::now().as_second();
    let refused = [
        (
            json!({"aud": "another"}),
            "oidc: verify token: oidc: expected audience in [\"ours\" \"theirs\"] got [\"another\"]",
        ),
        (json!({"exp": now - 60}), "oidc: verify token: oidc: token is expired"),
        (json!({"tenant": "other"}), "oidc: required claim tenant value does not match. Got = other, want = acme"),
        (json!({"team": "banned"}), "validation expression 'claims.team != \"banned\"' failed: not them"),
        (json!({"sub": "root"}), "validation expression '!user.username.endsWith(\"root\")' failed: no root"),
    ];
    for (changes, why) in refused {
        let token = sign(changes);
        assert_eq!(server.whoami(&token).await, Err(401), "{why}");
        let review = json!({"spec": {"token": token}});
        let review = server.post("/apis/authentication.k8s.io/v1/tokenreviews", &review).await.ok();
        let error = review["status"]["error"].as_str().unwrap_or_default();
        assert!(error.contains(why), "{error}");
    }
    assert!(server.whoami(&sign(json!({"aud": ["x", "theirs"]}))).await.is_ok(), "any of the audiences");
    let review = json!({"spec": {"token": good, "audiences": ["vault"]}});
    let review = server.post("/apis/authentication.k8s.io/v1/tokenreviews", &review).await.ok();
    assert_eq!(review["status"]["authenticated"], Value::Null, "meant for the API server only");

    // A key that nobody knows is refused, until the issuer publishes it.
    let fresh = Arc::new(key());
    let token = fresh.sign_raw(&claims(&issuer)).expect("signed");
    assert_eq!(server.whoami(&token).await, Err(401));
    *keys.lock() = fresh;
    assert!(server.whoami(&token).await.is_ok(), "the keys are fetched again");

    // What is not valid changes nothing; what is, does without a restart.
    std::fs::write(&file, configuration(&issuer, "claimMappings: {}")).expect("written");
    let broken = "automatic_reloads_total{status=\"failure\"} 1";
    eventually("the broken file is noticed", || async {
        String::from_utf8_lossy(&server.get("/metrics").await.bytes).contains(broken)
    })
    .await;
    assert_eq!(server.whoami(&token).await.expect("still known")["username"], "i:ann");
    let rest = "claimMappings: {username: {claim: sub, prefix: 'new:'}}";
    std::fs::write(
        &file,
        format!("{}anonymous: {{enabled: true, conditions: [{{path: /livez}}]}}\n", configuration(&issuer, rest)),
    )
    .expect("written");
    eventually("the new mapping holds", || async {
        server.whoami(&token).await.is_ok_and(|user| user["username"] == "new:ann")
    })
    .await;
    let stranger = |path: &'static str| server.ask_as(Peer::Plain { remote: None }, "GET", path, &[], &Value::Null);
    assert_eq!((stranger("/livez").await.code, stranger("/readyz").await.code), (200, 401));
}

#[tokio::test]
async fn a_bad_configuration_is_told_before_anything_starts() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("authn.yaml");
    std::fs::write(
        &file,
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt: [{issuer: {url: 'http://x'}}]\n",
    )
    .expect("written");
    let pki = crate::server::pki(directory.path());
    let store = ferry_store::sqlite::SqliteStore::open(&directory.path().join("store")).expect("a store");
    let mut config = ferry_apiserver::Config::from_pki(&pki, "cluster.local", Vec::new());
    config.authentication.options.config_file = Some(file.clone());
    let error = ferry_apiserver::ApiServer::start(Arc::new(store), config).await.err().expect("refused").to_string();
    assert_eq!(
        error,
        format!(
            "--authentication-config: {}: [jwt[0].issuer.url: Invalid value: \"http://x\": URL scheme must be https, jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required, jwt[0].claimMappings.username: Required value: claim or expression is required]",
            file.display()
        )
    );
}

#[tokio::test]
async fn tokens_from_files_and_secrets_are_known() {
    let temporary = TempDir::new().expect("a directory");
    let directory = temporary.path().to_owned();
    let server = Server::start_with(temporary, |config| {
        std::fs::write(directory.join("tokens.csv"), "static-token,ann,7,\"dev,ops\"\n").expect("written");
        config.authentication.options.token_file = Some(directory.join("tokens.csv"));
    })
    .await
    .with_default_account()
    .await;
    assert_eq!(
        server.whoami("static-token").await,
        Ok(json!({"username": "ann", "uid": "7", "groups": ["dev", "ops", "system:authenticated"]}))
    );
    assert_eq!(server.whoami("another").await, Err(401));

    let bootstrap = json!({"metadata": {"name": "bootstrap-token-abcdef"}, "type": "bootstrap.kubernetes.io/token",
        "stringData": {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:workers"}});
    let secrets = "/api/v1/namespaces/kube-system/secrets";
    server.post(secrets, &bootstrap).await.ok();
    let user = server.whoami("abcdef.0123456789abcdef").await.expect("known");
    assert_eq!(user["username"], "system:bootstrap:abcdef");
    server.delete(&format!("{secrets}/bootstrap-token-abcdef")).await.ok();
    assert_eq!(server.whoami("abcdef.0123456789abcdef").await, Err(401));

    // A token that lives in a Secret, as the controller would have put it there.
    let account = server.get("/api/v1/namespaces/default/serviceaccounts/default").await.ok();
    let authority = TokenAuthority::new(&server.pki.service_account, legacy_token::ISSUER, &[]).expect("an authority");
    let token = authority
        .sign_raw(&legacy_token::LegacyClaims {
            iss: legacy_token::ISSUER.into(),
            namespace: "default".into(),
            secret: "kept".into(),
            account: "default".into(),
            uid: account["metadata"]["uid"].as_str().expect("a uid").into(),
            sub: "system:serviceaccount:default:default".into(),
        })
        .expect("signed");
    assert_eq!(server.whoami(&token).await, Err(401), "its Secret is not there");
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "kept", "annotations": {"kubernetes.io/service-account.name": "default"}},
        "type": "kubernetes.io/service-account-token", "data": {"token": BASE64.encode(&token)}});
    server.post(secrets, &secret).await.ok();
    assert_eq!(server.whoami(&token).await.expect("known")["username"], "system:serviceaccount:default:default");
    eventually("its use is noted", || async {
        let secret = server.get(&format!("{secrets}/kept")).await.ok();
        secret["metadata"]["labels"][legacy_token::LAST_USED].is_string()
    })
    .await;
    let review = json!({"spec": {"token": token, "audiences": ["vault"]}});
    let review = server.post("/apis/authentication.k8s.io/v1/tokenreviews", &review).await.ok();
    assert_eq!(review["status"]["authenticated"], Value::Null);
    server.delete(&format!("{secrets}/kept")).await.ok();
    assert_eq!(server.whoami(&token).await, Err(401), "it goes with its Secret");
}

#[tokio::test]
async fn bound_tokens_go_with_what_they_are_bound_to() {
    let server = Server::start().await.with_default_account().await;
    let objects = [
        (PODS, "Pod", pod("p")),
        ("/api/v1/namespaces/default/secrets", "Secret", json!({"metadata": {"name": "p"}})),
        ("/api/v1/nodes", "Node", json!({"metadata": {"name": "p"}})),
    ];
    for (path, kind, object) in objects {
        server.post(path, &object).await.ok();
        let request = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": "p"}}});
        let issued = server.post("/api/v1/namespaces/default/serviceaccounts/default/token", &request).await.ok();
        let token = issued["status"]["token"].as_str().expect("a token").to_owned();
        let user = server.whoami(&token).await.expect("known");
        assert!(
            user["extra"]["authentication.kubernetes.io/credential-id"][0]
                .as_str()
                .is_some_and(|id| id.starts_with("JTI="))
        );
        if kind == "Node" {
            assert_eq!(user["extra"]["authentication.kubernetes.io/node-name"], json!(["p"]));
        }
        server.delete(&format!("{path}/p?gracePeriodSeconds=0")).await.ok();
        assert_eq!(server.whoami(&token).await, Err(401), "{kind}");
    }
}

#[tokio::test]
async fn a_webhook_is_asked_about_unknown_tokens_once() {
    let hook = Loopback::start(|_, review| {
        assert_eq!(review["kind"], "TokenReview");
        let status = match review["spec"]["token"].as_str() {
            Some("known") => json!({"authenticated": true, "user": {"username": "wilma", "groups": ["w"]}}),
            _ => json!({"authenticated": false}),
        };
        (200, json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status}))
    })
    .await;
    let kubeconfig = hook.kubeconfig();
    let temporary = TempDir::new().expect("a directory");
    let directory = temporary.path().to_owned();
    let server = Server::start_with(temporary, |config| {
        std::fs::write(directory.join("hook"), kubeconfig).expect("written");
        config.authentication.options.token_webhook = Some(TokenWebhookConfig {
            kubeconfig: directory.join("hook"),
            version: "v1".into(),
            cache_ttl: Duration::from_secs(120),
        });
    })
    .await;
    for _ in 0..3 {
        let user = server.whoami("known").await.expect("known");
        assert_eq!(user, json!({"username": "wilma", "groups": ["w", "system:authenticated"]}));
        assert_eq!(server.whoami("unknown").await, Err(401));
    }
    assert_eq!(hook.asked(), 2, "answers are kept");
}

fn replace(file: &Path, text: &str) {
    let part = file.with_extension("part");
    std::fs::write(&part, text).expect("written");
    std::fs::rename(&part, file).expect("renamed");
}

#[tokio::test]
async fn authorities_are_replaced_while_the_server_runs() {
    let temporary = TempDir::new().expect("a directory");
    let directory = temporary.path().to_owned();
    let server = Server::start_with(temporary, |config| {
        config.authentication.options.client_ca_file = Some(directory.join("pki/ca.crt"));
        config.authentication.options.front_proxy_ca_file = Some(directory.join("pki/front-proxy-ca.crt"));
    })
    .await;
    let now = Timestamp::now();
    let (ca, proxy_ca) = (
        Authority::generate("next", now).expect("an authority"),
        Authority::generate("next", now).expect("an authority"),
    );
    let peer = |authority: &Authority, name: &str| {
        let identity = authority.issue_client(&ClientSubject::new(name, None), now).expect("issued");
        let chain = ferry_pki::certificate::parse_chain("x", &identity.certificate_pem).expect("a chain");
        Peer::Tls { certificates: Arc::new(chain.iter().map(|der| der.to_vec()).collect()), remote: None }
    };
    let (old, new, proxy) = (peer(&server.pki.ca, "ann"), peer(&ca, "ann"), peer(&proxy_ca, "front-proxy-client"));
    let code = |peer: &Peer, headers: &'static [(&'static str, &'static str)]| {
        let peer = peer.clone();
        let server = &server;
        async move { server.ask_as(peer, "GET", PODS, headers, &Value::Null).await.code }
    };
    // Who is known may nothing, and is told so.
    assert_eq!((code(&old, &[]).await, code(&new, &[]).await), (403, 401));
    replace(&server.directory.path().join("pki/ca.crt"), ca.certificate_pem());
    eventually("the new authority is trusted", || async { code(&new, &[]).await == 403 }).await;
    assert_eq!(code(&old, &[]).await, 401, "and the old one no longer");

    let headers = &[("x-remote-user", "bob")];
    assert_eq!(code(&proxy, headers).await, 401);
    replace(&server.directory.path().join("pki/front-proxy-ca.crt"), proxy_ca.certificate_pem());
    eventually("the new proxy is trusted", || async { code(&proxy, headers).await == 403 }).await;

    // Aggregated API servers are told of both, and still of those that were.
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    let bundle = |before: &Authority, after: &Authority| {
        let mut both = before.certificate_pem().trim_end().to_owned();
        both.push('\n');
        both + after.certificate_pem().trim_end()
    };
    let expected = (bundle(&server.pki.ca, &ca), bundle(&server.pki.front_proxy_ca, &proxy_ca));
    eventually("both are published", || async {
        let map = server.get(path).await.ok();
        let text = |key: &str| map["data"][key].as_str().unwrap_or_default().trim_end().to_owned();
        (text("client-ca-file"), text("requestheader-client-ca-file")) == expected
    })
    .await;
}
