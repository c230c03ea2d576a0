//! Who may come in, who decides what they may do, and how what they store is kept: the
//! flags of `ferry up` that change the usual. They are kept with the cluster, so that the next `ferry up` means the same.

use anyhow::{Context, Result};
use clap::Args;
use ferry_apiserver::authn::TokenWebhookConfig;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the answers of a token webhook are kept (upstream's default).
const TOKEN_WEBHOOK_TTL: Duration = Duration::from_secs(120);

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Access {
    /// Other issuers of tokens and anonymous access: an AuthenticationConfiguration, read again when it changes
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub authentication_config: Option<PathBuf>,
    /// Which authorizers decide: an AuthorizationConfiguration, read again when it changes [default: Node and RBAC]
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub authorization_config: Option<PathBuf>,
    /// Static tokens: a CSV file of token, user, uid and groups
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub token_auth_file: Option<PathBuf>,
    /// A kubeconfig naming the server that is asked about tokens nobody here knows
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub authentication_token_webhook_config_file: Option<PathBuf>,
    /// The version of TokenReview to ask it with: v1 or v1beta1 [default: v1beta1]
    #[arg(long, value_name = "VERSION")]
    #[serde(default)]
    pub authentication_token_webhook_version: Option<String>,
    /// How objects are sealed on disk: an EncryptionConfiguration, read again when it changes [default: Secrets, with a generated key]
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub encryption_provider_config: Option<PathBuf>,
    /// What admission plugins are told: an AdmissionConfiguration
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub admission_control_config_file: Option<PathBuf>,
    /// Admission plugins to turn on besides those that always are
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    #[serde(default)]
    pub enable_admission_plugins: Vec<String>,
    /// Admission plugins to turn off
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    #[serde(default)]
    pub disable_admission_plugins: Vec<String>,
}

impl Access {
    /// What is said now, and for the rest what was said before. Files are named from the
    /// root, because a cluster that is left running has another directory.
    pub fn or(&self, before: &Self) -> Result<Self> {
        let file = |said: &Option<PathBuf>, before: &Option<PathBuf>| match said {
            Some(file) => absolute(file).map(Some),
            None => Ok(before.clone()),
        };
        let names =
            |said: &Vec<String>, before: &Vec<String>| if said.is_empty() { before.clone() } else { said.clone() };
        let version = &self.authentication_token_webhook_version;
        Ok(Self {
            authentication_config: file(&self.authentication_config, &before.authentication_config)?,
            authorization_config: file(&self.authorization_config, &before.authorization_config)?,
            token_auth_file: file(&self.token_auth_file, &before.token_auth_file)?,
            admission_control_config_file: file(
                &self.admission_control_config_file,
                &before.admission_control_config_file,
            )?,
            authentication_token_webhook_config_file: file(
                &self.authentication_token_webhook_config_file,
                &before.authentication_token_webhook_config_file,
            )?,
            authentication_token_webhook_version: version
                .clone()
                .or_else(|| before.authentication_token_webhook_version.clone()),
            encryption_provider_config: file(&self.encryption_provider_config, &before.encryption_provider_config)?,
            enable_admission_plugins: names(&self.enable_admission_plugins, &before.enable_admission_plugins),
            disable_admission_plugins: names(&self.disable_admission_plugins, &before.disable_admission_plugins),
        })
    }

    /// The configurations of encryption on disk, in the order in which they are asked. The
    /// generated key comes last: it opens what was sealed before there was another file,
    /// and seals Secrets where that file says nothing of them.
    pub fn encryption_files(&self, data_dir: &Path) -> Vec<PathBuf> {
        self.encryption_provider_config.iter().cloned().chain([crate::secret_key::path(data_dir)]).collect()
    }

    /// Tells the API server. `pki` is where the authorities are, which may be replaced
    /// while it runs.
    pub fn apply(&self, config: &mut ferry_apiserver::Config, pki: &Path) -> Result<()> {
        config.authorization_config.clone_from(&self.authorization_config);
        let options = &mut config.authentication.options;
        options.config_file.clone_from(&self.authentication_config);
        options.token_file.clone_from(&self.token_auth_file);
        options.client_ca_file = Some(pki.join("ca.crt"));
        options.front_proxy_ca_file = Some(pki.join("front-proxy-ca.crt"));
        options.token_webhook =
            self.authentication_token_webhook_config_file.clone().map(|kubeconfig| TokenWebhookConfig {
                kubeconfig,
                version: self.authentication_token_webhook_version.clone().unwrap_or_else(|| "v1beta1".to_owned()),
                cache_ttl: TOKEN_WEBHOOK_TTL,
            });
        config.admission.enable.clone_from(&self.enable_admission_plugins);
        config.admission.disable.clone_from(&self.disable_admission_plugins);
        match &self.admission_control_config_file {
            Some(file) => {
                config.admission.read(file).map_err(anyhow::Error::msg).context("--admission-control-config-file")
            }
            None => Ok(()),
        }
    }
}

pub fn absolute(file: &Path) -> Result<PathBuf> {
    std::path::absolute(file).with_context(|| format!("cannot tell where {} is", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_stays() {
        let before = Access { token_auth_file: Some("/a/tokens".into()), ..Access::default() };
        let said = Access { authorization_config: Some("authz.yaml".into()), ..Access::default() };
        let both = said.or(&before).expect("a directory");
        assert_eq!(both.token_auth_file, before.token_auth_file);
        assert!(both.authorization_config.expect("said").is_absolute());
        let on = |names: &[&str]| Access {
            enable_admission_plugins: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Access::default()
        };
        let plugins = |said: &Access, before: &Access| said.or(before).expect("a directory").enable_admission_plugins;
        assert_eq!(plugins(&on(&[]), &on(&["AlwaysPullImages"])), ["AlwaysPullImages"]);
        assert_eq!(plugins(&on(&["EventRateLimit"]), &on(&["AlwaysPullImages"])), ["EventRateLimit"]);
    }
}
