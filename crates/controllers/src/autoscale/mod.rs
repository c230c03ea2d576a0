//! Scales workloads by what is measured of them: HorizontalPodAutoscaler v2.
//!
//! ```text
//! scale_target.rs        the target's scale subresource, found by discovery
//! metrics.rs             fetches the values of the metrics
//! replica_calculator.rs  replicas for a value and its target       (pure)
//! proposal.rs            the largest proposal of all metrics        (pure)
//! behavior.rs            how fast to go there                       (pure)
//! selectors.rs           autoscalers that scale by the same pods
//! ```
//!
//! This file gathers, writes the scale and the status, and tells events. Each autoscaler comes
//! again 15 seconds after it was looked at, whatever came of it; nothing wakes all of them. The
//! reference is upstream's pkg/controller/podautoscaler.

mod behavior;
mod metrics;
mod proposal;
mod replica_calculator;
mod scale_target;
mod selectors;

use crate::error::{During, Result};
use crate::label_index::{by_label, selected};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use behavior::{Bounds, ScaleHistory};
use ferry_api::rules::condition;
use ferry_api::selector::Selector;
use ferry_api::view::autoscaling::v2::{
    HorizontalPodAutoscaler, HorizontalPodAutoscalerCondition, HorizontalPodAutoscalerStatus,
    HorizontalPodAutoscalerView, MetricStatus,
};
use ferry_api::view::core::v1::Pod;
use ferry_api::view::{Owned, View, alike};
use ferry_client::{Informers, SharedObject};
use futures_util::future::join_all;
use jiff::Timestamp;
use metrics::MetricsClient;
use parking_lot::Mutex;
use proposal::{Outcome, choose};
use replica_calculator::{ReplicaCalculator, Tolerances};
use scale_target::{RestMapper, ScaleTarget};
use selectors::SelectorIndex;
use std::collections::HashMap;
use std::time::Duration;

/// Upstream's --horizontal-pod-autoscaler-sync-period.
const SYNC_PERIOD: Duration = Duration::from_secs(15);

const ABLE_TO_SCALE: &str = "AbleToScale";
const SCALING_ACTIVE: &str = "ScalingActive";
const SCALING_LIMITED: &str = "ScalingLimited";

#[derive(Default)]
pub(crate) struct HorizontalPodAutoscalerController {
    mapper: RestMapper,
    histories: Mutex<HashMap<Key, ScaleHistory>>,
    selectors: Mutex<SelectorIndex>,
}

#[async_trait]
impl Controller for HorizontalPodAutoscalerController {
    fn name(&self) -> &'static str {
        "horizontal-pod-autoscaler"
    }

    /// Upstream's --concurrent-horizontal-pod-autoscaler-syncs.
    fn workers(&self) -> usize {
        5
    }

    /// An autoscaler's own status wakes nobody: it would come again at once, and not when its
    /// time has come.
    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![
            Watch::new(informers.of::<HorizontalPodAutoscaler>(), |event, enqueue| {
                type Autoscaler = SharedObject<HorizontalPodAutoscaler>;
                let is_same = |old: &Autoscaler, new: &Autoscaler| {
                    old.uid() == new.uid() && alike(old.view().spec().node(), new.view().spec().node())
                };
                match event.versions() {
                    (Some(old), Some(new)) if is_same(old, new) => {}
                    _ => enqueue.add_object(event.object().meta()),
                }
            }),
            Watch::cached(by_label(informers.of::<Pod>())),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(hpa) = ctx.informers.of::<HorizontalPodAutoscaler>().get(&key.namespace, &key.name) else {
            self.histories.lock().remove(key);
            self.selectors.lock().remove(key);
            return Ok(Action::Done);
        };
        let mut sync = Sync { controller: self, ctx, key, hpa: &hpa, status: hpa.view().status().to_owned() };
        let outcome = sync.run().await;
        let written = sync.write_status().await;
        // A failure is no reason to come sooner: the metrics would be the same.
        if let Err(why) = outcome {
            tracing::debug!(autoscaler = %key, why, "an autoscaler could not be synced");
        }
        if let Err(error) = written {
            ctx.recorder.warning(&hpa, "FailedUpdateStatus", error.cause().to_string());
        }
        Ok(Action::RequeueAfter(SYNC_PERIOD))
    }
}

/// One look at one autoscaler.
struct Sync<'a> {
    controller: &'a HorizontalPodAutoscalerController,
    ctx: &'a Context,
    key: &'a Key,
    hpa: &'a SharedObject<HorizontalPodAutoscaler>,
    /// The status as it is to be written.
    status: HorizontalPodAutoscalerStatus,
}

