//! What a deployment reports: counts, and the conditions Available, Progressing and
//! ReplicaFailure with upstream's reasons and sentences.

use super::fencepost::fenceposts;
use super::{replicas, total_of, wanted};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet, ReplicaSetStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::sync::Arc;
use std::time::Duration;

pub const PROGRESSING: &str = "Progressing";
const AVAILABLE: &str = "Available";
const REPLICA_FAILURE: &str = "ReplicaFailure";

pub const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
pub const TIMED_OUT: &str = "ProgressDeadlineExceeded";

pub fn condition(kind: &str, status: &str, reason: &str, message: String, now: Timestamp) -> DeploymentCondition {
    DeploymentCondition {
        type_: kind.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message),
        last_update_time: Some(Time(now)),
        last_transition_time: Some(Time(now)),
    }
}

pub fn find_condition<'a>(status: &'a DeploymentStatus, kind: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == kind)
}

/// Adds or replaces a condition; the same status and reason leave the old one standing,
/// and the time of transition changes only with the status.
pub fn set_condition(status: &mut DeploymentStatus, mut new: DeploymentCondition) {
    if let Some(old) = find_condition(status, &new.type_)
        && old.status == new.status
    {
        if old.reason == new.reason {
            return;
        }
        new.last_transition_time = old.last_transition_time.clone();
    }
    remove_condition(status, &new.type_);
    status.conditions.get_or_insert_default().push(new);
}

pub fn remove_condition(status: &mut DeploymentStatus, kind: &str) {
    if let Some(conditions) = &mut status.conditions {
        conditions.retain(|condition| condition.type_ != kind);
    }
}

pub fn progress_deadline(deployment: &Deployment) -> Option<i32> {
    // The largest number stands for "never", because the field once had no default.
    let deadline = deployment.spec.as_ref()?.progress_deadline_seconds?;
    (deadline != i32::MAX).then_some(deadline)
}

/// The counts and the Available condition.
pub fn compute_status(
    deployment: &Deployment,
    new: Option<&Arc<ReplicaSet>>,
    old: &[Arc<ReplicaSet>],
    now: Timestamp,
) -> DeploymentStatus {
    let before = deployment.status.clone().unwrap_or_default();
    let all = || old.iter().chain(new);
    let sum = |count: fn(&ReplicaSetStatus) -> i32| total_of(all().filter_map(|set| set.status.as_ref()).map(count));
    let available = sum(|status| status.available_replicas.unwrap_or(0));
    let total: i32 = total_of(all().map(|set| replicas(set)));
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: some(sum(|status| status.replicas)),
        updated_replicas: some(new.and_then(|set| set.status.as_ref()).map_or(0, |status| status.replicas)),
        ready_replicas: some(sum(|status| status.ready_replicas.unwrap_or(0))),
        available_replicas: some(available),
        unavailable_replicas: some(total.saturating_sub(available).max(0)),
        terminating_replicas: terminating(all()),
        collision_count: before.collision_count,
        conditions: before.conditions,
    };
    let verdict = if available >= wanted(deployment) - fenceposts(deployment).max_unavailable {
        condition(AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.".into(), now)
    } else {
        let message = "Deployment does not have minimum availability.".into();
        condition(AVAILABLE, "False", "MinimumReplicasUnavailable", message, now)
    };
    set_condition(&mut status, verdict);
    status
}

/// Zero counts are left out on the wire.
fn some(count: i32) -> Option<i32> {
    (count != 0).then_some(count)
}

/// The sum, unless some set that has been looked after does not report its part.
fn terminating<'a>(sets: impl Iterator<Item = &'a Arc<ReplicaSet>>) -> Option<i32> {
    let mut sum = 0;
    for set in sets {
        let status = set.status.as_ref();
        match status.and_then(|status| status.terminating_replicas) {
            Some(count) => sum += count,
            None if status.is_some_and(|status| status.observed_generation.unwrap_or(0) > 0) => return None,
            None => {}
        }
    }
    Some(sum)
}

pub fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let wanted = wanted(deployment);
    status.updated_replicas.unwrap_or(0) == wanted
        && status.replicas.unwrap_or(0) == wanted
        && status.available_replicas.unwrap_or(0) == wanted
        && status.observed_generation >= deployment.metadata.generation
}

fn is_progressing(before: &DeploymentStatus, after: &DeploymentStatus) -> bool {
    let n = |count: Option<i32>| count.unwrap_or(0);
    let still_old = |status: &DeploymentStatus| n(status.replicas) - n(status.updated_replicas);
    n(after.updated_replicas) > n(before.updated_replicas)
        || still_old(after) < still_old(before)
        || n(after.ready_replicas) > n(before.ready_replicas)
        || n(after.available_replicas) > n(before.available_replicas)
}

/// How long until the deployment has made no progress for too long; zero when it has.
fn time_left(current: &DeploymentCondition, deadline: i32, now: Timestamp) -> Duration {
    let Some(since) = &current.last_update_time else { return Duration::ZERO };
    let elapsed = Duration::try_from(now.duration_since(since.0)).unwrap_or_default();
    Duration::from_secs(deadline.unsigned_abs().into()).saturating_sub(elapsed)
}

