//! The formats of strings and numbers that schemas name: which are known, and what each
//! takes (kube-openapi's pkg/validation/strfmt; apiserver/validation/formats.go). One that
//! is not known is let pass.

use super::node::Node;
use ferry_api::rules::cidr::{parse_cidr_sloppy, parse_ip_sloppy};
use regex::Regex;
use std::net::IpAddr;
use std::sync::LazyLock;

type Check = fn(&str) -> bool;

#[derive(Debug)]
pub struct Format {
    /// As the schema writes it.
    name: Box<str>,
    /// None for the formats of numbers.
    check: Option<Check>,
}

impl Format {
    /// The format of a schema, if its type has one of this name.
    pub fn of(node: &Node, name: &str) -> Option<Self> {
        if name.is_empty() {
            return None;
        }
        let check = match if node.int_or_string { "" } else { &*node.kind } {
            "" | "string" => Some(string_format(name)?),
            "integer" if matches!(name, "int32" | "int64") => None,
            "number" if matches!(name, "float" | "double") => None,
            _ => return None,
        };
        Some(Self { name: name.into(), check })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_of_strings(&self) -> bool {
        self.check.is_some()
    }

    pub fn accepts(&self, text: &str) -> bool {
        self.check.is_none_or(|check| check(text))
    }
}

/// Whether a schema of this type may name this format and have it checked.
pub fn is_known(kind: &str, format: &str) -> bool {
    Format::of(&Node { kind: kind.into(), ..Node::default() }, format).is_some()
}

/// The check of a format of strings; dashes in its name do not count.
fn string_format(name: &str) -> Option<Check> {
    Some(match name.replace('-', "").as_str() {
        "bsonobjectid" => |text| text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "uri" => ferry_cel::is_request_uri,
        "email" => is_email,
        "hostname" => is_hostname,
        "ipv4" => |text| parse_ip_sloppy(text).is_some() && text.contains('.'),
        "ipv6" => |text| text.parse::<IpAddr>().is_ok() && text.contains(':'),
        "cidr" => |text| parse_cidr_sloppy(text).is_some(),
        "mac" => is_mac,
        "uuid" => |text| is_uuid(text, None, false),
        "uuid3" => |text| is_uuid(text, Some(b'3'), false),
        "uuid4" => |text| is_uuid(text, Some(b'4'), true),
        "uuid5" => |text| is_uuid(text, Some(b'5'), true),
        "isbn" => |text| is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10,
        "isbn13" => is_isbn13,
        "creditcard" => is_credit_card,
        "ssn" => |text| text.len() == 11 && matches(&SSN, text),
        "hexcolor" => is_hex_color,
        "rgbcolor" => |text| matches(&RGB_COLOR, text),
        "byte" => is_base64,
        "password" => |_| true,
        "date" => is_date,
        "duration" => |text| ferry_cel::parse_loose_duration(text).is_some(),
        "datetime" => is_date_time,
        "k8sshortname" => is_short_name,
        "k8slongname" => |text| text.len() <= 253 && text.split('.').all(is_label),
        _ => return None,
    })
}

static SSN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$").ok());
static RGB_COLOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"[\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*";
    Regex::new(&format!(r"^rgb\({part},{part},{part}\)$")).ok()
});
static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let sign = r"[a-zA-Z0-9\p{S}\p{L}]";
    let alone = format!(r"{sign}(-?{sign}{{0,62}})?");
    let part = format!(r"{sign}([a-zA-Z0-9\-\p{{S}}\p{{L}}]{{0,61}}{sign})?\.");
    Regex::new(&format!(r"^({alone}|({part}){{1,}}[a-zA-Z\p{{L}}]{{2,63}})$")).ok()
});
/// Any sign may stand before the fraction.
static TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$").ok());
static CREDIT_CARD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds = [
        "4[0-9]{12}([0-9]{3})?",
        "5[1-5][0-9]{14}",
        "6(011|5[0-9][0-9])[0-9]{12}",
        "3[47][0-9]{13}",
        "3(0[0-5]|[68][0-9])[0-9]{11}",
        "(2131|1800|35[0-9]{3})[0-9]{11}",
    ];
    Regex::new(&format!("^({})$", kinds.join("|"))).ok()
});

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

/// An address as Go's net/mail reads one: `a@b`, or `Name <a@b>`.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(rest) => match rest.rsplit_once('<') {
            Some((name, address)) if is_phrase(name.trim()) => address,
            _ => return false,
        },
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let is_quoted = local.len() >= 2 && local.starts_with('"') && local.ends_with('"');
    let is_literal =
        domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|ip| ip.parse::<IpAddr>().is_ok());
    (is_quoted || is_dot_atom(local)) && (is_literal || is_dot_atom(domain))
}

fn is_phrase(text: &str) -> bool {
    let is_quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    is_quoted || text.chars().all(|character| character == ' ' || character == '.' || is_atom(character))
}

fn is_dot_atom(text: &str) -> bool {
    !text.is_empty() && text.split('.').all(|part| !part.is_empty() && part.chars().all(is_atom))
}

fn is_atom(character: char) -> bool {
    !character.is_ascii() || character.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(character)
}

fn is_hostname(text: &str) -> bool {
    matches(&HOSTNAME, text) && text.len() <= 255 && text.split('.').all(|part| part.len() <= 63)
}

/// 6, 8 or 20 octets after colons or dashes, or in pairs after dots.
fn is_mac(text: &str) -> bool {
    let groups = |separator: char, digits: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        let is_group = |part: &&str| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        counts.contains(&parts.len()) && parts.iter().all(is_group)
    };
    groups(':', 2, &[6, 8, 20]) || groups('-', 2, &[6, 8, 20]) || groups('.', 4, &[3, 4, 10])
}

