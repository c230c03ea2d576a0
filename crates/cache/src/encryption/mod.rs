//! What stands between the registry and the disk: objects of some kinds are sealed before
//! the store sees them and opened as they enter the cache.
//!
//! ```text
//! files, keys ──> config.rs, validation.rs ──> rules.rs ──> provider.rs ──> cipher.rs
//!                                                               └─────────> kms/ ── plugin
//! ```
//!
//! The rules in force are swapped whole when a file changes. The first provider of a
//! kind's rule seals, all of them open, and what was sealed by another than the first is
//! stale: the next write of it, even one that changes nothing, seals it anew, and
//! the server's `reseal.rs` does that for all of them.

mod cipher;
mod config;
mod figures;
pub mod kms;
pub mod provider;
mod rules;
mod validation;

pub use rules::Kind;

use arc_swap::ArcSwap;
use config::EncryptionConfiguration;
use ferry_store::Entry;
use figures::{EncryptionFigures, Way};
use parking_lot::Mutex;
use provider::Provider;
use rules::Rules;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// How long new rules may take to find their KMS plugins well before they are given up
/// (upstream's minKMSPluginCloseGracePeriod).
const HEALTHY_WITHIN: Duration = Duration::from_secs(10);

/// A named AES-256 key.
#[derive(Clone)]
pub struct StorageKey {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Why the bytes in the store are not those of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to transform key {key:?}: {why}")]
pub struct Unreadable {
    pub key: String,
    pub why: String,
}

pub struct Encryption {
    files: Vec<PathBuf>,
    keys: Vec<StorageKey>,
    current: ArcSwap<InForce>,
    /// Rules that were in force before; a write under way may hold them still.
    earlier: Mutex<Vec<Weak<InForce>>>,
    /// Files are taken over one after another, so that the last one read is the last in force.
    reloading: tokio::sync::Mutex<()>,
    /// What could not be opened may open now.
    try_again: Notify,
    pub figures: EncryptionFigures,
}

/// One set of rules, and the digest of the files they are from.
struct InForce {
    rules: Rules,
    digest: String,
}

/// Keeps the rules that sealed something from being taken for gone.
pub struct Held(#[expect(dead_code, reason = "it is there to be dropped")] Arc<InForce>);

impl Encryption {
    /// Reads the files and asks their KMS plugins once. A plugin that is not there yet is
    /// no reason not to start; a file that is wrong is.
    pub async fn start(files: Vec<PathBuf>, keys: Vec<StorageKey>) -> Result<Arc<Self>, String> {
        let in_force = load(&files, &keys)?;
        let this = Arc::new(Self {
            files,
            keys,
            current: ArcSwap::from_pointee(in_force),
            earlier: Mutex::default(),
            reloading: tokio::sync::Mutex::default(),
            try_again: Notify::new(),
            figures: EncryptionFigures::default(),
        });
        let in_force = this.current.load_full();
        futures_util::future::join_all(in_force.rules.kms().iter().map(|kms| kms.probe())).await;
        this.follow_plugins(&in_force);
        Ok(this)
    }

    /// The files that are to be watched.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Takes over changed files, once every KMS plugin that they name is well.
    pub async fn reload(self: &Arc<Self>) -> Result<(), String> {
        let _alone = self.reloading.lock().await;
        let new = Arc::new(load(&self.files, &self.keys)?);
        if new.digest == self.current.load().digest {
            return Ok(());
        }
        let well = async {
            for kms in new.rules.kms() {
                while !kms.probe().await && kms.health().is_err() {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        };
        if tokio::time::timeout(HEALTHY_WITHIN, well).await.is_err() {
            let why = new.rules.kms().iter().find_map(|kms| kms.health().err()).unwrap_or_default();
            return Err(format!(
                "error while loading file: health check for new transformers failed, polling error context deadline exceeded: {why}"
            ));
        }
        let old = self.current.swap(new.clone());
        self.earlier.lock().push(Arc::downgrade(&old));
        drop(old);
        self.follow_plugins(&new);
        self.try_again.notify_one();
        Ok(())
    }

    /// Asks the plugins from time to time, as long as their rules are in force.
    fn follow_plugins(self: &Arc<Self>, in_force: &Arc<InForce>) {
        for kms in in_force.rules.kms() {
            let (kms, this) = (Arc::downgrade(kms), Arc::downgrade(self));
            tokio::spawn(async move {
                loop {
                    let Some(pause) = kms.upgrade().map(|kms| kms.pause()) else { return };
                    tokio::time::sleep(pause).await;
                    let (Some(kms), Some(this)) = (kms.upgrade(), this.upgrade()) else { return };
                    if kms.probe().await {
                        this.try_again.notify_one();
                    }
                }
            });
        }
    }

    /// Comes back when what could not be opened may open now: the rules have changed, a KMS
    /// is well again, or somebody asked for such an object.
    pub async fn worth_trying_again(&self) {
        self.try_again.notified().await;
    }

    pub fn ask_for_another_try(&self) {
        self.try_again.notify_one();
    }

    /// The bytes as they go to disk; `None` where they go as they are. The second part is
    /// held until they are there.
    pub fn seal(&self, kind: Kind<'_>, key: &str, plain: &[u8]) -> Result<(Option<Vec<u8>>, Held), Unreadable> {
        let in_force = self.current.load_full();
        let began = Instant::now();
        let sealed = in_force.rules.seal(kind, key, plain);
        match &sealed {
            Ok(None) => {}
            Ok(Some(sealed)) => {
                let prefix = provider::prefix(sealed);
                self.figures.transformed(kind, Way::ToStorage, &prefix, false, began.elapsed());
            }
            Err(_) => self.figures.transformed(kind, Way::ToStorage, "unknown", true, began.elapsed()),
        }
        let sealed = sealed.map_err(|why| Unreadable { key: key.to_owned(), why })?;
        Ok((sealed, Held(in_force)))
    }

    /// The object's bytes. Values that a KMS sealed must have been prepared.
    pub fn open<'a>(&self, kind: Kind<'_>, key: &str, sealed: &'a [u8]) -> Result<Cow<'a, [u8]>, Unreadable> {
        let began = provider::is_sealed(sealed).then(Instant::now);
        let open = self.current.load().rules.open(kind, key, sealed);
        if let Some(began) = began {
            let prefix = provider::prefix(sealed);
            self.figures.transformed(kind, Way::FromStorage, &prefix, open.is_err(), began.elapsed());
        }
        open.map_err(|why| Unreadable { key: key.to_owned(), why })
    }

    /// Gets from the KMSs what opening these values of one kind needs.
    pub async fn prepare<'a>(&self, kind: Kind<'_>, values: impl Iterator<Item = &'a [u8]> + Clone) {
        // Almost always there is none, and this must cost nothing.
        if self.current.load().rules.kms().is_empty() {
            return;
        }
        let in_force = self.current.load_full();
        for kms in in_force.rules.kms_of(kind) {
            kms.prepare(values.clone()).await;
        }
    }

    pub async fn prepare_entry(&self, kind: Kind<'_>, entry: &Entry) {
        self.prepare(kind, std::iter::once(&*entry.value)).await;
    }

    /// Whether a rule is about this kind.
    pub fn covers(&self, kind: Kind<'_>) -> bool {
        self.current.load().rules.covers(kind)
    }

    pub fn is_stale(&self, kind: Kind<'_>, sealed: &[u8]) -> bool {
        self.current.load().rules.is_stale(kind, sealed)
    }

    /// For the health check `kms-providers`; `None` where there is nothing to check.
    pub fn kms_health(&self) -> Option<Result<(), String>> {
        let in_force = self.current.load();
        if in_force.rules.kms().is_empty() {
            return None;
        }
        let unwell = |kms: &Arc<kms::Kms>| kms.health().err().map(|why| format!("{}: {why}", kms.name()));
        Some(in_force.rules.kms().iter().find_map(unwell).map_or(Ok(()), Err))
    }

    /// The digest of the files in force, and whether no write under way was sealed by
    /// rules that were in force before them.
    pub fn settled(&self) -> (String, bool) {
        let digest = self.current.load().digest.clone();
        let mut earlier = self.earlier.lock();
        earlier.retain(|rules| rules.strong_count() > 0);
        (digest, earlier.is_empty())
    }
}

fn load(files: &[PathBuf], keys: &[StorageKey]) -> Result<InForce, String> {
    let mut rules = Rules::default();
    let mut texts = Vec::new();
    for file in files {
        let told = |why: String| format!("{}: {why}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| {
            told(format!("error while loading file: error reading encryption provider configuration file: {error}"))
        })?;
        rules.add(&EncryptionConfiguration::load(&text).map_err(told)?).map_err(told)?;
        texts.push(text);
    }
    if !keys.is_empty() {
        let keys = keys.iter().map(|key| (key.name.as_str(), key.bytes.as_slice()));
        rules.add_provider("secrets", Provider::aes_gcm(keys)?);
    }
    Ok(InForce { rules, digest: digest(texts.iter().map(String::as_str)) })
}

/// Digest of the files in force: `reseal.rs` reports it, so that their writer can wait for them.
pub fn digest<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
