//! Tokens of other issuers (OpenID Connect), as an AuthenticationConfiguration names them.
//! Called for bearer tokens that nobody here issued. `issuer.rs` proves a token, `keys.rs`
//! fetches the keys for that, `mapping.rs` decides whom the claims make of it.

mod issuer;
mod keys;
pub(super) mod mapping;

pub(super) use issuer::Failure;

use super::certificate::sha256;
use super::config::AuthenticationConfiguration;
use super::user::UserInfo;
use issuer::JwtIssuer;
use jiff::{SignedDuration, Timestamp};
use mapping::Expressions;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// How long a proven token is believed without another look (upstream's
/// TokenSuccessCacheTTL).
const BELIEVED_FOR: SignedDuration = SignedDuration::from_secs(10);
const REMEMBERED: usize = 4096;

/// Whom a token proved, and until when that holds.
type Remembered = (Arc<UserInfo>, Timestamp);

/// The issuers of one configuration, and what they said lately. A new configuration is a
/// new value, so nothing that was believed outlives it.
#[derive(Default)]
pub(super) struct JwtIssuers {
    issuers: Vec<JwtIssuer>,
    remembered: Mutex<HashMap<[u8; 32], Remembered>>,
}

impl JwtIssuers {
    /// Begins to look for each issuer's keys in the background; the tasks end when this is
    /// dropped.
    pub(super) fn start(config: &AuthenticationConfiguration, expressions: Vec<Expressions>) -> Result<Self, String> {
        let issuers = config.jwt.iter().zip(expressions);
        let issuers = issuers.map(|(jwt, expressions)| JwtIssuer::start(jwt, expressions)).collect::<Result<_, _>>()?;
        Ok(Self { issuers, remembered: Mutex::default() })
    }

    /// Waits until every issuer's keys are known.
    pub(super) async fn ready(&self) {
        for issuer in &self.issuers {
            issuer.ready().await;
        }
    }

    /// What is wrong with those that have no keys yet.
    pub(super) fn problems(&self) -> Vec<String> {
        self.issuers.iter().filter_map(JwtIssuer::problem).collect()
    }

    /// Whom a token proves; `None` if none of the issuers issued it.
    pub(super) async fn authenticate(&self, token: &str, now: Timestamp) -> Result<Option<Arc<UserInfo>>, Failure> {
        if self.issuers.is_empty() {
            return Ok(None);
        }
        let Some(claimed) = issuer::claimed_issuer(token) else { return Ok(None) };
        let Some(issuer) = self.issuers.iter().find(|issuer| issuer.url() == claimed) else { return Ok(None) };
        let digest = sha256(token.as_bytes());
        if let Some((user, until)) = self.remembered.lock().get(&digest)
            && now < *until
        {
            return Ok(Some(user.clone()));
        }
        let (user, expires) = issuer.authenticate(token, now).await?;
        let user = Arc::new(user);
        let until = now.saturating_add(BELIEVED_FOR).map_or(expires, |later| later.min(expires));
        let mut remembered = self.remembered.lock();
        if remembered.len() >= REMEMBERED {
            remembered.retain(|_, (_, until)| now < *until);
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
        }
        remembered.insert(digest, (user.clone(), until));
        Ok(Some(user))
    }
}