/// 32 hexadecimal digits; the dashes between the five groups may each be left out.
fn is_uuid(text: &str, version: Option<u8>, has_variant: bool) -> bool {
    let mut rest = text.as_bytes();
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else { return false };
        let first = group[0].to_ascii_lowercase();
        let good = match index {
            2 => version.is_none_or(|version| first == version),
            3 => !has_variant || matches!(first, b'8' | b'9' | b'a' | b'b'),
            _ => true,
        };
        if !good || !group.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// The digits of an ISBN without spaces and dashes, if there are as many as it takes.
fn isbn_digits(text: &str, length: usize) -> Option<Vec<u32>> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_ascii_whitespace() && *c != '-').collect();
    if digits.len() != length {
        return None;
    }
    let value = |(index, character): (usize, char)| match character {
        'X' if length == 10 && index == 9 => Some(10),
        other => other.to_digit(10),
    };
    digits.into_iter().enumerate().map(value).collect()
}

fn is_isbn10(text: &str) -> bool {
    let weighed = |digits: Vec<u32>| digits.iter().zip(1..).map(|(digit, weight)| digit * weight).sum::<u32>();
    isbn_digits(text, 10).is_some_and(|digits| weighed(digits) % 11 == 0)
}

fn is_isbn13(text: &str) -> bool {
    let weighed =
        |digits: Vec<u32>| digits.iter().zip([1, 3].iter().cycle()).map(|(digit, weight)| digit * weight).sum::<u32>();
    isbn_digits(text, 13).is_some_and(|digits| weighed(digits) % 10 == 0)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let luhn = digits.bytes().rev().enumerate().map(|(index, byte)| {
        let digit = u32::from(byte - b'0');
        if index % 2 == 1 { doubled(digit) } else { digit }
    });
    matches(&CREDIT_CARD, &digits) && luhn.sum::<u32>() % 10 == 0
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Standard base64 with padding, at least one group of it.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !text.is_empty() && text.len().is_multiple_of(4) && text.len() - digits.len() <= 2 && digits.bytes().all(good)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.is_ascii() && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let Some(found) = TIME.as_ref().and_then(|pattern| pattern.captures(time)) else { return false };
    is_date(date) && &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59"
}

fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

fn is_label(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(good) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_take_what_upstream_takes() {
        for (format, good, bad) in [
            ("uri", &["http://a.b/c", "/path", "urn:a:b"][..], &["a b", "relative", ""][..]),
            ("email", &["a@b.c", "Bob <bob@b.c>"], &["a", "a@", "@b", "a..b@c", "a b@c"]),
            ("hostname", &["a", "a.example.com", "1a.com"], &["-a", "a_b", "a.c", ""]),
            ("ipv4", &["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"], &["1.2.3", "1.2.3.256", "::1"]),
            ("ipv6", &["::1", "fe80::1"], &["1.2.3.4", "fe80::1%eth0", "x"]),
            ("cidr", &["10.0.0.0/8", "::/0"], &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/"]),
            ("mac", &["01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab"], &["01:23:45", "01:23:45:67:89:zz"]),
            ("uuid", &["00000000-0000-0000-0000-00000000000a", "0000000000000000000000000000000A"], &["0000", ""]),
            ("uuid4", &["00000000-0000-4000-8000-000000000000"], &["00000000-0000-3000-8000-000000000000"]),
            ("isbn10", &["0321751043", "0-321-75104-3"], &["0321751044"]),
            ("isbn13", &["978-0321751041"], &["978-0321751042"]),
            ("creditcard", &["4111-1111-1111-1111"], &["4111-1111-1111-1112"]),
            ("ssn", &["123-45-6789"], &["123456789", "123-45-678x"]),
            ("hexcolor", &["#fff", "FFFFFF"], &["#ff"]),
            ("rgbcolor", &["rgb(0, 10,255)"], &["rgb(0,0,256)"]),
            ("byte", &["aGk=", "aGVsbG8h"], &["", "a", "aGk", "aGk=="]),
            ("date", &["2020-02-29"], &["2019-02-29", "2020-2-1"]),
            (
                "date-time",
                &["2020-01-02T03:04:05Z", "2020-01-02t03:04:05.123+01:00"],
                &["2020-01-02", "2020-01-02T03:04:05", "2020-01-02T24:04:05Z"],
            ),
            ("duration", &["1h", "3 days"], &["soon"]),
            ("k8s-short-name", &["a", "a-b1"], &["A", "a.b", "-a"]),
            ("k8s-long-name", &["a.b-c"], &["a..b", "A"]),
            ("bsonobjectid", &["0123456789abcdef01234567"], &["0123"]),
        ] {
            let check = string_format(format).unwrap_or_else(|| panic!("{format} is known"));
            for text in good {
                assert!(check(text), "{format} takes {text:?}");
            }
            for text in bad {
                assert!(!check(text), "{format} refuses {text:?}");
            }
        }
    }

    #[test]
    fn formats_belong_to_types() {
        for (kind, format, expected) in [
            ("string", "date-time", true),
            ("", "ipv4", true),
            ("integer", "int32", true),
            ("integer", "float", false),
            ("number", "double", true),
            ("object", "ipv4", false),
            ("string", "odd", false),
        ] {
            assert_eq!(is_known(kind, format), expected, "{kind} {format}");
        }
    }
}
