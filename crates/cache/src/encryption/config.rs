//! EncryptionConfiguration (apiserver.config.k8s.io/v1): the file that
//! `--encryption-provider-config` names. Read at the start and whenever it changes; judged
//! in `validation.rs`. No mistake that is told quotes a key.

use super::validation::validate;
use ferry_api::rules::duration::GoDuration;
use serde::Deserialize;

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EncryptionConfiguration {
    #[serde(default)]
    pub api_version: String,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub resources: Vec<ResourceConfiguration>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResourceConfiguration {
    #[serde(default)]
    pub resources: Vec<String>,
    #[serde(default)]
    pub providers: Vec<ProviderConfiguration>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderConfiguration {
    pub aesgcm: Option<Keys>,
    pub aescbc: Option<Keys>,
    pub secretbox: Option<Keys>,
    pub identity: Option<Identity>,
    pub kms: Option<KmsConfiguration>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    #[serde(default)]
    pub keys: Vec<Key>,
}

/// Has no Debug, so that no log can show it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub secret: String,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KmsConfiguration {
    /// Upstream takes v1 where nothing is said.
    #[serde(default = "v1")]
    pub api_version: String,
    #[serde(default)]
    pub name: String,
    #[serde(default, rename = "cachesize")]
    pub cache_size: Option<i32>,
    #[serde(default)]
    pub endpoint: String,
    #[serde(default = "three_seconds")]
    pub timeout: GoDuration,
}

fn v1() -> String {
    "v1".into()
}

fn three_seconds() -> GoDuration {
    GoDuration(3_000_000_000)
}

impl EncryptionConfiguration {
    /// Reads YAML or JSON and judges it.
    pub(super) fn load(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("encryption provider configuration file is empty".into());
        }
        let config: Self = serde_yaml_ng::from_str(text).map_err(|error| {
            format!("error while parsing file: error decoding encryption provider configuration: {}", told(&error))
        })?;
        if config.api_version != "apiserver.config.k8s.io/v1" || config.kind != "EncryptionConfiguration" {
            return Err(format!(
                "error while parsing file: no kind {:?} is registered for version {:?}",
                config.kind, config.api_version
            ));
        }
        let errors = validate(&config);
        if errors.is_empty() {
            return Ok(config);
        }
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let texts = if texts.len() == 1 { texts[0].clone() } else { format!("[{}]", texts.join(", ")) };
        Err(format!("error while parsing file: {texts}"))
    }
}

/// A mistake of type or syntax quotes what it found, which may be a key: then only the
/// place is told.
fn told(error: &serde_yaml_ng::Error) -> String {
    let text = error.to_string();
    if text.contains("unknown field") || text.contains("duplicate field") {
        return text;
    }
    match error.location() {
        Some(at) => format!("unexpected content at line {} column {}", at.line(), at.column()),
        None => "unexpected content".into(),
    }
}
