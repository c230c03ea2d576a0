//! What is counted of admission: each plugin, each step, each webhook, each policy and the
//! verdicts of PodSecurity (apiserver/pkg/admission/metrics upstream, and those of the
//! plugins themselves). A write passes many plugins, so theirs are found by number.

use super::family::{Counter, Family, Histogram, Series, head};
use crate::admission::Operation;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

static DURATIONS: [f64; 6] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5];
static WEBHOOK_DURATIONS: [f64; 8] = [0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10.0, 25.0];
static POLICY_DURATIONS: [f64; 5] = [5e-7, 0.001, 0.01, 0.1, 1.0];

/// The two halves of admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Admit,
    Validate,
}

impl Step {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admit => "admit",
            Self::Validate => "validate",
        }
    }
}

/// What became of a question to a webhook.
pub enum Asked {
    Allowed,
    /// It said no, with this code.
    Denied(u16),
    /// It could not be asked, and its policy says what that means.
    Failed {
        fails_open: bool,
    },
    /// The server itself could not go on with its answer.
    Internal,
}

pub struct AdmissionFigures {
    plugins: Family<Histogram>,
    steps: Family<Histogram>,
    webhooks: Family<Histogram>,
    webhook_requests: Family<Counter>,
    webhook_rejections: Family<Counter>,
    webhooks_open: Family<Counter>,
    condition_errors: Family<Counter>,
    condition_exclusions: Family<Counter>,
    pub validating_policies: PolicyFigures,
    pub mutating_policies: PolicyFigures,
    pub pod_security: PodSecurityFigures,
}

impl Default for AdmissionFigures {
    fn default() -> Self {
        let by_name = &["name", "type", "operation", "rejected"];
        let by_condition = &["name", "kind", "type", "operation"];
        Self {
            plugins: Family::new(
                "apiserver_admission_controller_admission_duration_seconds",
                "How long an admission plugin took.",
                by_name,
                || Histogram::new(&DURATIONS),
            ),
            steps: Family::new(
                "apiserver_admission_step_admission_duration_seconds",
                "How long all plugins of a step took together.",
                &["type", "operation", "rejected"],
                || Histogram::new(&DURATIONS),
            ),
            webhooks: Family::new(
                "apiserver_admission_webhook_admission_duration_seconds",
                "How long a webhook took.",
                by_name,
                || Histogram::new(&WEBHOOK_DURATIONS),
            ),
            webhook_requests: Family::new(
                "apiserver_admission_webhook_request_total",
                "Questions to webhooks.",
                &["name", "type", "operation", "code", "rejected"],
                Counter::default,
            ),
            webhook_rejections: Family::new(
                "apiserver_admission_webhook_rejection_count",
                "Writes refused because of a webhook.",
                &["name", "type", "operation", "error_type", "rejection_code"],
                Counter::default,
            ),
            webhooks_open: Family::new(
                "apiserver_admission_webhook_fail_open_count",
                "Failures of webhooks that were passed over.",
                &["name", "type"],
                Counter::default,
            ),
            condition_errors: Family::new(
                "apiserver_admission_match_condition_evaluation_errors_total",
                "Conditions that could not be evaluated.",
                by_condition,
                Counter::default,
            ),
            condition_exclusions: Family::new(
                "apiserver_admission_match_condition_exclusions_total",
                "Webhooks and policies not asked because of their conditions.",
                by_condition,
                Counter::default,
            ),
            validating_policies: PolicyFigures {
                checks: Family::new(
                    "apiserver_validating_admission_policy_check_total",
                    "Questions to validating policies.",
                    &["policy", "policy_binding", "error_type", "enforcement_action"],
                    Counter::default,
                ),
                durations: Family::new(
                    "apiserver_validating_admission_policy_check_duration_seconds",
                    "How long a validating policy took.",
                    &["policy", "policy_binding", "error_type", "enforcement_action"],
                    || Histogram::new(&POLICY_DURATIONS),
                ),
            },
            mutating_policies: PolicyFigures {
                checks: Family::new(
                    "apiserver_mutating_admission_policy_check_total",
                    "Questions to mutating policies.",
                    &["policy", "policy_binding", "error_type"],
                    Counter::default,
                ),
                durations: Family::new(
                    "apiserver_mutating_admission_policy_check_duration_seconds",
                    "How long a mutating policy took.",
                    &["policy", "policy_binding", "error_type"],
                    || Histogram::new(&POLICY_DURATIONS),
                ),
            },
            pod_security: PodSecurityFigures::default(),
        }
    }
}

impl AdmissionFigures {
    pub fn step(&self, step: Step, operation: Operation, rejected: bool, took: Duration) {
        self.steps.of(&[step.as_str(), operation.as_str(), yes_no(rejected)]).observe_time(took);
    }

    /// One question to one webhook.
    pub fn webhook(&self, name: &str, step: Step, operation: Operation, asked: &Asked, took: Duration) {
        let (step, operation) = (step.as_str(), operation.as_str());
        let (rejected, code) = match asked {
            Asked::Allowed => (false, 200),
            Asked::Denied(code) => (true, *code),
            Asked::Failed { fails_open } => (!fails_open, 0),
            Asked::Internal => (true, 0),
        };
        // Webhooks choose their codes; beyond this they are all the same.
        let text = code.min(600).to_string();
        self.webhooks.of(&[name, step, operation, yes_no(rejected)]).observe_time(took);
        self.webhook_requests.of(&[name, step, operation, &text, yes_no(rejected)]).count();
        let refused = |error: &str, code: &str| {
            self.webhook_rejections.of(&[name, step, operation, error, code]).count();
        };
        match asked {
            Asked::Allowed => {}
            Asked::Denied(_) => refused("no_error", &text),
            Asked::Failed { fails_open: true } => self.webhooks_open.of(&[name, step]).count(),
            Asked::Failed { fails_open: false } => refused("calling_webhook_error", "0"),
            Asked::Internal => refused("apiserver_internal_error", "0"),
        }
    }

