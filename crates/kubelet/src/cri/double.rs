//! A runtime that lives in memory: it records every call and keeps sandboxes and
//! containers as a real one would, so that workers can be tested without a machine.

use super::{ExecOutput, ImageMount, Result, Runtime, RuntimeError, RuntimeEvent, v1};
use async_trait::async_trait;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::sync::mpsc;

#[derive(Default)]
pub struct RecordingRuntime {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: Vec<String>,
    next: u64,
    sandboxes: HashMap<String, (v1::PodSandboxConfig, v1::PodSandboxStatus)>,
    containers: HashMap<String, (v1::ContainerConfig, v1::ContainerStatus, String)>,
    images: HashMap<String, v1::Image>,
    /// The directory that holds an image's files, by its id.
    image_files: HashMap<String, String>,
    /// The password that the registry asks for an image.
    passwords: HashMap<String, String>,
    failures: HashMap<String, RuntimeError>,
    exec: HashMap<String, ExecOutput>,
    subscribers: Vec<mpsc::Sender<RuntimeEvent>>,
    /// Names of containers whose process dies while they are being started.
    stillborn: HashSet<String>,
    /// How often such a container's status is still read as running.
    lagging: HashMap<String, u32>,
    /// Exit codes of containers that have done their work at once, by name.
    brief: HashMap<String, i32>,
    /// What the runtime reports of itself and of its handlers.
    features: Option<v1::RuntimeFeatures>,
    handlers: Vec<v1::RuntimeHandler>,
    /// The keys of image views.
    views: HashSet<String>,
    /// The number of starts of each container, by pod and name.
    starts: HashMap<(String, String), u32>,
    /// The times that something ran twice at once.
    doubled: Vec<String>,
}

/// Reads of a dead container's status that find it running; more than a worker does of
/// its own accord.
const LAG: u32 = 10;
/// How long a start goes on after its process has died.
const SLOW_START: Duration = Duration::from_millis(100);

impl RecordingRuntime {
    /// The calls so far, as `verb object`.
    pub fn calls(&self) -> Vec<String> {
        self.state.lock().calls.clone()
    }

    pub fn add_image(&self, name: &str) {
        let image = v1::Image { id: image_id(name), repo_tags: vec![name.into()], size: 1, ..Default::default() };
        self.state.lock().images.insert(name.into(), image);
    }

    /// The image's files are those of a directory.
    pub fn unpack(&self, image: &str, directory: &std::path::Path) {
        let files = directory.to_string_lossy().into_owned();
        self.state.lock().image_files.insert(image_id(image), files);
    }

    /// The image's registry gives it only to those who know the password.
    pub fn protect(&self, image: &str, password: &str) {
        self.state.lock().passwords.insert(image.into(), password.into());
    }

    /// The features that the runtime reports; it has none before.
    pub fn report_features(&self, features: v1::RuntimeFeatures, handlers: Vec<v1::RuntimeHandler>) {
        let mut state = self.state.lock();
        state.features = Some(features);
        state.handlers = handlers;
    }

    /// The configurations of all containers that exist, by name.
    pub fn container_config(&self, name: &str) -> Option<v1::ContainerConfig> {
        let state = self.state.lock();
        state.containers.values().map(|(config, ..)| config).find(|config| name_of(config) == name).cloned()
    }

    /// The configuration of the pod's sandbox.
    pub fn sandbox_config(&self, pod: &str) -> Option<v1::PodSandboxConfig> {
        let state = self.state.lock();
        let is_own = |config: &&v1::PodSandboxConfig| config.metadata.as_ref().is_some_and(|own| own.name == pod);
        state.sandboxes.values().map(|(config, _)| config).find(is_own).cloned()
    }

    /// Every call of this verb fails until told otherwise.
    pub fn fail(&self, verb: &str, error: Option<RuntimeError>) {
        let mut state = self.state.lock();
        match error {
            Some(error) => state.failures.insert(verb.into(), error),
            None => state.failures.remove(verb),
        };
    }

    pub fn answer_exec(&self, command: &str, output: ExecOutput) {
        self.state.lock().exec.insert(command.into(), output);
    }

    /// Ends the running container of that name, as its process would.
    pub fn exit(&self, container: &str, code: i32) {
        let mut state = self.state.lock();
        let running = v1::ContainerState::ContainerRunning as i32;
        let found = state
            .containers
            .values_mut()
            .find(|(config, status, _)| name_of(config) == container && status.state == running);
        let Some((_, status, _)) = found else { return };
        end(status, code);
        let id = status.id.clone();
        state.tell(&id);
    }

