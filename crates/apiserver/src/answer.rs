//! Answers: statuses, objects and documents to HTTP responses. Every response of the
//! server is made here or in a stream of its own (`verbs/list.rs`, `verbs/watch.rs`,
//! `stream/`).

use crate::negotiate::{Accepted, Format};
use crate::transport::{Body, full};
use bytes::Bytes;
use ferry_api::status::Status;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde_json::Value;

/// A failure, always as JSON unless the client speaks another format.
pub fn status(status: &Status, format: Format) -> Response<Body> {
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
pub fn object(code: StatusCode, value: &Value, bytes: &Bytes, accepted: &Accepted) -> Response<Body> {
    value_response(code, value, accepted, || bytes.clone())
}

/// An object of which only the bytes are at hand: no decode where JSON is wanted.
pub fn bytes(code: StatusCode, bytes: Bytes, accepted: &Accepted) -> Response<Body> {
    if accepted.format == Format::Json && !accepted.pretty {
        return raw(code, accepted.format.media_type(), bytes);
    }
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) => value_response(code, &value, accepted, || bytes.clone()),
        Err(error) => status(&Status::internal(error), Format::Json),
    }
}

/// A document made on the spot.
pub fn document(code: StatusCode, value: &Value, accepted: &Accepted) -> Response<Body> {
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
            let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
            text.push(b'\n');
            raw(code, Format::Json.media_type(), text)
        }
        Format::Json => raw(code, Format::Json.media_type(), json()),
        Format::Yaml => match serde_yaml_ng::to_string(value) {
            Ok(text) => raw(code, Format::Yaml.media_type(), text),
            Err(error) => status(&Status::internal(error), Format::Json),
        },
        Format::Protobuf => match crate::wire::to_protobuf(value) {
            Some(bytes) => raw(code, Format::Protobuf.media_type(), bytes),
            // A kind without a protobuf form is answered in JSON, which every client reads.
            None => raw(code, Format::Json.media_type(), json()),
        },
    }
}

pub fn raw(code: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    stream(code, content_type, full(body))
}

pub fn stream(code: StatusCode, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

pub fn text(code: StatusCode, body: impl Into<Bytes>) -> Response<Body> {
    raw(code, "text/plain; charset=utf-8", body)
}
