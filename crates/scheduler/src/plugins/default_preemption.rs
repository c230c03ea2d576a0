//! DefaultPreemption: when no node fits, finds the node where removing the least
//! important pods makes room for a more important one.
//!
//! Disruption budgets are not looked at: ferry has no controller that keeps them yet.

use crate::fit_error::{Diagnosis, FitError};
use crate::framework::{
    Action, Code, Failure, Plugin, Points, PostFilter, PostFilterResult, Preemption, Rejection, Resource, Watch,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use std::cmp::Reverse;
use std::sync::Arc;

pub struct DefaultPreemption;

const NAME: &str = "DefaultPreemption";
/// How many candidates are worked out at least, and which share of the nodes.
const MIN_CANDIDATES: usize = 100;
const MIN_CANDIDATES_PERCENT: usize = 10;

impl Plugin for DefaultPreemption {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        Points { post_filter: Some(self), ..Points::default() }
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::POD, &[Action::Delete])] }
    }
}

impl PostFilter for DefaultPreemption {
    fn post_filter(&self, failure: &Failure<'_>) -> PostFilterResult {
        let refuse = |message: String, clears_nomination| PostFilterResult {
            message: format!("preemption: {message}"),
            preemption: None,
            clears_nomination,
        };
        if let Some(message) = why_not_eligible(failure) {
            return refuse(message.to_owned(), false);
        }
        let mut diagnosis = Diagnosis {
            others: Some(Rejection::unresolvable(NAME, "Preemption is not helpful for scheduling")),
            ..Default::default()
        };
        let wanted = (failure.snapshot.len() * MIN_CANDIDATES_PERCENT / 100).max(MIN_CANDIDATES);
        let mut candidates = Vec::new();
        let (rejections, others) = (failure.diagnosis.by_node(), failure.diagnosis.others.as_ref());
        for node in &failure.snapshot.nodes {
            let rejection = rejections.get(node.name()).copied().or(others);
            let is_possible = rejection.is_some_and(|rejection| rejection.code == Code::Unschedulable);
            if !is_possible {
                continue;
            }
            match select_victims(failure, node) {
                Ok(victims) => candidates.push(Preemption { node: node.name().to_owned(), victims }),
                Err(rejection) => diagnosis.reject(node.shared_name().clone(), rejection),
            }
            if candidates.len() >= wanted {
                break;
            }
        }
        match candidates.into_iter().min_by_key(cost) {
            Some(preemption) => {
                PostFilterResult { message: String::new(), preemption: Some(preemption), clears_nomination: false }
            }
            None => {
                let error = FitError { all_nodes: failure.snapshot.len(), diagnosis };
                refuse(error.to_string(), true)
            }
        }
    }
}

