//! RoleBinding and ClusterRoleBinding: the strategy of who has which permissions, in a
//! namespace or everywhere.

use crate::Strategy;
use crate::names;
use crate::read::{Read, ReadNode, default_text, list_mut};
use crate::validation::each;
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use jiff::Timestamp;
use serde_json::{Value, json};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The binding of a role to subjects, within a namespace or everywhere.
pub(crate) struct Binding<const NAMESPACED: bool>;

impl<const NAMESPACED: bool> Strategy for Binding<NAMESPACED> {
    fn default(&self, binding: &mut Value) {
        for subject in list_mut(binding, "subjects") {
            if matches!(subject.text("kind"), "User" | "Group") {
                default_text(subject, "apiGroup", GROUP);
            }
        }
    }

    fn validate(&self, binding: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let roles: &[&str] = if NAMESPACED { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
        let kind = binding.field("roleRef").text("kind");
        if !roles.contains(&kind) {
            errors.push(Error::not_supported(&Path::new("roleRef").child("kind"), kind, roles));
        }
        for (index, subject) in binding.list("subjects").iter().enumerate() {
            validate_subject(&mut errors, subject, NAMESPACED, &Path::new("subjects").index(index));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate(new);
        validate_role_is_kept(&mut errors, new, old);
        errors
    }

    fn computed_cells(&self, binding: Node<'_>, _now: Timestamp) -> Vec<Value> {
        cells(binding)
    }
}

fn validate_subject(errors: &mut ErrorList, subject: &Value, namespaced: bool, path: &Path) {
    let (name, group) = (subject.text("name"), subject.text("apiGroup"));
    match subject.text("kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                each(errors, &path.child("name"), name, names::dns1123_subdomain(name, false));
            }
            if !group.is_empty() {
                errors.push(Error::not_supported(&path.child("apiGroup"), group, &[""]));
            }
            if !namespaced && subject.text("namespace").is_empty() {
                errors.push(Error::required(&path.child("namespace"), ""));
            }
        }
        "User" | "Group" if group != GROUP => {
            errors.push(Error::not_supported(&path.child("apiGroup"), group, &[GROUP]));
        }
        _ => {}
    }
}

/// A binding is to one role for good: what it grants changes only with the role.
fn validate_role_is_kept(errors: &mut ErrorList, new: &Value, old: &Value) {
    let (now, before) = (new.field("roleRef"), old.field("roleRef"));
    if ["apiGroup", "kind", "name"].iter().any(|key| now.text(key) != before.text(key)) {
        // Upstream shows its internal struct here, hence the capitals.
        let shown = json!({"APIGroup": now.text("apiGroup"), "Kind": now.text("kind"), "Name": now.text("name")});
        errors.push(Error::invalid(&Path::new("roleRef"), shown, "cannot change roleRef"));
    }
}

fn cells(binding: Node<'_>) -> Vec<Value> {
    let role = binding.field("roleRef");
    let subjects = |kind: &str| {
        let of_kind = binding.list("subjects").iter().filter(|subject| subject.text("kind") == kind);
        let text = |subject: Node<'_>| match kind {
            "ServiceAccount" => format!("{}/{}", subject.text("namespace"), subject.text("name")),
            _ => subject.text("name").to_owned(),
        };
        of_kind.map(text).collect::<Vec<_>>().join(", ")
    };
    vec![
        format!("{}/{}", role.text("kind"), role.text("name")).into(),
        subjects("User").into(),
        subjects("Group").into(),
        subjects("ServiceAccount").into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::Binding;
    use crate::testing::{cells, check, check_update};
    use serde_json::{Value, json};

    fn binding(role: &str) -> Value {
        json!({
            "metadata": {"name": "b"},
            "roleRef": {"kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "name": "eve"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
        })
    }

    #[test]
    fn subjects_and_roles_are_named() {
        check(&Binding::<true>, binding("view"), &[]);
        check(&Binding::<false>, binding("view"), &[]);
        check(
            &Binding::<false>,
            json!({"roleRef": {"kind": "Role", "name": "a"}, "subjects": [{"kind": "ServiceAccount", "name": "s"}, {"kind": "Robot", "name": "r"}]}),
            &[
                "roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\"",
                "subjects[0].namespace: Required value",
                "subjects[1].kind: Unsupported value: \"Robot\": supported values: \"ServiceAccount\", \"User\", \"Group\"",
            ],
        );
    }

    #[test]
    fn the_role_is_kept() {
        check_update(
            &Binding::<true>,
            binding("view"),
            binding("edit"),
            &[
                "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":\"edit\"}: cannot change roleRef",
            ],
        );
    }

    #[test]
    fn a_binding_shows_whom_it_binds() {
        assert_eq!(
            Value::from(cells("RoleBinding", binding("view"))),
            json!(["b", "ClusterRole/view", "10m", "eve", "", "n/s"])
        );
    }
}
