//! The pods of a Job: what the controller reads of one, the pod it makes, and the order in
//! which it removes surplus ones. Used by the plan of a reconcile.

use super::failure_policy::{FailureAction, judge_failure};
use super::terms::JobTerms;
use ferry_api::rules::owner::controller_reference;
use ferry_api::rules::pod::{self, is_sidecar};
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector, Pod, PodSpec, PodView};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_api::view::{List, Owned};
use ferry_client::SharedObject;
use jiff::{SignedDuration, Timestamp};
use std::cmp::{Ordering, Reverse};

/// A pod with this finalizer has not been counted in the status of its Job.
pub(super) const TRACKING_FINALIZER: &str = "batch.kubernetes.io/job-tracking";
/// The annotation, and the label, of the completion index.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED_FAILURES: &str = "batch.kubernetes.io/job-index-ignored-failure-count";
const INDEX_VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// The longest prefix of a generated name: a DNS label less the five random characters.
const MAX_PREFIX: usize = 58;

/// One pod of a Job, as far as a reconcile looks at it.
#[derive(Clone, Debug)]
pub(super) struct JobPod {
    pub object: SharedObject<Pod>,
    pub is_active: bool,
    pub is_terminating: bool,
    pub is_succeeded: bool,
    /// The pod counts as failed, by its phase or by the Job's podReplacementPolicy.
    pub is_failed: bool,
    pub is_ready: bool,
    pub is_tracked: bool,
    /// The completion index; `None` where it is missing, is no index, or is negative.
    pub index: Option<i32>,
    /// What the podFailurePolicy makes of the pod, should it count as failed. The end of a Job
    /// makes pods count that still run.
    pub failure: FailureAction,
}

impl JobPod {
    pub(super) fn read(object: SharedObject<Pod>, terms: &JobTerms<'_>) -> Self {
        let view = object.view();
        let (phase, is_deleting) = (view.status().phase(), pod::is_deleting(view));
        let is_succeeded = phase == "Succeeded";
        // A deleted pod counts as failed at once, because an orphan may never reach the phase,
        // unless pods are replaced only when they have ended.
        let is_failed = phase == "Failed" || (is_deleting && !is_succeeded && !terms.replaces_only_failed);
        let index = view.metadata().annotations().get(INDEX).and_then(|text| text.parse().ok());
        Self {
            is_active: pod::is_active(view),
            is_terminating: pod::is_terminating(view),
            is_succeeded,
            is_failed,
            is_ready: pod::is_ready(view),
            is_tracked: is_tracked(view),
            index: index.filter(|index: &i32| *index >= 0),
            failure: judge_failure(terms.failure_policy, view),
            object,
        }
    }

    pub(super) fn uid(&self) -> &str {
        self.object.uid()
    }

    /// The index, where it is one of the Job's.
    pub(super) fn valid_index(&self, terms: &JobTerms<'_>) -> Option<i32> {
        self.index.filter(|index| terms.completions.is_some_and(|completions| *index < completions))
    }

    /// How often the index failed before this pod, and how often that did not count.
    pub(super) fn index_failures(&self) -> (i32, i32) {
        let annotations = self.object.meta().annotations();
        let count = |name: &str| annotations.get(name).and_then(|text| text.parse().ok()).unwrap_or(0).max(0);
        (count(FAILURES), count(IGNORED_FAILURES))
    }

    pub(super) fn finish_time(&self) -> Timestamp {
        finish_time(self.object.view())
    }
}

pub(super) fn is_tracked(pod: PodView<'_>) -> bool {
    pod.metadata().finalizers().contains(TRACKING_FINALIZER)
}

/// The moment at which a pod ended, by the best witness: its containers and sidecars where all
/// have ended, the condition Ready, the deletion less its grace period, the creation.
pub(super) fn finish_time(pod: PodView<'_>) -> Timestamp {
    let meta = pod.metadata();
    let deleted = || {
        let grace = SignedDuration::from_secs(meta.deletion_grace_period_seconds().unwrap_or(0));
        meta.deletion_timestamp()?.checked_sub(grace).ok()
    };
    let not_ready = || pod::condition(pod, "Ready").filter(|ready| ready.status() == "False")?.last_transition_time();
    let found = containers_finish_time(pod).or_else(not_ready).or_else(deleted).or_else(|| meta.creation_timestamp());
    found.unwrap_or(Timestamp::UNIX_EPOCH)
}

fn containers_finish_time(pod: PodView<'_>) -> Option<Timestamp> {
    let (spec, status) = (pod.spec(), pod.status());
    let mut latest = None;
    let is_sidecar_named =
        |name: &str| spec.init_containers().iter().any(|container| is_sidecar(container) && container.name() == name);
    let sidecars = status.init_container_statuses().iter().filter(|container| is_sidecar_named(container.name()));
    for container in status.container_statuses().iter().chain(sidecars) {
        latest = latest.max(Some(container.state().terminated()?.finished_at()?));
    }
    latest
}

