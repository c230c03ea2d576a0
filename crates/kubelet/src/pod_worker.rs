//! One task for each pod: it brings what the runtime has in line with what the API asks
//! for, until the pod is gone.
//!
//! Each round reads the runtime afresh, decides with `plan`, acts with `sync` or `kill`,
//! and writes the status. A round is woken by a change of the pod, by the runtime (a
//! container ended), by a probe, by a ConfigMap or Secret, or by its own next deadline.

mod allocate;
mod ending;

use crate::admit::Rejection;
use crate::backoff::BackOff;
use crate::container::{self, References};
use crate::context::Context;
use crate::observed::{Observer, PodRuntime, State};
use crate::plan::{Plan, is_resize_in_progress, plan_pod};
use crate::pod;
use crate::pod_end::PodEnd;
use crate::probe::{Probes, Target};
use crate::status::{self, Waiting};
use crate::sync::{PodSync, container_reference};
use crate::volume::claim::{self, Claims, PodStage};
use crate::volume::{Mounted, PodVolumes, VolumeError, token::TokenSource};
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Pod, PodStatusView};
use ferry_client::{EventType, Patch, SharedObject};
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// Waits after a round that could not finish.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(10);
/// Volumes that cannot be made are tried again by upstream's own back-off.
const FIRST_MOUNT_RETRY: Duration = Duration::from_millis(500);
const LAST_MOUNT_RETRY: Duration = Duration::from_secs(122);
/// The longest that a pod waits for its volumes without an event; upstream's podAttachAndMountTimeout.
const ATTACH_SECONDS: i64 = 123;

/// The pod as the API has it.
#[derive(Clone)]
pub struct Desired {
    pub pod: SharedObject<Pod>,
    /// The API has forgotten it; only cleaning up is left.
    pub gone: bool,
    /// The node has decided to end it.
    pub end: Option<Arc<PodEnd>>,
}

/// Where a pod stands with this worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Active,
    /// Everything is stopped; the API still has the pod.
    Finished,
    /// Nothing is left of it here; the API was told and may keep it for a finalizer.
    Removed,
}

/// The reason why a pod's containers cannot be started yet.
enum Unprepared {
    /// The text of a FailedMount event.
    Failed(String),
    Pending(VolumeError),
}

impl From<String> for Unprepared {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

enum Next {
    /// Sleep until woken, at the latest then.
    Wait(Option<Timestamp>),
    /// Look again at once.
    Again,
    /// The worker has nothing more to do, ever.
    End,
}

pub struct PodWorker {
    context: Arc<Context>,
    uid: String,
    /// The pod as the API has it.
    wanted: SharedObject<Pod>,
    /// The same with the resources that this node has allocated to it.
    pod: SharedObject<Pod>,
    gone: bool,
    desired: watch::Receiver<Desired>,
    wake: Arc<Notify>,
    stage: Stage,
    admitted: bool,
    /// The volumes that this node cannot mount; a pod's volumes never change.
    missing_volumes: Option<String>,
    observer: Observer,
    backoff: BackOff,
    retry: BackOff,
    mount_retry: BackOff,
    /// Since when the pod waits for volumes that others have to attach.
    pending_since: Option<Timestamp>,
    failures: HashMap<String, Waiting>,
    probes: Probes,
    tokens: TokenSource,
    claims: Claims,
    /// The pod whose status is the last one that the API is known to have; newer than `pod`
    /// after a write that has not come back yet.
    known: SharedObject<Pod>,
    /// A verdict on the whole pod that outweighs its containers: rejected, deadline passed.
    verdict: Option<Rejection>,
    /// The node's own decision to end the pod, once it is the verdict.
    end: Option<Arc<PodEnd>>,
    /// Such a decision has come, also where the pod had ended before.
    has_end: bool,
}

impl PodWorker {
    pub fn new(context: Arc<Context>, desired: watch::Receiver<Desired>) -> Self {
        let first = desired.borrow().clone();
        let uid = first.pod.uid().to_string();
        let wake = context.wakers.register(&uid);
        let probes = Probes::new(
            context.runtime.clone(),
            context.wakers.clone(),
            context.recorder.clone(),
            context.probe_metrics.clone(),
        );
        Self {
            known: first.pod.clone(),
            wanted: first.pod.clone(),
            pod: first.pod,
            gone: first.gone,
            observer: Observer::new(context.container_files()),
            context,
            uid,
            desired,
            wake,
            stage: Stage::Active,
            admitted: false,
            missing_volumes: None,
            backoff: BackOff::default(),
            retry: BackOff::new(FIRST_RETRY, LAST_RETRY),
            mount_retry: BackOff::new(FIRST_MOUNT_RETRY, LAST_MOUNT_RETRY),
            pending_since: None,
            failures: HashMap::new(),
            probes,
            tokens: TokenSource::default(),
            claims: Claims::new(),
            verdict: None,
            end: None,
            has_end: false,
        }
    }

