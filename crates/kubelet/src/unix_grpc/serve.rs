//! The other side of gRPC over a unix socket: services of the kubelet's own (device plugins register
//! with it), and those of the plugins that tests run.

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http::{HeaderMap, HeaderValue};
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use tokio::net::UnixListener;
use tonic::Status;

/// No message that somebody sends here is longer.
const MAX_MESSAGE: usize = 4 << 20;

/// The encoded messages of an answer.
pub enum Reply {
    One(Vec<u8>),
    Many(BoxStream<'static, Vec<u8>>),
}

impl Reply {
    pub fn of(message: &impl prost::Message) -> Self {
        Self::One(message.encode_to_vec())
    }
}

type Frames = StreamBody<BoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// Answers calls until it is dropped. The handler gets the path (`/package.Service/Method`) and the
/// encoded request.
pub async fn serve<H, F>(listener: UnixListener, handler: H)
where
    H: Fn(String, Vec<u8>) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Reply, Status>> + Send + 'static,
{
    let handler = Arc::new(handler);
    // Connections end with the server.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // Out of descriptors, most likely; others give theirs back.
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                };
                let handler = handler.clone();
                let service = hyper::service::service_fn(move |request| answer(handler.clone(), request));
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                connections.spawn(async move {
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// One call: messages with five bytes before each, and the status in the trailers.
async fn answer<H, F>(handler: Arc<H>, request: http::Request<Incoming>) -> Result<http::Response<Frames>, Infallible>
where
    H: Fn(String, Vec<u8>) -> F,
    F: Future<Output = Result<Reply, Status>>,
{
    let path = request.uri().path().to_owned();
    let body = Limited::new(request.into_body(), MAX_MESSAGE).collect().await;
    let result = match body {
        Ok(body) => {
            let body = body.to_bytes();
            handler(path, body.get(5..).unwrap_or_default().to_vec()).await
        }
        Err(error) => Err(Status::resource_exhausted(error.to_string())),
    };
    let frames: BoxStream<'static, Result<Frame<Bytes>, Infallible>> = match result {
        Ok(Reply::One(message)) => {
            stream::iter([Ok(frame(&message)), Ok(Frame::trailers(trailers(&Status::ok(""))))]).boxed()
        }
        Ok(Reply::Many(messages)) => messages
            .map(|message| Ok(frame(&message)))
            .chain(stream::iter([Ok(Frame::trailers(trailers(&Status::ok(""))))]))
            .boxed(),
        Err(status) => stream::iter([Ok(Frame::trailers(trailers(&status)))]).boxed(),
    };
    let mut response = http::Response::new(StreamBody::new(frames));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    Ok(response)
}

fn frame(message: &[u8]) -> Frame<Bytes> {
    let mut out = BytesMut::with_capacity(message.len() + 5);
    out.put_u8(0);
    out.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    out.put_slice(message);
    Frame::data(out.freeze())
}

fn trailers(status: &Status) -> HeaderMap {
    let mut out = HeaderMap::new();
    out.insert("grpc-status", HeaderValue::from(status.code() as i32));
    let text = percent_encoding::utf8_percent_encode(status.message(), percent_encoding::CONTROLS).to_string();
    if let Ok(text) = HeaderValue::from_str(&text) {
        out.insert("grpc-message", text);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unix_grpc;
    use prost::Message;
    use std::time::Duration;

    #[derive(Clone, PartialEq, prost::Message)]
    struct Word {
        #[prost(string, tag = "1")]
        text: String,
    }

    #[tokio::test]
    async fn calls_streams_and_errors_reach_the_client() {
        let directory = tempfile::tempdir().expect("a directory");
        let socket = directory.path().join("s");
        let listener = UnixListener::bind(&socket).expect("bound");
        let server = tokio::spawn(serve(listener, |path, message| async move {
            let word = Word::decode(message.as_slice()).map_err(|error| Status::internal(error.to_string()))?;
            match path.as_str() {
                "/t.T/Echo" => Ok(Reply::of(&word)),
                "/t.T/Twice" => Ok(Reply::Many(stream::iter([word.encode_to_vec(), word.encode_to_vec()]).boxed())),
                _ => Err(Status::unimplemented("no such method")),
            }
        }));
        let channel = unix_grpc::connect(socket);
        let word = || Word { text: "a".into() };
        let limit = Duration::from_secs(10);
        let echo: Word = unix_grpc::call(&channel, "/t.T/Echo", word(), limit, None).await.expect("answered");
        assert_eq!(echo, word());
        let mut twice = unix_grpc::stream::<_, Word>(&channel, "/t.T/Twice", word()).await.expect("answered");
        let mut count = 0;
        while let Some(message) = twice.message().await.expect("a message") {
            assert_eq!(message, word());
            count += 1;
        }
        assert_eq!(count, 2);
        let error = unix_grpc::call::<_, Word>(&channel, "/t.T/Other", word(), limit, None).await.expect_err("none");
        assert_eq!((error.code(), error.message()), (tonic::Code::Unimplemented, "no such method"));
        server.abort();
    }
}
