//! How fast an autoscaler may go where its metrics point: recent recommendations steady it,
//! and policies, or the default limits, bound each step. Pure but for the memory that
//! [`ScaleHistory`] is; `mod.rs` keeps one for each autoscaler and forgets it with the
//! process, as upstream does.
//!
//! The reference is normalizeDesiredReplicas and normalizeDesiredReplicasWithBehaviors of
//! upstream's pkg/controller/podautoscaler/horizontal.go.

use ferry_api::view::autoscaling::v2::{HPAScalingRulesView, HorizontalPodAutoscalerBehaviorView};
use jiff::{SignedDuration, Timestamp};

/// Upstream's --horizontal-pod-autoscaler-downscale-stabilization.
const DOWNSCALE_STABILIZATION: i64 = 300;

/// Without a behaviour, a step up at most doubles the replicas, or makes them four.
const SCALE_UP_LIMIT_FACTOR: i32 = 2;
const SCALE_UP_LIMIT_MINIMUM: i32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScaleEvent {
    change: i32,
    at: Timestamp,
}

/// The recommendations and the changes of one autoscaler's target that still count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScaleHistory {
    recommendations: Vec<(i32, Timestamp)>,
    ups: Vec<ScaleEvent>,
    downs: Vec<ScaleEvent>,
}

/// Where an autoscaler's target stands and how far it may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub current: i32,
    pub min: i32,
    pub max: i32,
}

/// A reason of a condition and its message.
pub(super) type Reason = (&'static str, &'static str);

/// The replicas that are wanted after all, with what the conditions AbleToScale and
/// ScalingLimited say of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Normalized {
    pub replicas: i32,
    pub able: Reason,
    pub is_limited: bool,
    pub limited: Reason,
}

const READY: Reason = ("ReadyForNewScale", "recommended size matches current size");
const DOWN_STABILIZED: Reason = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
);
const UP_STABILIZED: Reason = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
);
const WITHIN_RANGE: Reason = ("DesiredWithinRange", "the desired count is within the acceptable range");
const TOO_MANY: Reason = ("TooManyReplicas", "the desired replica count is more than the maximum replica count");
const TOO_FEW: Reason = ("TooFewReplicas", "the desired replica count is less than the minimum replica count");
const UP_LIMIT: Reason = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate");
const DOWN_LIMIT: Reason =
    ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate");

/// `scaleUp` or `scaleDown` with its defaults.
struct Rules {
    window: i64,
    select: Select,
    policies: Vec<Policy>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Select {
    Max,
    Min,
    Disabled,
}

struct Policy {
    is_percent: bool,
    value: i32,
    period: i64,
}

impl Rules {
    fn of(rules: Option<HPAScalingRulesView<'_>>, window: i64) -> Self {
        let rules = rules.unwrap_or_default();
        Self {
            window: rules.stabilization_window_seconds().map_or(window, i64::from),
            select: match rules.select_policy() {
                Some("Disabled") => Select::Disabled,
                Some("Min") => Select::Min,
                _ => Select::Max,
            },
            policies: rules
                .policies()
                .iter()
                .map(|policy| Policy {
                    is_percent: policy.type_() == "Percent",
                    value: policy.value_(),
                    period: i64::from(policy.period_seconds()),
                })
                .collect(),
        }
    }

    fn up(behavior: HorizontalPodAutoscalerBehaviorView<'_>) -> Self {
        Self::of(behavior.scale_up(), 0)
    }

    fn down(behavior: HorizontalPodAutoscalerBehaviorView<'_>) -> Self {
        Self::of(behavior.scale_down(), DOWNSCALE_STABILIZATION)
    }

    fn longest_period(&self) -> i64 {
        self.policies.iter().map(|policy| policy.period).max().unwrap_or(0)
    }
}

fn before(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MIN)
}

impl ScaleHistory {
    /// The size at which the autoscaler finds its target counts as a recommendation, so that
    /// a controller that starts anew takes nothing away at once.
    pub(super) fn begin(&mut self, current: i32, now: Timestamp) {
        if self.recommendations.is_empty() {
            self.recommendations.push((current, now));
        }
    }

