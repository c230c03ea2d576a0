//! The matching pods of each domain, and the skew that one more would make.

use super::constraint::Constraint;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use crate::topology::{LabelColumn, NONE, RequiredNodes};
use ferry_api::rules::toleration::{KEEPS_OUT, find_untolerated};
use std::collections::HashMap;
use std::sync::Arc;

/// The nodes that count for each constraint.
#[derive(Debug)]
pub struct Eligible {
    columns: Vec<Arc<LabelColumn>>,
    /// By slot whether the pod's node affinity matches; `None` if all do or none of the
    /// constraints asks.
    by_affinity: Option<Vec<bool>>,
    /// By slot whether the pod tolerates the taints; likewise.
    by_taints: Option<Vec<bool>>,
    honors: Vec<(bool, bool)>,
}

impl Eligible {
    pub fn of(pod: &PodInfo, constraints: &[Constraint], snapshot: &Snapshot) -> Self {
        let mut index = snapshot.topology();
        let columns = constraints.iter().map(|constraint| index.column(&constraint.topology_key)).collect();
        let honors_affinity = constraints.iter().any(|constraint| constraint.honors_affinity);
        let required = honors_affinity.then(|| RequiredNodes::of(pod.spec(), &mut index)).flatten();
        drop(index);
        let by_affinity = required.map(|required| by_slot(snapshot, |node| required.matches(node)));
        let honors_taints = constraints.iter().any(|constraint| constraint.honors_taints);
        let mut verdicts: HashMap<&str, bool> = HashMap::new();
        let by_taints = honors_taints.then(|| {
            by_slot(snapshot, |node| {
                !node.keeps_out
                    || *verdicts.entry(&node.taints).or_insert_with(|| {
                        let (taints, tolerations) = (node.view().spec().taints(), pod.spec().tolerations());
                        find_untolerated(taints, tolerations, KEEPS_OUT).is_none()
                    })
            })
        });
        let honors = constraints.iter().map(|constraint| (constraint.honors_affinity, constraint.honors_taints));
        Self { columns, by_affinity, by_taints, honors: honors.collect() }
    }

    pub fn columns(&self) -> &[Arc<LabelColumn>] {
        &self.columns
    }

    /// Whether the node of the slot counts for the constraint.
    fn counts(&self, constraint: usize, slot: usize) -> bool {
        let passes =
            |list: &Option<Vec<bool>>| list.as_ref().is_none_or(|list| list.get(slot).copied().unwrap_or(false));
        let (honors_affinity, honors_taints) = self.honors[constraint];
        (!honors_affinity || passes(&self.by_affinity)) && (!honors_taints || passes(&self.by_taints))
    }

    fn has_all_labels(&self, slot: usize) -> bool {
        let slot = u32::try_from(slot).unwrap_or(NONE);
        self.columns.iter().all(|column| column.value(slot) != NONE)
    }
}

fn by_slot<'s>(snapshot: &'s Snapshot, mut test: impl FnMut(&'s NodeInfo) -> bool) -> Vec<bool> {
    let mut out = Vec::new();
    for node in &snapshot.nodes {
        let slot = node.slot as usize;
        if slot >= out.len() {
            out.resize(slot + 1, false);
        }
        out[slot] = test(node);
    }
    out
}

/// The matching pods by number of the domain, `None` for a number that no node that counts has.
pub fn count_by_domain(
    eligible: &Eligible,
    constraint: usize,
    matching: &[u32],
    requires_all_labels: bool,
) -> Vec<Option<i64>> {
    let column = &eligible.columns[constraint];
    let mut counts: Vec<Option<i64>> = vec![None; column.values_len()];
    let is_only_column = eligible.columns.len() == 1;
    for (slot, &value) in column.by_slot().iter().enumerate() {
        let Some(count) = counts.get_mut(value as usize) else { continue };
        if requires_all_labels && !is_only_column && !eligible.has_all_labels(slot) {
            continue;
        }
        if eligible.counts(constraint, slot) {
            *count.get_or_insert(0) += i64::from(matching.get(slot).copied().unwrap_or(0));
        }
    }
    counts
}

/// A cycle's counts for the constraints that must hold. A trial on one node keeps its own
/// differences beside the shared counts.
#[derive(Clone, Debug)]
pub struct HardSpread {
    shared: Arc<Shared>,
    /// The two domains with the fewest pods of each constraint: a trial moves at most one
    /// domain, so the smaller of the others is known.
    smallest: Vec<[(u32, i64); 2]>,
    /// Constraint, domain and difference.
    trial: Vec<(usize, u32, i64)>,
}

