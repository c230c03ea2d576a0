//! What stands behind an object's name: `status`, `scale`, `binding`… and the kinds that
//! are only asked and answered. `verbs::dispatch` sends requests here; those that hold a
//! connection open (`exec`, `log`, `proxy`…) the chain gives to their handler before it reads a
//! body.

mod all;
mod binding;
mod containers;
mod eviction;
mod finalize;
mod review;
mod scale;
mod token;

pub(crate) use review::create_review;

use crate::transport::Body;
use crate::verbs::{self, Call};
use bytes::Bytes;
use ferry_api::status::Status;
use futures_util::future::BoxFuture;
use http::{Request, Response};

/// The handler of a subresource that takes the connection itself.
pub(crate) fn connection_of(call: &Call) -> Option<Connect> {
    match all::handler_of(&call.row, &call.info.subresource)? {
        all::Handler::Connection(handler) => Some(handler),
        all::Handler::Body(_) => None,
    }
}

pub(crate) type Connect = fn(Call, Request<Body>) -> BoxFuture<'static, Result<Response<Body>, Status>>;

pub(crate) async fn dispatch(call: Call, body: Bytes) -> Result<Response<Body>, Status> {
    let name = call.info.subresource.as_str();
    let subresource = call.row.subresource(name).ok_or_else(Status::no_such_path)?;
    if !subresource.verbs.iter().any(|verb| *verb == call.info.verb) {
        return Err(verbs::method_not_allowed());
    }
    match all::handler_of(&call.row, name) {
        Some(all::Handler::Body(handler)) => handler(&call, body).await,
        _ => Err(Status::no_such_path()),
    }
}
