//! The API server follows nobody's redirects: a kubelet (CVE-2020-8559), an aggregated
//! server (CVE-2022-3172) and a webhook (CVE-2020-8561) could send it, with its place in the
//! network and its certificates, wherever they like. Where a client would follow in its
//! stead and show its own credentials, the redirect is not passed on either.

use super::{Verdict, code_of, read_head};
use crate::aggregation::{FLUNDERS, register, wardle};
use crate::backend::{Backend, Seen, status, text};
use crate::hook_server::{HookServer, Reply, allow};
use crate::server::{Answer, CONFIG_MAPS, PODS, Server, config_map};
use crate::webhooks::{MUTATING, VALIDATING, configure, hook};
use base64::Engine as _;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use tokio::io::AsyncWriteExt;

const CODES: [u16; 5] = [301, 302, 303, 307, 308];

/// Whether a redirect may reach the client.
#[derive(Clone, Copy, PartialEq)]
enum PassingOn {
    /// As any answer of a backend may.
    Fine,
    /// The client would send its credentials along.
    Breach,
}

/// Somebody whom nobody should be sent to, and a backend's way of trying.
struct Trap {
    victim: Backend,
    code: Arc<AtomicU16>,
    location: String,
}

impl Trap {
    async fn set() -> Self {
        let victim = Backend::plain(|_| text("text/plain", "a secret of the API server's neighbourhood")).await;
        let location = format!("http://{}/stolen", victim.address);
        Self { victim, code: Arc::new(AtomicU16::new(302)), location }
    }

    /// Redirects to the victim with the code of the moment.
    fn script(&self) -> impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static {
        let (code, location) = (self.code.clone(), self.location.clone());
        move |_| status(code.load(Ordering::SeqCst), &[("location", &location)], "")
    }

    /// Asks with every code; the answer is its code and whether it names a location.
    async fn attack(
        &self,
        what: &str,
        passing_on: PassingOn,
        ask: impl AsyncFn() -> (u16, bool),
        verdict: &mut Verdict,
    ) {
        for code in CODES {
            self.code.store(code, Ordering::SeqCst);
            let before = self.victim.asked("/stolen");
            let (told, named) = ask().await;
            let passed_on = named && (300..400).contains(&told);
            let followed = self.victim.asked("/stolen") > before;
            verdict.tried(format!("{what} {code}"), followed || (passed_on && passing_on == PassingOn::Breach));
        }
    }
}

fn told(answer: &Answer) -> (u16, bool) {
    (answer.code, answer.headers.contains_key("location"))
}

async fn upgrade(server: &Server, path: &str) -> (u16, bool) {
    let mut stream = server.connect().await;
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let head = read_head(&mut stream).await;
    (code_of(&head), head.contains("\r\nlocation:"))
}

