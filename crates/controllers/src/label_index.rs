//! Objects found by label without going over a namespace: the selectors that may match a pod,
//! and, from `client/cache/labels.rs`, the pods that a selector matches. Used by every controller
//! that selects.
//!
//! | question | index | asked with |
//! |---|---|---|
//! | which pods have these labels | [`by_label`]: under each pair of labels | [`labelled`], [`matching`] |
//! | which sets, services, budgets may select this pod | [`by_selector`]: under one pair of `matchLabels` | [`may_select`] |
//!
//! Worked example: a ReplicaSet with `matchLabels: {app: web, pod-template-hash: 5d4}` is found
//! under `default/pod-template-hash=5d4` only. A selector without `matchLabels` is found under
//! each value of its first `In` expression, of which a pod has one at most, and one without that
//! under the label of its first `Exists`. A pod asks twice for each of its labels, with and
//! without its value, and once for the selectors of its namespace that have none of these.

use crate::workload::template::HASH_LABEL;
use ferry_api::view::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::{ReplicationController, Service};
use ferry_api::view::meta::v1::LabelSelectorView;
use ferry_api::view::policy::v1::PodDisruptionBudget;
use ferry_api::view::{Kind, Map};
use ferry_client::labels::{Expressions, listed_values, named, required_names};
pub(crate) use ferry_client::labels::{by_label, exact_pairs, labelled, matching, pair, selected, unpaired};
use ferry_client::{Informer, SharedObject};

const BY_SELECTOR: &str = "selector";

/// A kind with a selector. It narrows the search, and the caller judges it as a whole.
pub(crate) trait Selecting: Kind {
    fn match_labels(object: &SharedObject<Self>) -> Map<'_, &str>;

    /// The expressions of a selector that can have some.
    fn match_expressions(_: &SharedObject<Self>) -> Expressions<'_> {
        Expressions::default()
    }
}

/// Indexes objects by one pair of labels that they select.
pub(crate) fn by_selector<K: Selecting>(informer: Informer<K>) -> Informer<K> {
    informer.indexed(BY_SELECTOR, |object| {
        let labels = K::match_labels(object);
        // This label tells the sets of one deployment apart, so it is the best to be found by.
        let best = labels.get(HASH_LABEL).map(|hash| (HASH_LABEL, hash)).or_else(|| labels.iter().next());
        match best {
            Some((name, value)) => vec![pair(object.namespace(), name, value)],
            None => listed_values(object.namespace(), K::match_expressions(object))
                .next()
                .or_else(|| {
                    required_names(K::match_expressions(object))
                        .next()
                        .map(|name| vec![named(object.namespace(), name)])
                })
                .unwrap_or_else(|| vec![unpaired(object.namespace())]),
        }
    })
}

/// The objects of a namespace whose selector may match these labels, each once. The caller
/// judges the whole selector.
pub(crate) fn may_select<K: Kind>(
    informer: &Informer<K>,
    namespace: &str,
    labels: Map<'_, &str>,
) -> Vec<SharedObject<K>> {
    let paired = labels.iter().flat_map(|(name, value)| {
        let paired = informer.by_index(BY_SELECTOR, &pair(namespace, name, value));
        paired.into_iter().chain(informer.by_index(BY_SELECTOR, &named(namespace, name)))
    });
    paired.chain(informer.by_index(BY_SELECTOR, &unpaired(namespace))).collect()
}

impl Selecting for ReplicaSet {
    fn match_labels(set: &SharedObject<Self>) -> Map<'_, &str> {
        set.view().spec().selector().map(LabelSelectorView::match_labels).unwrap_or_default()
    }

    fn match_expressions(set: &SharedObject<Self>) -> Expressions<'_> {
        set.view().spec().selector().map(LabelSelectorView::match_expressions).unwrap_or_default()
    }
}

impl Selecting for ReplicationController {
    fn match_labels(controller: &SharedObject<Self>) -> Map<'_, &str> {
        controller.view().spec().selector()
    }
}

impl Selecting for Deployment {
    fn match_labels(deployment: &SharedObject<Self>) -> Map<'_, &str> {
        deployment.view().spec().selector().map(LabelSelectorView::match_labels).unwrap_or_default()
    }

    fn match_expressions(deployment: &SharedObject<Self>) -> Expressions<'_> {
        deployment.view().spec().selector().map(LabelSelectorView::match_expressions).unwrap_or_default()
    }
}

impl Selecting for DaemonSet {
    fn match_labels(set: &SharedObject<Self>) -> Map<'_, &str> {
        set.view().spec().selector().map(LabelSelectorView::match_labels).unwrap_or_default()
    }

    fn match_expressions(set: &SharedObject<Self>) -> Expressions<'_> {
        set.view().spec().selector().map(LabelSelectorView::match_expressions).unwrap_or_default()
    }
}

