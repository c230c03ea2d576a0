//! A URL reaches what it names and nothing beside it. Keys of the store have prefixes for
//! group, kind and namespace; names that climb out of theirs (CVE-2022-3162), and URLs that
//! name a namespace where the kind has none (CVE-2019-11247), would reach what the client
//! was never authorized for.

use super::Verdict;
use crate::custom_resources::{definition, version};
use crate::server::Server;
use base64::Engine as _;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const GROUP: &str = "/apis/example.com/v1";
const SECRET: &str = "not for those who ask for things";

/// What is there: kind, namespace, name. The secret is in all but the first, whose names
/// are such that a prefix cut short or a path resolved leads from the first to the others.
const OBJECTS: [(&str, &str, &str); 5] = [
    ("things", "open", "mine"),
    ("things", "open2", "s"),
    ("things", "closed", "s"),
    ("thingsecrets", "closed", "s"),
    ("secretthings", "closed", "s"),
];

/// URLs for things in the namespace `open`, and what they try to reach besides.
fn urls() -> Vec<String> {
    let things = format!("{GROUP}/namespaces/open/things");
    let token = |start: &str| {
        let token = json!({"v": "meta.k8s.io/v1", "rv": -1, "start": start});
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(token.to_string())
    };
    let mut urls = vec![things.clone(), format!("{things}?limit=500")];
    for climb in ["../closed/s", "../../thingsecrets/closed/s", "../../../example.com/secretthings/closed/s"] {
        let encoded = climb.replace('/', "%2f");
        urls.push(format!("{things}/{encoded}"));
        urls.push(format!("{things}/{}", climb.replace('.', "%2E").replace('/', "%2F")));
        urls.push(format!("{things}?fieldSelector=metadata.name%3D{encoded}"));
    }
    for climb in ["..%2fthings%2fclosed", "..%2Fthingsecrets%2Fclosed", "%2e%2e%2fsecretthings%2fclosed"] {
        urls.push(format!("{GROUP}/namespaces/{climb}/things/s"));
        urls.push(format!("{GROUP}/namespaces/{climb}/things"));
        urls.push(format!("{GROUP}/namespaces/{climb}/things?watch=1&timeoutSeconds=1"));
    }
    for start in ["../closed/", "../../secretthings/", "../../secretthings/closed/r\0"] {
        urls.push(format!("{things}?limit=500&continue={}", token(start)));
    }
    urls
}

/// Asks for all of these, which name nothing secret, and looks for the secret.
async fn attack(urls: &[String], ask: impl AsyncFn(&str) -> String, verdict: &mut Verdict) {
    for url in urls {
        verdict.tried(url, ask(url).await.contains(SECRET));
    }
}

