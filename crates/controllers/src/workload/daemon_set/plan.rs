//! Which daemon pods to make and which to delete: one for every node that fits, and a
//! rolling update within its bounds. Pure; the controller carries it out.

use super::node::{Criteria, Fit};
use super::pod::{HASH_LABEL, is_updated};
use crate::workload::deployment::scaled;
use ferry_api::rules::int_or_percent::Round;
use ferry_api::rules::pod::{is_available, is_ready, is_terminal};
use ferry_api::view::apps::v1::DaemonSetView;
use ferry_api::view::core::v1::{Node, NodeView, Pod, PodView};
use ferry_client::SharedObject;
use jiff::Timestamp;
use std::collections::{BTreeMap, HashSet};

/// The pods of a set by the node they run on or were made for.
pub(super) type PodsByNode = BTreeMap<String, Vec<SharedObject<Pod>>>;

/// What a plan looks at.
pub(super) struct Observed<'a> {
    pub set: DaemonSetView<'a>,
    /// What the set's template asks of nodes.
    pub criteria: &'a Criteria<'a>,
    pub nodes: &'a [SharedObject<Node>],
    pub pods: &'a PodsByNode,
    /// The name of the present template's revision.
    pub hash: &'a str,
    pub now: Timestamp,
    /// The nodes that are not among `nodes`, as far as an update counts them.
    pub outside: Outside,
}

/// The sums of nodes that a plan does not look at, because they need nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outside {
    /// Nodes that should have a pod.
    pub wanted: usize,
    /// Nodes without an available pod.
    pub unavailable: usize,
    /// Nodes with a pod beside their old one.
    pub surging: usize,
    /// Nodes with an available pod.
    pub available: usize,
}

#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Nodes that need a pod.
    pub create: Vec<String>,
    pub delete: Vec<SharedObject<Pod>>,
    /// Pods that have ended and go for that reason; whether they failed is in their phase.
    pub ended: Vec<SharedObject<Pod>>,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.create.is_empty() && self.delete.is_empty() && self.ended.is_empty()
    }
}

impl Observed<'_> {
    pub(super) fn fit(&self, node: NodeView<'_>) -> Fit {
        self.criteria.judge(node)
    }

    pub(super) fn is_available(&self, pod: PodView<'_>) -> bool {
        is_available(pod, self.set.spec().min_ready_seconds(), self.now)
    }

    /// How many pods of `wanted` a rolling update may have too many and too few.
    pub(super) fn bounds(&self, wanted: usize) -> (usize, usize) {
        let rolling = self.set.spec().update_strategy().rolling_update().filter(|_| is_rolling(self.set));
        let total = i32::try_from(wanted).unwrap_or(i32::MAX);
        let up = |value| usize::try_from(scaled(value, total, Round::Up)).unwrap_or(0);
        let surge = up(rolling.and_then(|rolling| rolling.max_surge()));
        let unavailable = up(rolling.and_then(|rolling| rolling.max_unavailable()));
        // Neither allowed would mean no update at all, so one pod may be missing.
        (surge, if wanted > 0 && surge == 0 && unavailable == 0 { 1 } else { unavailable })
    }
}

pub(super) fn is_rolling(set: DaemonSetView<'_>) -> bool {
    matches!(set.spec().update_strategy().type_(), "" | "RollingUpdate")
}

/// The pod that counts where a node has several: on its node, then oldest.
pub(super) fn by_age(pods: &[SharedObject<Pod>]) -> Vec<&SharedObject<Pod>> {
    let mut sorted: Vec<&SharedObject<Pod>> = pods.iter().collect();
    let age = |pod: &SharedObject<Pod>| (pod.view().spec().node_name().is_empty(), pod.meta().creation_timestamp());
    sorted.sort_by(|a, b| age(a).cmp(&age(b)).then_with(|| a.name().cmp(b.name())));
    sorted
}

