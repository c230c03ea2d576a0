//! URLs: parsing as Go's net/url does for request URIs, and the parts of one.

use std::fmt;
use std::sync::Arc;

use super::{Declarations, mismatch, opaque};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Map, Opaque, OwnedMap, Value};

/// A parsed absolute URL or absolute path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Url {
    pub scheme: std::string::String,
    user: Option<std::string::String>,
    /// With the port, and with brackets around an IPv6 address.
    pub host: std::string::String,
    /// As it is written in the URL.
    pub escaped_path: std::string::String,
    pub query: Option<std::string::String>,
    fragment: Option<std::string::String>,
    /// What follows the scheme where it is no path.
    opaque: std::string::String,
}

pub(super) fn declare(d: &mut Declarations) {
    let url = || Type::object("kubernetes.URL");
    d.global("url", "string_to_url", vec![String], url(), |args| match args[0].as_str() {
        Some(text) => match Url::parse(text) {
            Ok(url) => opaque(Opaque::Url(Arc::new(url))),
            Err(error) => Err(EvalError::new(format_args!("URL parse error during conversion from string: {error}"))),
        },
        None => mismatch(),
    });
    d.member("getScheme", "url_get_scheme", vec![url()], String, |args| part(args, |url| &url.scheme));
    d.member("getHost", "url_get_host", vec![url()], String, |args| part(args, |url| &url.host));
    d.member("getHostname", "url_get_hostname", vec![url()], String, |args| part(args, |url| url.host_and_port().0));
    d.member("getPort", "url_get_port", vec![url()], String, |args| part(args, |url| url.host_and_port().1));
    d.member("getEscapedPath", "url_get_escaped_path", vec![url()], String, |args| part(args, |url| &url.escaped_path));
    d.member("getQuery", "url_get_query", vec![url()], Type::map(String, Type::list(String)), query);
    d.global("isURL", "is_url_string", vec![String], Bool, |args| match args[0].as_str() {
        Some(text) => Ok(Value::Bool(Url::parse(text).is_ok())),
        None => mismatch(),
    });
}

/// Whether Go's net/url takes a text for a request URI: the format `uri` of schemas.
pub fn is_request_uri(text: &str) -> bool {
    Url::parse(text).is_ok()
}

fn part<'v>(args: &[Value<'v>], part: fn(&Url) -> &str) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Opaque(Opaque::Url(url)) => Ok(Value::string(part(url))),
        _ => mismatch(),
    }
}

fn query<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::Opaque(Opaque::Url(url)) = &args[0] else { return mismatch() };
    let mut found: Vec<(std::string::String, Vec<Value<'v>>)> = Vec::new();
    for pair in url.query.as_deref().unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // What cannot be read is left out, with its semicolons.
        if pair.contains(';') {
            continue;
        }
        let (Some(key), Some(value)) = (unescape(key, true), unescape(value, true)) else { continue };
        match found.iter_mut().find(|(existing, _)| *existing == key) {
            Some((_, values)) => values.push(Value::string(value)),
            None => found.push((key, vec![Value::string(value)])),
        }
    }
    let mut map = OwnedMap::default();
    for (key, values) in found {
        map.insert(Value::string(key), Value::list(values));
    }
    Ok(Value::Map(Map::Owned(Arc::new(map))))
}

fn unescape(text: &str, plus: bool) -> Option<std::string::String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                let hex = text.get(at + 1..at + 3).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
                out.push(u8::from_str_radix(hex, 16).ok()?);
                at += 3;
                continue;
            }
            b'+' if plus => out.push(b' '),
            byte => out.push(byte),
        }
        at += 1;
    }
    Some(std::string::String::from_utf8_lossy(&out).into_owned())
}

/// The percent sign that starts no escape, as messages quote it.
fn bad_escape(text: &str) -> Option<&str> {
    let at = text
        .match_indices('%')
        .map(|(at, _)| at)
        .find(|at| !text.get(at + 1..at + 3).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())))?;
    let end = (at + 1..=text.len().min(at + 3)).rev().find(|end| text.is_char_boundary(*end))?;
    Some(&text[at..end])
}

impl Url {
    /// Parses what must be an absolute URL or an absolute path. The error is Go's.
    pub fn parse(text: &str) -> Result<Self, std::string::String> {
        Self::read(text).map_err(|reason| format!("parse {text:?}: {reason}"))
    }

