//! The fields of pods that nothing acts on yet, by what comes of them.

use super::Consequence::{Ignored, Rejected, Waits};
use super::{Consequence, UnsupportedField};
use serde_json::Value;

/// Any value but null, an empty list and an empty object.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(is_set),
        _ => true,
    }
}

fn is_false(value: &Value) -> bool {
    *value == Value::Bool(false)
}

const fn field(
    path: &'static str,
    is_asked: fn(&Value) -> bool,
    consequence: Consequence,
    rule: &'static str,
) -> UnsupportedField {
    UnsupportedField { path, is_asked, consequence, rule }
}

/// A volume whose kind the node has no plugin for.
const fn volume(path: &'static str) -> UnsupportedField {
    field(path, |value| !value.is_null(), Waits, "this node cannot mount volumes of this kind")
}

/// By their path from the PodSpec.
pub const POD_FIELDS: &[UnsupportedField] = &[
    field("hostUsers", is_false, Rejected, "this node gives pods no user namespace of their own"),
    field(
        "securityContext.supplementalGroupsPolicy",
        |value| value == "Strict",
        Rejected,
        "this node's runtime merges the groups of the image",
    ),
    field("resourceClaims", is_set, Rejected, "this node prepares no devices"),
    field("volumes[*].projected.sources[*].clusterTrustBundle", is_set, Waits, "this node projects no trust bundles"),
    field("volumes[*].projected.sources[*].podCertificate", is_set, Waits, "this node projects no certificates"),
    volume("volumes[*].gcePersistentDisk"),
    volume("volumes[*].awsElasticBlockStore"),
    volume("volumes[*].gitRepo"),
    volume("volumes[*].nfs"),
    volume("volumes[*].iscsi"),
    volume("volumes[*].glusterfs"),
    volume("volumes[*].rbd"),
    volume("volumes[*].flexVolume"),
    volume("volumes[*].cinder"),
    volume("volumes[*].cephfs"),
    volume("volumes[*].flocker"),
    volume("volumes[*].fc"),
    volume("volumes[*].azureFile"),
    volume("volumes[*].vsphereVolume"),
    volume("volumes[*].quobyte"),
    volume("volumes[*].azureDisk"),
    volume("volumes[*].photonPersistentDisk"),
    volume("volumes[*].portworxVolume"),
    volume("volumes[*].scaleIO"),
    volume("volumes[*].storageos"),
];

/// By their path from the container; every list of containers is meant.
pub const CONTAINER_FIELDS: &[UnsupportedField] = &[
    field(
        "volumeMounts[*].recursiveReadOnly",
        |value| value == "Enabled",
        Rejected,
        "this node's runtime mounts only the volume itself read-only",
    ),
    field(
        "restartPolicyRules[*].action",
        |value| value == "RestartAllContainers",
        Ignored,
        "only the container itself is restarted",
    ),
    field("lifecycle.stopSignal", is_set, Ignored, "the image's own stop signal is sent"),
];
