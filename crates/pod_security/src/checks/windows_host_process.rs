//! Baseline: no process of the host on Windows.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::setters;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "windowsHostProcess",
    level: Level::Baseline,
    variants: &[Variant { since: 0, judge: no_host_process, replaces: None }],
};

const FIELD: [&str; 3] = ["securityContext", "windowsOptions", "hostProcess"];

fn no_host_process(subject: Subject<'_>) -> Option<Violation> {
    let bad = subject.containers_where(|container| present(container, &FIELD) == Some(&Value::Bool(true)));
    let setters = setters(subject.is_set(&FIELD), &bad)?;
    Some(Violation::new(
        "hostProcess",
        format!("{setters} must not set securityContext.windowsOptions.hostProcess=true"),
    ))
}
