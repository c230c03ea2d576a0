//! gRPC over a unix socket: the way to the container runtime, to its own services, and to CSI
//! drivers. Messages are either generated (CRI) or a hand-written subset.

pub mod serve;

use hyper_util::rt::TokioIo;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::UnixStream;
use tonic::Status;
use tonic::metadata::{MetadataKey, MetadataValue};
use tonic::transport::{Channel, Endpoint, Uri};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A channel that connects on first use, and again whenever the other side comes back.
pub fn connect(socket: PathBuf) -> Channel {
    Endpoint::from_static("http://socket.invalid").connect_timeout(CONNECT_TIMEOUT).connect_with_connector_lazy(
        tower::service_fn(move |_: Uri| {
            let socket = socket.clone();
            async move { UnixStream::connect(socket).await.map(TokioIo::new) }
        }),
    )
}

/// One call of a method by its path, `/package.Service/Method`.
pub async fn call<Q, A>(
    channel: &Channel,
    path: &'static str,
    message: Q,
    timeout: Duration,
    header: Option<(&'static str, &'static str)>,
) -> Result<A, Status>
where
    Q: prost::Message + Default + 'static,
    A: prost::Message + Default + 'static,
{
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let mut request = tonic::Request::new(message);
    request.set_timeout(timeout);
    if let Some((name, value)) = header {
        request.metadata_mut().insert(MetadataKey::from_static(name), MetadataValue::from_static(value));
    }
    let codec = tonic_prost::ProstCodec::<Q, A>::default();
    Ok(grpc.unary(request, http::uri::PathAndQuery::from_static(path), codec).await?.into_inner())
}

/// A call that is answered by messages for as long as the other side likes.
pub async fn stream<Q, A>(channel: &Channel, path: &'static str, message: Q) -> Result<tonic::Streaming<A>, Status>
where
    Q: prost::Message + Default + 'static,
    A: prost::Message + Default + 'static,
{
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let codec = tonic_prost::ProstCodec::<Q, A>::default();
    let request = tonic::Request::new(message);
    Ok(grpc.server_streaming(request, http::uri::PathAndQuery::from_static(path), codec).await?.into_inner())
}
