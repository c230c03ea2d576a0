//! What a deployment reports: counts, and the conditions Available, Progressing and
//! ReplicaFailure with upstream's reasons and sentences.

use super::fencepost::fenceposts;
use super::plan::Set;
use super::{replicas, total_of, wanted};
use ferry_api::rules::condition::{find, remove, set_unless_same_reason};
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{
    DeploymentCondition, DeploymentConditionView, DeploymentStatus, DeploymentStatusView, DeploymentView,
    ReplicaSetStatusView,
};
use jiff::Timestamp;
use std::time::Duration;

pub(super) const PROGRESSING: &str = "Progressing";
const AVAILABLE: &str = "Available";
const REPLICA_FAILURE: &str = "ReplicaFailure";

pub(super) const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
pub(super) const TIMED_OUT: &str = "ProgressDeadlineExceeded";

pub(super) fn condition(kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> DeploymentCondition {
    DeploymentCondition::new()
        .with_type(kind)
        .with_status(status)
        .with_reason(reason)
        .with_message(message)
        .with_last_update_time(now)
        .with_last_transition_time(now)
}

pub(super) fn progress_deadline(deployment: DeploymentView<'_>) -> Option<i32> {
    // The largest number stands for "never", because the field once had no default.
    deployment.spec().progress_deadline_seconds().filter(|deadline| *deadline != i32::MAX)
}

/// The counts and the Available condition. `before` is the status as it was observed, with
/// what has been noted in it since.
pub(super) fn compute_status(
    deployment: DeploymentView<'_>,
    before: DeploymentStatusView<'_>,
    new: Option<&Set>,
    old: &[Set],
    now: Timestamp,
) -> DeploymentStatus {
    let all = || old.iter().chain(new);
    let sum = |count: fn(ReplicaSetStatusView<'_>) -> i32| total_of(all().map(|set| count(set.view().status())));
    let available = sum(|status| status.available_replicas());
    let total: i32 = total_of(all().map(|set| replicas(set.view())));
    let mut status = DeploymentStatus::new()
        .with_observed_generation(Some(deployment.metadata().generation()).filter(|generation| *generation != 0))
        .with_replicas(some(sum(|status| status.replicas())))
        .with_updated_replicas(some(new.map_or(0, |set| set.view().status().replicas())))
        .with_ready_replicas(some(sum(|status| status.ready_replicas())))
        .with_available_replicas(some(available))
        .with_unavailable_replicas(some(total.saturating_sub(available).max(0)))
        .with_terminating_replicas(terminating(all()))
        .with_collision_count(before.collision_count())
        .with_conditions(before.conditions());
    let verdict = if available >= wanted(deployment) - fenceposts(deployment).max_unavailable {
        condition(AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
    } else {
        let message = "Deployment does not have minimum availability.";
        condition(AVAILABLE, "False", "MinimumReplicasUnavailable", message, now)
    };
    set_unless_same_reason(&mut status, verdict, now);
    status
}

/// Zero counts are left out on the wire.
fn some(count: i32) -> Option<i32> {
    (count != 0).then_some(count)
}

/// The sum, unless some set that has been looked after does not report its part.
fn terminating<'a>(sets: impl Iterator<Item = &'a Set>) -> Option<i32> {
    let mut sum = 0;
    for set in sets {
        let status = set.view().status();
        match status.terminating_replicas() {
            Some(count) => sum += count,
            None if status.observed_generation() > 0 => return None,
            None => {}
        }
    }
    Some(sum)
}

pub(super) fn is_complete(deployment: DeploymentView<'_>, status: DeploymentStatusView<'_>) -> bool {
    let wanted = wanted(deployment);
    status.updated_replicas() == wanted
        && status.replicas() == wanted
        && status.available_replicas() == wanted
        && status.observed_generation() >= deployment.metadata().generation()
}

fn is_progressing(before: DeploymentStatusView<'_>, after: DeploymentStatusView<'_>) -> bool {
    let still_old = |status: DeploymentStatusView<'_>| status.replicas() - status.updated_replicas();
    after.updated_replicas() > before.updated_replicas()
        || still_old(after) < still_old(before)
        || after.ready_replicas() > before.ready_replicas()
        || after.available_replicas() > before.available_replicas()
}

/// How long until the deployment has made no progress for too long; zero when it has.
fn time_left(current: DeploymentConditionView<'_>, deadline: i32, now: Timestamp) -> Duration {
    let Some(since) = current.last_update_time() else { return Duration::ZERO };
    let elapsed = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    Duration::from_secs(deadline.unsigned_abs().into()).saturating_sub(elapsed)
}

/// The status during a rollout, and when to look again for a missed deadline.
pub(super) fn compute_rollout_status(
    deployment: DeploymentView<'_>,
    before: DeploymentStatusView<'_>,
    new: Option<&Set>,
    old: &[Set],
    now: Timestamp,
) -> (DeploymentStatus, Option<Duration>) {
    let mut status = compute_status(deployment, before, new, old, now);
    let deadline = progress_deadline(deployment);
    if deadline.is_none() {
        remove(&mut status, PROGRESSING);
    }
    let current = find(before.conditions(), PROGRESSING);
    let reason = current.map(|current| current.reason()).unwrap_or_default();
    // A finished rollout is not judged again: pods that come and go later are no rollout.
    let was_complete = status.view().replicas() == status.view().updated_replicas() && reason == NEW_SET_AVAILABLE;
    if let Some(deadline) = deadline
        && !was_complete
    {
        let subject = match new {
            Some(set) => format!("ReplicaSet {:?}", set.view().metadata().name()),
            None => format!("Deployment {:?}", deployment.metadata().name()),
        };
        if is_complete(deployment, status.view()) {
            let message = format!("{subject} has successfully progressed.");
            let progress = condition(PROGRESSING, "True", NEW_SET_AVAILABLE, &message, now);
            set_unless_same_reason(&mut status, progress, now);
        } else if is_progressing(before, status.view()) {
            let message = format!("{subject} is progressing.");
            let mut progress = condition(PROGRESSING, "True", "ReplicaSetUpdated", &message, now);
            if let Some(current) = current {
                // The time of update moves even though nothing else changes: the deadline
                // is counted from it.
                if current.status() == "True" {
                    progress.set_last_transition_time(current.last_transition_time());
                }
                remove(&mut status, PROGRESSING);
            }
            set_unless_same_reason(&mut status, progress, now);
        } else if let Some(current) = find(status.view().conditions(), PROGRESSING)
            && current.reason() != NEW_SET_AVAILABLE
            && (current.reason() == TIMED_OUT || time_left(current, deadline, now).is_zero())
        {
            let message = format!("{subject} has timed out progressing.");
            set_unless_same_reason(&mut status, condition(PROGRESSING, "False", TIMED_OUT, &message, now), now);
        }
    }
    match replica_failure(new, old) {
        Some(failure) => set_unless_same_reason(&mut status, failure, now),
        None => remove(&mut status, REPLICA_FAILURE),
    };
    let check = deadline.and_then(|deadline| {
        let current = find(status.view().conditions(), PROGRESSING)?;
        let settled =
            is_complete(deployment, status.view()) || matches!(current.reason(), TIMED_OUT | NEW_SET_AVAILABLE);
        // A second more, because times on the wire have no fractions.
        (!settled).then(|| time_left(current, deadline, now) + Duration::from_secs(1))
    });
    (status, check)
}

/// The newest set's failure counts before those of old ones.
fn replica_failure(new: Option<&Set>, old: &[Set]) -> Option<DeploymentCondition> {
    let mut all = new.into_iter().chain(old);
    let found = all.find_map(|set| find(set.view().status().conditions(), REPLICA_FAILURE))?;
    Some(
        DeploymentCondition::new()
            .with_type(found.type_())
            .with_status(found.status())
            .with_reason(found.reason())
            .with_message(found.message())
            .with_last_transition_time(found.last_transition_time())
            .with_last_update_time(found.last_transition_time()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::apps::v1::Deployment;
    use ferry_client::SharedObject;
    use serde_json::{Value, json};

    const NOW: &str = "2024-01-01T12:00:00Z";

    fn deployment(status: Value) -> Deployment {
        Deployment::from(json!({
            "metadata": {"name": "web", "generation": 1},
            "spec": {"replicas": 2, "progressDeadlineSeconds": 60, "selector": {}, "template": {}},
            "status": status,
        }))
    }

    fn new_set(replicas: i32, available: i32) -> Set {
        Set::observed(SharedObject::of(
            json!({"metadata": {"name": "web-1"}, "spec": {"replicas": replicas, "selector": {}},
                "status": {"replicas": replicas, "readyReplicas": available, "availableReplicas": available,
                    "observedGeneration": 1, "terminatingReplicas": 0}}),
        ))
    }

    fn progressing(reason: &str, updated: &str) -> Value {
        json!([{"type": "Progressing", "status": "True", "reason": reason, "message": "m",
            "lastUpdateTime": updated, "lastTransitionTime": updated}])
    }

    /// The Progressing condition as `status reason message`.
    fn check(status: Value, set: Set, expected: &str, check_after: Option<u64>) {
        let now = NOW.parse().expect("a time");
        let deployment = deployment(status);
        let deployment = deployment.view();
        let (status, after) = compute_rollout_status(deployment, deployment.status(), Some(&set), &[], now);
        let found = find(status.view().conditions(), PROGRESSING).expect("a condition");
        let text = format!("{} {} {}", found.status(), found.reason(), found.message());
        assert_eq!(text, expected);
        assert_eq!(after.map(|after| after.as_secs()), check_after);
    }

    #[test]
    fn progress_is_judged_as_upstream_judges_it() {
        let fresh = "2024-01-01T11:59:50Z";
        let stale = "2024-01-01T11:00:00Z";
        check(
            json!({"conditions": progressing("NewReplicaSetCreated", fresh)}),
            new_set(2, 1),
            "True ReplicaSetUpdated ReplicaSet \"web-1\" is progressing.",
            Some(61),
        );
        check(
            json!({"replicas": 2, "updatedReplicas": 2, "conditions": progressing("ReplicaSetUpdated", fresh)}),
            new_set(2, 2),
            "True NewReplicaSetAvailable ReplicaSet \"web-1\" has successfully progressed.",
            None,
        );
        check(
            json!({"replicas": 2, "updatedReplicas": 2, "conditions": progressing("ReplicaSetUpdated", fresh)}),
            new_set(2, 0),
            "True ReplicaSetUpdated m",
            Some(51),
        );
        check(
            json!({"replicas": 2, "updatedReplicas": 2, "conditions": progressing("ReplicaSetUpdated", stale)}),
            new_set(2, 0),
            "False ProgressDeadlineExceeded ReplicaSet \"web-1\" has timed out progressing.",
            None,
        );
        check(
            json!({"replicas": 2, "updatedReplicas": 2, "conditions": progressing("NewReplicaSetAvailable", stale)}),
            new_set(2, 0),
            "True NewReplicaSetAvailable m",
            None,
        );
    }

    #[test]
    fn availability_and_counts() {
        let now = NOW.parse().expect("a time");
        let deployment = deployment(json!({}));
        let compute =
            |new: Set, old: &[Set]| compute_status(deployment.view(), deployment.view().status(), Some(&new), old, now);
        let status = compute(new_set(2, 2), &[new_set(1, 0)]);
        let view = status.view();
        assert_eq!(
            (view.replicas(), view.updated_replicas(), view.available_replicas(), view.unavailable_replicas()),
            (3, 2, 2, 1)
        );
        let available = find(view.conditions(), AVAILABLE).expect("a condition");
        assert_eq!((available.status(), available.reason()), ("True", "MinimumReplicasAvailable"));
        let status = compute(new_set(2, 0), &[]);
        let available = find(status.view().conditions(), AVAILABLE).expect("a condition");
        assert_eq!(available.message(), "Deployment does not have minimum availability.");
    }
}
