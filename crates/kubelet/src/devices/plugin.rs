//! One device plugin over its own socket.

use super::proto::{
    AllocateRequest, AllocateResponse, ContainerAllocateRequest, ContainerAllocateResponse,
    ContainerPreferredAllocationRequest, DevicePluginOptions, Empty, ListAndWatchResponse, PreStartContainerRequest,
    PreferredAllocationRequest, PreferredAllocationResponse,
};
use crate::unix_grpc;
use ferry_devices::plugin::Preference;
use std::path::PathBuf;
use std::time::Duration;
use tonic::Status;
use tonic::transport::Channel;

/// Allocation has no limit upstream; a plugin that hangs must not hold the pod for ever.
const ALLOCATE_TIMEOUT: Duration = Duration::from_secs(120);
/// Upstream's KubeletPreStartContainerRPCTimeoutInSecs.
const PRE_START_TIMEOUT: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub struct Plugin {
    pub options: DevicePluginOptions,
    channel: Channel,
}

impl Plugin {
    pub async fn connect(socket: PathBuf) -> Result<Self, Status> {
        let channel = unix_grpc::connect(socket);
        let path = "/v1beta1.DevicePlugin/GetDevicePluginOptions";
        let options = unix_grpc::call(&channel, path, Empty {}, TIMEOUT, None).await?;
        Ok(Self { options, channel })
    }

    pub async fn watch(&self) -> Result<tonic::Streaming<ListAndWatchResponse>, Status> {
        unix_grpc::stream(&self.channel, "/v1beta1.DevicePlugin/ListAndWatch", Empty {}).await
    }

    /// The devices that the plugin would give; none where it has no preference.
    pub async fn prefer(&self, preference: &Preference) -> Result<Vec<String>, Status> {
        if !self.options.get_preferred_allocation_available {
            return Ok(Vec::new());
        }
        let request = PreferredAllocationRequest {
            container_requests: vec![ContainerPreferredAllocationRequest {
                available_device_ids: preference.available.clone(),
                must_include_device_ids: preference.must_include.clone(),
                allocation_size: i32::try_from(preference.size).unwrap_or(i32::MAX),
            }],
        };
        let path = "/v1beta1.DevicePlugin/GetPreferredAllocation";
        let answer: PreferredAllocationResponse = unix_grpc::call(&self.channel, path, request, TIMEOUT, None).await?;
        Ok(answer.container_responses.into_iter().next().map(|own| own.device_ids).unwrap_or_default())
    }

    pub async fn allocate(&self, devices: &[String]) -> Result<ContainerAllocateResponse, String> {
        let request =
            AllocateRequest { container_requests: vec![ContainerAllocateRequest { devices_ids: devices.to_vec() }] };
        let path = "/v1beta1.DevicePlugin/Allocate";
        let answer = unix_grpc::call::<_, AllocateResponse>(&self.channel, path, request, ALLOCATE_TIMEOUT, None).await;
        let answer = answer.map_err(|error| render_error(&error))?;
        let first = answer.container_responses.into_iter().next();
        first.ok_or_else(|| "no containers return in allocation response".into())
    }

    pub async fn pre_start(&self, devices: Vec<String>) -> Result<(), Status> {
        let request = PreStartContainerRequest { devices_ids: devices };
        let path = "/v1beta1.DevicePlugin/PreStartContainer";
        unix_grpc::call::<_, Empty>(&self.channel, path, request, PRE_START_TIMEOUT, None).await.map(drop)
    }
}

/// An error of gRPC as Go prints it.
pub fn render_error(status: &Status) -> String {
    format!("rpc error: code = {:?} desc = {}", status.code(), status.message())
}
