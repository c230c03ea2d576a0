//! The revisions of a DaemonSet's template: which one is present, which are old, and when
//! an old one goes. Each is a ControllerRevision that `kubectl rollout undo` can bring back.

use super::pod::HASH_LABEL;
use crate::error::{During, Error, Result};
use crate::runner::Context;
use crate::workload::claim::{candidates, claim};
use crate::workload::revision::{self, Revision, RevisionPlan, patch_of, stands_for};
use ferry_api::rules::label_selector;
use ferry_api::rules::owner::is_controlled_by;
use ferry_api::view::apps::v1::{ControllerRevision, DaemonSet, DaemonSetView};
use ferry_api::view::core::v1::Pod;
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_client::{Patch, SharedObject};
use serde_json::{Value, json};
use std::collections::HashSet;

pub(super) struct History {
    /// The label of the present revision, which new pods carry.
    pub hash: String,
    pub old: Vec<Revision>,
}

/// Finds the set's revisions, makes the present one if it is missing, and makes it the
/// latest again after a rollback.
pub(super) async fn construct(ctx: &Context, set: &SharedObject<DaemonSet>) -> Result<History> {
    let mut present = Vec::new();
    let mut old = Vec::new();
    let patch = patch_of(set.view().spec().template());
    for revision in own_revisions(ctx, set).await? {
        let revision = with_hash(ctx, revision).await?;
        if stands_for(revision.view(), &patch) { present.push(revision) } else { old.push(revision) }
    }
    let next = old.iter().map(|revision| revision.view().revision()).max().unwrap_or(0).saturating_add(1);
    let Some(current) = keep_latest(ctx, set, present).await? else {
        let made = create(ctx, set, &patch, next).await?;
        return Ok(History { hash: hash_of(made.meta()).to_owned(), old });
    };
    let hash = hash_of(current.meta()).to_owned();
    if current.view().revision() < next {
        revision::renumber(ctx, &current, next).await?;
    }
    Ok(History { hash, old })
}

/// The oldest revisions beyond the limit that no pod is of any more.
pub(super) fn plan_cleanup<'a>(
    set: DaemonSetView<'_>,
    old: &'a [Revision],
    pods: &[SharedObject<Pod>],
) -> Vec<&'a str> {
    let surplus = surplus(set, old);
    let live: HashSet<&str> = pods.iter().filter_map(|pod| label(pod.meta())).collect();
    let mut sorted: Vec<&Revision> = old.iter().collect();
    sorted.sort_by_key(|revision| revision.view().revision());
    let unused = sorted.into_iter().filter(|revision| !live.contains(hash_of(revision.meta())));
    unused.take(surplus).map(SharedObject::name).collect()
}

/// The pods are gone over only where there is one revision too many.
pub(super) async fn clean_up(ctx: &Context, set: &SharedObject<DaemonSet>, old: &[Revision]) -> Result<()> {
    if surplus(set.view(), old) == 0 {
        return Ok(());
    }
    for name in plan_cleanup(set.view(), old, &own_pods(ctx, set)) {
        revision::delete(ctx, set.namespace(), name).await?;
    }
    Ok(())
}

/// The number of old revisions beyond the limit.
fn surplus(set: DaemonSetView<'_>, old: &[Revision]) -> usize {
    let limit = set.spec().revision_history_limit().unwrap_or(10);
    old.len().saturating_sub(usize::try_from(limit).unwrap_or(0))
}

fn own_pods(ctx: &Context, set: &SharedObject<DaemonSet>) -> Vec<SharedObject<Pod>> {
    let mut pods = ctx.informers.of::<Pod>().owned_by(set.uid());
    pods.retain(|pod| is_controlled_by(pod.meta(), set.meta()));
    pods
}

async fn own_revisions(ctx: &Context, set: &SharedObject<DaemonSet>) -> Result<Vec<Revision>> {
    let revisions = candidates(&ctx.informers.of::<ControllerRevision>(), set);
    let selector = set.view().spec().selector();
    claim(ctx, set, revisions, |revision| label_selector::matches(selector, revision.meta().labels())).await
}

