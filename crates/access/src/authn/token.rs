//! Bound service account tokens: ES256 JSON web tokens whose claims name the account and
//! the object they are bound to. Issuing serves `serviceaccounts/token`; verifying serves
//! every request with a bearer token, and TokenReview.
//!
//! The signature of a token is checked once and remembered by the token's digest. That it
//! has not expired and that its account and bound object are still the same ones is
//! checked every time, so that a deleted pod's token dies with it.

use super::certificate::sha256;
use super::legacy_token::{self, LegacyClaims};
use super::signature;
use super::user::{self, UserInfo};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64URL;
use ferry_api::object::Meta;
use ferry_cache::lookup::ObjectLookup;
use ferry_metrics::family::{Counter, Instrument, head};
use ferry_pki::ServiceAccountKey;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Clocks of machines that share a cluster may differ by this much (go-jose's leeway).
const LEEWAY_SECONDS: i64 = 60;
/// How many tokens are remembered: one or two a pod.
const REMEMBERED: usize = 8192;

/// An object that a token names, with the uid it had then.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

/// The private claims. Fields stand in the order in which upstream's tokens have them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kubernetes {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Reference>,
    #[serde(default)]
    pub serviceaccount: Reference,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnafter: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    #[serde(default, deserialize_with = "one_or_many")]
    pub aud: Vec<String>,
    #[serde(default)]
    pub exp: i64,
    #[serde(default)]
    pub iat: i64,
    #[serde(default)]
    pub iss: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub jti: String,
    #[serde(default, rename = "kubernetes.io")]
    pub kubernetes: Kubernetes,
    #[serde(default)]
    pub nbf: i64,
    #[serde(default)]
    pub sub: String,
}

/// A token as it was shown, with the digest that it is remembered by.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub text: &'a str,
    pub digest: [u8; 32],
}

impl<'a> Shown<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, digest: sha256(text.as_bytes()) }
    }
}

/// What a good token proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub user: Arc<UserInfo>,
    /// The audiences that both the token and the asker name.
    pub audiences: Vec<String>,
}

/// Signs and verifies with one key pair.
pub struct TokenAuthority {
    issuer: String,
    audiences: Vec<String>,
    key_id: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
    /// The uncompressed point: 4, x, y. The key set is rendered from it.
    point: Vec<u8>,
    remembered: Mutex<HashMap<[u8; 32], Remembered>>,
    /// The proven claims of tokens that live in Secrets.
    legacy: Mutex<HashMap<[u8; 32], LegacyClaims>>,
    valid: Counter,
    stale: Counter,
    pub(super) legacy_uses: Counter,
}

#[derive(Clone)]
struct Remembered {
    claims: Arc<Claims>,
    user: Arc<UserInfo>,
    /// The versions of the named objects that were found good, so that an unchanged
    /// object is not decoded again.
    seen: Vec<(Named, u64)>,
}

/// The objects that a token can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    ServiceAccount,
    Secret,
    Pod,
    Node,
}

