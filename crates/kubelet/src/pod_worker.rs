//! One task for each pod: it brings what the runtime has in line with what the API asks
//! for, until the pod is gone.
//!
//! Each round reads the runtime afresh, decides with `plan`, acts with `sync` or `kill`,
//! and writes the status. A round is woken by a change of the pod, by the runtime (a
//! container ended), by a probe, by a ConfigMap or Secret, or by its own next deadline.

mod ending;

use crate::admit::{self, Rejection};
use crate::backoff::BackOff;
use crate::container::{self, References};
use crate::context::Context;
use crate::observed::{Observer, PodRuntime, State};
use crate::plan::{Plan, plan_pod};
use crate::pod;
use crate::probe::{Probes, Target};
use crate::status::{self, Waiting};
use crate::sync::{Sync, container_reference};
use crate::unsupported;
use crate::volume::{self, Mounted, token::TokenSource};
use ferry_client::{EventType, Patch};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Pod, PodStatus};
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

/// What the API says of the pod.
#[derive(Clone)]
pub struct Desired {
    pub pod: Arc<Pod>,
    /// The API has forgotten it; only cleaning up is left.
    pub gone: bool,
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
    pod: Arc<Pod>,
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
    failures: HashMap<String, Waiting>,
    probes: Probes,
    tokens: TokenSource,
    /// The status the API has, as far as this worker knows.
    known: PodStatus,
    known_revision: Option<u64>,
    /// A verdict on the whole pod that outweighs its containers: rejected, deadline passed.
    verdict: Option<Rejection>,
}

