//! Credential providers: programs that the kubelet asks for the credentials of images, with the
//! node's right or with the token of the pod's service account. Their answers are kept for as long
//! as they say, by image, by registry or for everything (upstream: pkg/credentialprovider/plugin).

mod config;
mod exec;

use super::keyring::{self, Credential};
use super::pulled_record::AccountRecord;
use crate::cri::v1::{AuthConfig, PodSandboxMetadata};
use crate::settings::RuntimeSettings;
use config::{Provider, TokenAttributes};
use exec::{CacheKeyType, Response, Token};
use ferry_api::view::Owned;
use ferry_api::view::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use ferry_api::view::core::v1::ServiceAccount;
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::Client;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Instant;
use tokio::sync::Mutex;

pub struct CredentialProviders {
    bin_dir: PathBuf,
    client: Client,
    providers: Vec<ProviderState>,
}

struct ProviderState {
    provider: Provider,
    /// Held during a call: pods that ask at once for the same image cost one call.
    cache: Mutex<HashMap<CacheKey, Entry>>,
}

/// The image, the registry or nothing, and the service account with what its answer depends on.
type CacheKey = (String, String);

struct Entry {
    auth: BTreeMap<String, (String, String)>,
    expires_at: Instant,
}

/// The pod's part of a request.
#[derive(Default)]
struct Right {
    token: Token,
    account: Option<AccountRecord>,
    cache_key: String,
}

impl CredentialProviders {
    /// `None` where none are configured. A mistake keeps the kubelet from starting.
    pub fn load(settings: &RuntimeSettings, client: &Client) -> Result<Option<Self>, String> {
        let (config, bin_dir) = match (&settings.credential_provider_config, &settings.credential_provider_bin_dir) {
            (None, None) => return Ok(None),
            (Some(config), Some(bin_dir)) => (config, bin_dir),
            _ => {
                return Err("--image-credential-provider-config and --image-credential-provider-bin-dir belong \
                            together"
                    .into());
            }
        };
        if !bin_dir.is_dir() {
            return Err(format!("plugin binary directory {} did not exist", bin_dir.display()));
        }
        let providers = config::read(config)?;
        for provider in &providers {
            let program = bin_dir.join(&provider.name);
            let is_program = std::fs::metadata(&program)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
            if !is_program {
                return Err(format!("plugin binary executable {} did not exist", program.display()));
            }
        }
        let providers = providers.into_iter();
        Ok(Some(Self {
            bin_dir: bin_dir.clone(),
            client: client.clone(),
            providers: providers.map(|provider| ProviderState { provider, cache: Mutex::default() }).collect(),
        }))
    }

    /// The credentials of all providers that are configured for the image. One that fails is logged
    /// and has none.
    pub async fn credentials(&self, image: &str, pod: &PodSandboxMetadata, account: &str) -> Vec<Credential> {
        let mut found: Vec<(String, Credential)> = Vec::new();
        for state in &self.providers {
            if !state.provider.match_images.iter().any(|pattern| keyring::covers(pattern, image)) {
                continue;
            }
            match self.ask(state, image, pod, account).await {
                Ok(answers) => found.extend(answers),
                Err(why) => {
                    let provider = &state.provider.name;
                    tracing::error!(%provider, %image, %why, "cannot get the credentials of an image");
                }
            }
        }
        found.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        found.into_iter().map(|(_, credential)| credential).collect()
    }

    async fn ask(
        &self,
        state: &ProviderState,
        image: &str,
        pod: &PodSandboxMetadata,
        account: &str,
    ) -> Result<Vec<(String, Credential)>, String> {
        let Some(right) = self.right(&state.provider, pod, account).await? else { return Ok(Vec::new()) };
        let auth = self.answer(state, image, &right).await?;
        let matching = auth.into_iter().filter(|(pattern, _)| keyring::covers(pattern, image));
        Ok(matching
            .map(|(pattern, (username, password))| {
                let auth = AuthConfig { username, password, ..Default::default() };
                let credential = match &right.account {
                    Some(account) => Credential::of_account(auth, account.clone()),
                    None => Credential::of_node(auth),
                };
                (pattern, credential)
            })
            .collect())
    }

