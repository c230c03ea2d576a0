//! Bootstrap tokens: `abcdef.0123456789abcdef`, kept as Secrets of type
//! bootstrap.kubernetes.io/token in kube-system. They let a machine that has nothing else
//! ask for its first certificate. Called for every bearer token of that form.

use super::UserInfo;
use super::certificate::sha256;
use base64::Engine as _;
use ferry_api::object::Meta;
use ferry_cache::lookup::ObjectLookup;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;

const TYPE: &str = "bootstrap.kubernetes.io/token";
const DEFAULT_GROUP: &str = "system:bootstrappers";

/// The user that a bootstrap token stands for, if its Secret says so now.
pub(super) fn authenticate(token: &str, lookup: &dyn ObjectLookup, now: Timestamp) -> Option<UserInfo> {
    let (id, secret) = split(token)?;
    let stored = lookup.get("", "secrets", "kube-system", &format!("bootstrap-token-{id}"))?;
    let object = stored.value();
    match check(&object, id, secret, now) {
        Ok(groups) => {
            let mut user = UserInfo { name: format!("system:bootstrap:{id}"), groups, ..UserInfo::default() };
            user.add_authenticated();
            Some(user)
        }
        Err(why) => {
            tracing::debug!(secret = object.name(), why, "a bootstrap token is refused");
            None
        }
    }
}

/// Six characters, a dot, sixteen characters, all of them lower-case letters and digits.
fn split(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.split_once('.')?;
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    (id.len() == 6 && secret.len() == 16 && plain(id) && plain(secret)).then_some((id, secret))
}

fn check(object: &Value, id: &str, secret: &str, now: Timestamp) -> Result<Vec<String>, &'static str> {
    if !object.meta_str("deletionTimestamp").is_empty() {
        return Err("is deleted and awaiting removal");
    }
    if object.str_at(&["type"]) != TYPE {
        return Err("has another type");
    }
    let data = |key: &str| {
        let encoded = object.str_at(&["data", key]);
        base64::engine::general_purpose::STANDARD.decode(encoded).unwrap_or_default()
    };
    // Digests are compared, so that the time taken tells nothing about the secret.
    if sha256(&data("token-secret")) != sha256(secret.as_bytes()) {
        return Err("has another token-secret");
    }
    if data("token-id") != id.as_bytes() {
        return Err("has another token-id");
    }
    let text = |key: &str| String::from_utf8(data(key)).unwrap_or_default();
    let expiration = text("expiration");
    if !expiration.is_empty() && expiration.parse::<Timestamp>().map_or(true, |at| at <= now) {
        return Err("has expired");
    }
    if text("usage-bootstrap-authentication") != "true" {
        return Err("is not marked usage-bootstrap-authentication=true");
    }
    let mut groups = BTreeSet::from([DEFAULT_GROUP.to_owned()]);
    let extra = text("auth-extra-groups");
    for group in extra.split(',').filter(|_| !extra.is_empty()) {
        if !is_bootstrap_group(group) {
            return Err("has an invalid auth-extra-groups");
        }
        groups.insert(group.to_owned());
    }
    Ok(groups.into_iter().collect())
}

/// `system:bootstrappers:` and up to 256 of a-z, 0-9, `:` and `-`, of which the last is a
/// letter or digit: nobody is lifted into a group of another meaning.
fn is_bootstrap_group(group: &str) -> bool {
    let Some(rest) = group.strip_prefix("system:bootstrappers:") else { return false };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    !rest.is_empty()
        && rest.len() <= 256
        && rest.bytes().all(|b| plain(b) || matches!(b, b':' | b'-'))
        && rest.bytes().last().is_some_and(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::{Objects, now};
    use serde_json::json;

    const TOKEN: &str = "abcdef.0123456789abcdef";

    fn secret(changes: &[(&str, &str)]) -> Value {
        let mut data = json!({});
        let defaults =
            [("token-id", "abcdef"), ("token-secret", "0123456789abcdef"), ("usage-bootstrap-authentication", "true")];
        for (key, value) in defaults.iter().chain(changes) {
            data[*key] = base64::engine::general_purpose::STANDARD.encode(value).into();
        }
        json!({"kind": "Secret", "type": TYPE, "data": data,
            "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"}})
    }

    #[test]
    fn a_secret_makes_a_bootstrapper() {
        let objects =
            Objects::of(&[secret(&[("auth-extra-groups", "system:bootstrappers:z,system:bootstrappers:kubeadm:a")])]);
        let user = authenticate(TOKEN, &*objects, now()).expect("known");
        assert_eq!(user.name, "system:bootstrap:abcdef");
        assert_eq!(
            user.groups,
            [
                "system:bootstrappers",
                "system:bootstrappers:kubeadm:a",
                "system:bootstrappers:z",
                "system:authenticated"
            ]
        );
        objects.delete("secrets", "kube-system", "bootstrap-token-abcdef");
        assert!(authenticate(TOKEN, &*objects, now()).is_none());
    }

    #[test]
    fn anything_amiss_is_no_token() {
        let refused: [&[(&str, &str)]; 8] = [
            &[("token-secret", "0123456789abcdee")],
            &[("token-id", "abcdee")],
            &[("usage-bootstrap-authentication", "false")],
            &[("expiration", "2020-01-01T00:00:00Z")],
            &[("expiration", "soon")],
            &[("auth-extra-groups", "system:masters")],
            &[("auth-extra-groups", "system:bootstrappers:")],
            &[("auth-extra-groups", "system:bootstrappers:a-")],
        ];
        for changes in refused {
            assert!(authenticate(TOKEN, &*Objects::of(&[secret(changes)]), now()).is_none(), "{changes:?}");
        }
        let mut other = secret(&[]);
        other["type"] = "Opaque".into();
        assert!(authenticate(TOKEN, &*Objects::of(&[other]), now()).is_none());
        let good = Objects::of(&[secret(&[("expiration", "2099-01-01T00:00:00Z")])]);
        assert!(authenticate(TOKEN, &*good, now()).is_some());
        for token in ["abcdef.0123456789abcde", "Abcdef.0123456789abcdef", "abcdef", ""] {
            assert!(authenticate(token, &*good, now()).is_none(), "{token}");
        }
    }
}
