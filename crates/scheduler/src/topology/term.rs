//! The terms of inter-pod affinity and the matchers made of them and of spread constraints,
//! parsed once a version of a pod.
//!
//! Upstream: `AffinityTerm` of k8s.io/kube-scheduler/framework/types.go.

use crate::labels::Labels;
use crate::pod_info::PodInfo;
use ferry_api::rules::label_selector::to_selector;
use ferry_api::selector::{Operator, Selector};
use ferry_api::view::core::v1::{PodAffinityTermView, PodView};
use ferry_api::view::meta::v1::LabelSelectorView;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::Arc;

/// The labels of every namespace.
pub type NamespaceLabels = HashMap<Box<str>, Labels>;

/// Pods of some namespaces with some labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodSelector {
    pub namespaces: BTreeSet<String>,
    /// Selects further namespaces by their labels.
    pub namespace_selector: Selector,
    pub selector: Selector,
}

impl PodSelector {
    pub fn matches(&self, namespace: &str, labels: &Labels, namespaces: &NamespaceLabels) -> bool {
        let is_in_namespace = self.namespaces.contains(namespace)
            || (!self.namespace_selector.is_nothing()
                && match namespaces.get(namespace) {
                    Some(own) => own.match_selector(&self.namespace_selector),
                    // Upstream takes a namespace that it does not know as one without labels.
                    None => Labels::default().match_selector(&self.namespace_selector),
                });
        is_in_namespace && labels.match_selector(&self.selector)
    }

    pub fn matches_pod(&self, pod: &PodInfo, namespaces: &NamespaceLabels) -> bool {
        self.matches(&pod.namespace, &pod.labels, namespaces)
    }

    /// A label that every pod has that is selected; an index finds the selector by it.
    pub fn anchor(&self) -> Option<(&str, &str)> {
        self.selector.requirements().iter().find_map(|requirement| {
            match (requirement.operator, requirement.values.as_slice()) {
                (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => {
                    Some((requirement.key.as_str(), value.as_str()))
                }
                _ => None,
            }
        })
    }

    /// Equal for selectors that select the same by the same words. No name, key or value can
    /// contain the separators.
    fn write_key(&self, out: &mut String) {
        for namespace in &self.namespaces {
            out.push_str(namespace);
            out.push(' ');
        }
        for selector in [&self.namespace_selector, &self.selector] {
            let sign = if selector.is_nothing() { "|-" } else { "|" };
            // Writing to a text cannot fail.
            let _ = write!(out, "{sign}{selector}");
        }
        out.push('\n');
    }
}

/// One term of a pod's affinity or anti-affinity.
#[derive(Debug, PartialEq, Eq)]
pub struct AffinityTerm {
    pub pods: PodSelector,
    pub topology_key: String,
    /// 1 for required terms, which are not weighed by their pod.
    pub weight: i32,
    /// Equal for equal terms.
    pub key: String,
}

/// The terms of one pod.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AffinityTerms {
    pub required: Vec<Arc<AffinityTerm>>,
    pub required_anti: Vec<Arc<AffinityTerm>>,
    pub preferred: Vec<Arc<AffinityTerm>>,
    pub preferred_anti: Vec<Arc<AffinityTerm>>,
}

impl AffinityTerms {
    /// `None` for the many pods that have none.
    pub fn of(pod: PodView<'_>) -> Option<Box<Self>> {
        let affinity = pod.spec().affinity()?;
        let (with, against) = (affinity.pod_affinity(), affinity.pod_anti_affinity());
        let parse = |term: PodAffinityTermView<'_>, weight: i32| Arc::new(parse_term(pod, term, weight));
        let mut out = Self::default();
        if let Some(with) = with {
            let required = with.required_during_scheduling_ignored_during_execution();
            out.required = required.iter().map(|term| parse(term, 1)).collect();
            let preferred = with.preferred_during_scheduling_ignored_during_execution();
            out.preferred = preferred.iter().map(|term| parse(term.pod_affinity_term(), term.weight())).collect();
        }
        if let Some(against) = against {
            let required = against.required_during_scheduling_ignored_during_execution();
            out.required_anti = required.iter().map(|term| parse(term, 1)).collect();
            let preferred = against.preferred_during_scheduling_ignored_during_execution();
            out.preferred_anti = preferred.iter().map(|term| parse(term.pod_affinity_term(), term.weight())).collect();
        }
        (out != Self::default()).then(|| Box::new(out))
    }
}

/// A selector that is not valid selects nothing; the API server lets none through.
fn parse_selector(selector: Option<LabelSelectorView<'_>>) -> Selector {
    to_selector(selector).unwrap_or_else(|_| Selector::nothing())
}

