//! The key that Secrets are encrypted with on disk, made at the first start. It is kept
//! as an EncryptionConfiguration, so that it is read, taken over when it changes and
//! understood by people in the same way as one that somebody wrote.

use anyhow::{Context, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const BYTES: usize = 32;

/// The keys, the one that seals first. Not to be shown.
#[derive(Clone, PartialEq)]
pub struct Ring(Vec<Key>);

#[derive(Clone, Serialize, Deserialize, PartialEq)]
struct Key {
    name: String,
    secret: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    api_version: String,
    kind: String,
    resources: Vec<Rule>,
}

#[derive(Serialize, Deserialize)]
struct Rule {
    resources: Vec<String>,
    providers: Vec<Provider>,
}

#[derive(Serialize, Deserialize)]
struct Provider {
    aesgcm: Keys,
}

#[derive(Serialize, Deserialize)]
struct Keys {
    keys: Vec<Key>,
}

pub fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("encryption.yaml")
}

/// The file with the key; made if the store has none yet.
pub fn ensure(data_dir: &Path) -> Result<PathBuf> {
    let file = path(data_dir);
    // Where the first versions of ferry kept it, as plain bytes.
    let older = data_dir.join("secrets.key");
    if !file.exists() {
        let ring = match std::fs::read(&older) {
            Ok(bytes) if bytes.len() == BYTES => {
                Ring(vec![Key { name: "key1".into(), secret: STANDARD.encode(bytes) }])
            }
            Ok(bytes) => bail!("{} has {} bytes where a key has {BYTES}", older.display(), bytes.len()),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A new key beside old data would make every Secret unreadable; say so now.
                if data_dir.join("store").exists() {
                    bail!(
                        "{} is missing, and without it the Secrets in the store cannot be read: put it back",
                        file.display()
                    );
                }
                Ring(vec![new_key("key1".into())?])
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", older.display())),
        };
        ring.write(&file)?;
    }
    match std::fs::remove_file(&older) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", older.display()))
        }
        _ => Ok(file),
    }
}

impl Ring {
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        // The parser's words may quote a key.
        let document: Option<Document> = serde_yaml_ng::from_str(&text).ok();
        let keys = document.and_then(|d| d.resources.into_iter().next()?.providers.into_iter().next());
        match keys {
            Some(provider) if !provider.aesgcm.keys.is_empty() => Ok(Self(provider.aesgcm.keys)),
            _ => bail!("{} is not a file of keys as ferry writes it", file.display()),
        }
    }

    /// All of it or nothing, and durable before anything is sealed with it.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = serde_yaml_ng::to_string(&Document {
            api_version: "apiserver.config.k8s.io/v1".into(),
            kind: "EncryptionConfiguration".into(),
            resources: vec![Rule {
                resources: vec!["secrets".into()],
                providers: vec![Provider { aesgcm: Keys { keys: self.0.clone() } }],
            }],
        })?;
        let part = file.with_extension("part");
        let write = || -> std::io::Result<()> {
            let mut out =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
            out.write_all(text.as_bytes())?;
            out.sync_all()?;
            std::fs::rename(&part, file)?;
            // The name must be as durable as the first Secret that needs it.
            std::fs::File::open(file.parent().unwrap_or(Path::new("/")))?.sync_all()
        };
        write().with_context(|| format!("cannot write {}", file.display()))
    }

    /// A new key in front; those that are there stay for reading.
    pub fn with_new_key(mut self) -> Result<Self> {
        let number = |key: &Key| key.name.strip_prefix("key").and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        let next = self.0.iter().map(number).max().unwrap_or(0) + 1;
        self.0.insert(0, new_key(format!("key{next}"))?);
        Ok(self)
    }

    pub fn without_old_keys(mut self) -> Self {
        self.0.truncate(1);
        self
    }

    /// The names, the one that seals first.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|key| key.name.as_str()).collect()
    }
}

fn new_key(name: String) -> Result<Key> {
    let mut bytes = [0; BYTES];
    let mut source = std::fs::File::open("/dev/urandom").context("cannot read random bytes")?;
    std::io::Read::read_exact(&mut source, &mut bytes).context("cannot read random bytes")?;
    Ok(Key { name, secret: STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_never_beside_old_data() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = ensure(dir.path()).expect("made");
        let ring = Ring::read(&file).expect("read");
        assert!(Ring::read(&ensure(dir.path()).expect("there")).expect("read") == ring);
        std::fs::create_dir(dir.path().join("store")).expect("made");
        std::fs::remove_file(&file).expect("removed");
        assert!(ensure(dir.path()).expect_err("refused").to_string().contains("put it back"));
    }

    #[test]
    fn the_key_of_an_older_version_stays_the_key() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("store")).expect("made");
        std::fs::write(dir.path().join("secrets.key"), [7; BYTES]).expect("written");
        let ring = Ring::read(&ensure(dir.path()).expect("taken over")).expect("read");
        assert_eq!((ring.names(), ring.0[0].secret.as_str()), (vec!["key1"], STANDARD.encode([7; BYTES]).as_str()));
        assert!(!dir.path().join("secrets.key").exists());
    }

    #[test]
    fn a_rotation_begins_with_two_keys_and_ends_with_the_new_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = ensure(dir.path()).expect("made");
        let both = Ring::read(&file).expect("read").with_new_key().expect("random bytes");
        assert_eq!(both.names(), ["key2", "key1"]);
        both.write(&file).expect("written");
        let read = Ring::read(&file).expect("read");
        assert!(read == both);
        assert_eq!(read.without_old_keys().names(), ["key2"]);
    }
}
