//! Where a request carries its token. Called by authentication for every request that no
//! certificate speaks for.

use base64::Engine as _;
use http::HeaderMap;

/// The token of an Authorization header, or of a WebSocket's sub-protocols, where browsers
/// cannot set that header.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<String> {
    let authorization = headers.get(http::header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or("");
    let mut parts = authorization.trim().splitn(3, ' ');
    if parts.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"))
        && let Some(token) = parts.next()
        && !token.is_empty()
    {
        return Some(token.to_owned());
    }
    headers
        .get_all(http::header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|protocol| protocol.trim().strip_prefix("base64url.bearer.authorization.k8s.io."))
        .find_map(|encoded| {
            let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).ok()?;
            String::from_utf8(bytes).ok().filter(|token| !token.is_empty())
        })
}