    /// Conditions that kept a webhook from being asked, or could not say whether they do.
    pub fn condition(&self, name: &str, step: Step, operation: Operation, failed: bool) {
        let family = if failed { &self.condition_errors } else { &self.condition_exclusions };
        family.of(&[name, "webhook", step.as_str(), operation.as_str()]).count();
    }

    pub fn render(&self, out: &mut String) {
        self.plugins.render(out);
        self.steps.render(out);
        self.render_step_summary(out);
        self.webhooks.render(out);
        self.webhook_requests.render(out);
        self.webhook_rejections.render(out);
        self.webhooks_open.render(out);
        self.condition_errors.render(out);
        self.condition_exclusions.render(out);
        for policies in [&self.validating_policies, &self.mutating_policies] {
            policies.checks.render(out);
            policies.durations.render(out);
        }
        self.pod_security.evaluations.render(out);
        self.pod_security.exemptions.render(out);
        self.pod_security.errors.render(out);
    }

    /// The same figures once more under upstream's second name, without quantiles.
    fn render_step_summary(&self, out: &mut String) {
        let name = "apiserver_admission_step_admission_duration_seconds_summary";
        let all = self.steps.all();
        if !all.is_empty() {
            head(out, name, "summary", "How long all plugins of a step took together.");
        }
        for series in all {
            series.render_summary(name, &series.labels, out);
        }
    }
}

/// The figures of the plugins that are on, by their places.
pub struct Plugins(Vec<OnceLock<Arc<Series<Histogram>>>>);

impl Plugins {
    const STEPS: usize = 2;
    const OPERATIONS: usize = 4;
    const VERDICTS: usize = 2;

    pub fn new(count: usize) -> Self {
        let all = count * Self::STEPS * Self::OPERATIONS * Self::VERDICTS;
        Self((0..all).map(|_| OnceLock::new()).collect())
    }

    pub fn observe(
        &self,
        figures: &AdmissionFigures,
        plugin: (usize, &str),
        step: Step,
        operation: Operation,
        rejected: bool,
        took: Duration,
    ) {
        let (place, name) = plugin;
        let index = ((place * Self::STEPS + step as usize) * Self::OPERATIONS + operation as usize) * Self::VERDICTS
            + usize::from(rejected);
        if let Some(slot) = self.0.get(index) {
            let find = || figures.plugins.of(&[name, step.as_str(), operation.as_str(), yes_no(rejected)]);
            slot.get_or_init(find).observe_time(took);
        }
    }
}

/// What is counted of policies in CEL.
pub struct PolicyFigures {
    checks: Family<Counter>,
    durations: Family<Histogram>,
}

impl PolicyFigures {
    /// `labels` are the policy, its binding, the kind of error, and for validating policies
    /// what was done.
    pub fn checked(&self, labels: &[&str], took: Duration) {
        self.checks.of(labels).count();
        self.durations.of(labels).observe_time(took);
    }
}

/// What PodSecurity decided.
pub struct PodSecurityFigures {
    pub evaluations: Family<Counter>,
    pub exemptions: Family<Counter>,
    pub errors: Family<Counter>,
}

impl Default for PodSecurityFigures {
    fn default() -> Self {
        Self {
            evaluations: Family::new(
                "pod_security_evaluations_total",
                "Pods and templates that were held against a level.",
                &["decision", "policy_level", "policy_version", "mode", "request_operation", "resource", "subresource"],
                Counter::default,
            ),
            exemptions: Family::new(
                "pod_security_exemptions_total",
                "Requests that are exempt.",
                &["request_operation", "resource", "subresource"],
                Counter::default,
            ),
            errors: Family::new(
                "pod_security_errors_total",
                "Requests that could not be judged, or only by default.",
                &["fatal", "request_operation", "resource", "subresource"],
                Counter::default,
            ),
        }
    }
}

pub fn yes_no(yes: bool) -> &'static str {
    if yes { "true" } else { "false" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_to_a_webhook_is_counted_by_its_outcome() {
        let figures = AdmissionFigures::default();
        let ask = |asked| figures.webhook("h", Step::Validate, Operation::Create, &asked, Duration::from_millis(1));
        ask(Asked::Allowed);
        ask(Asked::Denied(999));
        ask(Asked::Failed { fails_open: true });
        ask(Asked::Failed { fails_open: false });
        let mut out = String::new();
        figures.render(&mut out);
        for line in [
            "apiserver_admission_webhook_request_total{code=\"200\",name=\"h\",operation=\"CREATE\",rejected=\"false\",type=\"validate\"} 1",
            "apiserver_admission_webhook_request_total{code=\"600\",name=\"h\",operation=\"CREATE\",rejected=\"true\",type=\"validate\"} 1",
            "apiserver_admission_webhook_rejection_count{error_type=\"no_error\",name=\"h\",operation=\"CREATE\",rejection_code=\"600\",type=\"validate\"} 1",
            "apiserver_admission_webhook_rejection_count{error_type=\"calling_webhook_error\",name=\"h\",operation=\"CREATE\",rejection_code=\"0\",type=\"validate\"} 1",
            "apiserver_admission_webhook_fail_open_count{name=\"h\",type=\"validate\"} 1",
            "apiserver_admission_webhook_admission_duration_seconds_count{name=\"h\",operation=\"CREATE\",rejected=\"true\",type=\"validate\"} 2",
        ] {
            assert!(out.contains(&format!("{line}\n")), "{line}\n{out}");
        }
    }
}
