//! Paths and who answers them.

use super::{Body, checkpoint, configz, logs, pods, stats, streaming, system_logs, text, zpages};
use crate::context::Context;
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use std::collections::HashMap;
use std::sync::Arc;

/// The query by name; a name given several times keeps all its values.
pub(super) struct Query(HashMap<String, Vec<String>>);

impl Query {
    pub fn parse(text: &str) -> Self {
        let mut map: HashMap<String, Vec<String>> = HashMap::new();
        for (key, value) in form_urlencoded::parse(text.as_bytes()).into_owned() {
            map.entry(key).or_default().push(value);
        }
        Self(map)
    }

    pub fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    pub fn one(&self, name: &str) -> Option<&str> {
        self.all(name).first().map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Upstream takes both the API's words and the kubelet's own: `1` and `true`.
    pub fn flag(&self, names: &[&str]) -> bool {
        names.iter().any(|name| matches!(self.one(name), Some("1" | "true" | "True" | "TRUE" | "t")))
    }
}

/// The first names of all paths, as /statusz lists them.
const PATHS: [&str; 15] = [
    "/attach",
    "/checkpoint",
    "/configz",
    "/containerLogs",
    "/exec",
    "/flagz",
    "/healthz",
    "/logs",
    "/metrics",
    "/pods",
    "/portForward",
    "/run",
    "/runningpods",
    "/stats",
    "/statusz",
];

pub(super) async fn serve(context: Arc<Context>, request: Request<Incoming>) -> Response<Body> {
    let path = request.uri().path().to_string();
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let decoded: Vec<String> = path
        .trim_matches('/')
        .split('/')
        .map(|part| percent_encoding::percent_decode_str(part).decode_utf8_lossy().into_owned())
        .collect();
    let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
    let is_get = request.method() == Method::GET;
    match parts.as_slice() {
        ["healthz"] | ["healthz", "ping" | "log" | "syncloop"] => text(StatusCode::OK, "ok"),
        ["pods"] if is_get => json(pods::bound(&context)),
        ["runningpods"] if is_get => pods::running(&context).await,
        ["metrics"] if is_get => stats::metrics(&context).await,
        ["metrics", "resource"] if is_get => stats::resource_metrics(&context).await,
        ["metrics", "cadvisor"] if is_get => stats::cadvisor_metrics(&context).await,
        ["metrics", "probes"] if is_get => stats::probe_metrics(&context),
        ["stats"] | ["stats", "summary"] if is_get => stats::summary(&context, &query).await,
        ["configz"] if is_get => json(configz::render(&context.config).to_string()),
        ["statusz"] if is_get => zpages::statusz(request.headers(), &context.config.version, context.started, &PATHS),
        ["flagz"] if is_get => zpages::flagz(request.headers(), &configz::settings(&context.config)),
        ["logs", ..] if is_get && query.has("query") => match context.config.system_log_query {
            true => system_logs::answer_query(system_logs::DIRECTORY, &query).await,
            false => system_logs::browse(system_logs::DIRECTORY, parts[1..].join("/")).await,
        },
        ["logs", rest @ ..] if is_get => system_logs::browse(system_logs::DIRECTORY, rest.join("/")).await,
        ["checkpoint", namespace, name, container] if request.method() == Method::POST => {
            checkpoint::serve(&context, namespace, name, container, &query).await
        }
        [
            "pods" | "runningpods" | "metrics" | "stats" | "configz" | "statusz" | "flagz" | "logs" | "checkpoint",
            ..,
        ] if !is_get => text(StatusCode::METHOD_NOT_ALLOWED, "405: Method Not Allowed"),
        ["containerLogs" | "exec" | "attach" | "portForward" | "run", namespace, name, rest @ ..] => {
            // The uid may stand between the pod and its container.
            let (uid, container) = match (parts[0], rest) {
                ("portForward", []) => (None, None),
                ("portForward", [uid]) => (Some(*uid), None),
                (_, [container]) => (None, Some(*container)),
                ("exec" | "attach" | "run", [uid, container]) => (Some(*uid), Some(*container)),
                _ => return not_found(),
            };
            let found = context.pods.get(namespace, name).filter(|pod| uid.is_none_or(|uid| pod.uid() == uid));
            let Some(pod) = found else {
                return text(StatusCode::NOT_FOUND, format!("pod {name:?} does not exist"));
            };
            let answer = match (parts[0], container) {
                ("containerLogs", Some(container)) if is_get => {
                    Ok(logs::serve(context, pod.view(), container, &query).await)
                }
                ("exec", Some(container)) => {
                    let session = streaming::Session::Exec;
                    streaming::open(session, context, pod.view(), container, &query, request).await
                }
                ("attach", Some(container)) => {
                    let session = streaming::Session::Attach;
                    streaming::open(session, context, pod.view(), container, &query, request).await
                }
                ("portForward", None) => streaming::port_forward(context, pod.view(), &query, request).await,
                ("run", Some(container)) if request.method() == Method::POST => {
                    streaming::run(context, pod.view(), container, &query).await
                }
                _ => Ok(not_found()),
            };
            answer.unwrap_or_else(|refusal| *refusal)
        }
        _ => not_found(),
    }
}

fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

pub(super) fn json(body: impl Into<String>) -> Response<Body> {
    let mut response = text(StatusCode::OK, body);
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    response
}
