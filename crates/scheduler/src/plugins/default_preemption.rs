//! DefaultPreemption: when no node fits, finds the node where removing the least
//! important pods makes room for a more important one.
//!
//! Disruption budgets are not looked at: ferry has no controller that keeps them yet.

use crate::fit_error::{Diagnosis, FitError};
use crate::framework::{
    ClusterEvent, Code, Failure, Hint, Plugin, PostFilter, PostFilterResult, Preemption, Rejection,
};
use crate::snapshot::{NodeInfo, PodInfo};
use crate::view::Pod;
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

    fn hint(&self, _pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(matches!(event, ClusterEvent::PodRemoved(_)))
    }

    fn as_post_filter(&self) -> Option<&dyn PostFilter> {
        Some(self)
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
        for node in &failure.snapshot.nodes {
            let is_possible = failure.diagnosis.of_node(node.name()).is_some_and(|r| r.code == Code::Unschedulable);
            if !is_possible {
                continue;
            }
            match select_victims(failure, node) {
                Ok(victims) => candidates.push(Preemption { node: node.name().to_owned(), victims }),
                Err(rejection) => diagnosis.reject(node.name(), rejection),
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
    if pod.spec.preemption_policy.as_deref() == Some("Never") {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let nominated = &pod.status.nominated_node_name;
    let node = failure.snapshot.get(nominated)?;
    if failure.diagnosis.of_node(nominated).is_some_and(|rejection| rejection.code == Code::Unresolvable) {
        return None;
    }
    let is_waiting = node.pods.iter().any(|other| other.is_deleting && other.priority < pod.spec.priority);
    is_waiting.then_some("not eligible due to a terminating pod on the nominated node.")
}

/// The fewest and least important pods whose removal makes the node fit.
fn select_victims(failure: &Failure<'_>, node: &NodeInfo) -> Result<Vec<Arc<PodInfo>>, Rejection> {
    let mut trial = node.clone();
    let mut potential: Vec<Arc<PodInfo>> =
        node.pods.iter().filter(|pod| pod.priority < failure.pod.spec.priority).cloned().collect();
    if potential.is_empty() {
        return Err(Rejection::unresolvable(NAME, "No preemption victims found for incoming pod"));
    }
    for pod in &potential {
        trial.remove_pod(&pod.uid);
    }
    let fits = |trial: &NodeInfo| {
        failure.framework.filter_with_nominated(failure.state, failure.pod, trial, failure.nominated)
    };
    fits(&trial)?;
    // The most important first: they are the ones to be spared.
    potential.sort_by_key(|pod| (Reverse(pod.priority), pod.started));
    let mut victims = Vec::new();
    for pod in potential {
        trial.add_pod(pod.clone());
        if fits(&trial).is_err() {
            trial.remove_pod(&pod.uid);
            victims.push(pod);
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
    use crate::framework::{CycleState, Framework, Nominated};
    use crate::plugins::all::all;
    use crate::plugins::testing::{asking, node};
    use crate::snapshot::Snapshot;
    use serde_json::json;

    fn held(uid: &str, priority: i32, cpu: &str) -> Arc<PodInfo> {
        let mut pod = asking(json!({"cpu": cpu}));
        pod.spec.priority = priority;
        pod.metadata.uid = Some(uid.to_owned());
        Arc::new(PodInfo::of(&pod))
    }

    fn check(nodes: Vec<(&str, Vec<Arc<PodInfo>>)>, priority: i32, cpu: &str, expected: Result<(&str, &[&str]), &str>) {
        let infos = nodes.into_iter().map(|(name, pods)| {
            let mut info = NodeInfo::of(Arc::new(node(name, json!({}))));
            pods.into_iter().for_each(|pod| info.add_pod(pod));
            info
        });
        let snapshot = Snapshot::of(infos.collect());
        let mut pod = asking(json!({"cpu": cpu}));
        pod.spec.priority = priority;
        let (framework, mut state, nominated) = (Framework::new(all()), CycleState::default(), Nominated::default());
        framework.pre_filter(&mut state, &pod).expect("no rejection");
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
        let found = result.preemption.map(|p| (p.node, p.victims.iter().map(|v| v.uid.clone()).collect::<Vec<_>>()));
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
