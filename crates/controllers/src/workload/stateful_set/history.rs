//! The revisions of a StatefulSet's template: the current one, the one that it is updated to,
//! and the old ones that are kept for a rollback. Called by mod.rs before it plans.

use super::identity::{RevisedTemplate, revision_of};
use crate::error::{Error, Result};
use crate::runner::Context;
use crate::workload::claim::{candidates, claim};
use crate::workload::revision::{self, Revision, RevisionPlan, patch_of, stands_for, template_of};
use ferry_api::rules::label_selector;
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{ControllerRevision, StatefulSet, StatefulSetView};
use ferry_api::view::core::v1::{Pod, PodTemplateSpec};
use ferry_client::SharedObject;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

const HASH_LABEL: &str = "controller.kubernetes.io/hash";

/// How many names in a row may be taken by other templates before the reconcile is given up.
const COLLISIONS: i32 = 16;

/// Fills in what the API server would: the defaults of a StatefulSet. A revision that was stored
/// before a default existed is compared with them filled in (upstream's
/// StatefulSetSemanticRevisionComparison), so that an upgrade restarts no pod.
pub type Defaults = Arc<dyn Fn(&mut Value) + Send + Sync>;

pub(super) struct History {
    /// Oldest first, with the update revision if it was already there.
    pub revisions: Vec<Revision>,
    pub current: RevisedTemplate,
    pub update: RevisedTemplate,
    pub collisions: i32,
}

/// Finds the set's revisions, and makes the one of the present template or renumbers it.
pub(super) async fn construct(
    ctx: &Context,
    set: &SharedObject<StatefulSet>,
    defaults: Option<&Defaults>,
) -> Result<History> {
    let revisions = own_revisions(ctx, set).await?;
    let view = set.view();
    let template = view.spec().template();
    let patch = patch_of(template);
    let mut collisions = view.status().collision_count().unwrap_or(0);
    let update = match choose(&revisions, &patch, |latest| is_alike(view, latest, &patch, defaults)) {
        Choice::Latest(latest) => latest.clone(),
        Choice::Renumber(equal, number) => revision::renumber(ctx, equal, number).await?,
        Choice::Create(number) => {
            let mut plan = RevisionPlan::<StatefulSet> {
                owner: view,
                template,
                patch: &patch,
                number,
                collisions: Some(collisions),
                hash_label: HASH_LABEL,
            };
            loop {
                if let Some(made) = plan.create(ctx).await? {
                    break made;
                }
                collisions = collisions.saturating_add(1);
                plan.collisions = Some(collisions);
                if collisions - view.status().collision_count().unwrap_or(0) > COLLISIONS {
                    return Err(Error::Retry(format!("no name is left for a revision of {}", set.name())));
                }
            }
        }
    };
    let current = revisions.iter().find(|revision| revision.name() == view.status().current_revision());
    let current = revised(current.unwrap_or(&update), set)?;
    Ok(History { current, update: revised(&update, set)?, revisions, collisions })
}

/// The revision of the present template.
enum Choice<'a> {
    /// It is the latest one: nothing has changed.
    Latest(&'a Revision),
    /// It is an older one, which a rollback has brought back.
    Renumber(&'a Revision, i64),
    Create(i64),
}

fn choose<'a>(revisions: &'a [Revision], patch: &Value, is_alike: impl Fn(&Revision) -> bool) -> Choice<'a> {
    let Some(latest) = revisions.last() else { return Choice::Create(1) };
    let next = latest.view().revision().saturating_add(1);
    let equal = revisions.iter().rfind(|revision| stands_for(revision.view(), patch));
    match equal {
        Some(_) if stands_for(latest.view(), patch) => Choice::Latest(latest),
        Some(equal) => Choice::Renumber(equal, next),
        None if is_alike(latest) => Choice::Latest(latest),
        None => Choice::Create(next),
    }
}

/// Whether the latest revision, brought back and defaulted, would be the present template.
fn is_alike(set: StatefulSetView<'_>, latest: &Revision, patch: &Value, defaults: Option<&Defaults>) -> bool {
    let (Some(defaults), Some(template)) = (defaults, template_of(latest.view())) else { return false };
    let mut restored = StatefulSet::new().with_spec(set.spec());
    restored.edit_spec(|spec| spec.set_template(template));
    defaults(restored.value_mut());
    patch_of(restored.view().spec().template()) == *patch
}

fn revised(revision: &Revision, set: &SharedObject<StatefulSet>) -> Result<RevisedTemplate> {
    let template: Option<PodTemplateSpec> = template_of(revision.view());
    let template = template.ok_or_else(|| {
        Error::Retry(format!("the revision {} of stateful set {} holds no template", revision.name(), set.name()))
    })?;
    Ok(RevisedTemplate { revision: revision.name().to_owned(), template })
}

