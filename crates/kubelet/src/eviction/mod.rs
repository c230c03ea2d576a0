//! Keeps the node from running out of memory, disk or processes: observes what is left, reports
//! the node's conditions, collects what nobody needs, and then ends one pod after the other.
//!
//! `lib.rs` runs one loop. The decisions are `ferry_eviction`'s; the observation of an idle node
//! is a few files of the kernel every ten seconds, whatever the number of pods
//! (docs/design/0023-eviction.md). Upstream: pkg/kubelet/eviction/eviction_manager.go.

mod disk_walk;
mod limits;
pub mod metrics;
mod notify;
mod observe;
pub mod settings;
mod usage;

pub use limits::{INDEX as LIMITED_INDEX, index as limited_index};

use crate::Error;
use crate::context::Context;
use crate::pod;
use crate::pod_end::PodEnd;
use ferry_api::view::core::v1::Pod;
use ferry_client::{EventType, SharedObject};
use ferry_eviction::layout::{FilesystemLayout, Reclaim};
use ferry_eviction::local_storage::{exceeded_limit, limits_layers};
use ferry_eviction::message::{Annotations, EVICTED, eviction_message};
use ferry_eviction::pressure::{PressureTracker, is_relieved};
use ferry_eviction::rank::rank;
use ferry_eviction::signal::Resource;
use ferry_eviction::threshold::{Observations, Threshold};
use ferry_eviction::usage::{Candidate, PodUsage, is_critical};
use limits::LimitSchedule;
use notify::MemoryNotifier;
use observe::{NodeFilesystems, SignalSource};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use usage::{Measured, measure};

/// Upstream's evictionMonitoringPeriod.
const EVERY: Duration = Duration::from_secs(10);
/// A node whose memory goes up and down over a threshold is not looked at all the time.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
/// A pod that goes for the sake of the node gets a second (immediateEvictionGracePeriodSeconds).
const IMMEDIATELY: i64 = 1;
/// Upstream waits for a kill by half more than its grace, and at least this long; then for the pod
/// to be cleaned up.
const SHORTEST_KILL: Duration = Duration::from_secs(10);
const CLEANUP: Duration = Duration::from_secs(30);

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let settings = &context.config.settings;
    let thresholds = settings.eviction.thresholds().map_err(|why| Error::Settings(vec![why]))?;
    let source = SignalSource::of_this_machine(&settings.boundary, &context.machine().cgroup_root);
    let mut manager = EvictionManager {
        configured: thresholds.clone(),
        thresholds,
        source,
        filesystems: None,
        tracker: PressureTracker::default(),
        limits: LimitSchedule::default(),
        notifier: MemoryNotifier::default(),
        notifies: true,
        context: context.clone(),
    };
    tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        () = context.pods.synced() => {}
    }
    loop {
        let pause = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            pause = manager.synchronize() => pause,
        };
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(pause) => {}
            () = async {
                manager.notifier.crossed().await;
                tokio::time::sleep(SHORTEST_PAUSE.min(pause)).await;
            } => {}
        }
    }
}

struct EvictionManager {
    context: Arc<Context>,
    configured: Vec<Threshold>,
    /// The configured ones, with those of writable layers once their filesystem is known.
    thresholds: Vec<Threshold>,
    source: SignalSource,
    filesystems: Option<NodeFilesystems>,
    tracker: PressureTracker,
    limits: LimitSchedule,
    notifier: MemoryNotifier,
    notifies: bool,
}

impl EvictionManager {
    /// One look at the node, with its consequences. Returns the pause until the next.
    async fn synchronize(&mut self) -> Duration {
        self.detect_filesystems().await;
        let seen_at = Instant::now();
        let observations = self.observe().await;
        let transition = self.context.config.settings.eviction.eviction_pressure_transition_period;
        let verdict = self.tracker.observe(&self.thresholds, &observations, transition, seen_at);
        self.context.pressure.send_if_modified(|known| {
            let changed = *known != verdict.conditions;
            known.clone_from(&verdict.conditions);
            changed
        });
        if self.notifies
            && let Err(error) = self.notifier.update(&self.source, &self.thresholds)
        {
            tracing::info!(%error, "the kernel does not report shortages of memory, which is looked at every {EVERY:?}");
            self.notifies = false;
        }
        if self.enforce_limits().await {
            return Duration::ZERO;
        }
        let pause = verdict.look_again.unwrap_or(EVERY).clamp(SHORTEST_PAUSE, EVERY);
        let Some(threshold) = verdict.starved.first() else { return pause };
        let resource = threshold.signal.resource();
        tracing::info!(%resource, signal = %threshold.signal, "attempting to reclaim");
        let message = format!("Attempting to reclaim {resource}");
        let context = self.context.clone();
        context.recorder.event(context.node_reference(), EventType::Warning, "EvictionThresholdMet", message);
        if self.reclaim(threshold).await {
            tracing::info!(%resource, "reclaimed without ending a pod");
            return pause;
        }
        for threshold in &verdict.starved {
            context.eviction_metrics.observe_age(threshold.signal.as_str(), seen_at.elapsed());
        }
        if self.evict_one(threshold, &verdict.starved, &observations).await { Duration::ZERO } else { pause }
    }

    async fn detect_filesystems(&mut self) {
        if self.filesystems.is_some() {
            return;
        }
        let root = self.context.config.root_dir.clone();
        self.filesystems = NodeFilesystems::detect(&*self.context.runtime, &root).await;
        if let Some(found) = &self.filesystems {
            self.thresholds = found.layout.with_container_thresholds(&self.configured);
        }
    }

