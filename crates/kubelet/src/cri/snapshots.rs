//! containerd's snapshots, for image volumes: a read-only view of an image's files, which the
//! kubelet mounts by itself. containerd before 2.1 cannot mount an image into a container.
//!
//! The messages are those of containerd's own gRPC service on the same socket, as far as they
//! are used here. A view carries the label of a garbage collection root from its first moment,
//! so containerd keeps its layers although the image may be removed.

use super::v1;
use super::{ImageMount, Result, RuntimeError};
use crate::unix_grpc;
use std::collections::HashMap;
use std::time::Duration;
use tonic::transport::Channel;

const TIMEOUT: Duration = Duration::from_secs(120);
/// The namespace of containerd that CRI works in.
const NAMESPACE: &str = "k8s.io";
const ROOT_LABEL: &str = "containerd.io/gc.root";

#[derive(Clone, PartialEq, prost::Message)]
struct ViewSnapshotRequest {
    #[prost(string, tag = "1")]
    snapshotter: String,
    #[prost(string, tag = "2")]
    key: String,
    #[prost(string, tag = "3")]
    parent: String,
    #[prost(map = "string, string", tag = "4")]
    labels: HashMap<String, String>,
}

/// Also a RemoveSnapshotRequest.
#[derive(Clone, PartialEq, prost::Message)]
struct MountsRequest {
    #[prost(string, tag = "1")]
    snapshotter: String,
    #[prost(string, tag = "2")]
    key: String,
}

/// Also a ViewSnapshotResponse.
#[derive(Clone, PartialEq, prost::Message)]
struct MountsResponse {
    #[prost(message, repeated, tag = "1")]
    mounts: Vec<Mount>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Mount {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    source: String,
    #[prost(string, repeated, tag = "4")]
    options: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Empty {}

/// The snapshotter that CRI unpacks images with.
#[derive(Clone)]
pub(super) struct Snapshots {
    pub channel: Channel,
    pub snapshotter: String,
}

impl Snapshots {
    pub async fn view(&self, chain_id: &str, key: &str) -> Result<Vec<ImageMount>> {
        let request = ViewSnapshotRequest {
            snapshotter: self.snapshotter.clone(),
            key: key.into(),
            parent: chain_id.into(),
            labels: HashMap::from([(ROOT_LABEL.to_owned(), jiff::Timestamp::now().to_string())]),
        };
        let made = self.call::<_, MountsResponse>("/containerd.services.snapshots.v1.Snapshots/View", request).await;
        let found = match made {
            Err(error) if error.code == tonic::Code::AlreadyExists => {
                self.call("/containerd.services.snapshots.v1.Snapshots/Mounts", self.named(key)).await?
            }
            other => other?,
        };
        let mounts = found.mounts.into_iter();
        Ok(mounts.map(|mount| ImageMount { kind: mount.kind, source: mount.source, options: mount.options }).collect())
    }

    pub async fn remove(&self, key: &str) -> Result<()> {
        match self.call::<_, Empty>("/containerd.services.snapshots.v1.Snapshots/Remove", self.named(key)).await {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }

    fn named(&self, key: &str) -> MountsRequest {
        MountsRequest { snapshotter: self.snapshotter.clone(), key: key.into() }
    }

    async fn call<Q, A>(&self, path: &'static str, message: Q) -> Result<A>
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        let header = Some(("containerd-namespace", NAMESPACE));
        unix_grpc::call(&self.channel, path, message, TIMEOUT, header).await.map_err(RuntimeError::from)
    }
}

/// The snapshotter from the verbose status of the runtime.
pub(super) fn snapshotter_of(status: &v1::StatusResponse) -> Option<String> {
    let config: serde_json::Value = serde_json::from_str(status.info.get("config")?).ok()?;
    let name = config.get("containerd")?.get("snapshotter")?.as_str()?;
    Some(name.to_owned())
}

/// The snapshot of an image's top layer, from its verbose status.
pub(super) fn chain_id_of(status: &v1::ImageStatusResponse) -> Option<String> {
    let info: serde_json::Value = serde_json::from_str(status.info.get("info")?).ok()?;
    let id = info.get("chainID")?.as_str()?;
    Some(id.to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;

    #[test]
    fn the_runtime_names_its_snapshotter_and_the_top_layer_of_an_image() {
        let info = |key: &str, text: &str| HashMap::from([(key.to_owned(), text.to_owned())]);
        let mut status = v1::StatusResponse::default();
        assert_eq!(snapshotter_of(&status), None);
        status.info = info("config", r#"{"containerd":{"snapshotter":"overlayfs"}}"#);
        assert_eq!(snapshotter_of(&status).as_deref(), Some("overlayfs"));
        let mut image = v1::ImageStatusResponse::default();
        assert_eq!(chain_id_of(&image), None);
        image.info = info("info", r#"{"chainID":"sha256:aa","imageSpec":{}}"#);
        assert_eq!(chain_id_of(&image).as_deref(), Some("sha256:aa"));
    }

    #[test]
    fn the_target_of_a_mount_is_passed_over() {
        // type, source, target, one option
        let wire = b"\x0a\x07overlay\x12\x01s\x1a\x01t\x22\x02ro";
        let mount = Mount::decode(wire.as_slice()).expect("decoded");
        assert_eq!((mount.kind.as_str(), mount.options), ("overlay", vec!["ro".to_owned()]));
    }
}
