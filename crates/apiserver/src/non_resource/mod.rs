//! The paths that name no resource: health, version, discovery, OpenAPI, metrics, profiles,
//! the OpenID documents, and the index of all of them. The chain calls [`serve`].

pub(crate) mod discovery;
pub(crate) mod health;
pub(crate) mod openapi;
pub(crate) mod profiling;
pub(crate) mod version;

use crate::authn::openid;
use crate::door::answer;
use crate::door::negotiate::{self, Accepted, Use};
use crate::query::Query;
use crate::request_info::RequestInfo;
use crate::transport::Body;
use crate::{ServerState, metrics, reseal};
use ferry_api::problems;
use ferry_api::status::Status;
use http::header::{CACHE_CONTROL, HeaderValue};
use http::{HeaderMap, Method, Response, StatusCode};
use serde_json::json;

/// The scheduler's last decisions: `?pod=NAME&namespace=NAMESPACE` for those about one pod, with
/// every node.
const DECISIONS_PATH: &str = "/debug/scheduler/decisions";

pub(crate) async fn serve(
    server: &ServerState,
    method: &Method,
    headers: &HeaderMap,
    info: &RequestInfo,
    query: &Query,
    body: Body,
) -> Result<Response<Body>, Status> {
    if info.path.starts_with("/debug/")
        && let Some(answer) = profiling::serve(server, method, &info.path, query, body).await
    {
        return Ok(answer);
    }
    let path = info.path.trim_end_matches('/');
    if let (DECISIONS_PATH, &Method::GET, Some(render)) = (path, method, &server.config.scheduler_decisions) {
        let (namespace, pod) = (query.get("namespace").unwrap_or("default"), query.get("pod"));
        let value = render(pod.map(|pod| (namespace, pod)));
        return Ok(answer::document(StatusCode::OK, &value, &negotiate::output(headers, query, Use::Plain)?));
    }
    if path == reseal::PATH {
        let value = match *method {
            Method::GET => reseal::status(server, query).await?,
            Method::POST => reseal::reseal(server, query).await?,
            _ => return Err(crate::verbs::method_not_allowed()),
        };
        return Ok(answer::document(StatusCode::OK, &value, &Accepted::JSON));
    }
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Err(crate::verbs::method_not_allowed());
    }
    if let Some((endpoint, check)) = health::split(path) {
        return Ok(health::answer(server, endpoint, check, query));
    }
    let plain = || negotiate::output(headers, query, Use::Plain);
    match path {
        "" => Ok(answer::document(StatusCode::OK, &index(server), &plain()?)),
        "/version" => {
            Ok(answer::document(StatusCode::OK, &version::render(), &Accepted { pretty: true, ..Accepted::JSON }))
        }
        problems::PATH => {
            health::report_store(server);
            let value = json!({"problems": server.config.problems.list()});
            Ok(answer::document(StatusCode::OK, &value, &plain()?))
        }
        "/metrics" => {
            let text = server.metrics.render(server);
            Ok(answer::raw(StatusCode::OK, metrics::CONTENT_TYPE, text))
        }
        "/metrics/slis" => Ok(answer::raw(StatusCode::OK, metrics::CONTENT_TYPE, server.metrics.health.render())),
        openid::CONFIGURATION_PATH => {
            let value = openid::render_configuration(server.authenticator.tokens(), &server.config.external_address());
            Ok(cached(answer::document(StatusCode::OK, &value, &Accepted::JSON)))
        }
        openid::KEYS_PATH => {
            let value = openid::render_keys(server.authenticator.tokens());
            Ok(cached(answer::raw(StatusCode::OK, openid::KEYS_CONTENT_TYPE, value.to_string())))
        }
        _ if path == "/api" || path == "/apis" || path.starts_with("/api/") || path.starts_with("/apis/") => {
            discovery::serve(server, headers, path, query)
        }
        _ if path == "/openapi/v2" || path == "/openapi/v3" || path.starts_with("/openapi/v3/") => {
            openapi::serve(server, headers, path, query).await
        }
        _ => Err(Status::no_such_path()),
    }
}

fn cached(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(openid::CACHE_CONTROL));
    response
}

/// `/`: every path there is.
fn index(server: &ServerState) -> serde_json::Value {
    let mut paths: Vec<String> = [
        "/.well-known/openid-configuration",
        "/api",
        "/api/v1",
        "/apis",
        "/apis/",
        "/healthz",
        "/livez",
        "/metrics",
        "/metrics/slis",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/",
        "/openid/v1/jwks",
        "/readyz",
        "/version",
    ]
    .map(str::to_owned)
    .to_vec();
    for row in server.registry.rows.all().iter().filter(|row| !row.group.is_empty()) {
        paths.push(format!("/apis/{}", row.group));
        paths.push(format!("/apis/{}/{}", row.group, row.version));
    }
    paths.sort();
    paths.dedup();
    json!({"paths": paths})
}
