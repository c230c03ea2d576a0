//! One request passed on to a backend and its answer passed back, as upstream's
//! UpgradeAwareHandler does (apimachinery/pkg/util/proxy). Called for the streams of pods,
//! for the proxy subresources and for aggregated API servers.

use super::links::Links;
use crate::outgoing::{self, Dial, Target};
use crate::transport::{Body, BoxError, RemoteAddress, Upgraded, full, read_limited};
use flate2::Compression;
use flate2::read::{DeflateDecoder, GzDecoder};
use flate2::write::{DeflateEncoder, GzEncoder};
use http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION, UPGRADE,
};
use http::{HeaderMap, Request, Response, StatusCode};
use std::io::{Read, Write};

/// The largest page whose links are rewritten; a larger one passes as it is.
const HTML_MAX: usize = 32 << 20;

const REDIRECT_REFUSED: &str = "the backend attempted to redirect this request, which is not permitted";

/// Headers by which a backend would speak to browsers in the API server's name.
const CORS: [&str; 4] = [
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
];

pub(crate) struct Onward {
    pub target: Target,
    pub path_and_query: String,
    /// The Host header; `None` passes on what the client sent.
    pub host: Option<String>,
    /// How links lead back; `None` passes answers on as they are.
    pub links: Option<Links>,
    /// An answer that redirects becomes 502: it would make the client send its
    /// credentials where the backend likes (CVE-2022-3172).
    pub refuse_redirects: bool,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Dial(BoxError),
    #[error("invalid upgrade response: status code {0}")]
    InvalidUpgrade(u16),
    #[error("{0}")]
    Request(String),
    #[error("{0}")]
    Body(BoxError),
}

/// Sends the request where it belongs and the answer back; after a 101 on both sides the
/// two connections are one.
pub(crate) async fn pass_on(
    dial: &dyn Dial,
    onward: Onward,
    mut request: Request<Body>,
) -> Result<Response<Body>, Failure> {
    let upgrade = is_upgrade(request.headers());
    let client = upgrade.then(|| hyper::upgrade::on(&mut request));
    let (mut parts, body) = request.into_parts();
    let host = onward.host.clone().or_else(|| host_of(&parts)).unwrap_or_else(|| onward.target.authority());
    parts.uri =
        onward.path_and_query.parse().map_err(|error: http::uri::InvalidUri| Failure::Request(error.to_string()))?;
    parts.version = http::Version::HTTP_11;
    drop_credentials(&mut parts.headers);
    if !upgrade {
        drop_hop_by_hop(&mut parts.headers);
    }
    let header = |value: &str| HeaderValue::from_str(value).map_err(|error| Failure::Request(error.to_string()));
    parts.headers.insert(HOST, header(&host)?);
    if let Some(RemoteAddress(remote)) = parts.extensions.get::<RemoteAddress>() {
        let client = append_forwarded_for(&parts.headers, &remote.ip().to_string());
        parts.headers.insert("x-forwarded-for", header(&client)?);
    }
    if let Some(links) = onward.links.as_ref().filter(|_| !upgrade) {
        let uri = super::links::join_path(&links.prefix, parts.uri.path());
        parts.headers.insert("x-forwarded-uri", header(&uri)?);
        if !links.host.is_empty() {
            parts.headers.insert("x-forwarded-host", header(&links.host)?);
        }
        if !links.scheme.is_empty() {
            parts.headers.insert("x-forwarded-proto", header(&links.scheme)?);
        }
    }
    let response =
        outgoing::send(dial, &onward.target, Request::from_parts(parts, body)).await.map_err(Failure::Dial)?;
    match client {
        Some(client) => join(client, response),
        None => answer(&onward, &host, response).await,
    }
}

