//! Restricted: somebody must promise that no container runs as root, the pod for all of
//! its containers or each for itself. From 1.35 on a user namespace is promise enough.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::{containers, setters};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "runAsNonRoot",
    level: Level::Restricted,
    variants: &[
        Variant { since: 0, judge: must_be_promised, replaces: None },
        Variant { since: 35, judge: must_be_promised_outside_user_namespaces, replaces: None },
    ],
};

const REASON: &str = "runAsNonRoot != true";

fn must_be_promised(subject: Subject<'_>) -> Option<Violation> {
    let of_pod = subject.spec(&["securityContext", "runAsNonRoot"]).and_then(Value::as_bool);
    let of = |container| present(container, &["securityContext", "runAsNonRoot"]).and_then(Value::as_bool);
    let denying = subject.containers_where(|container| of(container) == Some(false));
    if let Some(setters) = setters(of_pod == Some(false), &denying) {
        return Some(Violation::new(REASON, format!("{setters} must not set securityContext.runAsNonRoot=false")));
    }
    if of_pod == Some(true) {
        return None;
    }
    let silent = subject.containers_where(|container| of(container).is_none());
    (!silent.is_empty()).then(|| {
        let detail = format!("pod or {} must set securityContext.runAsNonRoot=true", containers(&silent));
        Violation::new(REASON, detail)
    })
}

fn must_be_promised_outside_user_namespaces(subject: Subject<'_>) -> Option<Violation> {
    if subject.has_user_namespace() { None } else { must_be_promised(subject) }
}
