//! Requests to the server behind an APIService: those of clients, passed on
//! (kube-aggregator/pkg/apiserver/handler_proxy.go), and our own.

use super::Aggregator;
use super::index::Entry;
use crate::authn::UserInfo;
use crate::outgoing::{self, Target, Tls};
use crate::request_info::RequestInfo;
use crate::stream::links::Links;
use crate::stream::onward::{self, Failure, Onward};
use crate::transport::{Body, empty, full, read_limited};
use crate::webhook::resolve_service;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, IF_NONE_MATCH};
use http::{HeaderMap, Request, Response, StatusCode};
use std::fmt::Write;
use std::time::Duration;

/// Discovery must answer quickly, because every client waits for all of it.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest document that is read of a backend.
const DOCUMENT_MAX: usize = 64 << 20;

/// An answer to a request of our own.
pub(crate) struct Fetched {
    pub code: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Bytes,
}

impl Fetched {
    pub(crate) fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// The identity of our own requests. The group makes sure that no backend refuses them.
pub(crate) fn aggregator_user() -> UserInfo {
    UserInfo { name: "system:kube-aggregator".into(), groups: vec!["system:masters".into()], ..UserInfo::default() }
}

impl Aggregator {
    /// Passes a client's request on. Failures are plain text, as upstream's are.
    pub(crate) async fn serve(
        &self,
        entry: &Entry,
        user: &UserInfo,
        info: &RequestInfo,
        audit_id: Option<&HeaderValue>,
        mut request: Request<Body>,
    ) -> Response<Body> {
        if !entry.available {
            return plain_error(StatusCode::SERVICE_UNAVAILABLE, "service unavailable");
        }
        let target = match self.target(entry) {
            Ok(target) => target,
            Err(Unreachable::Tls(why)) => return plain_error(StatusCode::INTERNAL_SERVER_ERROR, &why),
            Err(Unreachable::Service(why)) => {
                tracing::debug!(name = entry.name, why, "an aggregated API server has no address");
                return plain_error(StatusCode::SERVICE_UNAVAILABLE, "service unavailable");
            }
        };
        set_user(request.headers_mut(), user);
        if let Some(audit_id) = audit_id {
            request.headers_mut().insert("audit-id", audit_id.clone());
        }
        let upgrade = onward::is_upgrade(request.headers());
        let host = target.authority();
        let onward = Onward {
            path_and_query: path_and_query(request.uri()),
            links: Some(Links { scheme: "https".into(), host: host.clone(), ..Links::default() }),
            host: Some(host),
            target,
            refuse_redirects: true,
        };
        let passed = onward::pass_on(&*self.dial, onward, request);
        let is_discovery = !info.is_resource && info.path.trim_matches('/').split('/').count() == 3;
        let outcome = if is_discovery {
            match tokio::time::timeout(DISCOVERY_TIMEOUT, passed).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Failure::Dial("context deadline exceeded".into())),
            }
        } else {
            passed.await
        };
        let mut response = match outcome {
            Ok(response) => response,
            Err(Failure::Dial(error)) => {
                plain_error(StatusCode::SERVICE_UNAVAILABLE, &format!("error trying to reach service: {error}"))
            }
            Err(failure) => plain_error(StatusCode::SERVICE_UNAVAILABLE, &failure.to_string()),
        };
        if upgrade {
            onward::end_refused_upgrade(&mut response);
        }
        response
    }

    /// Asks a backend for a document as the aggregator itself.
    pub(crate) async fn fetch(&self, entry: &Entry, path: &str, accept: &str, etag: &str) -> Result<Fetched, String> {
        let target = self.target(entry).map_err(|error| error.to_string())?;
        let mut request = Request::get(path).body(empty()).map_err(|error| error.to_string())?;
        let headers = request.headers_mut();
        set_user(headers, &aggregator_user());
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
        headers.insert(HOST, value(&target.authority())?);
        if !accept.is_empty() {
            headers.insert(ACCEPT, value(accept)?);
        }
        if !etag.is_empty() {
            headers.insert(IF_NONE_MATCH, value(etag)?);
        }
        let url = format!("https://{}{path}", target.authority());
        let exchange = async {
            let response = outgoing::send(&*self.dial, &target, request).await?;
            let (parts, body) = response.into_parts();
            let bytes = read_limited(body, DOCUMENT_MAX).await?.ok_or("the document is too large")?;
            Ok::<_, crate::BoxError>(Fetched { code: parts.status, headers: parts.headers, bytes })
        };
        match tokio::time::timeout(DISCOVERY_TIMEOUT, exchange).await {
            Ok(Ok(fetched)) => Ok(fetched),
            Ok(Err(error)) => Err(format!("Get {url:?}: {error}")),
            Err(_) => {
                Err(format!("Get {url:?}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)"))
            }
        }
    }

    /// Where a backend is now; looked up for each request, because pods come and go.
    pub(super) fn target(&self, entry: &Entry) -> Result<Target, Unreachable> {
        let remote = entry.remote.as_ref().ok_or_else(|| Unreachable::Service("local".into()))?;
        let config = entry.tls(self.identity.as_ref()).map_err(Unreachable::Tls)?;
        let endpoint = resolve_service(&*self.lookup, &remote.namespace, &remote.service, remote.port)
            .map_err(|status| Unreachable::Service(status.message))?;
        Ok(Target {
            host: endpoint.host,
            address: None,
            port: endpoint.port,
            tls: Some(Tls { config, server_name: remote.server_name() }),
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Unreachable {
    #[error("{0}")]
    Tls(String),
    #[error("{0}")]
    Service(String),
}

/// What Go's http.Error writes.
fn plain_error(code: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(full(format!("{text}\n")));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}

/// The query's keys sorted, as Go's url.Values writes them; the path as it came.
fn path_and_query(uri: &http::Uri) -> String {
    let Some(query) = uri.query().filter(|query| !query.is_empty()) else { return uri.path().to_owned() };
    let mut pairs: Vec<(String, String)> =
        form_urlencoded::parse(query.as_bytes()).map(|(k, v)| (k.into_owned(), v.into_owned())).collect();
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    let encoded = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    format!("{}?{encoded}", uri.path())
}

/// Names the caller in the headers that backends read, and nobody else: what the caller
/// sent of them itself is taken away.
fn set_user(headers: &mut HeaderMap, user: &UserInfo) {
    onward::drop_front_proxy_headers(headers);
    let mut add = |name: &str, text: &str| {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(text.as_bytes())) {
            headers.append(name, value);
        }
    };
    add("x-remote-user", &user.name);
    if !user.uid.is_empty() {
        add("x-remote-uid", &user.uid);
    }
    user.groups.iter().for_each(|group| add("x-remote-group", group));
    for (key, values) in &user.extra {
        let name = format!("x-remote-extra-{}", escape_key(key));
        values.iter().for_each(|value| add(&name, value));
    }
}

/// A key of extras may hold characters that a header's name cannot.
fn escape_key(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for byte in key.bytes() {
        let legal = byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte);
        if legal {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn backends_hear_of_the_caller_from_us_alone() {
        let mut headers = HeaderMap::new();
        headers.insert("x-remote-user", HeaderValue::from_static("mallory"));
        headers.insert("x-remote-extra-scopes", HeaderValue::from_static("all"));
        let user = UserInfo {
            name: "alice".into(),
            uid: "7".into(),
            groups: vec!["a".into(), "b".into()],
            extra: BTreeMap::from([("example.com/Scope".to_owned(), vec!["read".to_owned()])]),
        };
        set_user(&mut headers, &user);
        assert_eq!(headers.get_all("x-remote-user").iter().collect::<Vec<_>>(), ["alice"]);
        assert_eq!(headers["x-remote-uid"], "7");
        assert_eq!(headers.get_all("x-remote-group").iter().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(headers["x-remote-extra-example.com%2fscope"], "read");
        assert!(!headers.contains_key("x-remote-extra-scopes"));
    }

    #[test]
    fn queries_are_written_sorted() {
        let uri = "/apis/a/v1/b?watch=1&a=x%20y&a=b".parse().expect("a URI");
        assert_eq!(path_and_query(&uri), "/apis/a/v1/b?a=x+y&a=b&watch=1");
        assert_eq!(path_and_query(&"/apis/a/v1?".parse().expect("a URI")), "/apis/a/v1");
    }
}
