//! The driver, the volume and the way to mount it, from the spec of a pod or of a PersistentVolume;
//! and the part of it that is remembered on the disk.

use crate::volume::beneath::Dir;
use crate::volume::claim::volume_mode;
use crate::volume::place::make_directory;
use crate::volume::{VolumeMode, VolumeRequest};
use ferry_api::rules::csi_volume::{CsiVolumeId, hex_digest};
use ferry_api::view::core::v1::PodView;
use ferry_api::view::storage::v1::CSIDriverView;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const DATA: &str = "vol_data.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// Behind a claim.
    Persistent,
    /// Made for one pod and gone with it.
    Ephemeral,
}

impl Lifecycle {
    fn as_str(self) -> &'static str {
        match self {
            Self::Persistent => "Persistent",
            Self::Ephemeral => "Ephemeral",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CsiSource {
    pub driver: String,
    pub handle: String,
    /// The name of the volume's directory.
    pub spec_name: String,
    pub lifecycle: Lifecycle,
    pub mode: VolumeMode,
    pub read_only: bool,
    pub fs_type: String,
    pub attributes: HashMap<String, String>,
    pub access_modes: Vec<String>,
    pub mount_options: Vec<String>,
    /// Namespace and name.
    pub stage_secret: Option<(String, String)>,
    pub publish_secret: Option<(String, String)>,
    pub expand_secret: Option<(String, String)>,
}

impl CsiSource {
    pub fn of(request: &VolumeRequest) -> Result<Self, String> {
        if let Some(own) = request.volume().csi() {
            let (uid, name) = (request.pod().metadata().uid(), request.volume().name());
            let namespace = request.pod().metadata().namespace();
            return Ok(Self {
                driver: own.driver().to_owned(),
                handle: format!("csi-{}", hex_digest(&[uid, name])),
                spec_name: name.to_owned(),
                lifecycle: Lifecycle::Ephemeral,
                mode: VolumeMode::Filesystem,
                read_only: own.read_only() == Some(true),
                fs_type: own.fs_type().unwrap_or_default().to_owned(),
                attributes: own.volume_attributes().to_map().into_iter().collect(),
                access_modes: Vec::new(),
                mount_options: Vec::new(),
                stage_secret: None,
                expand_secret: None,
                publish_secret: own
                    .node_publish_secret_ref()
                    .map(|secret| (namespace.to_owned(), secret.name().to_owned())),
            });
        }
        let bound = request.bound().ok_or("the volume has no source")?;
        let own = bound.spec().csi().ok_or("the volume has no source")?;
        Ok(Self {
            driver: own.driver().to_owned(),
            handle: own.volume_handle().to_owned(),
            spec_name: bound.metadata().name().to_owned(),
            lifecycle: Lifecycle::Persistent,
            mode: volume_mode(request)?,
            read_only: own.read_only() || request.is_read_only(),
            fs_type: own.fs_type().to_owned(),
            attributes: own.volume_attributes().to_map().into_iter().collect(),
            access_modes: bound.spec().access_modes().to_vec(),
            mount_options: bound.spec().mount_options().to_vec(),
            stage_secret: own
                .node_stage_secret_ref()
                .map(|secret| (secret.namespace().to_owned(), secret.name().to_owned())),
            expand_secret: own
                .node_expand_secret_ref()
                .map(|secret| (secret.namespace().to_owned(), secret.name().to_owned())),
            publish_secret: own
                .node_publish_secret_ref()
                .map(|secret| (secret.namespace().to_owned(), secret.name().to_owned())),
        })
    }

    /// A driver says which kinds of volumes it has; one that says nothing has persistent ones.
    pub fn check_lifecycle(&self, object: Option<CSIDriverView<'_>>) -> Result<(), String> {
        let (mode, driver) = (self.lifecycle.as_str(), &self.driver);
        let Some(object) = object else {
            return match self.lifecycle {
                Lifecycle::Persistent => Ok(()),
                Lifecycle::Ephemeral => {
                    Err(format!("volume mode {mode:?} not supported by driver {driver} (no CSIDriver object)"))
                }
            };
        };
        let modes = object.spec().volume_lifecycle_modes();
        if modes.contains(mode) || (modes.is_empty() && self.lifecycle == Lifecycle::Persistent) {
            return Ok(());
        }
        let modes = modes.to_vec();
        Err(format!("volume mode {mode:?} not supported by driver {driver} (only supports {modes:?})"))
    }

    /// Whether the kubelet gives the volume to the pod's group (upstream: supportsFSGroup).
    pub fn gives_group(&self, object: Option<CSIDriverView<'_>>) -> bool {
        let one_node = |mode: &String| mode == "ReadWriteOnce" || mode == "ReadWriteOncePod";
        match object.and_then(|object| object.spec().fs_group_policy()) {
            Some("None") => false,
            _ if self.read_only => false,
            Some("File") => true,
            _ if self.fs_type.is_empty() => false,
            // Volumes of one pod are always mounted for one writer.
            _ => self.lifecycle == Lifecycle::Ephemeral || self.access_modes.iter().any(one_node),
        }
    }

    pub fn access_mode(&self, single_node_multi_writer: bool) -> i32 {
        let mode = self.access_modes.first().map_or("ReadWriteOnce", String::as_str);
        match (mode, single_node_multi_writer) {
            ("ReadOnlyMany", _) => 3,
            ("ReadWriteMany", _) => 5,
            ("ReadWriteOncePod", true) => 6,
            (_, true) => 7,
            _ => 1,
        }
    }

    pub fn id(&self) -> CsiVolumeId {
        CsiVolumeId::new(&self.driver, &self.handle)
    }

    pub fn pod_info(&self, pod: PodView<'_>) -> HashMap<String, String> {
        let meta = pod.metadata();
        let is_ephemeral = self.lifecycle == Lifecycle::Ephemeral;
        [
            ("pod.name", meta.name()),
            ("pod.namespace", meta.namespace()),
            ("pod.uid", meta.uid()),
            ("serviceAccount.name", pod.spec().service_account_name()),
            ("ephemeral", if is_ephemeral { "true" } else { "false" }),
        ]
        .map(|(key, value)| (format!("csi.storage.k8s.io/{key}"), value.to_owned()))
        .into()
    }

    pub fn data(&self, node_name: &str) -> VolumeData {
        VolumeData {
            driver: self.driver.clone(),
            handle: self.handle.clone(),
            spec_name: self.spec_name.clone(),
            lifecycle: self.lifecycle,
            node_name: node_name.to_owned(),
            attachment: self.id().attachment_name(node_name),
        }
    }
}

/// Where a volume is staged for all pods of the node.
pub fn staging_directory(root: &Path, driver: &str, handle: &str) -> PathBuf {
    root.join("plugins/kubernetes.io/csi").join(driver).join(hex_digest(&[handle])).join("globalmount")
}

/// The record of a volume in a pod's directory; the names are upstream's.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeData {
    pub driver: String,
    pub handle: String,
    pub spec_name: String,
    pub lifecycle: Lifecycle,
    pub node_name: String,
    pub attachment: String,
}

impl VolumeData {
    pub fn id(&self) -> CsiVolumeId {
        CsiVolumeId::new(&self.driver, &self.handle)
    }

