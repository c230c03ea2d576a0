//! The user namespaces of pods with hostUsers: false: a range of host ids for each, which no other
//! pod has. A pod keeps its range for life, also across restarts of the kubelet: it stands in a
//! file of the pod's directory, in upstream's form (pkg/kubelet/userns). `sync` asks before it
//! makes a sandbox.

use crate::cri::v1::{IdMapping, NamespaceMode, UserNamespace};
use crate::volume::pod_directory;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A range is a multiple of this, so that every id of 16 bits has its place in it.
const UNIT: u32 = 65_536;
const FILE: &str = "userns";

pub struct UserNamespaces {
    root: PathBuf,
    ids_per_pod: u32,
    /// How many ranges there are. The first of all is the host's own.
    ranges: u32,
    /// The first host id of each pod.
    used: Mutex<BTreeMap<String, u32>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mappings {
    uid_mappings: Vec<Mapping>,
    gid_mappings: Vec<Mapping>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Mapping {
    host_id: u32,
    container_id: u32,
    length: u32,
}

impl UserNamespaces {
    /// Reads what pods have. A file that cannot be read is an error: its range could be given twice.
    pub fn open(root: &Path, max_pods: u32, ids_per_pod: u32) -> io::Result<Self> {
        if ids_per_pod == 0 || !ids_per_pod.is_multiple_of(UNIT) {
            let why = format!("userNamespaces.idsPerPod: {ids_per_pod} is not a multiple of {UNIT}");
            return Err(io::Error::other(why));
        }
        let own = Self { root: root.to_owned(), ids_per_pod, ranges: max_pods, used: Mutex::default() };
        let entries = match std::fs::read_dir(pod_directory(root, "")) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(own),
            Err(error) => return Err(error),
        };
        for entry in entries.flatten() {
            let path = entry.path().join(FILE);
            let text = match std::fs::read(&path) {
                Ok(text) => text,
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            let first = own.parse(&text).map_err(|why| io::Error::other(format!("{}: {why}", path.display())))?;
            let uid = entry.file_name().to_string_lossy().into_owned();
            let mut used = own.used.lock();
            if used.values().any(|taken| *taken == first) {
                return Err(io::Error::other(format!("range picked for pod {uid:?} already taken")));
            }
            used.insert(uid, first);
        }
        Ok(own)
    }

    fn parse(&self, text: &[u8]) -> Result<u32, String> {
        let found: Mappings =
            serde_json::from_slice(text).map_err(|error| format!("invalid user namespace mappings file: {error}"))?;
        let invalid = |why: &str| Err(format!("invalid user namespace configuration: {why}"));
        let ([uids], [gids]) = (found.uid_mappings.as_slice(), found.gid_mappings.as_slice()) else {
            return invalid("no more than one mapping allowed.");
        };
        if uids != gids {
            return invalid("GID and UID mapping should be identical");
        }
        if uids.container_id != 0 {
            return invalid("UID 0 must be mapped");
        }
        if uids.length != self.ids_per_pod {
            return Err(format!("wrong user namespace length {}", uids.length));
        }
        if uids.host_id < self.ids_per_pod || !uids.host_id.is_multiple_of(self.ids_per_pod) {
            return Err(format!("wrong user namespace offset specified {}", uids.host_id));
        }
        Ok(uids.host_id)
    }

    /// The pod's namespace, made and written down at the first time. Blocking.
    pub fn of_pod(&self, uid: &str) -> Result<UserNamespace, String> {
        let mut used = self.used.lock();
        let first = match used.get(uid) {
            Some(first) => *first,
            None => {
                let mut all = (1..=self.ranges).filter_map(|number| number.checked_mul(self.ids_per_pod));
                let free = all.find(|first| !used.values().any(|taken| taken == first));
                let first = free.ok_or("could not find an empty slot to allocate a user namespace")?;
                self.write(uid, first).map_err(|error| error.to_string())?;
                used.insert(uid.to_owned(), first);
                first
            }
        };
        let mapping = IdMapping { host_id: first, container_id: 0, length: self.ids_per_pod };
        Ok(UserNamespace { mode: NamespaceMode::Pod as i32, uids: vec![mapping], gids: vec![mapping] })
    }

    /// The host's own, for a handler that wants to be told.
    pub fn of_host() -> UserNamespace {
        UserNamespace { mode: NamespaceMode::Node as i32, ..Default::default() }
    }

    /// The pod is stopped, and its range is free for others. Its file goes with its directory.
    pub fn release(&self, uid: &str) {
        if self.used.lock().remove(uid).is_some() {
            let _ = std::fs::remove_file(pod_directory(&self.root, uid).join(FILE));
        }
    }

    /// Whole or not at all, also after a power cut.
    fn write(&self, uid: &str, first: u32) -> io::Result<()> {
        let mapping = Mapping { host_id: first, container_id: 0, length: self.ids_per_pod };
        let text = serde_json::to_vec(&Mappings { uid_mappings: vec![mapping], gid_mappings: vec![mapping] })?;
        let directory = pod_directory(&self.root, uid);
        std::fs::create_dir_all(&directory)?;
        let temporary = directory.join(format!("{FILE}.tmp"));
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&temporary, directory.join(FILE))?;
        std::fs::File::open(&directory)?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(root: &Path) -> UserNamespaces {
        UserNamespaces::open(root, 3, UNIT).expect("opened")
    }

    fn first(namespaces: &UserNamespaces, uid: &str) -> Result<u32, String> {
        namespaces.of_pod(uid).map(|own| {
            assert_eq!((own.uids.clone(), own.uids[0].length, own.uids[0].container_id), (own.gids.clone(), UNIT, 0));
            own.uids[0].host_id
        })
    }

    #[test]
    fn each_pod_has_a_range_of_its_own_for_life() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let namespaces = open(root.path());
        assert_eq!(first(&namespaces, "a"), Ok(UNIT), "the host keeps the first range");
        assert_eq!(first(&namespaces, "b"), Ok(2 * UNIT));
        assert_eq!(first(&namespaces, "a"), Ok(UNIT));
        let again = open(root.path());
        assert_eq!(first(&again, "c"), Ok(3 * UNIT), "what pods have is known after a restart");
        let full = first(&again, "d").expect_err("there are three");
        assert_eq!(full, "could not find an empty slot to allocate a user namespace");
        again.release("a");
        assert_eq!(first(&again, "d"), Ok(UNIT));
        assert_eq!(first(&open(root.path()), "b"), Ok(2 * UNIT));
    }

    #[test]
    fn a_damaged_file_is_an_error_and_no_free_range() {
        let root = tempfile::tempdir().expect("a temporary directory");
        first(&open(root.path()), "a").expect("a range");
        let file = pod_directory(root.path(), "a").join(FILE);
        let check = |text: &str, why: &str| {
            std::fs::write(&file, text).expect("written");
            let error = UserNamespaces::open(root.path(), 3, UNIT).err().expect(why).to_string();
            assert!(error.contains(why), "{error}");
        };
        check("{", "invalid user namespace mappings file");
        let of = |uid: &str, gid: &str| format!("{{\"uidMappings\":[{uid}],\"gidMappings\":[{gid}]}}");
        let (good, other) = (
            "{\"hostId\":65536,\"containerId\":0,\"length\":65536}",
            "{\"hostId\":131072,\"containerId\":0,\"length\":65536}",
        );
        check(&of(good, other), "should be identical");
        let odd = "{\"hostId\":7,\"containerId\":0,\"length\":65536}";
        check(&of(odd, odd), "wrong user namespace offset");
        assert!(UserNamespaces::open(root.path(), 3, 1000).is_err(), "ids are given in units");
    }
}
