//! The one way out to hooks: admission, conversion, token review, access review and audit
//! all post JSON to an HTTPS server that somebody else runs, and read JSON back.
//!
//! A [`Hook`] is made once from a `clientConfig` of an API object or from a kubeconfig
//! file, keeps its connections, and is cheap to clone. What goes wrong is told in the
//! sentences of client-go, because users see them in the errors of their own requests.
//!
//! A redirect is an error: whoever runs a hook must not be able to send the API server,
//! with its place in the network, to an address of their choice (CVE-2020-8561).

pub mod dial;
mod kubeconfig;
mod service;
pub mod tls;

pub use kubeconfig::Kubeconfig;
pub use service::{ServiceEndpoint, resolve_service};

use bytes::Bytes;
use dial::{Dial, Target};
use ferry_api::object::Meta;
use ferry_api::rules::duration;
use ferry_api::status::{Cause, Details, Status};
use ferry_cache::lookup::ObjectLookup;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a hook may take when nobody says otherwise (upstream's for both kinds of
/// configuration).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How much of an answer is read. Upstream reads without end; the largest answer that
/// makes sense is a list of converted objects, each of which fits into a request.
const ANSWER_MAX: usize = 64 << 20;

/// How much of an answer that is no Status is repeated in an error (client-go's number).
const ERROR_TEXT_MAX: usize = 2048;

/// Why a hook gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration cannot be called at all.
    #[error("{0}")]
    Config(String),
    /// No answer came: the connection, TLS or the time failed.
    #[error("Post {url:?}: {cause}")]
    Transport { url: String, cause: String, timeout: bool },
    /// An answer came and says no.
    #[error("{0}")]
    Answered(Box<Status>),
    /// An answer came that makes no sense.
    #[error("{0}")]
    Garbage(String),
}

impl Error {
    /// The Status that the hook's server answered with, if that is what happened.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Answered(status) => Some(status),
            _ => None,
        }
    }

    /// Whether the time ran out.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Transport { timeout: true, .. })
    }

    /// Whether asking again may help (upstream's DefaultShouldRetry, for hooks that answer
    /// the same question the same way: token and access reviews, audit).
    pub fn is_retriable(&self) -> bool {
        match self {
            Self::Transport { cause, .. } => cause.contains("connection reset"),
            Self::Answered(status) => {
                matches!(status.reason.as_str(), "InternalError" | "Timeout" | "TooManyRequests")
                    || status.details.as_ref().is_some_and(|details| details.retry_after_seconds > 0)
            }
            Self::Config(_) | Self::Garbage(_) => false,
        }
    }
}

/// A server that is asked.
#[derive(Clone)]
pub struct Hook {
    http: Client<Dial, Full<Bytes>>,
    /// `https://name.namespace.svc:443/path`, without a query.
    url: Arc<str>,
    credentials: Credentials,
}

/// How the server proves to a hook who it is, besides a client certificate.
#[derive(Clone)]
enum Credentials {
    None,
    Header(HeaderValue),
    /// Read for each request, since tokens in files are replaced while we run.
    TokenFile(Arc<PathBuf>),
}

impl Hook {
    /// From the `clientConfig` of a webhook configuration or the `webhook.clientConfig` of
    /// a custom resource definition: a `url` or a `service`, and a `caBundle`.
    pub fn from_client_config(config: &Value, lookup: Arc<dyn ObjectLookup>) -> Result<Self, Error> {
        let bundle = match config.str_at(&["caBundle"]) {
            "" => None,
            text => Some(tls::decode_bundle(text)?),
        };
        if let Some(service) = config.get("service").filter(|service| service.is_object()) {
            let port = service.i64_at(&["port"]).and_then(|port| u16::try_from(port).ok()).unwrap_or(443);
            let (namespace, name) = (service.str_at(&["namespace"]), service.str_at(&["name"]));
            let host = format!("{name}.{namespace}.svc");
            // A connection of HTTP/2 would send every call to one of the service's pods.
            let tls = tls::client_config(bundle.as_deref(), None, tls::Protocols::Http1)?;
            let url = format!("https://{host}:{port}{}", clean_path(service.str_at(&["path"])));
            let target = Target::Service { lookup, namespace: namespace.into(), name: name.into(), port };
            return Ok(Self::new(url, Dial::new(target, Some(tls), &host)?, Credentials::None));
        }
        let text = config.str_at(&["url"]);
        if text.is_empty() {
            return Err(Error::Config("webhook configuration must have either service or URL".into()));
        }
        let uri = parse_url(text)?;
        let host = uri.host().unwrap_or_default().to_owned();
        let protocols = if is_local_host(&host) { tls::Protocols::Http2 } else { tls::Protocols::Http1 };
        let tls = tls::client_config(bundle.as_deref(), None, protocols)?;
        Self::at(&uri, Some(tls), &host, Credentials::None)
    }

