//! Paths and who answers them.

use super::{Body, logs, stats, streaming, text};
use crate::context::Context;
use crate::pod;
use crate::static_pods::mirror::{static_uid, with_status};
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

    /// Upstream takes both the API's words and the kubelet's own: `1` and `true`.
    pub fn flag(&self, names: &[&str]) -> bool {
        names.iter().any(|name| matches!(self.one(name), Some("1" | "true" | "True" | "TRUE" | "t")))
    }
}

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
        ["healthz"] | ["healthz", "ping" | "syncloop"] => text(StatusCode::OK, "ok"),
        ["configz"] if is_get => json(configz(&context)),
        ["pods"] if is_get => json(pod_list(&context)),
        ["metrics"] if is_get => stats::metrics(&context).await,
        ["metrics", "resource"] if is_get => stats::resource_metrics(&context).await,
        ["stats", "summary"] if is_get => stats::summary(&context, &query).await,
        ["containerLogs" | "exec" | "attach" | "portForward" | "run", namespace, name, rest @ ..] => {
            // The uid may stand between the pod and its container.
            let (uid, container) = match (parts[0], rest) {
                ("portForward", []) => (None, None),
                ("portForward", [uid]) => (Some(*uid), None),
                (_, [container]) => (None, Some(*container)),
                ("exec" | "attach", [uid, container]) => (Some(*uid), Some(*container)),
                _ => return not_found(),
            };
            let found = context.pod(namespace, name).filter(|pod| uid.is_none_or(|uid| pod.uid() == uid));
            let Some(pod) = found else {
                return text(StatusCode::NOT_FOUND, format!("pod {name:?} does not exist"));
            };
            let answer = match (parts[0], container) {
                ("containerLogs", Some(container)) if is_get => {
                    Ok(logs::serve(context, pod.view(), container, &query).await)
                }
                ("exec", Some(container)) => streaming::exec(context, pod.view(), container, &query, request).await,
                ("attach", Some(container)) => streaming::attach(context, pod.view(), container, &query, request).await,
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

/// The configuration with every default, as upstream's configz has it.
fn configz(context: &Context) -> String {
    serde_json::json!({ "kubeletconfig": context.config.configuration.effective }).to_string()
}

/// The pods as the API server sent them; nothing of them is read for this.
fn pod_list(context: &Context) -> String {
    let mut pods = context.pods.list(None);
    // A static pod stands for itself, with the status of its mirror.
    let mirrors: Vec<_> = pods.extract_if(.., |pod| pod::is_mirror(pod.view())).collect();
    pods.extend(context.static_pods.list().into_iter().map(|pod| {
        let mirror = mirrors.iter().find(|mirror| static_uid(mirror.view()) == Some(pod.uid()));
        mirror.map_or(pod.clone(), |mirror| with_status(&pod, mirror))
    }));
    let items: Vec<_> = pods.iter().map(|pod| pod.document().root().to_json()).collect();
    format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{}},"items":[{}]}}"#, items.join(","))
}

pub(super) fn json(body: impl Into<String>) -> Response<Body> {
    let mut response = text(StatusCode::OK, body);
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    response
}
