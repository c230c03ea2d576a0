//! The answers of HTTP servers: a connection is busy until the last byte of an answer is out.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use http_body::{Body, Frame, SizeHint};

use crate::Serving;

/// Keeps the request marked as being served for as long as its answer goes on: a watch or a
/// followed log lasts. A body whose length is known is all there and needs no such care. `wrap`
/// turns the guarded body into the server's own kind.
pub fn while_served<B: Body + Unpin>(
    response: Response<B>,
    serving: Serving,
    wrap: impl FnOnce(Served<B>) -> B,
) -> Response<B> {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| wrap(Served { body, _serving: serving }))
}

/// A body on whose connection a request is being served until it has ended.
pub struct Served<B> {
    body: B,
    _serving: Serving,
}

impl<B: Body + Unpin> Body for Served<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
