//! How a caller of exec, attach or port-forward wants to stream, read from its headers alone.
//! `streaming.rs` asks before it asks the runtime for anything: each address that the runtime
//! hands out waits a minute for its one caller, a thousand may wait, and one that is handed out
//! for a request which is then refused keeps others from theirs.

use super::{Body, copy, text};
use http::header::{HeaderValue, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderMap, Response, StatusCode};

pub(super) const V5_PROTOCOL: &str = "v5.channel.k8s.io";
pub(super) const TUNNEL_PROTOCOL: &str = "SPDY/3.1+portforward.k8s.io";

/// The dialects of the runtime's own streaming server over WebSocket (k8s.io/cri-streaming): a
/// channel byte, or a digit and base64, before each message.
const RUNTIME_EXEC: [&str; 4] =
    ["channel.k8s.io", "base64.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io"];
const RUNTIME_PORT_FORWARD: [&str; 2] = ["v4.channel.k8s.io", "v4.base64.channel.k8s.io"];

/// How many bytes of base64 a WebSocket key has (RFC 6455, 4.1: sixteen bytes, encoded).
const KEY_LENGTH: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// exec and attach.
    Process,
    PortForward,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Both ends speak SPDY.
    Spdy,
    /// A WebSocket dialect that the runtime speaks as well; its bytes are passed on.
    RuntimeWebSocket,
    /// v5 of the channel protocol, which no runtime speaks: it is translated to SPDY.
    Channels,
    /// A SPDY connection inside WebSocket messages.
    Tunnel,
}

/// The dialect, or the refusal to answer with. A caller that offers nothing speaks the oldest
/// dialect, and of those offered the newest that is known is taken.
pub(super) fn choose(headers: &HeaderMap, action: Action) -> Result<Dialect, Box<Response<Body>>> {
    let wanted = copy::list(headers, UPGRADE.as_str());
    let wants = |name: &str| wanted.iter().any(|one| one.eq_ignore_ascii_case(name));
    if wants("websocket") {
        return choose_websocket(headers, action);
    }
    if wants("spdy/3.1") { Ok(Dialect::Spdy) } else { Err(refuse(StatusCode::BAD_REQUEST, "Upgrade request required")) }
}

fn choose_websocket(headers: &HeaderMap, action: Action) -> Result<Dialect, Box<Response<Body>>> {
    let key = headers.get(SEC_WEBSOCKET_KEY).map(HeaderValue::as_bytes).unwrap_or_default();
    if key.len() != KEY_LENGTH {
        return Err(refuse(StatusCode::BAD_REQUEST, "Sec-WebSocket-Key is not sixteen bytes in base64"));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(refuse(StatusCode::BAD_REQUEST, "Sec-WebSocket-Version is not 13"));
    }
    let offered = copy::list(headers, SEC_WEBSOCKET_PROTOCOL.as_str());
    let offers = |names: &[&str]| offered.iter().any(|offer| names.contains(&offer.as_str()));
    let (newest, dialect, spoken) = match action {
        Action::Process => (V5_PROTOCOL, Dialect::Channels, &RUNTIME_EXEC[..]),
        Action::PortForward => (TUNNEL_PROTOCOL, Dialect::Tunnel, &RUNTIME_PORT_FORWARD[..]),
    };
    if offers(&[newest]) {
        Ok(dialect)
    } else if offered.is_empty() || offers(spoken) {
        Ok(Dialect::RuntimeWebSocket)
    } else {
        let why = format!("requested protocol(s) are not supported: {offered:?}; supports {newest:?} and {spoken:?}");
        // Upstream's WebSocket server answers so as well.
        Err(refuse(StatusCode::FORBIDDEN, &why))
    }
}

fn refuse(status: StatusCode, why: &str) -> Box<Response<Body>> {
    Box::new(text(status, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn websocket(protocols: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut set = |name: &'static str, value: &str| {
            headers.insert(name, HeaderValue::from_str(value).expect("a value"));
        };
        set("upgrade", "WebSocket");
        set("sec-websocket-key", "x3JJHMbDL1EzLkh9GBhXDw==");
        set("sec-websocket-version", "13");
        if !protocols.is_empty() {
            set("sec-websocket-protocol", protocols);
        }
        headers
    }

    #[test]
    fn every_dialect_of_upstream_is_known() {
        let check = |action, protocols: &str, expected: Dialect| {
            assert_eq!(choose(&websocket(protocols), action).ok(), Some(expected), "{action:?} {protocols}");
        };
        for protocol in ["", "channel.k8s.io", "base64.channel.k8s.io", "v4.channel.k8s.io", "v4.base64.channel.k8s.io"]
        {
            check(Action::Process, protocol, Dialect::RuntimeWebSocket);
        }
        check(Action::Process, "v5.channel.k8s.io", Dialect::Channels);
        check(Action::Process, "v4.channel.k8s.io, v5.channel.k8s.io", Dialect::Channels);
        check(Action::Process, "v3.channel.k8s.io,v4.channel.k8s.io", Dialect::RuntimeWebSocket);
        for protocol in ["", "v4.channel.k8s.io", "v4.base64.channel.k8s.io"] {
            check(Action::PortForward, protocol, Dialect::RuntimeWebSocket);
        }
        check(Action::PortForward, "SPDY/3.1+portforward.k8s.io", Dialect::Tunnel);
        let mut spdy = HeaderMap::new();
        spdy.insert("upgrade", HeaderValue::from_static("SPDY/3.1"));
        assert_eq!(choose(&spdy, Action::PortForward).ok(), Some(Dialect::Spdy));
    }

    #[test]
    fn others_are_refused_with_the_reason() {
        let check = |headers: &HeaderMap, action, expected: StatusCode| {
            assert_eq!(choose(headers, action).expect_err("refused").status(), expected, "{headers:?}");
        };
        check(&HeaderMap::new(), Action::Process, StatusCode::BAD_REQUEST);
        check(&websocket("graphql-ws"), Action::Process, StatusCode::FORBIDDEN);
        check(&websocket("channel.k8s.io"), Action::PortForward, StatusCode::FORBIDDEN);
        for header in ["sec-websocket-key", "sec-websocket-version"] {
            let mut headers = websocket("v4.channel.k8s.io");
            headers.remove(header);
            check(&headers, Action::PortForward, StatusCode::BAD_REQUEST);
        }
    }
}
