//! A webhook for tests: an HTTPS server on loopback that answers each review with what a
//! closure says, and remembers what it was asked.

use base64::Engine as _;
use bytes::Bytes;
use ferry_pki::authority::{Authority, ServingNames};
use ferry_pki::tls::{ClientCertificates, server_config};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What the hook does with a request.
pub enum Reply {
    /// A whole AdmissionReview, whatever is in it.
    Review(Value),
    /// Anything else.
    Raw(StatusCode, &'static [(&'static str, &'static str)], &'static str),
    /// No answer, ever.
    Hang,
}

/// A review that lets the request pass.
pub fn allow(review: &Value) -> Value {
    json!({"kind": "AdmissionReview", "apiVersion": review["apiVersion"],
        "response": {"uid": review["request"]["uid"], "allowed": true}})
}

pub fn deny(review: &Value, status: Value) -> Value {
    let mut answer = allow(review);
    answer["response"]["allowed"] = false.into();
    answer["response"]["status"] = status;
    answer
}

/// A review that lets the request pass with changes.
pub fn patch(review: &Value, operations: Value) -> Value {
    let mut answer = allow(review);
    answer["response"]["patchType"] = "JSONPatch".into();
    answer["response"]["patch"] = base64::engine::general_purpose::STANDARD.encode(operations.to_string()).into();
    answer
}

pub struct HookServer {
    pub url: String,
    pub ca_bundle: String,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
}

impl HookServer {
    pub async fn start(answer: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_certified_at(jiff::Timestamp::now(), answer).await
    }

    /// A hook whose certificate is from another time.
    pub async fn start_certified_at(
        at: jiff::Timestamp,
        answer: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let authority = Authority::generate("hooks", at).expect("an authority");
        let names = ServingNames { ips: ["127.0.0.1".parse().expect("an address")].into(), ..Default::default() };
        let identity = authority.issue_serving(&names, at).expect("a certificate");
        let tls = server_config(&identity, ClientCertificates::Ignored).expect("a server");
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let (answer, record) = (Arc::new(answer), seen.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, answer, record) = (acceptor.clone(), answer.clone(), record.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(move |request: Request<Incoming>| {
                        let (answer, record) = (answer.clone(), record.clone());
                        async move { Ok::<_, Infallible>(respond(request, &*answer, &record).await) }
                    });
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        let ca_bundle = base64::engine::general_purpose::STANDARD.encode(authority.certificate_pem());
        Self { url: format!("https://127.0.0.1:{port}"), ca_bundle, seen }
    }

    /// A hook that answers every review by a function of it.
    pub async fn reviewing(answer: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        Self::start(move |_, review| Reply::Review(answer(review))).await
    }

    pub fn client_config(&self, path: &str) -> Value {
        json!({"url": format!("{}{path}", self.url), "caBundle": self.ca_bundle})
    }

    /// The `request` of every review so far, in order.
    pub fn requests(&self) -> Vec<Value> {
        self.seen.lock().expect("not poisoned").iter().map(|(_, review)| review["request"].clone()).collect()
    }

    /// The paths that were asked for, in order.
    pub fn paths(&self) -> Vec<String> {
        self.seen.lock().expect("not poisoned").iter().map(|(path, _)| path.clone()).collect()
    }
}

async fn respond(
    request: Request<Incoming>,
    answer: &(dyn Fn(&str, &Value) -> Reply + Send + Sync),
    record: &Mutex<Vec<(String, Value)>>,
) -> Response<Full<Bytes>> {
    let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let body = request.into_body().collect().await.expect("a body").to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let reply = answer(&path, &review);
    record.lock().expect("not poisoned").push((path, review));
    match reply {
        Reply::Review(review) => {
            let mut response = Response::new(Full::new(review.to_string().into()));
            response.headers_mut().insert("content-type", "application/json".parse().expect("a header"));
            response
        }
        Reply::Raw(code, headers, text) => {
            let mut response = Response::new(Full::new(text.into()));
            *response.status_mut() = code;
            for (name, value) in headers {
                response.headers_mut().insert(*name, value.parse().expect("a header"));
            }
            response
        }
        Reply::Hang => std::future::pending().await,
    }
}
