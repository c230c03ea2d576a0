//! Answers: statuses, objects and documents to HTTP responses. Every response of the
//! server is made here or in a stream of its own (`verbs/list.rs`, `verbs/watch.rs`,
//! `stream/`).
//!
//! JSON ends with a newline and indented JSON with none, as upstream's encoder has it
//! (apimachinery/pkg/runtime/serializer/json): clients compare the bodies of failures.

use crate::door::negotiate::{Accepted, Format};
use crate::transport::{Body, BoxError, full};
use bytes::Bytes;
use ferry_api::status::Status;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A failure, always as JSON unless the client speaks another format.
pub(crate) fn status(status: &Status, format: Format) -> Response<Body> {
    let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let retry = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    let value = serde_json::to_value(status).unwrap_or(Value::Null);
    let accepted = Accepted { format, ..Accepted::JSON };
    let mut response =
        value_response(code, &value, &accepted, || serde_json::to_vec(status).unwrap_or_default().into());
    if retry > 0 {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(retry));
    }
    response
}

/// An object whose JSON is at hand.
pub(crate) fn object(code: StatusCode, value: &Value, bytes: &Bytes, accepted: &Accepted) -> Response<Body> {
    value_response(code, value, accepted, || bytes.clone())
}

/// An object of which only the bytes are at hand: no decode where JSON is wanted.
pub(crate) fn bytes(code: StatusCode, bytes: Bytes, accepted: &Accepted) -> Response<Body> {
    if accepted.format == Format::Json && !accepted.pretty {
        return json_line(code, bytes);
    }
    if accepted.format == Format::Protobuf {
        return match crate::door::wire::json_to_protobuf(&bytes) {
            Some(protobuf) => raw(code, Format::Protobuf.media_type(), protobuf),
            // A kind without a protobuf form is answered in JSON, which every client reads.
            None => json_line(code, bytes),
        };
    }
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) => value_response(code, &value, accepted, || bytes.clone()),
        Err(error) => status(&Status::internal(error), Format::Json),
    }
}

/// A document made on the spot.
pub(crate) fn document(code: StatusCode, value: &Value, accepted: &Accepted) -> Response<Body> {
    value_response(code, value, accepted, || crate::registry::encode::encode(value).into())
}

fn value_response(
    code: StatusCode,
    value: &Value,
    accepted: &Accepted,
    json: impl FnOnce() -> Bytes,
) -> Response<Body> {
    match accepted.format {
        Format::Json if accepted.pretty => {
            raw(code, Format::Json.media_type(), serde_json::to_vec_pretty(value).unwrap_or_default())
        }
        Format::Json => json_line(code, json()),
        Format::Yaml => match serde_yaml_ng::to_string(value) {
            Ok(text) => raw(code, Format::Yaml.media_type(), text),
            Err(error) => status(&Status::internal(error), Format::Json),
        },
        Format::Protobuf => match crate::door::wire::to_protobuf(value) {
            Some(bytes) => raw(code, Format::Protobuf.media_type(), bytes),
            // A kind without a protobuf form is answered in JSON, which every client reads.
            None => json_line(code, json()),
        },
    }
}

/// A JSON document and its newline. The bytes are shared with the cache, so that the newline
/// is a piece of its own.
fn json_line(code: StatusCode, json: Bytes) -> Response<Body> {
    let body = http_body_util::BodyExt::boxed_unsync(Line { pieces: [Some(json), Some(Bytes::from_static(b"\n"))] });
    stream(code, Format::Json.media_type(), body)
}

struct Line {
    pieces: [Option<Bytes>; 2],
}

impl http_body::Body for Line {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, BoxError>>> {
        let piece = self.pieces.iter_mut().find_map(Option::take);
        Poll::Ready(piece.map(|piece| Ok(http_body::Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.iter().all(Option::is_none)
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.pieces.iter().flatten().map(|piece| piece.len() as u64).sum())
    }
}

pub(crate) fn raw(code: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    stream(code, content_type, full(body))
}

pub(crate) fn stream(code: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

pub(crate) fn text(code: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    raw(code, "text/plain; charset=utf-8", body)
}
