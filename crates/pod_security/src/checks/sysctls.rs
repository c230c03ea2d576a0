//! Baseline: only kernel parameters that concern the pod alone; newer kernels made more
//! of them so, and newer versions allow these.

use super::super::evaluate::{Check, Subject, Variant, Violation, name};
use super::super::policy::Level;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "sysctls",
    level: Level::Baseline,
    variants: &[
        Variant { since: 0, judge: |subject| only_first(subject, 5), replaces: None },
        Variant { since: 27, judge: |subject| only_first(subject, 6), replaces: None },
        Variant { since: 29, judge: |subject| only_first(subject, 10), replaces: None },
        Variant { since: 32, judge: |subject| only_first(subject, SAFE.len()), replaces: None },
    ],
};

/// In the order in which versions came to allow them.
const SAFE: [&str; 12] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    // 1.27
    "net.ipv4.ip_local_reserved_ports",
    // 1.29
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    // 1.32
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
];

fn only_first(subject: Subject<'_>, count: usize) -> Option<Violation> {
    let sysctls = subject.spec(&["securityContext", "sysctls"]).and_then(Value::as_array);
    let bad: Vec<&str> = sysctls.into_iter().flatten().map(name).filter(|name| !SAFE[..count].contains(name)).collect();
    (!bad.is_empty()).then(|| Violation::new("forbidden sysctls", bad.join(", ")))
}
