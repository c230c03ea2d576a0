//! Which daemon pods to make and which to delete: one for every node that fits, and a
//! rolling update within its bounds. Pure; the controller carries it out.

use super::node::{Fit, judge, name};
use super::pod::{HASH_LABEL, is_updated};
use crate::deployment::scaled;
use crate::pod::{is_available, is_ready, node_name, phase};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{Node, Pod};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pods of a set by the node they run on or were made for.
pub type PodsByNode = BTreeMap<String, Vec<Arc<Pod>>>;

/// What a plan looks at.
pub struct Observed<'a> {
    pub set: &'a DaemonSet,
    pub nodes: &'a [Arc<Node>],
    pub pods: &'a PodsByNode,
    /// The name of the present template's revision.
    pub hash: &'a str,
    pub now: Timestamp,
}

#[derive(Debug, Default, PartialEq)]
pub struct Changes {
    /// Nodes that need a pod.
    pub create: Vec<String>,
    pub delete: Vec<Arc<Pod>>,
    /// Pods that have ended and go for that reason; whether they failed is in their phase.
    pub ended: Vec<Arc<Pod>>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.create.is_empty() && self.delete.is_empty() && self.ended.is_empty()
    }
}

impl Observed<'_> {
    fn fit(&self, node: &Node) -> Fit {
        self.set.spec.as_ref().map_or(Fit { run: false, keep: false }, |spec| judge(node, &spec.template))
    }

    fn min_ready(&self) -> i32 {
        self.set.spec.as_ref().and_then(|spec| spec.min_ready_seconds).unwrap_or(0)
    }

    fn is_available(&self, pod: &Pod) -> bool {
        is_available(pod, self.min_ready(), self.now)
    }

    /// How many pods of `wanted` a rolling update may have too many and too few.
    fn bounds(&self, wanted: usize) -> (usize, usize) {
        let strategy = self.set.spec.as_ref().and_then(|spec| spec.update_strategy.as_ref());
        let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref()).filter(|_| is_rolling(self.set));
        let total = i32::try_from(wanted).unwrap_or(i32::MAX);
        let up = |value| usize::try_from(scaled(value, total, |product| product.div_ceil(100))).unwrap_or(0);
        let surge = up(rolling.and_then(|rolling| rolling.max_surge.as_ref()));
        let unavailable = up(rolling.and_then(|rolling| rolling.max_unavailable.as_ref()));
        // Neither allowed would mean no update at all, so one pod may be missing.
        (surge, if wanted > 0 && surge == 0 && unavailable == 0 { 1 } else { unavailable })
    }
}

pub fn is_rolling(set: &DaemonSet) -> bool {
    let strategy = set.spec.as_ref().and_then(|spec| spec.update_strategy.as_ref());
    strategy.and_then(|strategy| strategy.type_.as_deref()).unwrap_or("RollingUpdate") == "RollingUpdate"
}

/// The pod that counts where a node has several: on its node, then oldest.
pub fn by_age(pods: &[Arc<Pod>]) -> Vec<&Arc<Pod>> {
    let mut sorted: Vec<&Arc<Pod>> = pods.iter().collect();
    sorted.sort_by_key(|pod| {
        let created = pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
        (node_name(pod).is_empty(), created, pod.metadata.name.clone())
    });
    sorted
}

/// Brings every node to the number of pods it should have.
pub fn plan_nodes(observed: &Observed<'_>) -> Changes {
    let mut changes = Changes::default();
    let allows_surge = observed.bounds(1).0 > 0;
    for node in observed.nodes {
        let fit = observed.fit(node);
        let pods = observed.pods.get(name(node));
        match pods {
            None if fit.run => changes.create.push(name(node).to_owned()),
            Some(pods) if fit.keep => {
                let alive = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
                let (ended, running): (Vec<_>, Vec<_>) =
                    alive.cloned().partition(|pod| matches!(phase(pod), "Failed" | "Succeeded"));
                changes.ended.extend(ended);
                if allows_surge {
                    plan_surged_node(observed, node, fit, &running, &mut changes);
                } else {
                    changes.delete.extend(by_age(&running).into_iter().skip(1).cloned());
                }
            }
            Some(pods) => {
                changes.delete.extend(pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).cloned())
            }
            None => {}
        }
    }
    // What waits for a node that is gone is never scheduled, and no one else deletes it.
    for (node, pods) in observed.pods {
        if !observed.nodes.iter().any(|known| name(known) == node) {
            changes.delete.extend(pods.iter().filter(|pod| node_name(pod).is_empty()).cloned());
        }
    }
    changes
}

/// While an update surges, a node has its old pod until the new one is available.
fn plan_surged_node(observed: &Observed<'_>, node: &Node, fit: Fit, running: &[Arc<Pod>], changes: &mut Changes) {
    if running.len() <= 1 {
        if running.is_empty() && fit.run {
            changes.create.push(name(node).to_owned());
        }
        return;
    }
    let is_new = |pod: &Pod| {
        pod.metadata.labels.as_ref().and_then(|labels| labels.get(HASH_LABEL)).is_some_and(|hash| hash == observed.hash)
    };
    let (mut newest, mut oldest) = (None, None);
    for pod in by_age(running) {
        let place = if is_new(pod) { &mut newest } else { &mut oldest };
        match place {
            None => *place = Some(pod),
            Some(_) => changes.delete.push(pod.clone()),
        }
    }
    if let (Some(new), Some(old)) = (newest, oldest)
        && (!is_ready(old) || observed.is_available(new))
    {
        changes.delete.push(old.clone());
    }
}

