//! [`Runtime`] over gRPC on a unix socket.

use super::events::{BytesCodec, SUBSCRIBE, decode_envelope, subscribe_request};
use super::snapshots::{Snapshots, chain_id_of, snapshotter_of};
use super::v1::image_service_client::ImageServiceClient;
use super::v1::runtime_service_client::RuntimeServiceClient;
use super::v1::{self};
use super::{ExecOutput, ImageMount, Result, Runtime, RuntimeError, RuntimeEvent};
use crate::unix_grpc;
use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tonic::transport::Channel;

/// Upstream's `runtimeRequestTimeout`: ordinary calls answer within it or are given up. Making a
/// sandbox has twice as long, because CNI is part of it; pulls have no limit.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);
/// Log lines and exec output travel in one message.
const MAX_MESSAGE: usize = 16 << 20;

/// One call of a service within a limit.
macro_rules! call {
    ($own:ident.$service:ident.$method:ident($message:expr), $limit:expr) => {{
        let limit = $limit;
        let mut service = $own.$service.clone();
        within(limit, service.$method(request($message, limit))).await
    }};
}

#[derive(Clone)]
pub struct GrpcRuntime {
    runtime: RuntimeServiceClient<Channel>,
    image: ImageServiceClient<Channel>,
    channel: Channel,
    timeout: Duration,
}

impl GrpcRuntime {
    /// `endpoint` is a path or `unix:///path`. Connects on first use and again whenever
    /// the runtime comes back.
    pub fn connect(endpoint: &str) -> Result<Self> {
        let path: PathBuf = Path::new(endpoint.strip_prefix("unix://").unwrap_or(endpoint)).to_path_buf();
        let channel = unix_grpc::connect(path);
        Ok(Self {
            runtime: RuntimeServiceClient::new(channel.clone()).max_decoding_message_size(MAX_MESSAGE),
            image: ImageServiceClient::new(channel.clone()).max_decoding_message_size(MAX_MESSAGE),
            channel,
            timeout: REQUEST_TIMEOUT,
        })
    }

    pub fn with_request_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    async fn snapshots(&self) -> Result<Snapshots> {
        let message = v1::StatusRequest { verbose: true };
        let status = call!(self.runtime.status(message), self.timeout)?.into_inner();
        let snapshotter = snapshotter_of(&status).ok_or_else(|| missing("its snapshotter"))?;
        Ok(Snapshots { channel: self.channel.clone(), snapshotter })
    }
}

/// The longest limit of a call. gRPC writes a timeout in at most eight digits, and the grace
/// of a pod, which the limit of a stop follows, may be any number of seconds.
const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

/// A request with its limit in the header, so that the runtime gives up too.
fn request<T>(message: T, timeout: Duration) -> tonic::Request<T> {
    let mut request = tonic::Request::new(message);
    request.set_timeout(timeout.min(MAX_TIMEOUT));
    request
}

/// The answer to a call within its limit, in the words of gRPC. The limit is kept here and not left
/// to the channel, whose own error is "Cancelled" and so reads as if the caller had gone away; the
/// moment longer leaves the first word to the runtime.
async fn within<T>(
    timeout: Duration,
    call: impl Future<Output = std::result::Result<T, tonic::Status>>,
) -> std::result::Result<T, tonic::Status> {
    let expired = || tonic::Status::deadline_exceeded("context deadline exceeded");
    match tokio::time::timeout(timeout.min(MAX_TIMEOUT), call).await {
        Ok(Err(status)) if status.code() == tonic::Code::Cancelled && is_expired(&status) => Err(expired()),
        Ok(answered) => answered,
        Err(_) => Err(expired()),
    }
}

/// The channel's own timeout, which has no code of its own.
fn is_expired(status: &tonic::Status) -> bool {
    status.message() == "Timeout expired"
}

fn missing(what: &str) -> RuntimeError {
    RuntimeError::new(tonic::Code::Internal, format!("the runtime answered without {what}"))
}

