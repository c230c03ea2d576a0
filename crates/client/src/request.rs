//! One request and its answer. `api.rs` has the requests of a kind.

use crate::decode::decode;
use crate::error::Error;
use crate::transport::{Body, Transport, empty_body, full_body, read_body};
use crate::watch::WatchEvents;
use ferry_api::document::WantsDocuments;
use ferry_api::problems::Problems;
use ferry_api::status::Status;
use ferry_api::view::Kind;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// What may not stand bare in a path segment.
const SEGMENT: &AsciiSet =
    &CONTROLS.add(b' ').add(b'/').add(b'?').add(b'#').add(b'%').add(b'"').add(b'<').add(b'>').add(b'`');

/// How often a request that was told to come back later (429) is sent again.
const MAX_RETRIES_WHEN_THROTTLED: u32 = 5;

/// Where a collection is: `/apis/apps/v1/…/deployments`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourcePath {
    pub group: String,
    pub version: String,
    pub plural: String,
}

impl ResourcePath {
    pub fn new(group: &str, version: &str, plural: &str) -> Self {
        Self { group: group.into(), version: version.into(), plural: plural.into() }
    }

    pub fn of<K: Kind>() -> Self {
        Self::new(K::GROUP, K::VERSION, K::PLURAL)
    }

    /// The URL path of the collection, of one object, or of an object's subresource.
    /// An empty namespace means cluster scope, or every namespace.
    pub fn url(&self, namespace: &str, name: Option<&str>, subresource: Option<&str>) -> String {
        let mut out = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        let mut push = |segment: &str| {
            out.push('/');
            out.extend(utf8_percent_encode(segment, SEGMENT));
        };
        if !namespace.is_empty() {
            push("namespaces");
            push(namespace);
        }
        push(&self.plural);
        name.into_iter().chain(subresource).for_each(push);
        out
    }
}

/// A request in plain parts, for callers that are not after a builtin kind.
#[derive(Debug, Default)]
pub struct Request {
    pub method: http::Method,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    pub content_type: Option<&'static str>,
    pub accept: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListParams {
    pub label_selector: Option<String>,
    pub field_selector: Option<String>,
    pub limit: Option<u32>,
    pub continue_token: Option<String>,
    pub resource_version: Option<String>,
}

impl ListParams {
    pub(crate) fn query(&self) -> Vec<(String, String)> {
        let mut query = Vec::new();
        let mut add = |key: &str, value: Option<String>| query.extend(value.map(|v| (key.to_owned(), v)));
        add("labelSelector", self.label_selector.clone());
        add("fieldSelector", self.field_selector.clone());
        add("limit", self.limit.map(|n| n.to_string()));
        add("continue", self.continue_token.clone());
        add("resourceVersion", self.resource_version.clone());
        query
    }
}

#[derive(Clone, Debug, Default)]
pub struct DeleteParams {
    pub grace_period_seconds: Option<i64>,
    /// `Background`, `Foreground` or `Orphan`.
    pub propagation_policy: Option<String>,
    /// Only if the object still has this uid.
    pub uid: Option<String>,
    pub resource_version: Option<String>,
}

impl DeleteParams {
    fn body(&self) -> Value {
        let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
        if let Some(seconds) = self.grace_period_seconds {
            options["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(policy) = &self.propagation_policy {
            options["propagationPolicy"] = policy.as_str().into();
        }
        if let Some(uid) = &self.uid {
            options["preconditions"]["uid"] = uid.as_str().into();
        }
        if let Some(revision) = &self.resource_version {
            options["preconditions"]["resourceVersion"] = revision.as_str().into();
        }
        options
    }
}

#[derive(Clone, Debug)]
pub enum Patch {
    Json(Value),
    Merge(Value),
    Strategic(Value),
    Apply { manager: String, force: bool, body: Value },
}

impl Patch {
    fn content_type(&self) -> &'static str {
        match self {
            Self::Json(_) => "application/json-patch+json",
            Self::Merge(_) => "application/merge-patch+json",
            Self::Strategic(_) => "application/strategic-merge-patch+json",
            Self::Apply { .. } => "application/apply-patch+yaml",
        }
    }

