//! The seam between a request and the API server that answers it.

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full, combinators::UnsyncBoxBody};

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body in either direction. Watches and logs stream, so it need not end.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Carries one request to the API server and brings its answer back. Not retried here.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError>;
}

pub fn empty_body() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

pub fn full_body(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// The whole of a body that ends.
pub async fn read_body(body: Body) -> Result<Bytes, BoxError> {
    Ok(body.collect().await?.to_bytes())
}
