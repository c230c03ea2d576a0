//! Custom resources whose versions a webhook converts: a real HTTPS server on loopback that
//! does its work, lies about who an object is, fails, or never answers.

use crate::custom_resources::{DEFINITIONS, definition, version};
use crate::server::Server;
use base64::Engine as _;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::Mutex;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const V1: &str = "/apis/example.com/v1/namespaces/default/hosts";
const V2: &str = "/apis/example.com/v2/namespaces/default/hosts";

#[derive(Clone, Copy, PartialEq)]
enum Mood {
    Works,
    Lies,
    Fails,
    Hangs,
}

struct Hook {
    url: String,
    certificate: String,
    mood: Arc<Mutex<Mood>>,
    calls: Arc<AtomicUsize>,
}

impl Hook {
    async fn start() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("a certificate");
        let key = rustls::pki_types::PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("protocols")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("a server");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("https://{}/convert", listener.local_addr().expect("an address"));
        let (mood, calls) = (Arc::new(Mutex::new(Mood::Works)), Arc::new(AtomicUsize::new(0)));
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let (shared, counted) = (mood.clone(), calls.clone());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, mood, calls) = (acceptor.clone(), shared.clone(), counted.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                        let (mood, calls) = (mood.clone(), calls.clone());
                        async move {
                            calls.fetch_add(1, Ordering::SeqCst);
                            let body = request.into_body().collect().await.expect("a body").to_bytes();
                            let mood = *mood.lock();
                            if mood == Mood::Hangs {
                                std::future::pending::<()>().await;
                            }
                            let answer = answer(&serde_json::from_slice(&body).expect("a review"), mood);
                            Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from(answer.to_string()))))
                        }
                    });
                    let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { url, certificate: cert.pem(), mood, calls }
    }

    fn set(&self, mood: Mood) {
        *self.mood.lock() = mood;
    }

    fn definition(&self) -> Value {
        let text = json!({"type": "string"});
        let mut one = version("v1", true, json!({"type": "object", "properties": {"hostPort": text}}));
        one["selectableFields"] = json!([{"jsonPath": ".hostPort"}]);
        let mut two = version("v2", false, json!({"type": "object", "properties": {"host": text, "port": text}}));
        two["selectableFields"] = json!([{"jsonPath": ".host"}, {"jsonPath": ".port"}]);
        let mut definition = definition("hosts", "Host", "Namespaced", vec![one, two]);
        let bundle = base64::engine::general_purpose::STANDARD.encode(&self.certificate);
        definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "clientConfig": {"url": self.url, "caBundle": bundle}, "conversionReviewVersions": ["v1", "v1beta1"]}});
        definition
    }
}

/// Between `hostPort: a:1` and `host: a, port: 1`.
fn answer(review: &Value, mood: Mood) -> Value {
    let request = &review["request"];
    let uid = request["uid"].clone();
    let response = if mood == Mood::Fails {
        json!({"uid": uid, "result": {"status": "Failure", "message": "not today"}})
    } else {
        let desired = request["desiredAPIVersion"].as_str().expect("a version");
        let objects = request["objects"].as_array().expect("objects").iter().map(|object| {
            let mut object = object.clone();
            assert_ne!(object["apiVersion"], desired, "only what must be converted is sent");
            object["apiVersion"] = desired.into();
            let map = object.as_object_mut().expect("an object");
            let text = |value: Option<Value>| value.and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
            if desired.ends_with("/v2") {
                let both = text(map.remove("hostPort"));
                let (host, port) = both.split_once(':').unwrap_or((&both, ""));
                map.insert("host".into(), host.into());
                map.insert("port".into(), port.into());
            } else {
                let (host, port) = (text(map.remove("host")), text(map.remove("port")));
                map.insert("hostPort".into(), format!("{host}:{port}").into());
            }
            if mood == Mood::Lies {
                object["metadata"]["name"] = "somebody-else".into();
            }
            // Nothing of this may get through.
            object["metadata"]["finalizers"] = json!(["evil.example.com/hold"]);
            object
        });
        json!({"uid": uid, "result": {"status": "Success"}, "convertedObjects": objects.collect::<Vec<_>>()})
    };
    json!({"kind": "ConversionReview", "apiVersion": review["apiVersion"], "response": response})
}

fn host(version: &str, name: &str, fields: Value) -> Value {
    let mut object =
        json!({"apiVersion": format!("example.com/{version}"), "kind": "Host", "metadata": {"name": name}});
    object.as_object_mut().expect("an object").extend(fields.as_object().cloned().unwrap_or_default());
    object
}