/// A server with those objects, and one that belongs to no namespace.
async fn with_objects() -> Server {
    let server = Server::start().await;
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    for (plural, kind, scope) in [
        ("things", "Thing", "Namespaced"),
        ("thingsecrets", "ThingSecret", "Namespaced"),
        ("secretthings", "SecretThing", "Namespaced"),
        ("worlds", "World", "Cluster"),
    ] {
        server.define(&definition(plural, kind, scope, vec![version("v1", true, schema.clone())])).await;
        server.until(&format!("{GROUP}/{plural}"), 200).await;
        let object = |name: &str, text: &str| json!({"apiVersion": "example.com/v1", "kind": kind, "metadata": {"name": name}, "text": text});
        if scope == "Cluster" {
            server.post(&format!("{GROUP}/{plural}"), &object("w", SECRET)).await.ok();
        }
        for (_, namespace, name) in OBJECTS.iter().filter(|(of, ..)| *of == plural) {
            // It may be there from the kind before.
            server.post("/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await;
            let text = if *namespace == "open" { "fine" } else { SECRET };
            server.post(&format!("{GROUP}/namespaces/{namespace}/{plural}"), &object(name, text)).await.ok();
        }
    }
    server
}

#[tokio::test]
async fn ferry_reaches_what_a_url_names() {
    let server = with_objects().await;
    let mut verdict = Verdict::default();
    // As somebody who may see everything, so that nothing but the URL is in the way.
    let ask = async |url: &str| String::from_utf8_lossy(&server.get(url).await.bytes).into_owned();
    attack(&urls(), ask, &mut verdict).await;
    verdict.assert_held();
    let things = format!("{GROUP}/namespaces/open/things");
    let refused = server.get(&format!("{things}/a%2fb")).await;
    assert_eq!((refused.code, refused.message()), (400, "Name parameter invalid: \"a/b\": may not contain '/'".into()));
    assert_eq!(server.get(&format!("{GROUP}/namespaces/x%2fy/things/a")).await.code, 400);
    assert_eq!(server.get(&format!("{things}/%FF%FE")).await.code, 404);
    assert!(ask(&things).await.contains("fine"), "what is named is there");
}

/// URLs that put what is in no namespace into one.
const OUT_OF_SCOPE: [&str; 3] = [
    "/apis/example.com/v1/namespaces/open/worlds/w",
    "/apis/example.com/v1/namespaces/open/worlds",
    "/apis/example.com/v1/namespaces/open/worlds?fieldSelector=metadata.name%3Dw",
];

#[tokio::test]
async fn ferry_has_no_namespaced_url_for_what_is_cluster_scoped() {
    let server = with_objects().await;
    // Who may everything in one namespace may nothing outside.
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/open";
    let rules = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    server.post(&format!("{rbac}/roles"), &json!({"metadata": {"name": "all"}, "rules": rules})).await.ok();
    let binding = json!({"metadata": {"name": "all"}, "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "all"}});
    server.post(&format!("{rbac}/rolebindings"), &binding).await.ok();
    let eve = Peer::InProcess(Arc::new(UserInfo::authenticated("eve", &[])));
    let mut verdict = Verdict::default();
    let ask = async |url: &str| {
        let answer = server.ask_as(eve.clone(), "GET", url, &[], &Value::Null).await;
        assert_eq!(answer.code, 404, "{url}: {}", answer.message());
        String::from_utf8_lossy(&answer.bytes).into_owned()
    };
    attack(&OUT_OF_SCOPE.map(str::to_owned), ask, &mut verdict).await;
    verdict.assert_held();
    for method in ["PUT", "PATCH", "DELETE"] {
        let answer = server.ask_as(eve.clone(), method, OUT_OF_SCOPE[0], &[], &json!({})).await;
        assert_eq!(answer.code, 404, "{method}: {}", answer.message());
    }
    assert_eq!(server.get(&format!("{GROUP}/worlds/w")).await.ok()["text"], SECRET, "it is still there");
}

/// Makes keys of whatever it is given, resolves them as a file system would, forgets the
/// slash at the end of a prefix, and forgets which kinds have namespaces.
struct Careless(BTreeMap<String, &'static str>);

impl Careless {
    fn new() -> Self {
        let key = |(kind, namespace, name): &(&str, &str, &str)| format!("/example.com/{kind}/{namespace}/{name}");
        let text = |namespace: &str| if namespace == "open" { "fine" } else { SECRET };
        let mut keys: BTreeMap<String, &str> = OBJECTS.iter().map(|object| (key(object), text(object.1))).collect();
        keys.insert("/example.com/worlds/w".into(), SECRET);
        Self(keys)
    }

    fn ask(&self, url: &str) -> String {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let query: BTreeMap<String, String> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), decode(value)))
            .collect();
        let parts: Vec<String> = path.trim_start_matches(GROUP).split('/').skip(2).map(decode).collect();
        let (namespace, kind) = (parts[0].as_str(), parts[1].as_str());
        let pinned = query.get("fieldSelector").and_then(|selector| selector.strip_prefix("metadata.name="));
        let name = parts.get(2).map_or(pinned.unwrap_or_default(), String::as_str);
        let prefix = if kind == "worlds" { kind.to_owned() } else { format!("{kind}/{namespace}") };
        let start = resolve(&format!("/example.com/{prefix}/{name}"));
        let from = match query.get("continue") {
            Some(token) => {
                let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(token).expect("base64");
                let token: Value = serde_json::from_slice(&bytes).expect("a token");
                resolve(&format!("{start}/{}", token["start"].as_str().unwrap_or_default()))
            }
            None => start.clone(),
        };
        let end = format!("{start}\u{7f}");
        self.0.range(from..end).map(|(_, text)| *text).collect::<Vec<_>>().join("\n")
    }
}

fn resolve(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[tokio::test]
async fn a_server_that_joins_keys_is_found_out() {
    let careless = Careless::new();
    let mut verdict = Verdict::default();
    attack(&urls(), async |url| careless.ask(url), &mut verdict).await;
    attack(&OUT_OF_SCOPE.map(str::to_owned), async |url| careless.ask(url), &mut verdict).await;
    verdict.assert_breached();
}
