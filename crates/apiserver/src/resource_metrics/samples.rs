//! The points kept of one node, and the usage between them (metrics-server's pkg/storage):
//! two for each container, of which the older one is what the rate is measured from. Pure;
//! `scrape.rs` feeds it and `mod.rs` asks it.

use super::page::{PodKey, UsagePage, UsagePoint};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// A rate is measured over at least this where an older point is known, so that one asked
/// for twice within a second is not that of a second.
const MIN_WINDOW: i64 = 10_000;

/// A container that began within these bounds is measured from its start, when it had used
/// nothing (metrics-server's freshContainerMinMetricsResolution, and its resolution).
const FRESH_MIN: i64 = 10_000;
const FRESH_MAX: i64 = 60_000;

/// The points of a container, or of the node itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointPair {
    last: UsagePoint,
    before: Option<UsagePoint>,
}

/// CPU and memory in use, and the time over which that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub cpu_nanocores: u64,
    pub memory_bytes: u64,
    /// Milliseconds since the epoch.
    pub time: i64,
    pub window: Duration,
}

impl PointPair {
    /// Adds the newest point.
    fn advance(known: Option<Self>, newest: UsagePoint) -> Self {
        let Some(known) = known.filter(|known| continues(&known.last, &newest)) else {
            return Self { last: newest, before: start_of_fresh(&newest) };
        };
        let older =
            known.before.filter(|older| older.time < newest.time && older.cpu_nanoseconds <= newest.cpu_nanoseconds);
        let before = match older {
            // The kubelet has measured nothing new, or so lately that the rate is better
            // taken from the point before.
            Some(older) if newest.time - known.last.time < MIN_WINDOW => Some(older),
            older if newest.time == known.last.time => older,
            _ => Some(known.last),
        };
        Self { last: newest, before }
    }

    fn usage(&self) -> Option<Usage> {
        let before = self.before?;
        let window = u64::try_from(self.last.time - before.time).ok().filter(|window| *window > 0)?;
        let used = self.last.cpu_nanoseconds.checked_sub(before.cpu_nanoseconds)?;
        Some(Usage {
            cpu_nanocores: u64::try_from(u128::from(used) * 1000 / u128::from(window)).ok()?,
            memory_bytes: self.last.memory_bytes,
            time: self.last.time,
            window: Duration::from_millis(window),
        })
    }
}

/// Whether the newest point counts on from the last one, and not from a later start.
fn continues(last: &UsagePoint, newest: &UsagePoint) -> bool {
    newest.time >= last.time
        && newest.started.is_none_or(|started| started < last.time)
        && newest.cpu_nanoseconds >= last.cpu_nanoseconds
}

fn start_of_fresh(newest: &UsagePoint) -> Option<UsagePoint> {
    let started = newest.started?;
    let age = newest.time - started;
    (FRESH_MIN..FRESH_MAX).contains(&age).then_some(UsagePoint { time: started, cpu_nanoseconds: 0, ..*newest })
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NodeSamples {
    node: Option<PointPair>,
    pods: HashMap<PodKey, BTreeMap<String, PointPair>>,
}

impl NodeSamples {
    /// Adds a page; what it does not mention is gone.
    pub(crate) fn add(&mut self, page: UsagePage) {
        self.node = page.node.map(|point| PointPair::advance(self.node, point));
        let mut known = std::mem::take(&mut self.pods);
        for (key, containers) in page.pods {
            let mut pairs = known.remove(&key).unwrap_or_default();
            let advanced = containers
                .into_iter()
                .map(|(name, point)| {
                    let pair = PointPair::advance(pairs.remove(&name), point);
                    (name, pair)
                })
                .collect();
            self.pods.insert(key, advanced);
        }
    }

    pub(crate) fn node_usage(&self) -> Option<Usage> {
        self.node?.usage()
    }

    /// The usage of each container; `None` until all of them are known twice.
    pub(crate) fn pod_usage(&self, key: &PodKey) -> Option<Vec<(String, Usage)>> {
        let containers = self.pods.get(key).filter(|containers| !containers.is_empty())?;
        containers.iter().map(|(name, pair)| Some((name.clone(), pair.usage()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(time: i64, cpu_seconds: u64) -> UsagePoint {
        UsagePoint { time, started: Some(1_000), cpu_nanoseconds: cpu_seconds * 1_000_000_000, memory_bytes: 5 }
    }

    fn page(point: UsagePoint) -> UsagePage {
        let containers = BTreeMap::from([("c".to_owned(), point)]);
        UsagePage { node: Some(point), pods: HashMap::from([(("a".to_owned(), "p".to_owned()), containers)]) }
    }

    /// The rate in millicores and the window in milliseconds after these points.
    fn check(points: &[UsagePoint], expected: Option<(u64, u128)>) {
        let mut samples = NodeSamples::default();
        points.iter().for_each(|point| samples.add(page(*point)));
        let usage = samples.pod_usage(&("a".to_owned(), "p".to_owned()));
        let found = usage.map(|usage| (usage[0].1.cpu_nanocores / 1_000_000, usage[0].1.window.as_millis()));
        assert_eq!(found, expected, "{points:?}");
    }

    #[test]
    fn usage_is_measured_between_the_last_two_points() {
        check(&[point(100_000, 10)], None);
        check(&[point(100_000, 10), point(101_000, 11)], Some((1000, 1000)));
        check(&[point(100_000, 10), point(115_000, 13), point(130_000, 28)], Some((1000, 15_000)));
        check(&[point(100_000, 10), point(115_000, 13), point(116_000, 14)], Some((250, 16_000)));
        check(&[point(100_000, 10), point(100_000, 10)], None);
        check(&[point(100_000, 10), point(115_000, 13), point(115_000, 13)], Some((200, 15_000)));
    }

    #[test]
    fn a_restart_begins_anew() {
        let restarted = |time, cpu| UsagePoint { started: Some(time - 5_000), ..point(time, cpu) };
        check(&[point(100_000, 10), restarted(115_000, 11)], None);
        check(&[point(100_000, 10), point(115_000, 9)], None);
        let unstarted = |time, cpu| UsagePoint { started: None, ..point(time, cpu) };
        check(&[unstarted(100_000, 10), unstarted(101_000, 9), unstarted(102_000, 10)], Some((1000, 1000)));
        check(&[point(100_000, 10), point(90_000, 9)], None);
    }

    #[test]
    fn a_container_that_just_began_is_measured_from_its_start() {
        check(&[point(21_000, 10)], Some((500, 20_000)));
        check(&[point(6_000, 1)], None);
        check(&[point(71_000, 1)], None);
    }

    #[test]
    fn a_pod_is_known_when_all_its_containers_are() {
        let mut samples = NodeSamples::default();
        samples.add(page(point(100_000, 10)));
        let mut both = page(point(115_000, 11));
        for containers in both.pods.values_mut() {
            containers.insert("new".into(), UsagePoint { started: Some(110_000), ..point(115_000, 1) });
        }
        samples.add(both);
        let key = ("a".to_owned(), "p".to_owned());
        assert_eq!(samples.pod_usage(&key), None);
        assert!(samples.node_usage().is_some());
        samples.add(UsagePage::default());
        assert_eq!((samples.pod_usage(&key), samples.node_usage()), (None, None));
    }
}