#[derive(Debug)]
struct Shared {
    constraints: Vec<Constraint>,
    /// Whether the pod itself is counted, once it is there.
    counts_itself: Vec<i64>,
    eligible: Eligible,
    counts: Vec<Vec<Option<i64>>>,
    domains: Vec<usize>,
}

const NO_DOMAIN: (u32, i64) = (NONE, i64::MAX);

impl HardSpread {
    pub fn count(pod: &PodInfo, constraints: Vec<Constraint>, snapshot: &Snapshot) -> Self {
        let eligible = Eligible::of(pod, &constraints, snapshot);
        let counts: Vec<Vec<Option<i64>>> = constraints
            .iter()
            .enumerate()
            .map(|(index, constraint)| {
                let matching = snapshot.topology().counts(constraint.matcher(pod));
                count_by_domain(&eligible, index, &matching, true)
            })
            .collect();
        let smallest = counts.iter().map(|counts| find_smallest(counts)).collect();
        let domains = counts.iter().map(|counts| counts.iter().flatten().count()).collect();
        let counts_itself = constraints.iter().map(|own| i64::from(pod.labels.match_selector(&own.selector))).collect();
        Self {
            shared: Arc::new(Shared { constraints, counts_itself, eligible, counts, domains }),
            smallest,
            trial: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.shared.constraints.len()
    }

    pub fn max_skew(&self, constraint: usize) -> i64 {
        self.shared.constraints[constraint].max_skew
    }

    /// The skew with the pod on the node of the slot; `None` where the node lacks the label.
    pub fn skew(&self, constraint: usize, slot: u32) -> Option<i64> {
        let shared = &*self.shared;
        let value = shared.eligible.columns[constraint].value(slot);
        if value == NONE {
            return None;
        }
        let has_enough = shared.domains[constraint] >= shared.constraints[constraint].min_domains;
        let min = if has_enough { self.smallest[constraint][0].1 } else { 0 };
        Some(self.domain(constraint, value) + shared.counts_itself[constraint] - min)
    }

    fn domain(&self, constraint: usize, value: u32) -> i64 {
        let counted = self.shared.counts[constraint].get(value as usize).copied().flatten().unwrap_or(0);
        let differences = self.trial.iter().filter(|(own, domain, _)| (*own, *domain) == (constraint, value));
        counted + differences.map(|(.., delta)| delta).sum::<i64>()
    }

    /// A pod comes to the node or leaves it, for a trial of this node alone.
    pub fn trial(&mut self, pod: &PodInfo, other: &PodInfo, node: &NodeInfo, delta: i64) {
        let shared = self.shared.clone();
        let slot = node.slot as usize;
        if other.namespace != pod.namespace || other.is_deleting || !shared.eligible.has_all_labels(slot) {
            return;
        }
        for (index, constraint) in shared.constraints.iter().enumerate() {
            let is_counted = !constraint.selector.is_empty()
                && other.labels.match_selector(&constraint.selector)
                && shared.eligible.counts(index, slot);
            if !is_counted {
                continue;
            }
            let value = shared.eligible.columns[index].value(node.slot);
            self.trial.push((index, value, delta));
            let count = self.domain(index, value);
            update_smallest(&mut self.smallest[index], value, count);
        }
    }
}

fn find_smallest(counts: &[Option<i64>]) -> [(u32, i64); 2] {
    let mut smallest = [NO_DOMAIN; 2];
    for (value, count) in (0..).zip(counts) {
        if let Some(count) = count {
            update_smallest(&mut smallest, value, *count);
        }
    }
    smallest
}

/// Upstream: `criticalPaths.update` of podtopologyspread/filtering.go.
fn update_smallest(smallest: &mut [(u32, i64); 2], value: u32, count: i64) {
    if let Some(own) = smallest.iter_mut().find(|(domain, _)| *domain == value) {
        own.1 = count;
        if smallest[0].1 > smallest[1].1 {
            smallest.swap(0, 1);
        }
    } else if count < smallest[0].1 {
        *smallest = [(value, count), smallest[0]];
    } else if count < smallest[1].1 {
        smallest[1] = (value, count);
    }
}
