//! The order of decisions over one deployment, after upstream's `syncDeployment`.
//!
//! Everything here is pure: it takes the deployment, its ReplicaSets and the time, and
//! says what to write. mod.rs carries the writes out.

use super::fencepost::is_rolling;
use super::progress::{
    PROGRESSING, TIMED_OUT, compute_rollout_status, compute_status, condition, is_complete, progress_deadline,
};
use super::revision::{
    REVISION, annotation, max_revision, plan_cleanup, plan_new_set, replicas_annotations, split_sets,
    synced_annotations,
};
use super::rollback::{plan_rollback, rollback_revision};
use super::rolling::{plan_new_size, plan_rolling};
use super::{recreate, replicas, scale as scaling, selects_all, total_of};
use ferry_api::rules::condition::{find, set_unless_same_reason};
use ferry_api::view::apps::v1::{Deployment, DeploymentStatus, DeploymentView, ReplicaSet, ReplicaSetView};
use ferry_api::view::{Owned, View, alike};
use ferry_client::{EventType, SharedObject};
use jiff::Timestamp;
use std::time::Duration;

/// What is known when a deployment is reconciled.
pub(super) struct Observed {
    pub deployment: SharedObject<Deployment>,
    /// Its own sets, after adoption and release.
    pub sets: Vec<SharedObject<ReplicaSet>>,
    /// The uids of those sets that have a pod which has not ended.
    pub sets_with_pods: Vec<String>,
    pub now: Timestamp,
}

#[derive(Debug, PartialEq)]
pub(super) enum Write {
    CreateSet(Box<ReplicaSet>),
    /// `scaled` is the size before and after, when it changes.
    UpdateSet {
        set: Box<ReplicaSet>,
        scaled: Option<(i32, i32)>,
    },
    DeleteSet(String),
    UpdateDeployment(Box<Deployment>),
    UpdateStatus(Box<Deployment>),
    Event {
        kind: EventType,
        reason: &'static str,
        message: String,
    },
}

/// Writes in order; the first that fails ends the round.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub writes: Vec<Write>,
    pub check_after: Option<Duration>,
}

/// A set as the decisions see it: as it was observed, until one of them changes it.
#[derive(Clone, Debug)]
pub(super) struct Set {
    /// None for a set that is still to be made.
    observed: Option<SharedObject<ReplicaSet>>,
    changed: Option<ReplicaSet>,
}

impl Set {
    pub(super) fn observed(set: SharedObject<ReplicaSet>) -> Self {
        Self { observed: Some(set), changed: None }
    }

    fn planned(set: ReplicaSet) -> Self {
        Self { observed: None, changed: Some(set) }
    }

    pub(super) fn view(&self) -> ReplicaSetView<'_> {
        match (&self.changed, &self.observed) {
            (Some(changed), _) => changed.view(),
            (None, Some(observed)) => observed.view(),
            (None, None) => ReplicaSetView::default(),
        }
    }

    /// The copy that is written in the end.
    fn edit(&mut self) -> &mut ReplicaSet {
        let observed = &self.observed;
        self.changed.get_or_insert_with(|| observed.as_ref().map(SharedObject::to_owned).unwrap_or_default())
    }

    /// The write that makes the API agree, if anything changed.
    fn into_write(self) -> Option<Write> {
        let set = Box::new(self.changed?);
        let Some(before) = self.observed else { return Some(Write::CreateSet(set)) };
        let (from, to) = (replicas(before.view()), replicas(set.view()));
        Some(Write::UpdateSet { set, scaled: (from != to).then_some((from, to)) })
    }
}

/// The state that the decisions change; what differs in the end is written.
pub(super) struct Rollout<'a> {
    pub deployment: DeploymentView<'a>,
    pub new: Option<Set>,
    pub old: Vec<Set>,
    /// The status, with conditions as they come up.
    status: DeploymentStatus,
    /// The newest set's revision, which the deployment is to carry too.
    revision: Option<String>,
    created: bool,
    now: Timestamp,
}

impl<'a> Rollout<'a> {
    fn new(deployment: DeploymentView<'a>, sets: Vec<Set>, now: Timestamp) -> Self {
        let (new, old) = split_sets(deployment, sets);
        let (status, revision) = (deployment.status().to_owned(), None);
        Self { deployment, new, old, status, revision, created: false, now }
    }

