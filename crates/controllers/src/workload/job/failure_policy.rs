//! A Job's podFailurePolicy: which of its rules a failed pod matches, and what follows.
//! Called for each failed pod of a Job. The reference is upstream's
//! pkg/controller/job/pod_failure_policy.go.

use ferry_api::view::List;
use ferry_api::view::batch::v1::{
    PodFailurePolicyOnExitCodesRequirementView, PodFailurePolicyOnPodConditionsPatternView, PodFailurePolicyView,
};
use ferry_api::view::core::v1::{ContainerStatusView, PodConditionView, PodView};

/// The action that the failure of a pod asks of its Job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum FailureAction {
    /// The failure counts towards the back-off limits. Also the answer where no rule matches.
    #[default]
    Count,
    /// The failure does not count, and the pod is replaced.
    Ignore,
    /// The failure counts, and its index is not tried again.
    FailIndex,
    /// The whole Job fails, with this message.
    FailJob(String),
}

impl FailureAction {
    pub(super) fn is_counted(&self) -> bool {
        *self != Self::Ignore
    }
}

/// The action of the first rule that matches. A rule that names neither exit codes nor
/// conditions, or an action that is not known, matches nothing.
pub(super) fn judge_failure(policy: Option<PodFailurePolicyView<'_>>, pod: PodView<'_>) -> FailureAction {
    let Some(policy) = policy else { return FailureAction::Count };
    let (namespace, name) = (pod.metadata().namespace(), pod.metadata().name());
    for (position, rule) in policy.rules().iter().enumerate() {
        let action = rule.action();
        let why = if let Some(wanted) = rule.on_exit_codes() {
            find_exit_code(pod, wanted).map(|(container, code)| {
                format!(
                    "Container {container} for pod {namespace}/{name} failed with exit code {code} matching {action} rule at index {position}"
                )
            })
        } else {
            find_condition(pod, rule.on_pod_conditions()).map(|condition| {
                let kind = condition.type_();
                format!("Pod {namespace}/{name} has condition {kind} matching {action} rule at index {position}")
            })
        };
        match (why, action) {
            (Some(_), "Ignore") => return FailureAction::Ignore,
            (Some(_), "Count") => return FailureAction::Count,
            (Some(_), "FailIndex") => return FailureAction::FailIndex,
            (Some(why), "FailJob") => return FailureAction::FailJob(why),
            _ => {}
        }
    }
    FailureAction::Count
}

/// The first container, before the first init container, that ended with such a code. A code
/// of 0 is no failure, whatever the operator.
fn find_exit_code<'a>(
    pod: PodView<'a>,
    wanted: PodFailurePolicyOnExitCodesRequirementView<'_>,
) -> Option<(&'a str, i32)> {
    let matches = |container: ContainerStatusView<'a>| {
        let code = container.state().terminated()?.exit_code();
        let is_named = wanted.container_name().is_none_or(|name| name == container.name());
        let is_listed = wanted.values().iter().any(|value| value == code);
        let fits = match wanted.operator() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => false,
        };
        (is_named && fits && code != 0).then(|| (container.name(), code))
    };
    let status = pod.status();
    status.container_statuses().iter().chain(status.init_container_statuses()).find_map(matches)
}

fn find_condition<'a>(
    pod: PodView<'a>,
    patterns: List<'_, PodFailurePolicyOnPodConditionsPatternView<'_>>,
) -> Option<PodConditionView<'a>> {
    pod.status().conditions().iter().find(|condition| {
        patterns.iter().any(|pattern| (pattern.type_(), pattern.status()) == (condition.type_(), condition.status()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(rules: Value, status: Value, expected: FailureAction) {
        let policy = json!({"rules": rules});
        let pod = json!({"metadata": {"namespace": "ns", "name": "p"}, "status": status});
        let (policy, pod) = (PodFailurePolicyView::from(&policy), PodView::from(&pod));
        assert_eq!(judge_failure(Some(policy), pod), expected, "{policy:?} over {pod:?}");
    }

    fn ended(name: &str, code: i32) -> Value {
        json!({"name": name, "state": {"terminated": {"exitCode": code}}})
    }

    fn containers(statuses: &[Value]) -> Value {
        json!({"phase": "Failed", "containerStatuses": statuses})
    }

    fn on_codes(action: &str, operator: &str, values: &[i32]) -> Value {
        json!({"action": action, "onExitCodes": {"operator": operator, "values": values}})
    }

    fn fails(message: &str) -> FailureAction {
        FailureAction::FailJob(message.to_owned())
    }

    #[test]
    fn exit_codes_are_judged_by_the_first_rule_that_matches() {
        let rules = || json!([on_codes("Ignore", "In", &[1]), on_codes("FailJob", "In", &[5, 6])]);
        check(rules(), containers(&[ended("main", 1)]), FailureAction::Ignore);
        let message = "Container main for pod ns/p failed with exit code 6 matching FailJob rule at index 1";
        check(rules(), containers(&[ended("main", 6)]), fails(message));
        check(rules(), containers(&[ended("main", 7)]), FailureAction::Count);
        check(rules(), containers(&[ended("other", 7), ended("main", 1)]), FailureAction::Ignore);
        check(rules(), json!({"phase": "Failed"}), FailureAction::Count);
        check(rules(), containers(&[json!({"name": "main", "state": {"running": {}}})]), FailureAction::Count);
        let init = json!({"initContainerStatuses": [ended("setup", 5)]});
        let message = "Container setup for pod ns/p failed with exit code 5 matching FailJob rule at index 1";
        check(rules(), init, fails(message));
    }

    #[test]
    fn success_matches_no_operator_and_a_name_narrows_the_rule() {
        let not_in = || json!([on_codes("FailIndex", "NotIn", &[1, 2])]);
        check(not_in(), containers(&[ended("main", 3)]), FailureAction::FailIndex);
        check(not_in(), containers(&[ended("main", 2)]), FailureAction::Count);
        check(not_in(), containers(&[ended("main", 0)]), FailureAction::Count);
        let mut named = on_codes("Ignore", "In", &[1]);
        named["onExitCodes"]["containerName"] = json!("main");
        check(json!([named]), containers(&[ended("side", 1)]), FailureAction::Count);
        check(json!([named]), containers(&[ended("side", 1), ended("main", 1)]), FailureAction::Ignore);
    }

    #[test]
    fn conditions_match_by_type_and_status() {
        let rules = |action: &str| json!([{"action": action, "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]);
        let disrupted = |status: &str| json!({"conditions": [{"type": "DisruptionTarget", "status": status}]});
        check(rules("Ignore"), disrupted("True"), FailureAction::Ignore);
        check(rules("Ignore"), disrupted("False"), FailureAction::Count);
        let message = "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 0";
        check(rules("FailJob"), disrupted("True"), fails(message));
        check(rules("Count"), disrupted("True"), FailureAction::Count);
        check(rules("Unheard"), disrupted("True"), FailureAction::Count);
        check(json!([{"action": "Ignore"}]), disrupted("True"), FailureAction::Count);
    }
}