    /// Runs until the pod is gone and cleaned up, or `shutdown`. A shutdown leaves the
    /// containers running for the next kubelet to adopt.
    pub async fn run(mut self, shutdown: CancellationToken) {
        loop {
            self.learn();
            let mut watcher = self.desired.clone();
            let (grace, gone) = (self.grace(), self.gone);
            let terminating = self.is_terminating();
            let has_end = self.has_end;
            // A pod that is to end does not wait for an image or a slow start, and one
            // that is to end sooner than it was told does not wait for its old grace.
            let sooner = watcher.wait_for(|desired| {
                let deleting = desired.gone || desired.pod.is_deleting();
                let desired_grace = desired.pod.meta().deletion_grace_period_seconds();
                let shorter = desired_grace.is_some() && desired_grace < grace;
                let ended = desired.end.is_some() && !has_end;
                ended
                    || (deleting && !terminating)
                    || (desired.gone && !gone)
                    || (terminating && grace.is_some() && shorter)
            });
            let next = tokio::select! {
                biased;
                () = shutdown.cancelled() => return,
                next = self.round() => next,
                _ = sooner => Next::Again,
            };
            let deadline = match next {
                Next::End => break,
                Next::Again => continue,
                Next::Wait(deadline) => deadline,
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                changed = self.desired.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = self.wake.notified() => {}
                () = sleep_until(deadline) => {}
            }
        }
        self.context.wakers.forget(&self.uid);
        self.context.images.forget(&self.uid);
        self.context.config_maps.release(&self.uid);
        self.context.secrets.release(&self.uid);
        self.context.claims.release(&self.uid);
        self.release().await;
    }

    fn learn(&mut self) {
        let desired = self.desired.borrow_and_update().clone();
        // An echo of an older write must not undo what is known of a newer one.
        if revision(&desired.pod) >= revision(&self.known) {
            self.known = desired.pod.clone();
        }
        self.pod = self.context.allocations.allocated(&desired.pod);
        self.wanted = desired.pod;
        self.gone |= desired.gone;
        self.take_end(desired.end);
    }

    fn grace(&self) -> Option<i64> {
        self.pod.meta().deletion_grace_period_seconds()
    }

    fn known_status(&self) -> PodStatusView<'_> {
        self.known.view().status()
    }

    fn is_finished(&self) -> bool {
        pod::is_terminal_phase(self.known_status().phase())
    }

    fn is_terminating(&self) -> bool {
        self.gone || self.pod.is_deleting() || self.verdict.is_some() || self.is_finished()
    }

    async fn round(&mut self) -> Next {
        if self.stage == Stage::Removed {
            return if self.gone { Next::End } else { Next::Wait(None) };
        }
        self.check_deadline();
        let observed = match self.observe().await {
            Ok(observed) => observed,
            Err(error) => {
                tracing::warn!(pod = %pod::full_name(self.pod.view()), %error, "cannot read the pod from the runtime");
                return self.back_off("runtime");
            }
        };
        if self.is_terminating() { self.terminate(observed).await } else { self.advance(observed).await }
    }

    async fn observe(&mut self) -> crate::cri::Result<PodRuntime> {
        let observed = self.observer.observe(&*self.context.runtime, &self.uid, Some(&self.context.wakers)).await?;
        let containers = observed.containers.iter().map(|c| c.id.as_str());
        let sandboxes = observed.sandboxes.iter().map(|s| s.id.as_str());
        self.context.wakers.own(&self.uid, containers.chain(sandboxes));
        Ok(observed)
    }

