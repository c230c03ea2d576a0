//! A daemon pod: what is made for a node, which node a pod was made for, and whether it is
//! of the present template.

use crate::claim::controller_reference;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{
    NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodSpec, Toleration,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

pub const HASH_LABEL: &str = "controller-revision-hash";
const GENERATION_LABEL: &str = "pod-template-generation";
const GENERATION: &str = "deprecated.daemonset.template.generation";
const NODE_NAME_FIELD: &str = "metadata.name";

/// The pod of the set for a node. The scheduler binds it; its affinity leaves no choice.
pub fn plan_pod(set: &DaemonSet, hash: &str, node: &str) -> Pod {
    let template = set.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
    let meta = template.metadata.unwrap_or_default();
    let mut labels = meta.labels.unwrap_or_default();
    if let Some(generation) = template_generation(set) {
        labels.insert(GENERATION_LABEL.to_owned(), generation.to_string());
    }
    labels.insert(HASH_LABEL.to_owned(), hash.to_owned());
    let mut spec = template.spec.unwrap_or_default();
    spec.tolerations = Some(daemon_tolerations(&spec));
    pin(&mut spec, node);
    Pod {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", set.metadata.name.as_deref().unwrap_or_default())),
            namespace: set.metadata.namespace.clone(),
            labels: Some(labels),
            annotations: meta.annotations,
            finalizers: meta.finalizers,
            owner_references: Some(vec![controller_reference(set)]),
            ..Default::default()
        },
        spec: Some(spec),
        status: None,
    }
}

/// The template's tolerations and those that every daemon pod has, because it serves a
/// node in whatever state the node is. One of ours takes the place of the same taint's.
pub fn daemon_tolerations(spec: &PodSpec) -> Vec<Toleration> {
    let mut ours = vec![
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ];
    if spec.host_network == Some(true) {
        ours.push(("node.kubernetes.io/network-unavailable", "NoSchedule"));
    }
    let mut all = spec.tolerations.clone().unwrap_or_default();
    for (key, effect) in ours {
        let toleration = Toleration {
            key: Some(key.to_owned()),
            operator: Some("Exists".to_owned()),
            effect: Some(effect.to_owned()),
            ..Default::default()
        };
        // Upstream's MatchToleration: everything but the seconds is the same.
        let same = |other: &Toleration| {
            other.key == toleration.key
                && other.effect == toleration.effect
                && other.operator == toleration.operator
                && other.value.as_deref().unwrap_or_default().is_empty()
        };
        match all.iter_mut().find(|other| same(other)) {
            Some(other) => *other = toleration,
            None => all.push(toleration),
        }
    }
    all
}

fn pin(spec: &mut PodSpec, node: &str) {
    let here = NodeSelectorRequirement {
        key: NODE_NAME_FIELD.to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    };
    let term = NodeSelectorTerm { match_expressions: None, match_fields: Some(vec![here]) };
    let affinity: &mut NodeAffinity = spec.affinity.get_or_insert_default().node_affinity.get_or_insert_default();
    affinity.required_during_scheduling_ignored_during_execution =
        Some(NodeSelector { node_selector_terms: vec![term] });
}

/// The node that a pod runs on or was made for.
pub fn target_node(pod: &Pod) -> Option<&str> {
    let spec = pod.spec.as_ref()?;
    if let Some(name) = spec.node_name.as_deref().filter(|name| !name.is_empty()) {
        return Some(name);
    }
    let required =
        spec.affinity.as_ref()?.node_affinity.as_ref()?.required_during_scheduling_ignored_during_execution.as_ref()?;
    let fields = required.node_selector_terms.iter().flat_map(|term| term.match_fields.iter().flatten());
    let by_name = fields.into_iter().find(|field| field.key == NODE_NAME_FIELD && field.operator == "In")?;
    match by_name.values.as_deref() {
        Some([name]) => Some(name),
        _ => None,
    }
}

/// By the hash of its revision, or by the generation that came before hashes.
pub fn is_updated(pod: &Pod, set: &DaemonSet, hash: &str) -> bool {
    let label = |key: &str| pod.metadata.labels.as_ref().and_then(|labels| labels.get(key));
    let generation = template_generation(set).map(|generation| generation.to_string());
    (!hash.is_empty() && label(HASH_LABEL).is_some_and(|value| value == hash))
        || (generation.is_some() && label(GENERATION_LABEL) == generation.as_ref())
}

fn template_generation(set: &DaemonSet) -> Option<i64> {
    set.metadata.annotations.as_ref()?.get(GENERATION)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_is_made_for_one_node_and_says_so() {
        let set: DaemonSet = serde_json::from_value(json!({
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u", "annotations": {GENERATION: "3"}},
            "spec": {"selector": {}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
                "containers": [],
                "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
                    "tolerationSeconds": 5}]}}},
        }))
        .expect("a daemon set");
        let pod = plan_pod(&set, "abc", "n1");
        assert_eq!(
            serde_json::to_value(&pod.metadata.labels).expect("JSON"),
            json!({"app": "agent", HASH_LABEL: "abc", GENERATION_LABEL: "3"})
        );
        assert_eq!(target_node(&pod), Some("n1"));
        let tolerations = pod.spec.as_ref().and_then(|spec| spec.tolerations.clone()).expect("tolerations");
        assert_eq!(tolerations.len(), 6);
        assert_eq!(tolerations[0].toleration_seconds, None);
        assert!(is_updated(&pod, &set, "abc"));
        assert!(is_updated(&pod, &set, "other"), "the generation is the same");
        let mut newer = set.clone();
        newer.metadata.annotations.get_or_insert_default().insert(GENERATION.into(), "4".into());
        assert!(!is_updated(&pod, &newer, "other"));
    }
}
