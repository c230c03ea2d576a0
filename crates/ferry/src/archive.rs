//! The file that `ferry backup` writes and `ferry restore` reads: a tar whose first entry is a
//! manifest with the size and SHA-256 of every other one. Nothing is believed that the manifest
//! does not name, and nothing that it names may be missing.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

const MANIFEST: &str = "manifest.json";
/// The store's place in the archive and in the data directory.
pub const STORE: &str = "store/state.db";
const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    pub format: u32,
    pub cluster: String,
    pub created_at: String,
    /// The one revision that the store's copy shows.
    pub revision: u64,
    /// By path below the data directory.
    pub files: BTreeMap<PathBuf, FileEntry>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileEntry {
    pub size: u64,
    pub sha256: String,
}

/// Writes an archive of the files (source by path in the archive) and makes it durable.
pub fn write(target: &Path, header: Manifest, sources: &BTreeMap<PathBuf, PathBuf>) -> Result<Manifest> {
    let mut manifest = header;
    for (path, source) in sources {
        let mut file = File::open(source).with_context(|| format!("cannot read {}", source.display()))?;
        manifest.files.insert(path.clone(), digest(&mut file, &mut std::io::sink())?);
    }
    let file = private().open(target).with_context(|| format!("cannot make {}", target.display()))?;
    let mut archive = tar::Builder::new(file);
    append(&mut archive, Path::new(MANIFEST), &serde_json::to_vec_pretty(&manifest)?)
        .and_then(|()| {
            sources.iter().try_for_each(|(path, source)| {
                let mut file = File::open(source)?;
                let mut header = header_of(file.metadata()?.len());
                archive.append_data(&mut header, path, &mut file)
            })
        })
        .and_then(|()| archive.into_inner()?.sync_all())
        .with_context(|| format!("cannot write {}", target.display()))?;
    Ok(manifest)
}

/// Reads an archive whole and compares it with its manifest. With a directory, its files are
/// written there, durably and for their owner alone.
pub fn read(archive: &Path, into: Option<&Path>) -> Result<Manifest> {
    let file = File::open(archive).with_context(|| format!("cannot read {}", archive.display()))?;
    read_entries(file, into).with_context(|| format!("{} is no sound backup", archive.display()))
}

fn read_entries(file: File, into: Option<&Path>) -> Result<Manifest> {
    let mut archive = tar::Archive::new(file);
    let mut entries = archive.entries()?;
    let mut first = entries.next().context("it is empty")??;
    if first.path()? != Path::new(MANIFEST) {
        bail!("its first entry is not {MANIFEST}");
    }
    let mut text = Vec::new();
    first.read_to_end(&mut text)?;
    let manifest: Manifest = serde_json::from_slice(&text).context(MANIFEST)?;
    if manifest.format != FORMAT {
        bail!("its format is {} and this version of ferry knows {FORMAT}", manifest.format);
    }
    let mut missing = manifest.files.clone();
    for entry in entries {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        let Some(expected) = missing.remove(&path) else { bail!("its manifest does not name {}", path.display()) };
        let found = match into {
            Some(directory) => digest(&mut entry, &mut create_below(directory, &path)?)?,
            None => digest(&mut entry, &mut std::io::sink())?,
        };
        if found != expected {
            bail!("{} is not what was backed up: its checksum differs", path.display());
        }
    }
    match missing.keys().next() {
        Some(path) => bail!("{} is missing", path.display()),
        None => Ok(manifest),
    }
}

pub fn header(cluster: &str, revision: u64) -> Manifest {
    let created_at = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Manifest { format: FORMAT, cluster: cluster.to_owned(), created_at, revision, files: BTreeMap::new() }
}

fn private() -> std::fs::OpenOptions {
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    options
}

fn header_of(size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o600);
    header.set_size(size);
    header
}

fn append(archive: &mut tar::Builder<File>, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    archive.append_data(&mut header_of(bytes.len() as u64), path, bytes)
}

/// A file that syncs itself once it is written; see [`digest`].
trait Sink: Write {
    fn finish(&mut self) -> std::io::Result<()>;
}

impl Sink for std::io::Sink {
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Sink for File {
    fn finish(&mut self) -> std::io::Result<()> {
        self.sync_all()
    }
}

/// Copies and hashes in one go.
fn digest(from: &mut impl Read, to: &mut impl Sink) -> std::io::Result<FileEntry> {
    let (mut hash, mut size) = (Sha256::new(), 0);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
        size += count as u64;
    }
    to.finish()?;
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(FileEntry { size, sha256 })
}

/// An archive is input from outside: no path of it may lead out of the directory.
fn create_below(directory: &Path, path: &Path) -> Result<File> {
    if !path.components().all(|part| matches!(part, Component::Normal(_))) || path.as_os_str().is_empty() {
        bail!("the path {} leads elsewhere", path.display());
    }
    let target = directory.join(path);
    let parent = target.parent().context("a file without a directory")?;
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    private().create_new(true).open(&target).with_context(|| format!("cannot make {}", target.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(directory: &Path) -> (PathBuf, Manifest) {
        let source = directory.join("source");
        std::fs::write(&source, "the content of a file").expect("written");
        let sources = BTreeMap::from([(PathBuf::from("pki/ca.crt"), source.clone()), (STORE.into(), source)]);
        let archive = directory.join("backup");
        let manifest = write(&archive, header("ferry", 7), &sources).expect("written");
        (archive, manifest)
    }

    #[test]
    fn an_archive_comes_back_as_it_was_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let (archive, manifest) = sample(dir.path());
        assert_eq!(read(&archive, None).expect("sound"), manifest);
        let out = dir.path().join("out");
        assert_eq!(read(&archive, Some(&out)).expect("sound").files.len(), 2);
        assert_eq!(std::fs::read_to_string(out.join("pki/ca.crt")).expect("there"), "the content of a file");
        let mode = std::os::unix::fs::PermissionsExt::mode(&archive.metadata().expect("there").permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_changed_or_cut_archive_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let (archive, _) = sample(dir.path());
        let whole = std::fs::read(&archive).expect("read");
        let needle = b"the content of a file";
        let place = whole.windows(needle.len()).position(|window| window == needle).expect("there");
        let mut flipped = whole.clone();
        flipped[place] ^= 1;
        std::fs::write(&archive, &flipped).expect("written");
        let error = format!("{:#}", read(&archive, None).expect_err("refused"));
        assert!(error.contains("checksum differs"), "{error}");
        for length in [0, 100, 1000, place, place + 100] {
            std::fs::write(&archive, &whole[..length]).expect("written");
            assert!(read(&archive, None).is_err(), "{length} bytes are taken for all");
        }
    }

    #[test]
    fn no_path_leads_out_of_the_directory() {
        let dir = tempfile::tempdir().expect("a directory");
        for path in ["../x", "/etc/x", "a/../../x", ""] {
            assert!(create_below(&dir.path().join("in"), Path::new(path)).is_err(), "{path}");
        }
    }
}
