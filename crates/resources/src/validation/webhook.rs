//! How a webhook is reached (apiserver/pkg/util/webhook): by URL or through a service.
//! Admission configurations and the conversion of custom resources share it.

use crate::names;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub(crate) fn validate_client_config(errors: &mut ErrorList, config: Option<&Value>, path: &Path) {
    match (config.opt_text("url"), config.field("service")) {
        (Some(url), None) => validate_url(errors, url, &path.child("url")),
        (None, Some(service)) => validate_service(errors, service, &path.child("service")),
        _ => errors.push(Error::required(path, "exactly one of url or service is required")),
    }
}

/// The parts of a URL that matter here.
struct Url<'a> {
    scheme: &'a str,
    user: Option<&'a str>,
    host: &'a str,
    query: &'a str,
    fragment: &'a str,
}

impl<'a> Url<'a> {
    fn split(text: &'a str) -> Self {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        let is_scheme = |scheme: &str| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        };
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
            _ => ("", text),
        };
        let authority = rest.strip_prefix("//").map(|rest| rest.split('/').next().unwrap_or_default());
        let (user, host) = match authority.unwrap_or_default().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.unwrap_or_default()),
        };
        Self { scheme, user, host, query, fragment }
    }
}

fn validate_url(errors: &mut ErrorList, text: &str, path: &Path) {
    const FORM: &str = "; desired format: https://host[/path]";
    let url = Url::split(text);
    if url.scheme != "https" {
        errors.push(Error::invalid(path, url.scheme, format!("'https' is the only allowed URL scheme{FORM}")));
    }
    if url.host.is_empty() {
        errors.push(Error::invalid(path, "", format!("host must be specified{FORM}")));
    }
    if let Some(user) = url.user {
        errors.push(Error::invalid(path, user, "user information is not permitted in the URL"));
    }
    if !url.fragment.is_empty() {
        errors.push(Error::invalid(path, url.fragment, "fragments are not permitted in the URL"));
    }
    if !url.query.is_empty() {
        errors.push(Error::invalid(path, url.query, "query parameters are not permitted in the URL"));
    }
}

fn validate_service(errors: &mut ErrorList, service: &Value, path: &Path) {
    // Upstream passes name and namespace in the wrong order: a missing namespace is
    // reported as a missing name, and clients see it so.
    if service.text("namespace").is_empty() {
        errors.push(Error::required(&path.child("name"), ""));
    }
    if service.text("name").is_empty() {
        errors.push(Error::required(&path.child("namespace"), ""));
    }
    let port = service.int("port");
    if !(1..=65535).contains(&port) {
        let detail = format!("port is not valid: {}", names::inclusive_range(1, 65535));
        errors.push(Error::invalid(&path.child("port"), port, detail));
    }
    validate_path(errors, service.text("path"), &path.child("path"));
}

fn validate_path(errors: &mut ErrorList, value: &str, path: &Path) {
    if matches!(value, "" | "/") {
        return;
    }
    if value == "//" {
        errors.push(Error::invalid(path, value, "segment[0] may not be empty"));
        return;
    }
    if !value.starts_with('/') {
        errors.push(Error::invalid(path, value, "must start with a '/'"));
    }
    // What comes after the first character, whatever that is.
    let mut rest = value.chars();
    rest.next();
    let rest = rest.as_str();
    for (index, step) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if step.is_empty() {
            errors.push(Error::invalid(path, value, format!("segment[{index}] may not be empty")));
            continue;
        }
        for sentence in names::is_dns1123_subdomain(step) {
            errors.push(Error::invalid(path, value, format!("segment[{index}]: {sentence}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(config: Value, expected: &[&str]) {
        let mut errors = ErrorList::new();
        validate_client_config(&mut errors, Some(&config), &Path::new("c"));
        assert_eq!(crate::testing::texts(&errors), expected);
    }

    #[test]
    fn a_webhook_is_reached_one_way() {
        check(json!({"url": "https://a.b:443/path"}), &[]);
        check(json!({"service": {"name": "a", "namespace": "b", "port": 443, "path": "/x/y/"}}), &[]);
        check(json!({}), &["c: Required value: exactly one of url or service is required"]);
        check(
            json!({"url": "http://u@/x?q#f"}),
            &[
                "c.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
                "c.url: Invalid value: \"\": host must be specified; desired format: https://host[/path]",
                "c.url: Invalid value: \"u\": user information is not permitted in the URL",
                "c.url: Invalid value: \"f\": fragments are not permitted in the URL",
                "c.url: Invalid value: \"q\": query parameters are not permitted in the URL",
            ],
        );
        check(
            json!({"service": {"name": "a", "port": 0, "path": "/a//b"}}),
            &[
                "c.service.name: Required value",
                "c.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
                "c.service.path: Invalid value: \"/a//b\": segment[1] may not be empty",
            ],
        );
    }
}
