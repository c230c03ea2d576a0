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

fn reason(text: &str) -> std::string::String {
    if !text.contains([':', '.']) || text.contains(':') {
        return "unable to parse IP".into();
    }
    let fields: Vec<&str> = text.split('.').collect();
    for (index, field) in fields.iter().enumerate() {
        if index == 4 {
            return "IPv4 address too long".into();
        }
        if let Some(bad) = field.find(|c: char| !c.is_ascii_digit()) {
            let rest = fields[index..].join(".");
            return format!("unexpected character (at {:?})", &rest[bad..]);
        }
        if field.is_empty() {
            return format!(
                "IPv4 field must have at least one digit (at {:?})",
                format!(".{}", fields[index..].join("."))
            );
        }
        if field.len() > 1 && field.starts_with('0') {
            return "IPv4 field has octet with leading zero".into();
        }
        if field.parse::<u8>().is_err() {
            return "IPv4 field has value >255".into();
        }
    }
    "IPv4 address too short".into()
}
