//! A CSI volume over a real API server: the controller's own rights are enough to attach it, to
//! report it and to detach it, also when it is killed in between.

use crate::cluster::{Cluster, within};
use crate::watcher::{Sight, watch};
use ferry_api::view::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod};
use ferry_api::view::storage::v1::VolumeAttachment;
use ferry_client::{Client, DeleteParams, Patch, SharedObject};
use serde_json::{Value, json};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

async fn furnish(client: &Client) {
    let node = json!({"metadata": {"name": "n", "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    client.api("").create(&Node::from(node)).await.expect("a node");
    let volume = json!({"metadata": {"name": "pv"}, "spec": {"capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "none",
        "csi": {"driver": "csi.example.com", "volumeHandle": "h"}}});
    client.api("").create(&PersistentVolume::from(volume)).await.expect("a volume");
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "volumeName": "pv",
        "storageClassName": "none", "resources": {"requests": {"storage": "1Gi"}}}});
    client.api("default").create(&PersistentVolumeClaim::from(claim)).await.expect("a claim");
    let pod = json!({"metadata": {"name": "web"}, "spec": {"nodeName": "n",
        "containers": [{"name": "web", "image": "registry.example/web:1"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}});
    client.api("default").create(&Pod::from(pod)).await.expect("a pod");
}

/// Waits until the only attachment is as it should be, and returns it; none when it is gone.
async fn until(client: &Client, is_so: impl Fn(Option<&SharedObject<VolumeAttachment>>) -> bool) -> Option<String> {
    let mut sights = watch::<VolumeAttachment>(client.clone());
    while let Some(sight) = sights.recv().await {
        let now = match sight {
            Sight::All(list) => list.into_iter().next(),
            Sight::Present(attachment) => Some(attachment),
            Sight::Gone(_) => None,
        };
        if is_so(now.as_ref()) {
            return now.map(|attachment| attachment.name().to_owned());
        }
    }
    panic!("the watch has ended");
}

async fn until_reported(client: &Client, expected: &[&str]) {
    let mut sights = watch::<Node>(client.clone());
    while let Some(sight) = sights.recv().await {
        let nodes = match sight {
            Sight::All(nodes) => nodes,
            Sight::Present(node) => vec![node],
            Sight::Gone(_) => Vec::new(),
        };
        let is_so = |node: &SharedObject<Node>| {
            node.view().status().volumes_attached().iter().map(|volume| volume.name()).eq(expected.iter().copied())
        };
        if nodes.iter().any(is_so) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_is_attached_reported_and_detached_with_the_controllers_own_rights() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client();
    furnish(&client).await;
    let name = within(LIMIT, "the volume is to be attached", until(&client, |now| now.is_some())).await;
    let name = name.expect("it is there");
    cluster.restart().await;
    let attachments = client.api::<VolumeAttachment>("");
    let attached: Value = json!({"metadata": {"finalizers": ["external-attacher/csi-example-com"]}});
    attachments.patch(&name, &Patch::Merge(attached)).await.expect("a finalizer");
    attachments.patch_status(&name, &Patch::Merge(json!({"status": {"attached": true}}))).await.expect("a status");
    let unique = "kubernetes.io/csi/csi.example.com^h";
    within(LIMIT, "the node reports the volume", until_reported(&client, &[unique])).await;
    let now = DeleteParams { grace_period_seconds: Some(0), ..Default::default() };
    client.api::<Pod>("default").delete("web", &now).await.expect("deleted");
    within(LIMIT, "the node no longer reports it", until_reported(&client, &[])).await;
    cluster.restart().await;
    let leaving = |now: Option<&SharedObject<VolumeAttachment>>| now.is_some_and(SharedObject::is_deleting);
    within(LIMIT, "the attachment is deleted", until(&client, leaving)).await;
    attachments.patch(&name, &Patch::Merge(json!({"metadata": {"finalizers": []}}))).await.expect("released");
    within(LIMIT, "it is gone", until(&client, |now| now.is_none())).await;
}