/// Brings every node to the number of pods it should have.
pub(super) fn plan_nodes(observed: &Observed<'_>) -> Changes {
    let mut changes = Changes::default();
    let allows_surge = observed.bounds(1).0 > 0;
    for node in observed.nodes {
        let fit = observed.fit(node.view());
        match observed.pods.get(node.name()) {
            None if fit.run => changes.create.push(node.name().to_owned()),
            Some(pods) if fit.keep => {
                let alive = pods.iter().filter(|pod| !pod.is_deleting());
                let (ended, running): (Vec<_>, Vec<_>) = alive.cloned().partition(|pod| is_terminal(pod.view()));
                changes.ended.extend(ended);
                if allows_surge {
                    plan_surged_node(observed, node.name(), fit, &running, &mut changes);
                } else {
                    changes.delete.extend(by_age(&running).into_iter().skip(1).cloned());
                }
            }
            Some(pods) => changes.delete.extend(pods.iter().filter(|pod| !pod.is_deleting()).cloned()),
            None => {}
        }
    }
    // What waits for a node that is gone is never scheduled, and no one else deletes it.
    let known: HashSet<&str> = observed.nodes.iter().map(SharedObject::name).collect();
    for (_, pods) in observed.pods.iter().filter(|(node, _)| !known.contains(node.as_str())) {
        changes.delete.extend(pods.iter().filter(|pod| pod.view().spec().node_name().is_empty()).cloned());
    }
    changes
}

/// While an update surges, a node has its old pod until the new one is available.
fn plan_surged_node(
    observed: &Observed<'_>,
    node: &str,
    fit: Fit,
    running: &[SharedObject<Pod>],
    changes: &mut Changes,
) {
    if running.len() <= 1 {
        if running.is_empty() && fit.run {
            changes.create.push(node.to_owned());
        }
        return;
    }
    let is_new = |pod: &SharedObject<Pod>| pod.meta().labels().get(HASH_LABEL) == Some(observed.hash);
    let (mut newest, mut oldest) = (None, None);
    for pod in by_age(running) {
        let place = if is_new(pod) { &mut newest } else { &mut oldest };
        match place {
            None => *place = Some(pod),
            Some(_) => changes.delete.push(pod.clone()),
        }
    }
    if let (Some(new), Some(old)) = (newest, oldest)
        && (!is_ready(old.view()) || observed.is_available(new.view()))
    {
        changes.delete.push(old.clone());
    }
}

/// The next step of a rolling update; [`plan_nodes`] makes the pods that it deletes anew.
pub(super) fn plan_rolling(observed: &Observed<'_>) -> Changes {
    let fitting = observed.nodes.iter().filter(|node| observed.fit(node.view()).run);
    let wanted: HashSet<&str> = fitting.map(SharedObject::name).collect();
    let (surge, unavailable) = observed.bounds(wanted.len() + observed.outside.wanted);
    let mut on_nodes: BTreeMap<&str, &[SharedObject<Pod>]> =
        observed.pods.iter().map(|(node, pods)| (node.as_str(), pods.as_slice())).collect();
    for node in &wanted {
        on_nodes.entry(node).or_default();
    }
    if surge == 0 {
        plan_without_surge(observed, &on_nodes, unavailable)
    } else {
        plan_with_surge(observed, &on_nodes, &wanted, surge)
    }
}

/// Takes as many old pods as may be missing, first those that serve nobody anyway.
fn plan_without_surge(
    observed: &Observed<'_>,
    on_nodes: &BTreeMap<&str, &[SharedObject<Pod>]>,
    max_unavailable: usize,
) -> Changes {
    let mut unavailable = observed.outside.unavailable;
    let mut delete = Vec::new();
    let mut candidates = Vec::new();
    for pods in on_nodes.values() {
        match split(observed, pods) {
            Some((Some(new), None)) => unavailable += usize::from(!observed.is_available(new.view())),
            Some((None, Some(old))) if !observed.is_available(old.view()) => {
                delete.push(old.clone());
                unavailable += 1;
            }
            Some((None, Some(old))) => {
                if unavailable < max_unavailable {
                    candidates.push(old.clone());
                }
            }
            // Too many, none, or both: the next round brings the node in order.
            _ => unavailable += 1,
        }
    }
    delete.extend(candidates.into_iter().take(max_unavailable.saturating_sub(unavailable)));
    Changes { delete, ..Default::default() }
}

