//! Restricted: a seccomp profile must be named, by the pod or by each container.

use super::super::evaluate::{Check, Subject, Variant, Violation};
use super::super::policy::Level;
use super::seccomp_baseline::{self, Profiles};
use super::wording::containers;

pub(super) const CHECK: Check = Check {
    id: "seccompProfile_restricted",
    level: Level::Restricted,
    variants: &[
        Variant { since: 19, judge: one_is_named, replaces: Some(seccomp_baseline::CHECK.id) },
        Variant { since: 25, judge: one_is_named_but_on_windows, replaces: Some(seccomp_baseline::CHECK.id) },
    ],
};

fn one_is_named(subject: Subject<'_>) -> Option<Violation> {
    let profiles = Profiles::of(subject);
    if let Some(forbidden) = profiles.forbidden() {
        return Some(forbidden);
    }
    (profiles.of_pod.is_none() && !profiles.silent.is_empty()).then(|| {
        let silent = containers(&profiles.silent);
        let detail = format!(
            r#"pod or {silent} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost""#
        );
        Violation::new("seccompProfile", detail)
    })
}

fn one_is_named_but_on_windows(subject: Subject<'_>) -> Option<Violation> {
    if subject.is_windows() { None } else { one_is_named(subject) }
}