    /// From a kubeconfig file, as token, access, image and audit hooks are configured.
    pub fn from_kubeconfig(config: &Kubeconfig) -> Result<Self, Error> {
        let uri = parse_url(&config.server)?;
        let host = match config.tls_server_name.as_str() {
            "" => uri.host().unwrap_or_default(),
            name => name,
        }
        .to_owned();
        let tls = match uri.scheme_str() {
            Some("https") => Some(config.tls()?),
            _ => None,
        };
        let credentials = if let Some(path) = &config.token_file {
            Credentials::TokenFile(Arc::new(path.clone()))
        } else if let Some(header) = config.authorization() {
            Credentials::Header(header?)
        } else {
            Credentials::None
        };
        Self::at(&uri, tls, &host, credentials)
    }

    fn at(
        uri: &http::Uri,
        tls: Option<Arc<rustls::ClientConfig>>,
        host: &str,
        credentials: Credentials,
    ) -> Result<Self, Error> {
        let scheme = uri.scheme_str().unwrap_or("https");
        let authority = uri.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let url = format!("{scheme}://{authority}{}", clean_path(uri.path()));
        let port = uri.port_u16().unwrap_or(if tls.is_some() { 443 } else { 80 });
        let target = Target::Address { host: uri.host().unwrap_or_default().into(), port };
        Ok(Self::new(url, Dial::new(target, tls, host)?, credentials))
    }

    fn new(url: String, dial: Dial, credentials: Credentials) -> Self {
        let http = Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(dial);
        Self { http, url: url.into(), credentials }
    }

    /// Where requests go, for messages.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Posts a document and gives the answer's. `timeout` covers all of it: finding the
    /// server, connecting, asking and reading.
    pub async fn post(&self, body: &Value, timeout: Duration) -> Result<Value, Error> {
        let url = format!("{}?timeout={}", self.url, whole_seconds(timeout));
        let request = Request::post(&url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, */*")
            .header(USER_AGENT, "kube-apiserver-admission")
            .body(Full::new(body.to_string().into()));
        self.within(timeout, &url, request).await
    }

    /// Fetches a document: an issuer's configuration or keys.
    pub async fn get(&self, timeout: Duration) -> Result<Value, Error> {
        let request = Request::get(&*self.url)
            .header(ACCEPT, "application/json, */*")
            .header(USER_AGENT, "kube-apiserver")
            .body(Full::default());
        self.within(timeout, &self.url, request).await
    }

    async fn within(
        &self,
        timeout: Duration,
        url: &str,
        request: Result<Request<Full<Bytes>>, http::Error>,
    ) -> Result<Value, Error> {
        let request = request.map_err(|error| Error::Config(error.to_string()))?;
        match tokio::time::timeout(timeout, self.exchange(url, request)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let cause = "context deadline exceeded".to_owned();
                Err(Error::Transport { url: url.to_owned(), cause, timeout: true })
            }
        }
    }

    async fn exchange(&self, url: &str, mut request: Request<Full<Bytes>>) -> Result<Value, Error> {
        let failed = |cause: String| Error::Transport { url: url.to_owned(), cause, timeout: false };
        match &self.credentials {
            Credentials::None => {}
            Credentials::Header(value) => {
                request.headers_mut().insert(AUTHORIZATION, value.clone());
            }
            Credentials::TokenFile(path) => {
                let token = tokio::fs::read_to_string(&**path)
                    .await
                    .map_err(|error| failed(format!("open {}: {error}", path.display())))?;
                request.headers_mut().insert(AUTHORIZATION, kubeconfig::bearer(token.trim())?);
            }
        }
        let response = self.http.request(request).await.map_err(|error| failed(innermost(&error)))?;
        let (parts, body) = response.into_parts();
        let body = match Limited::new(body, ANSWER_MAX).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Err(Error::Garbage(format!("response body is larger than the limit of {ANSWER_MAX} bytes")));
            }
            Err(error) => {
                let text = "unexpected error when reading response body. Please retry. Original error";
                return Err(Error::Garbage(format!("{text}: {error}")));
            }
        };
        if !parts.status.is_success() {
            return Err(Error::Answered(Box::new(refusal(parts.status, &parts.headers, &body))));
        }
        if body.is_empty() {
            let kind = text_header(&parts.headers, CONTENT_TYPE);
            let code = parts.status.as_u16();
            return Err(Error::Garbage(format!("0-length response with status code: {code} and content type: {kind}")));
        }
        decode(&body)
    }
}

/// The document in an answer. What is wrong with it is said as Go says it.
fn decode(body: &[u8]) -> Result<Value, Error> {
    match ferry_api::codec::decode_any(body) {
        Ok(decoded) => Ok(decoded.value),
        Err(error) => Err(Error::Garbage(error.to_string())),
    }
}

