//! Service account tokens for projected volumes: asked for once, renewed in good time.

use super::Tokens;
use ferry_api::view::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use ferry_api::view::core::v1::{PodView, ServiceAccount};
use ferry_api::view::{Kind, Owned};
use ferry_client::Client;
use jiff::{SignedDuration, Timestamp};
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
    pub async fn tokens(&mut self, client: &Client, pod: PodView<'_>) -> Result<Tokens, String> {
        let mut tokens = Tokens::new();
        for volume in pod.spec().volumes() {
            for source in volume.projected().unwrap_or_default().sources() {
                let Some(wanted) = source.service_account_token() else { continue };
                let (token, _) = self.fetch(client, pod, wanted.audience(), wanted.expiration_seconds()).await?;
                tokens.insert((volume.name().to_owned(), wanted.path().to_owned()), token);
            }
        }
        Ok(tokens)
    }

    /// When the first of them should be renewed.
    pub fn renew_at(&self) -> Option<Timestamp> {
        self.held.values().map(|held| held.renew_at).min()
    }

    /// One token for the pod with its end; a new one only when the old one has to be renewed.
    pub async fn fetch(
        &mut self,
        client: &Client,
        pod: PodView<'_>,
        audience: &str,
        seconds: Option<i64>,
    ) -> Result<(String, Timestamp), String> {
        let account = match pod.spec().service_account_name() {
            "" => "default",
            name => name,
        };
        let seconds = seconds.unwrap_or(DEFAULT_SECONDS);
        let key = (audience.to_owned(), seconds);
        let now = Timestamp::now();
        if let Some(held) = self.held.get(&key)
            && now < held.renew_at
        {
            return Ok((held.token.clone(), held.expires_at));
        }
        let request = render_request(pod, audience, seconds);
        let accounts = client.api::<ServiceAccount>(pod.metadata().namespace());
        match accounts.create_subresource::<TokenRequest>(account, "token", request.value()).await {
            Ok(answer) => {
                let status = answer.view().status();
                let token = status.token().to_owned();
                if token.is_empty() {
                    return Err("failed to fetch token: none came".into());
                }
                let expires_at = status.expiration_timestamp().unwrap_or(now);
                let held = Held { token: token.clone(), renew_at: compute_renewal(now, expires_at), expires_at };
                self.held.insert(key, held);
                Ok((token, expires_at))
            }
            // An old token that still works is better than none.
            Err(error) => match self.held.get_mut(&key) {
                Some(held) if now < held.expires_at => {
                    held.renew_at = now.saturating_add(SignedDuration::from_secs(30)).unwrap_or(held.expires_at);
                    Ok((held.token.clone(), held.expires_at))
                }
                _ => Err(format!("failed to fetch token: {error}")),
            },
        }
    }
}

/// A request for a token that ends with the pod.
fn render_request(pod: PodView<'_>, audience: &str, seconds: i64) -> TokenRequest {
    let bound_to = BoundObjectReference::new()
        .with_api_version("v1")
        .with_kind("Pod")
        .with_name(pod.metadata().name())
        .with_uid(pod.metadata().uid());
    let spec = TokenRequestSpec::new()
        .with_audiences(Some(audience).filter(|audience| !audience.is_empty()))
        .with_expiration_seconds(seconds)
        .with_bound_object_ref(bound_to);
    TokenRequest::new().with_api_version(TokenRequest::API_VERSION).with_kind(TokenRequest::KIND).with_spec(spec)
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
