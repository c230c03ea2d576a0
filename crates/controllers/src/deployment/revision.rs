//! Which ReplicaSet stands for which template: hashes, names, revisions and history.

use super::fencepost::fenceposts;
use super::{created, wanted};
use crate::claim::controller_reference;
use crate::template::{HASH_LABEL, same_template, set_name, template_hash};
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use std::sync::Arc;

pub const REVISION: &str = "deployment.kubernetes.io/revision";
pub const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
pub const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
pub const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

/// Annotations that belong to one object and are never copied to the other.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    ROLLBACK_TO,
];

/// About a hundred revisions; past it the oldest are forgotten.
const MAX_HISTORY_CHARS: usize = 2000;

pub fn is_copied(annotation: &str) -> bool {
    !NOT_COPIED.contains(&annotation)
}

/// Splits a deployment's sets into the one with its template and the others. Should two
/// have the template, the older one counts, so that every reconcile picks the same.
pub fn split_sets(
    deployment: &Deployment,
    mut sets: Vec<Arc<ReplicaSet>>,
) -> (Option<Arc<ReplicaSet>>, Vec<Arc<ReplicaSet>>) {
    sets.sort_by(|a, b| (created(a), &a.metadata.name).cmp(&(created(b), &b.metadata.name)));
    let Some(template) = deployment.spec.as_ref().map(|spec| &spec.template) else { return (None, sets) };
    let found = sets.iter().position(|set| {
        let of_set = set.spec.as_ref().and_then(|spec| spec.template.as_ref());
        of_set.is_some_and(|of_set| same_template(template, of_set))
    });
    let new = found.map(|index| sets.remove(index));
    (new, sets)
}

/// The ReplicaSet of the deployment's present template, not yet sized.
pub fn plan_new_set(deployment: &Deployment, old: &[Arc<ReplicaSet>]) -> Option<ReplicaSet> {
    let spec = deployment.spec.as_ref()?;
    let collisions = deployment.status.as_ref().and_then(|status| status.collision_count);
    let hash = template_hash(&spec.template, collisions);
    let mut template = spec.template.clone();
    let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
    labels.insert(HASH_LABEL.to_owned(), hash.clone());
    let labels = labels.clone();
    let mut selector: LabelSelector = spec.selector.clone();
    selector.match_labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), hash.clone());
    let mut set = ReplicaSet {
        metadata: ObjectMeta {
            name: Some(set_name(deployment.metadata.name.as_deref().unwrap_or_default(), &hash)),
            namespace: deployment.metadata.namespace.clone(),
            labels: Some(labels),
            owner_references: Some(vec![controller_reference(deployment)]),
            ..Default::default()
        },
        spec: Some(ReplicaSetSpec {
            replicas: Some(0),
            min_ready_seconds: spec.min_ready_seconds,
            selector,
            template: Some(template),
        }),
        status: None,
    };
    sync_annotations(deployment, &mut set, max_revision(old).saturating_add(1));
    set_replicas_annotations(deployment, &mut set.metadata);
    Some(set)
}

/// Brings the newest set's annotations in line: the deployment's own, and its revision.
/// Rolling back makes an old set the newest; its former revisions go to the history.
pub fn sync_annotations(deployment: &Deployment, set: &mut ReplicaSet, revision: i64) {
    let annotations = set.metadata.annotations.get_or_insert_default();
    for (key, value) in deployment.metadata.annotations.iter().flatten().filter(|(key, _)| is_copied(key)) {
        annotations.insert(key.clone(), value.clone());
    }
    let former = annotations.get(REVISION).cloned();
    let Ok(former_number) = former.as_deref().unwrap_or("0").parse::<i64>() else {
        // Somebody wrote a revision that is no number; it is theirs to mend.
        return;
    };
    // The number never goes down: old sets may have been deleted since it was given.
    if former_number >= revision {
        return;
    }
    annotations.insert(REVISION.to_owned(), revision.to_string());
    if let Some(former) = former {
        let history = annotations.entry(REVISION_HISTORY.to_owned()).or_default();
        if !history.is_empty() {
            history.push(',');
        }
        history.push_str(&former);
        while history.len() > MAX_HISTORY_CHARS {
            let Some(comma) = history.find(',') else { break };
            history.drain(..=comma);
        }
    }
}

/// Records the size the set was scaled for, so that a later scaling can be told from a
/// rollout and done in proportion.
pub fn set_replicas_annotations(deployment: &Deployment, meta: &mut ObjectMeta) {
    let annotations = meta.annotations.get_or_insert_default();
    let wanted = wanted(deployment);
    annotations.insert(DESIRED_REPLICAS.to_owned(), wanted.to_string());
    annotations.insert(MAX_REPLICAS.to_owned(), fenceposts(deployment).most(wanted).to_string());
}

