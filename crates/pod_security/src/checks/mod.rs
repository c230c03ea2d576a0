//! The checks, one a file, and the table of all of them. The rules are those of
//! upstream's staging/src/k8s.io/pod-security-admission/policy; what a client reads in a
//! verdict is the same to the letter.
//!
//! To add a check: write `<check>.rs` with its `CHECK` and add its line to [`ALL`].

mod allow_privilege_escalation;
mod app_armor;
mod capabilities_baseline;
mod capabilities_restricted;
mod host_namespaces;
mod host_path_volumes;
mod host_ports;
mod host_probes;
mod privileged;
mod proc_mount;
mod restricted_volumes;
mod run_as_non_root;
mod run_as_user;
mod se_linux;
mod seccomp_baseline;
mod seccomp_restricted;
mod sysctls;
mod windows_host_process;
mod wording;

use super::evaluate::Check;

/// Those of each level in the order of their names, which is the order of the verdicts.
pub(super) static ALL: &[&Check] = &[
    &app_armor::CHECK,
    &capabilities_baseline::CHECK,
    &host_namespaces::CHECK,
    &host_path_volumes::CHECK,
    &host_ports::CHECK,
    &host_probes::CHECK,
    &privileged::CHECK,
    &proc_mount::BASELINE,
    &se_linux::CHECK,
    &seccomp_baseline::CHECK,
    &sysctls::CHECK,
    &windows_host_process::CHECK,
    &allow_privilege_escalation::CHECK,
    &capabilities_restricted::CHECK,
    &proc_mount::RESTRICTED,
    &restricted_volumes::CHECK,
    &run_as_non_root::CHECK,
    &run_as_user::CHECK,
    &seccomp_restricted::CHECK,
];