impl TokenAuthority {
    pub fn new(key: &ServiceAccountKey, issuer: &str, audiences: &[String]) -> Result<Self, ferry_pki::Error> {
        signature::use_ring();
        let bad = |reason: String| ferry_pki::Error::PrivateKey { what: "the service account key".into(), reason };
        let encoding = EncodingKey::from_ec_pem(key.private_pem.as_bytes()).map_err(|e| bad(e.to_string()))?;
        let decoding = DecodingKey::from_ec_pem(key.public_pem.as_bytes()).map_err(|e| bad(e.to_string()))?;
        let der = spki_der(&key.public_pem).ok_or_else(|| bad("its public half is not PEM".into()))?;
        // A P-256 key info always ends in the 65 bytes of its uncompressed point.
        let point = der.len().checked_sub(65).map(|start| der[start..].to_vec()).filter(|point| point[0] == 4);
        Ok(Self {
            issuer: issuer.to_owned(),
            audiences: audiences.to_vec(),
            key_id: BASE64URL.encode(sha256(&der)),
            encoding,
            decoding,
            point: point.ok_or_else(|| bad("it is not a P-256 key".into()))?,
            remembered: Mutex::default(),
            legacy: Mutex::default(),
            valid: Counter::default(),
            stale: Counter::default(),
            legacy_uses: Counter::default(),
        })
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The audiences that the API server itself answers to.
    pub fn audiences(&self) -> &[String] {
        &self.audiences
    }

    pub(super) fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The coordinates of the public key.
    pub(super) fn coordinates(&self) -> (&[u8], &[u8]) {
        (&self.point[1..33], &self.point[33..65])
    }

    /// The token for these claims; `iss` is filled in.
    pub fn sign(&self, mut claims: Claims) -> Result<String, String> {
        claims.iss.clone_from(&self.issuer);
        self.sign_raw(&claims)
    }

    /// The token for exactly these claims.
    pub fn sign_raw(&self, claims: &impl Serialize) -> Result<String, String> {
        let mut header = Header::new(Algorithm::ES256);
        header.typ = None;
        header.kid = Some(self.key_id.clone());
        jsonwebtoken::encode(&header, claims, &self.encoding).map_err(|e| e.to_string())
    }

    /// Whom a token proves, for an asker that answers to `audiences` (empty: the API
    /// server's own). The error is upstream's sentence; `None` means that it is no token
    /// of ours at all.
    pub fn verify(
        &self,
        token: Shown<'_>,
        audiences: &[String],
        lookup: &dyn ObjectLookup,
        now: Timestamp,
    ) -> Result<Option<Verified>, String> {
        let known = self.remembered.lock().get(&token.digest).cloned();
        let mut entry = match known {
            Some(entry) => entry,
            None => match self.check_signature::<Claims>(token.text, &self.issuer)? {
                Some(claims) => {
                    let user = Arc::new(user_of(&claims));
                    Remembered { claims: Arc::new(claims), user, seen: Vec::new() }
                }
                None => return Ok(None),
            },
        };
        let claims = entry.claims.clone();
        let asked = if audiences.is_empty() { &self.audiences } else { audiences };
        // A token for nobody in particular is for the API server.
        let meant = if claims.aud.is_empty() { &self.audiences } else { &claims.aud };
        let common: Vec<String> = meant.iter().filter(|aud| asked.contains(aud)).cloned().collect();
        if common.is_empty() {
            return Err(self.wrong_audiences(meant, audiences));
        }
        check_times(&claims, now)?;
        let seen = check_alive(&claims, &entry.seen, lookup, now)?;
        let is_stale = claims.kubernetes.warnafter.is_some_and(|after| after < now.as_second());
        if is_stale {
            self.stale.count()
        } else {
            self.valid.count()
        }
        let verified = Verified { user: entry.user.clone(), audiences: common };
        if seen != entry.seen || entry.seen.is_empty() {
            entry.seen = seen;
            let mut remembered = self.remembered.lock();
            if remembered.len() >= REMEMBERED {
                remembered.retain(|_, old| check_times(&old.claims, now).is_ok());
                if remembered.len() >= REMEMBERED {
                    remembered.clear();
                }
            }
            remembered.insert(token.digest, entry);
        }
        Ok(Some(verified))
    }

    /// The part of /metrics that is about tokens of service accounts.
    pub(super) fn render_metrics(&self, out: &mut String) {
        for (name, help, count) in [
            ("serviceaccount_valid_tokens_total", "Bound tokens that were good.", &self.valid),
            ("serviceaccount_stale_tokens_total", "Bound tokens that should have been renewed.", &self.stale),
            ("serviceaccount_legacy_tokens_total", "Tokens of Secrets that were good.", &self.legacy_uses),
        ] {
            head(out, name, Counter::KIND, help);
            count.render(name, "", out);
        }
    }

    /// That a token is for `meant`, and was asked about for others (none: the API server).
    pub(super) fn wrong_audiences(&self, meant: &[String], asked: &[String]) -> String {
        let asked = if asked.is_empty() { &self.audiences } else { asked };
        format!("token audiences {} is invalid for the target audiences {}", quoted(meant), quoted(asked))
    }

    /// The proven claims of a token that lives in a Secret; `None` if it is none.
    pub(super) fn legacy_claims(&self, token: Shown<'_>) -> Result<Option<LegacyClaims>, String> {
        if let Some(known) = self.legacy.lock().get(&token.digest) {
            return Ok(Some(known.clone()));
        }
        // One that is known to be bound is of the other issuer, and need not be decoded to
        // find that out: nearly all tokens are such.
        if self.remembered.lock().contains_key(&token.digest) {
            return Ok(None);
        }
        let claims = self.check_signature::<LegacyClaims>(token.text, legacy_token::ISSUER)?;
        if let Some(claims) = &claims {
            let mut legacy = self.legacy.lock();
            if legacy.len() >= REMEMBERED {
                legacy.clear();
            }
            legacy.insert(token.digest, claims.clone());
        }
        Ok(claims)
    }

    /// The claims, if they are of this issuer and signed by us.
    fn check_signature<T: DeserializeOwned>(&self, token: &str, issuer: &str) -> Result<Option<T>, String> {
        // What does not even claim to be ours is left to other ways of authentication.
        let Ok(unproven) = jsonwebtoken::dangerous::insecure_decode::<Issued>(token) else { return Ok(None) };
        if unproven.claims.iss != issuer {
            return Ok(None);
        }
        if unproven.header.kid.as_ref().is_some_and(|kid| *kid != self.key_id) {
            return Err("invalid signature, no keys found".into());
        }
        let mut validation = Validation::new(Algorithm::ES256);
        // Times and audiences have upstream's own rules and texts, below.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        match jsonwebtoken::decode::<T>(token, &self.decoding, &validation) {
            Ok(proven) => Ok(Some(proven.claims)),
            Err(_) => Err("go-jose/go-jose: error in cryptographic primitive".into()),
        }
    }
}

