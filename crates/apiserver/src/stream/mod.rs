//! Requests that end at a kubelet, a pod or a service: logs, exec, attach, port-forward
//! and proxy. The server finds where to go (`location.rs`) and passes the request on
//! (`onward.rs`); what flows is for the two ends to understand. A WebSocket or SPDY
//! connection is upgraded on both sides and then only copied.

mod connect;
pub(crate) mod links;
mod location;
mod log_socket;
pub(crate) mod onward;

use crate::config::KubeletAccess;
use crate::door::answer;
use crate::door::negotiate::Format;
use crate::outgoing::{self, Dial, Target, Tls};
use crate::transport::{Body, read_limited};
use crate::verbs::{self, Call};
use crate::webhook::tls::{Protocols, unverified_config};
use bytes::Bytes;
use ferry_api::status::Status;
use http::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Method, Request, Response, StatusCode};
use links::Links;
use location::{Location, Scheme};
use onward::{Failure, Onward, is_upgrade};
use rustls::ClientConfig;
use serde_json::Value;
use std::sync::Arc;

/// How much of a kubelet's error is read and shown.
const ERROR_MAX: usize = 50_000;

/// What the other ends of streams are spoken to with.
pub(crate) struct Backends {
    dial: Arc<dyn Dial>,
    /// Shows the server's client certificate, and only to those whom the cluster's
    /// authority vouches for. `None` where there are no kubelets.
    kubelets: Option<Arc<ClientConfig>>,
    /// Pods and services are reached by address, which no certificate names.
    anyone: Arc<ClientConfig>,
}

impl Backends {
    pub(crate) fn new(access: Option<&KubeletAccess>, dial: Arc<dyn Dial>) -> Result<Self, crate::Error> {
        let kubelets = access
            .map(|access| ferry_pki::tls::live_client_config(&access.ca_pem, access.identity.clone()))
            .transpose()?
            .map(Arc::new);
        let anyone =
            unverified_config(None, Protocols::Http1).map_err(|error| crate::Error::OutgoingTls(error.to_string()))?;
        Ok(Self { dial, kubelets, anyone })
    }

    fn target(&self, location: &Location) -> Result<Target, Status> {
        let config = match location.scheme {
            Scheme::Http => None,
            Scheme::Https => Some(self.anyone.clone()),
            Scheme::Kubelet => {
                let kubelets = self.kubelets.clone();
                Some(kubelets.ok_or_else(|| Status::internal("this server has no credentials for kubelets"))?)
            }
        };
        let tls = config.map(|config| Tls { config, server_name: location.host.clone() });
        Ok(Target { host: location.host.clone(), address: location.address, port: location.port, tls })
    }
}

impl Backends {
    /// A page of a node's kubelet, read whole (`resource_metrics/`).
    pub(crate) async fn read_from_kubelet(&self, node: &Value, path: &str, limit: usize) -> Result<Bytes, Status> {
        let location = location::at_kubelet(node, path)?;
        let request = Request::get(path).body(crate::transport::empty()).map_err(Status::internal)?;
        let (request, url) = with_host(request, &location)?;
        let failed = |why: String| Status::failure(500, "", format!("Get {url:?}: {why}"));
        let target = self.target(&location)?;
        let response =
            outgoing::send(&*self.dial, &target, request).await.map_err(|error| failed(error.to_string()))?;
        let code = response.status();
        let body = read_limited(response.into_body(), limit).await.map_err(|error| failed(error.to_string()))?;
        match body {
            Some(body) if code.is_success() => Ok(body),
            Some(_) => Err(failed(format!("request failed, status: {code}"))),
            None => Err(failed("the page is too large".to_owned())),
        }
    }
}

/// The handler of all of them (`subresources/all.rs`).
pub(crate) async fn serve(call: Call, request: Request<Body>) -> Result<Response<Body>, Status> {
    let name = call.info.subresource.as_str();
    let subresource = call.row.subresource(name).ok_or_else(Status::no_such_path)?;
    if name == "proxy" {
        return proxy(&call, request).await;
    }
    if !subresource.verbs.iter().any(|verb| *verb == call.info.verb) {
        return Err(verbs::method_not_allowed());
    }
    if name == "log" {
        let socket = log_socket::LogSocket::asked_for(request)?;
        let response = log(&call).await?;
        return Ok(match socket {
            Some(socket) => socket.open(response.into_body()),
            None => response,
        });
    }
    may_create(&call).await?;
    connect::admit(&call).await?;
    let location = location::of_stream(&call)?;
    if !is_upgrade(request.headers()) {
        return Err(Status::bad_request("Upgrade request required"));
    }
    pass_on(&call, request, location, None).await
}

