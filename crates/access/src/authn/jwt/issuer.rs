//! One issuer: whether a token is its own, meant for us and valid now. Its keys are looked
//! for in the background until they are found, so that an issuer may itself run in the
//! cluster that asks it.

use super::keys::KeySet;
use super::mapping::{self, Expressions};
use crate::authn::config::JwtAuthenticator;
use crate::authn::user::UserInfo;
use base64::Engine as _;
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// How often an issuer that does not answer is asked again (upstream's).
const RETRY: Duration = Duration::from_secs(10);
/// go-oidc's tolerance towards issuers whose clock is ahead.
const NOT_BEFORE_LEEWAY: SignedDuration = SignedDuration::from_mins(5);

/// Why a token is not believed: a sentence for logs and reviews.
pub(crate) type Failure = String;

pub(super) struct JwtIssuer {
    config: JwtAuthenticator,
    expressions: Expressions,
    state: watch::Receiver<State>,
    discovery: AbortHandle,
}

#[derive(Clone)]
enum State {
    NotYet(String),
    Ready(Arc<KeySet>),
}

impl Drop for JwtIssuer {
    fn drop(&mut self) {
        self.discovery.abort();
    }
}

impl JwtIssuer {
    pub(super) fn start(config: &JwtAuthenticator, expressions: Expressions) -> Result<Self, String> {
        let url = config.issuer.url.clone();
        let discovery_url = config.issuer.discovery_url.clone().filter(|url| !url.is_empty());
        let ca = Some(config.issuer.certificate_authority.clone()).filter(|ca| !ca.is_empty());
        let waiting = State::NotYet(format!("oidc: authenticator for issuer {url:?} is not initialized"));
        let (sender, state) = watch::channel(waiting);
        let task = tokio::spawn(async move {
            loop {
                match KeySet::discover(&url, discovery_url.as_deref(), ca.as_deref()).await {
                    Ok(keys) => {
                        sender.send_replace(State::Ready(Arc::new(keys)));
                        return;
                    }
                    Err(why) => {
                        tracing::warn!(issuer = url, why, "the keys of an issuer are not to be had; it is asked again");
                        sender.send_replace(State::NotYet(why));
                    }
                }
                tokio::time::sleep(RETRY).await;
            }
        });
        Ok(Self { config: config.clone(), expressions, state, discovery: task.abort_handle() })
    }

    pub(super) fn url(&self) -> &str {
        &self.config.issuer.url
    }

    pub(super) async fn ready(&self) {
        // The sender is gone only after it has said that it is ready.
        let _ = self.state.clone().wait_for(|state| matches!(state, State::Ready(_))).await;
    }

    pub(super) fn problem(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Ready(_) => None,
            State::NotYet(why) => {
                Some(format!("oidc: authenticator for issuer {:?} is not healthy: {why}", self.config.issuer.url))
            }
        }
    }

    /// The user, and until when the token is valid.
    pub(super) async fn authenticate(&self, token: &str, now: Timestamp) -> Result<(UserInfo, Timestamp), Failure> {
        let state = self.state.borrow().clone();
        let State::Ready(keys) = state else { return Err("oidc: authenticator not initialized".into()) };
        let claims = keys.verify(token).await.map_err(|why| format!("oidc: verify token: {why}"))?;
        let expires = check_claims(&claims, &self.config.issuer.url, &self.config.issuer.audiences, now)
            .map_err(|why| format!("oidc: verify token: {why}"))?;
        let user = mapping::map_claims(&self.config, &self.expressions, &claims)?;
        Ok((user, expires))
    }
}

/// The issuer that a token says it has, proven by nothing.
pub(super) fn claimed_issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Issued {
        #[serde(default)]
        iss: String,
    }
    let mut parts = token.split('.');
    let (_, payload, _) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let payload = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(payload).ok()?;
    let issued: Issued = serde_json::from_slice(&payload).ok()?;
    // An old name of one issuer, which its tokens still carry.
    Some(if issued.iss == "accounts.google.com" { "https://accounts.google.com".into() } else { issued.iss })
}