    pub(super) fn sets(&self) -> impl Iterator<Item = &Set> {
        self.old.iter().chain(&self.new)
    }

    /// A copy of the deployment that carries the newest revision.
    pub(super) fn revised_deployment(&self) -> Deployment {
        let mut deployment = self.deployment.to_owned();
        if let Some(revision) = &self.revision {
            deployment.edit_metadata(|meta| meta.insert_annotations(REVISION, revision));
        }
        deployment
    }

    /// The pods that all sets together ask for.
    pub(super) fn total(&self) -> i32 {
        total_of(self.sets().map(|set| replicas(set.view())))
    }

    /// The pods that may be there now: a set that was made smaller has its pods until its status
    /// tells that they go. Upstream counts what the sets ask for, and so has more pods than the
    /// surge allows for a moment in each step.
    pub(super) fn occupied(&self) -> i32 {
        total_of(self.sets().map(|set| replicas(set.view()).max(set.view().status().replicas())))
    }

    /// Makes the set of the present template, as large as the strategy allows at once.
    pub(super) fn create_new_set(&mut self) {
        let size = plan_new_size(self.deployment, 0, self.occupied());
        let set = plan_new_set(self.deployment, self.status.view().collision_count(), &self.old, size);
        let message = format!("Created new replica set {:?}", set.view().metadata().name());
        self.note_progress("NewReplicaSetCreated", &message);
        self.created = true;
        self.new = Some(Set::planned(set));
    }

    fn note_progress(&mut self, reason: &str, message: &str) {
        if progress_deadline(self.deployment).is_some() {
            let noted = condition(PROGRESSING, "True", reason, message, self.now);
            set_unless_same_reason(&mut self.status, noted, self.now);
        }
    }

    /// Brings the newest set's annotations and the deployment's revision in line.
    fn sync_revision(&mut self) {
        let revision = max_revision(&self.old).saturating_add(1);
        let Some(new) = &mut self.new else { return };
        let annotations = new.view().metadata().annotations();
        let synced = synced_annotations(self.deployment, annotations, revision);
        if synced != annotations.to_map() {
            new.edit().edit_metadata(|meta| meta.set_annotations(synced));
        }
        let min_ready = self.deployment.spec().min_ready_seconds();
        if new.view().spec().min_ready_seconds() != min_ready {
            new.edit().edit_spec(|spec| spec.set_min_ready_seconds(Some(min_ready).filter(|seconds| *seconds != 0)));
        }
        let meta = new.view().metadata();
        if let Some(recorded) = annotation(meta, REVISION) {
            self.revision = Some(recorded.to_owned());
        }
        if !self.created && find(self.status.view().conditions(), PROGRESSING).is_none() {
            let message = format!("Found new replica set {:?}", meta.name());
            self.note_progress("FoundNewReplicaSet", &message);
        }
    }

    /// Pausing stops the clock of the deadline, resuming starts it anew.
    fn note_pause(&mut self) {
        if progress_deadline(self.deployment).is_none() {
            return;
        }
        let reason = find(self.status.view().conditions(), PROGRESSING).map(|current| current.reason());
        let is_paused = self.deployment.spec().paused();
        let noted = match reason {
            Some(TIMED_OUT) => return,
            Some("DeploymentPaused") if is_paused => return,
            _ if is_paused => ("DeploymentPaused", "Deployment is paused"),
            Some("DeploymentPaused") => ("DeploymentResumed", "Deployment is resumed"),
            _ => return,
        };
        let noted = condition(PROGRESSING, "Unknown", noted.0, noted.1, self.now);
        set_unless_same_reason(&mut self.status, noted, self.now);
    }

    /// The counts as they are, without a judgement of the rollout.
    fn status(&self) -> DeploymentStatus {
        compute_status(self.deployment, self.status.view(), self.new.as_ref(), &self.old, self.now)
    }
}

/// Changes a set's size; false when it has it already.
pub(super) fn scale(deployment: DeploymentView<'_>, set: &mut Set, size: i32) -> bool {
    if replicas(set.view()) == size {
        return false;
    }
    force_scale(deployment, set, size);
    true
}

