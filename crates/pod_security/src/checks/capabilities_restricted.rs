//! Restricted: every capability is dropped, and only the one for low ports comes back.

use super::super::evaluate::{Check, Subject, Variant, Violation};
use super::super::policy::Level;
use super::capabilities_baseline::{self, adding_others_than};
use super::wording::{containers, quoted};
use ferry_api::object::Meta;

pub(super) const CHECK: Check = Check {
    id: "capabilities_restricted",
    level: Level::Restricted,
    variants: &[
        Variant { since: 22, judge: all_are_dropped, replaces: Some(capabilities_baseline::CHECK.id) },
        Variant { since: 25, judge: all_are_dropped_but_on_windows, replaces: Some(capabilities_baseline::CHECK.id) },
    ],
};

fn all_are_dropped(subject: Subject<'_>) -> Option<Violation> {
    let keeping = subject.containers_where(|container| {
        !container.items_at(&["securityContext", "capabilities", "drop"]).iter().any(|name| name == "ALL")
    });
    let (adding, forbidden) = adding_others_than(subject, &["NET_BIND_SERVICE"]);
    let mut details = Vec::new();
    if !keeping.is_empty() {
        details.push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", containers(&keeping)));
    }
    if !adding.is_empty() {
        let (adding, forbidden) = (containers(&adding), quoted(forbidden));
        details.push(format!("{adding} must not include {forbidden} in securityContext.capabilities.add"));
    }
    (!details.is_empty()).then(|| Violation::new("unrestricted capabilities", details.join("; ")))
}

fn all_are_dropped_but_on_windows(subject: Subject<'_>) -> Option<Violation> {
    if subject.is_windows() { None } else { all_are_dropped(subject) }
}