    /// Steadies and bounds what the metrics want, and remembers it.
    pub(super) fn normalize(
        &mut self,
        behavior: Option<HorizontalPodAutoscalerBehaviorView<'_>>,
        bounds: Bounds,
        desired: i32,
        now: Timestamp,
    ) -> Normalized {
        let (stabilized, reason) = match behavior {
            None => (self.stabilize(desired, now), DOWN_STABILIZED),
            Some(behavior) => self.stabilize_with(&Rules::up(behavior), &Rules::down(behavior), bounds, desired, now),
        };
        let (replicas, limited) = match behavior {
            None => limit(bounds, stabilized),
            Some(behavior) => self.limit_with(&Rules::up(behavior), &Rules::down(behavior), bounds, stabilized, now),
        };
        Normalized {
            replicas,
            able: if stabilized == desired { READY } else { reason },
            is_limited: replicas != stabilized,
            limited,
        }
    }

    /// The target was scaled. Only policies ask for it.
    pub(super) fn record_scale(
        &mut self,
        behavior: Option<HorizontalPodAutoscalerBehaviorView<'_>>,
        from: i32,
        to: i32,
        now: Timestamp,
    ) {
        let Some(behavior) = behavior else { return };
        let longest = Rules::up(behavior).longest_period().max(Rules::down(behavior).longest_period());
        let cutoff = before(now, longest);
        for events in [&mut self.ups, &mut self.downs] {
            events.retain(|event| event.at >= cutoff);
        }
        let event = ScaleEvent { change: from.abs_diff(to).try_into().unwrap_or(i32::MAX), at: now };
        if to > from { self.ups.push(event) } else { self.downs.push(event) }
    }

    /// The highest recommendation of the window.
    fn stabilize(&mut self, desired: i32, now: Timestamp) -> i32 {
        let cutoff = before(now, DOWNSCALE_STABILIZATION);
        self.recommendations.retain(|(_, at)| *at >= cutoff);
        let highest = self.recommendations.iter().map(|(recommended, _)| *recommended).max();
        self.recommendations.push((desired, now));
        highest.map_or(desired, |highest| highest.max(desired))
    }

    /// The current size, moved up to the lowest recommendation of the one window and down to
    /// the highest of the other.
    fn stabilize_with(
        &mut self,
        up: &Rules,
        down: &Rules,
        bounds: Bounds,
        desired: i32,
        now: Timestamp,
    ) -> (i32, Reason) {
        let (up_cutoff, down_cutoff) = (before(now, up.window), before(now, down.window));
        self.recommendations.retain(|(_, at)| *at >= up_cutoff || *at >= down_cutoff);
        let since =
            |cutoff: Timestamp| self.recommendations.iter().filter(move |(_, at)| *at > cutoff).map(|(n, _)| *n);
        let lowest = since(up_cutoff).fold(desired, i32::min);
        let highest = since(down_cutoff).fold(desired, i32::max);
        self.recommendations.push((desired, now));
        let recommendation = bounds.current.max(lowest).min(highest);
        (recommendation, if desired >= bounds.current { UP_STABILIZED } else { DOWN_STABILIZED })
    }

    fn limit_with(
        &self,
        up: &Rules,
        down: &Rules,
        Bounds { current, min, max }: Bounds,
        desired: i32,
        now: Timestamp,
    ) -> (i32, Reason) {
        if desired > current {
            let limit = self.scale_up_limit(up, current, now).max(current);
            let (most, reason) = if max > limit { (limit, UP_LIMIT) } else { (max, TOO_MANY) };
            if desired > most {
                return (most, reason);
            }
        } else if desired < current {
            let limit = self.scale_down_limit(down, current, now).min(current);
            let (least, reason) = if min < limit { (limit, DOWN_LIMIT) } else { (min, TOO_FEW) };
            if desired < least {
                return (least, reason);
            }
        }
        (desired, WITHIN_RANGE)
    }

    /// The replicas when a policy's period began.
    fn at_start_of(&self, policy: &Policy, current: i32, now: Timestamp) -> i32 {
        let cutoff = before(now, policy.period);
        let sum = |events: &[ScaleEvent]| {
            events.iter().filter(|event| event.at > cutoff).fold(0i32, |sum, event| sum.saturating_add(event.change))
        };
        current.saturating_sub(sum(&self.ups)).saturating_add(sum(&self.downs))
    }

