//! The clusters of this machine, one file each: which number, name and directories belong
//! to whom. A number and a name stay reserved for as long as their cluster's data is there,
//! running or not, because the bridge, the firewall table, the cgroup and the context in the
//! kubeconfig are named after them. `cluster.rs` reserves, `teardown.rs` looks before it removes.

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const DIRECTORY: &str = "/var/lib/ferry-clusters";
const LOCK: &str = "lock";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    pub number: u8,
    pub name: String,
    pub data_dir: PathBuf,
    pub run_dir: PathBuf,
}

/// The clusters of this machine whose data is there, but for the one in `data_dir`.
pub fn others(data_dir: &Path) -> Result<Vec<Registration>> {
    others_in(Path::new(DIRECTORY), data_dir)
}

/// Fails if another cluster of this machine has the number, the name or a directory.
pub fn check(wanted: &Registration) -> Result<()> {
    check_free(wanted, &others(&wanted.data_dir)?)
}

fn others_in(directory: &Path, data_dir: &Path) -> Result<Vec<Registration>> {
    let mut registered = list(directory)?;
    registered.retain(|other| !is_same(&other.data_dir, data_dir) && has_data(&other.data_dir));
    Ok(registered)
}

/// The registry, held against every other ferry for as long as this is there.
pub struct ClusterRegistry {
    directory: PathBuf,
    _lock: Flock<File>,
}

impl ClusterRegistry {
    pub fn open() -> Result<Self> {
        Self::open_at(Path::new(DIRECTORY))
    }

    fn open_at(directory: &Path) -> Result<Self> {
        let path = directory.join(LOCK);
        loop {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)
                .with_context(|| format!("cannot make {}", directory.display()))?;
            let lock = match File::options().create(true).truncate(false).write(true).open(&path) {
                Ok(file) => Flock::lock(file, FlockArg::LockExclusive)
                    .map_err(|(_, error)| error)
                    .with_context(|| format!("cannot lock {}", path.display()))?,
                // The last cluster of the machine has just gone, and the directory with it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error).with_context(|| format!("cannot open {}", path.display())),
            };
            // A process that waited for the lock may hold a file that has been removed meanwhile.
            if path.exists() {
                return Ok(Self { directory: directory.to_owned(), _lock: lock });
            }
        }
    }

    /// Reserves the number, the name and the directories, or names the cluster that has one
    /// of them.
    pub fn register(&self, wanted: &Registration) -> Result<()> {
        check_free(wanted, &others_in(&self.directory, &wanted.data_dir)?)?;
        self.remove(&wanted.data_dir)?;
        let path = self.directory.join(format!("{}.json", wanted.number));
        std::fs::write(&path, serde_json::to_vec(wanted)?).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Gives back the number of the cluster in `data_dir`.
    pub fn remove(&self, data_dir: &Path) -> Result<()> {
        for registration in list(&self.directory)?.iter().filter(|other| is_same(&other.data_dir, data_dir)) {
            let path = self.directory.join(format!("{}.json", registration.number));
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    /// Removes the directory with the last cluster of the machine.
    pub fn tidy(self) -> Result<()> {
        if !list(&self.directory)?.iter().any(|registration| has_data(&registration.data_dir)) {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
        Ok(())
    }
}

fn list(directory: &Path) -> Result<Vec<Registration>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        // Those who may not look are told so by the verbs that need root.
        Err(error) if [ErrorKind::NotFound, ErrorKind::PermissionDenied].contains(&error.kind()) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", directory.display())),
    };
    let mut registered = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()).filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let text = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        // A file that a full disk has cut short reserves nothing; its cluster writes it anew.
        match serde_json::from_slice::<Registration>(&text) {
            Ok(registration) => registered.push(registration),
            Err(error) => tracing::warn!(path = %path.display(), %error, "a registration cannot be read"),
        }
    }
    registered.sort_by_key(|registration| registration.number);
    Ok(registered)
}

fn has_data(data_dir: &Path) -> bool {
    data_dir.join("cluster.json").exists()
}