/// Makes new pods beside old ones, and takes old ones once the new are available.
fn plan_with_surge(
    observed: &Observed<'_>,
    on_nodes: &BTreeMap<&str, &[SharedObject<Pod>]>,
    wanted: &HashSet<&str>,
    max_surge: usize,
) -> Changes {
    let (mut surging, mut available) = (observed.outside.surging, observed.outside.available);
    let (mut create, mut candidates) = (Vec::new(), Vec::new());
    let (mut delete, mut leaving) = (Vec::new(), Vec::new());
    for (node, pods) in on_nodes {
        let Some((new, old)) = split(observed, pods) else {
            surging += 1;
            continue;
        };
        available += usize::from(old.or(new).is_some_and(|pod| observed.is_available(pod.view())));
        let belongs = wanted.contains(node);
        match (new, old) {
            (_, None) => {}
            (None, Some(old)) if !belongs => {
                let list = if observed.is_available(old.view()) { &mut leaving } else { &mut delete };
                list.push(old.clone());
            }
            (None, Some(old)) if !observed.is_available(old.view()) => create.push((*node).to_owned()),
            (None, Some(_)) => {
                if surging < max_surge {
                    candidates.push((*node).to_owned());
                }
            }
            (Some(new), Some(old)) => {
                if observed.is_available(new.view()) {
                    delete.push(old.clone());
                } else {
                    surging += 1;
                }
            }
        }
    }
    // On a node that is no longer one of the set's, a pod stays until others serve in its place.
    delete.extend(leaving.into_iter().take(available.saturating_sub(wanted.len() + observed.outside.wanted)));
    create.extend(candidates.into_iter().take(max_surge.saturating_sub(surging)));
    Changes { create, delete, ..Default::default() }
}

type MaybePod<'a> = Option<&'a SharedObject<Pod>>;