#[tokio::test]
async fn every_read_and_write_goes_through_the_webhook() {
    let (server, hook) = (Server::start().await, Hook::start().await);
    server.define(&hook.definition()).await;
    let mut events = server.watch(&format!("{V2}?watch=1&fieldSelector=host=a")).await;

    server.post(V1, &host("v1", "one", json!({"hostPort": "a:1"}))).await.ok();
    let made = server.post(V2, &host("v2", "two", json!({"host": "b", "port": "2"}))).await.ok();
    assert_eq!((made["apiVersion"].as_str(), made["host"].as_str()), (Some("example.com/v2"), Some("b")));
    assert_eq!(server.get(&format!("{V1}/two")).await.ok()["hostPort"], "b:2");
    let two = server.get(&format!("{V2}/one")).await.ok();
    assert_eq!((two["host"].clone(), two["port"].clone(), two.get("hostPort")), (json!("a"), json!("1"), None));
    assert_eq!(two["metadata"].get("finalizers"), None);

    let before = hook.calls.load(Ordering::SeqCst);
    let list = server.get(V2).await.ok();
    let hosts: Vec<&Value> = list["items"].as_array().expect("items").iter().map(|item| &item["host"]).collect();
    assert_eq!(hosts, ["a", "b"]);
    server.get(V2).await.ok();
    server.get(V1).await.ok();
    assert!(hook.calls.load(Ordering::SeqCst) <= before + 1, "a version of an object is converted once");

    let selected = server.get(&format!("{V2}?fieldSelector=host=b,port=2")).await.ok();
    assert_eq!(selected["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        server.get(&format!("{V1}?fieldSelector=hostPort=a:1")).await.ok()["items"][0]["metadata"]["name"],
        "one"
    );
    assert_eq!(events.next_name().await, ("ADDED".to_owned(), "one".to_owned()));
    server.patch("application/merge-patch+json", &format!("{V2}/two"), &json!({"host": "a"})).await.ok();
    let event = events.next().await.expect("an event");
    assert_eq!((event["type"].as_str(), event["object"]["host"].as_str()), (Some("ADDED"), Some("a")));
    server.patch("application/merge-patch+json", &format!("{V1}/one"), &json!({"hostPort": "z:1"})).await.ok();
    assert_eq!(events.next_name().await, ("DELETED".to_owned(), "one".to_owned()));
    server.delete(&format!("{V2}?fieldSelector=host=a")).await.ok();
    assert_eq!(events.next_name().await, ("DELETED".to_owned(), "two".to_owned()));
    assert_eq!(server.get(&format!("{V1}/two")).await.code, 404);
}

#[tokio::test]
async fn a_store_of_two_versions_lists_in_either() {
    let (server, hook) = (Server::start().await, Hook::start().await);
    server.define(&hook.definition()).await;
    server.post(V1, &host("v1", "one", json!({"hostPort": "a:1"}))).await.ok();
    let swap = json!([
        {"op": "replace", "path": "/spec/versions/0/storage", "value": false},
        {"op": "replace", "path": "/spec/versions/1/storage", "value": true},
    ]);
    let path = format!("{DEFINITIONS}/hosts.example.com");
    let changed = server.patch("application/json-patch+json", &path, &swap).await.ok();
    assert_eq!(changed["status"]["storedVersions"], json!(["v1", "v2"]));
    server.post(V1, &host("v1", "two", json!({"hostPort": "a:2"}))).await.ok();
    for (path, field, expected) in [(V1, "hostPort", ["a:1", "a:2"]), (V2, "port", ["1", "2"])] {
        let list = server.get(path).await.ok();
        let found: Vec<&Value> = list["items"].as_array().expect("items").iter().map(|item| &item[field]).collect();
        assert_eq!(found, expected, "{path}");
    }
}

#[tokio::test]
async fn a_webhook_that_lies_or_fails_is_told_of() {
    let (server, hook) = (Server::start().await, Hook::start().await);
    server.define(&hook.definition()).await;
    for name in ["one", "two"] {
        server.post(V1, &host("v1", name, json!({"hostPort": "a:1"}))).await.ok();
    }
    hook.set(Mood::Lies);
    let lie = server.get(&format!("{V2}/one")).await;
    assert_eq!(lie.code, 500);
    assert_eq!(
        lie.message(),
        "conversion webhook for example.com/v1, Kind=Host returned invalid object: must have the same name: one != somebody-else"
    );
    assert_eq!(
        server.get(V2).await.message(),
        "conversion webhook for example.com/v1, Kind=HostList returned invalid converted object at index 0: must have the same name: one != somebody-else"
    );
    hook.set(Mood::Fails);
    assert_eq!(
        server.get(&format!("{V2}/one")).await.message(),
        "conversion webhook for example.com/v1, Kind=Host failed: not today"
    );
    let refused = server.post(V2, &host("v2", "new", json!({"host": "a"}))).await;
    assert_eq!(refused.message(), "conversion webhook for example.com/v2, Kind=Host failed: not today");
    assert_eq!(server.get(&format!("{V1}/new")).await.code, 404);
    assert_eq!(server.get(&format!("{V1}/one")).await.code, 200, "the stored version needs no webhook");

    // Whoever waits for a webhook keeps nobody else waiting.
    hook.set(Mood::Hangs);
    let path = format!("{V2}/one");
    let waiting = server.get(&path);
    tokio::pin!(waiting);
    tokio::select! {
        answer = &mut waiting => panic!("the webhook hangs: {}", answer.code),
        answer = server.get(V1) => assert_eq!(answer.code, 200),
    }
    // The definition can go, because its objects are stored in a version that needs no webhook.
    server.delete(&format!("{DEFINITIONS}/hosts.example.com")).await.ok();
    server.undefined("hosts.example.com").await;
}
