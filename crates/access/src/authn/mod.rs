//! Who asks. Called by the chain first of all, for every request.
//!
//! The ways are tried in upstream's order: front-proxy headers, client certificate,
//! bearer token. The first that knows the caller wins; a credential that is shown but not
//! good is an error even where anonymous access would do. Anonymous callers reach health
//! and version only, unless the configuration says otherwise.

mod anonymous;
mod bootstrap_token;
mod certificate;
pub mod config;
mod config_validation;
mod front_proxy;
pub mod impersonation;
mod jwt;
pub mod legacy_token;
pub mod openid;
mod request_token;
pub mod review;
mod signature;
pub mod token;
mod token_file;
pub mod token_request;
pub mod user;
mod webhook;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use user::UserInfo;
pub use webhook::TokenWebhookConfig;

use crate::transport::Peer;
use anonymous::Anonymous;
use arc_swap::{ArcSwap, ArcSwapOption};
use certificate::CertificateAuthenticator;
use config::AuthenticationConfiguration;
use ferry_api::status::Status;
use ferry_cache::lookup::ObjectLookup;
use ferry_metrics::family::{Histogram, Instrument, head};
use ferry_pki::{Pki, ServiceAccountKey};
use http::HeaderMap;
use jiff::Timestamp;
use jwt::JwtIssuers;
use legacy_token::Used;
use request_token::bearer_token;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use token::{Shown, TokenAuthority, Verified};
use token_file::StaticTokens;
use tokio::sync::{Notify, mpsc};
use webhook::TokenWebhook;

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
    /// What an administrator asked for beyond the cluster's own trust.
    pub options: AuthnOptions,
}

/// What the flags say. Everything may be left out.
#[derive(Clone, Debug, Default)]
pub struct AuthnOptions {
    /// `--token-auth-file`: a CSV file of static tokens.
    pub token_file: Option<PathBuf>,
    /// `--authentication-config`: other issuers, and whom strangers may be.
    pub config_file: Option<PathBuf>,
    /// `--authentication-token-webhook-*`.
    pub token_webhook: Option<TokenWebhookConfig>,
    /// Where the authorities of clients and of front proxies are read from again when they
    /// change; without, they stay as they were at the start.
    pub client_ca_file: Option<PathBuf>,
    pub front_proxy_ca_file: Option<PathBuf>,
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
            options: AuthnOptions::default(),
        }
    }
}

/// Upstream's bounds for how long certificates are still good: half an hour to a year.
static EXPIRATIONS: [f64; 14] = [
    0.0, 1800.0, 3600.0, 7200.0, 21600.0, 43200.0, 86400.0, 172800.0, 345600.0, 604800.0, 2592000.0, 7776000.0,
    15552000.0, 31104000.0,
];

/// How many uses of tokens in Secrets may wait to be noted; more are noted the next time.
const USES_WAITING: usize = 64;
/// How long the issuers of a changed configuration may take to be found (upstream's).
const RELOAD_TIMEOUT: Duration = Duration::from_secs(60);

pub struct Authenticator {
    clients: ArcSwap<CertificateAuthenticator>,
    front_proxies: ArcSwapOption<CertificateAuthenticator>,
    front_proxy_names: Vec<String>,
    /// Told when either set of authorities is another; one listener publishes them.
    authorities_changed: Arc<Notify>,
    static_tokens: StaticTokens,
    tokens: TokenAuthority,
    lookup: Arc<dyn ObjectLookup>,
    anonymous: ArcSwap<Anonymous>,
    issuers: ArcSwap<JwtIssuers>,
    webhook: Option<TokenWebhook>,
    uses: mpsc::Sender<Used>,
    expirations: Histogram,
}