/// The new and the old pod of a node, or None where there are two of one sort.
pub(super) fn split<'a>(
    observed: &Observed<'_>,
    pods: &'a [SharedObject<Pod>],
) -> Option<(MaybePod<'a>, MaybePod<'a>)> {
    let (mut new, mut old) = (None, None);
    for pod in pods.iter().filter(|pod| !pod.is_deleting()) {
        let place = if is_updated(pod.view(), observed.set, observed.hash) { &mut new } else { &mut old };
        if place.replace(pod).is_some() {
            return None;
        }
    }
    Some((new, old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::apps::v1::DaemonSet;
    use serde_json::{Value, json};

    fn set(strategy: Value) -> DaemonSet {
        DaemonSet::from(json!({"metadata": {"name": "agent"}, "spec": {"selector": {},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": strategy},
            "template": {"spec": {"containers": [], "nodeSelector": {"on": "yes"}}}}}))
    }

    fn nodes(names: &[(&str, &str)]) -> Vec<SharedObject<Node>> {
        let node =
            |(name, on): &(&str, &str)| SharedObject::of(json!({"metadata": {"name": name, "labels": {"on": on}}}));
        names.iter().map(node).collect()
    }

    /// `name node hash phase ready`
    fn pod(text: &str) -> (String, SharedObject<Pod>) {
        let words: Vec<&str> = text.split(' ').collect();
        let ready = if words[4] == "ready" { "True" } else { "False" };
        let pod = json!({"metadata": {"name": words[0], "labels": {HASH_LABEL: words[2]}},
            "spec": {"containers": [], "nodeName": words[1]},
            "status": {"phase": words[3], "conditions": [
                {"type": "Ready", "status": ready, "lastTransitionTime": "2024-01-01T00:00:00Z"}]}});
        (words[1].to_owned(), SharedObject::of(pod))
    }

    fn pods(texts: &[&str]) -> PodsByNode {
        let mut by_node = PodsByNode::new();
        for (node, pod) in texts.iter().map(|text| pod(text)) {
            by_node.entry(node).or_default().push(pod);
        }
        by_node
    }

    fn names(pods: &[SharedObject<Pod>]) -> Vec<&str> {
        pods.iter().map(SharedObject::name).collect()
    }

    fn check(
        plan: fn(&Observed<'_>) -> Changes,
        strategy: Value,
        on: &[(&str, &str)],
        having: &[&str],
        expected: (&[&str], &[&str], &[&str]),
    ) {
        let (set, nodes, pods) = (set(strategy), nodes(on), pods(having));
        let now = "2024-01-02T00:00:00Z".parse().expect("a time");
        let (set, criteria) = (set.view(), Criteria::of(set.view().spec().template()));
        let changes = plan(&Observed {
            set,
            criteria: &criteria,
            nodes: &nodes,
            pods: &pods,
            hash: "new",
            now,
            outside: Outside::default(),
        });
        let create: Vec<&str> = changes.create.iter().map(String::as_str).collect();
        assert_eq!((&create[..], &names(&changes.delete)[..], &names(&changes.ended)[..]), expected);
    }

    #[test]
    fn every_node_that_fits_has_one_pod() {
        let plain = || json!({"maxUnavailable": 1});
        let on = &[("n1", "yes"), ("n2", "no"), ("n3", "yes")];
        check(plan_nodes, plain(), on, &[], (&["n1", "n3"], &[], &[]));
        let running = &["a n1 new Running ready", "b n2 new Running ready", "c n3 new Failed not"];
        check(plan_nodes, plain(), on, running, (&[], &["b"], &["c"]));
        let two = &["a n1 new Running ready", "b n1 new Running ready", "c n3 new Running ready"];
        check(plan_nodes, plain(), on, two, (&[], &["b"], &[]));
    }

    #[test]
    fn an_update_takes_as_many_as_may_be_missing() {
        let on = &[("n1", "yes"), ("n2", "yes"), ("n3", "yes")];
        let old = &["a n1 old Running ready", "b n2 old Running ready", "c n3 old Running ready"];
        check(plan_rolling, json!({"maxUnavailable": 1}), on, old, (&[], &["a"], &[]));
        check(plan_rolling, json!({"maxUnavailable": "50%"}), on, old, (&[], &["a", "b"], &[]));
        let waiting = &["a n1 new Running not", "b n2 old Running ready", "c n3 old Running ready"];
        check(plan_rolling, json!({"maxUnavailable": 1}), on, waiting, (&[], &[], &[]));
        let broken = &["a n1 new Running not", "b n2 old Running not", "c n3 old Running ready"];
        check(plan_rolling, json!({"maxUnavailable": 1}), on, broken, (&[], &["b"], &[]));
    }

    #[test]
    fn a_surging_update_makes_the_new_pod_first() {
        let surge = || json!({"maxSurge": 1, "maxUnavailable": 0});
        let on = &[("n1", "yes"), ("n2", "yes")];
        let old = &["a n1 old Running ready", "b n2 old Running ready"];
        check(plan_rolling, surge(), on, old, (&["n1"], &[], &[]));
        let beside = &["a n1 old Running ready", "x n1 new Running not", "b n2 old Running ready"];
        check(plan_rolling, surge(), on, beside, (&[], &[], &[]));
        check(plan_nodes, surge(), on, beside, (&[], &[], &[]));
        let done = &["a n1 old Running ready", "x n1 new Running ready", "b n2 old Running ready"];
        check(plan_rolling, surge(), on, done, (&["n2"], &["a"], &[]));
        check(plan_nodes, surge(), on, done, (&[], &["a"], &[]));
    }
}
