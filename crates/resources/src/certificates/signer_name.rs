//! The name of who signs: `example.com/signer` (core/validation's ValidateSignerName).

use crate::names;
use ferry_api::field::{Error, ErrorList, Path};

const MAX_DOMAIN: usize = 253;
/// A label, a dot and a subdomain after the domain and its slash.
const MAX_SIGNER_NAME: usize = MAX_DOMAIN + 1 + 63 + 1 + 253;

pub fn validate_signer_name(errors: &mut ErrorList, name: &str, path: &Path) {
    if name.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    let Some((domain, rest)) = name.split_once('/').filter(|(_, rest)| !rest.contains('/')) else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.push(Error::invalid(path, name, detail));
        return;
    };
    if domain.len() > MAX_DOMAIN {
        errors.push(Error::too_long(path, MAX_DOMAIN));
    }
    first_bad_label(errors, domain, names::is_dns1123_label, path);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(Error::invalid(path, domain, detail));
    }
    first_bad_label(errors, rest, names::is_dns1123_subdomain, path);
    if name.len() > MAX_SIGNER_NAME {
        errors.push(Error::too_long(path, MAX_SIGNER_NAME));
    }
}

fn first_bad_label(errors: &mut ErrorList, text: &str, rule: fn(&str) -> Vec<String>, path: &Path) {
    let Some((label, sentences)) =
        text.split('.').map(|label| (label, rule(label))).find(|(_, sentences)| !sentences.is_empty())
    else {
        return;
    };
    for sentence in sentences {
        errors.push(Error::invalid(path, text, format!("validating label {label:?}: {sentence}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signer_has_a_domain_and_a_name() {
        for (name, count) in [("example.com/a", 0), ("", 1), ("a", 1), ("a/b/c", 1), ("a/b", 1), ("a.b/C", 1)] {
            let mut errors = ErrorList::new();
            validate_signer_name(&mut errors, name, &Path::new("x"));
            assert_eq!(errors.len(), count, "{name}: {errors:?}");
        }
    }
}
