//! Rules that the table of facts states: required fields and the values of an enumeration.
//! Validation of a kind calls them where upstream checks the same, so that a rule stands
//! once, in `api/facts`, for validation as for OpenAPI.

use super::equality::type_of;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::schema::{Type, TypeDef};
use serde_json::Value;
use std::ops::Deref;
use std::sync::OnceLock;

/// One `Required` error for each required text or list that is empty, in the order of
/// declaration. Numbers and structs are not looked at: their zero values are values.
pub fn validate_required(errors: &mut ErrorList, definition: &TypeDef, value: &Value, path: &Path) {
    for field in definition.fields.iter().filter(|field| field.required) {
        let is_empty = match field.ty {
            Type::String => value.text(&field.name).is_empty(),
            Type::List(_) => value.list(&field.name).is_empty(),
            _ => false,
        };
        if is_empty {
            errors.push(Error::required(&path.child(&field.name), ""));
        }
    }
}

/// The same for a field of a builtin type: of `nfs` in a `Volume`, its server and its path.
pub fn validate_required_of(errors: &mut ErrorList, holder: &str, key: &str, value: &Value, path: &Path) {
    if let Some(Type::Struct(reference)) = type_of("core/v1", holder).and_then(|t| t.field(key)).map(|field| &field.ty)
    {
        validate_required(errors, reference.get(), value, path);
    }
}

/// The values that the facts declare for a field, in the order in which errors list them.
pub struct DeclaredValues {
    package: &'static str,
    type_name: &'static str,
    field: &'static str,
    list: OnceLock<Vec<&'static str>>,
}

impl DeclaredValues {
    pub const fn of(package: &'static str, type_name: &'static str, field: &'static str) -> Self {
        Self { package, type_name, field, list: OnceLock::new() }
    }
}

impl Deref for DeclaredValues {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.list.get_or_init(|| {
            let field = type_of(self.package, self.type_name).and_then(|definition| definition.field(self.field));
            let values = field.and_then(|field| field.enum_values.as_deref()).unwrap_or_default();
            values.iter().map(|value| &**value).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::texts;
    use serde_json::json;

    #[test]
    fn a_source_lacks_what_the_facts_require() {
        for (holder, key, source, expected) in [
            ("Volume", "nfs", json!({"server": "a", "path": "/"}), vec![]),
            ("Volume", "nfs", json!({"server": ""}), vec!["at.server: Required value", "at.path: Required value"]),
            ("Volume", "rbd", json!({"monitors": [], "image": "a"}), vec!["at.monitors: Required value"]),
            ("PersistentVolumeSpec", "iscsi", json!({"iqn": "a", "targetPortal": "b"}), vec![]),
            ("Volume", "emptyDir", json!({}), vec![]),
            ("Volume", "unknown", json!({}), vec![]),
        ] {
            let mut errors = ErrorList::new();
            validate_required_of(&mut errors, holder, key, &source, &Path::new("at"));
            assert_eq!(texts(&errors), expected, "{key} {source}");
        }
    }

    #[test]
    fn the_values_of_a_field_are_those_of_its_enumeration() {
        static PULL_POLICIES: DeclaredValues = DeclaredValues::of("core/v1", "Container", "imagePullPolicy");
        static NOTHING: DeclaredValues = DeclaredValues::of("core/v1", "Container", "image");
        assert_eq!(*PULL_POLICIES, ["Always", "IfNotPresent", "Never"]);
        assert!(NOTHING.is_empty());
    }
}