/// What must be known before a token is looked at more closely.
#[derive(Deserialize)]
struct Issued {
    #[serde(default)]
    iss: String,
}

fn check_times(claims: &Claims, now: Timestamp) -> Result<(), String> {
    let now = now.as_second();
    let error = if now - LEEWAY_SECONDS > claims.exp {
        "service account token has expired"
    } else if now + LEEWAY_SECONDS < claims.nbf {
        "service account token is not valid yet"
    } else if now + LEEWAY_SECONDS < claims.iat {
        "service account token is issued in the future"
    } else {
        return Ok(());
    };
    Err(error.into())
}

/// That every object the token names is still the one it named. Gives the versions seen.
fn check_alive(
    claims: &Claims,
    seen: &[(Named, u64)],
    lookup: &dyn ObjectLookup,
    now: Timestamp,
) -> Result<Vec<(Named, u64)>, String> {
    let kubernetes = &claims.kubernetes;
    let namespace = kubernetes.namespace.as_str();
    let mut named = vec![(Named::ServiceAccount, &kubernetes.serviceaccount)];
    named.extend(kubernetes.secret.iter().map(|secret| (Named::Secret, secret)));
    named.extend(kubernetes.pod.iter().map(|pod| (Named::Pod, pod)));
    // A pod's token carries its node for information only.
    if kubernetes.pod.is_none() {
        named.extend(kubernetes.node.iter().map(|node| (Named::Node, node)));
    }
    let mut now_seen = Vec::with_capacity(named.len());
    for (what, reference) in named {
        let (plural, namespace) = match what {
            Named::ServiceAccount => ("serviceaccounts", namespace),
            Named::Secret => ("secrets", namespace),
            Named::Pod => ("pods", namespace),
            Named::Node => ("nodes", ""),
        };
        let Some(stored) = lookup.get("", plural, namespace, &reference.name) else {
            return Err(match what {
                Named::ServiceAccount => format!("serviceaccounts {:?} not found", reference.name),
                _ => "service account token has been invalidated".into(),
            });
        };
        if seen.contains(&(what, stored.revision())) {
            now_seen.push((what, stored.revision()));
            continue;
        }
        let object = stored.value();
        if object.uid() != reference.uid {
            let (found, claimed) = (object.uid(), &reference.uid);
            return Err(match what {
                Named::ServiceAccount => format!("service account UID ({found}) does not match claim ({claimed})"),
                Named::Secret => {
                    format!("secret UID ({found}) does not match service account secret ref claim ({claimed})")
                }
                Named::Pod => format!("pod UID ({found}) does not match service account pod ref claim ({claimed})"),
                Named::Node => format!("node UID ({found}) does not match service account node ref claim ({claimed})"),
            });
        }
        match object.meta_str("deletionTimestamp").parse::<Timestamp>() {
            Ok(deleted) if deleted.as_second() < now.as_second() - LEEWAY_SECONDS => {
                return Err(match what {
                    Named::ServiceAccount => format!("service account {namespace}/{} has been deleted", reference.name),
                    _ => "service account token has been invalidated".into(),
                });
            }
            // Its time will come, so it must be looked at again.
            Ok(_) => {}
            Err(_) => now_seen.push((what, stored.revision())),
        }
    }
    Ok(now_seen)
}

fn user_of(claims: &Claims) -> UserInfo {
    let kubernetes = &claims.kubernetes;
    let mut user = UserInfo::service_account(&kubernetes.namespace, &kubernetes.serviceaccount.name);
    user.uid.clone_from(&kubernetes.serviceaccount.uid);
    let mut put = |key: &str, value: String| user.extra.insert(key.to_owned(), vec![value]);
    if let Some(pod) = &kubernetes.pod
        && !pod.name.is_empty()
        && !pod.uid.is_empty()
    {
        put(user::POD_NAME, pod.name.clone());
        put(user::POD_UID, pod.uid.clone());
    }
    if !claims.jti.is_empty() {
        put(user::CREDENTIAL_ID, format!("JTI={}", claims.jti));
    }
    if let Some(node) = &kubernetes.node
        && !node.name.is_empty()
    {
        put(user::NODE_NAME, node.name.clone());
        if !node.uid.is_empty() {
            put(user::NODE_UID, node.uid.clone());
        }
    }
    user
}

/// Go's `%q` of a list of strings.
fn quoted(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| format!("{item:?}")).collect();
    format!("[{}]", quoted.join(" "))
}

fn spki_der(pem: &str) -> Option<Vec<u8>> {
    let body: String = pem.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    base64::engine::general_purpose::STANDARD.decode(body).ok()
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}