/// The revisions that the set controls or adopts. One whose labels were changed is left alone.
async fn own_revisions(ctx: &Context, set: &SharedObject<StatefulSet>) -> Result<Vec<Revision>> {
    let selector = set.view().spec().selector();
    let mut found = candidates(&ctx.informers.of::<ControllerRevision>(), set);
    found.retain(|revision| label_selector::matches(selector, revision.meta().labels()));
    let mut own = claim(ctx, set, found, |_| true).await?;
    revision::sort(&mut own);
    Ok(own)
}

/// The oldest revisions beyond the limit that neither the set nor a pod is of.
pub(super) fn plan_cleanup<'a>(
    set: StatefulSetView<'_>,
    history: &'a History,
    pods: &[SharedObject<Pod>],
) -> Vec<&'a str> {
    let limit = set.spec().revision_history_limit().unwrap_or(10);
    let Ok(limit) = usize::try_from(limit) else { return Vec::new() };
    let mut live: HashSet<&str> = pods.iter().map(|pod| revision_of(pod.view())).collect();
    live.extend([history.current.revision.as_str(), history.update.revision.as_str()]);
    let names = history.revisions.iter().map(SharedObject::name);
    let unused: Vec<&str> = names.filter(|name| !live.contains(name)).collect();
    let surplus = unused.len().saturating_sub(limit);
    unused.into_iter().take(surplus).collect()
}

pub(super) async fn clean_up(
    ctx: &Context,
    set: &SharedObject<StatefulSet>,
    history: &History,
    pods: &[SharedObject<Pod>],
) -> Result<()> {
    for name in plan_cleanup(set.view(), history, pods) {
        revision::delete(ctx, set.namespace(), name).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(image: &str) -> StatefulSet {
        StatefulSet::from(json!({"metadata": {"name": "web"}, "spec": {"revisionHistoryLimit": 1, "template": {
            "spec": {"containers": [{"name": "c", "image": image}]}}}}))
    }

    fn revision(name: &str, number: i64, image: &str) -> Revision {
        let patch = patch_of(set(image).view().spec().template());
        Revision::of(json!({"metadata": {"name": name}, "revision": number, "data": patch}))
    }

    #[test]
    fn the_present_template_is_the_latest_an_older_or_a_new_revision() {
        let check = |revisions: &[Revision], image: &str, expected: &str| {
            let patch = patch_of(set(image).view().spec().template());
            let choice = match choose(revisions, &patch, |_| false) {
                Choice::Latest(latest) => format!("latest {}", latest.name()),
                Choice::Renumber(equal, number) => format!("{} as {number}", equal.name()),
                Choice::Create(number) => format!("new {number}"),
            };
            assert_eq!(choice, expected);
        };
        let revisions = [revision("r1", 1, "a"), revision("r2", 2, "b")];
        check(&[], "a", "new 1");
        check(&revisions, "b", "latest r2");
        check(&revisions, "a", "r1 as 3");
        check(&revisions, "c", "new 3");
    }

    #[test]
    fn a_revision_from_before_a_default_is_the_same_with_it_filled_in() {
        let mut present = set("a");
        present.value_mut()["spec"]["template"]["spec"]["dnsPolicy"] = json!("ClusterFirst");
        let patch = patch_of(present.view().spec().template());
        let defaults: Defaults = Arc::new(|set| set["spec"]["template"]["spec"]["dnsPolicy"] = json!("ClusterFirst"));
        let alike = |image: &str, defaults| is_alike(present.view(), &revision("r", 1, image), &patch, defaults);
        assert!(alike("a", Some(&defaults)));
        assert!(!alike("b", Some(&defaults)));
        assert!(!alike("a", None));
    }

    #[test]
    fn the_oldest_revisions_go_that_nobody_is_of() {
        let of = |name: &str| RevisedTemplate { revision: name.to_owned(), template: PodTemplateSpec::new() };
        let history = History {
            revisions: (1..=5).map(|number| revision(&format!("r{number}"), number, "a")).collect(),
            current: of("r4"),
            update: of("r5"),
            collisions: 0,
        };
        let pod = SharedObject::<Pod>::of(json!({"metadata": {"labels": {"controller-revision-hash": "r1"}}}));
        assert_eq!(plan_cleanup(set("a").view(), &history, &[pod]), ["r2"]);
        assert_eq!(plan_cleanup(set("a").view(), &history, &[]), ["r1", "r2"]);
    }
}
