//! Which pods of a StatefulSet are made, mended and deleted in one reconcile, and in which
//! order. Pure: mod.rs gathers, execute.rs acts.
//!
//! The rules are upstream's `updateStatefulSet` (pkg/controller/statefulset). An ordered set
//! (OrderedReady) stops at the first pod that is not available; a Parallel one looks at all of
//! them. Scaling goes before updating: a rolling update deletes a pod only in a set whose pods
//! are all there.

use super::identity::{
    RevisedTemplate, identity_matches, ordinal, ordinals, plan_claims, plan_pod, revision_of, storage_matches,
};
use super::retention::Owners;
use ferry_api::rules::pod::{is_available, is_deleting, is_ready, is_terminal};
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::StatefulSetView;
use ferry_api::view::core::v1::{PersistentVolumeClaim, Pod, PodView};
use ferry_client::SharedObject;
use jiff::Timestamp;
use std::collections::HashMap;

/// The claims of a set's pods, by name.
pub(super) type Claims = HashMap<String, SharedObject<PersistentVolumeClaim>>;

/// The present state of a set, as the caches show it.
pub(super) struct Observed<'a> {
    pub set: StatefulSetView<'a>,
    pub current: &'a RevisedTemplate,
    pub update: &'a RevisedTemplate,
    pub pods: &'a [SharedObject<Pod>],
    pub claims: &'a Claims,
    pub now: Timestamp,
}

/// One change to one pod.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Makes the pod, and its claims before it.
    Create(Pod),
    Delete(SharedObject<Pod>),
    /// Makes the claims that a pending pod waits for, and gives them their owners.
    MakeClaims(SharedObject<Pod>),
    /// Gives a pod the labels, volumes and claims of its ordinal.
    Mend(SharedObject<Pod>),
    /// Gives the claims of a condemned pod their owners, before the pod goes.
    RetainClaims(SharedObject<Pod>),
}

/// Rounds of steps. The steps of a round are independent of each other in a Parallel set; an
/// ordered set takes them one by one. A failure ends the plan.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub rounds: Vec<Vec<Step>>,
    /// The pod that makes room for one of the update revision, after all rounds.
    pub outdated: Option<SharedObject<Pod>>,
}

/// The pods of a set by their places.
pub(super) struct Members {
    /// One for each ordinal of the set, with `None` where a pod is missing.
    pub replicas: Vec<(i64, Option<SharedObject<Pod>>)>,
    /// The pods outside of the set's ordinals, highest first.
    pub condemned: Vec<SharedObject<Pod>>,
}