/// The status during a rollout, and when to look again for a missed deadline.
pub fn compute_rollout_status(
    deployment: &Deployment,
    new: Option<&Arc<ReplicaSet>>,
    old: &[Arc<ReplicaSet>],
    now: Timestamp,
) -> (DeploymentStatus, Option<Duration>) {
    let before = deployment.status.clone().unwrap_or_default();
    let mut status = compute_status(deployment, new, old, now);
    let deadline = progress_deadline(deployment);
    if deadline.is_none() {
        remove_condition(&mut status, PROGRESSING);
    }
    let current = find_condition(&before, PROGRESSING).cloned();
    let reason = current.as_ref().and_then(|current| current.reason.as_deref()).unwrap_or_default();
    // A finished rollout is not judged again: pods that come and go later are no rollout.
    let was_complete = status.replicas == status.updated_replicas && reason == NEW_SET_AVAILABLE;
    if let Some(deadline) = deadline
        && !was_complete
    {
        let subject = match new {
            Some(set) => format!("ReplicaSet {:?}", set.metadata.name.as_deref().unwrap_or_default()),
            None => format!("Deployment {:?}", deployment.metadata.name.as_deref().unwrap_or_default()),
        };
        if is_complete(deployment, &status) {
            let message = format!("{subject} has successfully progressed.");
            set_condition(&mut status, condition(PROGRESSING, "True", NEW_SET_AVAILABLE, message, now));
        } else if is_progressing(&before, &status) {
            let message = format!("{subject} is progressing.");
            let mut progress = condition(PROGRESSING, "True", "ReplicaSetUpdated", message, now);
            if let Some(current) = &current {
                // The time of update moves even though nothing else changes: the deadline
                // is counted from it.
                if current.status == "True" {
                    progress.last_transition_time = current.last_transition_time.clone();
                }
                remove_condition(&mut status, PROGRESSING);
            }
            set_condition(&mut status, progress);
        } else if let Some(current) = find_condition(&status, PROGRESSING)
            && current.reason.as_deref() != Some(NEW_SET_AVAILABLE)
            && (current.reason.as_deref() == Some(TIMED_OUT) || time_left(current, deadline, now).is_zero())
        {
            let message = format!("{subject} has timed out progressing.");
            set_condition(&mut status, condition(PROGRESSING, "False", TIMED_OUT, message, now));
        }
    }
    match replica_failure(new, old) {
        Some(failure) => set_condition(&mut status, failure),
        None => remove_condition(&mut status, REPLICA_FAILURE),
    }
    let check = deadline.and_then(|deadline| {
        let current = find_condition(&status, PROGRESSING)?;
        let settled = is_complete(deployment, &status)
            || matches!(current.reason.as_deref(), Some(TIMED_OUT | NEW_SET_AVAILABLE));
        // A second more, because times on the wire have no fractions.
        (!settled).then(|| time_left(current, deadline, now) + Duration::from_secs(1))
    });
    (status, check)
}

/// The newest set's failure counts before those of old ones.
fn replica_failure(new: Option<&Arc<ReplicaSet>>, old: &[Arc<ReplicaSet>]) -> Option<DeploymentCondition> {
    let mut conditions = new
        .into_iter()
        .chain(old)
        .flat_map(|set| set.status.iter())
        .flat_map(|status| status.conditions.iter().flatten());
    let found = conditions.find(|condition| condition.type_ == REPLICA_FAILURE)?;
    Some(DeploymentCondition {
        type_: found.type_.clone(),
        status: found.status.clone(),
        reason: found.reason.clone(),
        message: found.message.clone(),
        last_transition_time: found.last_transition_time.clone(),
        last_update_time: found.last_transition_time.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: &str = "2024-01-01T12:00:00Z";

    fn deployment(status: Value) -> Deployment {
        serde_json::from_value(json!({
            "metadata": {"name": "web", "generation": 1},
            "spec": {"replicas": 2, "progressDeadlineSeconds": 60, "selector": {}, "template": {}},
            "status": status,
        }))
        .expect("a deployment")
    }

    fn new_set(replicas: i32, available: i32) -> Arc<ReplicaSet> {
        Arc::new(
            serde_json::from_value(
                json!({"metadata": {"name": "web-1"}, "spec": {"replicas": replicas, "selector": {}},
                "status": {"replicas": replicas, "readyReplicas": available, "availableReplicas": available,
                    "observedGeneration": 1, "terminatingReplicas": 0}}),
            )
            .expect("a replica set"),
        )
    }

    fn progressing(reason: &str, updated: &str) -> Value {
        json!([{"type": "Progressing", "status": "True", "reason": reason, "message": "m",
            "lastUpdateTime": updated, "lastTransitionTime": updated}])
    }

    /// The Progressing condition as `status reason message`.
    fn check(status: Value, set: Arc<ReplicaSet>, expected: &str, check_after: Option<u64>) {
        let now = NOW.parse().expect("a time");
        let (status, after) = compute_rollout_status(&deployment(status), Some(&set), &[], now);
        let found = find_condition(&status, PROGRESSING).expect("a condition");
        let text = format!(
            "{} {} {}",
            found.status,
            found.reason.as_deref().unwrap_or_default(),
            found.message.as_deref().unwrap_or_default()
        );
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
        let status = compute_status(&deployment(json!({})), Some(&new_set(2, 2)), &[new_set(1, 0)], now);
        assert_eq!(
            (status.replicas, status.updated_replicas, status.available_replicas, status.unavailable_replicas),
            (Some(3), Some(2), Some(2), Some(1))
        );
        let available = find_condition(&status, AVAILABLE).expect("a condition");
        assert_eq!(
            (available.status.as_str(), available.reason.as_deref()),
            ("True", Some("MinimumReplicasAvailable"))
        );
        let status = compute_status(&deployment(json!({})), Some(&new_set(2, 0)), &[], now);
        let available = find_condition(&status, AVAILABLE).expect("a condition");
        assert_eq!(available.message.as_deref(), Some("Deployment does not have minimum availability."));
    }
}
