//! The revisions of a DaemonSet's template: which one is present, which are old, and when
//! an old one goes. Each is a ControllerRevision that `kubectl rollout undo` can bring back.

use super::pod::HASH_LABEL;
use crate::error::{During, Error, Result};
use crate::runner::Context;
use crate::workload::claim::{candidates, claim};
use crate::workload::template::{CanonicalTemplate, pruned, set_name};
use ferry_api::rules::label_selector;
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::apps::v1::{ControllerRevision, ControllerRevisionView, DaemonSet, DaemonSetView};
use ferry_api::view::core::v1::Pod;
use ferry_api::view::meta::v1::{ObjectMeta, ObjectMetaView};
use ferry_api::view::{Owned, View};
use ferry_client::{DeleteParams, Patch, SharedObject};
use serde_json::{Value, json};
use std::collections::HashSet;

type Revision = SharedObject<ControllerRevision>;

pub struct History {
    /// The label of the present revision, which new pods carry.
    pub hash: String,
    pub old: Vec<Revision>,
}

/// Finds the set's revisions, makes the present one if it is missing, and makes it the
/// latest again after a rollback.
pub async fn construct(ctx: &Context, set: &SharedObject<DaemonSet>, pods: &[SharedObject<Pod>]) -> Result<History> {
    let mut present = Vec::new();
    let mut old = Vec::new();
    let patch = patch_of(set.view());
    for revision in own_revisions(ctx, set).await? {
        let revision = with_hash(ctx, revision).await?;
        if stands_for(revision.view(), &patch) { present.push(revision) } else { old.push(revision) }
    }
    let next = old.iter().map(|revision| revision.view().revision()).max().unwrap_or(0).saturating_add(1);
    let Some(current) = keep_latest(ctx, present, pods).await? else {
        let made = create(ctx, set, &patch, next).await?;
        return Ok(History { hash: hash_of(made.meta()).to_owned(), old });
    };
    let hash = hash_of(current.meta()).to_owned();
    if current.view().revision() < next {
        let renumbered = current.to_owned().with_revision(next);
        let api = ctx.client.api::<ControllerRevision>(current.namespace());
        api.replace(&renumbered).await.during("renumber the revision", &hash)?;
    }
    Ok(History { hash, old })
}

/// The oldest revisions beyond the limit that no pod is of any more.
pub fn plan_cleanup<'a>(set: DaemonSetView<'_>, old: &'a [Revision], pods: &[SharedObject<Pod>]) -> Vec<&'a str> {
    let limit = set.spec().revision_history_limit().unwrap_or(10);
    let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    let live: HashSet<&str> = pods.iter().filter_map(|pod| label(pod.meta())).collect();
    let mut sorted: Vec<&Revision> = old.iter().collect();
    sorted.sort_by_key(|revision| revision.view().revision());
    let unused = sorted.into_iter().filter(|revision| !live.contains(hash_of(revision.meta())));
    unused.take(surplus).map(SharedObject::name).collect()
}

pub async fn clean_up(
    ctx: &Context,
    set: &SharedObject<DaemonSet>,
    old: &[Revision],
    pods: &[SharedObject<Pod>],
) -> Result<()> {
    for name in plan_cleanup(set.view(), old, pods) {
        delete(ctx, set.namespace(), name).await?;
    }
    Ok(())
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
    mut present: Vec<Revision>,
    pods: &[SharedObject<Pod>],
) -> Result<Option<Revision>> {
    present.sort_by_key(|revision| revision.view().revision());
    let Some(latest) = present.pop() else { return Ok(None) };
    if present.is_empty() {
        return Ok(Some(latest));
    }
    let api = ctx.client.api::<Pod>(latest.namespace());
    for pod in pods.iter().filter(|pod| label(pod.meta()) != label(latest.meta())) {
        let patch = json!({"metadata": {"labels": {HASH_LABEL: hash_of(latest.meta())}}});
        match api.patch(pod.name(), &Patch::Merge(patch)).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("relabel the pod", pod.name())?),
        }
    }
    for duplicate in &present {
        delete(ctx, latest.namespace(), duplicate.name()).await?;
    }
    Ok(Some(latest))
}

async fn create(ctx: &Context, set: &SharedObject<DaemonSet>, patch: &Value, number: i64) -> Result<Revision> {
    let revisions = ctx.client.api::<ControllerRevision>(set.namespace());
    let revision = plan_revision(set.view(), patch, number);
    let name = revision.view().metadata().name();
    let refused = match revisions.create(&revision).await {
        Ok(made) => return Ok(made),
        Err(error) if error.is_already_exists() => error,
        Err(error) => return Err(error).during("create the revision", name),
    };
    let there = revisions.get(name).await.during("get the revision", name)?;
    if stands_for(there.view(), patch) {
        return Ok(there);
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
    Err(refused).during("create the revision", name)
}

fn plan_revision(set: DaemonSetView<'_>, patch: &Value, number: i64) -> ControllerRevision {
    let (meta, template) = (set.metadata(), set.spec().template());
    let hash = CanonicalTemplate::of(template).hash(set.status().collision_count());
    let mut labels = template.metadata().labels().to_map();
    labels.insert(HASH_LABEL.to_owned(), hash.clone());
    let metadata = ObjectMeta::new()
        .with_name(set_name(meta.name(), &hash))
        .with_namespace(meta.namespace())
        .with_labels(labels)
        .with_annotations(meta.annotations())
        .with_owner_references([controller_reference::<DaemonSet>(set)]);
    ControllerRevision::new().with_metadata(metadata).with_data(patch.clone()).with_revision(number)
}

/// The strategic patch that brings the template back, in upstream's form.
fn patch_of(set: DaemonSetView<'_>) -> Value {
    let mut template = pruned(set.spec().template().node());
    ferry_api::object::ensure_object(&mut template).insert("$patch".to_owned(), "replace".into());
    json!({"spec": {"template": template}})
}

/// Whether the revision is of the template that `patch` brings back.
fn stands_for(revision: ControllerRevisionView<'_>, patch: &Value) -> bool {
    revision.data().is_some_and(|data| pruned(data) == *patch)
}

async fn delete(ctx: &Context, namespace: &str, name: &str) -> Result<()> {
    match ctx.client.api::<ControllerRevision>(namespace).delete(name, &DeleteParams::default()).await {
        Err(error) if error.is_not_found() => Ok(()),
        other => other.during("delete the revision", name),
    }
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

    fn set() -> DaemonSet {
        DaemonSet::from(json!({"metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {"selector": {}, "revisionHistoryLimit": 1, "template": {
                "metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}}}))
    }

    #[test]
    fn a_revision_stands_for_its_template_alone() {
        let set = set();
        let revision = plan_revision(set.view(), &patch_of(set.view()), 1);
        let revision = revision.view();
        assert!(revision.metadata().name().starts_with("agent-"));
        assert!(stands_for(revision, &patch_of(set.view())));
        let mut same = set.clone();
        same.value_mut()["spec"]["template"]["metadata"]["creationTimestamp"] = Value::Null;
        assert!(stands_for(revision, &patch_of(same.view())));
        let mut other = set.clone();
        other.edit_spec(|spec| spec.edit_template(|template| template.set_metadata(None::<ObjectMeta>)));
        assert!(!stands_for(revision, &patch_of(other.view())));
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
