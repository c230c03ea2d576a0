//! A runtime that goes wrong at one call of a pod's life: the call fails, hangs, is done without
//! its answer being heard, or never returns because the kubelet is killed in it. Every call passes
//! through here and is counted, so that a test can go through a life call by call.

use super::double::RecordingRuntime;
use super::{ExecOutput, ImageMount, Result, Runtime, RuntimeError, RuntimeEvent, v1};
use async_trait::async_trait;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// The limit of a call that hangs, in place of upstream's two minutes.
const HANG: Duration = Duration::from_millis(150);
/// The time that a killed runtime takes to come back.
const ABSENCE: Duration = Duration::from_millis(400);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The runtime refuses, and nothing has happened.
    Failure,
    /// Nothing happens until the limit of the call has passed.
    Hang,
    /// It happened, and the caller hears of a broken connection.
    LostAnswer,
    /// The runtime is killed before it does anything, and every call fails until it is back.
    RuntimeKilled,
    /// The kubelet is killed before the call reached the runtime.
    KilledBefore,
    /// The kubelet is killed after the runtime did what it was asked.
    KilledAfter,
}

impl Fault {
    pub const ALL: [Self; 6] =
        [Self::Failure, Self::Hang, Self::LostAnswer, Self::RuntimeKilled, Self::KilledBefore, Self::KilledAfter];
}

