//! Baseline: no ports of the host.

use super::super::evaluate::{Check, Subject, Variant, Violation};
use super::super::policy::Level;
use super::wording::{containers, plural};
use ferry_api::object::Meta;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    id: "hostPorts",
    level: Level::Baseline,
    variants: &[Variant { since: 0, judge: no_host_ports, replaces: None }],
};

fn no_host_ports(subject: Subject<'_>) -> Option<Violation> {
    // Upstream sorts them as texts.
    let mut ports = BTreeSet::new();
    let bad = subject.containers_where(|container| {
        let taken: Vec<String> = container
            .items_at(&["ports"])
            .iter()
            .filter_map(|port| port.i64_at(&["hostPort"]).filter(|port| *port != 0))
            .map(|port| port.to_string())
            .collect();
        let any = !taken.is_empty();
        ports.extend(taken);
        any
    });
    (!bad.is_empty()).then(|| {
        let detail = format!(
            "{} {} {} {}",
            containers(&bad),
            plural("uses", "use", bad.len()),
            plural("hostPort", "hostPorts", ports.len()),
            ports.into_iter().collect::<Vec<_>>().join(", ")
        );
        Violation::new("hostPort", detail)
    })
}
