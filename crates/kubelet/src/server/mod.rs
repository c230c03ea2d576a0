//! The kubelet's own HTTPS server: what the API server comes for when somebody asks for
//! a container's log or a terminal in it.

mod auth;
mod cadvisor;
pub mod channel;
mod checkpoint;
mod configz;
mod copy;
mod dialect;
mod log_watch;
mod logs;
mod missed_output;
mod pods;
mod routes;
pub mod spdy;
mod stats;
mod streaming;
mod system_logs;
mod volume_stats;
mod websocket;
mod zpages;

pub use log_watch::LogWatch;
pub use missed_output::ServedLogs;

use crate::context::Context;
use crate::{Error, ServerConfig};
use bytes::Bytes;
use ferry_listen::{Connection, HEADER_TIMEOUT, Limits, Listener, while_served};
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// The kubelet's share of the process's descriptors, and the most that it takes. The API server
/// is its one regular caller.
const DESCRIPTOR_SHARE: usize = 8;
const CONNECTIONS_MAX: usize = 2048;

/// Go's default limit of headers, which clients are written against.
const HEADERS_MAX: usize = 1024 * 1024;

pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    let body = Full::new(Bytes::from(text.into())).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// Serves until `shutdown`; without a configuration there is nothing to serve.
pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let Some(config) = context.config.server.clone() else { return Ok(()) };
    let failed = |why: String| Error::Server { address: config.address, why };
    let tls = tls_config(&config).map_err(failed)?;
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind(config.address).await.map_err(|error| failed(error.to_string()))?;
    let authorizer = Arc::new(auth::Authorizer::new(context.client.clone(), &context.config.node_name, &config));
    let listener = Listener::new(listener, Limits::of_share(DESCRIPTOR_SHARE, CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            accepted = listener.accept() => accepted.map_err(|error| failed(error.to_string()))?,
        };
        let (context, acceptor, authorizer) = (context.clone(), acceptor.clone(), authorizer.clone());
        let stopped = shutdown.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = serve_connection(context, &acceptor, authorizer, accepted) => {}
            }
        });
    }
}

async fn serve_connection(
    context: Arc<Context>,
    acceptor: &tokio_rustls::TlsAcceptor,
    authorizer: Arc<auth::Authorizer>,
    accepted: Connection,
) {
    let activity = accepted.activity();
    let Ok(stream) = accepted.handshake(acceptor).await else { return };
    let caller = auth::Caller::from_certificate(stream.get_ref().1.peer_certificates());
    let requests = activity.clone();
    let service = hyper::service::service_fn(move |request| {
        let (context, authorizer, caller) = (context.clone(), authorizer.clone(), caller.clone());
        let serving = requests.serve();
        async move {
            let response = match authorizer.allow(&caller, &request).await {
                Ok(()) => routes::serve(context, request).await,
                Err(response) => *response,
            };
            Ok::<_, std::convert::Infallible>(while_served(response, serving, BodyExt::boxed_unsync))
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        _ = connection => {}
        () = activity.dismissed() => {}
    }
}

fn tls_config(config: &ServerConfig) -> Result<rustls::ServerConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(config.client_ca_pem.as_bytes()) {
        let certificate = certificate.map_err(|error| format!("the client authority is not PEM: {error}"))?;
        roots.add(certificate).map_err(|error| format!("the client authority is not a certificate: {error}"))?;
    }
    // A caller without a certificate may still bring a token.
    let verifier = rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .allow_unauthenticated()
        .build()
        .map_err(|error| format!("no client authority: {error}"))?;
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(config.certificate.clone());
    // Upgrades need HTTP/1.1, and one protocol is enough for one caller.
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};

    /// A certificate that can be replaced, as the binary's can.
    #[derive(Debug)]
    struct Replaceable(Mutex<Arc<CertifiedKey>>);

    impl ResolvesServerCert for Replaceable {
        fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(self.0.lock().clone())
        }
    }

    fn certified() -> (Arc<CertifiedKey>, CertificateDer<'static>, String) {
        let made = rcgen::generate_simple_self_signed(vec!["node".to_owned()]).expect("a certificate");
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let provider = rustls::crypto::ring::default_provider();
        let der = made.cert.der().clone();
        let certified = CertifiedKey::from_der(vec![der.clone()], key, &provider).expect("they belong together");
        (Arc::new(certified), der, made.cert.pem())
    }

    /// The certificate that a connection made now is shown.
    fn shown(server: &Arc<rustls::ServerConfig>, trusted: &[&CertificateDer<'static>]) -> CertificateDer<'static> {
        let mut roots = RootCertStore::empty();
        for certificate in trusted {
            roots.add((*certificate).clone()).expect("an authority");
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut client = ClientConnection::new(Arc::new(client), "node".try_into().expect("a name")).expect("a client");
        let mut server = ServerConnection::new(server.clone()).expect("a server");
        while server.is_handshaking() || client.is_handshaking() {
            let mut wire = Vec::new();
            client.write_tls(&mut wire).expect("memory takes it");
            server.read_tls(&mut wire.as_slice()).expect("memory gives it");
            server.process_new_packets().expect("the server goes on");
            let mut wire = Vec::new();
            server.write_tls(&mut wire).expect("memory takes it");
            client.read_tls(&mut wire.as_slice()).expect("memory gives it");
            client.process_new_packets().expect("the client goes on");
        }
        client.peer_certificates().expect("a certificate")[0].clone().into_owned()
    }

    #[test]
    fn a_renewed_certificate_is_shown_without_a_restart() {
        let ((before, first, pem), (after, second, _)) = (certified(), certified());
        let live = Arc::new(Replaceable(Mutex::new(before)));
        let config = ServerConfig {
            address: "127.0.0.1:0".parse().expect("an address"),
            certificate: live.clone(),
            client_ca_pem: pem,
            allowed_names: Vec::new(),
        };
        let server = Arc::new(tls_config(&config).expect("a server"));
        let trusted = [&first, &second];
        assert_eq!(shown(&server, &trusted), first);
        *live.0.lock() = after;
        assert_eq!(shown(&server, &trusted), second, "from the next connection on");
    }
}
