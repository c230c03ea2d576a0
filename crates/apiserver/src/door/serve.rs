//! The network's way in: TLS, then HTTP/1.1 or HTTP/2 as the client negotiates, then
//! [`ApiServer::handle`]. Client certificates are optional here; whether they prove
//! anything is for authentication to say. Who is let in, and for how long, is decided in
//! `ferry_listen`.

use crate::door::answer;
use crate::door::framing::Guarded;
use crate::transport::{Body, Peer};
use crate::{ApiServer, Error};
use ferry_listen::{Connection, HEADER_TIMEOUT, Limits, Listener, while_served};
use http::header::CONTENT_LENGTH;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// The API server's share of the process's descriptors, and the most that it takes.
const DESCRIPTOR_SHARE: usize = 2;
const CONNECTIONS_MAX: usize = 16_384;

/// Go's default limit of headers, which clients are written against.
const HEADERS_MAX: usize = 1024 * 1024;

/// Streams a client may have open on one HTTP/2 connection (upstream's limit is 100 as
/// well), and how many it may open and reset at once before the connection is taken for an
/// attack and closed (CVE-2023-44487).
const STREAMS_MAX: u32 = 100;
const RESETS_MAX: usize = 100;

/// A dead peer is noticed by this, however quiet its watches are.
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a dismissed client has to take note of it.
const DISMISSAL_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) async fn serve(server: ApiServer, listener: TcpListener, tls: Arc<ServerConfig>) -> Result<(), Error> {
    let acceptor = TlsAcceptor::from(tls);
    let builder = Arc::new(connection_builder());
    let listener = Listener::new(listener, Limits::of_share(DESCRIPTOR_SHARE, CONNECTIONS_MAX));
    let mut stopped = server.stopped();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted.map_err(Error::Accept)?,
            () = stop(&mut stopped) => return Ok(()),
        };
        let (server, acceptor, builder) = (server.clone(), acceptor.clone(), builder.clone());
        tokio::spawn(async move {
            let remote = accepted.remote();
            if let Err(error) = connection(server, acceptor, builder, accepted).await {
                tracing::debug!(%remote, error, "a connection ended");
            }
        });
    }
}

fn connection_builder() -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(HEADERS_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .max_local_error_reset_streams(RESETS_MAX)
        .max_header_list_size(u32::try_from(HEADERS_MAX).unwrap_or(u32::MAX))
        .initial_stream_window_size(256 * 1024)
        .initial_connection_window_size(1024 * 1024)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT);
    builder
}

async fn connection(
    server: ApiServer,
    acceptor: TlsAcceptor,
    builder: Arc<auto::Builder<TokioExecutor>>,
    accepted: Connection,
) -> Result<(), String> {
    let (remote, activity) = (accepted.remote(), accepted.activity());
    let stream = match accepted.handshake(&acceptor).await {
        Ok(stream) => stream,
        Err(error) => {
            server.0.metrics.tls_errors.count();
            return Err(format!("TLS handshake: {error}"));
        }
    };
    let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
    let certificates = Arc::new(certificates.iter().map(|certificate| certificate.to_vec()).collect::<Vec<_>>());
    let peer = Peer::Tls { certificates, remote: Some(remote) };
    let (stream, framing) = Guarded::new(stream);
    let mut stopped = server.stopped();
    let requests = activity.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (server, peer, framing) = (server.clone(), peer.clone(), framing.clone());
        let serving = requests.serve();
        async move {
            if tells_two_lengths(&request) {
                return Ok(refusal());
            }
            let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
            let response = server.handle(request, peer).await;
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                framing.release();
            }
            Ok::<_, Infallible>(while_served(response, serving, BodyExt::boxed_unsync))
        }
    });
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        outcome = connection.as_mut() => outcome.map_err(|error| error.to_string()),
        () = activity.dismissed() => {
            // A client that has been served is told; one that never asked holds nothing but room.
            if activity.has_served() {
                connection.as_mut().graceful_shutdown();
                let _ = tokio::time::timeout(DISMISSAL_TIMEOUT, connection).await;
            }
            Err("it brought no request for too long, or had to make room".to_owned())
        }
        () = stop(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await.map_err(|error| error.to_string())
        }
    }
}

/// HTTP/2 has lengths of its own, and takes any number of this header; a request that is
/// passed on goes as HTTP/1, where it would count. In HTTP/1 `framing.rs` has refused it.
fn tells_two_lengths(request: &Request<Incoming>) -> bool {
    request.headers().get_all(CONTENT_LENGTH).iter().nth(1).is_some()
}

fn refusal() -> Response<Body> {
    answer::text(StatusCode::BAD_REQUEST, "400 Bad Request: two Content-Length headers")
}

/// Returns when the server stops, or is gone altogether.
async fn stop(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