/// The size that is wanted, and why.
struct Decision {
    replicas: i32,
    reason: String,
    metrics: Vec<MetricStatus>,
    /// Some metrics failed although others decided.
    error: Option<String>,
}

impl Sync<'_> {
    fn view(&self) -> HorizontalPodAutoscalerView<'_> {
        self.hpa.view()
    }

    fn now(&self) -> Timestamp {
        self.ctx.now()
    }

    /// The status is up to date when this returns, with an error or without.
    async fn run(&mut self) -> Result<(), String> {
        let spec = self.view().spec();
        let reference = spec.scale_target_ref();
        let named = (reference.api_version(), reference.kind(), reference.name());
        let target = ScaleTarget::get(&self.ctx.client, &self.controller.mapper, &self.key.namespace, named).await;
        let mut target = match target {
            Ok(target) => target,
            Err(why) => {
                self.warn("FailedGetScale", &why);
                let message = format!("the HPA controller was unable to get the target's current scale: {why}");
                self.set(ABLE_TO_SCALE, false, "FailedGetScale", &message);
                return Err(why);
            }
        };
        let message = "the HPA controller was able to get the target's current scale";
        self.set(ABLE_TO_SCALE, true, "SucceededGetScale", message);
        let current = target.scale.view().spec().replicas();
        let now = self.now();
        self.history(|history| history.begin(current, now));
        let decision = self.decide(&target, current).await?;
        let rescale = decision.replicas != current;
        if rescale {
            self.rescale(&mut target, current, &decision).await?;
        }
        self.set_counts(current, decision.replicas, decision.metrics);
        if rescale {
            self.status.set_last_scale_time(now);
        }
        decision.error.map_or(Ok(()), Err)
    }

    async fn decide(&mut self, target: &ScaleTarget, current: i32) -> Result<Decision, String> {
        let spec = self.view().spec();
        let (min, max) = (spec.min_replicas().unwrap_or(1), spec.max_replicas());
        let fixed = |replicas: i32, reason: &str| Decision {
            replicas,
            reason: reason.to_owned(),
            metrics: Vec::new(),
            error: None,
        };
        if current == 0 {
            let message = "scaling is disabled since the replica count of the target is zero";
            self.set(SCALING_ACTIVE, false, "ScalingDisabled", message);
            return Ok(fixed(0, ""));
        }
        if current > max {
            return Ok(fixed(max, "Current number of replicas above Spec.MaxReplicas"));
        }
        if current < min {
            return Ok(fixed(min, "Current number of replicas below Spec.MinReplicas"));
        }
        let outcome = match self.measure(target).await {
            Ok(outcome) => outcome,
            Err(why) => {
                self.set_counts(current, self.view().status().desired_replicas(), Vec::new());
                self.warn("FailedComputeMetricsReplicas", &why);
                return Err(why);
            }
        };
        for failure in &outcome.failures {
            self.warn(failure.reason, &failure.message);
        }
        let error = outcome.error();
        let Some(chosen) = outcome.chosen else {
            let why = error.unwrap_or_default();
            if let Some(first) = outcome.failures.first() {
                let message = format!("the HPA was unable to compute the replica count: {}", first.message);
                self.set(SCALING_ACTIVE, false, first.reason, &message);
            }
            self.set_counts(current, self.view().status().desired_replicas(), outcome.statuses);
            self.warn("FailedComputeMetricsReplicas", &why);
            return Err(why);
        };
        let found = format!("the HPA was able to successfully calculate a replica count from {}", chosen.metric);
        self.set(SCALING_ACTIVE, true, "ValidMetricFound", &found);
        let (now, behavior) = (self.now(), self.view().spec().behavior());
        let bounds = Bounds { current, min, max };
        let normalized = self.history(|history| history.normalize(behavior, bounds, chosen.replicas, now));
        self.set(ABLE_TO_SCALE, true, normalized.able.0, normalized.able.1);
        self.set(SCALING_LIMITED, normalized.is_limited, normalized.limited.0, normalized.limited.1);
        let reason = match chosen.replicas {
            wanted if wanted > current => format!("{} above target", chosen.metric),
            wanted if wanted < current => "All metrics below target".to_owned(),
            _ => String::new(),
        };
        Ok(Decision { replicas: normalized.replicas, reason, metrics: outcome.statuses, error })
    }

    /// Fetches the metrics and has them judged.
    async fn measure(&mut self, target: &ScaleTarget) -> Result<Outcome, String> {
        let scale = target.scale.view();
        let selector = self.parse_selector(scale.status().selector())?;
        let pods = selected(&self.ctx.informers.of::<Pod>(), &self.key.namespace, &selector);
        self.check_alone(scale.status().selector(), &selector, &pods)?;
        let namespace = &self.key.namespace;
        let mapper = &self.controller.mapper;
        let client = MetricsClient { client: &self.ctx.client, mapper, namespace, selector: &selector };
        let specs: Vec<_> = self.view().spec().metrics().iter().collect();
        let fetched = join_all(specs.iter().map(|spec| client.fetch(*spec))).await;
        let calculator = ReplicaCalculator {
            pods: &pods,
            spec_replicas: scale.spec().replicas(),
            status_replicas: scale.status().replicas(),
            tolerances: Tolerances::of(self.view().spec().behavior()),
            now: self.now(),
        };
        Ok(choose(&calculator, namespace, specs.into_iter().zip(fetched)))
    }

    fn parse_selector(&mut self, text: &str) -> Result<Selector, String> {
        if text.is_empty() {
            let why = "selector is required";
            self.warn("SelectorRequired", why);
            self.set(SCALING_ACTIVE, false, "InvalidSelector", "the HPA target's scale is missing a selector");
            return Err(why.to_owned());
        }
        Selector::parse(text).map_err(|error| {
            let why = format!("couldn't convert selector into a corresponding internal selector object: {error}");
            self.warn("InvalidSelector", &why);
            self.set(SCALING_ACTIVE, false, "InvalidSelector", &why);
            why
        })
    }

    /// Fails where another autoscaler scales by one of the same pods.
    fn check_alone(&mut self, text: &str, selector: &Selector, pods: &[SharedObject<Pod>]) -> Result<(), String> {
        let selecting = {
            let mut selectors = self.controller.selectors.lock();
            selectors.put(self.key, selector);
            selectors.selecting(&self.key.namespace, pods)
        };
        if selecting.len() <= 1 {
            return Ok(());
        }
        let names: Vec<String> = selecting.iter().map(|key| format!("{{{} {}}}", key.name, key.namespace)).collect();
        let why = format!("pods by selector {text} are controlled by multiple HPAs: [{}]", names.join(" "));
        self.warn("AmbiguousSelector", &why);
        self.set(SCALING_ACTIVE, false, "AmbiguousSelector", &why);
        Err(why)
    }

    async fn rescale(&mut self, target: &mut ScaleTarget, current: i32, decision: &Decision) -> Result<(), String> {
        let (replicas, reason) = (decision.replicas, &decision.reason);
        if let Err(error) = target.set_replicas(&self.ctx.client, replicas).await {
            self.warn("FailedRescale", &format!("New size: {replicas}; reason: {reason}; error: {error}"));
            let message = format!("the HPA controller was unable to update the target scale: {error}");
            self.set(ABLE_TO_SCALE, false, "FailedUpdateScale", &message);
            self.set_counts(current, self.view().status().desired_replicas(), decision.metrics.clone());
            return Err(error.to_string());
        }
        let message = format!("the HPA controller was able to update the target scale to {replicas}");
        self.set(ABLE_TO_SCALE, true, "SucceededRescale", &message);
        let text = format!("New size: {replicas}; reason: {reason}");
        self.ctx.recorder.normal(self.hpa, "SuccessfulRescale", text);
        let (now, behavior) = (self.now(), self.view().spec().behavior());
        self.history(|history| history.record_scale(behavior, current, replicas, now));
        Ok(())
    }

    fn history<T>(&self, change: impl FnOnce(&mut ScaleHistory) -> T) -> T {
        change(self.controller.histories.lock().entry(self.key.clone()).or_default())
    }

    fn warn(&self, reason: &str, message: &str) {
        self.ctx.recorder.warning(self.hpa, reason, message);
    }

    fn set(&mut self, kind: &str, status: bool, reason: &str, message: &str) {
        let now = self.now();
        let condition = HorizontalPodAutoscalerCondition::new()
            .with_type(kind)
            .with_status(if status { "True" } else { "False" })
            .with_reason(reason)
            .with_message(message);
        condition::set(&mut self.status, condition, now);
    }

    fn set_counts(&mut self, current: i32, desired: i32, metrics: Vec<MetricStatus>) {
        self.status.set_current_replicas(current);
        self.status.set_desired_replicas(desired);
        self.status.set_current_metrics(metrics);
    }

    async fn write_status(&self) -> Result<()> {
        if alike(self.view().status().node(), self.status.view().node()) {
            return Ok(());
        }
        let mut updated = self.hpa.to_owned();
        updated.set_status(self.status.clone());
        let api = self.ctx.client.api::<HorizontalPodAutoscaler>(&self.key.namespace);
        api.replace_status(&updated).await.during("update the status of", self.key).map(drop)
    }
}
