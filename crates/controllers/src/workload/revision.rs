//! ControllerRevisions: how a template is stored so that `kubectl rollout undo` can bring it
//! back, under which name, and how such an object is made, renumbered and deleted. Used by the
//! controllers of daemon sets and stateful sets.
//!
//! The reference is upstream's pkg/controller/history.

use crate::error::{During, Result};
use crate::runner::Context;
use crate::workload::template::{CanonicalTemplate, pruned, set_name};
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::apps::v1::{ControllerRevision, ControllerRevisionView};
use ferry_api::view::core::v1::{PodTemplateSpec, PodTemplateSpecView};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_api::view::{Kind, Owned, View};
use ferry_client::{DeleteParams, SharedObject};
use serde_json::{Value, json};

pub(crate) type Revision = SharedObject<ControllerRevision>;

const PATCH: &str = "$patch";

/// The strategic patch that brings the template back, in upstream's form.
pub(crate) fn patch_of(template: PodTemplateSpecView<'_>) -> Value {
    let mut template = pruned(template.node());
    ferry_api::object::ensure_object(&mut template).insert(PATCH.to_owned(), "replace".into());
    json!({"spec": {"template": template}})
}

/// The template that the revision brings back; `None` for a revision that holds none.
pub(crate) fn template_of(revision: ControllerRevisionView<'_>) -> Option<PodTemplateSpec> {
    let mut template = revision.data()?.get("spec")?.get("template")?.to_value();
    template.as_object_mut()?.remove(PATCH);
    Some(template.into())
}

/// Whether the revision is of the template that `patch` brings back.
pub(crate) fn stands_for(revision: ControllerRevisionView<'_>, patch: &Value) -> bool {
    revision.data().is_some_and(|data| pruned(data) == *patch)
}

/// Sorts by number, oldest first; the age and then the name decide between equal numbers.
pub(crate) fn sort(revisions: &mut [Revision]) {
    revisions.sort_by(|a, b| {
        let rank = |revision: &Revision| (revision.view().revision(), revision.meta().creation_timestamp());
        rank(a).cmp(&rank(b)).then_with(|| a.name().cmp(b.name()))
    });
}

/// A revision to be made for a template of `owner`.
pub(crate) struct RevisionPlan<'a, K: Kind> {
    pub owner: K::View<'a>,
    pub template: PodTemplateSpecView<'a>,
    pub patch: &'a Value,
    pub number: i64,
    /// How many names were found taken by other templates so far.
    pub collisions: Option<i32>,
    /// The label that carries the hash.
    pub hash_label: &'static str,
}

impl<K: Kind> RevisionPlan<'_, K> {
    pub(crate) fn render(&self) -> ControllerRevision {
        let meta = K::metadata(self.owner);
        let hash = CanonicalTemplate::of(self.template).hash(self.collisions);
        let mut labels = self.template.metadata().labels().to_map();
        labels.insert(self.hash_label.to_owned(), hash.clone());
        let metadata = ObjectMeta::new()
            .with_name(set_name(meta.name(), &hash))
            .with_namespace(meta.namespace())
            .with_labels(labels)
            .with_annotations(meta.annotations())
            .with_owner_references([controller_reference::<K>(self.owner)]);
        ControllerRevision::new().with_metadata(metadata).with_data(self.patch.clone()).with_revision(self.number)
    }

    /// Makes the revision, or finds that it has been made. `None` where another template has
    /// the name: the caller counts a collision and tries again.
    pub(crate) async fn create(&self, ctx: &Context) -> Result<Option<Revision>> {
        let revision = self.render();
        let metadata = revision.view().metadata();
        let (namespace, name) = (metadata.namespace(), metadata.name());
        let revisions = ctx.client.api::<ControllerRevision>(namespace);
        match revisions.create(&revision).await {
            Ok(made) => Ok(Some(made)),
            Err(error) if error.is_already_exists() => {
                let there = revisions.get(name).await.during("get the revision", name)?;
                Ok(stands_for(there.view(), self.patch).then_some(there))
            }
            Err(error) => Err(error).during("create the revision", name),
        }
    }
}

/// Gives the revision another number, as a rollback does with the one it brings back.
pub(crate) async fn renumber(ctx: &Context, revision: &Revision, number: i64) -> Result<Revision> {
    if revision.view().revision() == number {
        return Ok(revision.clone());
    }
    let api = ctx.client.api::<ControllerRevision>(revision.namespace());
    api.replace(&revision.to_owned().with_revision(number)).await.during("renumber the revision", revision.name())
}

pub(crate) async fn delete(ctx: &Context, namespace: &str, name: &str) -> Result<()> {
    match ctx.client.api::<ControllerRevision>(namespace).delete(name, &DeleteParams::default()).await {
        Err(error) if error.is_not_found() => Ok(()),
        other => other.during("delete the revision", name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::apps::v1::DaemonSet;

    fn set() -> DaemonSet {
        DaemonSet::from(json!({"metadata": {"name": "agent", "namespace": "ns", "uid": "u"},
            "spec": {"selector": {}, "template": {
                "metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "a"}]}}}}))
    }

    #[test]
    fn a_revision_stands_for_its_template_alone() {
        let set = set();
        let (template, patch) = (set.view().spec().template(), patch_of(set.view().spec().template()));
        let plan = RevisionPlan::<DaemonSet> {
            owner: set.view(),
            template,
            patch: &patch,
            number: 1,
            collisions: None,
            hash_label: "hash",
        };
        let revision = plan.render();
        let revision = revision.view();
        let hash = revision.metadata().labels().get("hash").expect("a hash");
        assert_eq!(revision.metadata().name(), format!("agent-{hash}"));
        assert!(stands_for(revision, &patch));
        let mut same = set.clone();
        same.value_mut()["spec"]["template"]["metadata"]["creationTimestamp"] = Value::Null;
        assert!(stands_for(revision, &patch_of(same.view().spec().template())));
        let mut other = set.clone();
        other.edit_spec(|spec| spec.edit_template(|template| template.set_metadata(None::<ObjectMeta>)));
        assert!(!stands_for(revision, &patch_of(other.view().spec().template())));
        let renamed = RevisionPlan::<DaemonSet> { collisions: Some(1), ..plan }.render();
        assert_ne!(renamed.view().metadata().name(), revision.metadata().name());
    }

    #[test]
    fn a_revision_brings_its_template_back() {
        let set = set();
        let template = set.view().spec().template();
        let revision = ControllerRevision::new().with_data(patch_of(template));
        assert_eq!(template_of(revision.view()).expect("a template").view(), template);
        assert!(template_of(ControllerRevision::new().view()).is_none());
    }

    #[test]
    fn revisions_are_sorted_by_number_and_then_by_age() {
        let revision = |name: &str, number: i64, made: &str| {
            Revision::of(json!({"metadata": {"name": name, "creationTimestamp": made}, "revision": number}))
        };
        let mut revisions = [
            revision("d", 3, "2024-01-01T00:00:00Z"),
            revision("c", 2, "2024-01-01T00:00:05Z"),
            revision("b", 2, "2024-01-01T00:00:01Z"),
            revision("a", 2, "2024-01-01T00:00:05Z"),
        ];
        sort(&mut revisions);
        assert_eq!(revisions.each_ref().map(|revision| revision.name()), ["b", "a", "c", "d"]);
    }
}
