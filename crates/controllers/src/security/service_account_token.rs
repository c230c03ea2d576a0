//! Fills Secrets of type kubernetes.io/service-account-token with a token, the authority
//! and the namespace, and removes those whose account is gone.

use crate::LegacySigner;
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::view::core::v1::{Secret, SecretView, ServiceAccount, ServiceAccountView};
use ferry_client::{DeleteParams, Informer, Informers, ListParams};
use serde_json::{Value, json};

pub(crate) const TYPE: &str = "kubernetes.io/service-account-token";
pub(crate) const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
pub(crate) const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// The index of the Secrets by the account that they name.
const BY_ACCOUNT: &str = "account";

pub(crate) struct ServiceAccountTokenController {
    pub root_ca: String,
    pub signer: LegacySigner,
}

#[async_trait]
impl Controller for ServiceAccountTokenController {
    fn name(&self) -> &'static str {
        "serviceaccount-token-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let tokens = secrets(informers).indexed(BY_ACCOUNT, |secret| {
            let account = annotation(secret.view(), ACCOUNT_NAME);
            if account.is_empty() { Vec::new() } else { vec![format!("{}/{account}", secret.namespace())] }
        });
        vec![
            Watch::itself(tokens.clone()),
            Watch::new(informers.of::<ServiceAccount>(), move |event, enqueue| {
                // An account that comes or goes decides over the Secrets that name it.
                let account = Key::of(event.object().meta()).to_string();
                for secret in tokens.by_index(BY_ACCOUNT, &account) {
                    enqueue.add_object(secret.meta());
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(secret) = secrets(&ctx.informers).get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let name = annotation(secret.view(), ACCOUNT_NAME);
        if name.is_empty() || secret.is_deleting() {
            return Ok(Action::Done);
        }
        // Upstream's controller speaks as the controller manager itself, not as an account.
        let client = ctx.informers.client();
        // Asked live: an account that the cache has not seen yet must not cost a Secret.
        let account = match client.api::<ServiceAccount>(&key.namespace).get(name).await {
            Ok(account) => Some(account),
            Err(error) if error.is_not_found() => None,
            Err(error) => return Err(error).during("get the account of", key),
        };
        let account = account.filter(|account| is_the_one(account.view(), secret.view()));
        let secrets = client.api::<Secret>(&key.namespace);
        let Some(account) = account else {
            let params = DeleteParams { uid: Some(secret.uid().to_owned()), ..Default::default() };
            return match secrets.delete(&key.name, &params).await {
                Err(error) if error.is_not_found() || error.is_conflict() => Ok(Action::Done),
                other => other.during("remove the token of a lost account", key).map(|()| Action::Done),
            };
        };
        let wanted = plan_secret(secret.view(), account.view(), &self.root_ca, &*self.signer).map_err(Error::Retry)?;
        if let Some(wanted) = wanted {
            match secrets.replace(&wanted).await {
                // Its change wakes us again.
                Err(error) if error.is_not_found() || error.is_conflict() => {}
                other => drop(other.during("fill the token of", key)?),
            }
        }
        Ok(Action::Done)
    }
}

/// The Secrets of the type, which alone are kept in memory.
pub(crate) fn secrets(informers: &Informers) -> Informer<Secret> {
    informers.with(ListParams { field_selector: Some(format!("type={TYPE}")), ..Default::default() })
}

pub(crate) fn annotation<'a>(secret: SecretView<'a>, key: &str) -> &'a str {
    secret.metadata().annotations().get(key).unwrap_or_default()
}

/// A Secret may name its account with or without the uid.
pub(crate) fn is_the_one(account: ServiceAccountView<'_>, secret: SecretView<'_>) -> bool {
    let uid = annotation(secret, ACCOUNT_UID);
    uid.is_empty() || account.metadata().uid() == uid
}

/// The Secret with what it lacks; `None` if it lacks nothing.
fn plan_secret(
    secret: SecretView<'_>,
    account: ServiceAccountView<'_>,
    root_ca: &str,
    sign: &dyn Fn(&Value) -> Result<String, String>,
) -> Result<Option<Secret>, String> {
    let data = |key: &str| secret.data().get(key).unwrap_or_default();
    let lacks = |key: &str| data(key).0.is_empty();
    let needs_ca = !root_ca.is_empty() && data("ca.crt").decode() != root_ca.as_bytes();
    if !needs_ca && !lacks("namespace") && !lacks("token") {
        return Ok(None);
    }
    let namespace = secret.metadata().namespace();
    let (account_name, uid) = (account.metadata().name(), account.metadata().uid());
    let mut wanted = secret.to_owned();
    if needs_ca {
        wanted.insert_data("ca.crt", root_ca.as_bytes());
    }
    if lacks("namespace") {
        wanted.insert_data("namespace", namespace.as_bytes());
    }
    if lacks("token") {
        let claims = json!({
            "iss": "kubernetes/serviceaccount",
            "kubernetes.io/serviceaccount/namespace": namespace,
            "kubernetes.io/serviceaccount/secret.name": secret.metadata().name(),
            "kubernetes.io/serviceaccount/service-account.name": account_name,
            "kubernetes.io/serviceaccount/service-account.uid": uid,
            "sub": format!("system:serviceaccount:{namespace}:{account_name}"),
        });
        wanted.insert_data("token", sign(&claims)?.into_bytes());
    }
    wanted.edit_metadata(|metadata| {
        metadata.insert_annotations(ACCOUNT_NAME, account_name);
        metadata.insert_annotations(ACCOUNT_UID, uid);
    });
    Ok(Some(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;

    #[test]
    fn a_secret_gets_what_it_lacks_and_keeps_the_rest() {
        let account = ServiceAccount::from(json!({"metadata": {"name": "web", "namespace": "ns", "uid": "u"}}));
        let account = account.view();
        let sign = |claims: &Value| Ok(format!("signed {}", claims["sub"].as_str().expect("a subject")));
        let bare = Secret::from(
            json!({"type": TYPE, "metadata": {"name": "s", "namespace": "ns", "annotations": {ACCOUNT_NAME: "web"}},
            "data": {"mine": "eA=="}}),
        );
        let filled = plan_secret(bare.view(), account, "CA", &sign).expect("signed").expect("changed");
        let data = |key: &str| filled.view().data().get(key).expect("a value").decode();
        assert_eq!(data("token"), b"signed system:serviceaccount:ns:web");
        assert_eq!((data("ca.crt"), data("namespace")), (b"CA".to_vec(), b"ns".to_vec()));
        assert_eq!(data("mine"), b"x");
        assert_eq!(annotation(filled.view(), ACCOUNT_UID), "u");
        assert_eq!(plan_secret(filled.view(), account, "CA", &sign), Ok(None));
        let renewed = plan_secret(filled.view(), account, "NEW", &sign).expect("signed").expect("changed");
        let token = renewed.view().data().get("token").expect("a token").decode();
        assert_eq!(token, data("token"), "a token that is there stays");
        assert!(is_the_one(account, filled.view()) && is_the_one(account, bare.view()));
        let other = Secret::from(json!({"metadata": {"annotations": {ACCOUNT_UID: "other"}}}));
        assert!(!is_the_one(account, other.view()));
    }
}
