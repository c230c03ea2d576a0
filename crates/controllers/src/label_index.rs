//! Objects found by label without going over a namespace: the pods that a selector matches,
//! and the selectors that may match a pod. Used by every controller that selects.
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
//!
//! Pods are found by the mere name of a label in an index that is made when the first selector
//! needs it. A selector of `NotIn` and `DoesNotExist` alone goes over its namespace: nearly all of
//! the namespace is its answer.

use crate::workload::template::HASH_LABEL;
use ferry_api::rules::label_selector;
use ferry_api::selector::{Operator, Selector};
use ferry_api::view::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::{ReplicationController, Service};
use ferry_api::view::meta::v1::{LabelSelectorRequirementView, LabelSelectorView};
use ferry_api::view::policy::v1::PodDisruptionBudget;
use ferry_api::view::{Kind, List, Map};
use ferry_client::{Informer, SharedObject};

const BY_LABEL: &str = "label";
const BY_LABEL_NAME: &str = "label-name";
const BY_SELECTOR: &str = "selector";

/// A kind with a selector. It narrows the search, and the caller judges it as a whole.
pub(crate) trait Selecting: Kind {
    fn match_labels(object: &SharedObject<Self>) -> Map<'_, &str>;

    /// The expressions of a selector that can have some.
    fn match_expressions(_: &SharedObject<Self>) -> Expressions<'_> {
        Expressions::default()
    }
}

type Expressions<'a> = List<'a, LabelSelectorRequirementView<'a>>;

/// Indexes objects by each of their labels.
pub(crate) fn by_label<K: Kind>(informer: Informer<K>) -> Informer<K> {
    informer.indexed(BY_LABEL, |object| {
        let meta = object.meta();
        meta.labels().iter().map(|(name, value)| pair(meta.namespace(), name, value)).collect()
    })
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

/// The pairs of labels that each `In` expression lists. An object matches one of them, or the
/// selector does not match it.
fn listed_values<'a>(namespace: &'a str, expressions: Expressions<'a>) -> impl Iterator<Item = Vec<String>> + 'a {
    let listing = expressions.iter().filter(|expression| expression.operator() == "In");
    listing.map(move |expression| {
        let mut pairs: Vec<_> =
            expression.values().iter().map(|value| pair(namespace, expression.key(), value)).collect();
        pairs.sort();
        pairs.dedup();
        pairs
    })
}

/// The labels that each `Exists` expression asks for.
fn required_names<'a>(expressions: Expressions<'a>) -> impl Iterator<Item = &'a str> + 'a {
    expressions.iter().filter(|expression| expression.operator() == "Exists").map(|expression| expression.key())
}

/// The objects of a namespace that have the rarest of these labels, whatever its value; all of the
/// namespace where there is none.
fn having_one_of<'a, K: Kind>(
    informer: &Informer<K>,
    namespace: &str,
    names: impl Iterator<Item = &'a str>,
) -> Vec<SharedObject<K>> {
    let mut places = names.map(|name| named(namespace, name)).peekable();
    if places.peek().is_none() {
        return informer.list(Some(namespace));
    }
    let informer = informer.clone().indexed(BY_LABEL_NAME, |object| {
        let meta = object.meta();
        meta.labels().iter().map(|(name, _)| named(meta.namespace(), name)).collect()
    });
    let rarest = places.min_by_key(|place| informer.count_by_index(BY_LABEL_NAME, place));
    rarest.map(|place| informer.by_index(BY_LABEL_NAME, &place)).unwrap_or_default()
}

/// The objects of a namespace that have all of these labels; all of the namespace where no
/// label is asked for.
pub(crate) fn labelled<K: Kind>(
    informer: &Informer<K>,
    namespace: &str,
    wanted: Map<'_, &str>,
) -> Vec<SharedObject<K>> {
    let pairs = wanted.iter().map(|(name, value)| pair(namespace, name, value));
    let Some(rarest) = pairs.min_by_key(|pair| informer.count_by_index(BY_LABEL, pair)) else {
        return informer.list(Some(namespace));
    };
    let mut found = informer.by_index(BY_LABEL, &rarest);
    found.retain(|object| label_selector::contains(object.meta().labels(), wanted));
    found
}

/// The objects of a namespace that a label selector matches; none without a selector.
pub(crate) fn matching<K: Kind>(
    informer: &Informer<K>,
    namespace: &str,
    selector: Option<LabelSelectorView<'_>>,
) -> Vec<SharedObject<K>> {
    let Some(present) = selector else { return Vec::new() };
    let mut found = if present.match_labels().is_empty() {
        let count =
            |pairs: &Vec<String>| pairs.iter().map(|pair| informer.count_by_index(BY_LABEL, pair)).sum::<usize>();
        match listed_values(namespace, present.match_expressions()).min_by_key(count) {
            Some(pairs) => {
                let mut found: Vec<_> = pairs.iter().flat_map(|pair| informer.by_index(BY_LABEL, pair)).collect();
                found.sort_by(|a, b| a.name().cmp(b.name()));
                found
            }
            None => having_one_of(informer, namespace, required_names(present.match_expressions())),
        }
    } else {
        labelled(informer, namespace, present.match_labels())
    };
    found.retain(|object| label_selector::matches(selector, object.meta().labels()));
    found
}

/// The same for a selector that was given as text, as a scale subresource gives one.
pub(crate) fn selected<K: Kind>(informer: &Informer<K>, namespace: &str, selector: &Selector) -> Vec<SharedObject<K>> {
    let pairs = exact_pairs(selector).map(|(name, value)| pair(namespace, name, value));
    let mut found = match pairs.min_by_key(|pair| informer.count_by_index(BY_LABEL, pair)) {
        Some(rarest) => informer.by_index(BY_LABEL, &rarest),
        None => {
            let existing =
                selector.requirements().iter().filter(|requirement| requirement.operator == Operator::Exists);
            having_one_of(informer, namespace, existing.map(|requirement| requirement.key.as_str()))
        }
    };
    found.retain(|object| selector.matches_with(|name| object.meta().labels().get(name)));
    found
}

/// The labels that a selector wants to have one value each.
pub(crate) fn exact_pairs(selector: &Selector) -> impl Iterator<Item = (&str, &str)> {
    selector.requirements().iter().filter_map(|requirement| match requirement.values.as_slice() {
        [value] if matches!(requirement.operator, Operator::Equals | Operator::DoubleEquals | Operator::In) => {
            Some((requirement.key.as_str(), value.as_str()))
        }
        _ => None,
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

/// One pair of labels in a namespace, as the indexes here write it.
pub(crate) fn pair(namespace: &str, name: &str, value: &str) -> String {
    format!("{namespace}/{name}={value}")
}

/// One label in a namespace, whatever its value.
fn named(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// The place of selectors that name no value of a label, and of all objects whatever their labels.
pub(crate) fn unpaired(namespace: &str) -> String {
    namespace.to_owned()
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
