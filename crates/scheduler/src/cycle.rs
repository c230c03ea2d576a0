//! One scheduling decision: the node of a snapshot that a pod goes to. Pure, but for extenders;
//! the loop in `scheduler.rs` takes the snapshot before and acts on the answer after.

use crate::explain::Scored;
use crate::extender::Extenders;
use crate::fit_error::{Diagnosis, FitError};
use crate::framework::{Candidate, Code, CycleState, Failure, Framework, Nominated, PostFilterResult, Rejection};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use rand::Rng;
use rand::seq::IteratorRandom;
use std::sync::Arc;

/// On smaller clusters every node is looked at.
const MIN_FEASIBLE_NODES: usize = 100;
const MIN_FEASIBLE_PERCENT: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum NoFit {
    #[error("no nodes available to schedule pods")]
    NoNodes,
    #[error("{0}")]
    Unfit(Box<FitError>),
    /// A plugin could not decide.
    #[error("{0}")]
    Error(String),
}

pub struct Decision {
    pub node: Arc<str>,
    pub state: CycleState,
    /// The nodes that fit with their scores, and the rejections of the others.
    pub scored: Scored,
    pub diagnosis: Diagnosis,
}

pub struct Refusal {
    pub why: NoFit,
    pub post_filter: Option<PostFilterResult>,
}

/// The nodes that fit, before they are scored.
pub struct Search<'s> {
    pub feasible: Vec<&'s NodeInfo>,
    pub state: CycleState,
    pub diagnosis: Diagnosis,
    /// Only the node that the pod was nominated for was looked at.
    pub is_nominated: bool,
}

/// `start` is where in the list of nodes the search begins; it moves on, so that on large
/// clusters every node has its turn.
pub fn decide(
    framework: &Framework,
    snapshot: &Snapshot,
    pod: &PodInfo,
    nominated: &Nominated,
    start: &mut usize,
    rng: &mut impl Rng,
) -> Result<Decision, Refusal> {
    let mut search = search(framework, snapshot, pod, nominated, start, true)?;
    if search.feasible.is_empty() {
        return Err(refuse(framework, snapshot, pod, nominated, search));
    }
    let (scores, scored) = score(framework, snapshot, pod, &mut search);
    Ok(conclude(search, &scores, scored, rng))
}

/// The same with extenders, which are asked after the plugins.
pub async fn decide_with(
    extenders: &Extenders,
    framework: &Framework,
    snapshot: &Snapshot,
    pod: &PodInfo,
    nominated: &Nominated,
    start: &mut usize,
) -> Result<Decision, Refusal> {
    let error = |error: String| Refusal { why: NoFit::Error(error), post_filter: None };
    let mut found = search(framework, snapshot, pod, nominated, start, true)?;
    extenders.filter(pod, &mut found).await.map_err(error)?;
    if found.feasible.is_empty() && found.is_nominated {
        found = search(framework, snapshot, pod, nominated, start, false)?;
        extenders.filter(pod, &mut found).await.map_err(error)?;
    }
    if found.feasible.is_empty() {
        let mut refusal = refuse(framework, snapshot, pod, nominated, found);
        if let Some(result) = &mut refusal.post_filter
            && !result.candidates.is_empty()
            && extenders.process_preemptions(pod)
        {
            let candidates = std::mem::take(&mut result.candidates);
            match extenders.preempt(pod, candidates, snapshot).await {
                Ok(left) => result.preemption = Candidate::select(left),
                Err(reason) => {
                    tracing::warn!(pod = pod.name(), %reason, "an extender cannot process a preemption");
                    result.preemption = None;
                }
            }
        }
        return Err(refusal);
    }
    let (mut scores, scored) = score(framework, snapshot, pod, &mut found);
    if found.feasible.len() > 1 {
        extenders.prioritize(pod, &found.feasible, &mut scores).await;
    }
    Ok(conclude(found, &scores, scored, &mut rand::rng()))
}

fn search<'s>(
    framework: &Framework,
    snapshot: &'s Snapshot,
    pod: &PodInfo,
    nominated: &Nominated,
    start: &mut usize,
    tries_nominated: bool,
) -> Result<Search<'s>, Refusal> {
    if snapshot.is_empty() {
        return Err(Refusal { why: NoFit::NoNodes, post_filter: None });
    }
    let mut search = Search {
        feasible: Vec::new(),
        state: CycleState::default(),
        diagnosis: Diagnosis::default(),
        is_nominated: false,
    };
    let feasible = find_feasible(framework, snapshot, pod, nominated, start, tries_nominated, &mut search);
    search.feasible = feasible.map_err(|error| Refusal { why: NoFit::Error(error), post_filter: None })?;
    Ok(search)
}

