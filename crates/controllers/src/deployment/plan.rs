//! The order of decisions over one deployment, after upstream's `syncDeployment`.
//!
//! Everything here is pure: it takes the deployment, its ReplicaSets and the time, and
//! says what to write. mod.rs carries the writes out.

use super::fencepost::is_rolling;
use super::progress::{
    PROGRESSING, TIMED_OUT, compute_rollout_status, compute_status, condition, find_condition, is_complete,
    progress_deadline, set_condition,
};
use super::revision::{
    DESIRED_REPLICAS, MAX_REPLICAS, REVISION, annotation, max_revision, plan_cleanup, plan_new_set,
    set_replicas_annotations, split_sets, sync_annotations,
};
use super::rollback::{plan_rollback, rollback_revision};
use super::rolling::{plan_new_size, plan_rolling};
use super::{recreate, replicas, scale as scaling, total_of};
use crate::selector;
use ferry_client::EventType;
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use std::sync::Arc;
use std::time::Duration;

/// What is known when a deployment is reconciled.
pub struct Observed {
    pub deployment: Arc<Deployment>,
    /// Its own sets, after adoption and release.
    pub sets: Vec<Arc<ReplicaSet>>,
    /// The uids of those sets that have a pod which has not ended.
    pub sets_with_pods: Vec<String>,
    pub now: Timestamp,
}