    fn read(text: &str) -> Result<Self, std::string::String> {
        if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return Err("net/url: invalid control character in URL".into());
        }
        if text.is_empty() {
            return Err("empty url".into());
        }
        let (scheme, mut rest) = scheme(text)?;
        let mut url = Url { scheme: scheme.to_ascii_lowercase(), ..Url::default() };
        if let Some((before, fragment)) = rest.split_once('#') {
            if let Some(bad) = bad_escape(fragment) {
                return Err(format!("invalid URL escape {bad:?}"));
            }
            url.fragment = Some(fragment.into());
            rest = before;
        }
        if let Some((before, query)) = rest.split_once('?') {
            url.query = Some(query.into());
            rest = before;
        }
        if !rest.starts_with('/') {
            if url.scheme.is_empty() && text != "*" {
                return Err("invalid URI for request".into());
            }
            // What follows the scheme is opaque: `mailto:someone`.
            url.opaque = rest.into();
            return Ok(url);
        }
        if let Some(authority) = rest.strip_prefix("//")
            && (!url.scheme.is_empty() || !rest.starts_with("///"))
        {
            let end = authority.find('/').unwrap_or(authority.len());
            let (authority, path) = authority.split_at(end);
            rest = path;
            url.set_authority(authority)?;
        }
        if let Some(bad) = bad_escape(rest) {
            return Err(format!("invalid URL escape {bad:?}"));
        }
        url.escaped_path = escape_path(rest);
        Ok(url)
    }

    fn set_authority(&mut self, authority: &str) -> Result<(), std::string::String> {
        let host = match authority.rsplit_once('@') {
            Some((user, host)) => {
                let valid = |b: u8| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b);
                if !user.bytes().all(valid) {
                    return Err("net/url: invalid userinfo".into());
                }
                self.user = Some(user.into());
                host
            }
            None => authority,
        };
        let invalid_port = |port: &str| Err(format!("invalid port {port:?} after host"));
        let valid_port =
            |port: &str| port.is_empty() || (port.starts_with(':') && port[1..].bytes().all(|b| b.is_ascii_digit()));
        if host.starts_with('[') {
            let Some(end) = host.rfind(']') else { return Err("missing ']' in host".into()) };
            if !valid_port(&host[end + 1..]) {
                return invalid_port(&host[end + 1..]);
            }
            let address = host[1..end].split('%').next().unwrap_or_default();
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return Err("invalid host".into());
            }
        } else if let Some(colon) = host.rfind(':')
            && !valid_port(&host[colon..])
        {
            return invalid_port(&host[colon..]);
        } else if host.matches(':').count() > 1 {
            let first = host.find(':').unwrap_or(0);
            return invalid_port(&host[first..]);
        }
        if let Some(bad) = bad_escape(host) {
            return Err(format!("invalid URL escape {bad:?}"));
        }
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&b);
        if let Some(bad) = host.chars().find(|character| !character.is_ascii() as u8 == 0 && !allowed(*character as u8))
        {
            return Err(format!("invalid character {:?} in host name", bad.to_string()));
        }
        self.host = unescape(host, false).unwrap_or_default();
        Ok(())
    }

    /// The host without brackets, and the port without its colon.
    fn host_and_port(&self) -> (&str, &str) {
        let (host, port) = match self.host.rfind(':') {
            Some(colon) if !self.host[colon..].contains(']') => (&self.host[..colon], &self.host[colon + 1..]),
            _ => (self.host.as_str(), ""),
        };
        (host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host), port)
    }
}

fn scheme(text: &str) -> Result<(&str, &str), std::string::String> {
    for (at, character) in text.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            '0'..='9' | '+' | '-' | '.' => return Ok(("", text)),
            ':' if at == 0 => return Err("missing protocol scheme".into()),
            ':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

/// A path stays as written where it is a valid encoding; else what may not stand in a
/// path is escaped.
fn escape_path(path: &str) -> std::string::String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/%[]".contains(&b);
    let mut out = std::string::String::with_capacity(path.len());
    for byte in path.bytes() {
        if plain(byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if !self.opaque.is_empty() {
            f.write_str(&self.opaque)?;
        } else if !self.scheme.is_empty() || !self.host.is_empty() {
            f.write_str("//")?;
            if let Some(user) = &self.user {
                write!(f, "{user}@")?;
            }
            f.write_str(&self.host)?;
        }
        f.write_str(&self.escaped_path)?;
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        if let Some(fragment) = &self.fragment {
            write!(f, "#{fragment}")?;
        }
        Ok(())
    }
}