    fn back_off(&mut self, what: &str) -> Next {
        let now = Timestamp::now();
        self.retry.next(what, now, now);
        Next::Wait(self.retry.until(what, now))
    }

    fn deadline(&self) -> Option<Timestamp> {
        pod::deadline(self.pod.view(), self.known_status().start_time())
    }

    fn check_deadline(&mut self) {
        if self.verdict.is_none()
            && !self.is_finished()
            && self.deadline().is_some_and(|deadline| Timestamp::now() >= deadline)
        {
            let message = "Pod was active on the node longer than the specified deadline";
            self.context.recorder.event(&self.pod, EventType::Normal, "DeadlineExceeded", message);
            self.verdict = Some(Rejection { reason: "DeadlineExceeded".into(), message: message.into() });
        }
    }

    /// A pod that is to run: one step further.
    async fn advance(&mut self, observed: PodRuntime) -> Next {
        let context = self.context.clone();
        if !self.admitted {
            let Some(admitted) = self.admit(&observed).await else { return self.back_off("admission") };
            if let Err(rejection) = admitted {
                let pod = self.pod.clone();
                let message = format!("Pod was rejected: {}", rejection.message);
                context.recorder.event(&pod, EventType::Warning, &rejection.reason, rejection.message);
                self.verdict = Some(Rejection { reason: rejection.reason, message });
                return Next::Again;
            }
            self.admitted = true;
        }
        self.allocate().await;
        let pod = self.pod.clone();
        let observed = self.with_cgroups(observed);
        context.allocations.note_progress(&self.uid, is_resize_in_progress(pod.view(), &observed));
        let mut written = self.write_status(&observed, false).await;
        let plan = plan_pod(pod.view(), &observed, &self.probes);
        let network = context.network.borrow().clone();
        if !pod::is_host_network(pod.view())
            && plan.create_sandbox
            && let Err(why) = network
        {
            let message = format!("network is not ready: {why}");
            context.recorder.event(&pod, EventType::Warning, "NetworkNotReady", message);
            return self.wait_for_network().await;
        }
        let (references, mounted) = match self.prepare(&observed).await {
            Ok(prepared) => prepared,
            Err(Unprepared::Failed(message)) => {
                context.recorder.event(&pod, EventType::Warning, "FailedMount", message);
                let now = Timestamp::now();
                self.mount_retry.next("volumes", now, now);
                return Next::Wait(self.mount_retry.until("volumes", now));
            }
            Err(Unprepared::Pending(error)) => return self.wait_for_volume(&error),
        };
        self.pending_since = None;
        self.mount_retry.forget("volumes");
        let outcome = self.execute(&plan, &observed, &references, &mounted).await;
        let observed = match self.observe().await {
            Ok(observed) => observed,
            Err(_) => return self.back_off("runtime"),
        };
        self.retry.forget("runtime");
        let observed = self.with_cgroups(observed);
        match &outcome.resize_failed {
            Some(why) => context.allocations.note_failure(&self.uid, why),
            None => context.allocations.note_progress(&self.uid, is_resize_in_progress(pod.view(), &observed)),
        }
        self.reconcile_probes(&observed);
        written &= self.write_status(&observed, false).await;
        self.allocate().await;
        self.collect_garbage(&observed).await;
        if let Some(why) = outcome.failed {
            tracing::debug!(pod = %pod::full_name(pod.view()), %why, "the pod could not proceed");
            return self.back_off("sync");
        }
        self.retry.forget("sync");
        if !written {
            return self.back_off("status");
        }
        self.retry.forget("status");
        let finished = self.is_finished();
        let more = plan_pod(pod.view(), &observed, &self.probes);
        // A sandbox that dies as soon as it is made would be made in a circle.
        if more.create_sandbox && !finished {
            return self.back_off("sandbox");
        }
        self.retry.forget("sandbox");
        // What failed to start waits for its retry; anything else left to do is done now.
        let inits = more.init_to_start.iter().filter_map(|index| pod::init_containers(pod.view()).get(*index));
        let regular = more.to_start.iter().filter_map(|index| pod::containers(pod.view()).get(*index));
        let mut starts = inits.chain(regular).filter(|container| !self.failures.contains_key(container.name()));
        let progressed = !more.to_kill.is_empty() || starts.next().is_some();
        if finished || progressed {
            return Next::Again;
        }
        let resize_at = match outcome.resize_failed.is_some() || !more.resize.is_empty() {
            true => {
                let now = Timestamp::now();
                self.retry.next("resize", now, now);
                self.retry.until("resize", now)
            }
            false => {
                self.retry.forget("resize");
                None
            }
        };
        let look_again = mounted.look_again.and_then(|wait| Timestamp::now().saturating_add(wait).ok());
        let deadlines = [outcome.retry_at, self.tokens.renew_at(), self.deadline(), resize_at, look_again];
        Next::Wait(deadlines.into_iter().flatten().min())
    }

