//! Named formats: `format.dns1123Label().validate(name)` gives nothing for a good name and
//! sentences for a bad one.

use base64::Engine as _;
use ferry_api::selector::{label_key_errors, label_value_errors};

use super::url::Url;
use super::{Declarations, mismatch, opaque};
use crate::error::Evaluated;
use crate::types::Type::{self, *};
use crate::value::{Opaque, Time, Value};

#[derive(Debug)]
pub struct NamedFormat {
    pub name: &'static str,
    /// What is wrong with a value.
    validate: fn(&str) -> Vec<std::string::String>,
    /// The length of the regular expression that the check is, or is taken to be; it
    /// decides the cost.
    pub(crate) regex_size: u64,
}

macro_rules! formats {
    ($($function:literal, $name:literal, $size:literal, $validate:expr;)*) => {
        /// The formats, under the names of their functions.
        const FORMATS: &[(&str, NamedFormat)] =
            &[$(($function, NamedFormat { name: $name, validate: $validate, regex_size: $size })),*];

        fn declare_formats(d: &mut Declarations) {
            $(
                let name = concat!("format.", $function);
                d.global(name, name, vec![], format_type(), |_| named($function));
            )*
        }
    };
}

formats! {
    "dns1123Label", "DNS1123Label", 30, |s| dns1123_label(s, false);
    "dns1123Subdomain", "DNS1123Subdomain", 60, |s| dns1123_subdomain(s, false);
    "dns1035Label", "DNS1035Label", 30, |s| dns1035_label(s, false);
    "qualifiedName", "QualifiedName", 60, label_key_errors;
    "dns1123LabelPrefix", "DNS1123LabelPrefix", 30, |s| dns1123_label(s, true);
    "dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", 60, |s| dns1123_subdomain(s, true);
    "dns1035LabelPrefix", "DNS1035LabelPrefix", 30, |s| dns1035_label(s, true);
    "labelValue", "LabelValue", 40, label_value_errors;
    "uri", "URI", 1103, |s| Url::parse(s).err().into_iter().collect();
    "uuid", "uuid", 70, |s| complaint(is_uuid(s), "does not match the UUID format");
    "byte", "byte", 84, |s| complaint(is_base64(s), "invalid base64");
    "date", "date", 71, |s| complaint(Time::parse_date(s).is_some(), "invalid date");
    "datetime", "datetime", 71, |s| complaint(is_date_time(s), "invalid datetime");
}

fn format_type() -> Type {
    Type::object("kubernetes.NamedFormat")
}

pub(super) fn declare(d: &mut Declarations) {
    declare_formats(d);
    d.global("format.named", "format-named", vec![String], Type::optional(format_type()), |args| {
        let found = args[0].as_str().and_then(|name| named(name).ok());
        Ok(found.map_or(Value::Optional(None), Value::some))
    });
    let result = Type::optional(Type::list(String));
    d.member("validate", "format-validate", vec![format_type(), String], result, validate);
}

fn named<'v>(function: &str) -> Evaluated<Value<'v>> {
    match FORMATS.iter().find(|(name, _)| *name == function) {
        Some((_, format)) => opaque(Opaque::Format(format)),
        None => mismatch(),
    }
}

fn validate<'v>(args: &[Value<'v>]) -> Evaluated<Value<'v>> {
    let (Value::Opaque(Opaque::Format(format)), Some(text)) = (&args[0], args[1].as_str()) else { return mismatch() };
    let errors: Vec<Value<'v>> = (format.validate)(text).into_iter().map(Value::string).collect();
    Ok(if errors.is_empty() { Value::Optional(None) } else { Value::some(Value::list(errors)) })
}

fn complaint(good: bool, sentence: &str) -> Vec<std::string::String> {
    if good { Vec::new() } else { vec![sentence.to_owned()] }
}

fn is_uuid(text: &str) -> bool {
    // Each dash may be missing, but none may be elsewhere.
    let mut rest = text;
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.get(..length) {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => rest = &rest[length..],
            _ => return false,
        }
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    !text.is_empty() && base64::engine::general_purpose::STANDARD.decode(text).is_ok()
}

fn is_date_time(text: &str) -> bool {
    // Letters may be small here.
    Time::parse(&text.to_ascii_uppercase()).is_some()
}

/// A prefix may end in a dash, for something will follow it.
fn unmasked(name: &str, prefix: bool) -> std::string::String {
    match name.strip_suffix('-') {
        Some(start) if prefix && name.len() > 1 => format!("{start}a"),
        _ => name.to_owned(),
    }
}

fn is_label(text: &str, first: fn(u8) -> bool) -> bool {
    let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    text.bytes().next().is_some_and(first)
        && text.bytes().last().is_some_and(alphanumeric)
        && text.bytes().all(|b| alphanumeric(b) || b == b'-')
}

fn is_lower_alphanumeric(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn too_long(name: &str, limit: usize) -> Option<std::string::String> {
    (name.len() > limit).then(|| format!("must be no more than {limit} characters"))
}

pub(super) fn dns1123_label(name: &str, prefix: bool) -> Vec<std::string::String> {
    let name = unmasked(name, prefix);
    let mut errors: Vec<_> = too_long(&name, 63).into_iter().collect();
    if !is_label(&name, is_lower_alphanumeric) {
        errors.push(if is_subdomain(&name) {
            "must not contain dots".to_owned()
        } else {
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')".to_owned()
        });
    }
    errors
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(|label| is_label(label, is_lower_alphanumeric))
}

pub(super) fn dns1123_subdomain(name: &str, prefix: bool) -> Vec<std::string::String> {
    let name = unmasked(name, prefix);
    let mut errors: Vec<_> = too_long(&name, 253).into_iter().collect();
    if !is_subdomain(&name) {
        errors.push("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')".to_owned());
    }
    errors
}

fn dns1035_label(name: &str, prefix: bool) -> Vec<std::string::String> {
    let name = unmasked(name, prefix);
    let mut errors: Vec<_> = too_long(&name, 63).into_iter().collect();
    if !is_label(&name, |b| b.is_ascii_lowercase()) {
        errors.push("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')".to_owned());
    }
    errors
}
