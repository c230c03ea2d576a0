//! Baseline: only SELinux types for containers, and neither a user nor a role.

use super::super::evaluate::{Check, Subject, Variant, Violation, present};
use super::super::policy::Level;
use super::wording::{Values, plural, quoted, setters};
use ferry_api::object::Meta;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    id: "seLinuxOptions",
    level: Level::Baseline,
    variants: &[
        Variant { since: 0, judge: |subject| only_types(subject, &TYPES), replaces: None },
        Variant { since: 31, judge: |subject| only_types(subject, &TYPES_1_31), replaces: None },
    ],
};

const TYPES: [&str; 4] = ["", "container_t", "container_init_t", "container_kvm_t"];
const TYPES_1_31: [&str; 5] = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];

fn only_types(subject: Subject<'_>, allowed: &[&str]) -> Option<Violation> {
    let mut found = Found::default();
    let of_pod = subject.spec(&["securityContext", "seLinuxOptions"]).is_some_and(|set| found.look_at(set, allowed));
    let bad = subject.containers_where(|container| {
        present(container, &["securityContext", "seLinuxOptions"]).is_some_and(|set| found.look_at(set, allowed))
    });
    let setters = setters(of_pod, &bad)?;
    let mut faults = Vec::new();
    if !found.types.is_empty() {
        let types = plural("type", "types", found.types.len());
        faults.push(format!("{types} {}", quoted(found.types)));
    }
    if found.user {
        faults.push("user may not be set".to_owned());
    }
    if found.role {
        faults.push("role may not be set".to_owned());
    }
    let detail = format!("{setters} set forbidden securityContext.seLinuxOptions: {}", faults.join("; "));
    Some(Violation::new("seLinuxOptions", detail))
}

/// What was set that may not be.
#[derive(Default)]
struct Found<'a> {
    types: Values<'a>,
    user: bool,
    role: bool,
}

impl<'a> Found<'a> {
    /// Whether anything is wrong with these options.
    fn look_at(&mut self, options: &'a Value, allowed: &[&str]) -> bool {
        let kind = options.str_at(&["type"]);
        let bad_type = !allowed.contains(&kind);
        if bad_type {
            self.types.insert(kind);
        }
        let (user, role) = (!options.str_at(&["user"]).is_empty(), !options.str_at(&["role"]).is_empty());
        self.user |= user;
        self.role |= role;
        bad_type || user || role
    }
}