    fn scale_up_limit(&self, rules: &Rules, current: i32, now: Timestamp) -> i32 {
        let proposals = rules.policies.iter().map(|policy| {
            let start = self.at_start_of(policy, current, now);
            if policy.is_percent {
                // Rounded up, or a small target would never grow.
                (f64::from(start) * (1.0 + f64::from(policy.value) / 100.0)).ceil() as i32
            } else {
                start.saturating_add(policy.value)
            }
        });
        match rules.select {
            Select::Disabled => current,
            Select::Min => proposals.min().unwrap_or(i32::MAX),
            Select::Max => proposals.max().unwrap_or(i32::MIN),
        }
    }

    fn scale_down_limit(&self, rules: &Rules, current: i32, now: Timestamp) -> i32 {
        let proposals = rules.policies.iter().map(|policy| {
            let start = self.at_start_of(policy, current, now);
            if policy.is_percent {
                (f64::from(start) * (1.0 - f64::from(policy.value) / 100.0)) as i32
            } else {
                start.saturating_sub(policy.value)
            }
        });
        match rules.select {
            Select::Disabled => current,
            // The least change leaves the most replicas.
            Select::Min => proposals.max().unwrap_or(i32::MIN),
            Select::Max => proposals.min().unwrap_or(i32::MAX),
        }
    }
}