/// A runtime that is already without the thing has done what was asked.
fn gone_is_done(result: std::result::Result<(), tonic::Status>) -> Result<()> {
    match result {
        Err(status) if status.code() == tonic::Code::NotFound => Ok(()),
        other => other.map_err(RuntimeError::from),
    }
}

#[async_trait]
impl Runtime for GrpcRuntime {
    async fn version(&self) -> Result<v1::VersionResponse> {
        let message = v1::VersionRequest { version: "v1".into() };
        Ok(call!(self.runtime.version(message), self.timeout)?.into_inner())
    }

    async fn status(&self) -> Result<v1::StatusResponse> {
        let message = v1::StatusRequest { verbose: false };
        Ok(call!(self.runtime.status(message), self.timeout)?.into_inner())
    }

    async fn run_pod_sandbox(&self, config: v1::PodSandboxConfig, handler: &str) -> Result<String> {
        let message = v1::RunPodSandboxRequest { config: Some(config), runtime_handler: handler.into() };
        let answer = call!(self.runtime.run_pod_sandbox(message), self.timeout * 2)?;
        Ok(answer.into_inner().pod_sandbox_id)
    }

    async fn stop_pod_sandbox(&self, id: &str) -> Result<()> {
        let message = v1::StopPodSandboxRequest { pod_sandbox_id: id.into() };
        gone_is_done(call!(self.runtime.stop_pod_sandbox(message), self.timeout).map(drop))
    }

    async fn remove_pod_sandbox(&self, id: &str) -> Result<()> {
        let message = v1::RemovePodSandboxRequest { pod_sandbox_id: id.into() };
        gone_is_done(call!(self.runtime.remove_pod_sandbox(message), self.timeout).map(drop))
    }

    async fn pod_sandbox_status(&self, id: &str) -> Result<v1::PodSandboxStatus> {
        let message = v1::PodSandboxStatusRequest { pod_sandbox_id: id.into(), verbose: false };
        let answer = call!(self.runtime.pod_sandbox_status(message), self.timeout)?;
        answer.into_inner().status.ok_or_else(|| missing("a sandbox status"))
    }

    async fn list_pod_sandboxes(&self, filter: Option<v1::PodSandboxFilter>) -> Result<Vec<v1::PodSandbox>> {
        let message = v1::ListPodSandboxRequest { filter };
        Ok(call!(self.runtime.list_pod_sandbox(message), self.timeout)?.into_inner().items)
    }

    async fn create_container(
        &self,
        sandbox_id: &str,
        config: v1::ContainerConfig,
        sandbox: v1::PodSandboxConfig,
    ) -> Result<String> {
        let message = v1::CreateContainerRequest {
            pod_sandbox_id: sandbox_id.into(),
            config: Some(config),
            sandbox_config: Some(sandbox),
        };
        let answer = call!(self.runtime.create_container(message), self.timeout)?;
        Ok(answer.into_inner().container_id)
    }

    async fn start_container(&self, id: &str) -> Result<()> {
        let message = v1::StartContainerRequest { container_id: id.into() };
        let own = self.clone();
        // Seen through even if the pod is deleted meanwhile and the caller goes away: a start
        // that is broken off leaves containerd with a task that it can neither stop nor remove.
        let call = tokio::spawn(async move { call!(own.runtime.start_container(message), own.timeout) });
        call.await.map_err(|error| RuntimeError::new(tonic::Code::Internal, error.to_string()))??;
        Ok(())
    }

    async fn stop_container(&self, id: &str, grace: Duration) -> Result<()> {
        let message = v1::StopContainerRequest {
            container_id: id.into(),
            timeout: i64::try_from(grace.as_secs()).unwrap_or(i64::MAX),
        };
        // The call lasts as long as the container takes to die, so its limit follows the grace.
        let limit = self.timeout.saturating_add(grace);
        gone_is_done(call!(self.runtime.stop_container(message), limit).map(drop))
    }

