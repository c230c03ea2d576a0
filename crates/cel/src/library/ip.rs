//! IP addresses. Zones and IPv4-mapped IPv6 addresses are refused.

use std::net::IpAddr;

use super::{Declarations, mismatch, opaque};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Opaque, Value};

pub(super) fn declare(d: &mut Declarations) {
    let ip = || Type::opaque("net.IP");
    d.global("ip", "string_to_ip", vec![String], ip(), |args| opaque(Opaque::Ip(read(&args[0])?)));
    d.global("isIP", "is_ip", vec![String], Bool, |args| Ok(Value::Bool(read(&args[0]).is_ok())));
    d.global("ip.isCanonical", "ip_is_canonical", vec![String], Bool, |args| {
        let address = read(&args[0])?;
        Ok(Value::Bool(args[0].as_str() == Some(&address.to_string())))
    });
    d.global("string", "ip_to_string", vec![ip()], String, |args| {
        with(args, |address| Ok(Value::string(address.to_string())))
    });
    d.member("family", "ip_family", vec![ip()], Int, |args| {
        with(args, |address| Ok(Value::Int(if address.is_ipv4() { 4 } else { 6 })))
    });
    d.member("isUnspecified", "ip_is_unspecified", vec![ip()], Bool, |args| test(args, |a| a.is_unspecified()));
    d.member("isLoopback", "ip_is_loopback", vec![ip()], Bool, |args| test(args, |a| a.is_loopback()));
    d.member("isLinkLocalMulticast", "ip_is_link_local_multicast", vec![ip()], Bool, |args| {
        test(args, |address| match address {
            IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        })
    });
    d.member("isLinkLocalUnicast", "ip_is_link_local_unicast", vec![ip()], Bool, |args| test(args, is_link_local));
    d.member("isGlobalUnicast", "ip_is_global_unicast", vec![ip()], Bool, |args| {
        test(args, |address| {
            let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
            !(broadcast
                || address.is_unspecified()
                || address.is_loopback()
                || address.is_multicast()
                || is_link_local(address))
        })
    });
    d.types.push(ip());
}

fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn with<'v>(args: &[Value<'v>], call: fn(&IpAddr) -> Evaluated<Value<'v>>) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Opaque(Opaque::Ip(address)) => call(address),
        _ => mismatch(),
    }
}

fn test<'v>(args: &[Value<'v>], holds: fn(&IpAddr) -> bool) -> Evaluated<Value<'v>> {
    match &args[0] {
        Value::Opaque(Opaque::Ip(address)) => Ok(Value::Bool(holds(address))),
        _ => mismatch(),
    }
}

pub(super) fn read(value: &Value<'_>) -> Evaluated<IpAddr> {
    let text = value.as_str().ok_or_else(EvalError::no_such_overload)?;
    let address = parse(text).map_err(|error| {
        EvalError::new(format_args!("IP Address {text:?} parse error during conversion from string: {error}"))
    })?;
    if text.contains('%') {
        return Err(EvalError::new(format_args!("IP address {text:?} with zone value is not allowed")));
    }
    if is_mapped(&address) {
        return Err(EvalError::new(format_args!("IPv4-mapped IPv6 address {text:?} is not allowed")));
    }
    Ok(address)
}

pub(super) fn is_mapped(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// An address, perhaps with a zone, or Go's reason why not.
pub(super) fn parse(text: &str) -> Result<IpAddr, std::string::String> {
    let (bare, zone) = text.split_once('%').map_or((text, None), |(bare, zone)| (bare, Some(zone)));
    match bare.parse::<IpAddr>() {
        Ok(IpAddr::V6(_)) if zone == Some("") => Err(format!("ParseAddr({text:?}): zone must be a non-empty string")),
        Ok(IpAddr::V4(_)) if zone.is_some() => Err(format!("ParseAddr({text:?}): unexpected character")),
        Ok(address) => Ok(address),
        Err(_) => Err(format!("ParseAddr({text:?}): {}", reason(bare))),
    }
}

/// What Go finds wrong first, with the place where it stopped reading.
fn reason(text: &str) -> std::string::String {
    match text.find(['.', ':']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => reason_v4(text),
        Some(_) => reason_v6(text),
        None => "unable to parse IP".into(),
    }
}

fn reason_v4(text: &str) -> std::string::String {
    let bytes = text.as_bytes();
    let (mut value, mut digits, mut fields) = (0_u32, 0, 0);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return "IPv4 field has octet with leading zero".into();
                }
                value = value * 10 + u32::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return "IPv4 field has value >255".into();
                }
            }
            b'.' => {
                if at == 0 || at == bytes.len() - 1 || bytes[at - 1] == b'.' {
                    return format!("IPv4 field must have at least one digit (at {:?})", &text[at..]);
                }
                if fields == 3 {
                    return "IPv4 address too long".into();
                }
                fields += 1;
                (value, digits) = (0, 0);
            }
            _ => return format!("unexpected character (at {:?})", text.get(at..).unwrap_or_default()),
        }
    }
    "IPv4 address too short".into()
}

fn reason_v6(text: &str) -> std::string::String {
    let stopped = |reason: &str, rest: &str| format!("{reason} (at {rest:?})");
    let mut ellipsis = text.starts_with("::");
    let mut rest = if ellipsis { &text[2..] } else { text };
    let mut bytes = 0;
    while bytes < 16 && !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if digits > 4 {
            return stopped("each group must have 4 or less digits", rest);
        }
        if digits == 0 {
            return stopped("each colon-separated field must have at least one digit", rest);
        }
        if rest[digits..].starts_with('.') {
            if !ellipsis && bytes != 12 {
                return stopped("embedded IPv4 address must replace the final 2 fields of the address", rest);
            }
            if bytes + 4 > 16 {
                return stopped("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
            }
            return reason_v4(rest);
        }
        bytes += 2;
        rest = &rest[digits..];
        if rest.is_empty() {
            break;
        }
        if !rest.starts_with(':') {
            return stopped("unexpected character, want colon", rest);
        }
        if rest.len() == 1 {
            return stopped("colon must be followed by more characters", rest);
        }
        rest = &rest[1..];
        if let Some(after) = rest.strip_prefix(':') {
            if ellipsis {
                return stopped("multiple :: in address", rest);
            }
            ellipsis = true;
            rest = after;
        }
    }
    if !rest.is_empty() {
        return stopped("trailing garbage after address", rest);
    }
    if bytes < 16 && !ellipsis {
        return "address string too short".into();
    }
    "the :: must expand to at least one field of zeros".into()
}
