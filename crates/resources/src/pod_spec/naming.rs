//! What a pod is called and what names it can resolve: hostname, DNS, host aliases.

use crate::names;
use crate::read::Read;
use crate::validation::each;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

// The limits of libc's resolver.
const MAX_NAMESERVERS: usize = 3;
const MAX_SEARCH_PATHS: usize = 32;
const MAX_SEARCH_CHARACTERS: usize = 2048;

pub(crate) fn validate_hostname(errors: &mut ErrorList, spec: &Value, path: &Path) {
    if !spec.has("hostnameOverride") {
        return;
    }
    let path = path.child("hostnameOverride");
    if spec.flag("setHostnameAsFQDN") {
        errors.push(Error::forbidden(&path, "may not be specified when setHostnameAsFQDN is true"));
    }
    if spec.flag("hostNetwork") {
        errors.push(Error::forbidden(&path, "may not be specified when hostNetwork is true"));
    }
}

pub(crate) fn validate_dns_config(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let config = spec.field("dnsConfig");
    if spec.text("dnsPolicy") == "None" {
        if config.is_none() {
            errors.push(Error::required(path, "must provide `dnsConfig` when `dnsPolicy` is None"));
            return;
        }
        if config.list("nameservers").is_empty() {
            errors.push(Error::required(
                &path.child("nameservers"),
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            ));
            return;
        }
    }
    let Some(config) = config else { return };
    let servers = config.list("nameservers");
    let at = path.child("nameservers");
    if servers.len() > MAX_NAMESERVERS {
        let detail = format!("must not have more than {MAX_NAMESERVERS} nameservers");
        errors.push(Error::invalid(&at, servers, detail));
    }
    let searches = config.list("searches");
    let at = path.child("searches");
    if searches.len() > MAX_SEARCH_PATHS {
        let detail = format!("must not have more than {MAX_SEARCH_PATHS} search paths");
        errors.push(Error::invalid(&at, searches, detail));
    }
    let length = config.texts("searches").map(str::len).sum::<usize>() + searches.len().saturating_sub(1);
    if length > MAX_SEARCH_CHARACTERS {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        errors.push(Error::invalid(&at, searches, detail));
    }
    for (index, search) in config.texts("searches").enumerate().filter(|(_, search)| *search != ".") {
        let search = search.strip_suffix('.').unwrap_or(search);
        each(errors, &at.index(index), search, names::is_dns1123_subdomain_with_underscore(search));
    }
}