/// What an answer that is no success means: the Status in it, or one made of its code
/// (client-go's NewGenericServerResponse).
fn refusal(code: StatusCode, headers: &HeaderMap, body: &[u8]) -> Status {
    let status = serde_json::from_slice::<Status>(body).ok();
    if let Some(status) = status.filter(|s| s.kind == "Status" && s.status == "Failure" && !s.message.is_empty()) {
        return status;
    }
    let kind = text_header(headers, CONTENT_TYPE);
    let text = if kind.is_empty() || kind.starts_with("text/") {
        String::from_utf8_lossy(&body[..body.len().min(ERROR_TEXT_MAX)]).trim().to_owned()
    } else {
        "unknown".to_owned()
    };
    let number = code.as_u16();
    let (reason, message) = match number {
        409 => ("AlreadyExists", "the server reported a conflict".to_owned()),
        404 => ("NotFound", "the server could not find the requested resource".to_owned()),
        400 => ("BadRequest", "the server rejected our request for an unknown reason".to_owned()),
        401 => ("Unauthorized", "the server has asked for the client to provide credentials".to_owned()),
        403 => ("Forbidden", text.clone()),
        406 if text.is_empty() || text == "unknown" => (
            "NotAcceptable",
            "the server was unable to respond with a content type that the client supports".to_owned(),
        ),
        406 => ("NotAcceptable", text.clone()),
        415 => ("UnsupportedMediaType", text.clone()),
        405 => ("MethodNotAllowed", "the server does not allow this method on the requested resource".to_owned()),
        422 => ("Invalid", "the server rejected our request due to an error in our request".to_owned()),
        503 => ("ServiceUnavailable", "the server is currently unable to handle the request".to_owned()),
        504 => (
            "Timeout",
            "the server was unable to return a response in the time allotted, but may still be processing the request"
                .to_owned(),
        ),
        429 => (
            "TooManyRequests",
            "the server has received too many requests and has asked us to try again later".to_owned(),
        ),
        500.. => {
            ("InternalError", format!("an error on the server ({text:?}) has prevented the request from succeeding"))
        }
        _ => ("", format!("the server responded with the status code {number} but did not return more information")),
    };
    let details = Details {
        causes: vec![Cause { reason: "UnexpectedServerResponse".into(), message: text, field: String::new() }],
        retry_after_seconds: text_header(headers, RETRY_AFTER).parse().unwrap_or(0),
        ..Details::default()
    };
    Status::failure(number, reason, message).with_details(details)
}

fn text_header(headers: &HeaderMap, name: http::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn parse_url(text: &str) -> Result<http::Uri, Error> {
    let uri: http::Uri = text.parse().map_err(|error| Error::Config(format!("Unparsable URL: {error}")))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => Ok(uri),
        _ => Err(Error::Config(format!("Unparsable URL: {text:?} names no server"))),
    }
}

/// The path as client-go joins it: rooted, without empty parts and a slash at the end.
fn clean_path(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    format!("/{}", parts.join("/"))
}

fn is_local_host(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// A part of a second counts as a whole one, as upstream rounds the timeout of a hook.
fn whole_seconds(timeout: Duration) -> String {
    duration::format(Duration::from_secs(timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0)))
}

/// The cause at the bottom of an error, which is the one that says something.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    let text = deepest.to_string();
    if text.contains("reset by peer") { "read: connection reset by peer".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_are_no_success_read_as_client_go_reads_them() {
        let check = |code: u16, body: &str, expected: &str| {
            let code = StatusCode::from_u16(code).expect("a code");
            assert_eq!(refusal(code, &HeaderMap::new(), body.as_bytes()).message, expected, "{code}");
        };
        check(404, "", "the server could not find the requested resource");
        check(302, "", "the server responded with the status code 302 but did not return more information");
        check(500, "boom\n", "an error on the server (\"boom\") has prevented the request from succeeding");
        check(403, "not you", "not you");
        check(500, r#"{"kind":"Status","status":"Failure","message":"mine","code":500}"#, "mine");
    }

    #[test]
    fn urls_and_durations_are_those_of_messages() {
        for (path, expected) in [("", "/"), ("/", "/"), ("/a/b/", "/a/b"), ("//a//b", "/a/b"), ("a", "/a")] {
            assert_eq!(clean_path(path), expected);
        }
        for (millis, expected) in [(10_000, "10s"), (1, "1s"), (1_500, "2s"), (90_000, "1m30s"), (60_000, "1m0s")] {
            assert_eq!(whole_seconds(Duration::from_millis(millis)), expected);
        }
        for (host, local) in [("localhost", true), ("[::1]", true), ("127.3.2.1", true), ("10.0.0.1", false)] {
            assert_eq!(is_local_host(host), local, "{host}");
        }
    }

    #[test]
    fn what_can_be_asked_again() {
        let answered = |code: u16| {
            Error::Answered(Box::new(refusal(StatusCode::from_u16(code).expect("a code"), &HeaderMap::new(), b"")))
        };
        assert!(answered(500).is_retriable() && answered(429).is_retriable() && answered(504).is_retriable());
        assert!(!answered(404).is_retriable() && !Error::Garbage("x".into()).is_retriable());
    }
}
