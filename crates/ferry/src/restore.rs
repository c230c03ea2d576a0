//! `ferry restore`: a cluster's data from a backup. Everything is unpacked and proven beside the
//! data directory's present content before any of that is touched, and then changes places with
//! it by renames:
//!
//! ```text
//! 1  unpack into restore.part, verify, raise the revision     a kill leaves the old data
//! 2  rename restore.part to restore.ready                     from here on it is decided
//! 3  for each part: old one away, new one in                  a kill is taken up by the next
//! 4  remove restore.ready                                     `ferry up` or `ferry restore`
//! ```

use crate::archive::{self, STORE};
use crate::cluster::Cluster;
use crate::progress::say;
use crate::{Place, daemon};
use anyhow::{Context, Result, bail};
use clap::Args;
use ferry_store::sqlite::backup;
use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The parts of a data directory that a backup brings.
const PARTS: [&str; 6] = ["store", "pki", "registries", "registries.yaml", "encryption.yaml", "cluster.json"];

/// In `restore.ready`: the name of the directory that the old parts go to.
const OLD_NAME: &str = "replaced-by";

/// Bring back a cluster's data from a backup; `ferry up` then starts it
///
/// The backup is verified before anything is replaced. Objects are as they were when it was made;
/// what was written later is gone. Versions of objects start far above any that clients have
/// seen, so that their watches end and they list anew.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct RestoreArgs {
    #[command(flatten)]
    place: Place,
    /// The file that `ferry backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace the data that is there; it is kept beside the new one
    #[arg(long)]
    replace: bool,
}

pub async fn run(args: RestoreArgs) -> Result<()> {
    tokio::task::spawn_blocking(move || restore(&args)).await?
}

fn restore(args: &RestoreArgs) -> Result<()> {
    let data_dir = &args.place.data_dir;
    let present = match Cluster::load(&args.place) {
        // Settings that cannot be read are to be replaced; the store's lock still guards the data.
        Err(_) if args.replace => None,
        loaded => loaded?,
    };
    if let Some(cluster) = present
        && let Some(pid) = daemon::running_pid(&cluster)?
    {
        bail!("cluster {:?} runs as process {pid}; stop it first with `ferry down{}`", cluster.name, cluster.flags());
    }
    finish_pending(data_dir)?;
    let old: Vec<&str> = PARTS.into_iter().filter(|part| data_dir.join(part).exists()).collect();
    if !old.is_empty() && !args.replace {
        bail!("{} has the data of a cluster ({}); --replace moves it aside", data_dir.display(), old.join(", "));
    }
    let acknowledged = match backup::acknowledged(&data_dir.join("store")) {
        Ok(revision) => revision,
        Err(error @ ferry_store::Error::Locked { .. }) => return Err(error).context("the store is in use"),
        // The present store may be as broken as it likes: that is what backups are for.
        Err(_) => 0,
    };
    let (manifest, revision) = stage(&args.file, data_dir, acknowledged)?;
    finish_pending(data_dir)?;
    say(&format!(
        "restored  cluster {:?} as of {}, revision {}",
        manifest.cluster, manifest.created_at, manifest.revision
    ));
    say(&format!("versions  of objects go on from {revision}"));
    if !old.is_empty() {
        say(&format!(
            "kept      the data that was here is in {}/before-restore-…; remove it when it is not needed",
            data_dir.display()
        ));
    }
    let flags = Cluster::load(&args.place)?.map(|cluster| cluster.flags()).unwrap_or_default();
    say(&format!("`ferry up -d{flags}` starts it"));
    Ok(())
}