    async fn remove_container(&self, id: &str) -> Result<()> {
        let message = v1::RemoveContainerRequest { container_id: id.into() };
        gone_is_done(call!(self.runtime.remove_container(message), self.timeout).map(drop))
    }

    async fn update_container_resources(&self, id: &str, resources: v1::LinuxContainerResources) -> Result<()> {
        let message = v1::UpdateContainerResourcesRequest {
            container_id: id.into(),
            linux: Some(resources),
            ..Default::default()
        };
        call!(self.runtime.update_container_resources(message), self.timeout)?;
        Ok(())
    }

    async fn container_status(&self, id: &str) -> Result<v1::ContainerStatus> {
        let message = v1::ContainerStatusRequest { container_id: id.into(), verbose: false };
        let answer = call!(self.runtime.container_status(message), self.timeout)?;
        answer.into_inner().status.ok_or_else(|| missing("a container status"))
    }

    async fn list_containers(&self, filter: Option<v1::ContainerFilter>) -> Result<Vec<v1::Container>> {
        let message = v1::ListContainersRequest { filter };
        Ok(call!(self.runtime.list_containers(message), self.timeout)?.into_inner().containers)
    }

    async fn list_container_stats(&self) -> Result<Vec<v1::ContainerStats>> {
        let message = v1::ListContainerStatsRequest { filter: None };
        Ok(call!(self.runtime.list_container_stats(message), self.timeout)?.into_inner().stats)
    }

    async fn checkpoint_container(&self, id: &str, location: &str, timeout: Duration) -> Result<()> {
        let message = v1::CheckpointContainerRequest {
            container_id: id.into(),
            location: location.into(),
            timeout: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        };
        let limit = if timeout.is_zero() { self.timeout } else { timeout };
        call!(self.runtime.checkpoint_container(message), limit)?;
        Ok(())
    }

    async fn reopen_container_log(&self, id: &str) -> Result<()> {
        let message = v1::ReopenContainerLogRequest { container_id: id.into() };
        call!(self.runtime.reopen_container_log(message), self.timeout)?;
        Ok(())
    }

    async fn exec_sync(&self, id: &str, command: Vec<String>, timeout: Duration) -> Result<ExecOutput> {
        let message = v1::ExecSyncRequest { container_id: id.into(), cmd: command, timeout: timeout.as_secs() as i64 };
        // The runtime ends the command at its timeout; ours is only there for a dead runtime.
        let limit = if timeout.is_zero() { MAX_TIMEOUT } else { self.timeout.saturating_add(timeout) };
        let answer = call!(self.runtime.exec_sync(message), limit)?.into_inner();
        Ok(ExecOutput { stdout: answer.stdout, stderr: answer.stderr, exit_code: answer.exit_code })
    }

    async fn exec(&self, message: v1::ExecRequest) -> Result<String> {
        Ok(call!(self.runtime.exec(message), self.timeout)?.into_inner().url)
    }

    async fn attach(&self, message: v1::AttachRequest) -> Result<String> {
        Ok(call!(self.runtime.attach(message), self.timeout)?.into_inner().url)
    }

    async fn port_forward(&self, message: v1::PortForwardRequest) -> Result<String> {
        Ok(call!(self.runtime.port_forward(message), self.timeout)?.into_inner().url)
    }

    async fn image_status(&self, image: &str) -> Result<Option<v1::Image>> {
        let message = v1::ImageStatusRequest { image: Some(image_spec(image)), verbose: false };
        Ok(call!(self.image.image_status(message), self.timeout)?.into_inner().image)
    }

    async fn pull_image(
        &self,
        image: &str,
        auth: Option<v1::AuthConfig>,
        sandbox: v1::PodSandboxConfig,
    ) -> Result<String> {
        let message = v1::PullImageRequest { image: Some(image_spec(image)), auth, sandbox_config: Some(sandbox) };
        // No limit of ours: a large image on a thin line takes what it takes, and the
        // runtime gives up on a stalled transfer by itself.
        Ok(self.image.clone().pull_image(message).await?.into_inner().image_ref)
    }

