//! Signs the kubeconfig in ConfigMap kube-public/cluster-info with every bootstrap token
//! that may sign, so that the holder of one can verify the file before trusting the
//! authority in it.

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::security::bootstrap_token::{NAMESPACE, Remaining, is_token, remaining, text, tokens};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ferry_api::view::core::v1::{ConfigMap, ConfigMapView, Secret, SecretView};
use ferry_client::{Informer, Informers, ListParams, SharedObject};
use jiff::Timestamp;
use std::collections::BTreeMap;

const CONFIG_MAP_NAMESPACE: &str = "kube-public";
const CONFIG_MAP: &str = "cluster-info";
const SIGNATURE_PREFIX: &str = "jws-kubeconfig-";

pub(crate) struct BootstrapSignerController;

#[async_trait]
impl Controller for BootstrapSignerController {
    fn name(&self) -> &'static str {
        "bootstrap-signer-controller"
    }

    fn identity(&self) -> &'static str {
        "bootstrap-signer"
    }

    fn workers(&self) -> usize {
        1
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let key = || Key::new(CONFIG_MAP_NAMESPACE, CONFIG_MAP);
        vec![
            Watch::new(tokens(informers), move |_, enqueue| enqueue.add(key())),
            Watch::new(config_maps(informers), move |event, enqueue| {
                if Key::of(event.object().meta()) == key() {
                    enqueue.add(key());
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(current) = config_maps(&ctx.informers).get(&key.namespace, &key.name) else {
            return Ok(Action::Done);
        };
        let secrets = tokens(&ctx.informers).list(Some(NAMESPACE));
        let Some(wanted) = plan_signatures(current.view(), &secrets, ctx.now()) else { return Ok(Action::Done) };
        match ctx.client.api(&key.namespace).replace(&wanted).await {
            // Its change wakes us again.
            Err(error) if error.is_not_found() || error.is_conflict() => {}
            other => drop(other.during("sign", key)?),
        }
        Ok(Action::Done)
    }
}

fn config_maps(informers: &Informers) -> Informer<ConfigMap> {
    informers.with(ListParams { field_selector: Some(format!("metadata.name={CONFIG_MAP}")), ..Default::default() })
}

/// The ConfigMap with exactly the signatures of the tokens there are; `None` if it has them.
fn plan_signatures(current: ConfigMapView<'_>, secrets: &[SharedObject<Secret>], now: Timestamp) -> Option<ConfigMap> {
    let data = current.data().to_map();
    let content = data.get("kubeconfig")?;
    let mut wanted: BTreeMap<String, String> = data
        .iter()
        .filter(|(key, _)| !key.starts_with(SIGNATURE_PREFIX))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for (id, secret) in secrets.iter().filter_map(|secret| signing_token(secret.view(), now)) {
        wanted.entry(format!("{SIGNATURE_PREFIX}{id}")).or_insert_with(|| sign(content, &id, &secret));
    }
    (wanted != data).then(|| {
        let mut changed = current.to_owned();
        changed.set_data(wanted);
        changed
    })
}

/// The two halves of a token that may sign now.
fn signing_token(secret: SecretView<'_>, now: Timestamp) -> Option<(String, String)> {
    let name = secret.metadata().name().strip_prefix("bootstrap-token-")?;
    let (id, value) = (text(secret, "token-id"), text(secret, "token-secret"));
    let good = is_token(secret)
        && id.len() == 6
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && id == name
        && !value.is_empty()
        && remaining(secret, now) != Remaining::Expired
        && text(secret, "usage-bootstrap-signing") == "true";
    good.then_some((id, value))
}

/// A JSON web signature whose content is left out, because the reader has it.
fn sign(content: &str, id: &str, secret: &str) -> String {
    // An id is letters and digits, so it needs no escaping.
    let header = URL_SAFE_NO_PAD.encode(format!("{{\"alg\":\"HS256\",\"kid\":\"{id}\"}}"));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(content));
    let signature = ring::hmac::sign(&key, signed.as_bytes());
    format!("{header}..{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::bootstrap_token::testing::token;
    use ferry_api::view::Owned;

    #[test]
    fn a_signature_is_the_one_that_joining_nodes_compute() {
        // Computed apart, with Python's hmac.
        assert_eq!(
            sign("apiVersion: v1", "abcdef", "0123456789abcdef"),
            "eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9.._JqomVYZNRdBX9ISkn1b-g4fbXMmdIzRDvSNbs-ccDE"
        );
    }

    #[test]
    fn signatures_follow_the_tokens() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let map = |pairs: &[(&str, &str)]| ConfigMap::new().with_data(pairs.iter().copied());
        let old = map(&[("kubeconfig", "x"), ("jws-kubeconfig-gone00", "old")]);
        let signing = token("abcdef", &[("usage-bootstrap-signing", "true")]);
        let silent = token("fedcba", &[]);
        let late = token("aaaaaa", &[("usage-bootstrap-signing", "true"), ("expiration", "2020-01-01T00:00:00Z")]);
        let all = [signing, silent, late].map(SharedObject::of);
        let signed = plan_signatures(old.view(), &all, now).expect("changed");
        let keys: Vec<String> = signed.view().data().to_map().into_keys().collect();
        assert_eq!(keys, ["jws-kubeconfig-abcdef", "kubeconfig"]);
        assert!(plan_signatures(signed.view(), &all, now).is_none(), "nothing is left to do");
        let empty = map(&[("other", "x")]);
        assert!(plan_signatures(empty.view(), &all, now).is_none(), "there is nothing to sign");
    }
}