impl Authenticator {
    /// Also gives the uses of tokens in Secrets, for whoever can write them down.
    pub fn new(
        config: AuthnConfig,
        lookup: Arc<dyn ObjectLookup>,
    ) -> Result<(Self, mpsc::Receiver<Used>), crate::Error> {
        let proxies = config.front_proxy_ca_pem.as_deref().map(CertificateAuthenticator::new).transpose()?;
        let (uses, used) = mpsc::channel(USES_WAITING);
        let static_tokens = match &config.options.token_file {
            Some(path) => StaticTokens::load(path).map_err(crate::Error::Configuration)?,
            None => StaticTokens::default(),
        };
        let webhook = config.options.token_webhook.as_ref().map(|told| TokenWebhook::new(told, &config.audiences));
        let authenticator = Self {
            clients: ArcSwap::from_pointee(CertificateAuthenticator::new(&config.client_ca_pem)?),
            front_proxies: ArcSwapOption::from_pointee(proxies),
            front_proxy_names: config.front_proxy_allowed_names,
            authorities_changed: Arc::default(),
            static_tokens,
            tokens: TokenAuthority::new(&config.service_account, &config.issuer, &config.audiences)?,
            lookup,
            anonymous: ArcSwap::from_pointee(Anonymous::default()),
            issuers: ArcSwap::default(),
            webhook: webhook.transpose().map_err(crate::Error::Configuration)?,
            uses,
            expirations: Histogram::new(&EXPIRATIONS),
        };
        if let Some(file) = &config.options.config_file {
            let text = std::fs::read_to_string(file).map_err(|e| e.to_string());
            let told = |why: String| {
                crate::Error::Configuration(format!("--authentication-config: {}: {why}", file.display()))
            };
            let (issuers, anonymous) = text.and_then(|text| authenticator.prepare(&text)).map_err(told)?;
            authenticator.issuers.store(Arc::new(issuers));
            authenticator.anonymous.store(Arc::new(anonymous));
        }
        Ok((authenticator, used))
    }

    /// Takes over another AuthenticationConfiguration, once all of its issuers have been
    /// found. What is wrong with it changes nothing.
    pub async fn reload(&self, text: &str) -> Result<(), String> {
        let (issuers, anonymous) = self.prepare(text)?;
        if tokio::time::timeout(RELOAD_TIMEOUT, issuers.ready()).await.is_err() {
            return Err(issuers.problems().join(", "));
        }
        self.issuers.store(Arc::new(issuers));
        self.anonymous.store(Arc::new(anonymous));
        Ok(())
    }

    fn prepare(&self, text: &str) -> Result<(JwtIssuers, Anonymous), String> {
        let config = AuthenticationConfiguration::parse(text)?;
        let own = [self.tokens.issuer().to_owned()];
        let expressions = config_validation::validate(&config, &own).map_err(|errors| {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            if texts.len() == 1 { texts[0].clone() } else { format!("[{}]", texts.join(", ")) }
        })?;
        let anonymous = match &config.anonymous {
            None => Anonymous::default(),
            Some(anonymous) => {
                let paths: Vec<String> = anonymous.conditions.iter().map(|condition| condition.path.clone()).collect();
                Anonymous::configured(anonymous.enabled, &paths)
            }
        };
        Ok((JwtIssuers::start(&config, expressions)?, anonymous))
    }

    /// Trusts these authorities of clients from now on, and what the old ones vouched for
    /// no longer.
    pub fn set_client_ca(&self, pem: &str) -> Result<(), ferry_pki::Error> {
        self.clients.store(Arc::new(CertificateAuthenticator::new(pem)?));
        self.authorities_changed.notify_one();
        Ok(())
    }

    /// The same for those of front proxies.
    pub fn set_front_proxy_ca(&self, pem: &str) -> Result<(), ferry_pki::Error> {
        self.front_proxies.store(Some(Arc::new(CertificateAuthenticator::new(pem)?)));
        self.authorities_changed.notify_one();
        Ok(())
    }

    /// The authorities of clients that are trusted now.
    pub fn client_ca_pem(&self) -> String {
        self.clients.load().authorities_pem().to_owned()
    }

    /// Those of front proxies; `None` where there are no front proxies.
    pub fn front_proxy_ca_pem(&self) -> Option<String> {
        self.front_proxies.load().as_ref().map(|proxies| proxies.authorities_pem().to_owned())
    }

    /// Wakes its listener after either set of authorities was replaced.
    pub fn authorities_changed(&self) -> Arc<Notify> {
        self.authorities_changed.clone()
    }

    /// Who asks for `path`, or 401. The headers that carried the proof are secrets and
    /// should not travel further.
    pub async fn authenticate(&self, headers: &HeaderMap, peer: &Peer, path: &str) -> Result<Arc<UserInfo>, Status> {
        self.authenticate_at(headers, peer, path, Timestamp::now()).await
    }

