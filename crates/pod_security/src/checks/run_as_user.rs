//! Restricted: nobody asks for user 0. From 1.35 on one may in a user namespace.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::setters;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "runAsUser",
    level: Level::Restricted,
    variants: &[
        Variant { since: 23, judge: never_zero, replaces: None },
        Variant { since: 35, judge: never_zero_outside_user_namespaces, replaces: None },
    ],
};

fn never_zero(subject: Subject<'_>) -> Option<Violation> {
    let is_zero = |user: Option<&Value>| user.and_then(Value::as_i64) == Some(0);
    let of_pod = is_zero(subject.spec(&["securityContext", "runAsUser"]));
    let bad = subject.containers_where(|container| is_zero(present(container, &["securityContext", "runAsUser"])));
    let setters = setters(of_pod, &bad)?;
    Some(Violation::new("runAsUser=0", format!("{setters} must not set runAsUser=0")))
}

fn never_zero_outside_user_namespaces(subject: Subject<'_>) -> Option<Violation> {
    if subject.has_user_namespace() { None } else { never_zero(subject) }
}
