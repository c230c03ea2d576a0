//! The Secrets that hold bootstrap tokens: which they are and what they say. Read by the
//! controllers that remove them and that sign cluster-info with them.

use ferry_client::{Informer, Informers, ListParams};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;

pub const NAMESPACE: &str = "kube-system";
const TYPE: &str = "bootstrap.kubernetes.io/token";

/// Only these Secrets are kept in memory.
pub fn tokens(informers: &Informers) -> Informer<Secret> {
    informers.with(ListParams { field_selector: Some(format!("type={TYPE}")), ..Default::default() })
}

pub fn is_token(secret: &Secret) -> bool {
    secret.type_.as_deref() == Some(TYPE) && secret.metadata.namespace.as_deref() == Some(NAMESPACE)
}

pub fn text<'a>(secret: &'a Secret, key: &str) -> &'a str {
    let value = secret.data.as_ref().and_then(|data| data.get(key));
    value.and_then(|bytes| std::str::from_utf8(&bytes.0).ok()).unwrap_or_default()
}

/// What is left of a token's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    Endless,
    For(SignedDuration),
    /// Also when it cannot be read until when.
    Expired,
}

pub fn remaining(secret: &Secret, now: Timestamp) -> Remaining {
    match text(secret, "expiration") {
        "" => Remaining::Endless,
        text => match text.parse::<Timestamp>() {
            Ok(at) if at > now => Remaining::For(at.duration_since(now)),
            _ => Remaining::Expired,
        },
    }
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use k8s_openapi::ByteString;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

    pub fn token(id: &str, data: &[(&str, &str)]) -> Secret {
        let own = [("token-id", id), ("token-secret", "0123456789abcdef")];
        let data =
            own.iter().chain(data).map(|(key, value)| ((*key).to_owned(), ByteString(value.as_bytes().to_vec())));
        Secret {
            metadata: ObjectMeta {
                name: Some(format!("bootstrap-token-{id}")),
                namespace: Some(NAMESPACE.into()),
                ..Default::default()
            },
            type_: Some(TYPE.into()),
            data: Some(data.collect()),
            ..Default::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::token;
    use super::*;

    #[test]
    fn time_runs_out() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let check = |expiration: &str| remaining(&token("abcdef", &[("expiration", expiration)]), now);
        assert_eq!(remaining(&token("abcdef", &[]), now), Remaining::Endless);
        assert_eq!(check("2026-01-01T00:01:00Z"), Remaining::For(SignedDuration::from_mins(1)));
        assert_eq!(check("2026-01-01T00:00:00Z"), Remaining::Expired);
        assert_eq!(check("soon"), Remaining::Expired);
    }
}
