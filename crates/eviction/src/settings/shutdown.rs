//! The settings of a graceful node shutdown. Without any the node does not wait for its pods.

use ferry_api::rules::duration::GoDuration;

/// Pods of this priority and above, up to the next, get so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityGracePeriod {
    pub priority: i32,
    pub shutdown_grace_period_seconds: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShutdownSettings {
    pub shutdown_grace_period: GoDuration,
    /// The last part of it, which only critical pods get.
    pub shutdown_grace_period_critical_pods: GoDuration,
    pub shutdown_grace_period_by_pod_priority: Vec<PriorityGracePeriod>,
}

impl ShutdownSettings {
    pub fn validate(&self) -> Vec<String> {
        let Self {
            shutdown_grace_period: whole,
            shutdown_grace_period_critical_pods: critical,
            shutdown_grace_period_by_pod_priority: by_priority,
        } = self;
        let mut errors = Vec::new();
        let mut error = |text: String| errors.push(format!("invalid configuration: {text}"));
        // Upstream prints these as Go prints the struct that the duration stands in.
        let text = |value: &GoDuration| format!("{{{}}}", super::text(*value));
        let is_too_short = |value: &GoDuration| value.0 < 0 || (value.0 > 0 && value.0 < 1_000_000_000);
        if critical.0 > whole.0 {
            error(format!(
                "shutdownGracePeriodCriticalPods {} must be <= shutdownGracePeriod {}",
                text(critical),
                text(whole)
            ));
        }
        if is_too_short(whole) {
            error(format!("shutdownGracePeriod {} must be either zero or otherwise >= 1 sec", text(whole)));
        }
        if is_too_short(critical) {
            error(format!(
                "shutdownGracePeriodCriticalPods {} must be either zero or otherwise >= 1 sec",
                text(critical)
            ));
        }
        if !by_priority.is_empty() && (whole.0 > 0 || critical.0 > 0) {
            error(
                "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time".into(),
            );
        }
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_in_upstreams_words() {
        assert_eq!(ShutdownSettings::default().validate(), Vec::<String>::new());
        let wrong = ShutdownSettings {
            shutdown_grace_period: GoDuration(500_000_000),
            shutdown_grace_period_critical_pods: GoDuration(30_000_000_000),
            shutdown_grace_period_by_pod_priority: vec![PriorityGracePeriod {
                priority: 0,
                shutdown_grace_period_seconds: 1,
            }],
        };
        assert_eq!(
            wrong.validate(),
            [
                "invalid configuration: shutdownGracePeriodCriticalPods {30s} must be <= shutdownGracePeriod {500ms}",
                "invalid configuration: shutdownGracePeriod {500ms} must be either zero or otherwise >= 1 sec",
                "invalid configuration: Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time",
            ]
        );
    }
}
