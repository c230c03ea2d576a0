//! A server to test against, and the shortest way to ask it something.

use async_trait::async_trait;
use bytes::Bytes;
use ferry_apiserver::authn::UserInfo;
use ferry_apiserver::outgoing::Dial;
use ferry_apiserver::{ApiServer, Body, Config, Peer, StorageKey};
use ferry_pki::{Identity, Pki, PkiConfig};
use ferry_store::sqlite::SqliteStore;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub struct Server {
    pub api: ApiServer,
    pub pki: Pki,
    pub store: Arc<SqliteStore>,
    pub directory: TempDir,
    /// Where addresses of the cluster lead that the server connects to.
    pub routes: Arc<Routes>,
}

/// Leads addresses that only a cluster has to servers of the test.
#[derive(Default)]
pub struct Routes {
    ways: Mutex<HashMap<(String, u16), SocketAddr>>,
    names: Mutex<HashMap<String, Vec<IpAddr>>>,
    dialled: Mutex<Vec<String>>,
}

impl Routes {
    pub fn lead(&self, host: &str, port: u16, to: SocketAddr) {
        self.ways.lock().insert((host.to_owned(), port), to);
    }

    /// Gives a name addresses: the first to who asks first, and so on; the last one stays.
    pub fn name(&self, host: &str, addresses: &[&str]) {
        let addresses = addresses.iter().map(|text| text.parse().expect("an address")).collect();
        self.names.lock().insert(host.to_owned(), addresses);
    }

    /// How often the server connected to an address, or tried to.
    pub fn dialled(&self, address: &str) -> usize {
        self.dialled.lock().iter().filter(|dialled| *dialled == address).count()
    }
}

#[async_trait]
impl Dial for Routes {
    async fn dial(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        let host = match self.resolve(host).await {
            Ok(addresses) if !addresses.is_empty() => addresses[0].to_string(),
            _ => host.to_owned(),
        };
        self.dialled.lock().push(host.clone());
        let to = self.ways.lock().get(&(host, port)).copied();
        match to {
            Some(to) => TcpStream::connect(to).await,
            None => Err(std::io::ErrorKind::ConnectionRefused.into()),
        }
    }

    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        let mut names = self.names.lock();
        let addresses = names.get_mut(host).ok_or(std::io::ErrorKind::NotFound)?;
        let next = if addresses.len() > 1 { addresses.remove(0) } else { addresses[0] };
        Ok(vec![next])
    }
}

/// An answer, read whole.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }

    pub fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }

    /// The object, of which it is certain that it is no failure.
    pub fn ok(self) -> Value {
        assert!(self.code < 300, "{} {}", self.code, String::from_utf8_lossy(&self.bytes));
        self.json()
    }
}

pub const PODS: &str = "/api/v1/namespaces/default/pods";
pub const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
pub const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
pub const SERVICES: &str = "/api/v1/namespaces/default/services";

pub fn admin() -> Peer {
    Peer::InProcess(Arc::new(UserInfo::authenticated("admin", &["system:masters"])))
}

impl Server {
    pub async fn start() -> Self {
        Self::start_in(TempDir::new().expect("a directory")).await
    }

    pub async fn start_in(directory: TempDir) -> Self {
        Self::start_with(directory, |_| ()).await
    }

    /// A server whose configuration the test changes first.
    pub async fn start_with(directory: TempDir, configure: impl FnOnce(&mut Config)) -> Self {
        Self::start_with_rows(directory, ferry_resources::all().to_vec(), configure).await
    }

    /// A server with these kinds instead of the builtin ones.
    pub async fn start_with_rows(
        directory: TempDir,
        rows: Vec<Arc<ferry_resources::Row>>,
        configure: impl FnOnce(&mut Config),
    ) -> Self {
        let pki = pki(directory.path());
        let store = Arc::new(SqliteStore::open(&directory.path().join("store")).expect("a store"));
        let keys = vec![StorageKey { name: "key1".into(), bytes: vec![1; 32] }];
        let mut config = Config::from_pki(&pki, "cluster.local", keys);
        config.advertise_address = Some("10.0.0.1:6443".parse().expect("an address"));
        let routes = Arc::new(Routes::default());
        config.dial = routes.clone();
        configure(&mut config);
        let api = ApiServer::start_with_rows(store.clone(), config, rows).await.expect("a server");
        Self { api, pki, store, directory, routes }
    }

    /// The administrator on a connection from somewhere.
    pub fn admin_at(&self, remote: &str) -> Peer {
        let chain = ferry_pki::certificate::parse_chain("the admin", &self.pki.admin.certificate_pem).expect("a chain");
        let certificates = Arc::new(chain.iter().map(|der| der.to_vec()).collect());
        Peer::Tls { certificates, remote: Some(remote.parse().expect("an address")) }
    }

