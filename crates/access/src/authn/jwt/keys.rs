//! The keys of one issuer: found through its discovery document, fetched over TLS, and
//! fetched again when a token is signed with a key that is not among them. Called by
//! `issuer.rs`.

use crate::authn::signature;
use crate::webhook::{Hook, Kubeconfig};
use ferry_api::object::Meta;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long an issuer may take to answer (upstream's).
const TIMEOUT: Duration = Duration::from_secs(30);

/// What may sign a token: upstream's list. ES512 is on it as well, but the curve P-521 is
/// not among those that can be verified here.
const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];

/// Where an issuer's keys are, and those that were there.
pub(super) struct KeySet {
    hook: Hook,
    keys: Mutex<Arc<Vec<Key>>>,
}

struct Key {
    id: Option<String>,
    key: DecodingKey,
}

impl KeySet {
    /// Reads the discovery document. `discovery` is where it is, if not below the issuer.
    pub(super) async fn discover(issuer: &str, discovery: Option<&str>, ca: Option<&str>) -> Result<Self, String> {
        let usual = format!("{}/.well-known/openid-configuration", issuer.strip_suffix('/').unwrap_or(issuer));
        let document = connect(discovery.unwrap_or(&usual), ca)?.get(TIMEOUT).await.map_err(|e| e.to_string())?;
        let named = document.str_at(&["issuer"]);
        if named != issuer {
            return Err(format!(
                "oidc: issuer did not match the issuer returned by provider, expected {issuer:?} got {named:?}"
            ));
        }
        match document.str_at(&["jwks_uri"]) {
            "" => Err("provider did not return JWKS URL".into()),
            url => Ok(Self { hook: connect(url, ca)?, keys: Mutex::default() }),
        }
    }

    /// The claims of a token that one of the keys has signed.
    pub(super) async fn verify(&self, token: &str) -> Result<Map<String, Value>, String> {
        let header = jsonwebtoken::decode_header(token).map_err(|e| format!("oidc: malformed jwt: {e}"))?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(format!("oidc: id token signed with unsupported algorithm, got {:?}", header.alg));
        }
        let known = self.keys.lock().await.clone();
        if let Some(claims) = verify_with(&known, header.kid.as_deref(), header.alg, token) {
            return Ok(claims);
        }
        // Nobody knows this key: the issuer may have a new one. Whoever waits here for
        // another's fetch uses its result.
        let mut keys = self.keys.lock().await;
        if Arc::ptr_eq(&keys, &known) {
            let fetched = self.hook.get(TIMEOUT).await;
            let document = fetched.map_err(|e| format!("failed to verify signature: fetching keys {e}"))?;
            *keys = Arc::new(read_keys(&document));
        }
        verify_with(&keys, header.kid.as_deref(), header.alg, token)
            .ok_or_else(|| "failed to verify signature: failed to verify id token signature".into())
    }
}

fn connect(url: &str, ca: Option<&str>) -> Result<Hook, String> {
    let config = Kubeconfig { server: url.to_owned(), ca: ca.map(str::to_owned), ..Kubeconfig::default() };
    Hook::from_kubeconfig(&config).map_err(|e| e.to_string())
}

/// The keys that can be used. One that cannot is passed over: a set may hold keys for
/// other purposes.
fn read_keys(document: &Value) -> Vec<Key> {
    signature::use_ring();
    let read = |value: &Value| {
        let jwk: Jwk = serde_json::from_value(value.clone()).ok()?;
        Some(Key { key: DecodingKey::from_jwk(&jwk).ok()?, id: jwk.common.key_id })
    };
    document.items_at(&["keys"]).iter().filter_map(read).collect()
}

fn verify_with(keys: &[Key], id: Option<&str>, algorithm: Algorithm, token: &str) -> Option<Map<String, Value>> {
    // Issuer, audience and times are judged by `issuer.rs`, in upstream's words.
    let mut validation = Validation::new(algorithm);
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    let fits = |key: &&Key| id.is_none_or(|id| id.is_empty() || key.id.as_deref() == Some(id));
    keys.iter()
        .filter(fits)
        .find_map(|key| jsonwebtoken::decode::<Map<String, Value>>(token, &key.key, &validation).ok())
        .map(|proven| proven.claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::testing::{Objects, authenticator};
    use serde_json::json;

    #[test]
    fn only_the_named_key_verifies() {
        let authenticator = authenticator(Objects::of(&[]));
        let token = authenticator.tokens().sign_raw(&json!({"sub": "a"})).expect("signed");
        let id = jsonwebtoken::decode_header(&token).expect("a header").kid;
        let mut document = crate::authn::openid::render_keys(authenticator.tokens());
        document["keys"].as_array_mut().expect("keys").push(json!({"kty": "unheard-of"}));
        let keys = read_keys(&document);
        assert_eq!(keys.len(), 1);
        let claims = verify_with(&keys, id.as_deref(), Algorithm::ES256, &token).expect("verified");
        assert_eq!(claims["sub"], "a");
        assert!(verify_with(&keys, None, Algorithm::ES256, &token).is_some(), "any key will do");
        assert!(verify_with(&keys, Some("other"), Algorithm::ES256, &token).is_none());
        assert!(verify_with(&keys, id.as_deref(), Algorithm::RS256, &token).is_none(), "another algorithm");
        let mut forged: Vec<&str> = token.split('.').collect();
        forged[1] = "eyJzdWIiOiJiIn0";
        assert!(verify_with(&keys, id.as_deref(), Algorithm::ES256, &forged.join(".")).is_none());
    }

    /// Public keys and tokens that Python's cryptography made with their private halves.
    #[test]
    fn every_algorithm_of_issuers_verifies() {
        let data: Value = serde_json::from_str(include_str!("testdata.json")).expect("JSON");
        let keys = read_keys(&data);
        assert_eq!(keys.len(), 2);
        for (name, token) in data["tokens"].as_object().expect("tokens") {
            let token = token.as_str().expect("a token");
            let header = jsonwebtoken::decode_header(token).expect("a header");
            assert_eq!(format!("{:?}", header.alg), *name);
            assert!(ALGORITHMS.contains(&header.alg));
            let claims = verify_with(&keys, header.kid.as_deref(), header.alg, token);
            assert_eq!(claims.expect(name)["sub"], "ann");
            assert!(verify_with(&keys[..1], Some("p384"), header.alg, token).is_none(), "the wrong key");
        }
    }
}