/// The pod that a Job makes, for an index where the Job is Indexed. `replaced` is the last
/// failed pod of the index, whose count of failures goes on.
pub(super) fn plan_pod(terms: &JobTerms<'_>, index: Option<i32>, replaced: Option<&JobPod>) -> Pod {
    let job = terms.job.metadata();
    let template = terms.job.spec().template();
    let (mut labels, mut annotations) =
        (template.metadata().labels().to_map(), template.metadata().annotations().to_map());
    let mut finalizers = template.metadata().finalizers().to_vec();
    if !finalizers.iter().any(|finalizer| finalizer == TRACKING_FINALIZER) {
        finalizers.push(TRACKING_FINALIZER.to_owned());
    }
    let mut spec = template.spec().to_owned();
    let mut prefix = format!("{}-", job.name());
    if terms.is_indexed {
        add_index_variable(&mut spec);
    }
    if let Some(index) = index {
        labels.insert(INDEX.to_owned(), index.to_string());
        annotations.insert(INDEX.to_owned(), index.to_string());
        spec.set_hostname(format!("{}-{index}", job.name()));
        prefix = index_prefix(job.name(), index);
        if terms.backoff_limit_per_index.is_some() {
            let (failures, ignored) = next_index_failures(replaced);
            annotations.insert(FAILURES.to_owned(), failures.to_string());
            if ignored > 0 {
                annotations.insert(IGNORED_FAILURES.to_owned(), ignored.to_string());
            }
        }
    }
    let metadata = ObjectMeta::new()
        .with_generate_name(prefix)
        .with_namespace(job.namespace())
        .with_labels(labels.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        .with_annotations(annotations.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        .with_finalizers(finalizers)
        .with_owner_references([controller_reference::<Job>(terms.job)]);
    Pod::new().with_metadata(metadata).with_spec(spec)
}

fn next_index_failures(replaced: Option<&JobPod>) -> (i32, i32) {
    let Some(replaced) = replaced else { return (0, 0) };
    let (failures, ignored) = replaced.index_failures();
    match replaced.failure.is_counted() {
        true => (failures.saturating_add(1), ignored),
        false => (failures, ignored.saturating_add(1)),
    }
}

fn index_prefix(job: &str, index: i32) -> String {
    let suffix = format!("-{index}-");
    // Names are ASCII, so any cut is at a character.
    let room = MAX_PREFIX.saturating_sub(suffix.len()).min(job.len());
    format!("{}{suffix}", job.get(..room).unwrap_or(job))
}

/// Every container learns its index by the label; one that has a variable of that name keeps it.
fn add_index_variable(spec: &mut PodSpec) {
    let path = format!("metadata.labels['{INDEX}']");
    let source = EnvVarSource::new().with_field_ref(ObjectFieldSelector::new().with_field_path(path));
    let variable = EnvVar::new().with_name(INDEX_VARIABLE).with_value_from(source);
    let with_variable = |containers: List<'_, ferry_api::view::core::v1::ContainerView<'_>>| -> Vec<Container> {
        let add = |container: ferry_api::view::core::v1::ContainerView<'_>| {
            let mut own = container.to_owned();
            if !container.env().iter().any(|env| env.name() == INDEX_VARIABLE) {
                own.push_env(variable.clone());
            }
            own
        };
        containers.iter().map(add).collect()
    };
    let (init, main) = (with_variable(spec.view().init_containers()), with_variable(spec.view().containers()));
    spec.set_init_containers(init);
    spec.set_containers(main);
}

/// The active pods to remove: of an Indexed Job those without a valid index and all but one of
/// an index, and then as many more as make `at_least`, those first that have got least far.
pub(super) fn plan_removal<'p>(terms: &JobTerms<'_>, active: &[&'p JobPod], at_least: usize) -> Vec<&'p JobPod> {
    let mut ranked: Vec<(Rank, &JobPod)> = active.iter().map(|pod| (Rank::of(pod.object.view()), *pod)).collect();
    ranked.sort_by(|(a, _), (b, _)| a.compare(b));
    if !terms.is_indexed {
        return ranked.into_iter().take(at_least).map(|(_, pod)| pod).collect();
    }
    // The pod that has got furthest is the last of its index, and stays.
    let mut kept = std::collections::HashSet::new();
    let (mut left, mut removed) = (Vec::new(), Vec::new());
    for (_, pod) in ranked.into_iter().rev() {
        match pod.valid_index(terms) {
            Some(index) if kept.insert(index) => left.push(pod),
            _ => removed.push(pod),
        }
    }
    let more = at_least.saturating_sub(removed.len());
    removed.extend(left.into_iter().rev().take(more));
    removed
}

/// The order of upstream's `ActivePods` (pkg/controller/controller_utils.go).
struct Rank {
    progress: (bool, u8, bool),
    ready_since: Option<Timestamp>,
    restarts: (i32, i32),
    created: Option<Timestamp>,
}

impl Rank {
    fn of(pod: PodView<'_>) -> Self {
        let phase = match pod.status().phase() {
            "Pending" => 0,
            "Unknown" => 1,
            _ => 2,
        };
        let (spec, status) = (pod.spec(), pod.status());
        let is_sidecar_named = |name: &str| {
            spec.init_containers().iter().any(|container| is_sidecar(container) && container.name() == name)
        };
        let sidecars = status.init_container_statuses().iter().filter(|status| is_sidecar_named(status.name()));
        let containers = status.container_statuses().iter().map(|status| status.restart_count()).max();
        Self {
            progress: (!spec.node_name().is_empty(), phase, pod::is_ready(pod)),
            ready_since: pod::ready_since(pod),
            restarts: (containers.unwrap_or(0), sidecars.map(|status| status.restart_count()).max().unwrap_or(0)),
            created: pod.metadata().creation_timestamp(),
        }
    }

    /// Less goes first: what is ready or exists for the shorter time, or does not say since when.
    fn compare(&self, other: &Self) -> Ordering {
        let younger = |mine: Option<Timestamp>, theirs: Option<Timestamp>| match (mine, theirs) {
            (Some(mine), Some(theirs)) => Reverse(mine).cmp(&Reverse(theirs)),
            (mine, theirs) => mine.is_some().cmp(&theirs.is_some()),
        };
        self.progress
            .cmp(&other.progress)
            .then_with(|| younger(self.ready_since, other.ready_since))
            .then_with(|| other.restarts.cmp(&self.restarts))
            .then_with(|| younger(self.created, other.created))
    }
}
