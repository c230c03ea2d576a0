//! A KMS v2 plugin as the API server meets one: gRPC over a unix socket, spoken by hand.
//! Its "encryption" is a xor under the key id, which is enough to tell keys apart.

use bytes::{BufMut, Bytes, BytesMut};
use ferry_apiserver::encryption::kms::api::{
    DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusResponse,
};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::Mutex;
use prost::Message;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::UnixListener;
use tokio::task::JoinSet;

pub struct Plugin {
    pub socket: PathBuf,
    pub state: Arc<Mutex<State>>,
    tasks: Arc<Mutex<JoinSet<()>>>,
}

pub struct State {
    pub key_id: String,
    pub healthz: String,
    pub decrypts: usize,
}

impl Plugin {
    pub fn start(directory: &Path) -> Self {
        let state = State { key_id: "1".into(), healthz: "ok".into(), decrypts: 0 };
        let plugin = Self {
            socket: directory.join("kms.sock"),
            state: Arc::new(Mutex::new(state)),
            tasks: Arc::new(Mutex::new(JoinSet::new())),
        };
        plugin.listen();
        plugin
    }

    pub fn listen(&self) {
        let _ = std::fs::remove_file(&self.socket);
        let listener = UnixListener::bind(&self.socket).expect("a socket");
        let (state, tasks) = (self.state.clone(), self.tasks.clone());
        self.tasks.lock().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = state.clone();
                tasks.lock().spawn(async move {
                    let service = hyper::service::service_fn(move |request| answer(state.clone(), request));
                    let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    let _ = http.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
    }

    /// The plugin is gone, with its socket and every connection.
    pub fn stop(&self) {
        self.tasks.lock().abort_all();
        let _ = std::fs::remove_file(&self.socket);
    }

    /// The providers list that names it.
    pub fn provider(&self) -> String {
        format!("{{kms: {{apiVersion: v2, name: plugin, timeout: 2s, endpoint: 'unix://{}'}}}}", self.socket.display())
    }
}

fn xor(key_id: &str, bytes: &[u8]) -> Vec<u8> {
    let mask = key_id.bytes().fold(0x5a_u8, u8::wrapping_add);
    bytes.iter().map(|byte| byte ^ mask).collect()
}

async fn answer(
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> Result<Response<http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let message = body.get(5..).unwrap_or_default();
    let mut state = state.lock();
    let result: Result<Vec<u8>, &str> = match path.rsplit('/').next().unwrap_or_default() {
        "Status" => {
            Ok(StatusResponse { version: "v2".into(), healthz: state.healthz.clone(), key_id: state.key_id.clone() }
                .encode_to_vec())
        }
        "Encrypt" => EncryptRequest::decode(message).map_err(|_| "bad request").map(|request| {
            EncryptResponse {
                ciphertext: xor(&state.key_id, &request.plaintext),
                key_id: state.key_id.clone(),
                annotations: BTreeMap::from([("note.example.com".to_owned(), b"kept".to_vec())]),
            }
            .encode_to_vec()
        }),
        "Decrypt" => DecryptRequest::decode(message).map_err(|_| "bad request").and_then(|request| {
            state.decrypts += 1;
            if request.annotations.get("note.example.com").map(Vec::as_slice) != Some(b"kept") {
                return Err("the annotations are missing");
            }
            Ok(DecryptResponse { plaintext: xor(&request.key_id, &request.ciphertext) }.encode_to_vec())
        }),
        _ => Err("no such call"),
    };
    let mut trailers = HeaderMap::new();
    let mut frames = Vec::new();
    match result {
        Ok(message) => {
            let mut frame = BytesMut::with_capacity(message.len() + 5);
            frame.put_u8(0);
            frame.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
            frame.put_slice(&message);
            frames.push(Ok(Frame::data(frame.freeze())));
            trailers.insert("grpc-status", http::HeaderValue::from_static("0"));
        }
        Err(why) => {
            trailers.insert("grpc-status", http::HeaderValue::from_static("13"));
            trailers.insert("grpc-message", why.parse().expect("a header"));
        }
    }
    frames.push(Ok(Frame::trailers(trailers)));
    let body = StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync();
    Ok(Response::builder().header("content-type", "application/grpc").body(body).expect("a response"))
}
