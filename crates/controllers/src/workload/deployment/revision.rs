//! Which ReplicaSet stands for which template: hashes, names, revisions and history.

use super::fencepost::fenceposts;
use super::plan::Set;
use super::{by_age, wanted};
use crate::workload::template::{CanonicalTemplate, HASH_LABEL, set_name};
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::Map;
use ferry_api::view::apps::v1::{Deployment, DeploymentView, ReplicaSet, ReplicaSetSpec, ReplicaSetView};
use ferry_api::view::meta::v1::{ObjectMeta, ObjectMetaView};
use std::collections::BTreeMap;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
pub(super) const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
pub(super) const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
pub(super) const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";

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

pub(super) fn is_copied(annotation: &str) -> bool {
    !NOT_COPIED.contains(&annotation)
}

/// Splits a deployment's sets into the one with its template and the others. Should two
/// have the template, the older one counts, so that every reconcile picks the same.
pub(super) fn split_sets(deployment: DeploymentView<'_>, mut sets: Vec<Set>) -> (Option<Set>, Vec<Set>) {
    sets.sort_by(by_age);
    let template = CanonicalTemplate::of(deployment.spec().template());
    let found = sets.iter().position(|set| CanonicalTemplate::of(set.view().spec().template()) == template);
    let new = found.map(|index| sets.remove(index));
    (new, sets)
}

/// The ReplicaSet of the deployment's present template, of the given size. `collisions` is
/// how often its name was found to be taken.
pub(super) fn plan_new_set(
    deployment: DeploymentView<'_>,
    collisions: Option<i32>,
    old: &[Set],
    size: i32,
) -> ReplicaSet {
    let (meta, spec) = (deployment.metadata(), deployment.spec());
    let hash = CanonicalTemplate::of(spec.template()).hash(collisions);
    let mut template = spec.template().to_owned();
    template.edit_metadata(|meta| meta.insert_labels(HASH_LABEL, &hash));
    let mut selector = spec.selector().unwrap_or_default().to_owned();
    selector.insert_match_labels(HASH_LABEL, &hash);
    let mut annotations = synced_annotations(deployment, Map::default(), max_revision(old).saturating_add(1));
    annotations.extend(replicas_annotations(deployment).map(|(key, value)| (key.to_owned(), value)));
    let labels = spec.template().metadata().labels();
    let metadata = ObjectMeta::new()
        .with_name(set_name(meta.name(), &hash))
        .with_namespace(meta.namespace())
        .with_labels(labels.iter().filter(|(name, _)| *name != HASH_LABEL).chain([(HASH_LABEL, hash.as_str())]))
        .with_annotations(annotations)
        .with_owner_references([controller_reference::<Deployment>(deployment)]);
    let spec = ReplicaSetSpec::new()
        .with_replicas(size)
        .with_min_ready_seconds(Some(spec.min_ready_seconds()).filter(|seconds| *seconds != 0))
        .with_selector(selector)
        .with_template(template);
    ReplicaSet::new().with_metadata(metadata).with_spec(spec)
}

/// The newest set's annotations as they are to be: its own, those of the deployment, and its
/// revision. Rolling back makes an old set the newest; its former revisions go to the history.
pub(super) fn synced_annotations(
    deployment: DeploymentView<'_>,
    of_set: Map<'_, &str>,
    revision: i64,
) -> BTreeMap<String, String> {
    let mut annotations = of_set.to_map();
    for (key, value) in deployment.metadata().annotations().iter().filter(|(key, _)| is_copied(key)) {
        annotations.insert(key.to_owned(), value.to_owned());
    }
    let former = annotations.get(REVISION).cloned();
    let Ok(former_number) = former.as_deref().unwrap_or("0").parse::<i64>() else {
        // Somebody wrote a revision that is no number; it is theirs to mend.
        return annotations;
    };
    // The number never goes down: old sets may have been deleted since it was given.
    if former_number >= revision {
        return annotations;
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
    annotations
}

/// The annotations that record the size the set was scaled for, so that a later scaling can
/// be told from a rollout and done in proportion.
pub(super) fn replicas_annotations(deployment: DeploymentView<'_>) -> [(&'static str, String); 2] {
    let wanted = wanted(deployment);
    let most = fenceposts(deployment).most(wanted);
    [(DESIRED_REPLICAS, wanted.to_string()), (MAX_REPLICAS, most.to_string())]
}

