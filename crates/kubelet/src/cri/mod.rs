//! The border to the container runtime: one trait, CRI v1's own messages.
//!
//! [`Runtime`] is what the rest of the kubelet sees. [`grpc`] speaks it to containerd
//! over a unix socket; `double` records calls and plays a runtime in tests, for which it
//! is compiled by the feature of its name.

#[cfg(feature = "double")]
pub mod double;
mod events;
#[cfg(feature = "double")]
pub mod faulty;
pub mod features;
pub mod grpc;
mod snapshots;

use async_trait::async_trait;
pub use k8s_cri::v1;
use std::time::Duration;
use tokio::sync::mpsc;

/// What the runtime answered when it refused.
#[derive(Clone, Debug, thiserror::Error)]
#[error("rpc error: code = {} desc = {message}", code_name(*code))]
pub struct RuntimeError {
    pub code: tonic::Code,
    pub message: String,
}

impl RuntimeError {
    pub fn new(code: tonic::Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn is_not_found(&self) -> bool {
        self.code == tonic::Code::NotFound
    }

    pub fn is_timeout(&self) -> bool {
        self.code == tonic::Code::DeadlineExceeded
    }

    /// The runtime lacks the call altogether, so asking again is pointless.
    pub fn is_unimplemented(&self) -> bool {
        self.code == tonic::Code::Unimplemented
    }
}

impl From<tonic::Status> for RuntimeError {
    fn from(status: tonic::Status) -> Self {
        Self { code: status.code(), message: status.message().to_string() }
    }
}

/// gRPC's own spelling of a code, because these names end up in events and statuses.
fn code_name(code: tonic::Code) -> &'static str {
    use tonic::Code::*;
    match code {
        Ok => "OK",
        Cancelled => "Canceled",
        Unknown => "Unknown",
        InvalidArgument => "InvalidArgument",
        DeadlineExceeded => "DeadlineExceeded",
        NotFound => "NotFound",
        AlreadyExists => "AlreadyExists",
        PermissionDenied => "PermissionDenied",
        ResourceExhausted => "ResourceExhausted",
        FailedPrecondition => "FailedPrecondition",
        Aborted => "Aborted",
        OutOfRange => "OutOfRange",
        Unimplemented => "Unimplemented",
        Internal => "Internal",
        Unavailable => "Unavailable",
        DataLoss => "DataLoss",
        Unauthenticated => "Unauthenticated",
    }
}

pub type Result<T> = std::result::Result<T, RuntimeError>;

/// What a synchronous exec left behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecOutput {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub exit_code: i32,
}

/// One mount of a snapshot, in the words of mount(8).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageMount {
    /// `overlay`, or `bind` for a single layer.
    pub kind: String,
    pub source: String,
    pub options: Vec<String>,
}

/// Something happened to a container or a sandbox. It only says where to look: the
/// listener reads the present state from the runtime.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeEvent {
    pub id: String,
    pub exited: bool,
}

/// CRI v1 as the kubelet uses it. Every call may be repeated: stop and remove succeed on
/// what is already gone. Dropping a future cancels the call in the runtime.
#[async_trait]
pub trait Runtime: Send + Sync + 'static {
    async fn version(&self) -> Result<v1::VersionResponse>;
    /// Its conditions, and the features of it and of its handlers. Older runtimes report no features.
    async fn status(&self) -> Result<v1::StatusResponse>;

    /// Makes the pod's namespaces and network. May take as long as CNI does.
    async fn run_pod_sandbox(&self, config: v1::PodSandboxConfig, handler: &str) -> Result<String>;
    /// Kills whatever still runs in the sandbox and tears its network down.
    async fn stop_pod_sandbox(&self, id: &str) -> Result<()>;
    async fn remove_pod_sandbox(&self, id: &str) -> Result<()>;
    async fn pod_sandbox_status(&self, id: &str) -> Result<v1::PodSandboxStatus>;
    async fn list_pod_sandboxes(&self, filter: Option<v1::PodSandboxFilter>) -> Result<Vec<v1::PodSandbox>>;

    async fn create_container(
        &self,
        sandbox_id: &str,
        config: v1::ContainerConfig,
        sandbox: v1::PodSandboxConfig,
    ) -> Result<String>;
    async fn start_container(&self, id: &str) -> Result<()>;
    /// Sends the stop signal and, once `grace` has passed, SIGKILL; returns when it is dead.
    async fn stop_container(&self, id: &str, grace: Duration) -> Result<()>;
    async fn remove_container(&self, id: &str) -> Result<()>;
    /// Changes the limits of a running container; zero leaves one as it is.
    async fn update_container_resources(&self, id: &str, resources: v1::LinuxContainerResources) -> Result<()>;
    async fn container_status(&self, id: &str) -> Result<v1::ContainerStatus>;
    async fn list_containers(&self, filter: Option<v1::ContainerFilter>) -> Result<Vec<v1::Container>>;
    async fn list_container_stats(&self) -> Result<Vec<v1::ContainerStats>>;
    async fn reopen_container_log(&self, id: &str) -> Result<()>;
    /// Writes the state of a running container to a file; older runtimes cannot. A zero `timeout`
    /// is the runtime's own.
    async fn checkpoint_container(&self, _id: &str, _location: &str, _timeout: Duration) -> Result<()> {
        Err(tonic::Status::unimplemented("unknown method CheckpointContainer").into())
    }

    /// A zero `timeout` means none.
    async fn exec_sync(&self, id: &str, command: Vec<String>, timeout: Duration) -> Result<ExecOutput>;
    /// The three below answer the address of the runtime's streaming server.
    async fn exec(&self, request: v1::ExecRequest) -> Result<String>;
    async fn attach(&self, request: v1::AttachRequest) -> Result<String>;
    async fn port_forward(&self, request: v1::PortForwardRequest) -> Result<String>;

    /// `None` when the image is not on this machine.
    async fn image_status(&self, image: &str) -> Result<Option<v1::Image>>;
    async fn pull_image(
        &self,
        image: &str,
        auth: Option<v1::AuthConfig>,
        sandbox: v1::PodSandboxConfig,
    ) -> Result<String>;
    async fn list_images(&self) -> Result<Vec<v1::Image>>;
    async fn remove_image(&self, image: &str) -> Result<()>;
    async fn image_fs_info(&self) -> Result<v1::ImageFsInfoResponse>;

    /// A read-only view of the image's files under this key, made where it is missing. The
    /// answer is the way to mount it; it stays until it is removed, whatever happens to the image.
    async fn view_image(&self, image: &str, key: &str) -> Result<Vec<ImageMount>>;
    async fn remove_image_view(&self, key: &str) -> Result<()>;

    /// Container and sandbox events for as long as the receiver lives; the stream ends
    /// when the runtime goes away. `Unimplemented` where the runtime has none, and the
    /// caller lists instead.
    async fn events(&self) -> Result<mpsc::Receiver<RuntimeEvent>>;
}
