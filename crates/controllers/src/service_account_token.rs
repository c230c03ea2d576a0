//! Fills Secrets of type kubernetes.io/service-account-token with a token, the authority
//! and the namespace, and removes those whose account is gone.

use crate::LegacySigner;
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_client::{DeleteParams, Informer, Informers, ListParams};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use serde_json::{Value, json};

pub const TYPE: &str = "kubernetes.io/service-account-token";
pub const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
pub const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

pub struct ServiceAccountTokenController {
    pub root_ca: String,
    pub signer: LegacySigner,
}

#[async_trait]
impl Controller for ServiceAccountTokenController {
    fn name(&self) -> &'static str {
        "serviceaccount-token-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let tokens = secrets(informers);
        vec![
            Watch::itself(secrets(informers)),
            Watch::new(informers.of::<ServiceAccount>(), move |event, enqueue| {
                // An account that comes or goes decides over the Secrets that name it.
                let account = &event.object().metadata;
                let namespace = account.namespace.as_deref();
                for secret in tokens.list(namespace) {
                    if annotation(&secret, ACCOUNT_NAME) == account.name.as_deref().unwrap_or_default() {
                        enqueue.add_object(&secret.metadata);
                    }
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(secret) = secrets(&ctx.informers).get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let name = annotation(&secret, ACCOUNT_NAME);
        if name.is_empty() || secret.metadata.deletion_timestamp.is_some() {
            return Ok(Action::Done);
        }
        // Upstream's controller speaks as the controller manager itself, not as an account.
        let client = ctx.informers.client();
        // Asked live: an account that the cache has not seen yet must not cost a Secret.
        let account = match client.get::<ServiceAccount>(&key.namespace, name).await {
            Ok(account) => Some(account),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error).during("get the account of", key),
        };
        let account = account.filter(|account| is_the_one(account, &secret));
        let Some(account) = account else {
            let params = DeleteParams { uid: secret.metadata.uid.clone(), ..Default::default() };
            return match client.delete::<Secret>(&key.namespace, &key.name, &params).await {
                Err(error) if error.is_not_found() || error.is_conflict() => Ok(Action::Done),
                other => other.during("remove the token of a lost account", key).map(|()| Action::Done),
            };
        };
        let wanted = plan_secret(&secret, &account, &self.root_ca, &*self.signer).map_err(Error::Retry)?;
        if let Some(wanted) = wanted {
            match client.replace(&key.namespace, &wanted).await {
                // Its change wakes us again.
                Err(error) if error.is_not_found() || error.is_conflict() => {}
                other => drop(other.during("fill the token of", key)?),
            }
        }
        Ok(Action::Done)
    }
}

/// Only these Secrets are kept in memory.
pub fn secrets(informers: &Informers) -> Informer<Secret> {
    informers.with(ListParams { field_selector: Some(format!("type={TYPE}")), ..Default::default() })
}

pub fn annotation<'a>(secret: &'a Secret, key: &str) -> &'a str {
    secret.metadata.annotations.as_ref().and_then(|all| all.get(key)).map(String::as_str).unwrap_or_default()
}

/// A Secret may name its account with or without the uid.
pub fn is_the_one(account: &ServiceAccount, secret: &Secret) -> bool {
    let uid = annotation(secret, ACCOUNT_UID);
    uid.is_empty() || account.metadata.uid.as_deref() == Some(uid)
}

/// The Secret with what it lacks; `None` if it lacks nothing.
fn plan_secret(
    secret: &Secret,
    account: &ServiceAccount,
    root_ca: &str,
    sign: &dyn Fn(&Value) -> Result<String, String>,
) -> Result<Option<Secret>, String> {
    let has = |key: &str| secret.data.as_ref().and_then(|data| data.get(key)).map(|value| value.0.as_slice());
    let lacks = |key: &str| has(key).unwrap_or_default().is_empty();
    let needs_ca = !root_ca.is_empty() && has("ca.crt") != Some(root_ca.as_bytes());
    if !needs_ca && !lacks("namespace") && !lacks("token") {
        return Ok(None);
    }
    let (namespace, name) = (secret.metadata.namespace.as_deref().unwrap_or_default(), secret.metadata.name.as_deref());
    let account_name = account.metadata.name.as_deref().unwrap_or_default();
    let uid = account.metadata.uid.as_deref().unwrap_or_default();
    let mut wanted = secret.clone();
    let data = wanted.data.get_or_insert_default();
    if needs_ca {
        data.insert("ca.crt".into(), ByteString(root_ca.as_bytes().to_vec()));
    }
    if lacks("namespace") {
        data.insert("namespace".into(), ByteString(namespace.as_bytes().to_vec()));
    }
    if lacks("token") {
        let claims = json!({
            "iss": "kubernetes/serviceaccount",
            "kubernetes.io/serviceaccount/namespace": namespace,
            "kubernetes.io/serviceaccount/secret.name": name,
            "kubernetes.io/serviceaccount/service-account.name": account_name,
            "kubernetes.io/serviceaccount/service-account.uid": uid,
            "sub": format!("system:serviceaccount:{namespace}:{account_name}"),
        });
        data.insert("token".into(), ByteString(sign(&claims)?.into_bytes()));
    }
    let annotations = wanted.metadata.annotations.get_or_insert_default();
    annotations.insert(ACCOUNT_NAME.into(), account_name.to_owned());
    annotations.insert(ACCOUNT_UID.into(), uid.to_owned());
    Ok(Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(value: Value) -> Secret {
        serde_json::from_value(value).expect("a secret")
    }

    #[test]
    fn a_secret_gets_what_it_lacks_and_keeps_the_rest() {
        let account: ServiceAccount =
            serde_json::from_value(json!({"metadata": {"name": "web", "namespace": "ns", "uid": "u"}}))
                .expect("an account");
        let sign = |claims: &Value| Ok(format!("signed {}", claims["sub"].as_str().expect("a subject")));
        let bare = secret(
            json!({"type": TYPE, "metadata": {"name": "s", "namespace": "ns", "annotations": {ACCOUNT_NAME: "web"}},
            "data": {"mine": "eA=="}}),
        );
        let filled = plan_secret(&bare, &account, "CA", &sign).expect("signed").expect("changed");
        let data = filled.data.as_ref().expect("data");
        assert_eq!(data["token"].0, b"signed system:serviceaccount:ns:web");
        assert_eq!((data["ca.crt"].0.as_slice(), data["namespace"].0.as_slice()), (&b"CA"[..], &b"ns"[..]));
        assert_eq!(data["mine"].0, b"x");
        assert_eq!(annotation(&filled, ACCOUNT_UID), "u");
        assert_eq!(plan_secret(&filled, &account, "CA", &sign), Ok(None));
        let renewed = plan_secret(&filled, &account, "NEW", &sign).expect("signed").expect("changed");
        assert_eq!(renewed.data.as_ref().expect("data")["token"], data["token"], "a token that is there stays");
        assert!(is_the_one(&account, &filled) && is_the_one(&account, &bare));
        let other = secret(json!({"metadata": {"annotations": {ACCOUNT_UID: "other"}}}));
        assert!(!is_the_one(&account, &other));
    }
}