/// A pod that has made room already waits for it rather than making more.
fn why_not_eligible(failure: &Failure<'_>) -> Option<&'static str> {
    let pod = failure.pod;
    if pod.spec().preemption_policy() == Some("Never") {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let nominated = pod.nominated_node_name();
    let node = failure.snapshot.get(nominated)?;
    if failure.diagnosis.of_node(nominated).is_some_and(|rejection| rejection.code == Code::Unresolvable) {
        return None;
    }
    let is_waiting = node.pods.iter().any(|other| other.is_deleting && other.priority < pod.priority);
    is_waiting.then_some("not eligible due to a terminating pod on the nominated node.")
}

/// The fewest and least important pods whose removal makes the node fit.
fn select_victims(failure: &Failure<'_>, node: &NodeInfo) -> Result<Vec<Arc<PodInfo>>, Rejection> {
    let Failure { framework, pod, nominated, .. } = failure;
    let mut potential: Vec<Arc<PodInfo>> =
        node.pods.iter().filter(|other| other.priority < pod.priority).cloned().collect();
    if potential.is_empty() {
        return Err(Rejection::unresolvable(NAME, "No preemption victims found for incoming pod"));
    }
    let (mut trial, mut state) = (node.clone(), failure.state.clone());
    for other in &potential {
        framework.remove_pod(&mut state, pod, other, &mut trial);
    }
    framework.filter_with_nominated(&state, pod, &trial, nominated)?;
    // The most important first: they are the ones to be spared.
    potential.sort_by_key(|other| (Reverse(other.priority), other.started));
    let mut victims = Vec::new();
    for other in potential {
        framework.add_pod(&mut state, pod, other.clone(), &mut trial);
        if framework.filter_with_nominated(&state, pod, &trial, nominated).is_err() {
            framework.remove_pod(&mut state, pod, &other, &mut trial);
            victims.push(other);
        }
    }
    Ok(victims)
}

/// The smaller, the better: the least important of most important victims, the least
/// importance in sum, the fewest, and of those the ones that ran the shortest.
fn cost(candidate: &Preemption) -> (i32, i64, usize, Reverse<i128>) {
    let highest = candidate.victims.iter().map(|pod| pod.priority).max().unwrap_or(i32::MIN);
    // Priorities may be negative; moved up so that fewer victims always sum to less.
    let sum = candidate.victims.iter().map(|pod| i64::from(pod.priority) + i64::from(i32::MAX) + 1).sum();
    let earliest =
        candidate.victims.iter().filter(|pod| pod.priority == highest).map(|pod| pod.started).min().unwrap_or(0);
    (highest, sum, candidate.victims.len(), Reverse(earliest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::{CycleState, Framework, Handle, Nominated};
    use crate::plugins::all::all;
    use crate::plugins::testing::{asking, changed, node};
    use crate::snapshot::Snapshot;
    use serde_json::json;

    fn held(uid: &str, priority: i32, cpu: &str) -> Arc<PodInfo> {
        let over = json!({"metadata": {"uid": uid}, "spec": {"priority": priority}});
        Arc::new(changed(&asking(json!({"cpu": cpu})), over))
    }

    fn check(nodes: Vec<(&str, Vec<Arc<PodInfo>>)>, priority: i32, cpu: &str, expected: Result<(&str, &[&str]), &str>) {
        let infos = nodes.into_iter().map(|(name, pods)| {
            let mut info = NodeInfo::of(node(name, json!({})));
            pods.into_iter().for_each(|pod| info.add_pod(pod));
            info
        });
        let snapshot = Snapshot::of(infos.collect());
        let pod = changed(&asking(json!({"cpu": cpu})), json!({"spec": {"priority": priority}}));
        let (framework, mut state, nominated) =
            (Framework::new(all(&Handle::default())), CycleState::default(), Nominated::default());
        framework.pre_filter(&mut state, &pod, &snapshot).expect("no rejection");
        let mut diagnosis = Diagnosis::default();
        for node in &snapshot.nodes {
            if let Err(rejection) = framework.filter(&state, &pod, node) {
                diagnosis.reject(node.name(), rejection);
            }
        }
        let failure = Failure {
            framework: &framework,
            state: &state,
            pod: &pod,
            snapshot: &snapshot,
            diagnosis: &diagnosis,
            nominated: &nominated,
        };
        let result = DefaultPreemption.post_filter(&failure);
        let found =
            result.preemption.map(|p| (p.node, p.victims.iter().map(|v| v.uid.to_string()).collect::<Vec<_>>()));
        match expected {
            Ok((node, victims)) => {
                assert_eq!(found, Some((node.to_owned(), victims.iter().map(ToString::to_string).collect())))
            }
            Err(message) => assert_eq!((found, result.message.as_str()), (None, message)),
        }
    }

    #[test]
    fn the_least_important_go_and_as_few_as_possible() {
        check(
            vec![("a", vec![held("low", 1, "1"), held("mid", 5, "1"), held("big", 5, "2")])],
            10,
            "1",
            Ok(("a", &["low"])),
        );
        check(vec![("a", vec![held("x", 5, "4")]), ("b", vec![held("y", 1, "4")])], 10, "1", Ok(("b", &["y"])));
    }

    #[test]
    fn why_nothing_helps_is_said() {
        check(
            vec![("a", vec![held("x", 10, "4")])],
            10,
            "1",
            Err("preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."),
        );
        check(
            vec![("a", vec![held("x", 1, "4")])],
            10,
            "8",
            Err("preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."),
        );
        check(
            vec![("a", vec![held("x", 1, "1"), held("y", 10, "3")])],
            5,
            "2",
            Err("preemption: 0/1 nodes are available: 1 Insufficient cpu."),
        );
    }
}
