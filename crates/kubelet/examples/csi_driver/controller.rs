//! The messages of CSI's controller service, as far as the tests' provisioner sends them and the
//! tests' driver reads them. Field numbers are those of the CSI specification.

use ferry_kubelet::csi::proto::CapacityRange;
use std::collections::HashMap;

#[derive(Clone, PartialEq, prost::Message)]
pub struct CreateVolume {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub capacity_range: Option<CapacityRange>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CreatedVolume {
    #[prost(message, optional, tag = "1")]
    pub volume: Option<Volume>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Volume {
    #[prost(int64, tag = "1")]
    pub capacity_bytes: i64,
    #[prost(string, tag = "2")]
    pub volume_id: String,
    #[prost(map = "string, string", tag = "3")]
    pub volume_context: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct DeleteVolume {
    #[prost(string, tag = "1")]
    pub volume_id: String,
}

/// Of ControllerPublishVolume and of ControllerUnpublishVolume.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PublishOnNode {
    #[prost(string, tag = "1")]
    pub volume_id: String,
    #[prost(string, tag = "2")]
    pub node_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct PublishedOnNode {
    #[prost(map = "string, string", tag = "1")]
    pub publish_context: HashMap<String, String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ExpandVolume {
    #[prost(string, tag = "1")]
    pub volume_id: String,
    #[prost(message, optional, tag = "2")]
    pub capacity_range: Option<CapacityRange>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ExpandedVolume {
    #[prost(int64, tag = "1")]
    pub capacity_bytes: i64,
    #[prost(bool, tag = "2")]
    pub node_expansion_required: bool,
}
