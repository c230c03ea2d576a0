//! The Secrets that hold bootstrap tokens: which they are and until when. Read by the
//! controllers that remove them and that sign cluster-info with them.

use ferry_api::view::core::v1::{Secret, SecretView};
use ferry_client::{Informer, Informers, ListParams};
use jiff::{SignedDuration, Timestamp};

pub(crate) const NAMESPACE: &str = "kube-system";
const TYPE: &str = "bootstrap.kubernetes.io/token";

/// The Secrets of the type, which alone are kept in memory.
pub(crate) fn tokens(informers: &Informers) -> Informer<Secret> {
    informers.with(ListParams { field_selector: Some(format!("type={TYPE}")), ..Default::default() })
}

pub(crate) fn is_token(secret: SecretView<'_>) -> bool {
    secret.type_() == TYPE && secret.metadata().namespace() == NAMESPACE
}

/// The value of a key; empty where it is absent or no text.
pub(crate) fn text(secret: SecretView<'_>, key: &str) -> String {
    String::from_utf8(secret.data().get(key).unwrap_or_default().decode()).unwrap_or_default()
}

/// The time that a token has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remaining {
    Endless,
    For(SignedDuration),
    /// Also when it cannot be read until when.
    Expired,
}

pub(crate) fn remaining(secret: SecretView<'_>, now: Timestamp) -> Remaining {
    match text(secret, "expiration").as_str() {
        "" => Remaining::Endless,
        text => match text.parse::<Timestamp>() {
            Ok(at) if at > now => Remaining::For(at.duration_since(now)),
            _ => Remaining::Expired,
        },
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use ferry_api::view::meta::v1::ObjectMeta;

    pub(crate) fn token(id: &str, data: &[(&str, &str)]) -> Secret {
        let own = [("token-id", id), ("token-secret", "0123456789abcdef")];
        Secret::new()
            .with_metadata(ObjectMeta::new().with_name(format!("bootstrap-token-{id}")).with_namespace(NAMESPACE))
            .with_type(TYPE)
            .with_data(own.iter().chain(data).map(|(key, value)| (*key, value.as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::testing::token;
    use super::*;
    use ferry_api::view::Owned;

    #[test]
    fn time_runs_out() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let check = |expiration: &str| remaining(token("abcdef", &[("expiration", expiration)]).view(), now);
        assert_eq!(remaining(token("abcdef", &[]).view(), now), Remaining::Endless);
        assert_eq!(check("2026-01-01T00:01:00Z"), Remaining::For(SignedDuration::from_mins(1)));
        assert_eq!(check("2026-01-01T00:00:00Z"), Remaining::Expired);
        assert_eq!(check("soon"), Remaining::Expired);
    }
}
