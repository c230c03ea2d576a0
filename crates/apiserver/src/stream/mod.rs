//! Requests that end at a kubelet, a pod or a service: logs, exec, attach, port-forward
//! and proxy. The server finds where to go (`location.rs`), connects there and passes
//! bytes (`backend.rs`); what flows is for the two ends to understand. A WebSocket or
//! SPDY connection is upgraded on both sides and then only copied.

mod backend;
mod location;

pub use backend::Kubelets;

use crate::answer;
use crate::transport::{Body, BoxError, read_limited};
use crate::verbs::{self, Call};
use backend::is_upgrade;
use ferry_api::status::Status;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use location::{Location, Scheme};

/// How much of a kubelet's error is read and shown.
const ERROR_MAX: usize = 50_000;

/// Whether a request is one of these.
pub fn serves(call: &Call) -> bool {
    call.row.group.is_empty()
        && matches!(
            (call.row.plural.as_ref(), call.info.subresource.as_str()),
            ("pods", "log" | "exec" | "attach" | "portforward" | "proxy") | ("nodes" | "services", "proxy")
        )
}

pub async fn serve(call: Call, request: Request<Body>) -> Result<Response<Body>, Status> {
    let name = call.info.subresource.as_str();
    let subresource = call.row.subresource(name).ok_or_else(Status::no_such_path)?;
    if !subresource.verbs.iter().any(|verb| *verb == call.info.verb) {
        return Err(verbs::method_not_allowed());
    }
    match name {
        "log" => log(&call).await,
        "proxy" => {
            let location = location::of_proxy(&call, request.uri().query())?;
            pass_on(&call, request, location).await
        }
        _ => {
            let location = location::of_stream(&call)?;
            if !is_upgrade(request.headers()) {
                return Err(Status::bad_request("Upgrade request required"));
            }
            pass_on(&call, request, location).await
        }
    }
}

/// A container's log as the kubelet streams it.
async fn log(call: &Call) -> Result<Response<Body>, Status> {
    let Some(location) = location::of_log(call)? else {
        // A pod without a node has said nothing yet.
        return Ok(answer::text(StatusCode::OK, ""));
    };
    let request = Request::get(location.path_and_query.as_str())
        .body(crate::transport::empty())
        .map_err(|error| Status::bad_request(error.to_string()))?;
    let response = call.server.kubelets.send(&location, request).await.map_err(dial_failed)?;
    let (mut parts, body) = response.into_parts();
    if !parts.status.is_success() {
        let text = read_limited(body, ERROR_MAX).await.ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&text).trim_end().to_owned();
        return Err(match parts.status.as_u16() {
            400 => Status::bad_request(text),
            500 => Status::internal(text),
            404 => Status::failure(
                404,
                "NotFound",
                format!("the server could not find the requested resource ( pods/log {})", call.info.name),
            ),
            code => Status::failure(code, "InternalError", text),
        });
    }
    parts.headers.remove(http::header::TRANSFER_ENCODING);
    parts.headers.remove(http::header::CONNECTION);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    Ok(Response::from_parts(parts, body))
}

/// Sends the request where it belongs and the answer back; after a 101 on both sides the
/// two connections are one.
async fn pass_on(call: &Call, mut request: Request<Body>, location: Location) -> Result<Response<Body>, Status> {
    let upgrade = is_upgrade(request.headers());
    let client = upgrade.then(|| hyper::upgrade::on(&mut request));
    let (mut parts, body) = request.into_parts();
    parts.uri = location
        .path_and_query
        .parse()
        .map_err(|error: http::uri::InvalidUri| Status::bad_request(error.to_string()))?;
    parts.version = http::Version::HTTP_11;
    let drop: Vec<http::HeaderName> = parts
        .headers
        .keys()
        .filter(|name| {
            let name = name.as_str();
            name.starts_with("impersonate-") || name.starts_with("x-remote-") || name == "host" || name == "audit-id"
        })
        .cloned()
        .collect();
    drop.into_iter().for_each(|name| {
        parts.headers.remove(name);
    });
    if !upgrade {
        backend::drop_hop_by_hop(&mut parts.headers);
    }
    if let Some(remote) = call.headers.get("x-forwarded-for") {
        parts.headers.insert("x-forwarded-for", remote.clone());
    }
    let mut response =
        call.server.kubelets.send(&location, Request::from_parts(parts, body)).await.map_err(dial_failed)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        backend::drop_hop_by_hop(response.headers_mut());
        return Ok(response);
    }
    let Some(client) = client else {
        return Err(Status::internal("the backend switched protocols without being asked"));
    };
    let backend = hyper::upgrade::on(&mut response);
    tokio::spawn(async move {
        let outcome: Result<(), BoxError> = async {
            // The client's side is upgraded once our answer has been sent to it.
            let (client, backend) = tokio::try_join!(client, backend)?;
            let mut client = hyper_util::rt::TokioIo::new(client);
            let mut backend = hyper_util::rt::TokioIo::new(backend);
            tokio::io::copy_bidirectional(&mut client, &mut backend).await?;
            Ok(())
        }
        .await;
        if let Err(error) = outcome {
            tracing::debug!(%error, "an upgraded connection ended");
        }
    });
    Ok(response.map(|_| crate::transport::empty()))
}

fn dial_failed(error: BoxError) -> Status {
    Status::internal(format!("error dialing backend: {error}"))
}

impl Scheme {
    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https | Self::Kubelet => 443,
        }
    }
}