    async fn list_images(&self) -> Result<Vec<v1::Image>> {
        let message = v1::ListImagesRequest { filter: None };
        Ok(call!(self.image.list_images(message), self.timeout)?.into_inner().images)
    }

    async fn remove_image(&self, image: &str) -> Result<()> {
        let message = v1::RemoveImageRequest { image: Some(image_spec(image)) };
        gone_is_done(call!(self.image.remove_image(message), self.timeout).map(drop))
    }

    async fn image_fs_info(&self) -> Result<v1::ImageFsInfoResponse> {
        let message = v1::ImageFsInfoRequest {};
        Ok(call!(self.image.image_fs_info(message), self.timeout)?.into_inner())
    }

    async fn view_image(&self, image: &str, key: &str) -> Result<Vec<ImageMount>> {
        let message = v1::ImageStatusRequest { image: Some(image_spec(image)), verbose: true };
        let status = call!(self.image.image_status(message), self.timeout)?.into_inner();
        let chain_id = chain_id_of(&status).ok_or_else(|| missing("the layers of the image"))?;
        self.snapshots().await?.view(&chain_id, key).await
    }

    async fn remove_image_view(&self, key: &str) -> Result<()> {
        self.snapshots().await?.remove(key).await
    }

    async fn events(&self) -> Result<mpsc::Receiver<RuntimeEvent>> {
        let mut grpc = tonic::client::Grpc::new(self.channel.clone());
        grpc.ready().await.map_err(|error| RuntimeError::new(tonic::Code::Unavailable, error.to_string()))?;
        let mut request = tonic::Request::new(subscribe_request("k8s.io"));
        request.metadata_mut().insert("containerd-namespace", tonic::metadata::MetadataValue::from_static("k8s.io"));
        let path = http::uri::PathAndQuery::from_static(SUBSCRIBE);
        let mut stream = grpc.server_streaming(request, path, BytesCodec).await?.into_inner();
        let (sender, receiver) = mpsc::channel(64);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sender.closed() => return,
                    message = stream.message() => match message {
                        Ok(Some(envelope)) => {
                            if let Some(event) = decode_envelope(&envelope)
                                && sender.send(event).await.is_err()
                            {
                                return;
                            }
                        }
                        Ok(None) | Err(_) => return,
                    },
                }
            }
        });
        Ok(receiver)
    }
}

fn image_spec(image: &str) -> v1::ImageSpec {
    v1::ImageSpec { image: image.into(), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A runtime that takes connections and never answers.
    #[tokio::test]
    async fn a_call_that_hangs_is_given_up_as_upstream_names_it() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let socket = directory.path().join("sock");
        let listener = tokio::net::UnixListener::bind(&socket).expect("bound");
        tokio::spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(stream);
            }
        });
        let runtime = GrpcRuntime::connect(&socket.to_string_lossy()).expect("connected");
        let runtime = runtime.with_request_timeout(Duration::from_millis(50));
        let check = |error: RuntimeError| {
            assert_eq!(error.to_string(), "rpc error: code = DeadlineExceeded desc = context deadline exceeded");
            assert!(error.is_timeout());
        };
        check(runtime.version().await.expect_err("no answer"));
        check(runtime.start_container("c").await.expect_err("no answer"));
        check(runtime.stop_container("c", Duration::ZERO).await.expect_err("no answer"));
        check(runtime.run_pod_sandbox(v1::PodSandboxConfig::default(), "").await.expect_err("no answer"));
        let pull = runtime.pull_image("i", None, v1::PodSandboxConfig::default());
        assert!(tokio::time::timeout(Duration::from_millis(400), pull).await.is_err(), "pulls have no limit");
    }

    #[test]
    fn the_grace_of_a_pod_may_be_any_number_of_seconds() {
        for seconds in [30, i64::MAX as u64, u64::MAX] {
            let stop = request((), REQUEST_TIMEOUT.saturating_add(Duration::from_secs(seconds)));
            assert!(stop.metadata().contains_key("grpc-timeout"), "{seconds}");
        }
    }
}
