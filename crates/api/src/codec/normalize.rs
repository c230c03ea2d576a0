//! What Go's structs do to a value on the way through: `omitempty` drops what is zero,
//! and what is not `omitempty` appears even when nobody set it (`resources: {}`,
//! `status: {}`, `lastProbeTime: null`). Stored objects have this form, so that two
//! objects that mean the same are equal bytes. The decoder applies it as it reads; the
//! write path applies it again after defaulting and admission have changed the object.

use crate::schema::{Field, Special, Type, TypeDef, builtin};
use serde_json::{Map, Value};

/// Makes an object of this type what upstream's encoding of it would be. Unknown fields
/// are dropped; values of a wrong type are left for validation to name.
pub fn normalize(value: &mut Value, definition: &TypeDef) {
    let Value::Object(map) = value else { return };
    map.retain(|key, value| match definition.field(key) {
        Some(field) => {
            if !value.is_null() {
                normalize_type(value, &field.ty);
            }
            !is_omitted(field, value)
        }
        None => definition.preserve_unknown,
    });
    fill(map, definition);
}

/// The value of a struct that nobody has set anything in.
pub fn zero_struct(definition: &TypeDef) -> Value {
    let mut map = Map::new();
    fill(&mut map, definition);
    Value::Object(map)
}

/// Adds the fields that Go writes even when they are zero.
pub(crate) fn fill(map: &mut Map<String, Value>, definition: &TypeDef) {
    for field in definition.always_written() {
        if !map.contains_key(field.name.as_ref()) {
            let zero = if field.pointer { Value::Null } else { zero(&field.ty) };
            map.insert(field.name.to_string(), zero);
        }
    }
}

/// Whether Go leaves this value of this field out. A null is nobody's value: the field is
/// taken as absent and comes back in [`fill`] where Go writes it.
pub(crate) fn is_omitted(field: &Field, value: &Value) -> bool {
    if value.is_null() {
        // A pointer without omitempty and a time that is no pointer show their null.
        return !field.always_written();
    }
    if field.pointer || !field.omitempty {
        return false;
    }
    match (&field.ty, value) {
        (Type::Struct(_) | Type::Special(_), _) => false,
        (_, Value::Bool(flag)) => !flag,
        (_, Value::Number(number)) => number.as_f64() == Some(0.0),
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Array(items)) => items.is_empty(),
        (_, Value::Object(entries)) => entries.is_empty(),
        (_, Value::Null) => true,
    }
}

/// Go's zero value as JSON shows it.
pub(crate) fn zero(ty: &Type) -> Value {
    match ty {
        Type::Bool => false.into(),
        Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => 0.into(),
        Type::String => "".into(),
        Type::Bytes | Type::List(_) | Type::Map(_) => Value::Null,
        Type::Struct(reference) => zero_struct(reference.get()),
        Type::Special(special) => match special {
            Special::Duration => "0s".into(),
            Special::Quantity => "0".into(),
            Special::IntOrString => 0.into(),
            Special::JsonSchemaPropsOrBool => false.into(),
            _ => Value::Null,
        },
    }
}

fn normalize_type(value: &mut Value, ty: &Type) {
    match (ty, value) {
        (Type::Struct(reference), value) => normalize(value, reference.get()),
        (Type::List(item), Value::Array(items)) => {
            items.iter_mut().for_each(|value| normalize_element(value, item));
        }
        (Type::Map(item), Value::Object(entries)) => {
            entries.values_mut().for_each(|value| normalize_element(value, item));
        }
        (
            Type::Special(
                Special::JsonSchemaPropsOrArray
                | Special::JsonSchemaPropsOrBool
                | Special::JsonSchemaPropsOrStringArray,
            ),
            value,
        ) => match (json_schema_props(), value) {
            (Some(props), Value::Array(items)) => items.iter_mut().for_each(|item| normalize(item, props)),
            (Some(props), value) => normalize(value, props),
            (None, _) => {}
        },
        _ => {}
    }
}

/// A null in a list or map is the zero value there, since elements are no pointers.
fn normalize_element(value: &mut Value, ty: &Type) {
    if value.is_null() {
        *value = zero(ty);
    } else {
        normalize_type(value, ty);
    }
}

/// The type that the three `JSONSchemaPropsOr…` wrap.
pub(crate) fn json_schema_props() -> Option<&'static TypeDef> {
    builtin().get("apiextensions/v1", "JSONSchemaProps").map(AsRef::as_ref)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(package: &str, name: &str, mut value: Value, expected: Value) {
        let definition = builtin().get(package, name).expect("a type");
        normalize(&mut value, definition);
        assert_eq!(value, expected);
        normalize(&mut value, definition);
        assert_eq!(value, expected, "a second pass changes nothing");
    }

    #[test]
    fn zeros_vanish_and_structs_appear() {
        check(
            "core/v1",
            "Pod",
            json!({"metadata": {"name": "a", "labels": {}, "generation": 0, "creationTimestamp": null},
                   "spec": {"nodeName": "", "hostNetwork": false, "terminationGracePeriodSeconds": 0,
                            "containers": [{"name": "c", "ports": []}], "bogus": 1}}),
            json!({"metadata": {"name": "a"},
                   "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "c", "resources": {}}]},
                   "status": {}}),
        );
        check(
            "apps/v1",
            "Deployment",
            json!({"spec": {"selector": null}}),
            json!({"metadata": {}, "spec": {"selector": null, "strategy": {},
                   "template": {"metadata": {}, "spec": {"containers": null}}}, "status": {}}),
        );
    }

    #[test]
    fn times_and_quantities_that_are_no_pointers_show_their_zero() {
        check(
            "core/v1",
            "PodCondition",
            json!({"type": "Ready", "status": "True"}),
            json!({"type": "Ready", "status": "True", "lastProbeTime": null, "lastTransitionTime": null}),
        );
        check(
            "core/v1",
            "ResourceFieldSelector",
            json!({"resource": "cpu"}),
            json!({"resource": "cpu", "divisor": "0"}),
        );
        check("rbac/v1", "Role", json!({}), json!({"metadata": {}, "rules": null}));
    }
}