/// Do two paths lead to one place, links and relative parts aside?
pub fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        std::fs::canonicalize(&absolute).unwrap_or(absolute)
    };
    one == other || whole(one) == whole(other)
}

fn check_free(wanted: &Registration, others: &[Registration]) -> Result<()> {
    for other in others {
        let owner = other.data_dir.display();
        if other.name == wanted.name {
            bail!("--name: {:?} is the name of the cluster in {owner}", wanted.name);
        }
        if is_same(&other.run_dir, &wanted.run_dir) {
            bail!("--run-dir: {} is that of the cluster in {owner}", wanted.run_dir.display());
        }
        if other.number == wanted.number {
            bail!(
                "the cluster in {} has the number {} of the cluster in {owner}; `ferry uninstall --data-dir {owner}` frees it",
                wanted.data_dir.display(),
                wanted.number,
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine {
        dir: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            Self { dir: tempfile::tempdir().expect("a directory") }
        }

        fn directory(&self) -> PathBuf {
            self.dir.path().join("registry")
        }

        fn registry(&self) -> ClusterRegistry {
            ClusterRegistry::open_at(&self.directory()).expect("opened")
        }

        fn cluster(&self, place: &str, number: u8) -> Registration {
            let dir = self.dir.path().join(place);
            std::fs::create_dir_all(dir.join("data")).expect("made");
            std::fs::write(dir.join("data/cluster.json"), "{}").expect("written");
            Registration {
                number,
                name: format!("ferry{number}"),
                data_dir: dir.join("data"),
                run_dir: dir.join("run"),
            }
        }
    }

    #[test]
    fn the_number_of_a_stopped_cluster_stays_its_own_until_its_data_is_gone() {
        let machine = Machine::new();
        let (a, b) = (machine.cluster("a", 1), machine.cluster("b", 1));
        machine.registry().register(&a).expect("free");
        let error = machine.registry().register(&b).expect_err("taken").to_string();
        assert!(error.contains("--name") && error.contains(&*a.data_dir.to_string_lossy()), "{error}");
        assert_eq!(others_in(&machine.directory(), &b.data_dir).expect("listed"), std::slice::from_ref(&a));
        std::fs::remove_dir_all(&a.data_dir).expect("removed");
        machine.registry().register(&b).expect("free again");
        assert_eq!(list(&machine.directory()).expect("listed"), [b]);
    }

    #[test]
    fn a_name_a_run_directory_and_a_number_belong_to_one_cluster() {
        let machine = Machine::new();
        let a = machine.cluster("a", 1);
        machine.registry().register(&a).expect("free");
        machine.registry().register(&a).expect("its own");
        let b = machine.cluster("b", 2);
        for (wanted, why) in [
            (Registration { name: a.name.clone(), ..b.clone() }, "--name"),
            (Registration { run_dir: a.run_dir.clone(), ..b.clone() }, "--run-dir"),
            (Registration { number: 1, ..b.clone() }, "the number 1"),
        ] {
            let error = machine.registry().register(&wanted).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
        machine.registry().register(&b).expect("free");
    }

    #[test]
    fn the_last_cluster_takes_the_registry_with_it() {
        let machine = Machine::new();
        let (a, b) = (machine.cluster("a", 1), machine.cluster("b", 2));
        for cluster in [&a, &b] {
            machine.registry().register(cluster).expect("free");
        }
        machine.registry().remove(&a.data_dir).expect("removed");
        machine.registry().tidy().expect("tidied");
        assert_eq!(list(&machine.directory()).expect("listed"), std::slice::from_ref(&b));
        machine.registry().remove(&b.data_dir).expect("removed");
        machine.registry().tidy().expect("tidied");
        assert!(!machine.directory().exists());
    }

    #[test]
    fn a_directory_behind_a_link_is_the_same_place() {
        let machine = Machine::new();
        let a = machine.cluster("a", 1);
        std::os::unix::fs::symlink(machine.dir.path().join("a"), machine.dir.path().join("link")).expect("linked");
        assert!(is_same(&a.data_dir, &machine.dir.path().join("link/data")));
        assert!(!is_same(&a.data_dir, &a.run_dir));
    }
}
