//! The aggregating proxy's headers: a caller whose certificate the front-proxy authority
//! vouches for, under an allowed name, may say on whose behalf it asks.

use super::user::UserInfo;
use http::HeaderMap;
use std::collections::BTreeMap;

pub(super) const USER_HEADER: &str = "x-remote-user";
pub(super) const UID_HEADER: &str = "x-remote-uid";
pub(super) const GROUP_HEADER: &str = "x-remote-group";
pub(super) const EXTRA_PREFIX: &str = "x-remote-extra-";

/// The user that the headers name, or `None` if they name nobody. The caller has checked
/// the certificate.
pub(super) fn user_from_headers(headers: &HeaderMap) -> Option<UserInfo> {
    let first = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = first(USER_HEADER);
    if name.is_empty() {
        return None;
    }
    let groups = headers.get_all(GROUP_HEADER).iter().filter_map(|value| value.to_str().ok());
    let mut user = UserInfo {
        name: name.to_owned(),
        uid: first(UID_HEADER).to_owned(),
        groups: groups.filter(|group| !group.is_empty()).map(str::to_owned).collect(),
        extra: extras(headers, EXTRA_PREFIX),
    };
    user.add_authenticated();
    Some(user)
}

/// The headers under a prefix as extras; keys are percent-decoded, since a header's name
/// cannot hold every character that a key can.
pub(super) fn extras(headers: &HeaderMap, prefix: &str) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        let Some(key) = name.as_str().strip_prefix(prefix) else { continue };
        let key = match percent_encoding::percent_decode_str(key).decode_utf8() {
            Ok(decoded) => decoded.into_owned(),
            Err(_) => key.to_owned(),
        };
        if let Ok(value) = value.to_str() {
            out.entry(key).or_default().push(value.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_user_groups_and_extras() {
        let mut headers = HeaderMap::new();
        assert_eq!(user_from_headers(&headers), None);
        headers.insert(USER_HEADER, "alice".parse().expect("a value"));
        headers.append(GROUP_HEADER, "a".parse().expect("a value"));
        headers.append(GROUP_HEADER, "b".parse().expect("a value"));
        headers.insert("x-remote-extra-example.com%2fscope", "read".parse().expect("a value"));
        let user = user_from_headers(&headers).expect("named");
        assert_eq!(user.groups, ["a", "b", "system:authenticated"]);
        assert_eq!(user.extra["example.com/scope"], ["read"]);
    }
}
