//! Names that carry a domain (apimachinery/pkg/util/validation): wildcard hosts,
//! `example.com/path`, names of at least three segments, and typed references to objects.

use super::each;
use crate::names;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

/// A host such as `*.example.com`.
pub(crate) fn is_wildcard_dns1123_subdomain(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 253 {
        errors.push("must be no more than 253 characters".to_owned());
    }
    let good = value.strip_prefix("*.").is_some_and(|rest| {
        let short: String = rest.chars().take(253).collect();
        names::is_dns1123_subdomain(&short).is_empty()
    });
    if !good {
        errors.push(names::regex(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
            &format!("\\*\\.{LABEL}(\\.{LABEL})*"),
            &["*.example.com"],
        ));
    }
    errors
}

/// A host in a rule: a name, or a wildcard for names of one domain.
pub(crate) fn is_host(value: &str) -> Vec<String> {
    if value.contains('*') { is_wildcard_dns1123_subdomain(value) } else { names::is_dns1123_subdomain(value) }
}

/// `example.com/controller`.
pub(crate) fn validate_domain_prefixed_path(errors: &mut ErrorList, value: &str, path: &Path) {
    if value.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    let Some((host, rest)) = value.split_once('/').filter(|(host, rest)| !host.is_empty() && !rest.is_empty()) else {
        errors.push(Error::invalid(path, value, "must be a domain-prefixed path (such as \"acme.io/foo\")"));
        return;
    };
    each(errors, path, host, names::is_dns1123_subdomain(host));
    each(errors, path, rest, names::is_http_path(rest));
}

/// A domain of at least three segments: the names of webhooks.
pub(crate) fn validate_fully_qualified_name(errors: &mut ErrorList, name: &str, path: &Path) {
    if name.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    let sentences = names::is_dns1123_subdomain(name);
    if !sentences.is_empty() {
        errors.push(Error::invalid(path, name, sentences.join(",")));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.push(Error::invalid(path, name, detail));
    }
}

/// A reference to an object of any kind: its group if it has one, its kind and its name.
pub(crate) fn validate_typed_reference(errors: &mut ErrorList, reference: Option<&Value>, path: &Path) {
    if let Some(group) = reference.opt_text("apiGroup") {
        each(errors, &path.child("apiGroup"), group, names::is_dns1123_subdomain(group));
    }
    for key in ["kind", "name"] {
        match reference.text(key) {
            "" => errors.push(Error::required(&path.child(key), "")),
            value => each(errors, &path.child(key), value, names::path_segment(value, false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(validate: fn(&mut ErrorList, &str, &Path), value: &str, expected: &[&str]) {
        let mut errors = ErrorList::new();
        validate(&mut errors, value, &Path::new("x"));
        assert_eq!(crate::testing::texts(&errors), expected);
    }

    #[test]
    fn domains_come_first() {
        check(validate_domain_prefixed_path, "example.com/a/b", &[]);
        check(validate_domain_prefixed_path, "", &["x: Required value"]);
        for bad in ["a", "/a", "a/"] {
            let expected =
                format!("x: Invalid value: {bad:?}: must be a domain-prefixed path (such as \"acme.io/foo\")");
            check(validate_domain_prefixed_path, bad, &[&expected]);
        }
        check(
            validate_domain_prefixed_path,
            "a/b c",
            &[
                "x: Invalid value: \"b c\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')",
            ],
        );
        check(validate_fully_qualified_name, "a.b.c", &[]);
        check(
            validate_fully_qualified_name,
            "a.b",
            &["x: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots"],
        );
    }

    #[test]
    fn a_wildcard_stands_first_and_alone() {
        assert!(is_wildcard_dns1123_subdomain("*.example.com").is_empty());
        for bad in ["*", "*.", "a.*.com", "*.*.com"] {
            assert_eq!(is_wildcard_dns1123_subdomain(bad).len(), 1, "{bad}");
        }
    }
}