    async fn answer(
        &self,
        state: &ProviderState,
        image: &str,
        right: &Right,
    ) -> Result<BTreeMap<String, (String, String)>, String> {
        let mut cache = state.cache.lock().await;
        let now = Instant::now();
        cache.retain(|_, entry| entry.expires_at > now);
        for kind in [CacheKeyType::Image, CacheKeyType::Registry, CacheKeyType::Global] {
            if let Some(entry) = cache.get(&(cache_key(kind, image), right.cache_key.clone())) {
                return Ok(entry.auth.clone());
            }
        }
        let answered = exec::run(&self.bin_dir, &state.provider, image, &right.token).await;
        let response: Response = answered
            .map_err(|why| format!("failed to get credential from external registry credential provider: {why}"))?;
        let by_token = state.provider.token_attributes.as_ref().is_some_and(|own| own.cache_type == "Token");
        let token = &right.token.token;
        if !token.is_empty() && !by_token && response.auth.values().any(|(_, password)| password == token) {
            return Err("credential provider plugin returned the service account token as the password which is not \
                        allowed when service account cache type is not set to 'Token'"
                .into());
        }
        let lasts = response.cache_duration.unwrap_or(state.provider.default_cache_duration);
        if !lasts.is_zero()
            && let Some(expires_at) = Instant::now().checked_add(lasts)
        {
            let key = (cache_key(response.cache_key_type, image), right.cache_key.clone());
            cache.insert(key, Entry { auth: response.auth.clone(), expires_at });
        }
        Ok(response.auth)
    }

    /// The pod's right for a provider that asks for one; `None` where the pod lacks what it requires.
    async fn right(
        &self,
        provider: &Provider,
        pod: &PodSandboxMetadata,
        account: &str,
    ) -> Result<Option<Right>, String> {
        let Some(attributes) = &provider.token_attributes else { return Ok(Some(Right::default())) };
        if account.is_empty() {
            let is_required = attributes.require_service_account == Some(true);
            return Ok((!is_required).then(Right::default));
        }
        let accounts = self.client.api::<ServiceAccount>(&pod.namespace);
        let found = accounts.get(account).await.map_err(|error| format!("failed to get service account: {error}"))?;
        let annotations = found.meta().annotations().to_map().into_iter().collect();
        let Some(annotations) = select_annotations(attributes, &annotations) else { return Ok(None) };
        let bound = BoundObjectReference::new().with_api_version("v1").with_kind("Pod").with_name(&pod.name);
        let spec = TokenRequestSpec::new()
            .with_audiences([attributes.service_account_token_audience.as_str()])
            .with_bound_object_ref(bound.with_uid(&pod.uid));
        let request = TokenRequest::new().with_metadata(ObjectMeta::new().with_uid(found.uid())).with_spec(spec);
        let answer = accounts.create_subresource::<TokenRequest>(account, "token", request.value()).await;
        let answer = answer.map_err(|error| format!("failed to get service account token: {error}"))?;
        let token = answer.view().status().token().to_owned();
        let account =
            AccountRecord { namespace: pod.namespace.clone(), name: account.to_owned(), uid: found.uid().to_owned() };
        let cache_key = account_key(&account, &annotations, (attributes.cache_type == "Token").then_some(&token));
        Ok(Some(Right { token: Token { token, annotations }, account: Some(account), cache_key }))
    }
}

/// The annotations that the provider is given; `None` if a required one is missing.
fn select_annotations(
    attributes: &TokenAttributes,
    all: &BTreeMap<String, String>,
) -> Option<BTreeMap<String, String>> {
    let mut selected = BTreeMap::new();
    for key in &attributes.required_service_account_annotation_keys {
        selected.insert(key.clone(), all.get(key)?.clone());
    }
    for key in &attributes.optional_service_account_annotation_keys {
        selected.extend(all.get(key).map(|value| (key.clone(), value.clone())));
    }
    Some(selected)
}

fn cache_key(kind: CacheKeyType, image: &str) -> String {
    match kind {
        CacheKeyType::Image => format!("image {image}"),
        CacheKeyType::Registry => format!("registry {}", image.split('/').next().unwrap_or_default()),
        CacheKeyType::Global => "global".into(),
    }
}

/// A hash over everything that another answer could depend on, each part with its length.
fn account_key(account: &AccountRecord, annotations: &BTreeMap<String, String>, token: Option<&String>) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    };
    [&account.namespace, &account.name, &account.uid].into_iter().for_each(|part| add(part));
    add(&annotations.len().to_string());
    annotations.iter().for_each(|(key, value)| {
        add(key);
        add(value);
    });
    token.into_iter().for_each(|token| add(token));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_without_a_required_annotation_is_not_offered() {
        let attributes = TokenAttributes {
            required_service_account_annotation_keys: vec!["role".into()],
            optional_service_account_annotation_keys: vec!["zone".into()],
            ..Default::default()
        };
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(select_annotations(&attributes, &of(&[("zone", "a")])), None);
        let all = of(&[("role", "r"), ("zone", "a"), ("other", "x")]);
        assert_eq!(select_annotations(&attributes, &all), Some(of(&[("role", "r"), ("zone", "a")])));
    }
}
