//! Who asks. Called by the chain first of all, for every request.
//!
//! The ways are tried in upstream's order: front-proxy headers, client certificate,
//! bearer token. The first that knows the caller wins; a credential that is shown but not
//! good is an error even where anonymous access would do. Anonymous callers reach health
//! and version only.

mod certificate;
mod front_proxy;
pub mod impersonation;
pub mod openid;
pub mod review;
pub mod token;
pub mod token_request;
pub mod user;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use user::UserInfo;

use crate::registry::lookup::ObjectLookup;
use crate::transport::Peer;
use base64::Engine as _;
use certificate::CertificateAuthenticator;
use ferry_api::status::Status;
use ferry_pki::{Pki, ServiceAccountKey};
use http::HeaderMap;
use jiff::Timestamp;
use std::sync::Arc;
use token::{TokenAuthority, Verified};

/// What authentication trusts.
#[derive(Clone, Debug)]
pub struct AuthnConfig {
    pub client_ca_pem: String,
    /// `None` turns front-proxy headers off.
    pub front_proxy_ca_pem: Option<String>,
    /// The common names that may speak for others; empty means any that the authority vouches for.
    pub front_proxy_allowed_names: Vec<String>,
    pub service_account: ServiceAccountKey,
    /// The `iss` of tokens: `https://kubernetes.default.svc.cluster.local`.
    pub issuer: String,
    /// The audiences that the API server answers to; the issuer, unless told otherwise.
    pub audiences: Vec<String>,
}

impl AuthnConfig {
    /// The cluster's own trust, as kubeadm sets it.
    pub fn from_pki(pki: &Pki, cluster_domain: &str) -> Self {
        let issuer = format!("https://kubernetes.default.svc.{cluster_domain}");
        Self {
            client_ca_pem: pki.ca.certificate_pem().to_owned(),
            front_proxy_ca_pem: Some(pki.front_proxy_ca.certificate_pem().to_owned()),
            front_proxy_allowed_names: vec!["front-proxy-client".into()],
            service_account: pki.service_account.clone(),
            audiences: vec![issuer.clone()],
            issuer,
        }
    }
}

pub struct Authenticator {
    clients: CertificateAuthenticator,
    front_proxies: Option<CertificateAuthenticator>,
    front_proxy_names: Vec<String>,
    tokens: TokenAuthority,
    lookup: Arc<dyn ObjectLookup>,
    anonymous: Arc<UserInfo>,
}

impl Authenticator {
    pub fn new(config: AuthnConfig, lookup: Arc<dyn ObjectLookup>) -> Result<Self, ferry_pki::Error> {
        Ok(Self {
            clients: CertificateAuthenticator::new(&config.client_ca_pem)?,
            front_proxies: config.front_proxy_ca_pem.as_deref().map(CertificateAuthenticator::new).transpose()?,
            front_proxy_names: config.front_proxy_allowed_names,
            tokens: TokenAuthority::new(&config.service_account, &config.issuer, &config.audiences)?,
            lookup,
            anonymous: Arc::new(UserInfo::anonymous()),
        })
    }

    /// Who asks for `path`, or 401. The headers that carried the proof are secrets and
    /// should not travel further.
    pub async fn authenticate(&self, headers: &HeaderMap, peer: &Peer, path: &str) -> Result<Arc<UserInfo>, Status> {
        self.authenticate_at(headers, peer, path, Timestamp::now())
    }

    /// [`Self::authenticate`] with the clock given.
    pub fn authenticate_at(
        &self,
        headers: &HeaderMap,
        peer: &Peer,
        path: &str,
        now: Timestamp,
    ) -> Result<Arc<UserInfo>, Status> {
        let chain: &[Vec<u8>] = match peer {
            Peer::InProcess(user) => return Ok(user.clone()),
            Peer::Tls { certificates, .. } => certificates,
            Peer::Plain { .. } => &[],
        };
        if let Some(user) = self.front_proxy_user(headers, chain, now) {
            return Ok(user);
        }
        // A certificate that nobody vouches for is fatal only if nothing better follows.
        let mut problem = None;
        match self.clients.authenticate(chain, now) {
            Ok(Some(user)) => return Ok(user),
            Ok(None) => {}
            Err(why) => problem = Some(why),
        }
        if let Some(token) = bearer_token(headers) {
            match self.verify_token_at(&token, &[], now) {
                Ok(verified) => return Ok(verified.user),
                Err(why) => problem = Some(why),
            }
        }
        match problem {
            Some(why) => {
                tracing::debug!(%why, path, "unable to authenticate the request");
                Err(Status::unauthorized())
            }
            None if is_open_to_anyone(path) => Ok(self.anonymous.clone()),
            None => Err(Status::unauthorized()),
        }
    }

    /// Whom a token proves towards `audiences` (empty: the API server's own), or why not.
    pub fn verify_token(&self, token: &str, audiences: &[String]) -> Result<Verified, String> {
        self.verify_token_at(token, audiences, Timestamp::now())
    }

    pub(crate) fn verify_token_at(
        &self,
        token: &str,
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Verified, String> {
        match self.tokens.verify(token, audiences, &*self.lookup, now)? {
            Some(verified) => Ok(verified),
            None => Err("invalid bearer token".into()),
        }
    }

    /// The key that signs service account tokens.
    pub fn tokens(&self) -> &TokenAuthority {
        &self.tokens
    }

    pub(crate) fn lookup(&self) -> &dyn ObjectLookup {
        &*self.lookup
    }

    fn front_proxy_user(&self, headers: &HeaderMap, chain: &[Vec<u8>], now: Timestamp) -> Option<Arc<UserInfo>> {
        // Most requests carry no such header, and then no certificate need be judged.
        if !headers.contains_key(front_proxy::USER_HEADER) {
            return None;
        }
        let proxy = self.front_proxies.as_ref()?.authenticate(chain, now).ok()??;
        let allowed = self.front_proxy_names.is_empty() || self.front_proxy_names.contains(&proxy.name);
        if allowed { front_proxy::user_from_headers(headers).map(Arc::new) } else { None }
    }
}

/// Health and version, which tell a stranger nothing.
fn is_open_to_anyone(path: &str) -> bool {
    matches!(path, "/livez" | "/readyz" | "/healthz" | "/version" | "/version/")
}

/// The token of an Authorization header, or of a WebSocket's sub-protocols, where browsers
/// cannot set that header.
fn bearer_token(headers: &HeaderMap) -> Option<String> {
    let authorization = headers.get(http::header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or("");
    let mut parts = authorization.trim().splitn(3, ' ');
    if parts.next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"))
        && let Some(token) = parts.next()
        && !token.is_empty()
    {
        return Some(token.to_owned());
    }
    headers
        .get_all(http::header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|protocol| protocol.trim().strip_prefix("base64url.bearer.authorization.k8s.io."))
        .find_map(|encoded| {
            let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).ok()?;
            String::from_utf8(bytes).ok().filter(|token| !token.is_empty())
        })
}
