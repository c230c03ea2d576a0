//! `ferry backup`: everything that brings a cluster back, in one file, while it runs. The store
//! is copied as of one revision and proven; the file appears under its name only when it is
//! whole, durable and has been read back.

use crate::archive::{self, STORE};
use crate::cluster::Cluster;
use crate::progress::say;
use crate::{Place, secret_key};
use anyhow::{Context, Result, bail};
use clap::Args;
use ferry_store::sqlite::backup::{self, Contents};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Write everything that brings this cluster back into FILE, while it runs or not
///
/// FILE holds the store with every object as of one revision, the keys that Secrets are
/// encrypted with, the cluster's certificates and keys, its settings, and the configuration of
/// registries. Whoever has it can read every Secret and act as the cluster's administrator: it is
/// made readable for its owner alone. Volumes, images, logs, and files that flags of `ferry up`
/// point to are not in it.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct BackupArgs {
    #[command(flatten)]
    place: Place,
    /// The file to write; one that is there is replaced when the new one is whole
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub async fn run(args: BackupArgs) -> Result<()> {
    let place = &args.place;
    let Some(cluster) = Cluster::load(place)? else {
        bail!("there is no cluster in {}; `ferry up` makes one", place.data_dir.display());
    };
    let file = args.file.clone();
    let own = cluster.clone();
    let (manifest, contents) = tokio::task::spawn_blocking(move || make(&own, &file)).await??;
    for damaged in &contents.damaged {
        say(&format!("damaged   {} at revision {}, as it is in the store", damaged.key, damaged.revision));
    }
    if let Some(config) = &cluster.access.encryption_provider_config {
        say(&format!("note      the keys of {} are not in the backup; keep that file too", config.display()));
    }
    let size: u64 = manifest.files.values().map(|file| file.size).sum();
    say(&format!("backup    {} of cluster {:?} at revision {}", args.file.display(), cluster.name, manifest.revision));
    say(&format!(
        "verified  {} files with {} KB, {} rows of the store",
        manifest.files.len(),
        size / 1024,
        contents.rows
    ));
    Ok(())
}

fn make(cluster: &Cluster, target: &Path) -> Result<(archive::Manifest, Contents)> {
    // A rotation of keys in between could leave the copy with values that its keys do not open.
    let _no_rotation = hold_keys(cluster)?;
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let name = target.file_name().with_context(|| format!("{} names no file", target.display()))?.to_string_lossy();
    let (part, copy) = (directory.join(format!("{name}.part")), directory.join(format!("{name}.part.db")));
    let made = (|| {
        let contents = backup::copy(&cluster.data_dir.join("store"), &copy).context("cannot copy the store")?;
        let mut sources = BTreeMap::from([(PathBuf::from(STORE), copy.clone())]);
        for path in files_of(&cluster.data_dir)? {
            sources.insert(path.clone(), cluster.data_dir.join(path));
        }
        let manifest = archive::write(&part, archive::header(&cluster.name, contents.revision), &sources)?;
        if archive::read(&part, None)? != manifest {
            bail!("{} does not read back as it was written", part.display());
        }
        std::fs::rename(&part, target).with_context(|| format!("cannot make {}", target.display()))?;
        File::open(directory).and_then(|dir| dir.sync_all()).context("cannot sync the backup's directory")?;
        Ok((manifest, contents))
    })();
    for leftover in [&part, &copy] {
        let _ = std::fs::remove_file(leftover);
    }
    made
}

/// Held while the backup is made, where `ferry secrets rotate` looks for it.
fn hold_keys(cluster: &Cluster) -> Result<Option<File>> {
    if !cluster.run_dir.exists() {
        return Ok(None);
    }
    let lock = File::create(cluster.run_dir.join("secrets.lock")).context("cannot make the lock file")?;
    if lock.try_lock().is_err() {
        bail!("a `ferry secrets rotate` is under way; make the backup when it is done");
    }
    Ok(Some(lock))
}

/// The files of a data directory that a backup holds besides the store, by their paths in it.
fn files_of(data_dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in ["cluster.json", "encryption.yaml", "pki", "registries", "registries.yaml"] {
        gather(data_dir, Path::new(path), &mut files).with_context(|| format!("cannot read {path}"))?;
    }
    if !files.contains(&PathBuf::from("encryption.yaml")) {
        bail!("{} is missing, and a backup without it has no readable Secret", secret_key::path(data_dir).display());
    }
    Ok(files)
}

fn gather(data_dir: &Path, path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let full = data_dir.join(path);
    let metadata = match std::fs::symlink_metadata(&full) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if metadata.is_file() {
        files.push(path.to_owned());
    } else if metadata.is_dir() {
        for entry in std::fs::read_dir(&full)? {
            gather(data_dir, &path.join(entry?.file_name()), files)?;
        }
    }
    Ok(())
}