    fn query(&self) -> Vec<(String, String)> {
        match self {
            Self::Apply { manager, force, .. } => {
                vec![("fieldManager".into(), manager.clone()), ("force".into(), force.to_string())]
            }
            _ => Vec::new(),
        }
    }

    fn body(&self) -> &Value {
        match self {
            Self::Json(body) | Self::Merge(body) | Self::Strategic(body) | Self::Apply { body, .. } => body,
        }
    }
}

/// Cheap to clone; every clone speaks as the same user.
#[derive(Clone)]
pub struct Client {
    transport: Arc<dyn Transport>,
    user_agent: Arc<str>,
    problems: Problems,
}

impl Client {
    /// `component` becomes the user agent, and so the field manager of plain writes.
    pub fn new(transport: Arc<dyn Transport>, component: &str) -> Self {
        Self { transport, user_agent: component.into(), problems: Problems::default() }
    }

    /// Informers of this client report to `problems` the objects that they cannot read.
    pub fn with_problems(mut self, problems: Problems) -> Self {
        self.problems = problems;
        self
    }

    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    pub fn user_agent(&self) -> &str {
        &self.user_agent
    }

    /// The name that the user agent begins with: `kube-proxy` of `kube-proxy/v1.36`.
    pub fn component(&self) -> &str {
        self.user_agent.split('/').next().unwrap_or_default()
    }

    pub async fn delete_at(
        &self,
        path: &ResourcePath,
        namespace: &str,
        name: &str,
        params: &DeleteParams,
    ) -> Result<(), Error> {
        let url = path.url(namespace, Some(name), None);
        self.read::<_, serde::de::IgnoredAny>(http::Method::DELETE, url, Some(&params.body())).await.map(drop)
    }

    pub async fn delete_collection_at(
        &self,
        path: &ResourcePath,
        namespace: &str,
        params: &DeleteParams,
    ) -> Result<(), Error> {
        let url = path.url(namespace, None, None);
        self.read::<_, serde::de::IgnoredAny>(http::Method::DELETE, url, Some(&params.body())).await.map(drop)
    }

    /// PUT of an object or of one of its subresources, which may be of another kind (`scale`).
    pub async fn replace_at<R: DeserializeOwned>(
        &self,
        path: &ResourcePath,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        body: &Value,
    ) -> Result<R, Error> {
        self.read(http::Method::PUT, path.url(namespace, Some(name), subresource), Some(body)).await
    }

    pub async fn patch_at<R: DeserializeOwned>(
        &self,
        path: &ResourcePath,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        patch: &Patch,
    ) -> Result<R, Error> {
        self.decode(self.patch_request(path, namespace, name, subresource, patch)?).await
    }

    pub(crate) fn patch_request(
        &self,
        path: &ResourcePath,
        namespace: &str,
        name: &str,
        subresource: Option<&str>,
        patch: &Patch,
    ) -> Result<Request, Error> {
        let url = path.url(namespace, Some(name), subresource);
        let body = serde_json::to_vec(patch.body())
            .map_err(|source| Error::Encode { what: url.clone(), source: source.into() })?;
        Ok(Request {
            method: http::Method::PATCH,
            path: url,
            query: patch.query(),
            body: Some(body),
            content_type: Some(patch.content_type()),
            accept: None,
        })
    }

    /// Opens a watch after `resource_version`. In the API server's own process its events are
    /// the documents of the watch cache. The stream ends when the server ends it.
    pub async fn watch_documents(
        &self,
        path: &ResourcePath,
        namespace: &str,
        params: &ListParams,
        resource_version: &str,
        accept: Option<&str>,
    ) -> Result<WatchEvents, Error> {
        let request = watch_request(path, namespace, params, resource_version, accept);
        Ok(WatchEvents::new(self.call_for_documents(request).await?))
    }

    /// Sends a request as it stands; an answer of 400 or above becomes [`Error::Api`].
    pub async fn call(&self, request: Request) -> Result<http::Response<Body>, Error> {
        self.call_marked(request, |_| ()).await
    }