/// A call by its verb and the number of calls of that verb before it.
pub type Call = (&'static str, usize);

pub struct FaultyRuntime {
    pub inner: Arc<RecordingRuntime>,
    state: Mutex<State>,
    struck: Notify,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    counts: HashMap<&'static str, usize>,
    fault: Option<(Call, Fault)>,
    back_at: Option<Instant>,
}

impl FaultyRuntime {
    /// Without a fault it only counts.
    pub fn new(inner: Arc<RecordingRuntime>, fault: Option<(Call, Fault)>) -> Self {
        Self { inner, state: Mutex::new(State { fault, ..Default::default() }), struck: Notify::new() }
    }

    pub fn calls(&self) -> Vec<Call> {
        self.state.lock().calls.clone()
    }

    /// Whether the call of the fault has come.
    pub fn has_struck(&self) -> bool {
        self.state.lock().fault.is_none()
    }

    /// Returns once the call of the fault has come.
    pub async fn struck(&self) {
        self.struck.notified().await;
    }

    fn arrive(&self, verb: &'static str) -> Result<Option<Fault>> {
        let mut state = self.state.lock();
        let count = state.counts.entry(verb).or_default();
        let call = (verb, *count);
        *count += 1;
        state.calls.push(call);
        if state.back_at.is_some_and(|at| Instant::now() < at) {
            return Err(unavailable());
        }
        let fault = state.fault.take_if(|(at, _)| *at == call).map(|(_, fault)| fault);
        if fault == Some(Fault::RuntimeKilled) {
            state.back_at = Some(Instant::now() + ABSENCE);
        }
        Ok(fault)
    }

    async fn through<T>(&self, verb: &'static str, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let Some(fault) = self.arrive(verb)? else { return call.await };
        match fault {
            Fault::Failure => {
                self.struck.notify_one();
                Err(RuntimeError::new(tonic::Code::Unknown, "injected"))
            }
            Fault::Hang => {
                self.struck.notify_one();
                tokio::time::sleep(HANG).await;
                Err(RuntimeError::new(tonic::Code::DeadlineExceeded, "context deadline exceeded"))
            }
            Fault::LostAnswer => {
                let _ = call.await;
                self.struck.notify_one();
                Err(RuntimeError::new(tonic::Code::Unavailable, "error reading from server: EOF"))
            }
            Fault::RuntimeKilled => {
                self.struck.notify_one();
                Err(unavailable())
            }
            Fault::KilledBefore => {
                self.struck.notify_one();
                std::future::pending().await
            }
            Fault::KilledAfter => {
                let _ = call.await;
                self.struck.notify_one();
                std::future::pending().await
            }
        }
    }
}

fn unavailable() -> RuntimeError {
    RuntimeError::new(tonic::Code::Unavailable, "connection error: desc = \"transport: error while dialing\"")
}

#[async_trait]
impl Runtime for FaultyRuntime {
    async fn version(&self) -> Result<v1::VersionResponse> {
        self.through("version", self.inner.version()).await
    }

    async fn status(&self) -> Result<v1::StatusResponse> {
        self.through("status", self.inner.status()).await
    }

    async fn run_pod_sandbox(&self, config: v1::PodSandboxConfig, handler: &str) -> Result<String> {
        self.through("run_pod_sandbox", self.inner.run_pod_sandbox(config, handler)).await
    }

    async fn stop_pod_sandbox(&self, id: &str) -> Result<()> {
        self.through("stop_pod_sandbox", self.inner.stop_pod_sandbox(id)).await
    }

    async fn remove_pod_sandbox(&self, id: &str) -> Result<()> {
        self.through("remove_pod_sandbox", self.inner.remove_pod_sandbox(id)).await
    }

    async fn pod_sandbox_status(&self, id: &str) -> Result<v1::PodSandboxStatus> {
        self.through("pod_sandbox_status", self.inner.pod_sandbox_status(id)).await
    }

    async fn list_pod_sandboxes(&self, filter: Option<v1::PodSandboxFilter>) -> Result<Vec<v1::PodSandbox>> {
        self.through("list_pod_sandboxes", self.inner.list_pod_sandboxes(filter)).await
    }

    async fn create_container(
        &self,
        sandbox_id: &str,
        config: v1::ContainerConfig,
        sandbox: v1::PodSandboxConfig,
    ) -> Result<String> {
        self.through("create_container", self.inner.create_container(sandbox_id, config, sandbox)).await
    }

    async fn start_container(&self, id: &str) -> Result<()> {
        self.through("start_container", self.inner.start_container(id)).await
    }

    async fn stop_container(&self, id: &str, grace: Duration) -> Result<()> {
        self.through("stop_container", self.inner.stop_container(id, grace)).await
    }

    async fn remove_container(&self, id: &str) -> Result<()> {
        self.through("remove_container", self.inner.remove_container(id)).await
    }

    async fn update_container_resources(&self, id: &str, resources: v1::LinuxContainerResources) -> Result<()> {
        self.through("update_container_resources", self.inner.update_container_resources(id, resources)).await
    }

    async fn container_status(&self, id: &str) -> Result<v1::ContainerStatus> {
        self.through("container_status", self.inner.container_status(id)).await
    }

    async fn list_containers(&self, filter: Option<v1::ContainerFilter>) -> Result<Vec<v1::Container>> {
        self.through("list_containers", self.inner.list_containers(filter)).await
    }

    async fn list_container_stats(&self) -> Result<Vec<v1::ContainerStats>> {
        self.through("list_container_stats", self.inner.list_container_stats()).await
    }

    async fn reopen_container_log(&self, id: &str) -> Result<()> {
        self.through("reopen_container_log", self.inner.reopen_container_log(id)).await
    }

    async fn exec_sync(&self, id: &str, command: Vec<String>, timeout: Duration) -> Result<ExecOutput> {
        self.through("exec_sync", self.inner.exec_sync(id, command, timeout)).await
    }

    async fn exec(&self, request: v1::ExecRequest) -> Result<String> {
        self.through("exec", self.inner.exec(request)).await
    }

    async fn attach(&self, request: v1::AttachRequest) -> Result<String> {
        self.through("attach", self.inner.attach(request)).await
    }

    async fn port_forward(&self, request: v1::PortForwardRequest) -> Result<String> {
        self.through("port_forward", self.inner.port_forward(request)).await
    }

    async fn image_status(&self, image: &str) -> Result<Option<v1::Image>> {
        self.through("image_status", self.inner.image_status(image)).await
    }

    async fn pull_image(
        &self,
        image: &str,
        auth: Option<v1::AuthConfig>,
        sandbox: v1::PodSandboxConfig,
    ) -> Result<String> {
        self.through("pull_image", self.inner.pull_image(image, auth, sandbox)).await
    }

    async fn list_images(&self) -> Result<Vec<v1::Image>> {
        self.through("list_images", self.inner.list_images()).await
    }

    async fn remove_image(&self, image: &str) -> Result<()> {
        self.through("remove_image", self.inner.remove_image(image)).await
    }

    async fn image_fs_info(&self) -> Result<v1::ImageFsInfoResponse> {
        self.through("image_fs_info", self.inner.image_fs_info()).await
    }

    async fn view_image(&self, image: &str, key: &str) -> Result<Vec<ImageMount>> {
        self.through("view_image", self.inner.view_image(image, key)).await
    }

    async fn remove_image_view(&self, key: &str) -> Result<()> {
        self.through("remove_image_view", self.inner.remove_image_view(key)).await
    }

    async fn events(&self) -> Result<mpsc::Receiver<RuntimeEvent>> {
        self.through("events", self.inner.events()).await
    }
}