/// Unpacks and proves the backup; when this returns, the restore is decided.
fn stage(file: &Path, data_dir: &Path, acknowledged: u64) -> Result<(archive::Manifest, u64)> {
    let (part, ready) = (data_dir.join("restore.part"), data_dir.join("restore.ready"));
    remove_all(&part)?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&part)
        .with_context(|| format!("cannot make {}", part.display()))?;
    let staged = (|| {
        let manifest = archive::read(file, Some(&part))?;
        let contents = backup::verify(&part.join(STORE)).context("the store in the backup is damaged")?;
        if contents.revision != manifest.revision {
            bail!("the store in the backup is at revision {}, not {}", contents.revision, manifest.revision);
        }
        for damaged in &contents.damaged {
            say(&format!("damaged   {} at revision {}, since before the backup", damaged.key, damaged.revision));
        }
        let revision = backup::adopt(&part.join("store"), acknowledged).context("cannot prepare the store")?;
        let old_name = format!("before-restore-{}", jiff::Timestamp::now().as_second());
        std::fs::write(part.join(OLD_NAME), old_name)?;
        sync_tree(&part)?;
        Ok((manifest, revision))
    })();
    if staged.is_err() {
        remove_all(&part)?;
    } else {
        std::fs::rename(&part, &ready).context("cannot finish the unpacking")?;
        sync(data_dir)?;
    }
    staged
}

/// Completes a restore that was decided, if there is one. Each step is a rename, and a step that
/// was taken is not taken again.
pub fn finish_pending(data_dir: &Path) -> Result<()> {
    let ready = data_dir.join("restore.ready");
    let old = match std::fs::read_to_string(ready.join(OLD_NAME)) {
        Ok(name) => data_dir.join(name),
        // Either there is no restore, or its last step was the removal of this file.
        Err(error) if error.kind() == ErrorKind::NotFound => return remove_all(&ready),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", ready.display())),
    };
    for part in PARTS {
        let (new, present) = (ready.join(part), data_dir.join(part));
        if !new.exists() {
            continue;
        }
        if present.exists() {
            DirBuilder::new().recursive(true).mode(0o700).create(&old)?;
            std::fs::rename(&present, old.join(part))
                .with_context(|| format!("cannot move {} away", present.display()))?;
        }
        std::fs::rename(&new, &present).with_context(|| format!("cannot bring in {}", present.display()))?;
    }
    sync(data_dir)?;
    remove_all(&ready)
}

fn remove_all(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).with_context(|| format!("cannot sync {}", path.display()))
}

fn sync_tree(path: &Path) -> Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            sync_tree(&entry?.path())?;
        }
    }
    sync(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(directory: &Path, content: &str) {
        std::fs::create_dir_all(directory.join("store")).expect("made");
        std::fs::write(directory.join("store/state.db"), content).expect("written");
        std::fs::write(directory.join("cluster.json"), content).expect("written");
    }

    /// A restore that was decided, and of which `done` steps were taken before a kill.
    fn killed_after(done: usize) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        parts(dir.path(), "old");
        let ready = dir.path().join("restore.ready");
        parts(&ready, "new");
        std::fs::write(ready.join(OLD_NAME), "before").expect("written");
        let old = dir.path().join("before");
        let steps: [&dyn Fn() -> std::io::Result<()>; 5] = [
            &|| std::fs::create_dir(&old),
            &|| std::fs::rename(dir.path().join("store"), old.join("store")),
            &|| std::fs::rename(ready.join("store"), dir.path().join("store")),
            &|| std::fs::rename(dir.path().join("cluster.json"), old.join("cluster.json")),
            &|| std::fs::rename(ready.join("cluster.json"), dir.path().join("cluster.json")),
        ];
        for step in &steps[..done] {
            step().expect("a step");
        }
        dir
    }

    #[test]
    fn a_restore_that_was_killed_is_completed() {
        for done in 0..=5 {
            let dir = killed_after(done);
            for _ in 0..2 {
                finish_pending(dir.path()).expect("finished");
                for file in ["store/state.db", "cluster.json"] {
                    assert_eq!(
                        std::fs::read_to_string(dir.path().join(file)).expect(file),
                        "new",
                        "after {done} steps"
                    );
                    let old = dir.path().join("before").join(file);
                    assert_eq!(std::fs::read_to_string(old).expect(file), "old", "after {done} steps");
                }
                assert!(!dir.path().join("restore.ready").exists());
            }
        }
    }

    #[test]
    fn a_restore_that_was_not_decided_changes_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        parts(dir.path(), "old");
        parts(&dir.path().join("restore.part"), "half");
        finish_pending(dir.path()).expect("nothing to do");
        assert_eq!(std::fs::read_to_string(dir.path().join("cluster.json")).expect("there"), "old");
    }
}
