//! Baseline: a seccomp profile that is named is the runtime's or one that the host has.
//! Before 1.19 profiles stood in annotations.

use super::super::evaluate::{Check, Subject, Variant, Violation, name, present};
use super::super::policy::Level;
use super::wording::{Values, plural, quoted, setters};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    id: "seccompProfile_baseline",
    level: Level::Baseline,
    variants: &[
        Variant { since: 0, judge: only_known_annotations, replaces: None },
        Variant { since: 19, judge: only_known_profiles, replaces: None },
    ],
};

const POD_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
const CONTAINER_ANNOTATION_PREFIX: &str = "container.seccomp.security.alpha.kubernetes.io/";

fn only_known_annotations(subject: Subject<'_>) -> Option<Violation> {
    let is_known =
        |value: &str| matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/");
    let keys = subject.containers().map(|container| format!("{CONTAINER_ANNOTATION_PREFIX}{}", name(container)));
    let forbidden: BTreeSet<String> = std::iter::once(POD_ANNOTATION.to_owned())
        .chain(keys)
        .filter_map(|key| {
            let value = subject.annotation(&key).filter(|value| !is_known(value))?;
            Some(format!("{key}={value:?}"))
        })
        .collect();
    (!forbidden.is_empty()).then(|| {
        let annotations = plural("annotation", "annotations", forbidden.len());
        let list = forbidden.into_iter().collect::<Vec<_>>().join(", ");
        Violation::new("seccompProfile", format!("forbidden {annotations} {list}"))
    })
}

fn only_known_profiles(subject: Subject<'_>) -> Option<Violation> {
    let profiles = Profiles::of(subject);
    profiles.forbidden()
}

/// Who says what about seccomp.
pub(super) struct Profiles<'a> {
    /// The pod's profile; `None` where it names none.
    pub of_pod: Option<&'a str>,
    values: Values<'a>,
    bad: Vec<&'a str>,
    /// The containers that name none.
    pub silent: Vec<&'a str>,
}

impl<'a> Profiles<'a> {
    pub(super) fn of(subject: Subject<'a>) -> Self {
        let of_pod = subject.spec(&["securityContext", "seccompProfile"]).map(kind);
        let mut values: Values<'a> = of_pod.filter(|kind| !is_known(kind)).into_iter().collect();
        let of = |container| present(container, &["securityContext", "seccompProfile"]).map(kind);
        let bad = subject.containers_where(|container| {
            let found = of(container).filter(|kind| !is_known(kind));
            values.extend(found);
            found.is_some()
        });
        let silent = subject.containers_where(|container| of(container).is_none());
        Self { of_pod, values, bad, silent }
    }

    pub(super) fn forbidden(&self) -> Option<Violation> {
        let setters = setters(self.of_pod.is_some_and(|kind| !is_known(kind)), &self.bad)?;
        let values = quoted(self.values.iter().copied());
        let detail = format!("{setters} must not set securityContext.seccompProfile.type to {values}");
        Some(Violation::new("seccompProfile", detail))
    }
}

fn kind(profile: &Value) -> &str {
    profile.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn is_known(kind: &str) -> bool {
    matches!(kind, "Localhost" | "RuntimeDefault")
}
