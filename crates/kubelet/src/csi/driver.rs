//! One registered CSI driver: its node service over the driver's own socket.

use super::proto;
use crate::unix_grpc;
use std::path::PathBuf;
use std::time::Duration;
use tonic::Status;
use tonic::transport::Channel;

/// The longest that a call may take, as upstream's csiTimeout.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The optional parts of the node service that the kubelet asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCapabilities {
    pub stage: bool,
    pub expand: bool,
    pub mount_group: bool,
    pub single_node_multi_writer: bool,
    pub stats: bool,
}

#[derive(Clone)]
pub struct Driver {
    pub name: String,
    pub capabilities: NodeCapabilities,
    channel: Channel,
}

impl Driver {
    /// Asks the driver what it can do; that does not change while it is registered.
    pub async fn connect(name: &str, socket: PathBuf) -> Result<Self, Status> {
        let channel = unix_grpc::connect(socket);
        let mut driver = Self { name: name.to_owned(), capabilities: NodeCapabilities::default(), channel };
        driver.capabilities = driver.read_capabilities().await?;
        Ok(driver)
    }

    pub async fn node_info(&self) -> Result<proto::NodeInfo, Status> {
        self.call("/csi.v1.Node/NodeGetInfo", proto::Empty {}).await
    }

    async fn read_capabilities(&self) -> Result<NodeCapabilities, Status> {
        let answer: proto::Capabilities = self.call("/csi.v1.Node/NodeGetCapabilities", proto::Empty {}).await?;
        let has = |kind: i32| {
            let mut all = answer.capabilities.iter().filter_map(|capability| capability.rpc.as_ref());
            all.any(|rpc| rpc.kind == kind)
        };
        Ok(NodeCapabilities {
            stage: has(proto::STAGE_UNSTAGE_VOLUME),
            expand: has(proto::EXPAND_VOLUME),
            mount_group: has(proto::VOLUME_MOUNT_GROUP),
            single_node_multi_writer: has(proto::SINGLE_NODE_MULTI_WRITER),
            stats: has(proto::GET_VOLUME_STATS),
        })
    }

    pub async fn stage(&self, request: proto::StageVolume) -> Result<(), Status> {
        self.call::<_, proto::Empty>("/csi.v1.Node/NodeStageVolume", request).await.map(drop)
    }

    pub async fn unstage(&self, request: proto::UnstageVolume) -> Result<(), Status> {
        self.call::<_, proto::Empty>("/csi.v1.Node/NodeUnstageVolume", request).await.map(drop)
    }

    pub async fn publish(&self, request: proto::PublishVolume) -> Result<(), Status> {
        self.call::<_, proto::Empty>("/csi.v1.Node/NodePublishVolume", request).await.map(drop)
    }

    pub async fn unpublish(&self, request: proto::UnpublishVolume) -> Result<(), Status> {
        self.call::<_, proto::Empty>("/csi.v1.Node/NodeUnpublishVolume", request).await.map(drop)
    }

    pub async fn expand(&self, request: proto::ExpandVolume) -> Result<(), Status> {
        self.call::<_, proto::Empty>("/csi.v1.Node/NodeExpandVolume", request).await.map(drop)
    }

    pub async fn stats(&self, request: proto::GetVolumeStats) -> Result<proto::VolumeStats, Status> {
        self.call("/csi.v1.Node/NodeGetVolumeStats", request).await
    }

    async fn call<Q, A>(&self, path: &'static str, message: Q) -> Result<A, Status>
    where
        Q: prost::Message + Default + 'static,
        A: prost::Message + Default + 'static,
    {
        unix_grpc::call(&self.channel, path, message, TIMEOUT, None).await
    }
}
