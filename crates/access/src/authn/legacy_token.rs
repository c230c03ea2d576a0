//! Tokens that live in Secrets of type kubernetes.io/service-account-token. They never
//! expire; what ends them is that the Secret, or its account, is gone or says otherwise.
//! The controller of that name fills the Secrets; here their tokens are verified, and it is
//! noted on which day each was last used.

use super::UserInfo;
use super::certificate::sha256;
use super::token::{Shown, TokenAuthority};
use super::user::split_service_account_user;
use base64::Engine as _;
use ferry_api::object::Meta;
use ferry_cache::lookup::ObjectLookup;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The `iss` of these tokens.
pub const ISSUER: &str = "kubernetes/serviceaccount";
pub const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
pub const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

/// What such a token says, in the order in which upstream's say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LegacyClaims {
    #[serde(default)]
    pub iss: String,
    #[serde(default, rename = "kubernetes.io/serviceaccount/namespace")]
    pub namespace: String,
    #[serde(default, rename = "kubernetes.io/serviceaccount/secret.name")]
    pub secret: String,
    #[serde(default, rename = "kubernetes.io/serviceaccount/service-account.name")]
    pub account: String,
    #[serde(default, rename = "kubernetes.io/serviceaccount/service-account.uid")]
    pub uid: String,
    #[serde(default)]
    pub sub: String,
}

/// A Secret whose token was used; its label is to say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    pub namespace: String,
    pub secret: String,
    pub uid: String,
    pub day: String,
}

/// An outcome, and the use of a token that should be noted with it.
type With<T> = (T, Option<Used>);

/// What a good token proves, and what should be noted about it. `None` for a token of
/// another kind; the error is upstream's sentence.
pub fn authenticate(
    authority: &TokenAuthority,
    token: Shown<'_>,
    lookup: &dyn ObjectLookup,
    now: Timestamp,
) -> Result<Option<With<UserInfo>>, With<String>> {
    let claims = match authority.legacy_claims(token) {
        Ok(Some(claims)) => claims,
        Ok(None) => return Ok(None),
        Err(why) => return Err((why, None)),
    };
    check_claims(&claims).map_err(|why| (why.to_owned(), None))?;
    let (namespace, account) = (claims.namespace.as_str(), claims.account.as_str());
    let secret = lookup
        .get("", "secrets", namespace, &claims.secret)
        .map(|stored| stored.value())
        .filter(|secret| secret.meta_str("deletionTimestamp").is_empty())
        .ok_or_else(|| ("Token has been invalidated".to_owned(), None))?;
    let kept = base64::engine::general_purpose::STANDARD.decode(secret.str_at(&["data", "token"])).unwrap_or_default();
    // Digests are compared, so that the time taken tells nothing about the secret.
    if sha256(&kept) != token.digest {
        return Err(("Token does not match server's copy".into(), None));
    }
    let service_account = lookup
        .get("", "serviceaccounts", namespace, account)
        .map(|stored| stored.value())
        .ok_or_else(|| (format!("serviceaccounts {account:?} not found"), None))?;
    if !service_account.meta_str("deletionTimestamp").is_empty() {
        return Err((format!("ServiceAccount {namespace}/{account} has been deleted"), None));
    }
    if service_account.uid() != claims.uid {
        let found = service_account.uid();
        return Err((format!("ServiceAccount UID ({found}) does not match claim ({})", claims.uid), None));
    }
    let used = used(&secret, now);
    if !secret.label(INVALID_SINCE).unwrap_or_default().is_empty() {
        let why = format!(
            "the token in secret {namespace}/{} for service account {namespace}/{account} has been marked invalid. Use tokens from the TokenRequest API or manually created secret-based tokens, or remove the '{INVALID_SINCE}' label from the secret to temporarily allow use of this token",
            claims.secret
        );
        return Err((why, used));
    }
    let mut user = UserInfo::service_account(namespace, account);
    user.uid = claims.uid;
    Ok(Some((user, used)))
}

fn check_claims(claims: &LegacyClaims) -> Result<(), &'static str> {
    let missing = [
        (&claims.sub, "sub claim is missing"),
        (&claims.namespace, "namespace claim is missing"),
        (&claims.secret, "secretName claim is missing"),
        (&claims.account, "serviceAccountName claim is missing"),
        (&claims.uid, "serviceAccountUID claim is missing"),
    ];
    if let Some((_, why)) = missing.into_iter().find(|(claim, _)| claim.is_empty()) {
        return Err(why);
    }
    match split_service_account_user(&claims.sub) {
        Some((namespace, name)) if namespace == claims.namespace && name == claims.account => Ok(()),
        _ => Err("sub claim is invalid"),
    }
}

