//! The messages of the KMS v2 API (k8s.io/kms/apis/v2) and of what is stored
//! (storage/value/encrypt/envelope/kmsv2/v2), and the calls over a unix socket.

use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use prost::Message;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_prost::ProstCodec;

/// Upstream's limit on what a plugin may answer is gRPC's own.
const MAX_MESSAGE: usize = 4 * 1024 * 1024;

#[derive(Clone, PartialEq, Message)]
pub struct StatusRequest {}

#[derive(Clone, PartialEq, Message)]
pub struct StatusResponse {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(string, tag = "2")]
    pub healthz: String,
    #[prost(string, tag = "3")]
    pub key_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct EncryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub plaintext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub uid: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct EncryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub key_id: String,
    #[prost(btree_map = "string, bytes", tag = "3")]
    pub annotations: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DecryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub uid: String,
    #[prost(string, tag = "3")]
    pub key_id: String,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub annotations: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DecryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub plaintext: Vec<u8>,
}

/// A stored value behind its prefix.
#[derive(Clone, PartialEq, Message)]
pub struct EncryptedObject {
    #[prost(bytes = "vec", tag = "1")]
    pub encrypted_data: Vec<u8>,
    #[prost(string, tag = "2")]
    pub key_id: String,
    #[prost(bytes = "vec", tag = "3")]
    pub encrypted_dek_source: Vec<u8>,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub annotations: BTreeMap<String, Vec<u8>>,
    #[prost(int32, tag = "5")]
    pub encrypted_dek_source_type: i32,
}

/// Calls a plugin; each call ends after the timeout. Connects on first use and again
/// whenever the plugin comes back.
pub struct Plugin {
    channel: Channel,
    timeout: Duration,
}

impl Plugin {
    /// `unix:///run/kms.sock`, or `unix:///@name` for a name that is no file.
    pub fn new(endpoint: &str, timeout: Duration) -> Result<Self, String> {
        let path = endpoint.strip_prefix("unix://").or_else(|| endpoint.strip_prefix("unix:")).unwrap_or_default();
        if path.is_empty() {
            return Err(format!("invalid endpoint {endpoint:?}: there is no path"));
        }
        let path = match path.strip_prefix("/@") {
            Some(name) => PathBuf::from(format!("\0{name}")),
            None => PathBuf::from(path),
        };
        let channel = Endpoint::from_static("http://localhost").connect_timeout(timeout).connect_with_connector_lazy(
            tower::service_fn(move |_: Uri| {
                let path = path.clone();
                async move { UnixStream::connect(path).await.map(TokioIo::new) }
            }),
        );
        Ok(Self { channel, timeout })
    }

    pub async fn status(&self) -> Result<StatusResponse, String> {
        self.call("/v2.KeyManagementService/Status", StatusRequest {}).await
    }

    pub async fn encrypt(&self, request: EncryptRequest) -> Result<EncryptResponse, String> {
        self.call("/v2.KeyManagementService/Encrypt", request).await
    }

    pub async fn decrypt(&self, request: DecryptRequest) -> Result<DecryptResponse, String> {
        self.call("/v2.KeyManagementService/Decrypt", request).await
    }

    async fn call<Q, A>(&self, path: &'static str, message: Q) -> Result<A, String>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let call = async {
            let mut grpc = tonic::client::Grpc::new(self.channel.clone()).max_decoding_message_size(MAX_MESSAGE);
            grpc.ready().await.map_err(|error| unavailable(&error))?;
            let (path, codec) = (PathAndQuery::from_static(path), ProstCodec::<Q, A>::default());
            match grpc.unary(tonic::Request::new(message), path, codec).await {
                Ok(answer) => Ok(answer.into_inner()),
                Err(status) => Err(format!("rpc error: code = {:?} desc = {}", status.code(), status.message())),
            }
        };
        match tokio::time::timeout(self.timeout, call).await {
            Ok(answer) => answer,
            Err(_) => Err("rpc error: code = DeadlineExceeded desc = context deadline exceeded".into()),
        }
    }
}

/// The last cause says what happened; those before it only where.
fn unavailable(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    format!("rpc error: code = Unavailable desc = {last}")
}
