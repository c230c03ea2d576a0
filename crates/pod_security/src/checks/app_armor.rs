//! Baseline: the runtime's AppArmor profile, or one that the host has, and no other.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::{Values, containers, plural, quoted};
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "appArmorProfile",
    level: Level::Baseline,
    variants: &[Variant { since: 0, judge: only_known_profiles, replaces: None }],
};

const ANNOTATION_PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";

fn only_known_profiles(subject: Subject<'_>) -> Option<Violation> {
    let mut values = Values::new();
    let mut setters = Vec::new();
    if let Some(bad) = subject.spec(&["securityContext", "appArmorProfile"]).and_then(bad_type) {
        values.insert(bad);
        setters.push("pod".to_owned());
    }
    let bad = subject.containers_where(|container| {
        let found = present(container, &["securityContext", "appArmorProfile"]).and_then(bad_type);
        values.extend(found);
        found.is_some()
    });
    if !bad.is_empty() {
        setters.push(containers(&bad));
    }
    let is_bad = |value: &str| !value.is_empty() && value != "runtime/default" && !value.starts_with("localhost/");
    let mut annotations: Vec<String> = subject
        .annotations()
        .filter(|(key, value)| key.starts_with(ANNOTATION_PREFIX) && is_bad(value))
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect();
    annotations.sort_unstable();
    if !annotations.is_empty() {
        setters.push(plural("annotation", "annotations", annotations.len()).to_owned());
    }
    if setters.is_empty() {
        return None;
    }
    let values: Vec<&str> = values.into_iter().chain(annotations.iter().map(String::as_str)).collect();
    let reason = plural("forbidden AppArmor profile", "forbidden AppArmor profiles", values.len());
    let detail = format!("{} must not set AppArmor profile type to {}", setters.join(" and "), quoted(values));
    Some(Violation { reason: reason.to_owned().into(), detail })
}

fn bad_type(profile: &Value) -> Option<&str> {
    let kind = profile.get("type").and_then(Value::as_str).unwrap_or_default();
    (!matches!(kind, "RuntimeDefault" | "Localhost")).then_some(kind)
}
