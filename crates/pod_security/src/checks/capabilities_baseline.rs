//! Baseline: no capabilities beyond those that container runtimes give by default.

use super::super::evaluate::{Check, Subject, Variant, Violation};
use super::super::policy::Level;
use super::wording::{Values, containers, quoted};
use ferry_api::object::Meta;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "capabilities_baseline",
    level: Level::Baseline,
    variants: &[Variant { since: 0, judge: only_default_ones, replaces: None }],
};

const DEFAULT: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

fn only_default_ones(subject: Subject<'_>) -> Option<Violation> {
    let (bad, forbidden) = adding_others_than(subject, &DEFAULT);
    (!bad.is_empty()).then(|| {
        let detail =
            format!("{} must not include {} in securityContext.capabilities.add", containers(&bad), quoted(forbidden));
        Violation::new("non-default capabilities", detail)
    })
}

/// The containers that add capabilities that are not allowed, and these capabilities.
pub(super) fn adding_others_than<'a>(subject: Subject<'a>, allowed: &[&str]) -> (Vec<&'a str>, Values<'a>) {
    let mut forbidden = Values::new();
    let bad = subject.containers_where(|container| {
        let added = container.items_at(&["securityContext", "capabilities", "add"]);
        let others: Vec<&str> = added.iter().filter_map(Value::as_str).filter(|name| !allowed.contains(name)).collect();
        forbidden.extend(&others);
        !others.is_empty()
    });
    (bad, forbidden)
}