impl PodWorker {
    pub fn new(context: Arc<Context>, desired: watch::Receiver<Desired>) -> Self {
        let first = desired.borrow().clone();
        let uid = pod::uid(&first.pod).to_string();
        let wake = context.registry.register(&uid);
        let probes = Probes::new(context.runtime.clone(), context.registry.clone(), context.recorder.clone());
        Self {
            known: first.pod.status.clone().unwrap_or_default(),
            known_revision: revision(&first.pod),
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
            failures: HashMap::new(),
            probes,
            tokens: TokenSource::default(),
            verdict: None,
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
            // A pod that is to end does not wait for an image or a slow start, and one
            // that is to end sooner than it was told does not wait for its old grace.
            let sooner = watcher.wait_for(|desired| {
                let deleting = desired.gone || pod::is_deleting(&desired.pod);
                let shorter = desired.pod.metadata.deletion_grace_period_seconds < grace
                    && desired.pod.metadata.deletion_grace_period_seconds.is_some();
                (deleting && !terminating) || (desired.gone && !gone) || (terminating && grace.is_some() && shorter)
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
        self.context.registry.forget(&self.uid);
        self.context.images.forget(&self.uid);
        self.context.config_maps.release(&self.uid);
        self.context.secrets.release(&self.uid);
        self.context.admitted.lock().remove(&self.uid);
    }

    fn learn(&mut self) {
        let desired = self.desired.borrow_and_update().clone();
        let seen = revision(&desired.pod);
        // An echo of an older write must not undo what is known of a newer one.
        if seen >= self.known_revision {
            self.known = desired.pod.status.clone().unwrap_or_default();
            self.known_revision = seen;
        }
        self.pod = desired.pod;
        self.gone |= desired.gone;
    }

    fn grace(&self) -> Option<i64> {
        self.pod.metadata.deletion_grace_period_seconds
    }

    fn is_terminating(&self) -> bool {
        self.gone
            || pod::is_deleting(&self.pod)
            || self.verdict.is_some()
            || pod::is_terminal_phase(self.known.phase.as_deref().unwrap_or_default())
    }

    async fn round(&mut self) -> Next {
        if self.stage == Stage::Removed {
            return if self.gone { Next::End } else { Next::Wait(None) };
        }
        self.check_deadline();
        let observed = match self.observe().await {
            Ok(observed) => observed,
            Err(error) => {
                tracing::warn!(pod = %pod::full_name(&self.pod), %error, "cannot read the pod from the runtime");
                return self.back_off("runtime");
            }
        };
        if self.is_terminating() { self.terminate(observed).await } else { self.advance(observed).await }
    }

    async fn observe(&mut self) -> crate::cri::Result<PodRuntime> {
        let observed = self.observer.observe(&*self.context.runtime, &self.uid, Some(&self.context.registry)).await?;
        let containers = observed.containers.iter().map(|c| c.id.as_str());
        let sandboxes = observed.sandboxes.iter().map(|s| s.id.as_str());
        self.context.registry.own(&self.uid, containers.chain(sandboxes));
        Ok(observed)
    }

    fn back_off(&mut self, what: &str) -> Next {
        let now = Timestamp::now();
        self.retry.next(what, now, now);
        Next::Wait(self.retry.until(what, now))
    }

    /// activeDeadlineSeconds, counted from when the kubelet took the pod on.
    fn deadline(&self) -> Option<Timestamp> {
        let seconds = pod::spec(&self.pod).active_deadline_seconds?;
        let started = self.known.start_time.as_ref()?.0;
        started.saturating_add(SignedDuration::from_secs(seconds)).ok()
    }

    fn check_deadline(&mut self) {
        let finished = pod::is_terminal_phase(self.known.phase.as_deref().unwrap_or_default());
        if self.verdict.is_none() && !finished && self.deadline().is_some_and(|deadline| Timestamp::now() >= deadline) {
            let message = "Pod was active on the node longer than the specified deadline";
            self.context.recorder.event(
                &ferry_client::reference(&*self.pod),
                EventType::Normal,
                "DeadlineExceeded",
                message,
            );
            self.verdict = Some(Rejection { reason: "DeadlineExceeded".into(), message: message.into() });
        }
    }

    /// A pod that is to run: one step further.
    async fn advance(&mut self, observed: PodRuntime) -> Next {
        let context = self.context.clone();
        let pod = self.pod.clone();
        if !self.admitted {
            if let Err(rejection) = self.admit(&observed) {
                let message = format!("Pod was rejected: {}", rejection.message);
                let reference = ferry_client::reference(&*pod);
                context.recorder.event(&reference, EventType::Warning, &rejection.reason, rejection.message);
                self.verdict = Some(Rejection { reason: rejection.reason, message });
                return Next::Again;
            }
            self.admitted = true;
        }
        let mut written = self.write_status(&observed, false).await;
        let plan = plan_pod(&pod, &observed, &self.probes);
        let network = context.network.borrow().clone();
        if !pod::is_host_network(&pod)
            && plan.create_sandbox
            && let Err(why) = network
        {
            let reference = ferry_client::reference(&*pod);
            context.recorder.event(
                &reference,
                EventType::Warning,
                "NetworkNotReady",
                format!("network is not ready: {why}"),
            );
            return self.wait_for_network().await;
        }
        let (references, mounted) = match self.prepare(&observed).await {
            Ok(prepared) => prepared,
            Err(message) => {
                let reference = ferry_client::reference(&*pod);
                context.recorder.event(&reference, EventType::Warning, "FailedMount", message);
                let now = Timestamp::now();
                self.mount_retry.next("volumes", now, now);
                return Next::Wait(self.mount_retry.until("volumes", now));
            }
        };
        self.mount_retry.forget("volumes");
        let outcome = self.execute(&plan, &observed, &references, &mounted).await;
        let observed = match self.observe().await {
            Ok(observed) => observed,
            Err(_) => return self.back_off("runtime"),
        };
        self.retry.forget("runtime");
        self.reconcile_probes(&observed);
        written &= self.write_status(&observed, false).await;
        self.collect_garbage(&observed).await;
        if let Some(why) = outcome.failed {
            tracing::debug!(pod = %pod::full_name(&pod), %why, "the pod could not proceed");
            return self.back_off("sync");
        }
        self.retry.forget("sync");
        if !written {
            return self.back_off("status");
        }
        self.retry.forget("status");
        let finished = pod::is_terminal_phase(self.known.phase.as_deref().unwrap_or_default());
        let more = plan_pod(&pod, &observed, &self.probes);
        // A sandbox that dies as soon as it is made would be made in a circle.
        if more.create_sandbox && !finished {
            return self.back_off("sandbox");
        }
        self.retry.forget("sandbox");
        // What failed to start waits for its retry; anything else left to do is done now.
        let starts = |name: &String| !self.failures.contains_key(name);
        let inits = more.init_to_start.iter().map(|index| &pod::init_containers(&pod)[*index].name);
        let regular = more.to_start.iter().map(|index| &pod::containers(&pod)[*index].name);
        let progressed = !more.to_kill.is_empty() || inits.chain(regular).any(starts);
        if finished || progressed {
            return Next::Again;
        }
        let deadlines = [outcome.retry_at, self.tokens.renew_at(), self.deadline()];
        Next::Wait(deadlines.into_iter().flatten().min())
    }

    fn admit(&mut self, observed: &PodRuntime) -> Result<(), Rejection> {
        // Also of a pod that an earlier kubelet admitted: running it on without what its
        // fields promise is no better than starting it.
        let judgement = unsupported::judge(&self.pod);
        self.missing_volumes = judgement.missing_volumes;
        if let Some(rejection) = judgement.rejection {
            return Err(rejection);
        }
        let mut admitted = self.context.admitted.lock();
        // A pod that already has something here was admitted by an earlier kubelet.
        if observed.sandboxes.is_empty() && observed.containers.is_empty() {
            let Some(node) = self.context.node.get("", &self.context.config.node_name) else { return Ok(()) };
            let others: Vec<Arc<Pod>> = admitted.values().cloned().collect();
            admit::admit(&self.pod, &node, &others)?;
        }
        admitted.insert(self.uid.clone(), self.pod.clone());
        Ok(())
    }

    async fn wait_for_network(&mut self) -> Next {
        let mut network = self.context.network.subscribe();
        // Either the network comes up, or it is time to say again that it has not.
        let _ = tokio::time::timeout(LAST_RETRY, network.wait_for(Result::is_ok)).await;
        Next::Again
    }

    /// References, tokens and volumes: everything containers need besides the sandbox.
    async fn prepare(&mut self, observed: &PodRuntime) -> Result<(References, Mounted), String> {
        if let Some(missing) = &self.missing_volumes {
            return Err(missing.clone());
        }
        let context = self.context.clone();
        let pod = self.pod.clone();
        let namespace = pod::namespace(&pod);
        let names = container::referenced_names(&pod);
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
        let tokens = self.tokens.tokens(&context.client, &pod).await?;
        let machine = context.machine();
        let ips = observed.ips().to_vec();
        let root = context.config.root_dir.clone();
        let (references, mounted) = tokio::task::spawn_blocking(move || {
            let mounted = volume::set_up(&root, &pod, &references, &tokens, &ips, &machine);
            (references, mounted)
        })
        .await
        .map_err(|error| error.to_string())?;
        Ok((references, mounted.map_err(|error| error.to_string())?))
    }

    async fn execute(
        &mut self,
        plan: &Plan,
        observed: &PodRuntime,
        references: &References,
        mounted: &Mounted,
    ) -> crate::sync::Outcome {
        let context = self.context.clone();
        let pod = self.pod.clone();
        let (backoff, failures) = (std::mem::take(&mut self.backoff), std::mem::take(&mut self.failures));
        // Put back at the end; a round that is cut short starts from a clean slate.
        let (mut backoff, mut failures) = (backoff, failures);
        let mut sync =
            Sync { context: &context, pod: &pod, references, mounted, backoff: &mut backoff, failures: &mut failures };
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
        let pod = self.pod.clone();
        let known = self.known.clone();
        let ip = match pod::is_host_network(&pod) {
            true => self.context.config.node_ips.first().cloned().unwrap_or_default(),
            false => observed.ips().first().cloned().unwrap_or_default(),
        };
        let sidecars = pod::init_containers(&pod).iter().filter(|c| pod::is_sidecar(c));
        let probed: Vec<_> = pod::containers(&pod)
            .iter()
            .chain(sidecars)
            .filter_map(|container| {
                let record = observed.latest(&container.name).filter(|record| record.state == State::Running)?;
                Some((container, record, container_reference(&pod, &container.name)))
            })
            .collect();
        let targets: Vec<Target<'_>> = probed
            .iter()
            .map(|(container, record, reference)| {
                let id = format!("containerd://{}", record.id);
                let before = known
                    .container_statuses
                    .iter()
                    .chain(&known.init_container_statuses)
                    .flatten()
                    .find(|status| status.container_id.as_deref() == Some(&id));
                Target {
                    container,
                    id: &record.id,
                    started_at: pod::time_from_nanos(record.started_at).map(|time| time.0),
                    pod_ip: &ip,
                    reference,
                    was_started: before.is_some_and(|status| status.started == Some(true)),
                    was_ready: before.is_some_and(|status| status.ready),
                }
            })
            .collect();
        self.probes.reconcile(&pod, &targets);
    }

    /// Computes the status and writes it if it differs; false when the API did not take it.
    async fn write_status(&mut self, observed: &PodRuntime, terminal: bool) -> bool {
        if self.gone {
            return true;
        }
        let mut status = status::compute_status(&status::Inputs {
            pod: &self.pod,
            runtime: observed,
            failures: &self.failures,
            probes: &self.probes,
            old: &self.known,
            node_ips: &self.context.config.node_ips,
            terminal,
            now: Timestamp::now(),
        });
        if let Some(verdict) = &self.verdict {
            status.phase = Some("Failed".into());
            status.reason = Some(verdict.reason.clone());
            status.message = Some(verdict.message.clone());
        }
        if terminal {
            ending::finish(&mut status);
        }
        let Some(patch) = status::patch::status_patch(&self.uid, &self.known, &status) else { return true };
        let (namespace, name) = (pod::namespace(&self.pod), pod::name(&self.pod));
        match self.context.client.patch_status::<Pod>(namespace, name, &Patch::Strategic(patch)).await {
            Ok(pod) => {
                self.known_revision = revision(&pod);
                self.known = pod.status.unwrap_or_default();
                true
            }
            // Gone, or another pod of the same name: there is nobody to tell.
            Err(error) if error.is_not_found() || error.is_conflict() => true,
            Err(error) => {
                tracing::warn!(pod = %pod::full_name(&self.pod), %error, "cannot write the pod's status");
                false
            }
        }
    }
}

fn revision(pod: &Pod) -> Option<u64> {
    pod.metadata.resource_version.as_deref().and_then(|revision| revision.parse().ok())
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
