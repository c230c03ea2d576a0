//! Large answers to clients that take gzip are compressed on the way out
//! (endpoints/handlers/responsewriters upstream): above 128 KiB, at the fastest level,
//! because the API server's processor is dearer than the network beside it.

use crate::transport::{Body, BoxError};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HeaderValue, VARY};
use http::{HeaderMap, Response};
use http_body::{Body as HttpBody, Frame};
use http_body_util::BodyExt;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

const THRESHOLD: usize = 128 * 1024;

fn takes_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.split(';').next().is_some_and(|name| name.trim() == "gzip"))
}

/// Puts a streamed body of a known length into a response, compressed if that pays.
pub(crate) fn stream_response<B>(
    response: Response<Body>,
    body: B,
    length: usize,
    headers: &HeaderMap,
) -> Response<Body>
where
    B: HttpBody<Data = Bytes, Error = BoxError> + Send + Unpin + 'static,
{
    let (mut parts, _) = response.into_parts();
    if length <= THRESHOLD || !takes_gzip(headers) {
        return Response::from_parts(parts, body.boxed_unsync());
    }
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Gzip { body, encoder: Some(encoder()) }.boxed_unsync())
}

/// The same for a response whose body is whole already.
pub(crate) fn response(response: Response<Body>, headers: &HeaderMap) -> Response<Body> {
    let length = response.body().size_hint().exact().unwrap_or(0);
    let (parts, body) = response.into_parts();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    stream_response(Response::from_parts(parts, crate::transport::empty()), body, length, headers)
}

fn encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::fast())
}

struct Gzip<B> {
    body: B,
    /// Gone once the trailer is written.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl<B> HttpBody for Gzip<B>
where
    B: HttpBody<Data = Bytes, Error = BoxError> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        loop {
            let Some(mut encoder) = self.encoder.take() else { return Poll::Ready(None) };
            let next = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => {
                    self.encoder = Some(encoder);
                    return Poll::Pending;
                }
                Poll::Ready(next) => next,
            };
            match next {
                None => return Poll::Ready(Some(Ok(Frame::data(encoder.finish()?.into())))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        encoder.write_all(&data)?;
                    }
                    let out = std::mem::take(encoder.get_mut());
                    self.encoder = Some(encoder);
                    // The encoder keeps small pieces to itself until it has a block.
                    if !out.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(out.into()))));
                    }
                }
            }
        }
    }
}
