//! The rules that names follow, with upstream's sentences.

/// RFC 1123 subdomain: what most names are.
pub fn dns1123_subdomain(_name: &str, _prefix: bool) -> Vec<String> {
    Vec::new()
}
