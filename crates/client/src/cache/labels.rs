//! Objects found by label without going over a namespace: the pods that a selector matches. Used
//! by the controllers and the network policies.
//!
//! | question | index | asked with |
//! |---|---|---|
//! | which pods have these labels | [`by_label`]: under each pair of labels | [`labelled`], [`matching`], [`selected`] |
//!
//! Objects are found by the mere name of a label in an index that is made when the first selector
//! needs it. A selector of `NotIn` and `DoesNotExist` alone goes over its namespace: nearly all of
//! the namespace is its answer. Cluster-scoped objects stand in the namespace without a name.

use super::Informer;
use crate::object::SharedObject;
use ferry_api::rules::label_selector;
use ferry_api::selector::{Operator, Selector};
use ferry_api::view::meta::v1::{LabelSelectorRequirementView, LabelSelectorView};
use ferry_api::view::{Kind, List, Map};

const BY_LABEL: &str = "label";
const BY_LABEL_NAME: &str = "label-name";

pub type Expressions<'a> = List<'a, LabelSelectorRequirementView<'a>>;

/// Indexes objects by each of their labels.
pub fn by_label<K: Kind>(informer: Informer<K>) -> Informer<K> {
    informer.indexed(BY_LABEL, |object| {
        let meta = object.meta();
        meta.labels().iter().map(|(name, value)| pair(meta.namespace(), name, value)).collect()
    })
}

/// The pairs of labels that each `In` expression lists. An object matches one of them, or the
/// selector does not match it.
pub fn listed_values<'a>(namespace: &'a str, expressions: Expressions<'a>) -> impl Iterator<Item = Vec<String>> + 'a {
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
pub fn required_names<'a>(expressions: Expressions<'a>) -> impl Iterator<Item = &'a str> + 'a {
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
pub fn labelled<K: Kind>(informer: &Informer<K>, namespace: &str, wanted: Map<'_, &str>) -> Vec<SharedObject<K>> {
    let pairs = wanted.iter().map(|(name, value)| pair(namespace, name, value));
    let Some(rarest) = pairs.min_by_key(|pair| informer.count_by_index(BY_LABEL, pair)) else {
        return informer.list(Some(namespace));
    };
    let mut found = informer.by_index(BY_LABEL, &rarest);
    found.retain(|object| label_selector::contains(object.meta().labels(), wanted));
    found
}

/// The objects of a namespace that a label selector matches; none without a selector.
pub fn matching<K: Kind>(
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
pub fn selected<K: Kind>(informer: &Informer<K>, namespace: &str, selector: &Selector) -> Vec<SharedObject<K>> {
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
pub fn exact_pairs(selector: &Selector) -> impl Iterator<Item = (&str, &str)> {
    selector.requirements().iter().filter_map(|requirement| match requirement.values.as_slice() {
        [value] if matches!(requirement.operator, Operator::Equals | Operator::DoubleEquals | Operator::In) => {
            Some((requirement.key.as_str(), value.as_str()))
        }
        _ => None,
    })
}

/// One pair of labels in a namespace, as the indexes here write it.
pub fn pair(namespace: &str, name: &str, value: &str) -> String {
    format!("{namespace}/{name}={value}")
}

/// One label in a namespace, whatever its value.
pub fn named(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

/// The place of selectors that name no value of a label, and of all objects whatever their labels.
pub fn unpaired(namespace: &str) -> String {
    namespace.to_owned()
}