    /// Returns when it is on the disk. Blocking.
    pub fn store(&self, root: &Path, place: &Path) -> Result<(), String> {
        let value = json!({ "driverName": self.driver, "volumeHandle": self.handle, "specVolID": self.spec_name,
            "volumeLifecycleMode": self.lifecycle.as_str(), "nodeName": self.node_name, "attachmentID": self.attachment });
        let (directory, _) = make_directory(root, place, 0o750)?;
        let written = directory.replace_file(OsStr::new(DATA), value.to_string().as_bytes(), 0o600);
        written.map_err(|error| format!("cannot write {}: {error}", place.join(DATA).display()))
    }

    /// Nothing where there is none. Blocking.
    pub fn load(place: &Path) -> Option<Self> {
        let mut text = String::new();
        Dir::open(place).ok()?.open_file(Path::new(DATA)).ok()?.read_to_string(&mut text).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let field = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        Some(Self {
            driver: field("driverName")?,
            handle: field("volumeHandle")?,
            spec_name: field("specVolID")?,
            lifecycle: match field("volumeLifecycleMode")?.as_str() {
                "Ephemeral" => Lifecycle::Ephemeral,
                _ => Lifecycle::Persistent,
            },
            node_name: field("nodeName")?,
            attachment: field("attachmentID")?,
        })
    }

