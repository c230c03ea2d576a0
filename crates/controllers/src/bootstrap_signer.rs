//! Signs the kubeconfig in ConfigMap kube-public/cluster-info with every bootstrap token
//! that may sign, so that whoever holds one can tell that the file is genuine before
//! trusting the authority in it.

use crate::bootstrap_token::{NAMESPACE, is_token, text, tokens};
use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ferry_client::{Informer, Informers, ListParams};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use std::collections::BTreeMap;
use std::sync::Arc;

const CONFIG_MAP_NAMESPACE: &str = "kube-public";
const CONFIG_MAP: &str = "cluster-info";
const SIGNATURE_PREFIX: &str = "jws-kubeconfig-";

pub struct BootstrapSignerController;

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
                if Key::of(&event.object().metadata) == key() {
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
        let Some(wanted) = plan_signatures(&current, &secrets, ctx.now()) else { return Ok(Action::Done) };
        match ctx.client.replace(&key.namespace, &wanted).await {
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
fn plan_signatures(current: &ConfigMap, secrets: &[Arc<Secret>], now: Timestamp) -> Option<ConfigMap> {
    let data = current.data.as_ref()?;
    let content = data.get("kubeconfig")?;
    let mut wanted: BTreeMap<String, String> = data
        .iter()
        .filter(|(key, _)| !key.starts_with(SIGNATURE_PREFIX))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    for (id, secret) in secrets.iter().filter_map(|secret| signing_token(secret, now)) {
        wanted.entry(format!("{SIGNATURE_PREFIX}{id}")).or_insert_with(|| sign(content, id, secret));
    }
    (wanted != *data).then(|| ConfigMap { data: Some(wanted), ..current.clone() })
}

/// The two halves of a token that may sign now.
fn signing_token(secret: &Secret, now: Timestamp) -> Option<(&str, &str)> {
    let name = secret.metadata.name.as_deref()?.strip_prefix("bootstrap-token-")?;
    let (id, value) = (text(secret, "token-id"), text(secret, "token-secret"));
    let good = is_token(secret)
        && id.len() == 6
        && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && id == name
        && !value.is_empty()
        && crate::bootstrap_token::remaining(secret, now) != crate::bootstrap_token::Remaining::Expired
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
    use crate::bootstrap_token::testing::token;

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
        let data =
            |pairs: &[(&str, &str)]| Some(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect());
        let map =
            ConfigMap { data: data(&[("kubeconfig", "x"), ("jws-kubeconfig-gone00", "old")]), ..Default::default() };
        let signing = Arc::new(token("abcdef", &[("usage-bootstrap-signing", "true")]));
        let silent = Arc::new(token("fedcba", &[]));
        let late =
            Arc::new(token("aaaaaa", &[("usage-bootstrap-signing", "true"), ("expiration", "2020-01-01T00:00:00Z")]));
        let all = [signing, silent, late];
        let signed = plan_signatures(&map, &all, now).expect("changed");
        let keys: Vec<&str> = signed.data.as_ref().expect("data").keys().map(String::as_str).collect();
        assert_eq!(keys, ["jws-kubeconfig-abcdef", "kubeconfig"]);
        assert!(plan_signatures(&signed, &all, now).is_none(), "nothing is left to do");
        let empty = ConfigMap { data: data(&[("other", "x")]), ..Default::default() };
        assert!(plan_signatures(&empty, &all, now).is_none(), "there is nothing to sign");
    }
}
