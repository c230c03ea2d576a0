//! The identity of a StatefulSet's pod: its ordinal, its name and labels, its host name and the
//! claims that it mounts. Asked by plan.rs for pods that are there and for pods to be made.

use ferry_api::rules::owner::controller_reference;
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{StatefulSet, StatefulSetView};
use ferry_api::view::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimView, PersistentVolumeClaimVolumeSource, Pod, PodSpec, PodTemplateSpec,
    PodView, Volume,
};
use ferry_api::view::meta::v1::ObjectMeta;
use std::ops::Range;

pub(super) const REVISION_LABEL: &str = "controller-revision-hash";
const POD_NAME_LABEL: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";

/// The template of the set as one of its revisions has it.
pub(super) struct RevisedTemplate {
    /// The name of the revision, which is also the label of its pods.
    pub revision: String,
    pub template: PodTemplateSpec,
}

/// The ordinals that the set is to have.
pub(super) fn ordinals(set: StatefulSetView<'_>) -> Range<i64> {
    let start = i64::from(set.spec().ordinals().map_or(0, |ordinals| ordinals.start()));
    start..start + i64::from(set.spec().replicas().unwrap_or(1).max(0))
}

/// The ordinal of the set's pod of that name; `None` for a name that is no pod's of this set.
pub(super) fn ordinal_of(set: StatefulSetView<'_>, name: &str) -> Option<i64> {
    let (parent, number) = name.rsplit_once('-')?;
    let ordinal: i32 = number.parse().ok().filter(|ordinal| *ordinal >= 0)?;
    // A number with a sign or zeros before it would be another name for the same pod.
    (parent == set.metadata().name() && ordinal.to_string() == number).then_some(ordinal.into())
}

/// The ordinal of a pod that was claimed by its name.
pub(super) fn ordinal(set: StatefulSetView<'_>, pod: PodView<'_>) -> Option<i64> {
    ordinal_of(set, pod.metadata().name())
}

pub(super) fn pod_name(set: StatefulSetView<'_>, ordinal: i64) -> String {
    format!("{}-{ordinal}", set.metadata().name())
}

/// The revision that a pod was made of; empty for one that was adopted.
pub(super) fn revision_of(pod: PodView<'_>) -> &str {
    pod.metadata().labels().get(REVISION_LABEL).unwrap_or_default()
}

pub(super) fn claim_name(set: StatefulSetView<'_>, template: PersistentVolumeClaimView<'_>, ordinal: i64) -> String {
    format!("{}-{}-{ordinal}", template.metadata().name(), set.metadata().name())
}

/// The claims of the pod with this ordinal, each with the name of its template.
pub(super) fn plan_claims(set: StatefulSetView<'_>, ordinal: i64) -> Vec<PersistentVolumeClaim> {
    let templates = set.spec().volume_claim_templates();
    let selector = set.spec().selector().map(|selector| selector.match_labels()).unwrap_or_default();
    let claim = |template: PersistentVolumeClaimView<'_>| {
        let mut claim = template.to_owned();
        claim.edit_metadata(|meta| {
            meta.set_name(claim_name(set, template, ordinal));
            meta.set_namespace(set.metadata().namespace());
            selector.iter().for_each(|(name, value)| meta.insert_labels(name, value));
        });
        claim
    };
    templates.iter().map(claim).collect()
}

/// Whether the pod carries the labels of its name.
pub(super) fn identity_matches(pod: PodView<'_>) -> bool {
    let meta = pod.metadata();
    meta.labels().get(POD_NAME_LABEL) == Some(meta.name())
}

/// Whether the pod mounts the claims of its ordinal.
pub(super) fn storage_matches(set: StatefulSetView<'_>, pod: PodView<'_>, ordinal: i64) -> bool {
    set.spec().volume_claim_templates().iter().all(|template| {
        let volumes = pod.spec().volumes();
        let volume = volumes.iter().find(|volume| volume.name() == template.metadata().name());
        let mounted = volume.and_then(|volume| volume.persistent_volume_claim()).map(|source| source.claim_name());
        mounted == Some(claim_name(set, template, ordinal).as_str())
    })
}

/// Gives a pod the labels of its name.
pub(super) fn set_identity(meta: &mut ObjectMeta, name: &str, ordinal: i64) {
    meta.insert_labels(POD_NAME_LABEL, name);
    meta.insert_labels(POD_INDEX_LABEL, ordinal.to_string());
}

