//! A KMS v2 provider: a plugin on a unix socket keeps the key that opens our data keys.
//!
//! Sealing and opening are synchronous, because the cache decodes while it reads the
//! store; only a data key that is not known yet needs the plugin. So [`Kms::prepare`] is
//! awaited before a batch is decoded and fetches the data keys that the batch needs, and a
//! probe keeps one ready to seal with. What could not be fetched fails to open with the
//! plugin's reason and is tried again when the plugin is well.

pub mod api;
mod envelope;

use super::config::KmsConfiguration;
use api::{DecryptRequest, EncryptRequest, EncryptedObject, Plugin};
use arc_swap::ArcSwapOption;
use envelope::{Dek, DekId, hash, validate_key_id};
use futures_util::stream::{self, StreamExt};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use prost::Message;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// How often a plugin is asked how it is; more often while it is not well. Upstream asks
/// every minute in the background, and its health checks every 20 and 3 seconds.
const WELL: Duration = Duration::from_secs(20);
const UNWELL: Duration = Duration::from_secs(3);

/// How long values may be sealed with a data key after the plugin was last well (upstream's
/// kmsv2PluginWriteDEKSourceMaxTTL): whoever rotates the key may rely on it.
const SEALS_FOR: SignedDuration = SignedDuration::from_mins(3);

/// How many data keys are fetched at a time.
const AT_ONCE: usize = 16;

/// There is about one data key for each start and each rotation; far more than that
/// means that somebody makes them up.
const DEKS_MAX: usize = 10_000;

pub struct Kms {
    name: String,
    prefix: String,
    plugin: Plugin,
    /// What seals now.
    state: ArcSwapOption<State>,
    deks: Mutex<HashMap<DekId, Result<Arc<Dek>, String>>>,
    health: Mutex<Health>,
}

struct State {
    dek: Arc<Dek>,
    key_id: String,
    encrypted_dek_source: Vec<u8>,
    annotations: BTreeMap<String, Vec<u8>>,
    expires: Timestamp,
}

#[derive(Default)]
struct Health {
    /// `None` until the plugin has answered once.
    last: Option<Result<(), String>>,
    version: String,
}

impl Kms {
    pub fn new(config: &KmsConfiguration) -> Result<Arc<Self>, String> {
        let plugin = Plugin::new(&config.endpoint, config.timeout.duration())
            .map_err(|why| format!("could not configure KMSv2-Plugin's probe {:?}, error: {why}", config.name))?;
        Ok(Arc::new(Self {
            prefix: format!("k8s:enc:kms:v2:{}:", config.name),
            name: config.name.clone(),
            plugin,
            state: ArcSwapOption::empty(),
            deks: Mutex::default(),
            health: Mutex::default(),
        }))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// How the plugin was when it was last asked.
    pub fn health(&self) -> Result<(), String> {
        self.health.lock().last.clone().unwrap_or_else(|| Err("the plugin has not answered yet".into()))
    }

    pub fn seal(&self, key: &str, plain: &[u8]) -> Result<Vec<u8>, String> {
        let state = self.state.load();
        let Some(state) = state.as_deref() else {
            return Err(match self.health() {
                Err(why) => why,
                Ok(()) => "got unexpected nil transformer".into(),
            });
        };
        let now = Timestamp::now();
        if now > state.expires {
            return Err(format!(
                "encryptedDEKSource with keyID hash {:?} expired at {} (current time is {})",
                hash(&state.key_id),
                ferry_api::codec::time::format_seconds(state.expires),
                ferry_api::codec::time::format_seconds(now)
            ));
        }
        let object = EncryptedObject {
            encrypted_data: state.dek.seal(key, plain)?,
            key_id: state.key_id.clone(),
            encrypted_dek_source: state.encrypted_dek_source.clone(),
            annotations: state.annotations.clone(),
            encrypted_dek_source_type: Dek::SEED,
        };
        let mut out = Vec::with_capacity(self.prefix.len() + object.encoded_len());
        out.extend_from_slice(self.prefix.as_bytes());
        object.encode(&mut out).map_err(|error| error.to_string())?;
        Ok(out)
    }

    /// `object` is what stands behind the prefix.
    pub fn open(&self, key: &str, object: &[u8]) -> Result<Vec<u8>, String> {
        let object = EncryptedObject::parse(object)?;
        let dek = match self.deks.lock().get(&object.dek_id()) {
            Some(Ok(dek)) => dek.clone(),
            Some(Err(why)) => return Err(format!("failed to decrypt DEK, error: {why}")),
            None => return Err("failed to decrypt DEK, error: the plugin has not been asked yet".into()),
        };
        dek.open(key, &object.encrypted_data)
    }

    /// Whether a value was sealed under the key id that the plugin uses now.
    pub fn is_current(&self, object: &[u8]) -> bool {
        let state = self.state.load();
        let (Some(state), Ok(object)) = (state.as_deref(), EncryptedObject::parse(object)) else { return false };
        object.key_id == state.key_id && object.encrypted_dek_source_type == Dek::SEED
    }

    /// Fetches the data keys of these values that are not known yet. Failures are kept for
    /// [`Kms::open`] to tell, and asked for again the next time.
    pub async fn prepare<'a>(&self, values: impl Iterator<Item = &'a [u8]>) {
        let mut missing: HashMap<DekId, EncryptedObject> = HashMap::new();
        for object in values.filter_map(|value| value.strip_prefix(self.prefix.as_bytes())) {
            let Ok(object) = EncryptedObject::parse(object) else { continue };
            let id = object.dek_id();
            if !matches!(self.deks.lock().get(&id), Some(Ok(_))) {
                missing.entry(id).or_insert(object);
            }
        }
        if missing.is_empty() {
            return;
        }
        // A plugin that is not there would be waited for once a data key.
        if let Some(Err(why)) = &self.health.lock().last {
            let mut deks = self.deks.lock();
            missing.into_keys().for_each(|id| drop(deks.insert(id, Err(why.clone()))));
            return;
        }
        let fetches = missing.into_iter().map(|(id, object)| async move {
            let request = DecryptRequest {
                ciphertext: object.encrypted_dek_source,
                uid: uuid::Uuid::new_v4().to_string(),
                key_id: object.key_id,
                annotations: object.annotations,
            };
            let answer = self.plugin.decrypt(request).await;
            let dek = answer.and_then(|answer| Dek::new(object.encrypted_dek_source_type, &answer.plaintext));
            (id, dek.map(Arc::new))
        });
        let fetched: Vec<_> = stream::iter(fetches).buffer_unordered(AT_ONCE).collect().await;
        let mut deks = self.deks.lock();
        if deks.len() > DEKS_MAX {
            deks.clear();
        }
        deks.extend(fetched);
    }

