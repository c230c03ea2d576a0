//! A daemon pod: what is made for a node, which node a pod was made for, and whether it is
//! of the present template.

use ferry_api::rules::node_selector::required_affinity;
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{DaemonSet, DaemonSetView};
use ferry_api::view::core::v1::{
    NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodSpec, PodSpecView, PodView, Toleration,
};
use ferry_api::view::meta::v1::ObjectMeta;

pub(super) const HASH_LABEL: &str = "controller-revision-hash";
const GENERATION_LABEL: &str = "pod-template-generation";
const GENERATION: &str = "deprecated.daemonset.template.generation";
const NODE_NAME_FIELD: &str = "metadata.name";

/// The pod of the set for a node. The scheduler binds it; its affinity leaves no choice.
pub(super) fn plan_pod(set: DaemonSetView<'_>, hash: &str, node: &str) -> Pod {
    let template = set.spec().template();
    let (meta, of_set) = (template.metadata(), set.metadata());
    let mut labels = meta.labels().to_map();
    if let Some(generation) = template_generation(set) {
        labels.insert(GENERATION_LABEL.to_owned(), generation.to_string());
    }
    labels.insert(HASH_LABEL.to_owned(), hash.to_owned());
    let mut spec = template.spec().to_owned();
    spec.set_tolerations(daemon_tolerations(template.spec()));
    pin(&mut spec, node);
    let metadata = ObjectMeta::new()
        .with_generate_name(format!("{}-", of_set.name()))
        .with_namespace(of_set.namespace())
        .with_labels(labels)
        .with_annotations(meta.annotations())
        .with_finalizers(meta.finalizers())
        .with_owner_references([controller_reference::<DaemonSet>(set)]);
    Pod::new().with_metadata(metadata).with_spec(spec)
}

/// The template's tolerations and those that every daemon pod has, because it serves a
/// node in whatever state the node is. One of ours takes the place of the same taint's.
pub(super) fn daemon_tolerations(spec: PodSpecView<'_>) -> Vec<Toleration> {
    let mut ours = vec![
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ];
    if spec.host_network() {
        ours.push(("node.kubernetes.io/network-unavailable", "NoSchedule"));
    }
    let mut all: Vec<Toleration> = spec.tolerations().iter().map(|toleration| toleration.to_owned()).collect();
    for (key, effect) in ours {
        let toleration = Toleration::new().with_key(key).with_operator("Exists").with_effect(effect);
        // Upstream's MatchToleration: everything but the seconds is the same.
        let is_same = |other: &&mut Toleration| {
            let other = other.view();
            (other.key(), other.effect(), other.operator(), other.value_()) == (key, effect, "Exists", "")
        };
        match all.iter_mut().find(is_same) {
            Some(other) => *other = toleration,
            None => all.push(toleration),
        }
    }
    all
}

fn pin(spec: &mut PodSpec, node: &str) {
    let here = NodeSelectorRequirement::new().with_key(NODE_NAME_FIELD).with_operator("In").with_values([node]);
    let term = NodeSelectorTerm::new().with_match_fields([here]);
    let required = NodeSelector::new().with_node_selector_terms([term]);
    spec.edit_affinity(|affinity| {
        affinity
            .edit_node_affinity(|affinity| affinity.set_required_during_scheduling_ignored_during_execution(required));
    });
}

/// The node that a pod runs on or was made for.
pub(super) fn target_node(pod: PodView<'_>) -> Option<&str> {
    let spec = pod.spec();
    if !spec.node_name().is_empty() {
        return Some(spec.node_name());
    }
    let terms = required_affinity(spec)?.node_selector_terms();
    let mut fields = terms.iter().flat_map(|term| term.match_fields());
    let mut names = fields.find(|field| field.key() == NODE_NAME_FIELD && field.operator() == "In")?.values().iter();
    match (names.next(), names.next()) {
        (Some(name), None) => Some(name),
        _ => None,
    }
}

/// By the hash of its revision, or by the generation that came before hashes.
pub(super) fn is_updated(pod: PodView<'_>, set: DaemonSetView<'_>, hash: &str) -> bool {
    let labels = pod.metadata().labels();
    let generation = template_generation(set).map(|generation| generation.to_string());
    (!hash.is_empty() && labels.get(HASH_LABEL) == Some(hash))
        || (generation.is_some() && labels.get(GENERATION_LABEL) == generation.as_deref())
}

pub(super) fn template_generation(set: DaemonSetView<'_>) -> Option<i64> {
    set.metadata().annotations().get(GENERATION)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_is_made_for_one_node_and_says_so() {
        let set = DaemonSet::from(json!({
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u", "annotations": {GENERATION: "3"}},
            "spec": {"selector": {}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
                "containers": [],
                "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": 5}]}}},
        }));
        let pod = plan_pod(set.view(), "abc", "n1");
        assert_eq!(
            pod.value()["metadata"]["labels"],
            json!({"app": "agent", HASH_LABEL: "abc", GENERATION_LABEL: "3"})
        );
        let pod = pod.view();
        assert_eq!(target_node(pod), Some("n1"));
        assert_eq!(pod.spec().tolerations().len(), 6);
        assert_eq!(pod.spec().tolerations().first().and_then(|toleration| toleration.toleration_seconds()), None);
        assert!(is_updated(pod, set.view(), "abc"));
        assert!(is_updated(pod, set.view(), "other"), "the generation is the same");
        let mut newer = set.clone();
        newer.edit_metadata(|meta| meta.insert_annotations(GENERATION, "4"));
        assert!(!is_updated(pod, newer.view(), "other"));
    }
}