/// A number from an annotation; what is absent or no such number is none.
pub(super) fn count_annotation(set: ReplicaSetView<'_>, key: &str) -> Option<i32> {
    annotation(set.metadata(), key)?.parse().ok().filter(|n| *n >= 0)
}

pub(super) fn annotation<'a>(meta: ObjectMetaView<'a>, key: &str) -> Option<&'a str> {
    meta.annotations().get(key)
}

/// A set's revision: 0 without one, none when it is no number.
pub(super) fn revision(set: ReplicaSetView<'_>) -> Option<i64> {
    annotation(set.metadata(), REVISION).map_or(Some(0), |text| text.parse().ok())
}

pub(super) fn max_revision(sets: &[Set]) -> i64 {
    sets.iter().filter_map(|set| revision(set.view())).max().unwrap_or(0)
}

/// The revision before the newest, or 0 when there is none.
pub(super) fn last_revision<'a>(sets: impl Iterator<Item = &'a Set>) -> i64 {
    let mut revisions: Vec<i64> = sets.filter_map(|set| revision(set.view())).collect();
    revisions.sort_unstable_by(|a, b| b.cmp(a));
    revisions.get(1).copied().unwrap_or(0)
}

/// The old sets that the history limit no longer keeps. Only what is empty and settled
/// goes: a set whose last scale-down has not been acted on may still have pods.
pub(super) fn plan_cleanup(deployment: DeploymentView<'_>, old: &[Set]) -> Vec<String> {
    let limit = deployment.spec().revision_history_limit();
    let Some(limit) = limit.filter(|limit| *limit != i32::MAX) else { return Vec::new() };
    let mut alive: Vec<&Set> = old.iter().filter(|set| set.view().metadata().deletion_timestamp().is_none()).collect();
    let surplus = alive.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    alive.sort_by(|a, b| revision(a.view()).cmp(&revision(b.view())).then_with(|| by_age(a, b)));
    let oldest = alive.into_iter().take(surplus).map(Set::view);
    let is_settled = |set: &ReplicaSetView<'_>| {
        set.status().replicas() == 0
            && super::replicas(*set) == 0
            && set.metadata().generation() <= set.status().observed_generation()
    };
    oldest.filter(is_settled).map(|set| set.metadata().name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_client::SharedObject;
    use serde_json::{Value, json};

    #[test]
    fn a_rollback_moves_the_former_revision_to_the_history() {
        let deployment = Deployment::from(json!({"metadata": {"annotations": {
            "kubernetes.io/change-cause": "undo", REVISION: "7",
            "kubectl.kubernetes.io/last-applied-configuration": "{}"}}}));
        let check = |before: Value, revision: i64, expected: Value| {
            let set = ReplicaSet::from(json!({"metadata": {"annotations": before}}));
            let synced = synced_annotations(deployment.view(), set.view().metadata().annotations(), revision);
            assert_eq!(json!(synced), expected);
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
        let deployment = Deployment::from(json!({"spec": {"revisionHistoryLimit": 1, "selector": {}, "template": {}}}));
        let old = |name: &str, revision: &str, replicas: i32, observed: i64| {
            Set::observed(SharedObject::of(
                json!({"metadata": {"name": name, "generation": 2, "annotations": {REVISION: revision}},
                "spec": {"replicas": replicas, "selector": {}},
                "status": {"replicas": replicas, "observedGeneration": observed}}),
            ))
        };
        let sets = [old("c", "3", 0, 2), old("a", "1", 0, 2), old("b", "2", 0, 2)];
        assert_eq!(plan_cleanup(deployment.view(), &sets), ["a", "b"]);
        let sets = [old("a", "1", 1, 2), old("b", "2", 0, 1), old("c", "10", 0, 2)];
        assert_eq!(plan_cleanup(deployment.view(), &sets), Vec::<String>::new());
    }
}