#[derive(Debug, PartialEq)]
pub enum Write {
    CreateSet(Box<ReplicaSet>),
    /// `scaled` is the size before and after, when it changes.
    UpdateSet {
        set: Arc<ReplicaSet>,
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
pub struct Plan {
    pub writes: Vec<Write>,
    pub check_after: Option<Duration>,
}

/// The working copies that the decisions change; what differs in the end is written.
pub struct Rollout {
    pub deployment: Deployment,
    pub new: Option<Arc<ReplicaSet>>,
    pub old: Vec<Arc<ReplicaSet>>,
    created: bool,
    now: Timestamp,
}

impl Rollout {
    pub fn sets(&self) -> impl Iterator<Item = &Arc<ReplicaSet>> {
        self.old.iter().chain(&self.new)
    }

    /// The pods that all sets together ask for.
    pub fn total(&self) -> i32 {
        total_of(self.sets().map(|set| replicas(set)))
    }

    /// Makes the set of the present template, as large as the strategy allows at once.
    pub fn create_new_set(&mut self) {
        let Some(mut set) = plan_new_set(&self.deployment, &self.old) else { return };
        let size = plan_new_size(&self.deployment, 0, self.total());
        if let Some(spec) = &mut set.spec {
            spec.replicas = Some(size);
        }
        let message = format!("Created new replica set {:?}", set.metadata.name.as_deref().unwrap_or_default());
        self.note_progress("NewReplicaSetCreated", message);
        self.created = true;
        self.new = Some(Arc::new(set));
    }

    fn note_progress(&mut self, reason: &str, message: String) {
        if progress_deadline(&self.deployment).is_some() {
            let noted = condition(PROGRESSING, "True", reason, message, self.now);
            set_condition(self.deployment.status.get_or_insert_default(), noted);
        }
    }

    /// Brings the newest set's annotations and the deployment's revision in line.
    fn sync_revision(&mut self) {
        let revision = max_revision(&self.old).saturating_add(1);
        let Some(new) = &mut self.new else { return };
        let mut synced = ReplicaSet::clone(new);
        sync_annotations(&self.deployment, &mut synced, revision);
        let min_ready = self.deployment.spec.as_ref().and_then(|spec| spec.min_ready_seconds);
        if let Some(spec) = &mut synced.spec
            && spec.min_ready_seconds.unwrap_or(0) != min_ready.unwrap_or(0)
        {
            spec.min_ready_seconds = min_ready;
        }
        if synced != **new {
            *new = Arc::new(synced);
        }
        let name = new.metadata.name.clone().unwrap_or_default();
        let status = self.deployment.status.clone().unwrap_or_default();
        if !self.created && find_condition(&status, PROGRESSING).is_none() {
            self.note_progress("FoundNewReplicaSet", format!("Found new replica set {name:?}"));
        }
        let recorded = self.new.as_ref().and_then(|new| annotation(&new.metadata, REVISION)).map(str::to_owned);
        if let Some(recorded) = recorded {
            self.deployment.metadata.annotations.get_or_insert_default().insert(REVISION.to_owned(), recorded);
        }
    }

    /// Pausing stops the clock of the deadline, resuming starts it anew.
    fn note_pause(&mut self) {
        if progress_deadline(&self.deployment).is_none() {
            return;
        }
        let status = self.deployment.status.get_or_insert_default();
        let reason = find_condition(status, PROGRESSING).and_then(|current| current.reason.clone());
        let is_paused = self.deployment.spec.as_ref().is_some_and(|spec| spec.paused == Some(true));
        let noted = match reason.as_deref() {
            Some(TIMED_OUT) => return,
            Some("DeploymentPaused") if is_paused => return,
            _ if is_paused => ("DeploymentPaused", "Deployment is paused"),
            Some("DeploymentPaused") => ("DeploymentResumed", "Deployment is resumed"),
            _ => return,
        };
        set_condition(status, condition(PROGRESSING, "Unknown", noted.0, noted.1.to_owned(), self.now));
    }
}

/// Changes a set's size; false when it has it already.
pub fn scale(deployment: &Deployment, set: &mut Arc<ReplicaSet>, size: i32) -> bool {
    if replicas(set) == size {
        return false;
    }
    force_scale(deployment, set, size);
    true
}

/// The same, and records the deployment's size on the set even if the set's stays.
pub fn force_scale(deployment: &Deployment, set: &mut Arc<ReplicaSet>, size: i32) {
    let mut meta = set.metadata.clone();
    set_replicas_annotations(deployment, &mut meta);
    let annotated = |key| annotation(&meta, key) == annotation(&set.metadata, key);
    if replicas(set) == size && annotated(DESIRED_REPLICAS) && annotated(MAX_REPLICAS) {
        return;
    }
    let changed = Arc::make_mut(set);
    changed.metadata = meta;
    if let Some(spec) = &mut changed.spec {
        spec.replicas = Some(size);
    }
}

pub fn plan_deployment(observed: &Observed) -> Plan {
    let original = &*observed.deployment;
    let Some(spec) = &original.spec else { return Plan::default() };
    if selector::is_empty(&spec.selector) {
        return plan_selects_all(original);
    }
    let (new, old) = split_sets(original, observed.sets.clone());
    let now = observed.now;
    let mut rollout = Rollout { deployment: original.clone(), new, old, created: false, now };
    rollout.sync_revision();
    if original.metadata.deletion_timestamp.is_some() {
        let status = compute_status(&rollout.deployment, rollout.new.as_ref(), &rollout.old, now);
        return finish(observed, rollout, status, Vec::new(), None);
    }
    rollout.note_pause();
    let is_paused = spec.paused == Some(true);
    let rollback = rollback_revision(original);
    if !is_paused && let Some(revision) = rollback {
        if rollout.new.is_none() {
            rollout.create_new_set();
        }
        return Plan { writes: plan_rollback(&mut rollout, revision), check_after: None };
    }
    if is_paused || scaling::is_scaling(&rollout) {
        scaling::plan_scale(&mut rollout);
        let deletions = if is_paused && rollback.is_none() { plan_cleanup(original, &rollout.old) } else { Vec::new() };
        let status = compute_status(&rollout.deployment, rollout.new.as_ref(), &rollout.old, now);
        return finish(observed, rollout, status, deletions, None);
    }
    if is_rolling(original) {
        if rollout.new.is_none() {
            rollout.create_new_set();
        }
        plan_rolling(&mut rollout);
    } else {
        let new_uid = rollout.new.as_ref().and_then(|set| set.metadata.uid.clone());
        let old_pods = observed.sets_with_pods.iter().any(|uid| Some(uid) != new_uid.as_ref());
        recreate::plan_recreate(&mut rollout, old_pods);
    }
    if rollout.created {
        rollout.sync_revision();
    }
    let complete = original.status.as_ref().is_some_and(|status| is_complete(original, status));
    let deletions = if complete { plan_cleanup(original, &rollout.old) } else { Vec::new() };
    let (status, check) = compute_rollout_status(&rollout.deployment, rollout.new.as_ref(), &rollout.old, now);
    finish(observed, rollout, status, deletions, check)
}

fn plan_selects_all(original: &Deployment) -> Plan {
    let message = "This deployment is selecting all pods. A non-empty selector is required.".to_owned();
    let mut writes = vec![Write::Event { kind: EventType::Warning, reason: "SelectingAll", message }];
    let mut deployment = original.clone();
    let status = deployment.status.get_or_insert_default();
    if status.observed_generation < original.metadata.generation {
        status.observed_generation = original.metadata.generation;
        writes.push(Write::UpdateStatus(Box::new(deployment)));
    }
    Plan { writes, check_after: None }
}

/// Turns the differences between what was observed and what was decided into writes.
fn finish(
    observed: &Observed,
    rollout: Rollout,
    status: k8s_openapi::api::apps::v1::DeploymentStatus,
    deletions: Vec<String>,
    check_after: Option<Duration>,
) -> Plan {
    let mut writes = Vec::new();
    for set in rollout.new.iter().chain(&rollout.old) {
        let before = observed.sets.iter().find(|before| before.metadata.name == set.metadata.name);
        match before {
            None => writes.push(Write::CreateSet(Box::new(ReplicaSet::clone(set)))),
            Some(before) if Arc::ptr_eq(before, set) => {}
            Some(before) => {
                let (from, to) = (replicas(before), replicas(set));
                writes.push(Write::UpdateSet { set: set.clone(), scaled: (from != to).then_some((from, to)) });
            }
        }
    }
    writes.extend(deletions.into_iter().map(Write::DeleteSet));
    let mut deployment = rollout.deployment;
    deployment.status = Some(status);
    let revised = annotation(&deployment.metadata, REVISION) != annotation(&observed.deployment.metadata, REVISION);
    if revised || deployment.status != observed.deployment.status {
        writes.push(Write::UpdateStatus(Box::new(deployment)));
    }
    Plan { writes, check_after }
}