    async fn wait_for_network(&mut self) -> Next {
        let mut network = self.context.network.subscribe();
        // Either the network comes up, or it is time to say again that it has not.
        let _ = tokio::time::timeout(LAST_RETRY, network.wait_for(Result::is_ok)).await;
        Next::Again
    }

    /// The pod is woken when its volume is attached; an event says so where that takes long.
    fn wait_for_volume(&mut self, error: &VolumeError) -> Next {
        let now = Timestamp::now();
        let since = *self.pending_since.get_or_insert(now);
        let (name, limit) = (&error.volume, SignedDuration::from_secs(ATTACH_SECONDS));
        tracing::debug!(pod = %pod::full_name(self.pod.view()), volume = %name, why = %error.why, "a volume waits");
        if now.duration_since(since) < limit {
            return Next::Wait(since.saturating_add(limit).ok());
        }
        let message = format!(
            "Unable to attach or mount volumes: unmounted volumes=[{name}], unattached volumes=[{name}], failed to \
             process volumes=[]: context deadline exceeded"
        );
        self.context.recorder.event(&self.pod, EventType::Warning, "FailedMount", message);
        self.pending_since = Some(now);
        Next::Wait(now.saturating_add(limit).ok())
    }

    /// References, tokens and volumes: everything containers need besides the sandbox.
    async fn prepare(&mut self, observed: &PodRuntime) -> Result<(Arc<References>, Mounted), Unprepared> {
        if let Some(missing) = &self.missing_volumes {
            return Err(missing.clone().into());
        }
        let context = self.context.clone();
        let pod = self.pod.clone();
        let namespace = self.pod.namespace();
        let names = container::referenced_names(self.pod.view());
        let mut references = References::default();
        for name in &names.config_maps {
            if let Some(found) = context.config_maps.get(namespace, name, &self.uid).await? {
                references.config_maps.insert(name.clone(), found);
            }
        }
        for name in &names.secrets {
            if let Some(found) = context.secrets.get(namespace, name, &self.uid).await? {
                references.secrets.insert(name.clone(), found);
            }
        }
        context.config_maps.keep(&self.uid, namespace, &names.config_maps);
        context.secrets.keep(&self.uid, namespace, &names.secrets);
        let tokens = self.tokens.tokens(&context.client, pod.view()).await?;
        let stage = if observed.sandboxes.is_empty() { PodStage::New } else { PodStage::Running };
        let node = context.node.get("", &context.config.node_name);
        let node = node.as_ref().map(SharedObject::view);
        let claim_objects =
            claim::resolve(&context.client, &context.claims, &pod, node, stage, &mut self.claims).await?;
        let references = Arc::new(references);
        let volumes = Arc::new(PodVolumes {
            root: context.volumes.root().clone(),
            pod,
            references: references.clone(),
            tokens,
            claims: self.claims.clone(),
            claim_objects,
            pod_ips: observed.ips().to_vec(),
            machine: context.machine(),
            sandbox: None,
        });
        match context.volumes.set_up(&volumes).await {
            Ok(mounted) => Ok((references, mounted)),
            Err(error) if error.is_pending => Err(Unprepared::Pending(error)),
            Err(error) => Err(error.to_string().into()),
        }
    }

