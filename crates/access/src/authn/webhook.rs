//! Asks another server about a token: TokenReview to the server that a kubeconfig names.
//! The last of all ways, called only for tokens that nothing else knows. Answers are kept
//! for a while; failures to answer are not.

use super::certificate::sha256;
use super::token::Verified;
use super::user::UserInfo;
use crate::retry::with_backoff;
use crate::webhook::{DEFAULT_TIMEOUT, Hook, Kubeconfig};
use ferry_api::object::Meta;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const REMEMBERED: usize = 4096;

/// `--authentication-token-webhook-*`.
#[derive(Clone, Debug)]
pub struct TokenWebhookConfig {
    pub kubeconfig: PathBuf,
    /// `v1` or `v1beta1`.
    pub version: String,
    pub cache_ttl: Duration,
}

/// What the other server said of a token, and until when that holds.
type Remembered = (Option<Verified>, Timestamp);

pub(super) struct TokenWebhook {
    hook: Hook,
    api_version: String,
    ttl: SignedDuration,
    /// The audiences of tokens about which the other server says none.
    own_audiences: Vec<String>,
    remembered: Mutex<HashMap<[u8; 32], Remembered>>,
}

impl TokenWebhook {
    pub(super) fn new(config: &TokenWebhookConfig, own_audiences: &[String]) -> Result<Self, String> {
        let flag = "--authentication-token-webhook-config-file";
        if !matches!(config.version.as_str(), "v1" | "v1beta1") {
            return Err(format!(
                "--authentication-token-webhook-version: unsupported authentication webhook version {:?}, supported versions are \"v1\", \"v1beta1\"",
                config.version
            ));
        }
        let kubeconfig = Kubeconfig::read(&config.kubeconfig).map_err(|e| format!("{flag}: {e}"))?;
        Ok(Self {
            hook: Hook::from_kubeconfig(&kubeconfig).map_err(|e| format!("{flag}: {e}"))?,
            api_version: format!("authentication.k8s.io/{}", config.version),
            ttl: SignedDuration::try_from(config.cache_ttl).unwrap_or(SignedDuration::ZERO),
            own_audiences: own_audiences.to_vec(),
            remembered: Mutex::default(),
        })
    }

    /// `None` if the other server does not know the token either.
    pub(super) async fn authenticate(
        &self,
        token: &str,
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Option<Verified>, String> {
        let wanted = if audiences.is_empty() { &self.own_audiences } else { audiences };
        let question = json!({
            "apiVersion": self.api_version, "kind": "TokenReview", "metadata": {"creationTimestamp": null},
            "spec": {"token": token, "audiences": wanted}, "status": {"user": {}},
        });
        let digest = sha256(question.to_string().as_bytes());
        if let Some((known, until)) = self.remembered.lock().get(&digest)
            && now < *until
        {
            return Ok(known.clone());
        }
        let answer = with_backoff(|| self.hook.post(&question, DEFAULT_TIMEOUT)).await.map_err(|e| e.to_string())?;
        let verified = read(&answer, wanted, &self.own_audiences)?;
        if let Ok(until) = now.saturating_add(self.ttl) {
            let mut remembered = self.remembered.lock();
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
            remembered.insert(digest, (verified.clone(), until));
        }
        Ok(verified)
    }
}

/// What an answered TokenReview says.
fn read(answer: &Value, wanted: &[String], own_audiences: &[String]) -> Result<Option<Verified>, String> {
    let strings = |value: Option<&Value>| -> Vec<String> {
        let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut meant = strings(answer.at(&["status", "audiences"]));
    if meant.is_empty() {
        meant = own_audiences.to_vec();
    }
    let audiences: Vec<String> = wanted.iter().filter(|wanted| meant.contains(wanted)).cloned().collect();
    if audiences.is_empty() && !wanted.is_empty() {
        return Ok(None);
    }
    if answer.bool_at(&["status", "authenticated"]) != Some(true) {
        return match answer.str_at(&["status", "error"]) {
            "" => Ok(None),
            why => Err(why.to_owned()),
        };
    }
    let extra: BTreeMap<String, Vec<String>> = match answer.at(&["status", "user", "extra"]) {
        Some(Value::Object(extra)) => extra.iter().map(|(key, values)| (key.clone(), strings(Some(values)))).collect(),
        _ => BTreeMap::new(),
    };
    let mut user = UserInfo {
        name: answer.str_at(&["status", "user", "username"]).to_owned(),
        uid: answer.str_at(&["status", "user", "uid"]).to_owned(),
        groups: strings(answer.at(&["status", "user", "groups"])),
        extra,
    };
    user.add_authenticated();
    Ok(Some(Verified { user: Arc::new(user), audiences }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_their_audiences() {
        let strings = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        let own = strings(&["api"]);
        let good = json!({"status": {"authenticated": true, "audiences": ["x", "api"],
            "user": {"username": "ann", "uid": "1", "groups": ["dev"], "extra": {"a": ["b"]}}}});
        let verified = read(&good, &own, &own).expect("an answer").expect("known");
        assert_eq!((verified.user.name.as_str(), verified.audiences), ("ann", own.clone()));
        assert_eq!(verified.user.groups, ["dev", "system:authenticated"]);
        assert_eq!(verified.user.extra["a"], ["b"]);
        assert_eq!(read(&good, &strings(&["vault"]), &own), Ok(None), "not meant for them");
        let plain = json!({"status": {"authenticated": true, "user": {"username": "ann"}}});
        assert!(read(&plain, &own, &own).expect("an answer").is_some(), "meant for the API server");
        assert_eq!(read(&json!({"status": {"authenticated": false}}), &own, &own), Ok(None));
        assert_eq!(read(&json!({"status": {"error": "expired"}}), &own, &own), Err("expired".into()));
    }
}
