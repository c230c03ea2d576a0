//! Restricted: no container may gain more privileges than it was started with.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::containers;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "allowPrivilegeEscalation",
    level: Level::Restricted,
    variants: &[
        Variant { since: 8, judge: must_be_false, replaces: None },
        Variant { since: 25, judge: must_be_false_but_on_windows, replaces: None },
    ],
};

fn must_be_false(subject: Subject<'_>) -> Option<Violation> {
    let bad = subject.containers_where(|container| {
        present(container, &["securityContext", "allowPrivilegeEscalation"]) != Some(&Value::Bool(false))
    });
    (!bad.is_empty()).then(|| {
        let detail = format!("{} must set securityContext.allowPrivilegeEscalation=false", containers(&bad));
        Violation::new("allowPrivilegeEscalation != false", detail)
    })
}

fn must_be_false_but_on_windows(subject: Subject<'_>) -> Option<Violation> {
    if subject.is_windows() { None } else { must_be_false(subject) }
}