/// A number from an annotation; what is absent or no such number is none.
pub fn count_annotation(set: &ReplicaSet, key: &str) -> Option<i32> {
    let text = annotation(&set.metadata, key)?;
    text.parse().ok().filter(|n| *n >= 0)
}

pub fn annotation<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    meta.annotations.as_ref()?.get(key).map(String::as_str)
}

/// A set's revision: 0 without one, none when it is no number.
pub fn revision(set: &ReplicaSet) -> Option<i64> {
    annotation(&set.metadata, REVISION).map_or(Some(0), |text| text.parse().ok())
}

pub fn max_revision(sets: &[Arc<ReplicaSet>]) -> i64 {
    sets.iter().filter_map(|set| revision(set)).max().unwrap_or(0)
}

/// The revision before the newest, or 0 when there is none.
pub fn last_revision<'a>(sets: impl Iterator<Item = &'a Arc<ReplicaSet>>) -> i64 {
    let mut revisions: Vec<i64> = sets.filter_map(|set| revision(set)).collect();
    revisions.sort_unstable_by(|a, b| b.cmp(a));
    revisions.get(1).copied().unwrap_or(0)
}

/// The old sets that the history limit no longer keeps. Only what is empty and settled
/// goes: a set whose last scale-down has not been acted on may still have pods.
pub fn plan_cleanup(deployment: &Deployment, old: &[Arc<ReplicaSet>]) -> Vec<String> {
    let limit = deployment.spec.as_ref().and_then(|spec| spec.revision_history_limit);
    let Some(limit) = limit.filter(|limit| *limit != i32::MAX) else { return Vec::new() };
    let mut alive: Vec<&Arc<ReplicaSet>> = old.iter().filter(|set| set.metadata.deletion_timestamp.is_none()).collect();
    let surplus = alive.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    alive.sort_by(|a, b| (revision(a), created(a), &a.metadata.name).cmp(&(revision(b), created(b), &b.metadata.name)));
    alive
        .into_iter()
        .take(surplus)
        .filter(|set| {
            let status = set.status.clone().unwrap_or_default();
            status.replicas == 0
                && super::replicas(set) == 0
                && set.metadata.generation <= Some(status.observed_generation.unwrap_or(0))
        })
        .filter_map(|set| set.metadata.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn set(value: Value) -> Arc<ReplicaSet> {
        Arc::new(serde_json::from_value(value).expect("a replica set"))
    }

    #[test]
    fn a_rollback_moves_the_former_revision_to_the_history() {
        let deployment: Deployment = serde_json::from_value(json!({"metadata": {"annotations": {
            "kubernetes.io/change-cause": "undo", REVISION: "7",
            "kubectl.kubernetes.io/last-applied-configuration": "{}"}}}))
        .expect("a deployment");
        let check = |before: Value, revision: i64, expected: Value| {
            let mut set = ReplicaSet::clone(&set(json!({"metadata": {"annotations": before}})));
            sync_annotations(&deployment, &mut set, revision);
            assert_eq!(serde_json::to_value(&set.metadata.annotations).expect("JSON"), expected);
        };
        let cause = "kubernetes.io/change-cause";
        check(json!({}), 1, json!({cause: "undo", REVISION: "1"}));
        check(json!({REVISION: "1"}), 3, json!({cause: "undo", REVISION: "3", REVISION_HISTORY: "1"}));
        check(
            json!({REVISION: "3", REVISION_HISTORY: "1"}),
            5,
            json!({cause: "undo", REVISION: "5", REVISION_HISTORY: "1,3"}),
        );
        check(json!({REVISION: "5"}), 2, json!({cause: "undo", REVISION: "5"}));
    }

    #[test]
    fn the_oldest_settled_sets_beyond_the_limit_go() {
        let deployment: Deployment = serde_json::from_value(json!({"spec": {"revisionHistoryLimit": 1,
            "selector": {}, "template": {}}}))
        .expect("a deployment");
        let old = |name: &str, revision: &str, replicas: i32, observed: i64| {
            set(json!({"metadata": {"name": name, "generation": 2, "annotations": {REVISION: revision}},
                "spec": {"replicas": replicas, "selector": {}},
                "status": {"replicas": replicas, "observedGeneration": observed}}))
        };
        let sets = [old("c", "3", 0, 2), old("a", "1", 0, 2), old("b", "2", 0, 2)];
        assert_eq!(plan_cleanup(&deployment, &sets), ["a", "b"]);
        let sets = [old("a", "1", 1, 2), old("b", "2", 0, 1), old("c", "10", 0, 2)];
        assert_eq!(plan_cleanup(&deployment, &sets), Vec::<String>::new());
    }
}
