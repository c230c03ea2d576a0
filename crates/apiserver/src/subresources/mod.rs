//! What stands behind an object's name: `status`, `scale`, `binding`… and the kinds that
//! are only asked and answered. `verbs::dispatch` sends requests here; those that hold a
//! connection open (`exec`, `log`, `proxy`…) go to `stream/` instead.

mod binding;
mod containers;
mod eviction;
mod finalize;
mod review;
mod scale;
mod token;

pub use review::create_review;

use crate::registry::Part;
use crate::transport::Body;
use crate::verbs::{self, Call};
use bytes::Bytes;
use ferry_api::status::Status;
use http::Response;

pub async fn dispatch(call: Call, body: Bytes) -> Result<Response<Body>, Status> {
    let name = call.info.subresource.clone();
    let subresource = call.row.subresource(&name).ok_or_else(Status::no_such_path)?;
    let verb = call.info.verb.clone();
    if !subresource.verbs.iter().any(|v| *v == verb) {
        return Err(verbs::method_not_allowed());
    }
    match (call.row.group.as_ref(), call.row.plural.as_ref(), name.as_str(), verb.as_str()) {
        (_, _, "status", "get") => verbs::get(&call).await,
        (_, _, "status", "update") => verbs::update(&call, body, Part::Status).await,
        (_, _, "status", "patch") => verbs::patch(&call, body, Part::Status).await,
        (_, _, "scale", _) => scale::scale(&call, body).await,
        ("", "pods", "binding", _) => binding::bind(&call, body).await,
        ("", "pods", "eviction", _) => eviction::evict(&call, body).await,
        ("", "pods", "ephemeralcontainers" | "resize", "get") => verbs::get(&call).await,
        ("", "pods", "ephemeralcontainers" | "resize", _) => containers::change(&call, body).await,
        ("", "serviceaccounts", "token", _) => token::issue(&call, body).await,
        ("", "namespaces", "finalize", _) => finalize::finalize(&call, body).await,
        ("certificates.k8s.io", _, "approval", "get") => verbs::get(&call).await,
        ("certificates.k8s.io", _, "approval", "update") => verbs::update(&call, body, Part::Other("approval")).await,
        ("certificates.k8s.io", _, "approval", "patch") => verbs::patch(&call, body, Part::Other("approval")).await,
        _ => Err(Status::no_such_path()),
    }
}