    /// Sends anything as anyone.
    pub async fn send(&self, request: Request<Body>, peer: Peer) -> Response<Body> {
        self.api.handle(request, peer).await
    }

    pub async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(body.into()).map_err(|never| match never {}).boxed_unsync();
        read(self.send(request.body(body).expect("a request"), admin()).await).await
    }

    /// Asks as someone else, with JSON of this or another content type.
    pub async fn ask_as(&self, peer: Peer, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::from(body.to_string())).map_err(|never| match never {}).boxed_unsync();
        read(self.send(request.body(body).expect("a request"), peer).await).await
    }

    /// Whom a bearer token makes of its bearer, or the code of the refusal.
    pub async fn whoami(&self, token: &str) -> Result<Value, u16> {
        let authorization = format!("Bearer {token}");
        let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let headers = [("authorization", authorization.as_str())];
        let answer = self.ask_as(Peer::Plain { remote: None }, "POST", path, &headers, &json!({})).await;
        if answer.code < 300 { Ok(answer.json()["status"]["userInfo"].clone()) } else { Err(answer.code) }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    pub async fn post(&self, path: &str, object: &Value) -> Answer {
        self.ask("POST", path, &[("content-type", "application/json")], object.to_string()).await
    }

    pub async fn put(&self, path: &str, object: &Value) -> Answer {
        self.ask("PUT", path, &[("content-type", "application/json")], object.to_string()).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, &[], "").await
    }

    pub async fn patch(&self, kind: &str, path: &str, body: &Value) -> Answer {
        self.ask("PATCH", path, &[("content-type", kind)], body.to_string()).await
    }

    /// Pods need the service account that a controller would have made.
    pub async fn with_default_account(self) -> Self {
        self.post("/api/v1/namespaces/default/serviceaccounts", &json!({"metadata": {"name": "default"}})).await.ok();
        self
    }

    /// A pod that runs on the node `n`.
    pub async fn with_bound_pod(&self, name: &str) {
        self.post(PODS, &pod(name)).await.ok();
        let binding = json!({"target": {"kind": "Node", "name": "n"}});
        self.post(&format!("{PODS}/{name}/binding"), &binding).await.ok();
    }

    /// A raw TLS connection to the server on a real socket, with the administrator's certificate.
    pub async fn connect(&self) -> TlsStream<TcpStream> {
        self.connect_as(Some(&self.pki.admin), "http/1.1").await
    }

    /// The same with somebody's certificate or none, for this version of HTTP.
    pub async fn connect_as(&self, identity: Option<&Identity>, protocol: &str) -> TlsStream<TcpStream> {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (api, tls) = (self.api.clone(), Arc::new(self.pki.apiserver_tls().expect("a serving certificate")));
        tokio::spawn(async move { api.serve(listener, tls).await });
        let mut config = ferry_pki::tls::client_config(self.pki.ca.certificate_pem(), identity).expect("a client");
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(address).await.expect("connected");
        let name = "127.0.0.1".try_into().expect("a name");
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("TLS")
    }

    pub async fn watch(&self, path: &str) -> Events {
        let request = Request::get(path).body(ferry_apiserver::transport::empty()).expect("a request");
        let response = self.send(request, admin()).await;
        assert_eq!(response.status(), StatusCode::OK);
        Events { body: response.into_body(), buffer: Vec::new() }
    }
}

async fn read(response: Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    Answer { code: parts.status.as_u16(), headers: parts.headers, bytes }
}

pub fn pki(directory: &Path) -> Pki {
    let config = PkiConfig { advertise_ips: vec!["127.0.0.1".parse().expect("an address")], ..PkiConfig::default() };
    ferry_pki::ensure(&directory.join("pki"), &config).expect("key material")
}

/// The events of a watch, one by one.
pub struct Events {
    body: Body,
    buffer: Vec<u8>,
}

impl Events {
    /// The next event; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).expect("an event is one line of JSON"));
            }
            let frame =
                tokio::time::timeout(Duration::from_secs(20), self.body.frame()).await.expect("an event in time");
            match frame {
                None => return None,
                Some(frame) => {
                    let data = frame.expect("a frame").into_data().expect("data");
                    self.buffer.extend_from_slice(&data);
                }
            }
        }
    }

    /// The next event as its type and the object's name.
    pub async fn next_name(&mut self) -> (String, String) {
        let event = self.next().await.expect("an event");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&event["type"]), text(&event["object"]["metadata"]["name"]))
    }
}

pub fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "value"}})
}

pub fn labelled(name: &str, label: &str) -> Value {
    let mut object = config_map(name);
    object["metadata"]["labels"] = json!({"app": label});
    object
}

pub fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": "web:1"}]},
            },
        },
    })
}

pub fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "web", "image": "web:1"}]},
    })
}

pub fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    })
}