/// Whether proven claims are meant for us and hold now. Gives until when.
fn check_claims(
    claims: &Map<String, Value>,
    issuer: &str,
    audiences: &[String],
    now: Timestamp,
) -> Result<Timestamp, String> {
    let named = claims.get("iss").and_then(Value::as_str).unwrap_or_default();
    if named != issuer && !(issuer == "https://accounts.google.com" && named == "accounts.google.com") {
        return Err(format!("oidc: id token issued by a different provider, expected {issuer:?} got {named:?}"));
    }
    let meant: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !audiences.iter().any(|ours| meant.contains(&ours.as_str())) {
        let quote = |items: &[&str]| items.iter().map(|item| format!("{item:?}")).collect::<Vec<_>>().join(" ");
        return Err(match audiences {
            [one] => format!("oidc: expected audience {one:?} got [{}]", quote(&meant)),
            many => {
                let mut many: Vec<&str> = many.iter().map(String::as_str).collect();
                many.sort_unstable();
                format!("oidc: expected audience in [{}] got [{}]", quote(&many), quote(&meant))
            }
        });
    }
    let time = |claim: &str| {
        let seconds = claims.get(claim)?.as_f64()?;
        #[expect(clippy::cast_possible_truncation, reason = "fractions of a second do not matter here")]
        Timestamp::from_second(seconds as i64).ok()
    };
    // A token that does not say when it ends has ended.
    let expires = time("exp").unwrap_or(Timestamp::UNIX_EPOCH);
    if expires < now {
        return Err(format!("oidc: token is expired (Token Expiry: {expires})"));
    }
    if let Some(begins) = time("nbf")
        && now.saturating_add(NOT_BEFORE_LEEWAY).is_ok_and(|now| now < begins)
    {
        return Err(format!("current time {now} before the nbf (not before) time: {begins}"));
    }
    Ok(expires)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::now;
    use serde_json::json;

    #[test]
    fn tokens_of_others_and_of_other_times_are_refused() {
        let check = |changes: Value, audiences: &[&str]| {
            let mut claims = json!({"iss": "https://i", "aud": "ours", "exp": now().as_second() + 60});
            for (key, value) in changes.as_object().expect("changes") {
                claims[key] = value.clone();
            }
            let audiences: Vec<String> = audiences.iter().map(|a| (*a).to_owned()).collect();
            let claims = claims.as_object().expect("claims").clone();
            check_claims(&claims, "https://i", &audiences, now()).map(|_| ())
        };
        assert_eq!(check(json!({}), &["ours"]), Ok(()));
        assert_eq!(check(json!({"aud": ["x", "ours"]}), &["other", "ours"]), Ok(()));
        assert_eq!(
            check(json!({"iss": "https://j"}), &["ours"]),
            Err("oidc: id token issued by a different provider, expected \"https://i\" got \"https://j\"".into())
        );
        assert_eq!(
            check(json!({"aud": ["x", "y"]}), &["ours"]),
            Err("oidc: expected audience \"ours\" got [\"x\" \"y\"]".into())
        );
        assert_eq!(
            check(json!({}), &["b", "a"]),
            Err("oidc: expected audience in [\"a\" \"b\"] got [\"ours\"]".into())
        );
        let expired = check(json!({"exp": now().as_second() - 1}), &["ours"]).expect_err("expired");
        assert!(expired.starts_with("oidc: token is expired"), "{expired}");
        assert!(check(json!({"exp": null}), &["ours"]).is_err(), "without an end");
        assert!(check(json!({"nbf": now().as_second() + 299}), &["ours"]).is_ok(), "clocks differ");
        assert!(check(json!({"nbf": now().as_second() + 301}), &["ours"]).is_err());
    }

    #[test]
    fn the_issuer_is_read_from_compact_tokens_only() {
        let payload = |json: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json);
        let token = format!("x.{}.y", payload(r#"{"iss":"https://i"}"#));
        assert_eq!(claimed_issuer(&token).as_deref(), Some("https://i"));
        let google = format!("x.{}.y", payload(r#"{"iss":"accounts.google.com"}"#));
        assert_eq!(claimed_issuer(&google).as_deref(), Some("https://accounts.google.com"));
        for other in ["", "a.b", "a.b.c", &format!("{token}.z")] {
            assert_eq!(claimed_issuer(other), None, "{other}");
        }
    }
}