    /// The same for a LIST or WATCH whose answer may come in shared documents.
    pub(crate) async fn call_for_documents(&self, request: Request) -> Result<http::Response<Body>, Error> {
        let mark = |request: &mut http::Request<Body>| {
            request.extensions_mut().insert(WantsDocuments);
        };
        self.call_marked(request, mark).await
    }

    async fn call_marked(
        &self,
        request: Request,
        mark: fn(&mut http::Request<Body>),
    ) -> Result<http::Response<Body>, Error> {
        let mut attempt = 0;
        loop {
            let mut built = self.build(&request)?;
            mark(&mut built);
            let response = self.transport.send(built).await.map_err(Error::Transport)?;
            if response.status().as_u16() < 400 {
                return Ok(response);
            }
            let code = response.status().as_u16();
            let retry_after = response.headers().get("retry-after").and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
            let body = read_body(response.into_body()).await.map_err(Error::Transport)?;
            if code == 429
                && attempt < MAX_RETRIES_WHEN_THROTTLED
                && let Some(seconds) = retry_after
            {
                attempt += 1;
                tokio::time::sleep(Duration::from_secs(seconds.clamp(1, 10))).await;
                continue;
            }
            // A proxy in between may answer with plain text; keep it as the message.
            let status = serde_json::from_slice::<Status>(&body)
                .ok()
                .filter(|s| s.kind == "Status")
                .unwrap_or_else(|| Status::failure(code, "", String::from_utf8_lossy(&body).trim().to_owned()));
            return Err(status.into());
        }
    }

    async fn read<B: Serialize, R: DeserializeOwned>(
        &self,
        method: http::Method,
        path: String,
        body: Option<&B>,
    ) -> Result<R, Error> {
        let body = body
            .map(serde_json::to_vec)
            .transpose()
            .map_err(|source| Error::Encode { what: path.clone(), source: source.into() })?;
        self.decode(Request { method, path, body, ..Default::default() }).await
    }

    /// Sends a request as it stands and decodes its JSON answer.
    pub async fn decode<R: DeserializeOwned>(&self, request: Request) -> Result<R, Error> {
        let what = format!("{} {}", request.method, request.path);
        let response = self.call(request).await?;
        let body = read_body(response.into_body()).await.map_err(Error::Transport)?;
        decode(&body).map_err(|source| Error::Decode { what, source })
    }

    fn build(&self, request: &Request) -> Result<http::Request<Body>, Error> {
        let mut uri = request.path.clone();
        if !request.query.is_empty() {
            uri.push('?');
            uri.push_str(&form_urlencoded::Serializer::new(String::new()).extend_pairs(&request.query).finish());
        }
        let mut builder = http::Request::builder()
            .method(request.method.clone())
            .uri(uri)
            .header(http::header::USER_AGENT, &*self.user_agent)
            .header(http::header::ACCEPT, request.accept.as_deref().unwrap_or("application/json"));
        let body = match &request.body {
            Some(bytes) => {
                builder =
                    builder.header(http::header::CONTENT_TYPE, request.content_type.unwrap_or("application/json"));
                full_body(bytes.clone())
            }
            None => empty_body(),
        };
        builder.body(body).map_err(|source| Error::Encode { what: request.path.clone(), source: source.into() })
    }
}

fn watch_request(
    path: &ResourcePath,
    namespace: &str,
    params: &ListParams,
    resource_version: &str,
    accept: Option<&str>,
) -> Request {
    let mut query = params.query();
    query.retain(|(key, _)| key == "labelSelector" || key == "fieldSelector");
    query.push(("watch".into(), "true".into()));
    query.push(("allowWatchBookmarks".into(), "true".into()));
    query.push(("resourceVersion".into(), resource_version.into()));
    Request { path: path.url(namespace, None, None), query, accept: accept.map(str::to_owned), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_follow_the_api() {
        let pods = ResourcePath::new("", "v1", "pods");
        assert_eq!(pods.url("default", Some("web"), Some("log")), "/api/v1/namespaces/default/pods/web/log");
        assert_eq!(pods.url("", None, None), "/api/v1/pods");
        let roles = ResourcePath::new("rbac.authorization.k8s.io", "v1", "clusterroles");
        assert_eq!(
            roles.url("", Some("system:node/x"), None),
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node%2Fx"
        );
    }
}