/// The same, and records the deployment's size on the set even if the set's stays.
pub(super) fn force_scale(deployment: DeploymentView<'_>, set: &mut Set, size: i32) {
    let recorded = replicas_annotations(deployment);
    let is_recorded =
        recorded.iter().all(|(key, value)| annotation(set.view().metadata(), key) == Some(value.as_str()));
    if replicas(set.view()) == size && is_recorded {
        return;
    }
    let changed = set.edit();
    changed.edit_metadata(|meta| recorded.iter().for_each(|(key, value)| meta.insert_annotations(key, value)));
    changed.edit_spec(|spec| spec.set_replicas(size));
}

pub(super) fn plan_deployment(observed: &Observed) -> Plan {
    let original = observed.deployment.view();
    if selects_all(original) {
        return plan_selects_all(original);
    }
    let sets = observed.sets.iter().cloned().map(Set::observed).collect();
    let mut rollout = Rollout::new(original, sets, observed.now);
    rollout.sync_revision();
    if original.metadata().deletion_timestamp().is_some() {
        let status = rollout.status();
        return finish(rollout, status, Vec::new(), None);
    }
    rollout.note_pause();
    let is_paused = original.spec().paused();
    let rollback = rollback_revision(original);
    if !is_paused && let Some(revision) = rollback {
        if rollout.new.is_none() {
            rollout.create_new_set();
        }
        return Plan { writes: plan_rollback(&rollout, revision), check_after: None };
    }
    if is_paused || scaling::is_scaling(&rollout) {
        scaling::plan_scale(&mut rollout);
        let deletions = if is_paused && rollback.is_none() { plan_cleanup(original, &rollout.old) } else { Vec::new() };
        let status = rollout.status();
        return finish(rollout, status, deletions, None);
    }
    if is_rolling(original) {
        if rollout.new.is_none() {
            rollout.create_new_set();
        }
        plan_rolling(&mut rollout);
    } else {
        let new_uid = rollout.new.as_ref().map(|set| set.view().metadata().uid()).unwrap_or_default();
        let old_pods = observed.sets_with_pods.iter().any(|uid| uid != new_uid);
        recreate::plan_recreate(&mut rollout, old_pods);
    }
    if rollout.created {
        rollout.sync_revision();
    }
    let deletions =
        if is_complete(original, original.status()) { plan_cleanup(original, &rollout.old) } else { Vec::new() };
    let (status, check) =
        compute_rollout_status(original, rollout.status.view(), rollout.new.as_ref(), &rollout.old, rollout.now);
    finish(rollout, status, deletions, check)
}

fn plan_selects_all(original: DeploymentView<'_>) -> Plan {
    let message = "This deployment is selecting all pods. A non-empty selector is required.".to_owned();
    let mut writes = vec![Write::Event { kind: EventType::Warning, reason: "SelectingAll", message }];
    let generation = original.metadata().generation();
    if original.status().observed_generation() < generation {
        let mut deployment = original.to_owned();
        deployment.edit_status(|status| status.set_observed_generation(generation));
        writes.push(Write::UpdateStatus(Box::new(deployment)));
    }
    Plan { writes, check_after: None }
}

/// Turns the differences between what was observed and what was decided into writes.
fn finish(
    rollout: Rollout<'_>,
    status: DeploymentStatus,
    deletions: Vec<String>,
    check_after: Option<Duration>,
) -> Plan {
    let original = rollout.deployment;
    let is_revised =
        rollout.revision.is_some() && rollout.revision.as_deref() != annotation(original.metadata(), REVISION);
    let before = original.status();
    // No terminating pods and none reported are two things.
    let is_same = alike(before.node(), status.view().node())
        && before.terminating_replicas() == status.view().terminating_replicas();
    let update = (is_revised || !is_same).then(|| rollout.revised_deployment().with_status(status));
    let mut writes: Vec<Write> = rollout.new.into_iter().chain(rollout.old).filter_map(Set::into_write).collect();
    writes.extend(deletions.into_iter().map(Write::DeleteSet));
    writes.extend(update.map(|deployment| Write::UpdateStatus(Box::new(deployment))));
    Plan { writes, check_after }
}
