//! The key that Secrets are encrypted with on disk, made at the first start.

use anyhow::{Context, Result, bail};
use ferry_apiserver::StorageKey;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const BYTES: usize = 32;

/// Reads the key, or makes one if the store has none yet.
pub fn ensure(data_dir: &Path) -> Result<StorageKey> {
    let file = data_dir.join("secrets.key");
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // A new key beside old data would make every Secret unreadable; say so now.
            if data_dir.join("store").exists() {
                bail!(
                    "{} is missing, and without it the Secrets in the store cannot be read: put it back",
                    file.display()
                );
            }
            make(&file)?
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    if bytes.len() != BYTES {
        bail!("{} has {} bytes where a key has {BYTES}", file.display(), bytes.len());
    }
    Ok(StorageKey { name: "key1".into(), bytes })
}

fn make(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = vec![0; BYTES];
    let mut source = std::fs::File::open("/dev/urandom").context("cannot read random bytes")?;
    std::io::Read::read_exact(&mut source, &mut bytes).context("cannot read random bytes")?;
    let part = file.with_extension("part");
    let write = || -> std::io::Result<()> {
        let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        out.write_all(&bytes)?;
        out.sync_all()?;
        std::fs::rename(&part, file)?;
        // The name must be as durable as the first Secret that needs it.
        std::fs::File::open(file.parent().unwrap_or(Path::new("/")))?.sync_all()
    };
    write().with_context(|| format!("cannot write {}", file.display()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_never_beside_old_data() {
        let dir = tempfile::tempdir().expect("a directory");
        let key = ensure(dir.path()).expect("made").bytes;
        assert_eq!(ensure(dir.path()).expect("read").bytes, key);
        std::fs::create_dir(dir.path().join("store")).expect("made");
        std::fs::remove_file(dir.path().join("secrets.key")).expect("removed");
        assert!(ensure(dir.path()).err().expect("refused").to_string().contains("put it back"));
    }
}