impl Selecting for StatefulSet {
    fn match_labels(set: &SharedObject<Self>) -> Map<'_, &str> {
        set.view().spec().selector().map(LabelSelectorView::match_labels).unwrap_or_default()
    }

    fn match_expressions(set: &SharedObject<Self>) -> Expressions<'_> {
        set.view().spec().selector().map(LabelSelectorView::match_expressions).unwrap_or_default()
    }
}

impl Selecting for Job {
    fn match_labels(job: &SharedObject<Self>) -> Map<'_, &str> {
        job.view().spec().selector().map(LabelSelectorView::match_labels).unwrap_or_default()
    }

    fn match_expressions(job: &SharedObject<Self>) -> Expressions<'_> {
        job.view().spec().selector().map(LabelSelectorView::match_expressions).unwrap_or_default()
    }
}

impl Selecting for PodDisruptionBudget {
    fn match_labels(budget: &SharedObject<Self>) -> Map<'_, &str> {
        budget.view().spec().selector().map(LabelSelectorView::match_labels).unwrap_or_default()
    }

    fn match_expressions(budget: &SharedObject<Self>) -> Expressions<'_> {
        budget.view().spec().selector().map(LabelSelectorView::match_expressions).unwrap_or_default()
    }
}

impl Selecting for Service {
    fn match_labels(service: &SharedObject<Self>) -> Map<'_, &str> {
        service.view().spec().selector()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::selector::Selector;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;
    use serde_json::{Value, json};

    fn names<K: Kind>(objects: Vec<SharedObject<K>>) -> Vec<String> {
        objects.iter().map(|object| object.name().to_owned()).collect()
    }

    #[test]
    fn pods_are_found_by_the_rarest_label_and_judged_by_all() {
        let pod = |name: &str, labels: Value| {
            SharedObject::<Pod>::of(json!({"metadata": {"namespace": "ns", "name": name, "labels": labels}}))
        };
        let pods = by_label(Informer::fixed([
            pod("a", json!({"app": "web", "tier": "front"})),
            pod("b", json!({"app": "web", "tier": "back"})),
            pod("c", json!({"app": "db", "tier": "back"})),
        ]));
        let select = |selector: Value| {
            let selector = ferry_api::view::meta::v1::LabelSelector::from(selector);
            names(matching(&pods, "ns", Some(selector.view())))
        };
        assert_eq!(select(json!({"matchLabels": {"app": "web", "tier": "back"}})), ["b"]);
        assert_eq!(select(json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]})), ["a", "b", "c"]);
        pods.put(pod("d", json!({"rack": "7"})));
        let exists = |names: &[&str]| {
            let terms: Vec<Value> = names.iter().map(|name| json!({"key": name, "operator": "Exists"})).collect();
            json!({"matchExpressions": terms})
        };
        assert_eq!(select(exists(&["rack"])), ["d"]);
        assert_eq!(select(exists(&["app", "rack"])), Vec::<String>::new());
        let by_text = |text: &str| names(selected(&pods, "ns", &Selector::parse(text).expect("a selector")));
        assert_eq!((by_text("rack"), by_text("app,tier=front")), (vec!["d".to_owned()], vec!["a".to_owned()]));
        assert_eq!(by_text("!app"), ["d"]);
        pods.remove("ns", "d");
        let in_one_of =
            |values: Value| json!({"matchExpressions": [{"key": "app", "operator": "In", "values": values}]});
        assert_eq!(select(in_one_of(json!(["web", "db", "db"]))), ["a", "b", "c"]);
        assert_eq!(select(in_one_of(json!(["cache"]))), Vec::<String>::new());
        let not_web = json!([{"key": "app", "operator": "NotIn", "values": ["web"]}]);
        assert_eq!(select(json!({"matchLabels": {"tier": "back"}, "matchExpressions": not_web})), ["c"]);
        assert_eq!(names(matching(&pods, "ns", None)), Vec::<String>::new());
        assert_eq!(names(matching(&pods, "other", Some(LabelSelectorView::default()))), Vec::<String>::new());
    }

    #[test]
    fn selectors_are_found_once_each_by_the_labels_of_a_pod() {
        let set = |name: &str, selector: Value| {
            SharedObject::<ReplicaSet>::of(
                json!({"metadata": {"namespace": "ns", "name": name}, "spec": {"selector": selector}}),
            )
        };
        let sets = by_selector(Informer::fixed([
            set("old", json!({"matchLabels": {"app": "web", HASH_LABEL: "1"}})),
            set("new", json!({"matchLabels": {"app": "web", HASH_LABEL: "2"}})),
            set("plain", json!({"matchLabels": {"app": "web"}})),
            set("any", json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]})),
            set("racked", json!({"matchExpressions": [{"key": "rack", "operator": "Exists"}]})),
            set("not db", json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["db"]}]})),
            set("one of", json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]})),
            set("other", json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["db"]}]})),
        ]));
        let pod = Pod::from(json!({"metadata": {"labels": {"app": "web", HASH_LABEL: "2"}}}));
        let mut found = names(may_select(&sets, "ns", pod.view().metadata().labels()));
        found.sort();
        assert_eq!(found, ["any", "new", "not db", "one of", "plain"]);
    }
}