    /// Asks the plugin how it is, and takes a new data key when its key id has changed.
    /// True when it is well now and was not before.
    pub async fn probe(&self) -> bool {
        let outcome = self.check().await;
        if let Err(why) = &outcome {
            tracing::warn!(kms = self.name, why, "a KMS plugin is not well");
        }
        let well = outcome.is_ok();
        let before = self.health.lock().last.replace(outcome);
        well && !matches!(before, Some(Ok(())))
    }

    /// How long until the plugin should be asked again.
    pub fn pause(&self) -> Duration {
        if self.health().is_ok() { WELL } else { UNWELL }
    }

    async fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let status = self.plugin.status().await.map_err(|why| {
            format!("failed to perform status section of the healthz check for KMS Provider {name}, error: {why}")
        })?;
        let mut mistakes = Vec::new();
        if status.healthz != "ok" {
            mistakes.push(format!("got unexpected healthz status: {}", status.healthz));
        }
        if ["v2", "v2beta1"].contains(&status.version.as_str()) {
            let known = &mut self.health.lock().version;
            if known.is_empty() {
                known.clone_from(&status.version);
            } else if *known != status.version {
                mistakes.push(format!(
                    "KMSv2 API version should not change after the initial status response version {known}, got {}",
                    status.version
                ));
            }
        } else {
            mistakes.push(format!("expected KMSv2 API version v2, got {}", status.version));
        }
        match validate_key_id(&status.key_id) {
            Err(why) => {
                mistakes.push(format!("got invalid KMSv2 KeyID hash {:?}: {why}", hash(&status.key_id)));
            }
            Ok(()) => mistakes.extend(self.rotate(&status.key_id).await.err()),
        }
        match mistakes.len() {
            0 => Ok(()),
            1 => Err(format!("kmsv2 Provider {name} is not healthy, error: {}", mistakes[0])),
            _ => Err(format!("kmsv2 Provider {name} is not healthy, error: [{}]", mistakes.join(", "))),
        }
    }

    /// A new data key for a new key id; the old one seals on until it expires when that
    /// fails. With the same key id the data key stays and lives longer.
    async fn rotate(&self, key_id: &str) -> Result<(), String> {
        // Counted from before the call, so that it is an upper bound.
        let expires = Timestamp::now().checked_add(SEALS_FOR).unwrap_or(Timestamp::MAX);
        if let Some(state) = self.state.load_full().filter(|state| state.key_id == key_id) {
            self.state.store(Some(Arc::new(State {
                dek: state.dek.clone(),
                key_id: state.key_id.clone(),
                encrypted_dek_source: state.encrypted_dek_source.clone(),
                annotations: state.annotations.clone(),
                expires,
            })));
            return Ok(());
        }
        let uid = uuid::Uuid::new_v4().to_string();
        let failed = |why: &str, encrypted: &str| {
            format!(
                "failed to rotate DEK uid={uid:?}, errGen={why}, statusKeyIDHash={:?}, encryptKeyIDHash={:?}",
                hash(key_id),
                hash(encrypted)
            )
        };
        let (dek, seed) = Dek::generate().map_err(|why| failed(&why, ""))?;
        let answer = self
            .plugin
            .encrypt(EncryptRequest { plaintext: seed, uid: uid.clone() })
            .await
            .map_err(|why| failed(&format!("failed to encrypt DEK, error: {why}"), ""))?;
        let object = EncryptedObject {
            encrypted_data: vec![0],
            key_id: answer.key_id,
            encrypted_dek_source: answer.ciphertext,
            annotations: answer.annotations,
            encrypted_dek_source_type: Dek::SEED,
        };
        object.validate().map_err(|why| failed(&why, &object.key_id))?;
        if object.key_id != key_id {
            return Err(failed("<nil>", &object.key_id));
        }
        let dek = Arc::new(dek);
        self.deks.lock().insert(object.dek_id(), Ok(dek.clone()));
        self.state.store(Some(Arc::new(State {
            dek,
            key_id: object.key_id,
            encrypted_dek_source: object.encrypted_dek_source,
            annotations: object.annotations,
            expires,
        })));
        Ok(())
    }
}

/// The key id of what a KMS sealed, from behind the prefix.
pub fn key_id(object: &[u8]) -> Option<String> {
    EncryptedObject::parse(object).ok().map(|object| object.key_id)
}
