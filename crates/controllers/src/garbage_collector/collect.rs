//! What is to be done with an object, once it is known how its owners are.

use super::graph::{FOREGROUND, ORPHAN};
use ferry_api::view::meta::v1::ObjectMetaView;

/// How the API found an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It exists and stays.
    Solid,
    /// There is no such object.
    Absent,
    /// It is being deleted and waits for its dependents.
    Waiting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    /// Another owner keeps it; these references go.
    DropReferences(Vec<String>),
    Delete(Policy),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Background,
    Orphan,
    /// `unblock` frees the owners first, which is how a circle of waiting objects ends.
    Foreground {
        unblock: bool,
    },
}

impl Policy {
    pub(super) fn name(self) -> &'static str {
        match self {
            Policy::Background => "Background",
            Policy::Orphan => "Orphan",
            Policy::Foreground { .. } => "Foreground",
        }
    }
}

/// What the graph knows of the object's own dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dependents {
    None,
    Some,
    /// At least one of them waits for its own dependents.
    SomeWaiting,
}

/// Decides over an object by its owners, each by its uid.
pub(super) fn plan_collection(latest: ObjectMetaView<'_>, owners: &[(&str, Owner)], dependents: Dependents) -> Verdict {
    let is = |wanted: Owner| owners.iter().any(|(_, owner)| *owner == wanted);
    if owners.is_empty() {
        return Verdict::Keep;
    }
    if is(Owner::Solid) {
        let leave = owners.iter().filter(|(_, owner)| *owner != Owner::Solid);
        let leave: Vec<String> = leave.map(|(uid, _)| (*uid).to_owned()).collect();
        return if leave.is_empty() { Verdict::Keep } else { Verdict::DropReferences(leave) };
    }
    if is(Owner::Waiting) && dependents != Dependents::None {
        return Verdict::Delete(Policy::Foreground { unblock: dependents == Dependents::SomeWaiting });
    }
    Verdict::Delete(if latest.finalizers().contains(ORPHAN) {
        Policy::Orphan
    } else if latest.finalizers().contains(FOREGROUND) {
        Policy::Foreground { unblock: false }
    } else {
        Policy::Background
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(finalizers: &[&str], owners: &[(&str, Owner)], dependents: Dependents, expected: Verdict) {
        let latest = json!({"finalizers": finalizers});
        assert_eq!(plan_collection((&latest).into(), owners, dependents), expected);
    }

    #[test]
    fn an_object_lives_as_long_as_one_owner_does() {
        use Dependents as D;
        use Owner::{Absent, Solid, Waiting};
        let foreground = |unblock| Verdict::Delete(Policy::Foreground { unblock });
        check(&[], &[], D::None, Verdict::Keep);
        check(&[], &[("a", Solid)], D::None, Verdict::Keep);
        check(
            &[],
            &[("a", Solid), ("b", Absent), ("c", Waiting)],
            D::None,
            Verdict::DropReferences(vec!["b".into(), "c".into()]),
        );
        check(&[], &[("a", Absent)], D::Some, Verdict::Delete(Policy::Background));
        check(&[], &[("a", Waiting)], D::None, Verdict::Delete(Policy::Background));
        check(&[], &[("a", Waiting)], D::Some, foreground(false));
        check(&[], &[("a", Waiting)], D::SomeWaiting, foreground(true));
        check(&[ORPHAN], &[("a", Absent)], D::Some, Verdict::Delete(Policy::Orphan));
        check(&[FOREGROUND], &[("a", Absent)], D::None, foreground(false));
    }
}
