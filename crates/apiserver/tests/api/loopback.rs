//! A server of somebody else's on loopback, over TLS: an issuer of tokens, or a webhook.

use bytes::Bytes;
use ferry_pki::tls::{ClientCertificates, server_config};
use ferry_pki::{Authority, ServingNames};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub struct Loopback {
    pub url: String,
    /// Who vouches for it.
    pub ca_pem: String,
    asked: Arc<AtomicUsize>,
}

impl Loopback {
    /// Answers each path and body with a code and a document.
    pub async fn start(answer: impl Fn(&str, Value) -> (u16, Value) + Send + Sync + 'static) -> Self {
        let now = jiff::Timestamp::now();
        let authority = Authority::generate("loopback", now).expect("an authority");
        let names = ServingNames {
            dns_names: ["localhost".to_owned()].into(),
            ips: ["127.0.0.1".parse().expect("an address")].into(),
            ..ServingNames::default()
        };
        let identity = authority.issue_serving(&names, now).expect("a certificate");
        let tls = server_config(&identity, ClientCertificates::Ignored).expect("TLS");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("https://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(AtomicUsize::new(0));
        let (acceptor, answer, count) = (TlsAcceptor::from(Arc::new(tls)), Arc::new(answer), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, answer, count) = (acceptor.clone(), answer.clone(), count.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = service_fn(move |request: Request<Incoming>| {
                        let (answer, count) = (answer.clone(), count.clone());
                        async move {
                            count.fetch_add(1, Ordering::SeqCst);
                            let path = request.uri().path().to_owned();
                            let body = request.into_body().collect().await.map(|body| body.to_bytes());
                            let body = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
                            let (code, document) = answer(&path, body);
                            let response = Response::builder().status(code).header("content-type", "application/json");
                            let response = response.body(Full::new(Bytes::from(document.to_string())));
                            Ok::<_, Infallible>(response.expect("an answer"))
                        }
                    });
                    let _ =
                        auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { url, ca_pem: authority.certificate_pem().to_owned(), asked }
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// The file by which the API server is told of it.
    pub fn kubeconfig(&self) -> String {
        use base64::Engine as _;
        let ca = base64::engine::general_purpose::STANDARD.encode(&self.ca_pem);
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\nclusters: [{{name: k, cluster: {{server: '{}/hook', certificate-authority-data: {ca}}}}}]\nusers: [{{name: u, user: {{}}}}]\n",
            self.url
        )
    }
}

/// Waits until something is so.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let wait = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap_or_else(|_| panic!("in vain: {what}"));
}
