//! Baseline: no namespaces of the host.

use super::super::evaluate::{Check, Subject, Variant, Violation};
use super::super::policy::Level;

pub(super) const CHECK: Check = Check {
    id: "hostNamespaces",
    level: Level::Baseline,
    variants: &[Variant { since: 0, judge: none_of_the_host, replaces: None }],
};

fn none_of_the_host(subject: Subject<'_>) -> Option<Violation> {
    let shared: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
        .into_iter()
        .filter(|field| subject.is_set(&[field]))
        .map(|field| format!("{field}=true"))
        .collect();
    (!shared.is_empty()).then(|| Violation::new("host namespaces", shared.join(", ")))
}
