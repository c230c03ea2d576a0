//! The names that devices have: drivers, pools, qualified attributes, and sets of them.

use crate::names;
use crate::validation::each;
use crate::validation::volumes::validate_csi_driver_name;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

const MAX_POOL: usize = 253;
const MAX_ID: usize = 32;

/// Subdomains with slashes between them.
pub(crate) fn validate_pool(errors: &mut ErrorList, name: &str, path: &Path) {
    if name.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    if name.len() > MAX_POOL {
        errors.push(Error::too_long(path, MAX_POOL));
    }
    for part in name.split('/') {
        each(errors, path, part, names::is_dns1123_subdomain(part));
    }
}

pub(crate) fn validate_label(errors: &mut ErrorList, name: &str, path: &Path) {
    each(errors, path, name, names::is_dns1123_label(name));
}

/// `name` or `domain/name`, where the name is one that C would take.
pub(crate) fn validate_qualified_name(errors: &mut ErrorList, name: &str, path: &Path) {
    match name.split('/').collect::<Vec<_>>()[..] {
        [id] => validate_identifier(errors, id, path),
        [domain, id] => {
            if domain.is_empty() {
                errors.push(Error::invalid(path, "", "the domain must not be empty"));
            } else {
                validate_csi_driver_name(errors, domain, path);
            }
            if id.is_empty() {
                errors.push(Error::invalid(path, "", "the name must not be empty"));
            } else {
                validate_identifier(errors, id, path);
            }
        }
        _ => {}
    }
}

pub(crate) fn validate_fully_qualified_name(errors: &mut ErrorList, name: &str, path: &Path) {
    validate_qualified_name(errors, name, path);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.push(Error::invalid(path, name, detail));
    }
}

fn validate_identifier(errors: &mut ErrorList, id: &str, path: &Path) {
    if id.len() > MAX_ID {
        errors.push(Error::too_long(path, MAX_ID));
    }
    let good = |b: u8| b == b'_' || b.is_ascii_alphanumeric();
    if id.is_empty() || id.starts_with(|c: char| c.is_ascii_digit()) || !id.bytes().all(good) {
        let sentence = names::regex(
            "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
            "[A-Za-z_][A-Za-z0-9_]*",
            &["my_name", "MY_NAME", "MyName"],
        );
        errors.push(Error::invalid(path, id, sentence));
    }
}

/// A UUID in lower case.
pub(crate) fn validate_uid(errors: &mut ErrorList, uid: &str, path: &Path) {
    let is_hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let parts: Vec<&str> = uid.split('-').collect();
    let good = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.iter().all(|part| is_hex(part));
    if !good {
        let detail = format!("error validating uid: invalid UUID length: {}", uid.len());
        errors.push(Error::invalid(path, uid, detail));
    } else if uid != uid.to_lowercase() {
        let detail = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters";
        errors.push(Error::invalid(path, uid, detail));
    }
}

/// Judges each item of a list by a rule.
pub(crate) fn validate_each(
    errors: &mut ErrorList,
    items: &[Value],
    path: &Path,
    mut validate: impl FnMut(&mut ErrorList, &Value, &Path),
) {
    for (index, item) in items.iter().enumerate() {
        validate(errors, item, &path.index(index));
    }
}
