//! DefaultPreemption: when no node fits, finds the node where removing the least
//! important pods makes room for a more important one. A node where no disruption budget
//! is broken goes before all others.
//!
//! Upstream: pkg/scheduler/framework/plugins/defaultpreemption and
//! pkg/scheduler/framework/preemption.

use crate::fit_error::{Diagnosis, FitError};
use crate::framework::{
    Action, Candidate, Code, Failure, Handle, Plugin, Points, PostFilter, PostFilterResult, Preemption, Rejection,
    Resource, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use ferry_api::rules::label_selector::to_selector;
use ferry_api::rules::pod::condition;
use ferry_api::selector::Selector;
use ferry_api::view::policy::v1::PodDisruptionBudget;
use ferry_client::{Informer, SharedObject};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct DefaultPreemption {
    budgets: Informer<PodDisruptionBudget>,
    candidates: CandidateLimits,
}

const NAME: &str = "DefaultPreemption";

/// How many candidates are worked out at least, and which share of the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CandidateLimits {
    pub absolute: usize,
    pub percent: usize,
}

impl Default for CandidateLimits {
    fn default() -> Self {
        Self { absolute: 100, percent: 10 }
    }
}

impl DefaultPreemption {
    pub fn new(handle: &Handle, candidates: CandidateLimits) -> Self {
        Self { budgets: handle.budgets.clone(), candidates }
    }
}

/// A disruption budget and what is left of it.
struct Budget {
    budget: SharedObject<PodDisruptionBudget>,
    selector: Selector,
    allowed: i32,
}

/// The budgets of the namespaces that these pods are in.
fn read_budgets(pods: &[Arc<PodInfo>], informer: &Informer<PodDisruptionBudget>) -> Vec<Budget> {
    let namespaces: BTreeSet<&str> = pods.iter().map(|pod| pod.namespace()).collect();
    let budgets = namespaces.into_iter().flat_map(|namespace| informer.list(Some(namespace)));
    let parsed = budgets.filter_map(|budget| {
        let selector = to_selector(budget.view().spec().selector()).ok()?;
        let allowed = budget.view().status().disruptions_allowed();
        // A budget without a selector, or with an empty one, protects nothing.
        (!selector.is_nothing() && !selector.is_empty()).then_some(Budget { budget, selector, allowed })
    });
    parsed.collect()
}

/// Whether the pod's going breaks a budget, counting those asked about before.
fn breaks_budget(pod: &PodInfo, budgets: &mut [Budget]) -> bool {
    let mut breaks = false;
    let own = |budget: &&mut Budget| {
        *budget.budget.namespace() == *pod.namespace
            && !pod.labels.is_empty()
            && pod.labels.match_selector(&budget.selector)
            // The API server has taken its going into account already.
            && !budget.budget.view().status().disrupted_pods().contains_key(pod.name())
    };
    for budget in budgets.iter_mut().filter(own) {
        budget.allowed -= 1;
        breaks |= budget.allowed < 0;
    }
    breaks
}

impl Plugin for DefaultPreemption {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: post_filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::POD, &[Action::Delete])] }
    }
}

