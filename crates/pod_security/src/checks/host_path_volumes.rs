//! Baseline: no files of the host.

use super::super::evaluate::{Check, Subject, Variant, Violation, name, present};
use super::super::policy::Level;
use super::wording::{plural, quoted};

pub(super) const CHECK: Check = Check {
    id: "hostPathVolumes",
    level: Level::Baseline,
    variants: &[Variant { since: 0, judge: no_host_paths, replaces: None }],
};

fn no_host_paths(subject: Subject<'_>) -> Option<Violation> {
    let bad: Vec<&str> =
        subject.volumes().iter().filter(|volume| present(volume, &["hostPath"]).is_some()).map(name).collect();
    (!bad.is_empty()).then(|| {
        let volumes = plural("volume", "volumes", bad.len());
        Violation::new("hostPath volumes", format!("{volumes} {}", quoted(bad)))
    })
}