/// Ends the connection of a client whose upgrade came to nothing: what follows on it is
/// not for the backend, which would take it for the API server's own (CVE-2018-1002105).
pub(crate) fn end_refused_upgrade(response: &mut Response<Body>) {
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

/// The answer to an upgrade: the two connections become one, or what the backend says of
/// its refusal. The caller ends the client's connection then.
fn join(client: hyper::upgrade::OnUpgrade, mut response: Response<Body>) -> Result<Response<Body>, Failure> {
    let code = response.status();
    if code != StatusCode::SWITCHING_PROTOCOLS {
        if code.as_u16() < 400 {
            return Err(Failure::InvalidUpgrade(code.as_u16()));
        }
        drop_hop_by_hop(response.headers_mut());
        return Ok(response);
    }
    let backend = hyper::upgrade::on(&mut response);
    let (open, over) = tokio::sync::watch::channel(());
    response.extensions_mut().insert(Upgraded(over));
    tokio::spawn(async move {
        let _open = open;
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

async fn answer(onward: &Onward, host: &str, mut response: Response<Body>) -> Result<Response<Body>, Failure> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Failure::InvalidUpgrade(101));
    }
    drop_hop_by_hop(response.headers_mut());
    let Some(links) = &onward.links else { return Ok(response) };
    for name in CORS {
        response.headers_mut().remove(name);
    }
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    if onward.refuse_redirects && location.is_some() && response.status().is_redirection() {
        let mut refusal = Response::new(full(REDIRECT_REFUSED));
        *refusal.status_mut() = StatusCode::BAD_GATEWAY;
        return Ok(refusal);
    }
    let links = Links { request_host: host.to_owned(), backend_host: onward.target.authority(), ..links.clone() };
    if let Some(location) = location {
        if let Some(value) = links.rewrite_url(&location).and_then(|url| HeaderValue::from_str(&url).ok()) {
            response.headers_mut().insert(LOCATION, value);
        }
        return Ok(response);
    }
    let encoding = header_text(response.headers(), CONTENT_ENCODING).to_owned();
    if !can_rewrite(response.headers(), &encoding) {
        return Ok(response);
    }
    let (mut parts, body) = response.into_parts();
    let page = read_limited(body, HTML_MAX)
        .await
        .map_err(Failure::Body)?
        .ok_or_else(|| Failure::Body("the page is too large to rewrite its links".into()))?;
    let rewritten = rewrite_encoded(&links, &encoding, &page).map_err(|error| Failure::Body(error.into()))?;
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(rewritten.len()));
    Ok(Response::from_parts(parts, full(rewritten)))
}

fn header_text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn can_rewrite(headers: &HeaderMap, encoding: &str) -> bool {
    let media_type = header_text(headers, CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    let too_large = header_text(headers, CONTENT_LENGTH).parse::<usize>().is_ok_and(|length| length > HTML_MAX);
    media_type == "text/html" && matches!(encoding, "" | "gzip" | "deflate") && !too_large
}

fn rewrite_encoded(links: &Links, encoding: &str, page: &[u8]) -> std::io::Result<Vec<u8>> {
    let limit = HTML_MAX as u64;
    let mut plain = Vec::new();
    match encoding {
        "gzip" => {
            GzDecoder::new(page).take(limit).read_to_end(&mut plain)?;
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&links.rewrite_html(&plain))?;
            encoder.finish()
        }
        "deflate" => {
            DeflateDecoder::new(page).take(limit).read_to_end(&mut plain)?;
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&links.rewrite_html(&plain))?;
            encoder.finish()
        }
        _ => Ok(links.rewrite_html(page)),
    }
}

/// The Host that the client asked, over either version of HTTP.
fn host_of(parts: &http::request::Parts) -> Option<String> {
    let header = parts.headers.get(HOST).and_then(|value| value.to_str().ok()).map(str::to_owned);
    header.or_else(|| parts.uri.authority().map(ToString::to_string))
}

fn append_forwarded_for(headers: &HeaderMap, client: &str) -> String {
    let prior = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    prior.chain([client]).collect::<Vec<_>>().join(", ")
}

/// Whether the client wants to leave HTTP (WebSocket or SPDY).
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(UPGRADE)
        && headers
            .get_all(CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|token| token.trim().eq_ignore_ascii_case("upgrade"))
}

/// What says who the caller is or would be is spent here: no backend may reuse it.
fn drop_credentials(headers: &mut HeaderMap) {
    let spent: Vec<HeaderName> = headers
        .keys()
        .filter(|name| {
            let name = name.as_str();
            name.starts_with("impersonate-") || name == "authorization"
        })
        .cloned()
        .collect();
    spent.into_iter().for_each(|name| {
        headers.remove(name);
    });
}

/// Takes away what names a user to a backend that trusts the front proxy.
pub(crate) fn drop_front_proxy_headers(headers: &mut HeaderMap) {
    let spent: Vec<HeaderName> =
        headers.keys().filter(|name| name.as_str().starts_with("x-remote-")).cloned().collect();
    spent.into_iter().for_each(|name| {
        headers.remove(name);
    });
}

/// Headers that are about one connection are not passed to the next.
fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|token| token.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ] {
        headers.remove(name);
    }
}