/// Any method to a node, a pod or a service.
async fn proxy(call: &Call, request: Request<Body>) -> Result<Response<Body>, Status> {
    let method = request.method();
    let methods =
        [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];
    if !methods.contains(method) {
        return Err(verbs::method_not_allowed());
    }
    connect::admit(call).await?;
    let path = location::backend_path(&call.info);
    let query = request.uri().query();
    let location = location::of_proxy(call, &path, query).await?;
    let asked = call.info.path.as_str();
    if path.is_empty() && matches!(*method, Method::GET | Method::HEAD) && !is_upgrade(request.headers()) {
        // Links in a page are relative to its directory, so the page must be in one.
        let query = query.map(|query| format!("?{query}")).unwrap_or_default();
        let mut response = answer::raw(StatusCode::MOVED_PERMANENTLY, "text/plain; charset=utf-8", "");
        if let Ok(value) = HeaderValue::from_str(&format!("{asked}/{query}")) {
            response.headers_mut().insert(LOCATION, value);
        }
        return Ok(response);
    }
    let decoded = percent_encoding::percent_decode_str(asked).decode_utf8_lossy();
    let prefix = decoded.strip_suffix(path.as_str()).unwrap_or(&decoded);
    let links = Links { prefix: location::encode_path(prefix), ..Links::default() };
    pass_on(call, request, location, Some(links)).await
}

/// A WebSocket begins with a GET, but what it opens into a pod takes the right to create,
/// whatever the method.
async fn may_create(call: &Call) -> Result<(), Status> {
    if call.info.verb == "create" {
        return Ok(());
    }
    let verdict = call.server.authorizer.decide(&call.attributes("create")).await;
    match verdict.error {
        _ if verdict.is_allowed() => Ok(()),
        Some(error) => Err(Status::internal(error)),
        None => Err(Status::forbidden(&call.row.group_resource(), &call.info.name, verdict.decision.reason())),
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
    let (request, url) = with_host(request, &location)?;
    let target = call.server.backends.target(&location)?;
    let response = outgoing::send(&*call.server.backends.dial, &target, request)
        .await
        .map_err(|error| Status::failure(500, "", format!("Get {url:?}: {error}")))?;
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

fn with_host(mut request: Request<Body>, location: &Location) -> Result<(Request<Body>, String), Status> {
    let host = outgoing::authority(&location.host, location.port);
    let url = format!("https://{host}{}", location.path_and_query);
    let value = HeaderValue::from_str(&host).map_err(Status::internal)?;
    request.headers_mut().insert(http::header::HOST, value);
    Ok((request, url))
}

async fn pass_on(
    call: &Call,
    mut request: Request<Body>,
    location: Location,
    links: Option<Links>,
) -> Result<Response<Body>, Status> {
    let backends = &call.server.backends;
    let target = backends.target(&location)?;
    onward::drop_front_proxy_headers(request.headers_mut());
    request.headers_mut().remove("audit-id");
    let upgrade = is_upgrade(request.headers());
    let reached_as = if links.is_some() && !upgrade { Reached::Service } else { Reached::Backend };
    let onward = Onward { target, path_and_query: location.path_and_query, host: None, links, refuse_redirects: false };
    let outcome = onward::pass_on(&*backends.dial, onward, request).await;
    let outcome = outcome.map_err(|failure| failed(failure, reached_as));
    if !upgrade {
        return outcome;
    }
    let mut response = outcome.unwrap_or_else(|status| answer::status(&status, Format::Json));
    onward::end_refused_upgrade(&mut response);
    Ok(response)
}

/// In which words upstream tells that a backend was not reached: the proxy's transport and
/// the upgrade have each their own.
#[derive(Clone, Copy)]
enum Reached {
    Service,
    Backend,
}

fn failed(failure: Failure, reached_as: Reached) -> Status {
    match (failure, reached_as) {
        (Failure::Dial(error), Reached::Service) => {
            Status::service_unavailable(format!("error trying to reach service: {error}"))
        }
        (Failure::Dial(error), Reached::Backend) => Status::failure(500, "", format!("error dialing backend: {error}")),
        (Failure::Request(why), _) => Status::bad_request(why),
        (other, _) => Status::failure(500, "", other.to_string()),
    }
}
