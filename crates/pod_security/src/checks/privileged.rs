//! Baseline: no container with the rights of the host.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::containers;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "privileged",
    level: Level::Baseline,
    variants: &[Variant { since: 0, judge: none_privileged, replaces: None }],
};

fn none_privileged(subject: Subject<'_>) -> Option<Violation> {
    let bad = subject.containers_where(|container| {
        present(container, &["securityContext", "privileged"]) == Some(&Value::Bool(true))
    });
    (!bad.is_empty()).then(|| {
        Violation::new("privileged", format!("{} must not set securityContext.privileged=true", containers(&bad)))
    })
}
