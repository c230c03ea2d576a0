//! Service account tokens for projected volumes: asked for once, renewed in good time.

use super::Tokens;
use crate::pod;
use ferry_client::Client;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use std::collections::HashMap;

/// A token is renewed when four fifths of its life are over, or after a day
/// (upstream: pkg/kubelet/token/token_manager.go).
const LONGEST_USE: SignedDuration = SignedDuration::from_hours(24);
const DEFAULT_SECONDS: i64 = 3600;

#[derive(Clone, Debug)]
struct Held {
    token: String,
    renew_at: Timestamp,
    expires_at: Timestamp,
}

/// One pod's tokens.
#[derive(Default)]
pub struct TokenSource {
    held: HashMap<(String, i64), Held>,
}

impl TokenSource {
    /// Tokens for every projection of the pod that wants one.
    pub async fn tokens(&mut self, client: &Client, pod: &Pod) -> Result<Tokens, String> {
        let spec = pod::spec(pod);
        let account = spec.service_account_name.as_deref().filter(|name| !name.is_empty()).unwrap_or("default");
        let mut tokens = Tokens::new();
        for volume in spec.volumes.iter().flatten() {
            for source in volume.projected.iter().flat_map(|projected| projected.sources.iter().flatten()) {
                let Some(wanted) = &source.service_account_token else { continue };
                let audience = wanted.audience.clone().unwrap_or_default();
                let seconds = wanted.expiration_seconds.unwrap_or(DEFAULT_SECONDS);
                let token = self.token(client, pod, account, audience, seconds).await?;
                tokens.insert((volume.name.clone(), wanted.path.clone()), token);
            }
        }
        Ok(tokens)
    }

    /// When the first of them should be renewed.
    pub fn renew_at(&self) -> Option<Timestamp> {
        self.held.values().map(|held| held.renew_at).min()
    }

    async fn token(
        &mut self,
        client: &Client,
        pod: &Pod,
        account: &str,
        audience: String,
        seconds: i64,
    ) -> Result<String, String> {
        let key = (audience.clone(), seconds);
        let now = Timestamp::now();
        if let Some(held) = self.held.get(&key)
            && now < held.renew_at
        {
            return Ok(held.token.clone());
        }
        let request = TokenRequest {
            spec: Some(TokenRequestSpec {
                audiences: (!audience.is_empty()).then(|| vec![audience]),
                expiration_seconds: Some(seconds),
                bound_object_ref: Some(BoundObjectReference {
                    api_version: Some("v1".into()),
                    kind: Some("Pod".into()),
                    name: Some(pod::name(pod).into()),
                    uid: Some(pod::uid(pod).into()),
                }),
            }),
            ..Default::default()
        };
        let answer: Result<TokenRequest, _> =
            client.create_subresource::<ServiceAccount, _, _>(pod::namespace(pod), account, "token", &request).await;
        match answer {
            Ok(answer) => {
                let status = answer.status.unwrap_or_default();
                let token = status.token.filter(|token| !token.is_empty()).ok_or("failed to fetch token: none came")?;
                let expires_at = status.expiration_timestamp.map_or(now, |time| time.0);
                let held = Held { token: token.clone(), renew_at: compute_renewal(now, expires_at), expires_at };
                self.held.insert(key, held);
                Ok(token)
            }
            // An old token that still works is better than none.
            Err(error) => match self.held.get_mut(&key) {
                Some(held) if now < held.expires_at => {
                    held.renew_at = now.saturating_add(SignedDuration::from_secs(30)).unwrap_or(held.expires_at);
                    Ok(held.token.clone())
                }
                _ => Err(format!("failed to fetch token: {error}")),
            },
        }
    }
}

fn compute_renewal(now: Timestamp, expires_at: Timestamp) -> Timestamp {
    let life = expires_at.duration_since(now);
    let use_for = (life * 4 / 5).min(LONGEST_USE);
    now.saturating_add(use_for).unwrap_or(expires_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renewal_comes_at_four_fifths_or_after_a_day() {
        let now = Timestamp::from_second(1_000_000).expect("a time");
        let later = |seconds| now.checked_add(SignedDuration::from_secs(seconds)).expect("a time");
        assert_eq!(compute_renewal(now, later(3600)), later(2880));
        assert_eq!(compute_renewal(now, later(86_400 * 365)), later(86_400));
    }
}
