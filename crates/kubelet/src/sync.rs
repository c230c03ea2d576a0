//! Carries out a plan: sandbox, images, containers, hooks.
//!
//! Called by `pod_worker` for one pod at a time. Whatever fails is left as a
//! [`Waiting`] for the container and tried again on the next round.

pub(crate) mod mounts;
mod resize;

use crate::backoff::BackOff;
use crate::cgroup;
use crate::container::{self, ConfigError, References, config, env, env_file, sandbox, security, service_env};
use crate::context::Context;
use crate::cri::{RuntimeError, v1};
use crate::image::{self, PullFailure, Wanted};
use crate::kill::{self, KillOrder};
use crate::lifecycle;
use crate::observed::{PodRuntime, State};
use crate::plan::{KillReason, Plan};
use crate::pod::{self, ContainerKind};
use crate::status::Waiting;
use crate::unsupported;
use crate::volume::{Mounted, PodVolumes, VolumeFailure};
use ferry_api::rules::duration;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{ContainerView, EnvVarSourceView, Pod, PodView};
use ferry_api::view::node::v1::RuntimeClass;
use ferry_client::{EventType, Reference, SharedObject};
use jiff::Timestamp;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How an event names one container of a pod.
pub fn container_reference(pod: PodView<'_>, name: &str) -> Reference {
    let list = match pod::find_container(pod, name) {
        Some((ContainerKind::Init, _)) => "initContainers",
        Some((ContainerKind::Ephemeral, _)) => "ephemeralContainers",
        _ => "containers",
    };
    Reference::of::<Pod>(pod.metadata()).at(format!("spec.{list}{{{name}}}"))
}

/// The result of carrying out a plan.
#[derive(Debug, Default)]
pub struct Outcome {
    /// When to look again although nothing has happened.
    pub retry_at: Option<Timestamp>,
    /// The whole pod could not proceed; its worker backs off.
    pub failed: Option<String>,
    /// A resize could not be carried out; it is tried again.
    pub resize_failed: Option<String>,
}