    async fn execute(
        &mut self,
        plan: &Plan,
        observed: &PodRuntime,
        references: &Arc<References>,
        mounted: &Mounted,
    ) -> crate::sync::Outcome {
        let context = self.context.clone();
        let pod = self.pod.clone();
        let (backoff, failures) = (std::mem::take(&mut self.backoff), std::mem::take(&mut self.failures));
        // Put back at the end; a round that is cut short starts from a clean slate.
        let (mut backoff, mut failures) = (backoff, failures);
        let mut sync = PodSync {
            context: &context,
            pod: &pod,
            references,
            mounted,
            backoff: &mut backoff,
            failures: &mut failures,
        };
        let outcome = sync
            .execute(plan, observed, async |_sandbox: &str| {
                if let Ok(observed) = self.observe().await {
                    self.write_status(&observed, false).await;
                }
            })
            .await;
        self.backoff = backoff;
        self.failures = failures;
        outcome
    }

    fn reconcile_probes(&mut self, observed: &PodRuntime) {
        let pod = self.pod.view();
        let ip = match pod::is_host_network(pod) {
            true => self.context.config.node_ips.first().cloned().unwrap_or_default(),
            false => observed.ips().first().cloned().unwrap_or_default(),
        };
        let sidecars = pod::init_containers(pod).iter().filter(|container| pod::is_sidecar(*container));
        let probed: Vec<_> = pod::containers(pod)
            .iter()
            .chain(sidecars)
            .filter_map(|container| {
                let record = observed.latest(container.name()).filter(|record| record.state == State::Running)?;
                Some((container, record, container_reference(pod, container.name())))
            })
            .collect();
        let known = self.known.view().status();
        let targets: Vec<Target<'_>> = probed
            .iter()
            .map(|(container, record, reference)| {
                let id = format!("containerd://{}", record.id);
                let mut statuses = known.container_statuses().iter().chain(known.init_container_statuses());
                let before = statuses.find(|status| status.container_id() == id);
                Target {
                    container: *container,
                    id: &record.id,
                    started_at: pod::time_from_nanos(record.started_at),
                    pod_ip: &ip,
                    reference,
                    was_started: before.is_some_and(|status| status.started() == Some(true)),
                    was_ready: before.is_some_and(|status| status.ready()),
                }
            })
            .collect();
        self.probes.reconcile(pod, &targets);
    }

    /// Computes the status and writes it if it differs; false when the API did not take it.
    async fn write_status(&mut self, observed: &PodRuntime, terminal: bool) -> bool {
        if self.gone {
            return true;
        }
        let mut status = status::compute_status(&status::Inputs {
            pod: self.pod.view(),
            runtime: observed,
            failures: &self.failures,
            probes: &self.probes,
            old: self.known_status(),
            node_ips: &self.context.config.node_ips,
            resize: &self.context.allocations.conditions(&self.uid),
            terminal,
            now: Timestamp::now(),
        });
        if terminal {
            self.conclude(&mut status);
        }
        let patch = status::patch::status_patch(&self.uid, self.known_status(), status.view());
        let Some(patch) = patch else { return true };
        let api = self.context.client.api::<Pod>(self.pod.namespace());
        match api.patch_status(self.pod.name(), &Patch::Strategic(patch)).await {
            Ok(pod) => {
                self.known = pod;
                true
            }
            // Gone, or another pod of the same name: there is nobody to tell.
            Err(error) if error.is_not_found() || error.is_conflict() => true,
            Err(error) => {
                tracing::warn!(pod = %pod::full_name(self.pod.view()), %error, "cannot write the pod's status");
                false
            }
        }
    }
}

fn revision(pod: &SharedObject<Pod>) -> Option<u64> {
    pod.meta().resource_version().parse().ok()
}

async fn sleep_until(deadline: Option<Timestamp>) {
    match deadline {
        Some(at) => {
            let wait = at.duration_since(Timestamp::now());
            tokio::time::sleep(Duration::try_from(wait).unwrap_or_default()).await;
        }
        None => std::future::pending().await,
    }
}