/// Puts the claims of the ordinal in the place of volumes with the names of their templates.
pub(super) fn set_storage(set: StatefulSetView<'_>, spec: &mut PodSpec, ordinal: i64) {
    let templates = set.spec().volume_claim_templates();
    let claimed = templates.iter().map(|template| {
        let source = PersistentVolumeClaimVolumeSource::new().with_claim_name(claim_name(set, template, ordinal));
        Volume::new().with_name(template.metadata().name()).with_persistent_volume_claim(source)
    });
    let is_claimed = |name: &str| templates.iter().any(|template| template.metadata().name() == name);
    let view = spec.view();
    let others = view.volumes().iter().filter(|volume| !is_claimed(volume.name())).map(|volume| volume.to_owned());
    let volumes: Vec<Volume> = claimed.chain(others).collect();
    spec.set_volumes(volumes);
}

/// The pod with this ordinal, of a revision's template.
pub(super) fn plan_pod(set: StatefulSetView<'_>, of: &RevisedTemplate, ordinal: i64) -> Pod {
    let template = of.template.view();
    let (meta, name) = (template.metadata(), pod_name(set, ordinal));
    let mut metadata = ObjectMeta::new()
        .with_name(&name)
        .with_namespace(set.metadata().namespace())
        .with_labels(meta.labels())
        .with_annotations(meta.annotations())
        .with_finalizers(meta.finalizers())
        .with_owner_references([controller_reference::<StatefulSet>(set)]);
    set_identity(&mut metadata, &name, ordinal);
    metadata.insert_labels(REVISION_LABEL, &of.revision);
    let mut spec = template.spec().to_owned().with_hostname(&name);
    spec.set_subdomain(Some(set.spec().service_name()).filter(|service| !service.is_empty()));
    set_storage(set, &mut spec, ordinal);
    Pod::new().with_metadata(metadata).with_spec(spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set() -> StatefulSet {
        StatefulSet::from(json!({
            "metadata": {"name": "web", "namespace": "ns", "uid": "u"},
            "spec": {"replicas": 3, "serviceName": "headless", "selector": {"matchLabels": {"app": "web"}},
                "ordinals": {"start": 2},
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}],
                    "volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]}},
                "volumeClaimTemplates": [{"metadata": {"name": "data", "labels": {"tier": "db"}}, "spec": {"accessModes": ["ReadWriteOnce"]}}]},
        }))
    }

    #[test]
    fn an_ordinal_is_read_from_a_name_of_the_set_only() {
        let set = set();
        let check = |name: &str, expected: Option<i64>| assert_eq!(ordinal_of(set.view(), name), expected, "{name}");
        check("web-0", Some(0));
        check("web-17", Some(17));
        check("web-2147483647", Some(2_147_483_647));
        check("web-2147483648", None);
        check("web-01", None);
        check("web-+1", None);
        check("web-", None);
        check("web", None);
        check("db-0", None);
        check("web-db-0", None);
        assert_eq!(ordinals(set.view()), 2..5);
    }

    #[test]
    fn a_pod_has_the_names_and_the_claims_of_its_ordinal() {
        let set = set();
        let of = RevisedTemplate { revision: "web-abc".to_owned(), template: set.view().spec().template().to_owned() };
        let pod = plan_pod(set.view(), &of, 4);
        assert_eq!(
            pod.value()["metadata"]["labels"],
            json!({"app": "web", POD_NAME_LABEL: "web-4", POD_INDEX_LABEL: "4", REVISION_LABEL: "web-abc"})
        );
        let spec = &pod.value()["spec"];
        assert_eq!((&spec["hostname"], &spec["subdomain"]), (&json!("web-4"), &json!("headless")));
        assert_eq!(
            spec["volumes"],
            json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-4"}}, {"name": "tmp", "emptyDir": {}}])
        );
        assert!(identity_matches(pod.view()) && storage_matches(set.view(), pod.view(), 4));
        assert!(!storage_matches(set.view(), pod.view(), 3));
        assert_eq!(ordinal(set.view(), pod.view()), Some(4));
        assert_eq!(revision_of(pod.view()), "web-abc");
        let mut unlabelled = pod.clone();
        unlabelled.edit_metadata(|meta| meta.insert_labels(POD_NAME_LABEL, None::<&str>));
        assert!(!identity_matches(unlabelled.view()));
    }

    #[test]
    fn a_claim_has_the_labels_of_its_template_and_of_the_selector() {
        let claims = plan_claims(set().view(), 4);
        let meta = &claims[0].value()["metadata"];
        let expected = json!({"name": "data-web-4", "namespace": "ns", "labels": {"tier": "db", "app": "web"}});
        assert_eq!((claims.len(), meta), (1, &expected));
    }
}
