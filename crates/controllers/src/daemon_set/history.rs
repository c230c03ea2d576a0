//! The revisions of a DaemonSet's template: which one is present, which are old, and when
//! an old one goes. Each is a ControllerRevision that `kubectl rollout undo` can bring back.

use super::pod::HASH_LABEL;
use crate::claim::{claim, controller_of, controller_reference, is_controlled_by};
use crate::error::{During, Error, Result};
use crate::runner::Context;
use crate::selector;
use crate::template::{set_name, template_hash};
use ferry_client::{DeleteParams, Patch};
use k8s_openapi::api::apps::v1::{ControllerRevision, DaemonSet};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

pub struct History {
    /// The label of the present revision, which new pods carry.
    pub hash: String,
    pub old: Vec<ControllerRevision>,
}

/// Finds the set's revisions, makes the present one if it is missing, and makes it the
/// latest again after a rollback.
pub async fn construct(ctx: &Context, set: &DaemonSet, pods: &[Arc<Pod>]) -> Result<History> {
    let mut present = Vec::new();
    let mut old = Vec::new();
    for revision in own_revisions(ctx, set).await? {
        let revision = with_hash(ctx, &revision).await?;
        if stands_for(&revision, set) { present.push(revision) } else { old.push(revision) }
    }
    let next = old.iter().map(|revision| revision.revision).max().unwrap_or(0).saturating_add(1);
    let Some(mut current) = keep_latest(ctx, present, pods).await? else {
        let made = create(ctx, set, next).await?;
        return Ok(History { hash: hash_of(&made).to_owned(), old });
    };
    if current.revision < next {
        current.revision = next;
        let namespace = current.metadata.namespace.clone().unwrap_or_default();
        ctx.client.replace(&namespace, &current).await.during("renumber the revision", hash_of(&current))?;
    }
    Ok(History { hash: hash_of(&current).to_owned(), old })
}

/// The oldest revisions beyond the limit that no pod is of any more.
pub fn plan_cleanup<'a>(set: &DaemonSet, old: &'a [ControllerRevision], pods: &[Arc<Pod>]) -> Vec<&'a str> {
    let limit = set.spec.as_ref().and_then(|spec| spec.revision_history_limit).unwrap_or(10);
    let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or(0));
    let live: HashSet<&str> = pods.iter().filter_map(|pod| label(&pod.metadata)).collect();
    let mut sorted: Vec<&ControllerRevision> = old.iter().collect();
    sorted.sort_by_key(|revision| revision.revision);
    let unused = sorted.into_iter().filter(|revision| !live.contains(hash_of(revision)));
    unused.take(surplus).filter_map(|revision| revision.metadata.name.as_deref()).collect()
}

pub async fn clean_up(ctx: &Context, set: &DaemonSet, old: &[ControllerRevision], pods: &[Arc<Pod>]) -> Result<()> {
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    for name in plan_cleanup(set, old, pods) {
        delete(ctx, namespace, name).await?;
    }
    Ok(())
}

async fn own_revisions(ctx: &Context, set: &DaemonSet) -> Result<Vec<Arc<ControllerRevision>>> {
    let Some(spec) = &set.spec else { return Ok(Vec::new()) };
    let mut revisions = ctx.informers.of::<ControllerRevision>().list(set.metadata.namespace.as_deref());
    revisions.retain(|revision| {
        controller_of(&revision.metadata).is_none() || is_controlled_by(&revision.metadata, &set.metadata)
    });
    claim(ctx, set, revisions, |revision| selector::matches(&spec.selector, revision.metadata.labels.as_ref())).await
}

/// A revision without a hash takes its own name for one, which no other has.
async fn with_hash(ctx: &Context, revision: &ControllerRevision) -> Result<ControllerRevision> {
    let mut revision = revision.clone();
    if label(&revision.metadata).is_some() {
        return Ok(revision);
    }
    let name = revision.metadata.name.clone().unwrap_or_default();
    let namespace = revision.metadata.namespace.clone().unwrap_or_default();
    revision.metadata.labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), name.clone());
    ctx.client.replace(&namespace, &revision).await.during("label the revision", name)
}

/// Of several revisions of the present template the latest stays, and every pod is of it.
async fn keep_latest(
    ctx: &Context,
    mut present: Vec<ControllerRevision>,
    pods: &[Arc<Pod>],
) -> Result<Option<ControllerRevision>> {
    present.sort_by_key(|revision| revision.revision);
    let Some(latest) = present.pop() else { return Ok(None) };
    if present.is_empty() {
        return Ok(Some(latest));
    }
    let namespace = latest.metadata.namespace.clone().unwrap_or_default();
    for pod in pods.iter().filter(|pod| label(&pod.metadata) != label(&latest.metadata)) {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        let patch = json!({"metadata": {"labels": {HASH_LABEL: hash_of(&latest)}}});
        match ctx.client.patch::<Pod>(&namespace, name, &Patch::Merge(patch)).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("relabel the pod", name)?),
        }
    }
    for duplicate in &present {
        delete(ctx, &namespace, duplicate.metadata.name.as_deref().unwrap_or_default()).await?;
    }
    Ok(Some(latest))
}