    /// Containers of that name die while they are started: their end is told before the
    /// runtime calls them running, and it calls them running for a while.
    pub fn exit_at_start(&self, container: &str) {
        self.state.lock().stillborn.insert(container.into());
    }

    /// Containers of that name end by themselves as soon as they have been started.
    pub fn exit_after_start(&self, container: &str, code: i32) {
        self.state.lock().brief.insert(container.into(), code);
    }

    /// How often the container of a pod was started.
    pub fn starts(&self, pod: &str, container: &str) -> u32 {
        self.state.lock().starts.get(&(pod.into(), container.into())).copied().unwrap_or_default()
    }

    /// Containers and sandboxes that ran while another of the same name and pod did.
    pub fn doubled(&self) -> Vec<String> {
        self.state.lock().doubled.clone()
    }

    /// Everything that is left, by its id.
    pub fn left(&self) -> Vec<String> {
        let state = self.state.lock();
        state.sandboxes.keys().chain(state.containers.keys()).chain(&state.views).cloned().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.left().is_empty()
    }
}

/// Images have plain digests, as real ones.
fn image_id(name: &str) -> String {
    format!("sha256:{}", name.replace([':', '/', '.'], "-"))
}

fn name_of(config: &v1::ContainerConfig) -> &str {
    config.metadata.as_ref().map(|metadata| metadata.name.as_str()).unwrap_or_default()
}

fn uid_of(config: &v1::PodSandboxConfig) -> &str {
    config.metadata.as_ref().map(|metadata| metadata.uid.as_str()).unwrap_or_default()
}

fn now() -> i64 {
    i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX)
}

fn end(status: &mut v1::ContainerStatus, code: i32) {
    status.state = v1::ContainerState::ContainerExited as i32;
    status.exit_code = code;
    status.finished_at = now();
    status.reason = if code == 0 { "Completed".into() } else { "Error".into() };
}

