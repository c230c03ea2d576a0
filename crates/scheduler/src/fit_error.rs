//! Why a pod has no node, in upstream's words (pkg/scheduler/framework/types.go):
//! `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). …`.

use crate::framework::Rejection;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// The rejections of a search. Most nodes are rejected for a handful of reasons, so a rejected
/// node is two numbers: a search adds one for each full node and mostly finds one that fits,
/// whereupon nobody reads them.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// The slot of each rejected node, with the position of its rejection.
    pub nodes: Vec<(u32, u32)>,
    pub rejections: Vec<Rejection>,
    /// The rejection of the nodes that were not looked at.
    pub others: Option<Rejection>,
    /// The rejection before any node was looked at.
    pub pre_filter_message: String,
    pub post_filter_message: String,
    /// The plugins whose hints can wake the pod.
    pub plugins: BTreeSet<&'static str>,
}

/// The last rejections that a new one is compared with. One that names its node is like none.
const COMPARED: usize = 8;

impl Diagnosis {
    /// Each node is rejected once.
    pub fn reject(&mut self, slot: u32, rejection: Rejection) {
        let first = self.rejections.len().saturating_sub(COMPARED);
        let known = self.rejections[first..].iter().rposition(|other| *other == rejection);
        let position = match known {
            Some(position) => first + position,
            None => {
                self.plugins.insert(rejection.plugin);
                self.rejections.push(rejection);
                self.rejections.len() - 1
            }
        };
        self.nodes.push((slot, u32::try_from(position).unwrap_or(u32::MAX)));
    }

    pub fn rejection(&self, position: u32) -> Option<&Rejection> {
        self.rejections.get(position as usize)
    }

    /// The rejection of one node. Costs as much as there are; [`Diagnosis::by_slot`] is for many.
    pub fn of_node(&self, slot: u32) -> Option<&Rejection> {
        let own = self.nodes.iter().find(|(node, _)| *node == slot);
        own.and_then(|(_, position)| self.rejection(*position)).or(self.others.as_ref())
    }

    /// The rejections of all nodes that were looked at.
    pub fn by_slot(&self) -> HashMap<u32, &Rejection> {
        self.nodes.iter().filter_map(|(slot, position)| Some((*slot, self.rejection(*position)?))).collect()
    }
}

#[derive(Clone, Debug, thiserror::Error)]
pub struct FitError {
    pub all_nodes: usize,
    pub diagnosis: Diagnosis,
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0/{} nodes are available:", self.all_nodes)?;
        let diagnosis = &self.diagnosis;
        if diagnosis.pre_filter_message.is_empty() {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let rejections = diagnosis.nodes.iter().filter_map(|(_, position)| diagnosis.rejection(*position));
            for reason in rejections.flat_map(|rejection| rejection.reasons.iter()) {
                *counts.entry(reason).or_default() += 1;
            }
            let absent = self.all_nodes.saturating_sub(diagnosis.nodes.len());
            if absent > 0 {
                for reason in diagnosis.others.iter().flat_map(|rejection| rejection.reasons.iter()) {
                    *counts.entry(reason).or_default() += absent;
                }
            }
            // Sorted as texts, the count included, as upstream does.
            let mut texts: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            texts.sort();
            if !texts.is_empty() {
                write!(f, " {}.", texts.join(", "))?;
            }
        } else {
            write!(f, " {}.", diagnosis.pre_filter_message)?;
        }
        if !diagnosis.post_filter_message.is_empty() {
            write!(f, " {}", diagnosis.post_filter_message)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_sorted() {
        let mut diagnosis = Diagnosis::default();
        diagnosis.reject(0, Rejection::unschedulable("F", "Insufficient cpu"));
        diagnosis.reject(1, Rejection::unresolvable("T", "node(s) had untolerated taint(s)"));
        diagnosis.reject(2, Rejection::unresolvable("T", "node(s) had untolerated taint(s)"));
        diagnosis.post_filter_message = "preemption: x".to_owned();
        let error = FitError { all_nodes: 3, diagnosis };
        assert_eq!(
            error.to_string(),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). preemption: x"
        );
    }

    #[test]
    fn nodes_that_were_not_looked_at_share_one_reason() {
        let mut diagnosis = Diagnosis::default();
        diagnosis.reject(0, Rejection::unschedulable("F", "Too many pods"));
        diagnosis.others = Some(Rejection::unresolvable("P", "Preemption is not helpful for scheduling"));
        let error = FitError { all_nodes: 3, diagnosis };
        assert_eq!(
            error.to_string(),
            "0/3 nodes are available: 1 Too many pods, 2 Preemption is not helpful for scheduling."
        );
    }
}