async fn create(ctx: &Context, set: &DaemonSet, number: i64) -> Result<ControllerRevision> {
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    let revision = plan_revision(set, number);
    let name = revision.metadata.name.clone().unwrap_or_default();
    let refused = match ctx.client.create(namespace, &revision).await {
        Ok(made) => return Ok(made),
        Err(error) if error.is_already_exists() => error,
        Err(error) => return Err(error).during("create the revision", name),
    };
    let there = ctx.client.get::<ControllerRevision>(namespace, &name).await.during("get the revision", &name)?;
    if stands_for(&there, set) {
        return Ok(there);
    }
    // Two templates share a hash: the count makes another name at the next try.
    let set_name = set.metadata.name.as_deref().unwrap_or_default();
    let mut live = ctx.client.get::<DaemonSet>(namespace, set_name).await.during("get the daemon set", set_name)?;
    let counted = |set: &DaemonSet| set.status.as_ref().and_then(|status| status.collision_count);
    if counted(&live) != counted(set) {
        return Err(Error::Retry(format!("the collision count of daemon set {set_name} is stale")));
    }
    let status = live.status.get_or_insert_default();
    status.collision_count = Some(status.collision_count.unwrap_or(0).saturating_add(1));
    ctx.client.replace_status(namespace, &live).await.during("count a hash collision of", set_name)?;
    Err(refused).during("create the revision", name)
}

fn plan_revision(set: &DaemonSet, number: i64) -> ControllerRevision {
    let template = set.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
    let hash = template_hash(&template, set.status.as_ref().and_then(|status| status.collision_count));
    let mut labels = template.metadata.and_then(|meta| meta.labels).unwrap_or_default();
    labels.insert(HASH_LABEL.to_owned(), hash.clone());
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(set_name(set.metadata.name.as_deref().unwrap_or_default(), &hash)),
            namespace: set.metadata.namespace.clone(),
            labels: Some(labels),
            annotations: set.metadata.annotations.clone(),
            owner_references: Some(vec![controller_reference(set)]),
            ..Default::default()
        },
        data: Some(RawExtension(patch_of(set))),
        revision: number,
    }
}

/// The strategic patch that brings the template back, in upstream's form.
fn patch_of(set: &DaemonSet) -> Value {
    let template = set.spec.as_ref().and_then(|spec| serde_json::to_value(&spec.template).ok());
    let mut template = template.unwrap_or_else(|| json!({}));
    template["$patch"] = "replace".into();
    json!({"spec": {"template": template}})
}

fn stands_for(revision: &ControllerRevision, set: &DaemonSet) -> bool {
    revision.data.as_ref().is_some_and(|data| data.0 == patch_of(set))
}

async fn delete(ctx: &Context, namespace: &str, name: &str) -> Result<()> {
    match ctx.client.delete::<ControllerRevision>(namespace, name, &DeleteParams::default()).await {
        Err(error) if error.is_not_found() => Ok(()),
        other => other.during("delete the revision", name),
    }
}

fn label(meta: &ObjectMeta) -> Option<&str> {
    meta.labels.as_ref()?.get(HASH_LABEL).map(String::as_str)
}

fn hash_of(revision: &ControllerRevision) -> &str {
    label(&revision.metadata).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> DaemonSet {
        serde_json::from_value(json!({"metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {"selector": {}, "revisionHistoryLimit": 1, "template": {
                "metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}}}))
        .expect("a daemon set")
    }

    #[test]
    fn a_revision_stands_for_its_template_alone() {
        let revision = plan_revision(&set(), 1);
        assert!(revision.metadata.name.as_deref().is_some_and(|name| name.starts_with("agent-")));
        assert!(stands_for(&revision, &set()));
        let mut other = set();
        other.spec.as_mut().expect("a spec").template.metadata = None;
        assert!(!stands_for(&revision, &other));
    }

    #[test]
    fn the_oldest_unused_revisions_go() {
        let revision = |name: &str, number: i64| ControllerRevision {
            metadata: ObjectMeta {
                name: Some(name.to_owned()),
                labels: Some([(HASH_LABEL.to_owned(), name.to_owned())].into()),
                ..Default::default()
            },
            data: None,
            revision: number,
        };
        let old = [revision("c", 3), revision("a", 1), revision("b", 2)];
        let pod: Pod = serde_json::from_value(json!({"metadata": {"labels": {HASH_LABEL: "a"}}})).expect("a pod");
        assert_eq!(plan_cleanup(&set(), &old, &[Arc::new(pod)]), ["b", "c"]);
        assert_eq!(plan_cleanup(&set(), &old, &[]), ["a", "b"]);
        assert_eq!(plan_cleanup(&set(), &old[..1], &[]), Vec::<&str>::new());
    }
}