impl State {
    fn call(&mut self, verb: &str, object: &str) -> Result<()> {
        self.calls.push(format!("{verb} {object}"));
        match self.failures.get(verb) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    fn id(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn tell(&mut self, id: &str) {
        let event = RuntimeEvent { id: id.into(), exited: true };
        self.subscribers.retain(|subscriber| {
            !matches!(subscriber.try_send(event.clone()), Err(mpsc::error::TrySendError::Closed(_)))
        });
    }
}

fn not_found(what: &str) -> RuntimeError {
    RuntimeError::new(tonic::Code::NotFound, format!("{what} not found"))
}

fn unsupported<T>(verb: &str) -> Result<T> {
    Err(RuntimeError::new(tonic::Code::Unimplemented, format!("{verb} is not part of the double")))
}

fn has_labels(labels: &HashMap<String, String>, wanted: &HashMap<String, String>) -> bool {
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
}

#[async_trait]
impl Runtime for RecordingRuntime {
    async fn version(&self) -> Result<v1::VersionResponse> {
        Ok(v1::VersionResponse {
            version: "0.1.0".into(),
            runtime_name: "double".into(),
            runtime_version: "1".into(),
            runtime_api_version: "v1".into(),
        })
    }

    async fn status(&self) -> Result<v1::StatusResponse> {
        let condition = |kind: &str| v1::RuntimeCondition { r#type: kind.into(), status: true, ..Default::default() };
        let state = self.state.lock();
        if let Some(error) = state.failures.get("status") {
            return Err(error.clone());
        }
        let conditions = vec![condition("RuntimeReady"), condition("NetworkReady")];
        Ok(v1::StatusResponse {
            status: Some(v1::RuntimeStatus { conditions }),
            features: state.features,
            runtime_handlers: state.handlers.clone(),
            ..Default::default()
        })
    }

    async fn run_pod_sandbox(&self, config: v1::PodSandboxConfig, _handler: &str) -> Result<String> {
        let mut state = self.state.lock();
        let metadata = config.metadata.clone().unwrap_or_default();
        state.call("run_pod_sandbox", &metadata.name)?;
        let uid = metadata.uid.clone();
        let ready = v1::PodSandboxState::SandboxReady as i32;
        if state.sandboxes.values().any(|(config, status)| status.state == ready && uid_of(config) == uid) {
            state.doubled.push(format!("sandbox of {}", metadata.name));
        }
        let id = state.id("sandbox-");
        let number = state.next;
        let status = v1::PodSandboxStatus {
            id: id.clone(),
            metadata: Some(metadata),
            state: v1::PodSandboxState::SandboxReady as i32,
            created_at: now(),
            network: Some(v1::PodSandboxNetworkStatus { ip: format!("10.0.0.{number}"), ..Default::default() }),
            labels: config.labels.clone(),
            ..Default::default()
        };
        state.sandboxes.insert(id.clone(), (config, status));
        Ok(id)
    }

    async fn stop_pod_sandbox(&self, id: &str) -> Result<()> {
        let mut state = self.state.lock();
        state.call("stop_pod_sandbox", id)?;
        if let Some((_, status)) = state.sandboxes.get_mut(id) {
            status.state = v1::PodSandboxState::SandboxNotready as i32;
        }
        Ok(())
    }

    async fn remove_pod_sandbox(&self, id: &str) -> Result<()> {
        let mut state = self.state.lock();
        state.call("remove_pod_sandbox", id)?;
        state.sandboxes.remove(id);
        state.containers.retain(|_, (_, _, sandbox)| sandbox != id);
        Ok(())
    }

    async fn pod_sandbox_status(&self, id: &str) -> Result<v1::PodSandboxStatus> {
        self.state.lock().sandboxes.get(id).map(|(_, status)| status.clone()).ok_or_else(|| not_found(id))
    }

    async fn list_pod_sandboxes(&self, filter: Option<v1::PodSandboxFilter>) -> Result<Vec<v1::PodSandbox>> {
        let wanted = filter.unwrap_or_default().label_selector;
        let state = self.state.lock();
        let found = state.sandboxes.values().filter(|(config, _)| has_labels(&config.labels, &wanted));
        Ok(found
            .map(|(config, status)| v1::PodSandbox {
                id: status.id.clone(),
                state: status.state,
                labels: config.labels.clone(),
                ..Default::default()
            })
            .collect())
    }

    async fn create_container(
        &self,
        sandbox_id: &str,
        config: v1::ContainerConfig,
        sandbox: v1::PodSandboxConfig,
    ) -> Result<String> {
        let mut state = self.state.lock();
        state.call("create_container", name_of(&config))?;
        let id = state.id("container-");
        let image = config.image.clone().unwrap_or_default();
        let status = v1::ContainerStatus {
            id: id.clone(),
            metadata: config.metadata.clone(),
            state: v1::ContainerState::ContainerCreated as i32,
            created_at: now(),
            image_ref: image.image.clone(),
            image: Some(v1::ImageSpec { image: image.user_specified_image, ..Default::default() }),
            labels: config.labels.clone(),
            annotations: config.annotations.clone(),
            mounts: config.mounts.clone(),
            log_path: format!("{}/{}", sandbox.log_directory, config.log_path),
            ..Default::default()
        };
        state.containers.insert(id.clone(), (config, status, sandbox_id.into()));
        Ok(id)
    }

    async fn start_container(&self, id: &str) -> Result<()> {
        let stillborn = {
            let mut state = self.state.lock();
            state.call("start_container", id)?;
            let (config, _, _) = state.containers.get(id).ok_or_else(|| not_found(id))?;
            let stillborn = state.stillborn.contains(name_of(config));
            if stillborn {
                state.lagging.insert(id.into(), LAG);
                state.tell(id);
            }
            stillborn
        };
        if stillborn {
            tokio::time::sleep(SLOW_START).await;
        }
        let mut state = self.state.lock();
        let State { containers, brief, starts, doubled, .. } = &mut *state;
        let (config, status, sandbox) = containers.get(id).ok_or_else(|| not_found(id))?;
        let name = name_of(config).to_owned();
        let running = v1::ContainerState::ContainerRunning as i32;
        let pod = config.labels.get("io.kubernetes.pod.name").cloned().unwrap_or_default();
        if status.state == running {
            let message = format!("container {id} is already running");
            return Err(RuntimeError::new(tonic::Code::FailedPrecondition, message));
        }
        let is_twin = |other: &v1::ContainerConfig| name_of(other) == name;
        let mut others = containers.values().filter(|(_, status, of)| of == sandbox && status.state == running);
        if others.any(|(other, _, _)| is_twin(other)) {
            doubled.push(format!("container {name} of {pod}"));
        }
        *starts.entry((pod, name.clone())).or_default() += 1;
        let (_, status, _) = containers.get_mut(id).ok_or_else(|| not_found(id))?;
        status.state = running;
        status.started_at = now();
        if let Some(code) = brief.get(&name) {
            end(status, *code);
            state.tell(id);
        }
        Ok(())
    }

    async fn stop_container(&self, id: &str, grace: Duration) -> Result<()> {
        let mut state = self.state.lock();
        state.call("stop_container", &format!("{id} {}", grace.as_secs()))?;
        if let Some((_, status, _)) = state.containers.get_mut(id)
            && status.state == v1::ContainerState::ContainerRunning as i32
        {
            end(status, 143);
        }
        Ok(())
    }

    async fn remove_container(&self, id: &str) -> Result<()> {
        let mut state = self.state.lock();
        state.call("remove_container", id)?;
        state.containers.remove(id);
        Ok(())
    }

    async fn update_container_resources(&self, id: &str, resources: v1::LinuxContainerResources) -> Result<()> {
        let v1::LinuxContainerResources { cpu_shares, cpu_quota, memory_limit_in_bytes, .. } = resources;
        let told = format!("{id} {cpu_shares} {cpu_quota} {memory_limit_in_bytes}");
        self.state.lock().call("update_container_resources", &told)
    }

    async fn container_status(&self, id: &str) -> Result<v1::ContainerStatus> {
        let mut state = self.state.lock();
        let State { containers, lagging, .. } = &mut *state;
        let (_, status, _) = containers.get_mut(id).ok_or_else(|| not_found(id))?;
        if status.state == v1::ContainerState::ContainerRunning as i32
            && let Some(left) = lagging.get_mut(id)
        {
            *left = left.saturating_sub(1);
            if *left == 0 {
                end(status, 1);
            }
        }
        Ok(status.clone())
    }

    async fn list_containers(&self, filter: Option<v1::ContainerFilter>) -> Result<Vec<v1::Container>> {
        let wanted = filter.unwrap_or_default().label_selector;
        let state = self.state.lock();
        let found = state.containers.values().filter(|(config, _, _)| has_labels(&config.labels, &wanted));
        Ok(found
            .map(|(config, status, sandbox)| v1::Container {
                id: status.id.clone(),
                pod_sandbox_id: sandbox.clone(),
                state: status.state,
                labels: config.labels.clone(),
                ..Default::default()
            })
            .collect())
    }

    async fn list_container_stats(&self) -> Result<Vec<v1::ContainerStats>> {
        Ok(Vec::new())
    }

    async fn reopen_container_log(&self, id: &str) -> Result<()> {
        self.state.lock().call("reopen_container_log", id)
    }

    async fn exec_sync(&self, id: &str, command: Vec<String>, _timeout: Duration) -> Result<ExecOutput> {
        let mut state = self.state.lock();
        let text = command.join(" ");
        state.call("exec_sync", &format!("{id} {text}"))?;
        Ok(state.exec.get(&text).cloned().unwrap_or_default())
    }

    async fn exec(&self, _request: v1::ExecRequest) -> Result<String> {
        unsupported("exec")
    }

    async fn attach(&self, _request: v1::AttachRequest) -> Result<String> {
        unsupported("attach")
    }

    async fn port_forward(&self, _request: v1::PortForwardRequest) -> Result<String> {
        unsupported("port_forward")
    }

    async fn image_status(&self, image: &str) -> Result<Option<v1::Image>> {
        Ok(self.state.lock().images.get(image).cloned())
    }

    async fn pull_image(
        &self,
        image: &str,
        auth: Option<v1::AuthConfig>,
        _sandbox: v1::PodSandboxConfig,
    ) -> Result<String> {
        let mut state = self.state.lock();
        state.call("pull_image", image)?;
        let offered = auth.map(|auth| auth.password).unwrap_or_default();
        if state.passwords.get(image).is_some_and(|password| *password != offered) {
            return Err(RuntimeError::new(tonic::Code::Unknown, "authorization failed: no basic auth credentials"));
        }
        drop(state);
        self.add_image(image);
        Ok(image_id(image))
    }

    async fn list_images(&self) -> Result<Vec<v1::Image>> {
        Ok(self.state.lock().images.values().cloned().collect())
    }

    async fn remove_image(&self, image: &str) -> Result<()> {
        let mut state = self.state.lock();
        state.call("remove_image", image)?;
        state.images.remove(image);
        Ok(())
    }

    async fn image_fs_info(&self) -> Result<v1::ImageFsInfoResponse> {
        Ok(v1::ImageFsInfoResponse::default())
    }

    async fn view_image(&self, image: &str, key: &str) -> Result<Vec<ImageMount>> {
        let mut state = self.state.lock();
        state.call("view_image", &format!("{image} {key}"))?;
        let source = state.image_files.get(image).cloned().ok_or_else(|| not_found(image))?;
        state.views.insert(key.into());
        Ok(vec![ImageMount { kind: "bind".into(), source, options: vec!["ro".into(), "rbind".into()] }])
    }

    async fn remove_image_view(&self, key: &str) -> Result<()> {
        let mut state = self.state.lock();
        state.call("remove_image_view", key)?;
        state.views.remove(key);
        Ok(())
    }

    async fn events(&self) -> Result<mpsc::Receiver<RuntimeEvent>> {
        let (sender, receiver) = mpsc::channel(64);
        self.state.lock().subscribers.push(sender);
        Ok(receiver)
    }
}
