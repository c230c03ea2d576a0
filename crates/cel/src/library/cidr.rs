//! Networks in CIDR notation.

use std::net::IpAddr;

use super::ip::{is_mapped, parse, read};
use super::{Declarations, mismatch, opaque};
use crate::error::{EvalError, Evaluated};
use crate::types::Type::{self, *};
use crate::value::{Opaque, Value};
use ferry_api::rules::cidr::{Cidr, masked};

pub(super) fn declare(d: &mut Declarations) {
    let cidr = || Type::opaque("net.CIDR");
    let ip = || Type::opaque("net.IP");
    d.global("cidr", "string_to_cidr", vec![String], cidr(), |args| {
        let (address, bits) = read_cidr(&args[0])?;
        opaque(Opaque::Cidr(address, bits))
    });
    d.global("isCIDR", "is_cidr", vec![String], Bool, |args| Ok(Value::Bool(read_cidr(&args[0]).is_ok())));
    d.global("string", "cidr_to_string", vec![cidr()], String, |args| Ok(Value::string(args[0].to_string())));
    d.member("containsIP", "cidr_contains_ip_string", vec![cidr(), String], Bool, contains_ip);
    d.member("containsIP", "cidr_contains_ip_ip", vec![cidr(), ip()], Bool, contains_ip);
    d.member("containsCIDR", "cidr_contains_cidr_string", vec![cidr(), String], Bool, contains_cidr);
    d.member("containsCIDR", "cidr_contains_cidr", vec![cidr(), cidr()], Bool, contains_cidr);
    d.member("ip", "cidr_ip", vec![cidr()], ip(), |args| match &args[0] {
        Value::Opaque(Opaque::Cidr(address, _)) => opaque(Opaque::Ip(*address)),
        _ => mismatch(),
    });
    d.member("prefixLength", "cidr_prefix_length", vec![cidr()], Int, |args| match &args[0] {
        Value::Opaque(Opaque::Cidr(_, bits)) => Ok(Value::Int(i64::from(*bits))),
        _ => mismatch(),
    });
    d.member("masked", "cidr_masked", vec![cidr()], cidr(), |args| match &args[0] {
        Value::Opaque(Opaque::Cidr(address, bits)) => opaque(Opaque::Cidr(masked(*address, *bits), *bits)),
        _ => mismatch(),
    });
    d.types.push(cidr());
}

fn contains_ip<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::Opaque(Opaque::Cidr(network, bits)) = &args[0] else { return mismatch() };
    let address = match &args[1] {
        Value::Opaque(Opaque::Ip(address)) => *address,
        text => read(text)?,
    };
    Ok(Value::Bool(Cidr::new(*network, *bits).is_some_and(|range| range.contains(address))))
}

fn contains_cidr<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let Value::Opaque(Opaque::Cidr(network, bits)) = &args[0] else { return mismatch() };
    let (other, other_bits) = match &args[1] {
        Value::Opaque(Opaque::Cidr(address, bits)) => (*address, *bits),
        text => read_cidr(text)?,
    };
    let ranges = Cidr::new(*network, *bits).zip(Cidr::new(other, other_bits));
    Ok(Value::Bool(ranges.is_some_and(|(range, other)| range.covers(&other))))
}

fn read_cidr(value: &Value<'_>) -> Evaluated<(IpAddr, u8)> {
    const PREFIX: &str = "network address parse error during conversion from string";
    let text = value.as_str().ok_or_else(EvalError::no_such_overload)?;
    // Upstream says it twice, once where it parses and once where it converts.
    let (address, bits) = parse_cidr(text)
        .map_err(|reason| EvalError::new(format_args!("{PREFIX}: {PREFIX}: netip.ParsePrefix({text:?}): {reason}")))?;
    if is_mapped(&address) {
        return Err(EvalError::new(format_args!("{PREFIX}: IPv4-mapped IPv6 address {text:?} is not allowed")));
    }
    Ok((address, bits))
}

fn parse_cidr(text: &str) -> Result<(IpAddr, u8), std::string::String> {
    let (address, bits) = text.rsplit_once('/').ok_or("no '/'")?;
    let parsed = parse(address)?;
    if address.contains('%') {
        return Err("IPv6 zones cannot be present in a prefix".into());
    }
    let bad = || format!("bad bits after slash: {bits:?}");
    if bits.is_empty() || !bits.bytes().all(|b| b.is_ascii_digit()) || (bits.len() > 1 && bits.starts_with('0')) {
        return Err(bad());
    }
    let length: u32 = bits.parse().map_err(|_| bad())?;
    if length > if parsed.is_ipv4() { 32 } else { 128 } {
        return Err("prefix length out of range".into());
    }
    Ok((parsed, length as u8))
}