/// The scores of the nodes that fit; one alone needs none.
fn score(framework: &Framework, snapshot: &Snapshot, pod: &PodInfo, search: &mut Search<'_>) -> (Vec<i64>, Scored) {
    let nodes = &search.feasible;
    let mut scored = Scored { slots: nodes.iter().map(|node| node.slot).collect(), plugins: Vec::new() };
    if nodes.len() == 1 {
        return (vec![0], scored);
    }
    let scores = framework.score_each(&mut search.state, pod, nodes, snapshot, |own| scored.plugins.push(own));
    (scores, scored)
}

fn conclude(search: Search<'_>, scores: &[i64], scored: Scored, rng: &mut impl Rng) -> Decision {
    let node = select(&search.feasible, scores, rng);
    Decision { node, state: search.state, scored, diagnosis: search.diagnosis }
}

fn find_feasible<'s>(
    framework: &Framework,
    snapshot: &'s Snapshot,
    pod: &PodInfo,
    nominated: &Nominated,
    start: &mut usize,
    tries_nominated: bool,
    search: &mut Search<'s>,
) -> Result<Vec<&'s NodeInfo>, String> {
    let Search { state, diagnosis, is_nominated, .. } = search;
    let (names, narrowed_by) = match framework.pre_filter(state, pod, snapshot) {
        Ok(result) => result,
        Err(rejection) if rejection.code == Code::Error => return Err(rejection.reasons.join(", ")),
        Err(rejection) => {
            diagnosis.pre_filter_message = rejection.reasons.join(", ");
            diagnosis.plugins.insert(rejection.plugin);
            diagnosis.others = Some(rejection);
            return Ok(Vec::new());
        }
    };
    // The node that was made free for the pod is tried before all others.
    if tries_nominated
        && let Some(node) = snapshot.get(pod.nominated_node_name())
        && framework.filter_with_nominated(state, pod, node, nominated).is_ok()
    {
        *is_nominated = true;
        return Ok(vec![node]);
    }
    let all = snapshot.len();
    let wanted = compute_feasible_to_find(all, framework.feasible_percent());
    let mut feasible = Vec::new();
    let mut looked_at = 0;
    let mut error = None;
    // Returns whether the search goes on.
    let mut look_at = |node: &'s NodeInfo| {
        looked_at += 1;
        match framework.filter_with_nominated(state, pod, node, nominated) {
            Ok(()) => feasible.push(node),
            Err(rejection) if rejection.code == Code::Error => error = Some(rejection.reasons.join(", ")),
            Err(rejection) => diagnosis.reject(node.slot, rejection),
        }
        feasible.len() < wanted && error.is_none()
    };
    match &names {
        Some(names) => {
            names.iter().filter_map(|name| snapshot.get(name)).all(|node| look_at(node));
            let plugins: Vec<&str> = narrowed_by.iter().copied().collect();
            diagnosis.others =
                Some(Rejection::unresolvable("", format!("node(s) didn't satisfy plugin(s) [{}]", plugins.join(" "))));
        }
        None => {
            let (before, after) = snapshot.nodes.split_at(*start % all);
            after.iter().chain(before).all(|node| look_at(node));
        }
    }
    *start = (*start + looked_at) % all;
    if let Some(error) = error {
        return Err(error);
    }
    diagnosis.plugins.extend(narrowed_by);
    Ok(feasible)
}

/// The number of nodes that fit that is enough: all on small clusters, down to 5 % on large
/// ones. Upstream: `numFeasibleNodesToFind` of pkg/scheduler/schedule_one.go.
fn compute_feasible_to_find(all: usize, percent: usize) -> usize {
    if all < MIN_FEASIBLE_NODES || percent >= 100 {
        return all;
    }
    let by_size = 50usize.saturating_sub(all / 125).max(MIN_FEASIBLE_PERCENT);
    let percent = if percent == 0 { by_size } else { percent };
    (all * percent / 100).max(MIN_FEASIBLE_NODES)
}

fn refuse(
    framework: &Framework,
    snapshot: &Snapshot,
    pod: &PodInfo,
    nominated: &Nominated,
    search: Search<'_>,
) -> Refusal {
    let Search { state, mut diagnosis, .. } = search;
    let failure = Failure { framework, state: &state, pod, snapshot, diagnosis: &diagnosis, nominated };
    let post_filter = framework.post_filter(&failure);
    if let Some(result) = &post_filter {
        diagnosis.post_filter_message.clone_from(&result.message);
    }
    let error = FitError { all_nodes: snapshot.len(), diagnosis };
    Refusal { why: NoFit::Unfit(Box::new(error)), post_filter }
}

