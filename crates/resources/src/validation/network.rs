//! Ports, addresses and address ranges (apimachinery/pkg/util/validation/ip.go and
//! core/validation). Addresses follow the strict rules of 1.36: no leading zeros, no
//! IPv4 written as IPv6.

use super::each;
use crate::names;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::cidr::{masked, parse_cidr_sloppy, parse_ip_sloppy};
use serde_json::Value;
use std::net::IpAddr;

pub(crate) fn validate_port_number(errors: &mut ErrorList, port: i64, path: &Path) {
    if !(1..=65535).contains(&port) {
        errors.push(Error::invalid(path, port, names::inclusive_range(1, 65535)));
    }
}

/// A port given by number or by the name a container gave it.
pub(crate) fn validate_port_number_or_name(errors: &mut ErrorList, port: Option<&Value>, path: &Path) {
    match port {
        Some(Value::String(name)) => each(errors, path, name, names::is_port_name(name)),
        Some(number) => validate_port_number(errors, number.as_i64().unwrap_or_default(), path),
        None => validate_port_number(errors, 0, path),
    }
}

/// An address in a field that has always existed; `kept` are values the old object had,
/// which are let pass whatever they are.
pub(crate) fn validate_ip(errors: &mut ErrorList, value: &str, kept: &[Value], path: &Path) -> bool {
    if kept.iter().any(|old| old == value) {
        return true;
    }
    let before = errors.len();
    match parse_ip_sloppy(value) {
        None => {
            errors.push(Error::invalid(path, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
        }
        Some(ip) => {
            if value.parse::<IpAddr>().is_err() {
                errors.push(Error::invalid(path, value, "must not have leading 0s"));
            }
            if is_mapped(&ip) {
                errors.push(Error::invalid(path, value, "must not be an IPv4-mapped IPv6 address"));
            }
        }
    }
    errors.len() == before
}

/// An address in a newer field: strict, and written in its one canonical form.
pub(crate) fn validate_canonical_ip(errors: &mut ErrorList, value: &str, path: &Path) -> bool {
    if !validate_ip(errors, value, &[], path) {
        return false;
    }
    let canonical = parse_ip_sloppy(value).map(|ip| ip.to_string()).unwrap_or_default();
    if canonical != value {
        errors.push(Error::invalid(path, value, format!("must be in canonical form ({canonical:?})")));
    }
    canonical == value
}

pub(crate) fn validate_cidr(errors: &mut ErrorList, value: &str, kept: &[Value], path: &Path) {
    if kept.iter().any(|old| old.as_str().is_some_and(|old| old.trim() == value)) {
        return;
    }
    let Some((ip, length)) = parse_cidr_sloppy(value) else {
        errors.push(Error::invalid(path, value, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
        return;
    };
    let (address, digits) = value.split_once('/').unwrap_or((value, ""));
    let leading_zero = digits.len() > 1 && digits.starts_with('0');
    if address.parse::<IpAddr>().is_err() || leading_zero {
        errors.push(Error::invalid(path, value, "must not have leading 0s in IP or prefix length"));
    } else if is_mapped(&ip) {
        errors.push(Error::invalid(path, value, "must not have an IPv4-mapped IPv6 address"));
    } else if masked(ip, length) != ip {
        errors.push(Error::invalid(path, value, "must not have bits set beyond the prefix length"));
    }
}

/// A range in a newer field: strict, and written in its one canonical form.
pub(crate) fn validate_canonical_cidr(errors: &mut ErrorList, value: &str, path: &Path) {
    let before = errors.len();
    validate_cidr(errors, value, &[], path);
    let Some((ip, length)) = parse_cidr_sloppy(value).filter(|_| errors.len() == before) else { return };
    let canonical = format!("{}/{length}", masked(ip, length));
    if canonical != value {
        errors.push(Error::invalid(path, value, format!("must be in canonical form ({canonical:?})")));
    }
}

fn is_mapped(ip: &IpAddr) -> bool {
    matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some())
}

/// An address that traffic can be sent to: the rule of Endpoints, EndpointSlices and,
/// for historical reasons, of external addresses.
pub(crate) fn validate_endpoint_ip(errors: &mut ErrorList, value: &str, path: &Path) {
    let Some(ip) = parse_ip_sloppy(value) else {
        errors.push(Error::invalid(path, value, "must be a valid IP address"));
        return;
    };
    let mut say = |sentence: String| errors.push(Error::invalid(path, value, sentence));
    if ip.is_unspecified() {
        say(format!("may not be unspecified ({value})"));
    }
    if ip.is_loopback() {
        say("may not be in the loopback range (127.0.0.0/8, ::1/128)".into());
    }
    let (link_local, link_local_multicast) = match ip {
        IpAddr::V4(ip) => (ip.is_link_local(), ip.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(ip) => (ip.segments()[0] & 0xffc0 == 0xfe80, ip.segments()[0] & 0xff0f == 0xff02),
    };
    if link_local {
        say("may not be in the link-local range (169.254.0.0/16, fe80::/10)".into());
    }
    if link_local_multicast {
        say("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".into());
    }
}

/// Whether these addresses are of both families.
pub(crate) fn is_dual_stack<'a>(addresses: impl Iterator<Item = &'a str>) -> bool {
    let (mut four, mut six) = (false, false);
    for address in addresses {
        let address = address.split('/').next().unwrap_or_default();
        match parse_ip_sloppy(address) {
            Some(IpAddr::V4(_)) => four = true,
            Some(IpAddr::V6(_)) => six = true,
            None => return false,
        }
    }
    four && six
}

/// The warning for an address that is valid but not in the form it should have.
pub(crate) fn warn_of_ip(warnings: &mut Vec<String>, value: &str, path: &Path) {
    let Some(ip) = parse_ip_sloppy(value) else { return };
    if value.parse::<IpAddr>().is_err() || is_mapped(&ip) {
        let plain = ip.to_canonical();
        warnings.push(format!("{path}: non-standard IP address {value:?} is invalid: use {:?}", plain.to_string()));
    } else if ip.is_ipv6() && ip.to_string() != value {
        warnings.push(format!(
            "{path}: IPv6 address {value:?} should be in RFC 5952 canonical format ({:?})",
            ip.to_string()
        ));
    }
}

/// The warning for a range that is valid but not in the form it should have.
pub(crate) fn warn_of_cidr(warnings: &mut Vec<String>, value: &str, path: &Path) {
    let Some((ip, length)) = parse_cidr_sloppy(value) else { return };
    let range = masked(ip, length);
    let before = warnings.len();
    if range != ip {
        let most = if ip.is_ipv4() { 32 } else { 128 };
        warnings.push(format!(
            "{path}: CIDR value {value:?} is ambiguous in this context (should be {:?} or {:?}?)",
            format!("{range}/{length}"),
            format!("{ip}/{most}"),
        ));
    }
    let (address, digits) = value.split_once('/').unwrap_or((value, ""));
    let leading_zero = digits.len() > 1 && digits.starts_with('0');
    if address.parse::<IpAddr>().is_err() || leading_zero || is_mapped(&ip) {
        let shown = format!("{}/{length}", range.to_canonical());
        warnings.push(format!("{path}: non-standard CIDR value {value:?} is invalid: use {shown:?}"));
    }
    let canonical = format!("{range}/{length}");
    if warnings.len() == before && ip.is_ipv6() && canonical != value {
        warnings
            .push(format!("{path}: IPv6 CIDR value {value:?} should be in RFC 5952 canonical format ({canonical:?})"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(validate: impl Fn(&mut ErrorList, &Path), expected: &[&str]) {
        let mut errors = ErrorList::new();
        validate(&mut errors, &Path::new("ip"));
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn addresses_are_read_strictly() {
        for good in ["10.0.0.1", "::1", "2001:db8::1"] {
            check(
                |errors, path| {
                    validate_ip(errors, good, &[], path);
                },
                &[],
            );
        }
        check(
            |errors, path| {
                validate_ip(errors, "10.0.0.256", &[], path);
            },
            &["ip: Invalid value: \"10.0.0.256\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"],
        );
        check(
            |errors, path| {
                validate_ip(errors, "010.0.0.1", &[], path);
            },
            &["ip: Invalid value: \"010.0.0.1\": must not have leading 0s"],
        );
        check(
            |errors, path| {
                validate_ip(errors, "010.0.0.1", &["010.0.0.1".into()], path);
            },
            &[],
        );
        check(
            |errors, path| {
                validate_ip(errors, "::ffff:1.2.3.4", &[], path);
            },
            &["ip: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped IPv6 address"],
        );
        check(
            |errors, path| {
                validate_canonical_ip(errors, "2001:DB8::1", path);
            },
            &["ip: Invalid value: \"2001:DB8::1\": must be in canonical form (\"2001:db8::1\")"],
        );
    }

    #[test]
    fn ranges_have_no_bits_beyond_their_length() {
        check(|errors, path| validate_cidr(errors, "10.244.0.0/24", &[], path), &[]);
        check(|errors, path| validate_cidr(errors, "0.0.0.0/0", &[], path), &[]);
        check(
            |errors, path| validate_cidr(errors, "10.244.0.1/24", &[], path),
            &["ip: Invalid value: \"10.244.0.1/24\": must not have bits set beyond the prefix length"],
        );
        check(
            |errors, path| validate_cidr(errors, "10.244.0.0/33", &[], path),
            &["ip: Invalid value: \"10.244.0.0/33\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"],
        );
    }

    #[test]
    fn endpoints_are_addresses_one_can_reach() {
        check(|errors, path| validate_endpoint_ip(errors, "10.0.0.1", path), &[]);
        check(
            |errors, path| validate_endpoint_ip(errors, "127.0.0.1", path),
            &["ip: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, ::1/128)"],
        );
        check(
            |errors, path| validate_endpoint_ip(errors, "0.0.0.0", path),
            &["ip: Invalid value: \"0.0.0.0\": may not be unspecified (0.0.0.0)"],
        );
    }
}
