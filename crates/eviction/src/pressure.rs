//! The state of a node's pressure from one observation to the next: the thresholds that are met
//! and for how long, the conditions that hold, and the threshold to act on (upstream:
//! `synchronize` of pkg/kubelet/eviction/eviction_manager.go).

use crate::signal::{NodeCondition, Resource};
use crate::threshold::{Observations, Threshold};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The conditions that a node reports.
pub type Conditions = BTreeSet<NodeCondition>;

#[derive(Debug, Default)]
pub struct PressureTracker {
    first_observed: Vec<(Threshold, Instant)>,
    last_observed: BTreeMap<NodeCondition, Instant>,
    /// Met with their grace period, and not yet resolved.
    met: Vec<Threshold>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PressureVerdict {
    pub conditions: Conditions,
    /// The thresholds whose grace period has passed. The first is the one to act on: memory comes
    /// before everything else.
    pub starved: Vec<Threshold>,
    /// The time until a grace period or a transition period ends, where nothing else may happen
    /// before.
    pub look_again: Option<Duration>,
}

impl PressureTracker {
    pub fn observe(
        &mut self,
        configured: &[Threshold],
        observations: &Observations,
        transition_period: Duration,
        now: Instant,
    ) -> PressureVerdict {
        let mut met = filter(configured, observations, Threshold::is_met);
        for threshold in filter(&self.met, observations, Threshold::is_unresolved) {
            if !met.contains(&threshold) {
                met.push(threshold);
            }
        }
        let before = std::mem::take(&mut self.first_observed);
        let since = |threshold: &Threshold| before.iter().find(|(known, _)| known == threshold).map(|(_, at)| *at);
        self.first_observed = met.iter().map(|threshold| (*threshold, since(threshold).unwrap_or(now))).collect();
        for threshold in &met {
            self.last_observed.insert(threshold.signal.condition(), now);
        }
        self.last_observed.retain(|_, at| now.duration_since(*at) < transition_period);
        let (mut starved, waiting): (Vec<_>, Vec<_>) =
            self.first_observed.iter().partition(|(threshold, at)| now.duration_since(*at) >= threshold.grace_period);
        starved.sort_by_key(|(threshold, _)| threshold.signal.resource() != Resource::Memory);
        let starved: Vec<Threshold> = starved.into_iter().map(|(threshold, _)| threshold).collect();
        self.met.clone_from(&starved);
        let graces = waiting.iter().map(|(threshold, at)| *at + threshold.grace_period);
        let transitions = self.last_observed.values().map(|at| *at + transition_period);
        PressureVerdict {
            conditions: self.last_observed.keys().copied().collect(),
            starved,
            look_again: graces.chain(transitions).min().map(|at| at.saturating_duration_since(now)),
        }
    }
}

/// Whether collecting has relieved the node of everything that runs short.
pub fn is_relieved(configured: &[Threshold], observations: &Observations) -> bool {
    filter(configured, observations, Threshold::is_unresolved).is_empty()
}

/// A signal without an observation meets no threshold.
fn filter(
    thresholds: &[Threshold],
    observations: &Observations,
    holds: fn(&Threshold, &crate::threshold::Observation) -> bool,
) -> Vec<Threshold> {
    let observed = |threshold: &&Threshold| {
        observations.get(&threshold.signal).is_some_and(|observation| holds(threshold, observation))
    };
    thresholds.iter().filter(observed).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Signal;
    use crate::threshold::{Observation, ThresholdValue};
    use ferry_api::quantity::{Format, Quantity};

    const TRANSITION: Duration = Duration::from_secs(300);

    fn amount(bytes: i64) -> ThresholdValue {
        ThresholdValue::Quantity(Quantity::from_int(bytes, Format::BinarySi))
    }

    fn observed(memory: u64, disk: u64) -> Observations {
        [
            (Signal::MemoryAvailable, Observation::bytes(memory, 1000)),
            (Signal::NodeFsAvailable, Observation::bytes(disk, 1000)),
        ]
        .into()
    }

    struct Node {
        tracker: PressureTracker,
        thresholds: Vec<Threshold>,
        start: Instant,
    }

    impl Node {
        fn new(thresholds: Vec<Threshold>) -> Self {
            Self { tracker: PressureTracker::default(), thresholds, start: Instant::now() }
        }

        /// Conditions and starved signals at that second.
        fn at(&mut self, second: u64, observations: &Observations) -> (Vec<&'static str>, Vec<&'static str>) {
            let now = self.start + Duration::from_secs(second);
            let verdict = self.tracker.observe(&self.thresholds, observations, TRANSITION, now);
            let conditions = verdict.conditions.iter().map(|condition| condition.as_str()).collect();
            (conditions, verdict.starved.iter().map(|threshold| threshold.signal.as_str()).collect())
        }
    }

    #[test]
    fn a_hard_threshold_is_acted_on_at_once_and_its_condition_outlives_it() {
        let mut node = Node::new(vec![Threshold::hard(Signal::MemoryAvailable, amount(100))]);
        assert_eq!(node.at(0, &observed(100, 0)), (vec![], vec![]));
        assert_eq!(node.at(10, &observed(99, 0)), (vec!["MemoryPressure"], vec!["memory.available"]));
        assert_eq!(node.at(20, &observed(100, 0)), (vec!["MemoryPressure"], vec![]));
        assert_eq!(node.at(309, &observed(100, 0)), (vec!["MemoryPressure"], vec![]));
        assert_eq!(node.at(310, &observed(100, 0)), (vec![], vec![]));
    }

    #[test]
    fn a_soft_threshold_waits_for_its_grace_period_and_starts_anew_when_it_was_not_met() {
        let soft = Threshold {
            grace_period: Duration::from_secs(60),
            ..Threshold::hard(Signal::MemoryAvailable, amount(100))
        };
        let mut node = Node::new(vec![soft]);
        let pressed = || vec!["MemoryPressure"];
        assert_eq!(node.at(0, &observed(50, 0)), (pressed(), vec![]));
        assert_eq!(node.at(59, &observed(50, 0)), (pressed(), vec![]));
        assert_eq!(node.at(60, &observed(50, 0)), (pressed(), vec!["memory.available"]));
        assert_eq!(node.at(70, &observed(200, 0)), (pressed(), vec![]));
        assert_eq!(node.at(80, &observed(50, 0)), (pressed(), vec![]));
        assert_eq!(node.at(140, &observed(50, 0)), (pressed(), vec!["memory.available"]));
    }

    #[test]
    fn a_threshold_stays_until_its_minimum_reclaim_is_free() {
        let threshold =
            Threshold { min_reclaim: Some(amount(50)), ..Threshold::hard(Signal::NodeFsAvailable, amount(100)) };
        let mut node = Node::new(vec![threshold]);
        let starved = (vec!["DiskPressure"], vec!["nodefs.available"]);
        assert_eq!(node.at(0, &observed(0, 120)), (vec![], vec![]));
        assert_eq!(node.at(10, &observed(0, 99)), starved);
        assert_eq!(node.at(20, &observed(0, 149)), starved);
        assert_eq!(node.at(30, &observed(0, 150)), (vec!["DiskPressure"], vec![]));
        assert_eq!(node.at(40, &observed(0, 120)), (vec!["DiskPressure"], vec![]));
        assert!(is_relieved(&[threshold], &observed(0, 150)) && !is_relieved(&[threshold], &observed(0, 149)));
    }

    #[test]
    fn memory_is_acted_on_before_everything_else() {
        let mut node = Node::new(vec![
            Threshold::hard(Signal::NodeFsAvailable, amount(100)),
            Threshold::hard(Signal::PidAvailable, amount(100)),
            Threshold::hard(Signal::AllocatableMemoryAvailable, amount(100)),
        ]);
        let mut all = observed(0, 0);
        all.insert(Signal::AllocatableMemoryAvailable, Observation::bytes(0, 10));
        let (conditions, starved) = node.at(0, &all);
        assert_eq!(conditions, ["DiskPressure", "MemoryPressure"]);
        assert_eq!(starved, ["allocatableMemory.available", "nodefs.available"]);
    }

    #[test]
    fn the_end_of_the_next_period_is_known() {
        let soft =
            Threshold { grace_period: Duration::from_secs(5), ..Threshold::hard(Signal::MemoryAvailable, amount(100)) };
        let mut tracker = PressureTracker::default();
        let start = Instant::now();
        let look = tracker.observe(&[soft], &observed(50, 0), TRANSITION, start).look_again;
        assert_eq!(look, Some(Duration::from_secs(5)));
        let look = tracker.observe(&[soft], &observed(500, 0), TRANSITION, start + Duration::from_secs(3)).look_again;
        assert_eq!(look, Some(Duration::from_secs(297)));
        assert_eq!(PressureTracker::default().observe(&[soft], &observed(500, 0), TRANSITION, start).look_again, None);
    }
}
