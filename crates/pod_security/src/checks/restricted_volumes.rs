//! Restricted: volumes of the cluster's own making, and none that names a server or disk.

use super::super::evaluate::{Check, Subject, Variant, Violation, name, present};
use super::super::policy::Level;
use super::host_path_volumes;
use super::wording::{Values, plural, quoted};

pub(super) const CHECK: Check = Check {
    id: "restrictedVolumes",
    level: Level::Restricted,
    variants: &[Variant { since: 0, judge: only_known_kinds, replaces: Some(host_path_volumes::CHECK.id) }],
};

const ALLOWED: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// The kinds that are named in a verdict; any other is unknown.
const FORBIDDEN: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

fn only_known_kinds(subject: Subject<'_>) -> Option<Violation> {
    let (mut bad, mut kinds) = (Vec::new(), Values::new());
    for volume in subject.volumes() {
        let is_of = |kind: &&str| present(volume, &[kind]).is_some();
        if !ALLOWED.iter().any(is_of) {
            bad.push(name(volume));
            kinds.insert(FORBIDDEN.into_iter().find(is_of).unwrap_or("unknown"));
        }
    }
    (!bad.is_empty()).then(|| {
        let detail = format!(
            "{} {} {} {} {}",
            plural("volume", "volumes", bad.len()),
            quoted(bad.iter().copied()),
            plural("uses", "use", bad.len()),
            plural("restricted volume type", "restricted volume types", kinds.len()),
            quoted(kinds)
        );
        Violation::new("restricted volume types", detail)
    })
}