/// The node with the best score; of several any, so that none is favoured by its name.
fn select(nodes: &[&NodeInfo], scores: &[i64], rng: &mut impl Rng) -> Arc<str> {
    let best = scores.iter().max().copied().unwrap_or(0);
    let candidates = nodes.iter().zip(scores).filter(|(_, score)| **score == best).map(|(node, _)| node);
    candidates.choose(rng).map(|node| node.shared_name().clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Handle;
    use crate::plugins::all::all;
    use crate::plugins::testing::{asking, changed, holding, node, pod};
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use serde_json::json;
    use std::collections::BTreeSet;

    fn decide_on(nodes: Vec<NodeInfo>, pod: &PodInfo, seed: u64) -> Result<String, String> {
        let (framework, snapshot) = (Framework::new(all(&Handle::default())), Snapshot::of(nodes));
        let mut rng = StdRng::seed_from_u64(seed);
        decide(&framework, &snapshot, pod, &Nominated::default(), &mut 0, &mut rng)
            .map(|decision| decision.node.to_string())
            .map_err(|refusal| refusal.why.to_string())
    }

    fn check(nodes: Vec<NodeInfo>, pod: &PodInfo, expected: Result<&str, &str>) {
        let found = decide_on(nodes, pod, 1);
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn the_reasons_of_all_nodes_are_told() {
        let tainted =
            |name: &str| holding(node(name, json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})), &[]);
        let full = holding(node("c", json!({})), &[asking(json!({"cpu": "4"}))]);
        check(
            vec![tainted("a"), tainted("b"), full],
            &asking(json!({"cpu": "1"})),
            Err(
                "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
            ),
        );
        check(Vec::new(), &pod(json!({})), Err("no nodes available to schedule pods"));
    }

    #[test]
    fn a_pod_tied_to_a_missing_node_is_told_so() {
        let named = json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]},
        ]}}}});
        check(
            vec![holding(node("a", json!({})), &[])],
            &pod(named),
            Err(
                "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
            ),
        );
    }

    #[test]
    fn the_emptier_node_wins_and_ties_are_random() {
        let busy = holding(node("a", json!({})), &[asking(json!({"cpu": "3", "memory": "6Gi"}))]);
        check(vec![busy, holding(node("b", json!({})), &[])], &asking(json!({"cpu": "1", "memory": "1Gi"})), Ok("b"));
        let picked: BTreeSet<String> = (0..32)
            .filter_map(|seed| {
                let twins = vec![holding(node("a", json!({})), &[]), holding(node("b", json!({})), &[])];
                decide_on(twins, &pod(json!({})), seed).ok()
            })
            .collect();
        assert_eq!(picked.len(), 2);
    }

    #[test]
    fn the_nominated_node_is_tried_first_and_kept_for_who_it_was_promised() {
        let wanting = changed(&asking(json!({"cpu": "3"})), json!({"status": {"nominatedNodeName": "b"}}));
        let nodes =
            || vec![holding(node("a", json!({})), &[]), holding(node("b", json!({})), &[asking(json!({"cpu": "1"}))])];
        check(nodes(), &wanting, Ok("b"));

        let promised =
            changed(&asking(json!({"cpu": "3"})), json!({"metadata": {"uid": "promised"}, "spec": {"priority": 10}}));
        let mut nominated = Nominated::default();
        nominated.set(&Arc::new(promised), "b");
        let (framework, snapshot) = (Framework::new(all(&Handle::default())), Snapshot::of(nodes()));
        let mut rng = StdRng::seed_from_u64(1);
        let decision = decide(&framework, &snapshot, &asking(json!({"cpu": "2"})), &nominated, &mut 0, &mut rng);
        assert_eq!(
            decision.map(|decision| decision.node.to_string()).map_err(|r| r.why.to_string()),
            Ok("a".to_owned())
        );
    }

    #[test]
    fn large_clusters_are_not_searched_to_the_end() {
        assert_eq!(compute_feasible_to_find(50, 0), 50);
        assert_eq!(compute_feasible_to_find(1000, 0), 420);
        assert_eq!(compute_feasible_to_find(6000, 0), 300);
        assert_eq!(compute_feasible_to_find(120, 0), 100);
        assert_eq!(compute_feasible_to_find(1000, 20), 200);
        assert_eq!(compute_feasible_to_find(1000, 100), 1000);
    }
}