/// The bounds of an autoscaler without a behaviour.
fn limit(Bounds { current, min, max }: Bounds, desired: i32) -> (i32, Reason) {
    let up_limit = current.saturating_mul(SCALE_UP_LIMIT_FACTOR).max(SCALE_UP_LIMIT_MINIMUM);
    let (most, reason) = if max > up_limit { (up_limit, UP_LIMIT) } else { (max, TOO_MANY) };
    if desired < min {
        (min, TOO_FEW)
    } else if desired > most {
        (most, reason)
    } else {
        (desired, WITHIN_RANGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::autoscaling::v2::HorizontalPodAutoscalerBehavior;
    use serde_json::{Value, json};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_767_225_600 + second).expect("a time")
    }

    fn bounds(current: i32) -> Bounds {
        Bounds { current, min: 1, max: 100 }
    }

    /// Runs desires through a history; each is the second, the current size and the desired
    /// one, and what came of it was done.
    fn check(behavior: Value, steps: &[(i64, i32, i32)], expected: &[(i32, &str, &str)]) {
        let own = HorizontalPodAutoscalerBehavior::from(behavior.clone());
        let behavior = (!behavior.is_null()).then(|| own.view());
        let mut history = ScaleHistory::default();
        let mut found = Vec::new();
        for (second, current, desired) in steps {
            let normalized = history.normalize(behavior, bounds(*current), *desired, at(*second));
            if normalized.replicas != *current {
                history.record_scale(behavior, *current, normalized.replicas, at(*second));
            }
            assert_eq!(normalized.is_limited, normalized.limited != WITHIN_RANGE, "{normalized:?}");
            found.push((normalized.replicas, normalized.able.0, normalized.limited.0));
        }
        assert_eq!(found, expected, "{steps:?} {}", own.value());
    }

    #[test]
    fn without_a_behaviour_growth_doubles_and_shrinking_waits_five_minutes() {
        let ready = "ReadyForNewScale";
        check(json!(null), &[(0, 3, 10)], &[(6, ready, "ScaleUpLimit")]);
        check(json!(null), &[(0, 1, 10)], &[(4, ready, "ScaleUpLimit")]);
        check(json!(null), &[(0, 90, 200)], &[(100, ready, "TooManyReplicas")]);
        check(json!(null), &[(0, 3, 0)], &[(1, ready, "TooFewReplicas")]);
        check(
            json!(null),
            &[(0, 5, 5), (15, 5, 2), (300, 5, 2), (301, 5, 2)],
            &[
                (5, ready, "DesiredWithinRange"),
                (5, "ScaleDownStabilized", "DesiredWithinRange"),
                (5, "ScaleDownStabilized", "DesiredWithinRange"),
                (2, ready, "DesiredWithinRange"),
            ],
        );
    }

    #[test]
    fn a_controller_that_starts_takes_nothing_away_at_once() {
        let mut history = ScaleHistory::default();
        history.begin(5, at(0));
        history.begin(9, at(1));
        assert_eq!(history.normalize(None, bounds(5), 2, at(1)).replicas, 5);
        assert_eq!(history.normalize(None, bounds(5), 2, at(302)).replicas, 2);
    }

    fn rules(window: i64, select: &str, policies: Value) -> Value {
        json!({"stabilizationWindowSeconds": window, "selectPolicy": select, "policies": policies})
    }

    fn policy(kind: &str, value: i32, period: i64) -> Value {
        json!({"type": kind, "value": value, "periodSeconds": period})
    }

    #[test]
    fn policies_bound_the_steps_of_a_period() {
        let ready = "ReadyForNewScale";
        let four_or_double = json!([policy("Pods", 4, 15), policy("Percent", 100, 15)]);
        let up = |select: &str| json!({"scaleUp": rules(0, select, four_or_double.clone())});
        check(up("Max"), &[(0, 1, 50)], &[(5, ready, "ScaleUpLimit")]);
        check(up("Max"), &[(0, 10, 50)], &[(20, ready, "ScaleUpLimit")]);
        check(up("Min"), &[(0, 1, 50)], &[(2, ready, "ScaleUpLimit")]);
        check(up("Disabled"), &[(0, 3, 50)], &[(3, ready, "ScaleUpLimit")]);
        check(up("Max"), &[(0, 90, 500)], &[(100, ready, "TooManyReplicas")]);
        // A second step within the period starts from where the period began.
        check(
            up("Max"),
            &[(0, 10, 50), (5, 20, 50), (15, 20, 50)],
            &[(20, ready, "ScaleUpLimit"), (20, ready, "ScaleUpLimit"), (40, ready, "ScaleUpLimit")],
        );
        // A fraction of a pod is one more.
        check(
            json!({"scaleUp": rules(0, "Max", json!([policy("Percent", 10, 60)]))}),
            &[(0, 1, 9)],
            &[(2, ready, "ScaleUpLimit")],
        );
    }

    #[test]
    fn policies_bound_shrinking_likewise() {
        let ready = "ReadyForNewScale";
        let down = |select: &str| {
            let policies = json!([policy("Pods", 2, 60), policy("Percent", 50, 60)]);
            json!({"scaleDown": rules(0, select, policies), "scaleUp": rules(0, "Max", json!([policy("Pods", 4, 15)]))})
        };
        check(down("Max"), &[(0, 10, 1)], &[(5, ready, "ScaleDownLimit")]);
        check(down("Min"), &[(0, 10, 1)], &[(8, ready, "ScaleDownLimit")]);
        check(down("Disabled"), &[(0, 10, 1)], &[(10, ready, "ScaleDownLimit")]);
        check(
            down("Max"),
            &[(0, 10, 1), (30, 5, 1), (60, 5, 1)],
            &[(5, ready, "ScaleDownLimit"), (5, ready, "ScaleDownLimit"), (2, ready, "ScaleDownLimit")],
        );
        check(down("Max"), &[(0, 2, 0)], &[(1, ready, "TooFewReplicas")]);
    }

    #[test]
    fn windows_steady_both_ways() {
        let behavior = json!({
            "scaleUp": rules(60, "Max", json!([policy("Pods", 100, 15)])),
            "scaleDown": rules(120, "Max", json!([policy("Percent", 100, 15)])),
        });
        check(
            behavior,
            &[(0, 5, 5), (15, 5, 9), (61, 5, 9), (62, 9, 3), (181, 9, 3), (182, 9, 3)],
            &[
                (5, "ReadyForNewScale", "DesiredWithinRange"),
                (5, "ScaleUpStabilized", "DesiredWithinRange"),
                (9, "ReadyForNewScale", "DesiredWithinRange"),
                (9, "ScaleDownStabilized", "DesiredWithinRange"),
                (3, "ReadyForNewScale", "DesiredWithinRange"),
                (3, "ReadyForNewScale", "DesiredWithinRange"),
            ],
        );
    }

    #[test]
    fn scale_down_waits_five_minutes_where_the_behaviour_does_not_say() {
        let behavior = json!({"scaleUp": {}, "scaleDown": {"policies": [policy("Percent", 100, 15)]}});
        check(
            behavior,
            &[(0, 5, 5), (299, 5, 1), (300, 5, 1)],
            &[
                (5, "ReadyForNewScale", "DesiredWithinRange"),
                (5, "ScaleDownStabilized", "DesiredWithinRange"),
                (1, "ReadyForNewScale", "DesiredWithinRange"),
            ],
        );
    }
}