/// The next step of a rolling update; [`plan_nodes`] makes the pods that it deletes anew.
pub fn plan_rolling(observed: &Observed<'_>) -> Changes {
    let wanted: Vec<&str> =
        observed.nodes.iter().filter(|node| observed.fit(node).run).map(|node| name(node)).collect();
    let (surge, unavailable) = observed.bounds(wanted.len());
    let mut on_nodes: BTreeMap<&str, &[Arc<Pod>]> =
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
    on_nodes: &BTreeMap<&str, &[Arc<Pod>]>,
    max_unavailable: usize,
) -> Changes {
    let mut unavailable = 0_usize;
    let mut delete = Vec::new();
    let mut candidates = Vec::new();
    for pods in on_nodes.values() {
        match split(observed, pods) {
            Some((Some(new), None)) => unavailable += usize::from(!observed.is_available(new)),
            Some((None, Some(old))) if !observed.is_available(old) => {
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
    on_nodes: &BTreeMap<&str, &[Arc<Pod>]>,
    wanted: &[&str],
    max_surge: usize,
) -> Changes {
    let (mut surging, mut available) = (0_usize, 0_usize);
    let (mut create, mut candidates) = (Vec::new(), Vec::new());
    let (mut delete, mut leaving) = (Vec::new(), Vec::new());
    for (node, pods) in on_nodes {
        let Some((new, old)) = split(observed, pods) else {
            surging += 1;
            continue;
        };
        available += usize::from(old.or(new).is_some_and(|pod| observed.is_available(pod)));
        let belongs = wanted.contains(node);
        match (new, old) {
            (_, None) => {}
            (None, Some(old)) if !belongs => {
                let list = if observed.is_available(old) { &mut leaving } else { &mut delete };
                list.push(old.clone());
            }
            (None, Some(old)) if !observed.is_available(old) => create.push((*node).to_owned()),
            (None, Some(_)) => {
                if surging < max_surge {
                    candidates.push((*node).to_owned());
                }
            }
            (Some(new), Some(old)) => {
                if observed.is_available(new) {
                    delete.push(old.clone());
                } else {
                    surging += 1;
                }
            }
        }
    }
    // On a node that is no longer one of the set's, a pod stays until others serve in its place.
    delete.extend(leaving.into_iter().take(available.saturating_sub(wanted.len())));
    create.extend(candidates.into_iter().take(max_surge.saturating_sub(surging)));
    Changes { create, delete, ..Default::default() }
}

/// The new and the old pod of a node, or None where there are two of one sort.
#[expect(clippy::type_complexity, reason = "a pair of pods needs no name of its own")]
fn split<'a>(observed: &Observed<'_>, pods: &'a [Arc<Pod>]) -> Option<(Option<&'a Arc<Pod>>, Option<&'a Arc<Pod>>)> {
    let (mut new, mut old) = (None, None);
    for pod in pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()) {
        let place = if is_updated(pod, observed.set, observed.hash) { &mut new } else { &mut old };
        if place.replace(pod).is_some() {
            return None;
        }
    }
    Some((new, old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn set(strategy: Value) -> DaemonSet {
        serde_json::from_value(json!({"metadata": {"name": "agent"}, "spec": {"selector": {},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": strategy},
            "template": {"spec": {"containers": [], "nodeSelector": {"on": "yes"}}}}}))
        .expect("a daemon set")
    }

    fn nodes(names: &[(&str, &str)]) -> Vec<Arc<Node>> {
        let node = |(name, on): &(&str, &str)| {
            let node = json!({"metadata": {"name": name, "labels": {"on": on}}});
            Arc::new(serde_json::from_value(node).expect("a node"))
        };
        names.iter().map(node).collect()
    }

    /// `name node hash phase ready`
    fn pod(text: &str) -> (String, Arc<Pod>) {
        let words: Vec<&str> = text.split(' ').collect();
        let ready = if words[4] == "ready" { "True" } else { "False" };
        let pod = json!({"metadata": {"name": words[0], "labels": {HASH_LABEL: words[2]}},
            "spec": {"containers": [], "nodeName": words[1]},
            "status": {"phase": words[3], "conditions": [
                {"type": "Ready", "status": ready, "lastTransitionTime": "2024-01-01T00:00:00Z"}]}});
        (words[1].to_owned(), Arc::new(serde_json::from_value(pod).expect("a pod")))
    }

    fn pods(texts: &[&str]) -> PodsByNode {
        let mut by_node = PodsByNode::new();
        for (node, pod) in texts.iter().map(|text| pod(text)) {
            by_node.entry(node).or_default().push(pod);
        }
        by_node
    }

    fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
        pods.iter().filter_map(|pod| pod.metadata.name.as_deref()).collect()
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
        let changes = plan(&Observed { set: &set, nodes: &nodes, pods: &pods, hash: "new", now });
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
