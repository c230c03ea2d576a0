//! The record of a pulled image: which credentials have opened its registry. `pull_records` keeps
//! one in a file for each image, in upstream's form (ImagePulledRecord of kubelet.config.k8s.io).

use super::pull_records::{API_VERSION, repository};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A secret that has opened the registry, and the hash of the credential in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretRecord {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub hash: String,
}

/// A service account whose token opened the registry, by a credential provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountRecord {
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

/// The pods that may use an image without asking its registry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// It was pulled without any credential, or with one of the node.
    pub everybody: bool,
    pub secrets: BTreeSet<SecretRecord>,
    pub accounts: BTreeSet<AccountRecord>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PulledRecord {
    pub image_ref: String,
    pub updated: Timestamp,
    /// By the image's name without tag and digest.
    pub access: BTreeMap<String, Access>,
}

/// The record after a pull by this right. Once everybody may use the image, secrets no
/// longer matter; a secret's newest credential replaces its older one.
pub fn plan_record(
    known: Option<&PulledRecord>,
    image: &str,
    image_ref: &str,
    access: Option<Access>,
    now: Timestamp,
) -> PulledRecord {
    let fresh = || PulledRecord { image_ref: image_ref.to_owned(), updated: now, access: BTreeMap::new() };
    let mut record = known.cloned().unwrap_or_else(fresh);
    let (Some(access), Some(name)) = (access, repository(image)) else { return record };
    let entry = record.access.entry(name).or_default();
    let before = entry.clone();
    if access.everybody || entry.everybody {
        *entry = Access { everybody: true, ..Default::default() };
    } else {
        let is_replaced = |old: &SecretRecord| {
            access
                .secrets
                .iter()
                .any(|new| (&new.namespace, &new.name, &new.uid) == (&old.namespace, &old.name, &old.uid))
        };
        entry.secrets.retain(|old| !is_replaced(old));
        entry.secrets.extend(access.secrets);
        entry.accounts.extend(access.accounts);
    }
    if *entry != before {
        record.updated = now;
    }
    record
}

impl PulledRecord {
    pub fn to_json(&self) -> Value {
        let secret = |secret: &SecretRecord| json!({ "uid": secret.uid, "namespace": secret.namespace, "name": secret.name, "credentialHash": secret.hash });
        let account = |own: &AccountRecord| json!({ "uid": own.uid, "namespace": own.namespace, "name": own.name });
        let access = |access: &Access| match access.everybody {
            true => json!({ "nodePodsAccessible": true }),
            false => {
                let mut mapping = json!({ "kubernetesSecrets": access.secrets.iter().map(secret).collect::<Vec<_>>() });
                if !access.accounts.is_empty() {
                    mapping["kubernetesServiceAccounts"] = access.accounts.iter().map(account).collect();
                }
                mapping
            }
        };
        let mapping: Map<String, Value> = self.access.iter().map(|(name, of)| (name.clone(), access(of))).collect();
        json!({ "kind": "ImagePulledRecord", "apiVersion": API_VERSION, "lastUpdatedTime": self.updated.to_string(),
            "imageRef": self.image_ref, "credentialMapping": mapping })
    }

    pub fn from_json(value: &Value) -> Option<Self> {
        let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let access = |value: &Value| Access {
            everybody: value["nodePodsAccessible"].as_bool().unwrap_or(false),
            secrets: value["kubernetesSecrets"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|secret| SecretRecord {
                    namespace: text(secret, "namespace"),
                    name: text(secret, "name"),
                    uid: text(secret, "uid"),
                    hash: text(secret, "credentialHash"),
                })
                .collect(),
            accounts: value["kubernetesServiceAccounts"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|own| AccountRecord {
                    namespace: text(own, "namespace"),
                    name: text(own, "name"),
                    uid: text(own, "uid"),
                })
                .collect(),
        };
        let mapping = value["credentialMapping"].as_object();
        Some(Self {
            image_ref: value["imageRef"].as_str()?.to_owned(),
            updated: value["lastUpdatedTime"].as_str()?.parse().ok()?,
            access: mapping.into_iter().flatten().map(|(name, of)| (name.clone(), access(of))).collect(),
        })
    }
}