impl PostFilter for DefaultPreemption {
    fn post_filter(&self, failure: &Failure<'_>) -> PostFilterResult {
        let refuse = |message: String, clears_nomination| PostFilterResult {
            clears_nomination,
            ..PostFilterResult::rejected(format!("preemption: {message}"))
        };
        if let Some(message) = why_not_eligible(failure) {
            return refuse(message.to_owned(), false);
        }
        let mut diagnosis = Diagnosis {
            others: Some(Rejection::unresolvable(NAME, "Preemption is not helpful for scheduling")),
            ..Default::default()
        };
        let wanted = (failure.snapshot.len() * self.candidates.percent / 100).max(self.candidates.absolute);
        let mut candidates = Vec::new();
        let (rejections, others) = (failure.diagnosis.by_slot(), failure.diagnosis.others.as_ref());
        for node in &failure.snapshot.nodes {
            let rejection = rejections.get(&node.slot).copied().or(others);
            let is_possible = rejection.is_some_and(|rejection| rejection.code == Code::Unschedulable);
            if !is_possible {
                continue;
            }
            match self.select_victims(failure, node) {
                Ok(candidate) => candidates.push(candidate),
                Err(rejection) => diagnosis.reject(node.slot, rejection),
            }
            if candidates.len() >= wanted {
                break;
            }
        }
        match Candidate::select(candidates.clone()) {
            Some(preemption) => PostFilterResult {
                preemption: Some(preemption),
                candidates,
                clears_nomination: false,
                ..PostFilterResult::rejected("")
            },
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
    if failure.diagnosis.of_node(node.slot).is_some_and(|rejection| rejection.code == Code::Unresolvable) {
        return None;
    }
    let is_waiting = node.pods.iter().any(|other| other.priority < pod.priority && is_going_by_preemption(other));
    is_waiting.then_some("not eligible due to a terminating pod on the nominated node.")
}

fn is_going_by_preemption(pod: &PodInfo) -> bool {
    let target = condition(pod.view(), "DisruptionTarget");
    pod.is_deleting
        && target.is_some_and(|target| target.status() == "True" && target.reason() == "PreemptionByScheduler")
}

impl DefaultPreemption {
    /// The fewest and least important pods whose removal makes the node fit.
    fn select_victims(&self, failure: &Failure<'_>, node: &NodeInfo) -> Result<Candidate, Rejection> {
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
        // The most important first: they are the ones to be spared, and of those the ones first
        // that a budget protects.
        let importance = |other: &Arc<PodInfo>| (Reverse(other.priority), other.started);
        potential.sort_by_key(importance);
        let mut budgets = read_budgets(&potential, &self.budgets);
        let (protected, others): (Vec<_>, Vec<_>) =
            potential.into_iter().partition(|other| breaks_budget(other, &mut budgets));
        let mut victims = Vec::new();
        let mut broken_budgets = 0;
        let protected = protected.into_iter().map(|other| (other, true));
        for (other, is_protected) in protected.chain(others.into_iter().map(|other| (other, false))) {
            framework.add_pod(&mut state, pod, other.clone(), &mut trial);
            if framework.filter_with_nominated(&state, pod, &trial, nominated).is_err() {
                framework.remove_pod(&mut state, pod, &other, &mut trial);
                broken_budgets += usize::from(is_protected);
                victims.push(other);
            }
        }
        victims.sort_by_key(importance);
        Ok(Candidate { preemption: Preemption { node: node.name().to_owned(), victims }, broken_budgets })
    }
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
        check_with(&Handle::default(), nodes, priority, cpu, expected);
    }

    #[track_caller]
    fn check_with(
        handle: &Handle,
        nodes: Vec<(&str, Vec<Arc<PodInfo>>)>,
        priority: i32,
        cpu: &str,
        expected: Result<(&str, &[&str]), &str>,
    ) {
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
                diagnosis.reject(node.slot, rejection);
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
        let result = DefaultPreemption::new(handle, CandidateLimits::default()).post_filter(&failure);
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

    #[test]
    fn pods_that_a_budget_protects_are_spared_where_others_can_go() {
        let handle = Handle::default();
        let budget = |allowed: i32, disrupted: serde_json::Value| {
            handle.budgets.put(SharedObject::of(json!({
                "metadata": {"name": "b", "namespace": "default"}, "spec": {"selector": {"matchLabels": {"app": "db"}}},
                "status": {"disruptionsAllowed": allowed, "disruptedPods": disrupted},
            })));
        };
        let db = |uid: &str, priority: i32| {
            let over = json!({"metadata": {"labels": {"app": "db"}, "name": uid}});
            Arc::new(changed(&held(uid, priority, "2"), over))
        };
        let on_one_node = || vec![("a", vec![db("low", 1), held("mid", 5, "2")])];
        check_with(&handle, on_one_node(), 10, "2", Ok(("a", &["low"])));
        budget(0, json!({}));
        check_with(&handle, on_one_node(), 10, "2", Ok(("a", &["mid"])));
        check_with(&handle, on_one_node(), 10, "4", Ok(("a", &["mid", "low"])));
        budget(1, json!({}));
        check_with(&handle, on_one_node(), 10, "2", Ok(("a", &["low"])));
        budget(0, json!({"low": "2026-01-01T00:00:00Z"}));
        check_with(&handle, on_one_node(), 10, "2", Ok(("a", &["low"])));
        // A node without protected pods goes before one whose pods are less important.
        budget(0, json!({}));
        let on_two = vec![("a", vec![db("low", 1), db("lower", 0)]), ("b", vec![held("mid", 5, "4")])];
        check_with(&handle, on_two, 10, "4", Ok(("b", &["mid"])));
    }
}