/// The label is written once a day. A server whose clock is ahead may have written tomorrow.
fn used(secret: &Value, now: Timestamp) -> Option<Used> {
    let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string();
    let today = day(now);
    let tomorrow = day(now.saturating_add(jiff::SignedDuration::from_hours(24)).unwrap_or(now));
    let last = secret.label(LAST_USED).unwrap_or_default();
    (last != today && last != tomorrow).then(|| Used {
        namespace: secret.namespace().to_owned(),
        secret: secret.name().to_owned(),
        uid: secret.uid().to_owned(),
        day: today,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::{Objects, authenticator, now};
    use serde_json::json;

    fn claims() -> LegacyClaims {
        LegacyClaims {
            iss: ISSUER.into(),
            namespace: "ns".into(),
            secret: "web-token".into(),
            account: "web".into(),
            uid: "u-sa".into(),
            sub: "system:serviceaccount:ns:web".into(),
        }
    }

    #[test]
    fn a_token_lives_as_long_as_its_secret() {
        let objects = Objects::of(&[]);
        let authenticator = authenticator(objects.clone());
        let token = authenticator.tokens().sign_raw(&claims()).expect("signed");
        let check = |expected: Result<&str, &str>| {
            let got = authenticate(authenticator.tokens(), Shown::new(&token), &*objects, now());
            let got = got.map(|known| known.expect("ours").0.name).map_err(|(why, _)| why);
            assert_eq!(got.as_deref().map_err(String::as_str), expected);
        };
        check(Err("Token has been invalidated"));
        let secret = |token: &str, labels: Value| {
            let data = base64::engine::general_purpose::STANDARD.encode(token);
            json!({"kind": "Secret", "type": "kubernetes.io/service-account-token", "data": {"token": data},
                "metadata": {"name": "web-token", "namespace": "ns", "uid": "u-s", "labels": labels}})
        };
        objects.put(secret("another", json!({})));
        check(Err("Token does not match server's copy"));
        objects.put(secret(&token, json!({})));
        check(Err("serviceaccounts \"web\" not found"));
        let account =
            |uid: &str| json!({"kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "ns", "uid": uid}});
        objects.put(account("other"));
        check(Err("ServiceAccount UID (other) does not match claim (u-sa)"));
        objects.put(account("u-sa"));
        check(Ok("system:serviceaccount:ns:web"));
        objects.put(secret(&token, json!({INVALID_SINCE: "2027-01-01"})));
        let refused =
            authenticate(authenticator.tokens(), Shown::new(&token), &*objects, now()).expect_err("marked invalid");
        assert!(refused.0.starts_with("the token in secret ns/web-token for service account ns/web has been marked"));
        assert!(refused.1.is_some(), "its use is noted all the same");
        objects.delete("secrets", "ns", "web-token");
        check(Err("Token has been invalidated"));
    }

    #[test]
    fn the_day_of_use_is_noted_once() {
        let secret = |labels: Value| json!({"metadata": {"name": "s", "namespace": "ns", "labels": labels}});
        let day = |labels: Value| used(&secret(labels), now()).map(|used| used.day);
        assert_eq!(day(json!({})).as_deref(), Some("2027-01-15"));
        assert_eq!(day(json!({LAST_USED: "2027-01-14"})).as_deref(), Some("2027-01-15"));
        assert_eq!(day(json!({LAST_USED: "2027-01-15"})), None);
        assert_eq!(day(json!({LAST_USED: "2027-01-16"})), None);
    }

    #[test]
    fn claims_must_agree_with_each_other() {
        let with = |change: fn(&mut LegacyClaims)| {
            let mut claims = claims();
            change(&mut claims);
            check_claims(&claims)
        };
        assert_eq!(with(|_| {}), Ok(()));
        assert_eq!(with(|c| c.sub.clear()), Err("sub claim is missing"));
        assert_eq!(with(|c| c.secret.clear()), Err("secretName claim is missing"));
        assert_eq!(with(|c| c.account = "root".into()), Err("sub claim is invalid"));
    }
}