    async fn observe(&self) -> Observations {
        let (source, filesystems) = (self.source.clone(), self.filesystems.clone());
        let observed = tokio::task::spawn_blocking(move || source.observe(filesystems.as_ref()));
        observed.await.unwrap_or_default()
    }

    fn layout(&self) -> FilesystemLayout {
        self.filesystems.as_ref().map_or(FilesystemLayout::Shared, |found| found.layout)
    }

    /// Ends the pods that use more local storage than they may; answers whether there were any.
    async fn enforce_limits(&mut self) -> bool {
        let context = self.context.clone();
        let limited = context.pods.by_index(limits::INDEX, limits::LIMITED);
        let now = Instant::now();
        let due = self.limits.take_due(limited, now);
        if due.is_empty() {
            return false;
        }
        let runtime = due.iter().any(|pod| limits_layers(pod.view()));
        let usage = measure(&context, &due, Measured { disk: true, runtime, processes: false }).await;
        // A writable layer counts for a container's limit unless it is on a filesystem of its own.
        let with_layers = self.layout() == FilesystemLayout::Shared;
        let mut evicted = false;
        for pod in &due {
            let used = usage.get(pod.uid());
            self.limits.note(pod.view(), used, now);
            let Some(exceeded) = used.and_then(|used| exceeded_limit(pod.view(), used, with_layers)) else { continue };
            if self.evict(pod, IMMEDIATELY, exceeded.message, Annotations::new(), false, exceeded.signal).await {
                evicted = true;
            }
        }
        evicted
    }

    /// Collects what nobody needs; answers whether that was enough.
    async fn reclaim(&self, threshold: &Threshold) -> bool {
        let reclaims = self.layout().reclaims(threshold.signal);
        for reclaim in reclaims {
            match reclaim {
                Reclaim::DeadContainers => self.context.garbage.collect_containers(&self.context).await,
                Reclaim::UnusedImages => self.context.garbage.delete_unused_images(&self.context).await,
            }
        }
        !reclaims.is_empty() && is_relieved(&self.thresholds, &self.observe().await)
    }

    /// Ends the pod that ranks first and may be ended; answers whether there was one.
    async fn evict_one(&self, threshold: &Threshold, starved: &[Threshold], observations: &Observations) -> bool {
        let pods = self.active_pods();
        let resource = threshold.signal.resource();
        let is_disk = matches!(resource, Resource::EphemeralStorage | Resource::Inodes);
        let what = Measured { processes: resource == Resource::Pids, disk: is_disk, runtime: true };
        let usage: HashMap<String, PodUsage> = measure(&self.context, &pods, what).await;
        let mut candidates: Vec<Candidate<'_>> =
            pods.iter().map(|pod| Candidate { pod: pod.view(), usage: usage.get(pod.uid()) }).collect();
        rank(&mut candidates, resource, self.layout().ranked_parts(threshold.signal));
        for candidate in candidates {
            let uid = pod::uid(candidate.pod);
            let Some(pod) = pods.iter().find(|pod| pod.uid() == uid) else { continue };
            let grace = match threshold.is_hard() {
                true => IMMEDIATELY,
                false => {
                    let longest = self.context.config.settings.eviction.eviction_max_pod_grace_period;
                    let own = candidate.pod.spec().termination_grace_period_seconds();
                    own.map_or(longest, |own| own.min(longest))
                }
            };
            let (message, annotations) = eviction_message(resource, candidate, starved, observations);
            if self.evict(pod, grace, message, annotations, true, threshold.signal.as_str()).await {
                return true;
            }
        }
        tracing::info!(%resource, "unable to evict any pods from the node");
        false
    }

    /// The pods that run or are to run here, with the resources that the node has given them.
    fn active_pods(&self) -> Vec<SharedObject<Pod>> {
        let mut pods = Vec::new();
        self.context.pods.for_each(|known| {
            if !pod::is_terminal_phase(pod::phase(known.view())) {
                pods.push(known.clone());
            }
        });
        pods.iter().map(|pod| self.context.allocations.allocated(pod)).collect()
    }

    /// Ends a pod and waits until it has ended; false for one that the node cannot do without.
    async fn evict(
        &self,
        pod: &SharedObject<Pod>,
        grace: i64,
        message: String,
        annotations: Annotations,
        is_disruption: bool,
        signal: &'static str,
    ) -> bool {
        let name = pod::full_name(pod.view());
        if is_critical(pod.view()) {
            tracing::warn!(pod = %name, "cannot evict a critical pod");
            return false;
        }
        let context = &self.context;
        context.recorder.annotated_event(pod, annotations, EventType::Warning, EVICTED, message.clone());
        context.eviction_metrics.count_eviction(signal);
        let end = PodEnd::new(EVICTED, message, grace).with_disruption(is_disruption).with_freed_disk();
        let seconds = u64::try_from(grace).unwrap_or(0);
        let limit = SHORTEST_KILL.max(Duration::from_secs(seconds.saturating_add(seconds / 2))) + CLEANUP;
        if context.ends.end(pod.uid(), end, limit).await {
            tracing::info!(pod = %name, signal, "evicted the pod");
        } else {
            tracing::warn!(pod = %name, signal, "the evicted pod has not ended in time");
        }
        true
    }
}