#[tokio::test]
async fn ferry_goes_nowhere_for_kubelets() {
    let server = Server::start().await.with_default_account().await;
    let trap = Trap::set().await;
    server.routes.lead("127.0.0.1", trap.victim.address.port(), trap.victim.address);
    let _kubelet = Backend::kubelet(&server, trap.script()).await;
    server.with_bound_pod("p").await;
    let mut verdict = Verdict::default();
    let (node, log) = ("/api/v1/nodes/n/proxy/x", format!("{PODS}/p/log"));
    trap.attack("node proxy", PassingOn::Fine, async || told(&server.get(node).await), &mut verdict).await;
    trap.attack("log", PassingOn::Breach, async || told(&server.get(&log).await), &mut verdict).await;
    for stream in ["exec?command=ls&stdout=1", "attach?stdout=1", "portforward?ports=1"] {
        let path = format!("{PODS}/p/{stream}");
        trap.attack(stream, PassingOn::Breach, async || upgrade(&server, &path).await, &mut verdict).await;
    }
    trap.attack("node upgrade", PassingOn::Breach, async || upgrade(&server, node).await, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn ferry_goes_nowhere_for_aggregated_servers() {
    let server = Server::start().await;
    let trap = Trap::set().await;
    server.routes.lead("127.0.0.1", trap.victim.address.port(), trap.victim.address);
    let redirect = trap.script();
    let backend = register(&server, move |seen| match seen.uri.as_str() {
        "/apis/wardle.example.com/v1alpha1" => wardle(seen),
        _ => redirect(seen),
    })
    .await;
    let mut verdict = Verdict::default();
    trap.attack("request", PassingOn::Breach, async || told(&server.get(FLUNDERS).await), &mut verdict).await;
    trap.attack("upgrade", PassingOn::Breach, async || upgrade(&server, FLUNDERS).await, &mut verdict).await;
    // What the server asks for on its own account.
    for path in ["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/wardle.example.com/v1alpha1", "/apis"] {
        trap.attack(path, PassingOn::Breach, async || told(&server.get(path).await), &mut verdict).await;
    }
    verdict.assert_held();
    assert!(backend.asked("/openapi") > 0, "the documents were asked for");
    let answer = server.get(FLUNDERS).await;
    assert_eq!(
        (answer.code, &answer.bytes[..]),
        (502, &b"the backend attempted to redirect this request, which is not permitted"[..])
    );
}

/// Has a hook asked that moves every question elsewhere.
async fn attack_with_hook(code: u16, ask: impl AsyncFn(&HookServer), verdict: &mut Verdict, what: &str) {
    let moved = StatusCode::from_u16(code).expect("a code");
    let hooks = HookServer::start(move |path, review| match path {
        "/stolen" => Reply::Review(allow(review)),
        _ => Reply::Raw(moved, &[("location", "/stolen")], ""),
    })
    .await;
    ask(&hooks).await;
    assert!(!hooks.paths().is_empty(), "the hook was asked");
    verdict.tried(format!("{what} {code}"), hooks.paths().len() > 1);
}

#[tokio::test]
async fn ferry_goes_nowhere_for_webhooks() {
    let server = Server::start().await;
    let mut verdict = Verdict::default();
    for phase in [MUTATING, VALIDATING] {
        for code in CODES {
            let ask = async |hooks: &HookServer| {
                configure(&server, phase, "a", &[hook(hooks, "moved", json!({}))]).await;
                let refused = server.post(CONFIG_MAPS, &config_map("x")).await;
                let why = "Internal error occurred: failed calling webhook \"moved.example.com\": failed to call webhook: the server responded with the status code";
                let expected = format!("{why} {code} but did not return more information");
                assert_eq!((refused.code, refused.message()), (500, expected));
                server.delete(&format!("{phase}/a")).await.ok();
            };
            attack_with_hook(code, ask, &mut verdict, phase).await;
        }
    }
    verdict.assert_held();
}

/// Goes where it is sent.
async fn careless_client(to: SocketAddr) -> (u16, bool) {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let mut url = format!("http://{to}/x");
    loop {
        let response = client.request(Request::get(&url).body(Full::default()).expect("a request")).await;
        let response = response.expect("an answer");
        match response.headers().get("location").filter(|_| response.status().is_redirection()) {
            Some(location) => url = location.to_str().expect("text").to_owned(),
            None => return (response.status().as_u16(), false),
        }
    }
}

/// Goes nowhere, but lets its client go.
async fn careless_proxy(to: SocketAddr) -> (u16, bool) {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = Request::get(format!("http://{to}/x")).body(Full::default()).expect("a request");
    let response = client.request(request).await.expect("an answer");
    (response.status().as_u16(), response.headers().contains_key("location"))
}

#[tokio::test]
async fn a_server_that_follows_or_passes_on_is_found_out() {
    let trap = Trap::set().await;
    let backend = Backend::plain(trap.script()).await;
    let mut verdict = Verdict::default();
    let follow = async || careless_client(backend.address).await;
    trap.attack("follows", PassingOn::Fine, follow, &mut verdict).await;
    let pass_on = async || careless_proxy(backend.address).await;
    trap.attack("passes on", PassingOn::Breach, pass_on, &mut verdict).await;
    for code in CODES {
        attack_with_hook(code, careless_caller, &mut verdict, "asks on").await;
    }
    verdict.assert_breached();
}

/// Asks a hook, and whom the hook names.
async fn careless_caller(hooks: &HookServer) {
    let ca = base64::engine::general_purpose::STANDARD.decode(&hooks.ca_bundle).expect("base64");
    let tls = ferry_pki::tls::client_config(&String::from_utf8_lossy(&ca), None).expect("a client");
    let connector = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http1();
    let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(connector.build());
    let mut path = "/".to_owned();
    loop {
        let request = Request::post(format!("{}{path}", hooks.url)).body(Full::from("{}")).expect("a request");
        let response = client.request(request).await.expect("an answer");
        match response.headers().get("location") {
            Some(location) => path = location.to_str().expect("text").to_owned(),
            None => return,
        }
    }
}