/// A revision without a hash takes its own name for one, which no other has.
async fn with_hash(ctx: &Context, revision: Revision) -> Result<Revision> {
    if label(revision.meta()).is_some() {
        return Ok(revision);
    }
    let mut labelled = revision.to_owned();
    labelled.edit_metadata(|meta| meta.insert_labels(HASH_LABEL, revision.name()));
    let api = ctx.client.api::<ControllerRevision>(revision.namespace());
    api.replace(&labelled).await.during("label the revision", revision.name())
}

/// Of several revisions of the present template the latest stays, and every pod is of it.
async fn keep_latest(
    ctx: &Context,
    set: &SharedObject<DaemonSet>,
    mut present: Vec<Revision>,
) -> Result<Option<Revision>> {
    present.sort_by_key(|revision| revision.view().revision());
    let Some(latest) = present.pop() else { return Ok(None) };
    if present.is_empty() {
        return Ok(Some(latest));
    }
    let api = ctx.client.api::<Pod>(latest.namespace());
    for pod in own_pods(ctx, set).iter().filter(|pod| label(pod.meta()) != label(latest.meta())) {
        let patch = json!({"metadata": {"labels": {HASH_LABEL: hash_of(latest.meta())}}});
        match api.patch(pod.name(), &Patch::Merge(patch)).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("relabel the pod", pod.name())?),
        }
    }
    for duplicate in &present {
        revision::delete(ctx, latest.namespace(), duplicate.name()).await?;
    }
    Ok(Some(latest))
}

async fn create(ctx: &Context, set: &SharedObject<DaemonSet>, patch: &Value, number: i64) -> Result<Revision> {
    let plan = plan_revision(set.view(), patch, number);
    if let Some(made) = plan.create(ctx).await? {
        return Ok(made);
    }
    // Two templates share a hash: the count makes another name at the next try.
    let sets = ctx.client.api::<DaemonSet>(set.namespace());
    let live = sets.get(set.name()).await.during("get the daemon set", set.name())?;
    let counted = live.view().status().collision_count();
    if counted != set.view().status().collision_count() {
        return Err(Error::Retry(format!("the collision count of daemon set {} is stale", set.name())));
    }
    let mut collided = live.to_owned();
    collided.edit_status(|status| status.set_collision_count(counted.unwrap_or(0).saturating_add(1)));
    sets.replace_status(&collided).await.during("count a hash collision of", set.name())?;
    Err(Error::Retry(format!("the name of a revision of daemon set {} is another template's", set.name())))
}

fn plan_revision<'a>(set: DaemonSetView<'a>, patch: &'a Value, number: i64) -> RevisionPlan<'a, DaemonSet> {
    let (template, collisions) = (set.spec().template(), set.status().collision_count());
    RevisionPlan { owner: set, template, patch, number, collisions, hash_label: HASH_LABEL }
}

fn label(meta: ObjectMetaView<'_>) -> Option<&str> {
    meta.labels().get(HASH_LABEL)
}

fn hash_of(meta: ObjectMetaView<'_>) -> &str {
    label(meta).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;

    fn set() -> DaemonSet {
        DaemonSet::from(json!({"metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {"selector": {}, "revisionHistoryLimit": 1, "template": {
                "metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}}}))
    }

    #[test]
    fn the_oldest_unused_revisions_go() {
        let revision = |name: &str, number: i64| {
            Revision::of(json!({"metadata": {"name": name, "labels": {HASH_LABEL: name}}, "revision": number}))
        };
        let old = [revision("c", 3), revision("a", 1), revision("b", 2)];
        let pod = SharedObject::<Pod>::of(json!({"metadata": {"labels": {HASH_LABEL: "a"}}}));
        assert_eq!(plan_cleanup(set().view(), &old, &[pod]), ["b", "c"]);
        assert_eq!(plan_cleanup(set().view(), &old, &[]), ["a", "b"]);
        assert_eq!(plan_cleanup(set().view(), &old[..1], &[]), Vec::<&str>::new());
    }
}