fn parse_term(pod: PodView<'_>, term: PodAffinityTermView<'_>, weight: i32) -> AffinityTerm {
    let mut namespaces: BTreeSet<String> = term.namespaces().iter().map(str::to_owned).collect();
    if namespaces.is_empty() && term.namespace_selector().is_none() {
        namespaces.insert(pod.metadata().namespace().to_owned());
    }
    let pods = PodSelector {
        namespaces,
        namespace_selector: parse_selector(term.namespace_selector()),
        selector: parse_selector(term.label_selector()),
    };
    let topology_key = term.topology_key().to_owned();
    let mut key = format!("{weight} {topology_key} ");
    pods.write_key(&mut key);
    AffinityTerm { pods, topology_key, weight, key }
}

/// Pods that all of some selectors select. An index counts them by node.
#[derive(Debug)]
pub struct PodMatcher {
    pub all_of: Vec<PodSelector>,
    /// Spread constraints do not count pods that are being deleted, affinity does.
    pub counts_deleting: bool,
    /// Equal for equal matchers.
    pub key: String,
}

impl PodMatcher {
    pub fn new(all_of: Vec<PodSelector>, counts_deleting: bool) -> Self {
        let mut key = String::from(if counts_deleting { "+" } else { "-" });
        all_of.iter().for_each(|selector| selector.write_key(&mut key));
        Self { all_of, counts_deleting, key }
    }

    /// The pods that an affinity term selects.
    pub fn of_term(term: &AffinityTerm) -> Self {
        Self::new(vec![term.pods.clone()], true)
    }

    /// The pods that a spread constraint counts.
    pub fn spread(namespace: &str, selector: Selector) -> Self {
        let namespaces = [namespace.to_owned()].into();
        Self::new(vec![PodSelector { namespaces, namespace_selector: Selector::nothing(), selector }], false)
    }

    /// No selector at all matches no pod, as upstream's `podMatchesAllAffinityTerms` has it.
    pub fn matches(&self, pod: &PodInfo, namespaces: &NamespaceLabels) -> bool {
        !self.all_of.is_empty()
            && (self.counts_deleting || !pod.is_deleting)
            && self.all_of.iter().all(|selector| selector.matches_pod(pod, namespaces))
    }

    /// Whether the labels of namespaces have a say.
    pub fn reads_namespaces(&self) -> bool {
        self.all_of.iter().any(|selector| !selector.namespace_selector.is_nothing())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{changed, pod};
    use serde_json::{Value, json};

    fn term(term: Value) -> Arc<AffinityTerm> {
        let affinity = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
        let pod = pod(json!({"affinity": affinity}));
        pod.affinity.as_ref().expect("terms").required[0].clone()
    }

    #[test]
    fn a_term_selects_by_namespace_and_by_labels() {
        let namespaces = NamespaceLabels::from([(
            "team".into(),
            Labels::of(ferry_api::view::meta::v1::ObjectMetaView::from(&json!({"labels": {"tier": "a"}})).labels()),
        )]);
        let check = |of: Value, namespace: &str, expected: bool| {
            let other = changed(&pod(json!({})), json!({"metadata": {"namespace": namespace, "labels": {"app": "x"}}}));
            assert_eq!(term(of.clone()).pods.matches_pod(&other, &namespaces), expected, "{of} in {namespace}");
        };
        let app = json!({"matchLabels": {"app": "x"}});
        check(json!({"labelSelector": app}), "default", true);
        check(json!({"labelSelector": app}), "team", false);
        check(json!({"labelSelector": {"matchLabels": {"app": "y"}}}), "default", false);
        check(json!({}), "default", false);
        check(json!({"labelSelector": {}}), "default", true);
        check(json!({"labelSelector": app, "namespaces": ["team"]}), "team", true);
        check(json!({"labelSelector": app, "namespaces": ["team"]}), "default", false);
        check(json!({"labelSelector": app, "namespaceSelector": {}}), "anything", true);
        check(json!({"labelSelector": app, "namespaceSelector": {"matchLabels": {"tier": "a"}}}), "team", true);
        check(json!({"labelSelector": app, "namespaceSelector": {"matchLabels": {"tier": "a"}}}), "default", false);
        check(
            json!({"labelSelector": app, "namespaceSelector": {"matchLabels": {"tier": "a"}}, "namespaces": ["default"]}),
            "default",
            true,
        );
    }

    #[test]
    fn equal_terms_have_equal_keys() {
        let app = json!({"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"});
        assert_eq!(term(app.clone()).key, term(app.clone()).key);
        let mut other = app.clone();
        other["topologyKey"] = "host".into();
        assert_ne!(term(app.clone()).key, term(other).key);
        assert_ne!(term(json!({})).key, term(json!({"labelSelector": {}})).key);
    }
}