    pub fn remove(place: &Path) -> io::Result<()> {
        match Dir::open(place)?.remove_file(OsStr::new(DATA)) {
            Ok(()) | Err(nix::errno::Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::PodVolumes;
    use crate::volume::claim::Claims;
    use ferry_client::SharedObject;
    use std::sync::Arc;

    fn persistent(spec: Value) -> CsiSource {
        let pod = json!({ "metadata": { "uid": "u", "namespace": "ns", "name": "web" },
            "spec": { "volumes": [{ "name": "data", "persistentVolumeClaim": { "claimName": "c" } }] } });
        let mut volumes = PodVolumes::new(Path::new("/"), SharedObject::of(pod));
        let volume = json!({ "metadata": { "name": "pv" }, "spec": spec });
        volumes.claims = Claims::from([("data".to_owned(), SharedObject::of(volume))]);
        let request = VolumeRequest::all(&Arc::new(volumes)).next().expect("a volume");
        CsiSource::of(&request).expect("a source")
    }

    #[test]
    fn access_modes_and_groups_follow_the_volume_and_the_driver() {
        let csi = json!({ "driver": "d", "volumeHandle": "h", "fsType": "ext4" });
        let once = persistent(json!({ "csi": csi, "accessModes": ["ReadWriteOnce"] }));
        assert_eq!((once.access_mode(false), once.access_mode(true)), (1, 7));
        let many = persistent(json!({ "csi": csi, "accessModes": ["ReadWriteMany"] }));
        assert_eq!(many.access_mode(true), 5);
        let object = |policy: &str| json!({ "spec": { "fsGroupPolicy": policy } });
        let gives = |source: &CsiSource, policy: Option<&str>| {
            let object = policy.map(object);
            source.gives_group(object.as_ref().map(Into::into))
        };
        assert!(gives(&once, None) && gives(&once, Some("ReadWriteOnceWithFSType")) && gives(&once, Some("File")));
        assert!(!gives(&once, Some("None")) && !gives(&many, None) && gives(&many, Some("File")));
        let none =
            persistent(json!({ "csi": { "driver": "d", "volumeHandle": "h" }, "accessModes": ["ReadWriteOnce"] }));
        assert!(!gives(&none, None), "without a file system");
        let reader = CsiSource { read_only: true, ..once.clone() };
        assert!(!gives(&reader, Some("File")), "a volume that is only read keeps its owner");
        let inline = CsiSource { lifecycle: Lifecycle::Ephemeral, access_modes: Vec::new(), ..once };
        assert!(gives(&inline, None) && !gives(&inline, Some("None")));
    }

    #[test]
    fn volumes_of_one_pod_need_a_driver_that_has_such() {
        let source = CsiSource { lifecycle: Lifecycle::Ephemeral, ..persistent(json!({ "csi": { "driver": "d" } })) };
        let why = source.check_lifecycle(None).expect_err("no object");
        assert_eq!(why, "volume mode \"Ephemeral\" not supported by driver d (no CSIDriver object)");
        let object = json!({ "spec": { "volumeLifecycleModes": ["Persistent"] } });
        let why = source.check_lifecycle(Some((&object).into())).expect_err("only persistent");
        assert_eq!(why, "volume mode \"Ephemeral\" not supported by driver d (only supports [\"Persistent\"])");
        let object = json!({ "spec": { "volumeLifecycleModes": ["Ephemeral"] } });
        assert_eq!(source.check_lifecycle(Some((&object).into())), Ok(()));
    }

    #[test]
    fn what_was_asked_of_a_driver_is_found_again() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let place = root.path().join("pods/u/volumes/kubernetes.io~csi/pv");
        assert_eq!(VolumeData::load(&place), None);
        let data = persistent(json!({ "csi": { "driver": "d", "volumeHandle": "h" } })).data("node-a");
        data.store(root.path(), &place).expect("stored");
        assert_eq!(VolumeData::load(&place), Some(data));
        VolumeData::remove(&place).expect("removed");
        assert_eq!(VolumeData::load(&place), None);
    }
}
