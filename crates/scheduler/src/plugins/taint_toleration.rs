//! TaintToleration: taints keep away pods that do not tolerate them; of the nodes left,
//! those with the fewest taints that ask pods to stay away are preferred.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Hint, Plugin, Points, PreFilter, PreFilterResult, Rejection,
    Resource, Score, Watch, normalize_reversed, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use ferry_api::rules::toleration::{DISCOURAGES, KEEPS_OUT, find_untolerated, is_tolerated};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

pub struct TaintToleration;

const NAME: &str = "TaintToleration";

/// The effect of a node's taints on a pod.
#[derive(Clone, Copy)]
struct Verdict {
    is_kept_out: bool,
    /// The number of taints that discourage the pod.
    discouraging: i64,
}

/// The verdicts of one cycle, by [`NodeInfo::taints`].
#[derive(Default)]
struct Verdicts(Mutex<HashMap<Arc<str>, Verdict>>);

/// The verdict of this cycle, from the first node with such taints on. A trial of a
/// preemption changes no taints.
fn judge(state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Verdict {
    let Some(Verdicts(verdicts)) = state.read() else { return compute_verdict(pod, node) };
    let mut verdicts = verdicts.lock();
    if let Some(verdict) = verdicts.get(&node.taints) {
        return *verdict;
    }
    let verdict = compute_verdict(pod, node);
    verdicts.insert(node.taints.clone(), verdict);
    verdict
}

fn compute_verdict(pod: &PodInfo, node: &NodeInfo) -> Verdict {
    let (taints, tolerations) = (node.view().spec().taints(), pod.spec().tolerations());
    let discouraging = taints.iter().filter(|taint| DISCOURAGES.contains(&taint.effect()));
    let untolerated = discouraging.filter(|taint| !is_tolerated(tolerations, *taint)).count();
    Verdict {
        is_kept_out: find_untolerated(taints, tolerations, KEEPS_OUT).is_some(),
        discouraging: i64::try_from(untolerated).unwrap_or(i64::MAX),
    }
}

fn is_kept_out(pod: &PodInfo, node: &NodeInfo) -> bool {
    node.keeps_out && compute_verdict(pod, node).is_kept_out
}

impl Plugin for TaintToleration {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter, score)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::NODE, &[Action::Add, Action::Update]), Watch::new(Resource::POD, &[Action::Update])] }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event.node() {
            Some(Change::Added(node)) => !is_kept_out(pod, node),
            Some(Change::Updated { old, new }) => is_kept_out(pod, old) && !is_kept_out(pod, new),
            _ => event.update_of(pod).is_some_and(|(old, new)| old.spec().tolerations() != new.spec().tolerations()),
        })
    }
}

impl PreFilter for TaintToleration {
    fn pre_filter(&self, state: &mut CycleState, _pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        state.write(Verdicts::default());
        PreFilterResult::AllNodes
    }
}

impl Filter for TaintToleration {
    fn filter(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        if node.keeps_out && judge(state, pod, node).is_kept_out {
            return Err(Rejection::unresolvable(NAME, "node(s) had untolerated taint(s)"));
        }
        Ok(())
    }
}

impl Score for TaintToleration {
    fn score(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> i64 {
        if node.discourages { judge(state, pod, node).discouraging } else { 0 }
    }

    fn normalize(&self, scores: &mut [i64]) {
        normalize_reversed(scores);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons, scores};
    use serde_json::{Value, json};

    fn tainted(name: &str, taints: Value) -> NodeInfo {
        holding(node(name, json!({"spec": {"taints": taints}})), &[])
    }

    fn check(tolerations: Value, taints: Value, fits: bool) {
        let pod = pod(json!({"tolerations": tolerations}));
        let found = reasons(TaintToleration, &pod, &tainted("a", taints.clone()));
        let expected: &[&str] = if fits { &[] } else { &["node(s) had untolerated taint(s)"] };
        assert_eq!(found, expected, "{tolerations} on {taints}");
    }

    #[test]
    fn taints_keep_away_who_does_not_tolerate_them() {
        let taint = json!([{"key": "k", "value": "v", "effect": "NoSchedule"}]);
        check(json!([]), json!([]), true);
        check(json!([]), taint.clone(), false);
        check(json!([{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]), taint.clone(), true);
        check(json!([{"key": "k", "value": "v"}]), taint.clone(), true);
        check(json!([{"key": "k", "value": "w"}]), taint.clone(), false);
        check(json!([{"key": "k", "operator": "Exists", "effect": "NoExecute"}]), taint.clone(), false);
        check(json!([{"operator": "Exists"}]), taint, true);
        check(json!([]), json!([{"key": "k", "effect": "NoExecute"}]), false);
        check(json!([]), json!([{"key": "k", "effect": "PreferNoSchedule"}]), true);
    }

    #[test]
    fn nodes_that_discourage_less_score_more() {
        let soft = |name: &str| json!({"key": name, "effect": "PreferNoSchedule"});
        let nodes = vec![
            tainted("a", json!([])),
            tainted("b", json!([soft("x")])),
            tainted("c", json!([soft("x"), soft("y")])),
        ];
        assert_eq!(scores(TaintToleration, &pod(json!({})), nodes), [100, 50, 0]);
    }

    #[test]
    fn a_taint_that_goes_wakes_the_pod() {
        let (with, without) = (tainted("a", json!([{"key": "k", "effect": "NoSchedule"}])), tainted("a", json!([])));
        let hint = |old, new| TaintToleration.hint(&pod(json!({})), &ClusterEvent::node_updated(old, new));
        assert_eq!((hint(&with, &without), hint(&without, &without)), (Hint::Queue, Hint::Skip));
    }

    #[test]
    fn a_cycle_judges_equal_taints_once_and_others_apart() {
        let (plugin, pod) =
            (Arc::new(TaintToleration), pod(json!({"tolerations": [{"key": "a", "operator": "Exists"}]})));
        let mut state = CycleState::default();
        plugin.pre_filter(&mut state, &pod, &Snapshot::default());
        let taint = |key: &str, added: &str| json!([{"key": key, "effect": "NoExecute", "timeAdded": added}]);
        let fits = |key: &str, added: &str| plugin.filter(&state, &pod, &tainted("n", taint(key, added))).is_ok();
        assert_eq!((fits("a", "2026-01-01T00:00:00Z"), fits("b", "2026-01-01T00:00:00Z")), (true, false));
        assert_eq!((fits("a", "2026-01-02T00:00:00Z"), fits("b", "2026-01-02T00:00:00Z")), (true, false));
        let Some(Verdicts(verdicts)) = state.read() else { panic!("verdicts") };
        assert_eq!(verdicts.lock().len(), 2);
    }
}
