//! Pods that use more local storage than they may: an emptyDir beyond its sizeLimit, a pod or a
//! container beyond its limit of ephemeral-storage (upstream: `localStorageEviction` of
//! pkg/kubelet/eviction/eviction_manager.go).

use crate::message::bytes;
use crate::usage::PodUsage;
use ferry_api::quantity::Quantity;
use ferry_api::rules::pod_requests::spec_limits;
use ferry_api::view::core::v1::PodView;

/// A limit that is exceeded: the name of the signal, as metrics have it, and the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceededLimit {
    pub signal: &'static str,
    pub message: String,
}

/// Whether any limit of the pod is about its local storage. Only such pods are measured while the
/// node has room.
pub fn is_limited(pod: PodView<'_>) -> bool {
    let spec = pod.spec();
    let sized = |limit: Quantity| !limit.is_zero() && !limit.is_negative();
    spec.volumes().iter().any(|volume| volume.empty_dir().and_then(|source| source.size_limit()).is_some_and(sized))
        || spec_limits(spec).contains_key("ephemeral-storage")
}

/// Whether the pod's writable layers count for a limit of it.
pub fn limits_layers(pod: PodView<'_>) -> bool {
    spec_limits(pod.spec()).contains_key("ephemeral-storage")
}

/// The first limit that the pod exceeds. `with_layers` is false where writable layers are on a
/// filesystem of their own, which a container's limit is not about.
pub fn exceeded_limit(pod: PodView<'_>, usage: &PodUsage, with_layers: bool) -> Option<ExceededLimit> {
    exceeded_volume(pod, usage)
        .or_else(|| exceeded_pod(pod, usage))
        .or_else(|| exceeded_container(pod, usage, with_layers))
}

fn exceeded_volume(pod: PodView<'_>, usage: &PodUsage) -> Option<ExceededLimit> {
    pod.spec().volumes().iter().find_map(|volume| {
        let limit = volume.empty_dir()?.size_limit().filter(|limit| !limit.is_zero() && !limit.is_negative())?;
        let used = bytes(usage.volumes.get(volume.name())?.bytes);
        (used > limit).then(|| ExceededLimit {
            signal: "emptydirfs.limit",
            message: format!("Usage of EmptyDir volume {:?} exceeds the limit \"{limit}\". ", volume.name()),
        })
    })
}

fn exceeded_pod(pod: PodView<'_>, usage: &PodUsage) -> Option<ExceededLimit> {
    let limit = spec_limits(pod.spec()).remove("ephemeral-storage")?;
    let used = bytes(usage.ephemeral_storage(pod).bytes);
    (used > limit).then(|| ExceededLimit {
        signal: "ephemeralpodfs.limit",
        message: format!("Pod ephemeral local storage usage exceeds the total limit of containers {limit}. "),
    })
}

fn exceeded_container(pod: PodView<'_>, usage: &PodUsage, with_layers: bool) -> Option<ExceededLimit> {
    usage.containers.iter().find_map(|container| {
        let spec = pod.spec().containers().iter().find(|spec| spec.name() == container.name)?;
        let limit = spec.resources().limits().get("ephemeral-storage").filter(|limit| !limit.is_zero())?;
        let layer = container.root.filter(|_| with_layers).unwrap_or_default();
        let used = bytes(container.logs.unwrap_or_default().plus(layer).bytes);
        let name = &container.name;
        (used > limit).then(|| ExceededLimit {
            signal: "ephemeralcontainerfs.limit",
            message: format!("Container {name} exceeded its local ephemeral storage limit \"{limit}\". "),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::{ContainerUsage, DiskUsage};
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;
    use serde_json::{Value, json};

    fn pod(limit: Value, size_limit: Value) -> Pod {
        Pod::from(json!({ "spec": {
            "containers": [{ "name": "a", "resources": { "limits": limit } }, { "name": "b" }],
            "volumes": [{ "name": "v", "emptyDir": { "sizeLimit": size_limit } }] } }))
    }

    /// Bytes of a's layer, a's logs and the volume; b's layer has a thousand.
    fn check(pod: &Pod, [root, logs, volume]: [u64; 3], with_layers: bool, expected: Option<(&str, &str)>) {
        let disk = |bytes| DiskUsage { bytes, inodes: 1 };
        let container = |name: &str, root, logs| ContainerUsage {
            name: name.into(),
            root: Some(disk(root)),
            logs: Some(disk(logs)),
            memory: None,
        };
        let usage = PodUsage {
            containers: vec![container("a", root, logs), container("b", 1000, 0)],
            volumes: [("v".to_owned(), disk(volume))].into(),
            ..PodUsage::default()
        };
        let found = exceeded_limit(pod.view(), &usage, with_layers);
        assert_eq!(found.as_ref().map(|found| (found.signal, found.message.as_str())), expected);
    }

    #[test]
    fn a_volume_a_pod_and_a_container_have_their_limits() {
        let sized = pod(json!({}), json!("1Ki"));
        check(&sized, [9000, 9000, 1024], true, None);
        let message = "Usage of EmptyDir volume \"v\" exceeds the limit \"1Ki\". ";
        check(&sized, [0, 0, 1025], true, Some(("emptydirfs.limit", message)));
        let limited = pod(json!({ "ephemeral-storage": "4Ki" }), Value::Null);
        check(&limited, [1000, 1000, 1000], true, None);
        let message = "Pod ephemeral local storage usage exceeds the total limit of containers 4Ki. ";
        check(&limited, [1000, 1000, 1097], true, Some(("ephemeralpodfs.limit", message)));
        // Another container's limit makes the pod's larger than this one's.
        let two = Pod::from(json!({ "spec": { "containers": [
            { "name": "a", "resources": { "limits": { "ephemeral-storage": "1Ki" } } },
            { "name": "b", "resources": { "limits": { "ephemeral-storage": "9Ki" } } }] } }));
        let message = "Container a exceeded its local ephemeral storage limit \"1Ki\". ";
        check(&two, [1000, 25, 0], true, Some(("ephemeralcontainerfs.limit", message)));
        check(&two, [1000, 25, 0], false, None);
    }

    #[test]
    fn only_pods_with_limits_are_measured() {
        let check = |limit, size_limit, expected| assert_eq!(is_limited(pod(limit, size_limit).view()), expected);
        check(json!({}), Value::Null, false);
        check(json!({ "memory": "1Gi" }), json!("0"), false);
        check(json!({ "ephemeral-storage": "1Gi" }), Value::Null, true);
        check(json!({}), json!("1Gi"), true);
    }
}