impl Observed<'_> {
    pub(super) fn members(&self) -> Members {
        let range = ordinals(self.set);
        let mut replicas: Vec<(i64, Option<SharedObject<Pod>>)> = range.clone().map(|place| (place, None)).collect();
        let mut condemned = Vec::new();
        for pod in self.pods {
            let Some(place) = ordinal(self.set, pod.view()) else { continue };
            match usize::try_from(place - range.start).ok().and_then(|index| replicas.get_mut(index)) {
                Some((_, replica)) => *replica = Some(pod.clone()),
                None => condemned.push((place, pod.clone())),
            }
        }
        condemned.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
        Members { replicas, condemned: condemned.into_iter().map(|(_, pod)| pod).collect() }
    }

    pub(super) fn is_available(&self, pod: PodView<'_>) -> bool {
        is_available(pod, self.set.spec().min_ready_seconds(), self.now)
    }

    fn is_unavailable(&self, pod: PodView<'_>) -> bool {
        is_deleting(pod) || !self.is_available(pod)
    }

    /// The steps for one replica, and whether an ordered set goes on after it.
    fn judge_replica(&self, place: i64, pod: Option<&SharedObject<Pod>>, steps: &mut Vec<Step>) -> bool {
        let Some(pod) = pod else {
            let new = self.plan_new_pod(place);
            // A former pod's claim is about to be deleted; the new pod must not get it.
            let owners = Owners { set: self.set, pod: new.view() };
            let is_blocked = self.claims_of(place).any(|claim| owners.blocks_creation(claim.meta()));
            if !is_blocked {
                steps.push(Step::Create(new));
            }
            return false;
        };
        // A pod that ended is replaced whatever its exit code: an evicted one may look like
        // one that is done.
        if is_terminal(pod.view()) {
            if !pod.is_deleting() {
                steps.push(Step::Delete(pod.clone()));
            }
            return false;
        }
        if pod.view().status().phase() == "Pending" && !self.claims_are_in_order(pod, place) {
            steps.push(Step::MakeClaims(pod.clone()));
        }
        let goes_on = !pod.is_deleting() && is_running_and_ready(pod.view()) && self.is_available(pod.view());
        if self.is_ordered() && !goes_on {
            return false;
        }
        let is_in_order = identity_matches(pod.view())
            && storage_matches(self.set, pod.view(), place)
            && self.claims_have_their_owners(pod, place);
        if !is_in_order {
            steps.push(Step::Mend(pod.clone()));
        }
        goes_on
    }

    pub(super) fn is_ordered(&self) -> bool {
        self.set.spec().pod_management_policy() != "Parallel"
    }

    /// A pod below the partition is of the current revision. Without a partition it is so as
    /// long as the status counts as many, so that a failed pod does not move the update on.
    fn plan_new_pod(&self, place: i64) -> Pod {
        let strategy = self.set.spec().update_strategy();
        let start = ordinals(self.set).start;
        let kept = match strategy.rolling_update() {
            Some(rolling) => rolling.partition().unwrap_or(0),
            None if strategy.type_() == "RollingUpdate" => self.set.status().current_replicas(),
            None => 0,
        };
        let of = if place < start + i64::from(kept) { self.current } else { self.update };
        plan_pod(self.set, of, place)
    }

    fn claims_of(&self, place: i64) -> impl Iterator<Item = &SharedObject<PersistentVolumeClaim>> {
        let planned = plan_claims(self.set, place).into_iter();
        planned.filter_map(|claim| self.claims.get(claim.view().metadata().name()))
    }

    /// Whether every claim is there, stays and has its owners.
    fn claims_are_in_order(&self, pod: &SharedObject<Pod>, place: i64) -> bool {
        let planned = plan_claims(self.set, place);
        let there = |claim: &PersistentVolumeClaim| self.claims.get(claim.view().metadata().name());
        planned.iter().all(|claim| there(claim).is_some_and(|claim| !claim.is_deleting()))
            && self.claims_have_their_owners(pod, place)
    }

    /// Whether each claim that is there has the owners that the retention policy asks for.
    fn claims_have_their_owners(&self, pod: &SharedObject<Pod>, place: i64) -> bool {
        let owners = Owners { set: self.set, pod: pod.view() };
        self.claims_of(place).all(|claim| owners.judge(claim.meta()).references.is_none())
    }

    /// The condemned pods that are deleted now. An ordered set deletes the highest one, and
    /// waits first for every other pod that is not available.
    fn judge_condemned(&self, members: &Members) -> Vec<Step> {
        let condemned = &members.condemned;
        let staying = |pods: &[SharedObject<Pod>]| -> Vec<Step> {
            pods.iter().filter(|pod| !pod.is_deleting()).cloned().map(Step::Delete).collect()
        };
        if !self.is_ordered() {
            return staying(condemned);
        }
        let Some(highest) = condemned.first() else { return Vec::new() };
        // All replicas are available here, so the first unhealthy pod is a condemned one.
        let unhealthy = condemned.iter().rev().find(|pod| self.is_unavailable(pod.view()));
        let is_first_unhealthy = unhealthy.is_some_and(|pod| pod.uid() == highest.uid());
        let is_healthy = is_running_and_ready(highest.view()) && self.is_available(highest.view());
        if is_healthy || is_first_unhealthy { staying(std::slice::from_ref(highest)) } else { Vec::new() }
    }

    /// The pod that a rolling update deletes: the highest one of another revision, if every
    /// pod above it is of the update revision and available.
    fn judge_update(&self, members: &Members) -> Option<SharedObject<Pod>> {
        let strategy = self.set.spec().update_strategy();
        if strategy.type_() == "OnDelete" {
            return None;
        }
        let partition = strategy.rolling_update().and_then(|rolling| rolling.partition()).unwrap_or(0);
        let partition = usize::try_from(partition).unwrap_or(0);
        for (_, replica) in members.replicas.iter().skip(partition).rev() {
            let pod = replica.as_ref()?;
            if revision_of(pod.view()) != self.update.revision && !pod.is_deleting() {
                return Some(pod.clone());
            }
            if self.is_unavailable(pod.view()) {
                return None;
            }
        }
        None
    }
}

fn is_running_and_ready(pod: PodView<'_>) -> bool {
    pod.status().phase() == "Running" && is_ready(pod)
}

/// A set that is being deleted changes nothing any more.
pub(super) fn plan_set(observed: &Observed<'_>) -> Plan {
    let mut plan = Plan::default();
    if observed.set.metadata().deletion_timestamp().is_some() {
        return plan;
    }
    let members = observed.members();
    let mut steps = Vec::new();
    for (place, replica) in &members.replicas {
        let goes_on = observed.judge_replica(*place, replica.as_ref(), &mut steps);
        if observed.is_ordered() && !goes_on {
            plan.rounds.push(steps);
            return plan;
        }
    }
    plan.rounds.push(steps);
    let place_of = |pod: &SharedObject<Pod>| ordinal(observed.set, pod.view());
    let disordered = members
        .condemned
        .iter()
        .filter(|pod| place_of(pod).is_some_and(|place| !observed.claims_have_their_owners(pod, place)));
    plan.rounds.push(disordered.cloned().map(Step::RetainClaims).collect());
    let doomed = observed.judge_condemned(&members);
    // An ordered set updates nothing before the last condemned pod is gone.
    let is_scaling = observed.is_ordered() && !members.condemned.is_empty();
    plan.rounds.push(doomed);
    if !is_scaling {
        plan.outdated = observed.judge_update(&members);
    }
    plan.rounds.retain(|round| !round.is_empty());
    plan
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
