//! Baseline and restricted: /proc stays masked. From 1.35 on baseline lets a pod with a
//! user namespace of its own unmask it, and restricted keeps the older rule.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::{Values, containers, quoted};
use serde_json::Value;

pub(super) const BASELINE: Check = Check {
    id: "procMount",
    level: Level::Baseline,
    variants: &[
        Variant { since: 0, judge: only_the_default, replaces: None },
        Variant { since: 35, judge: only_the_default_outside_user_namespaces, replaces: None },
    ],
};

pub(super) const RESTRICTED: Check = Check {
    id: "procMount_restricted",
    level: Level::Restricted,
    variants: &[Variant { since: 35, judge: only_the_default, replaces: Some(BASELINE.id) }],
};

fn only_the_default(subject: Subject<'_>) -> Option<Violation> {
    let mut forbidden = Values::new();
    let bad = subject.containers_where(|container| {
        let kind = present(container, &["securityContext", "procMount"]).and_then(Value::as_str);
        let found = kind.filter(|kind| *kind != "Default");
        forbidden.extend(found);
        found.is_some()
    });
    (!bad.is_empty()).then(|| {
        let (bad, forbidden) = (containers(&bad), quoted(forbidden));
        Violation::new("procMount", format!("{bad} must not set securityContext.procMount to {forbidden}"))
    })
}

fn only_the_default_outside_user_namespaces(subject: Subject<'_>) -> Option<Violation> {
    if subject.has_user_namespace() { None } else { only_the_default(subject) }
}