impl Outcome {
    fn retry(&mut self, at: Option<Timestamp>) {
        self.retry_at = match (self.retry_at, at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

/// One round for one pod.
pub struct PodSync<'a> {
    pub context: &'a Context,
    pub pod: &'a SharedObject<Pod>,
    pub references: &'a Arc<References>,
    pub mounted: &'a Mounted,
    pub backoff: &'a mut BackOff,
    pub failures: &'a mut HashMap<String, Waiting>,
}

/// A container that could not be started.
struct StartError {
    reason: String,
    message: String,
    retry_at: Option<Timestamp>,
}

impl StartError {
    fn new(reason: &str, message: impl Into<String>) -> Self {
        Self { reason: reason.into(), message: message.into(), retry_at: None }
    }
}

impl From<PullFailure> for StartError {
    fn from(failure: PullFailure) -> Self {
        Self { reason: failure.reason.into(), message: failure.message, retry_at: failure.retry_at }
    }
}

impl<'a> PodSync<'a> {
    fn pod(&self) -> PodView<'a> {
        self.pod.view()
    }

    /// `sandbox_ready` is called as soon as a new sandbox has its network, before images
    /// are pulled, so that the pod's address is known early.
    pub async fn execute(
        &mut self,
        plan: &Plan,
        observed: &PodRuntime,
        sandbox_ready: impl AsyncFnOnce(&str),
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if let Err(error) = self.end_unwanted(plan, observed).await {
            outcome.failed = Some(error.to_string());
            return outcome;
        }
        let mut ips = observed.ips().to_vec();
        let config = self.sandbox_config(plan.attempt);
        let sandbox_id = if plan.create_sandbox {
            match self.create_sandbox(config.clone()).await {
                Ok((id, new_ips)) => {
                    ips = new_ips;
                    sandbox_ready(&id).await;
                    id
                }
                Err(error) => {
                    outcome.failed = Some(error.to_string());
                    return outcome;
                }
            }
        } else {
            match &plan.sandbox_id {
                Some(id) => id.clone(),
                None => return outcome,
            }
        };
        let pod = self.pod();
        if pod::is_host_network(pod) {
            ips = self.context.config.node_ips.clone();
        }
        if !plan.create_sandbox && !plan.resize.is_empty() {
            outcome.resize_failed = self.resize(&plan.resize, observed).await.err();
        }
        let started = Started { sandbox_id: &sandbox_id, config: &config, ips: &ips, observed };
        for index in &plan.ephemeral_to_start {
            let Some(ephemeral) = pod::ephemeral_containers(pod).get(*index) else { continue };
            let target = observed.latest(ephemeral.target_container_name()).map(|record| record.id.as_str());
            let container = pod::ephemeral_as_container(ephemeral);
            let _ = self.start(container, &started, target, &mut outcome).await;
        }
        for container in plan.init_to_start.iter().filter_map(|index| pod::init_containers(pod).get(*index)) {
            let done = self.start(container, &started, None, &mut outcome).await;
            if done.is_err() && !pod::is_sidecar(container) {
                return outcome;
            }
        }
        for container in plan.to_start.iter().filter_map(|index| pod::containers(pod).get(*index)) {
            let _ = self.start(container, &started, None, &mut outcome).await;
        }
        outcome
    }

    async fn end_unwanted(&self, plan: &Plan, observed: &PodRuntime) -> Result<(), RuntimeError> {
        let context = self.context;
        if plan.create_sandbox && plan.sandbox_id.is_some() {
            context.recorder.event(
                self.pod,
                EventType::Normal,
                "SandboxChanged",
                "Pod sandbox changed, it will be killed and re-created.",
            );
        }
        if plan.kill_pod {
            kill::kill_pod(context, self.pod(), observed, None).await?;
            if plan.create_sandbox {
                // Init containers of the old sandbox would look as if they had run in the new one.
                for record in &observed.containers {
                    if pod::init_containers(self.pod()).iter().any(|c| c.name() == record.name) {
                        context.runtime.remove_container(&record.id).await?;
                    }
                }
            }
            return Ok(());
        }
        let ip = observed.ips().first().cloned().unwrap_or_default();
        for kill in &plan.to_kill {
            let Some(record) = observed.containers.iter().find(|record| record.id == kill.id) else { continue };
            let order = KillOrder { record, message: kill.message.clone(), reason: kill.reason, grace_override: None };
            kill::kill_container(context, self.pod(), &ip, order).await?;
        }
        Ok(())
    }

    fn sandbox_config(&self, attempt: u32) -> v1::PodSandboxConfig {
        let context = self.context;
        sandbox::render_sandbox(&sandbox::Inputs {
            pod: self.pod(),
            attempt,
            machine: &context.machine(),
            resolver: &context.host_resolver(),
            cluster_dns: &context.config.cluster_dns,
            cluster_domain: &context.config.cluster_domain,
            log_root: &context.config.log_dir,
        })
    }

    async fn create_sandbox(&self, config: v1::PodSandboxConfig) -> Result<(String, Vec<String>), String> {
        let context = self.context;
        let parent = config.linux.as_ref().map(|linux| linux.cgroup_parent.clone()).unwrap_or_default();
        let limits = container::resources::compute_pod_cgroup(self.pod());
        let logs = PathBuf::from(&config.log_directory);
        let made = tokio::task::spawn_blocking(move || {
            if let Err(error) = cgroup::create(&parent, &limits) {
                tracing::debug!(%parent, %error, "cannot make the pod's cgroup");
            }
            std::fs::create_dir_all(&logs)
        })
        .await;
        if let Ok(Err(error)) = made {
            let message = format!("error making pod data directories: {error}");
            context.recorder.event(self.pod, EventType::Warning, "Failed", message.clone());
            return Err(message);
        }
        let failed = |why: String| {
            let message = format!("Failed to create pod sandbox: {why}");
            context.recorder.event(self.pod, EventType::Warning, "FailedCreatePodSandBox", message.clone());
            message
        };
        let handler = self.runtime_handler().await.map_err(failed)?;
        let id = context.runtime.run_pod_sandbox(config, &handler).await.map_err(|error| failed(error.to_string()))?;
        context.wakers.add(self.pod.uid(), &id);
        let status = context.runtime.pod_sandbox_status(&id).await.map_err(|error| {
            let message = format!("Unable to get pod sandbox status: {error}");
            context.recorder.event(self.pod, EventType::Warning, "FailedPodSandBoxStatus", message.clone());
            message
        })?;
        let network = status.network.unwrap_or_default();
        let ips = std::iter::once(network.ip)
            .chain(network.additional_ips.into_iter().map(|ip| ip.ip))
            .filter(|ip| !ip.is_empty())
            .collect();
        Ok((id, ips))
    }

    /// The runtime's name for the pod's RuntimeClass; empty for its default.
    async fn runtime_handler(&self) -> Result<String, String> {
        let Some(name) = pod::runtime_class(self.pod()) else { return Ok(String::new()) };
        let class = self.context.client.api::<RuntimeClass>("").get(name).await;
        class.map(|class| class.view().handler().to_owned()).map_err(|error| match error.is_not_found() {
            true => format!("RuntimeClass {name:?} not found"),
            false => format!("failed to lookup RuntimeClass {name}: {error}"),
        })
    }

    /// Starts one container, or says in the failures why not.
    async fn start(
        &mut self,
        container: ContainerView<'_>,
        started: &Started<'_>,
        target: Option<&str>,
        outcome: &mut Outcome,
    ) -> Result<(), ()> {
        let result = match self.back_off(container, started.observed) {
            Some(error) => Err(error),
            None => self.start_now(container, started, target).await,
        };
        match result {
            Ok(()) => {
                self.failures.remove(container.name());
                Ok(())
            }
            Err(error) => {
                outcome.retry(error.retry_at.or_else(|| Some(soon())));
                let waiting = Waiting { reason: error.reason, message: error.message };
                self.failures.insert(container.name().to_owned(), waiting);
                Err(())
            }
        }
    }

    /// A container that has crashed waits before it is started again.
    fn back_off(&mut self, container: ContainerView<'_>, observed: &PodRuntime) -> Option<StartError> {
        let name = container.name();
        let record = observed.containers.iter().find(|c| c.name == name && c.state == State::Exited)?;
        let ended = Timestamp::from_nanosecond(i128::from(record.finished_at)).ok()?;
        let now = Timestamp::now();
        let Some(until) = self.backoff.until_since(name, ended, now) else {
            self.backoff.next(name, ended, now);
            return None;
        };
        let pod = pod::full_name(self.pod());
        self.context.recorder.event(
            container_reference(self.pod(), name),
            EventType::Warning,
            "BackOff",
            format!("Back-off restarting failed container {name} in pod {pod}"),
        );
        let wait = duration::format(self.backoff.wait(name));
        Some(StartError {
            reason: "CrashLoopBackOff".into(),
            message: format!("back-off {wait} restarting failed container={name} pod={pod}"),
            retry_at: Some(until),
        })
    }

    async fn start_now(
        &mut self,
        container: ContainerView<'_>,
        started: &Started<'_>,
        target: Option<&str>,
    ) -> Result<(), StartError> {
        let context = self.context;
        let reference = container_reference(self.pod(), container.name());
        let say = |kind, reason: &str, message: String| context.recorder.event(&reference, kind, reason, message);
        if let Some(why) = unsupported::judge_container(container, &reference.field_path) {
            say(EventType::Warning, "Failed", format!("Error: {why}"));
            return Err(StartError::new("CreateContainerConfigError", why));
        }
        let failed = |error: &StartError| say(EventType::Warning, "Failed", format!("Error: {}", error.reason));
        let mounted = self.image_volumes(container, started).await.inspect_err(failed)?;
        let image = self.pull(container, started, &reference).await.inspect_err(failed)?;
        let restart_count = match started.observed.latest(container.name()) {
            Some(record) => record.restart_count + 1,
            None => next_log_number(&Path::new(&started.config.log_directory).join(container.name())),
        };
        let config = self
            .container_config(container, started, &image, &mounted, restart_count, target)
            .await
            .map_err(|ConfigError(why)| StartError::new("CreateContainerConfigError", why))
            .inspect_err(|error| say(EventType::Warning, "Failed", format!("Error: {}", error.message)))?;
        let id = context
            .runtime
            .create_container(started.sandbox_id, config, started.config.clone())
            .await
            .map_err(|error| StartError::new("CreateContainerError", error.message))
            .inspect_err(|error| say(EventType::Warning, "Failed", format!("Error: {}", error.message)))?;
        context.wakers.add(self.pod.uid(), &id);
        say(EventType::Normal, "Created", "Container created".into());
        context
            .runtime
            .start_container(&id)
            .await
            .map_err(|error| StartError::new("RunContainerError", error.message))
            .inspect_err(|error| say(EventType::Warning, "Failed", format!("Error: {}", error.message)))?;
        say(EventType::Normal, "Started", "Container started".into());
        self.post_start(container, &id, started, &reference).await
    }

    /// The pod's volumes with those of images that the container mounts. A failure keeps only
    /// such containers from starting, as upstream has it (toKubeContainerImageVolumes).
    async fn image_volumes(&self, container: ContainerView<'_>, started: &Started<'_>) -> Result<Mounted, StartError> {
        let mut mounted = self.mounted.clone();
        let volumes = &self.context.volumes;
        let mut names = volumes.made_with_containers(self.pod());
        names.retain(|name| container.volume_mounts().iter().any(|mount| mount.name() == *name));
        if names.is_empty() {
            return Ok(mounted);
        }
        let mut own = PodVolumes::new(volumes.root(), self.pod.clone());
        own.references = self.references.clone();
        own.sandbox = Some(started.config.clone());
        let own = Arc::new(own);
        for name in names {
            let volume = volumes.set_up_with_container(&own, name).await.map_err(|failure| match failure {
                VolumeFailure::Image(failure) => StartError::from(failure),
                VolumeFailure::Mount(why) | VolumeFailure::Pending(why) => StartError::new("CreateContainerError", why),
            })?;
            mounted.volumes.insert(name.to_owned(), volume);
        }
        Ok(mounted)
    }

    async fn pull(
        &self,
        container: ContainerView<'_>,
        started: &Started<'_>,
        reference: &Reference,
    ) -> Result<v1::Image, StartError> {
        let named = self.pod().spec().image_pull_secrets().iter();
        let secrets: Vec<_> = named.filter_map(|secret| self.references.secrets.get(secret.name()).cloned()).collect();
        let image = container.image();
        let wanted = Wanted {
            image,
            policy: image::pull_policy(container.image_pull_policy(), image),
            pod_uid: self.pod.uid(),
            reference,
            secrets: &secrets,
            service_account: self.pod().spec().service_account_name(),
            sandbox: started.config,
        };
        self.context.images.ensure(&wanted).await.map_err(StartError::from)
    }

    /// The references with the files in volumes that the container's environment names; they are
    /// read at each start, because containers before it may have written them.
    async fn with_env_files(
        &self,
        container: ContainerView<'_>,
        mounted: &Mounted,
    ) -> Result<Arc<References>, ConfigError> {
        let names = |source: EnvVarSourceView<'_>| source.file_key_ref().is_some();
        if !container.env().iter().filter_map(|variable| variable.value_from()).any(names) {
            return Ok(self.references.clone());
        }
        let (container, mounted) = (container.to_owned(), mounted.clone());
        let read = tokio::task::spawn_blocking(move || env_file::read_all(container.view(), &mounted)).await;
        let env_files = read.map_err(|error| ConfigError(error.to_string()))?;
        Ok(Arc::new(References { env_files, ..(**self.references).clone() }))
    }

    async fn container_config(
        &self,
        container: ContainerView<'_>,
        started: &Started<'_>,
        image: &v1::Image,
        mounted: &Mounted,
        restart_count: u32,
        target: Option<&str>,
    ) -> Result<v1::ContainerConfig, ConfigError> {
        let context = self.context;
        context.services.synced().await;
        let machine = context.machine();
        let links = self.pod().spec().enable_service_links().unwrap_or(true);
        let namespace = self.pod.namespace();
        let mut services = context.services.list(Some(namespace));
        if namespace != "default" {
            services.extend(context.services.get("default", "kubernetes"));
        }
        let services = service_env::render_service_env(&services, namespace, links);
        let references = self.with_env_files(container, mounted).await?;
        let env = env::render_env(container, self.pod(), &references, &services, started.ips, &machine)?;
        let mounts = self.mounts(container, mounted, &env, started.ips).await?;
        let image_user = security::ImageUser::of(image);
        config::render_container(config::Inputs {
            pod: self.pod(),
            container,
            restart_count,
            image_ref: &image.id,
            image_user: &image_user,
            env: &env,
            mounts,
            devices: mounts::render_devices(container, mounted)?,
            target,
            machine: &machine,
            seccomp_root: &context.config.root_dir.join("seccomp"),
        })
    }

    async fn post_start(
        &self,
        container: ContainerView<'_>,
        id: &str,
        started: &Started<'_>,
        reference: &Reference,
    ) -> Result<(), StartError> {
        let Some(hook) = container.lifecycle().and_then(|lifecycle| lifecycle.post_start()) else { return Ok(()) };
        let context = self.context;
        let ip = started.ips.first().map(String::as_str).unwrap_or_default();
        let Err(why) = lifecycle::run(&*context.runtime, self.pod(), container, id, ip, hook).await else {
            return Ok(());
        };
        context.recorder.event(reference, EventType::Warning, "FailedPostStartHook", "PostStartHook failed");
        let mut observer = crate::observed::Observer::new(context.container_files());
        if let Ok(observed) = observer.observe(&*context.runtime, self.pod.uid(), None).await
            && let Some(record) = observed.containers.iter().find(|record| record.id == id)
        {
            let order = KillOrder {
                record,
                message: "FailedPostStartHook".into(),
                reason: KillReason::PostStartHook,
                grace_override: None,
            };
            let _ = kill::kill_container(context, self.pod(), ip, order).await;
        }
        Err(StartError::new("PostStartHookError", why))
    }
}

/// The sandbox that containers are started in.
struct Started<'a> {
    sandbox_id: &'a str,
    config: &'a v1::PodSandboxConfig,
    ips: &'a [String],
    observed: &'a PodRuntime,
}

/// A start that failed without a time of its own is tried again after this.
fn soon() -> Timestamp {
    Timestamp::now().saturating_add(jiff::SignedDuration::from_secs(10)).unwrap_or(Timestamp::MAX)
}

/// One more than the highest numbered log, so that a runtime that has forgotten its
/// containers does not write over their logs.
fn next_log_number(directory: &Path) -> u32 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.split('.').next()?.parse::<u32>().ok()
    });
    numbers.max().map_or(0, |number| number + 1)
}
