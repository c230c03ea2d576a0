//! The order in which pods end with the node: by priority from low to high, each group with its
//! own time (upstream: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go).

use crate::settings::{PriorityGracePeriod, ShutdownSettings};
use crate::usage::SYSTEM_CRITICAL_PRIORITY;
use ferry_api::view::core::v1::PodView;
use std::time::Duration;

/// The reason and the message of a pod that ended with its node.
pub const TERMINATED: &str = "Terminated";
pub const TERMINATED_MESSAGE: &str = "Pod was terminated in response to imminent node shutdown.";

/// The reason and the message of a pod that came too late.
pub const REJECTED: &str = "NodeShutdown";
pub const REJECTED_MESSAGE: &str = "Pod was rejected as the node is shutting down.";

/// The groups of the settings, the lowest priority first; none where nothing is waited for.
pub fn plan_groups(settings: &ShutdownSettings) -> Vec<PriorityGracePeriod> {
    let mut groups = settings.shutdown_grace_period_by_pod_priority.clone();
    if groups.is_empty() {
        let (whole, critical) = (settings.shutdown_grace_period.0, settings.shutdown_grace_period_critical_pods.0);
        if whole == 0 || critical > whole {
            return Vec::new();
        }
        let group = |priority, nanos: i64| PriorityGracePeriod {
            priority,
            shutdown_grace_period_seconds: nanos / 1_000_000_000,
        };
        groups = vec![group(0, whole - critical), group(SYSTEM_CRITICAL_PRIORITY, critical)];
    }
    groups.sort_by_key(|group| group.priority);
    groups
}

/// The time that all groups need together, which the machine has to be held back for.
pub fn total_period(groups: &[PriorityGracePeriod]) -> Duration {
    let seconds = groups.iter().map(|group| u64::try_from(group.shutdown_grace_period_seconds).unwrap_or(0)).sum();
    Duration::from_secs(seconds)
}

/// The group of a pod: the highest that its priority reaches, or the lowest of all.
pub fn group_of(groups: &[PriorityGracePeriod], pod: PodView<'_>) -> usize {
    let priority = pod.spec().priority().unwrap_or(0);
    groups.iter().rposition(|group| group.priority <= priority).unwrap_or(0)
}

/// The seconds that a pod of a group gets: its own grace period, if that is shorter.
pub fn grace_period(group: &PriorityGracePeriod, pod: PodView<'_>) -> i64 {
    let of_group = group.shutdown_grace_period_seconds;
    pod.spec().termination_grace_period_seconds().map_or(of_group, |own| own.min(of_group))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::rules::duration::GoDuration;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;
    use serde_json::json;

    fn pod(priority: Option<i32>, grace: Option<i64>) -> Pod {
        Pod::from(json!({ "spec": { "priority": priority, "terminationGracePeriodSeconds": grace } }))
    }

    fn of(priority: i32, seconds: i64) -> PriorityGracePeriod {
        PriorityGracePeriod { priority, shutdown_grace_period_seconds: seconds }
    }

    #[test]
    fn two_periods_are_two_groups() {
        let settings = |whole: i64, critical: i64| ShutdownSettings {
            shutdown_grace_period: GoDuration(whole * 1_000_000_000),
            shutdown_grace_period_critical_pods: GoDuration(critical * 1_000_000_000),
            ..ShutdownSettings::default()
        };
        assert_eq!(plan_groups(&settings(30, 10)), [of(0, 20), of(2_000_000_000, 10)]);
        assert_eq!(plan_groups(&settings(0, 0)), []);
        assert_eq!(total_period(&plan_groups(&settings(30, 10))), Duration::from_secs(30));
    }

    #[test]
    fn a_pod_belongs_to_the_highest_group_that_it_reaches() {
        let groups = plan_groups(&ShutdownSettings {
            shutdown_grace_period_by_pod_priority: vec![of(1000, 5), of(0, 30), of(100, 10)],
            ..ShutdownSettings::default()
        });
        assert_eq!(groups, [of(0, 30), of(100, 10), of(1000, 5)]);
        let check = |priority, expected| assert_eq!(group_of(&groups, pod(priority, None).view()), expected);
        check(None, 0);
        check(Some(-5), 0);
        check(Some(99), 0);
        check(Some(100), 1);
        check(Some(999), 1);
        check(Some(2_000_000_000), 2);
    }

    #[test]
    fn a_shorter_grace_period_of_the_pods_own_counts() {
        let group = of(0, 20);
        let check = |own, expected| assert_eq!(grace_period(&group, pod(None, own).view()), expected);
        check(Some(30), 20);
        check(Some(5), 5);
        check(None, 20);
    }
}