    /// [`Self::authenticate`] with the clock given.
    pub async fn authenticate_at(
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
        match self.clients.load().authenticate(chain, now) {
            Ok(Some(known)) => {
                self.expirations.observe(known.not_after.duration_since(now).as_secs_f64().max(0.0));
                return Ok(known.user);
            }
            Ok(None) => {}
            Err(why) => problem = Some(why),
        }
        if let Some(token) = bearer_token(headers) {
            match self.verify_token_at(&token, &[], now).await {
                Ok(verified) => return Ok(verified.user),
                Err(why) => problem = Some(why),
            }
        }
        match problem {
            Some(why) => {
                tracing::debug!(%why, path, "unable to authenticate the request");
                Err(Status::unauthorized())
            }
            None => self.anonymous.load().user_for(path).ok_or_else(Status::unauthorized),
        }
    }

    /// Whom a token proves towards `audiences` (empty: the API server's own), or why not.
    pub async fn verify_token(&self, token: &str, audiences: &[String]) -> Result<Verified, String> {
        self.verify_token_at(token, audiences, Timestamp::now()).await
    }

    pub(crate) async fn verify_token_at(
        &self,
        token: &str,
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Verified, String> {
        let mut problems = Vec::new();
        if let Some(verified) = self.verify_locally(token, audiences, now, &mut problems) {
            return Ok(verified);
        }
        let issuers = self.issuers.load_full();
        match Box::pin(issuers.authenticate(token, now)).await {
            Ok(Some(user)) => {
                if let Some(verified) = self.for_our_audiences(user, audiences) {
                    return Ok(verified);
                }
            }
            Ok(None) => {}
            Err(why) => problems.push(why),
        }
        if let Some(webhook) = &self.webhook {
            match Box::pin(webhook.authenticate(token, audiences, now)).await {
                Ok(Some(verified)) => return Ok(verified),
                Ok(None) => {}
                Err(why) => problems.push(why),
            }
        }
        Err(match problems.as_slice() {
            [] => "invalid bearer token".into(),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        })
    }

    /// The kinds of token that are judged without asking another server, in upstream's order.
    fn verify_locally(
        &self,
        token: &str,
        audiences: &[String],
        now: Timestamp,
        problems: &mut Vec<String>,
    ) -> Option<Verified> {
        if let Some(user) = self.static_tokens.find(token)
            && let Some(verified) = self.for_our_audiences(user, audiences)
        {
            return Some(verified);
        }
        let shown = Shown::new(token);
        match legacy_token::authenticate(&self.tokens, shown, &*self.lookup, now) {
            Ok(Some((user, used))) => {
                self.tokens.legacy_uses.count();
                self.note(used);
                if let Some(verified) = self.for_our_audiences(Arc::new(user), audiences) {
                    return Some(verified);
                }
                problems.push(self.tokens.wrong_audiences(self.tokens.audiences(), audiences));
            }
            Ok(None) => {}
            Err((why, used)) => {
                self.note(used);
                problems.push(why);
            }
        }
        match self.tokens.verify(shown, audiences, &*self.lookup, now) {
            Ok(Some(verified)) => return Some(verified),
            Ok(None) => {}
            Err(why) => problems.push(why),
        }
        let user = bootstrap_token::authenticate(token, &*self.lookup, now)?;
        self.for_our_audiences(Arc::new(user), audiences)
    }

    /// A token that says nothing of audiences is for those of the API server.
    fn for_our_audiences(&self, user: Arc<UserInfo>, asked: &[String]) -> Option<Verified> {
        let ours = self.tokens.audiences();
        let audiences: Vec<String> =
            ours.iter().filter(|ours| asked.is_empty() || asked.contains(ours)).cloned().collect();
        (!audiences.is_empty()).then_some(Verified { user, audiences })
    }

    fn note(&self, used: Option<Used>) {
        if let Some(used) = used {
            // A full queue means that the label will be written after a later use.
            let _ = self.uses.try_send(used);
        }
    }

    /// The part of /metrics that is about certificates and tokens.
    pub fn render_metrics(&self, out: &mut String) {
        let name = "apiserver_client_certificate_expiration_seconds";
        head(out, name, Histogram::KIND, "How long the certificates of clients are still good.");
        self.expirations.render(name, "", out);
        self.tokens.render_metrics(out);
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
        let proxy = self.front_proxies.load().as_ref()?.authenticate(chain, now).ok()??;
        let allowed = self.front_proxy_names.is_empty() || self.front_proxy_names.contains(&proxy.user.name);
        if allowed { front_proxy::user_from_headers(headers).map(Arc::new) } else { None }
    }
}
