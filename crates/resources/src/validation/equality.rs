//! Equality as upstream's Semantic.DeepEqual has it: what is absent equals the empty
//! value of its type unless the type is a pointer, an empty list equals none, and
//! quantities are compared as numbers. The schema says what is a pointer and a quantity.

use super::resources::quantity;
use super::{FIELD_IS_IMMUTABLE, shown};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::schema::{self, Special, Type, TypeDef};
use serde_json::{Map, Value};

/// Whether two values of a type mean the same. Without a type only empties are treated
/// as absent; `pointer` says whether upstream's field is one, where zero is not absent.
pub fn semantically_equal(a: Option<&Value>, b: Option<&Value>, ty: Option<&Type>, pointer: bool) -> bool {
    equal(present(a), present(b), ty, pointer)
}

/// Whether any of these top-level fields means something else than before. Objects of
/// builtin kinds are compared by their schema.
pub(crate) fn changed(new: &Value, old: &Value, fields: &[&str]) -> bool {
    let definition = schema::of_kind(&new.gvk());
    fields.iter().any(|key| {
        let field = definition.and_then(|definition| definition.field(key));
        let pointer = field.is_none_or(|field| field.pointer);
        !semantically_equal(new.get(key), old.get(key), field.map(|field| &field.ty), pointer)
    })
}

/// Whether what stands at a path means the same in both objects.
pub(crate) fn same_at(new: &Value, old: &Value, path: &[&str]) -> bool {
    same_in(schema::of_kind(&new.gvk()).map(|definition| &**definition), new, old, path)
}

/// The same for objects whose type is known.
pub(crate) fn same_in(mut definition: Option<&TypeDef>, new: &Value, old: &Value, path: &[&str]) -> bool {
    let (mut a, mut b) = (Some(new), Some(old));
    let (mut ty, mut pointer) = (None, true);
    for key in path {
        let field = definition.and_then(|definition| definition.field(key));
        ty = field.map(|field| &field.ty);
        pointer = field.is_none_or(|field| field.pointer);
        definition = match ty {
            Some(Type::Struct(reference)) => Some(reference.get()),
            _ => None,
        };
        a = a.and_then(|value| value.get(key));
        b = b.and_then(|value| value.get(key));
    }
    semantically_equal(a, b, ty, pointer)
}

/// What stands at a path never changes; `shown_at` is where the error says it stands.
pub fn validate_immutable(errors: &mut ErrorList, new: &Value, old: &Value, path: &[&str], shown_at: &Path) {
    if !same_at(new, old, path) {
        let value = path.iter().try_fold(new, |value, key| value.get(key));
        errors.push(Error::invalid(shown_at, shown(value), FIELD_IS_IMMUTABLE));
    }
}

/// A builtin type by its package and name.
pub(crate) fn type_of(package: &str, name: &str) -> Option<&'static TypeDef> {
    schema::builtin().get(package, name).map(|definition| definition.as_ref())
}

fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

fn equal(a: Option<&Value>, b: Option<&Value>, ty: Option<&Type>, pointer: bool) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(one), None) | (None, Some(one)) => is_zero(one, ty, pointer),
        (Some(Value::Object(a)), Some(Value::Object(b))) => equal_fields(a, b, ty) && equal_fields_left_out(a, b, ty),
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            let item = match ty {
                Some(Type::List(item)) => Some(item.as_ref()),
                _ => None,
            };
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(present(Some(a)), present(Some(b)), item, false))
        }
        (Some(a), Some(b)) => a == b || same_quantity(a, b, ty),
    }
}

/// Every field of `a` against `b`'s.
fn equal_fields(a: &Map<String, Value>, b: &Map<String, Value>, ty: Option<&Type>) -> bool {
    a.iter().all(|(key, value)| {
        let (ty, pointer) = field_type(ty, key);
        equal(present(Some(value)), present(b.get(key)), ty, pointer)
    })
}

/// The fields of `b` that `a` has not.
fn equal_fields_left_out(a: &Map<String, Value>, b: &Map<String, Value>, ty: Option<&Type>) -> bool {
    b.iter().filter(|(key, _)| !a.contains_key(*key)).all(|(key, value)| {
        let (ty, pointer) = field_type(ty, key);
        equal(None, present(Some(value)), ty, pointer)
    })
}

fn field_type<'a>(ty: Option<&'a Type>, key: &str) -> (Option<&'a Type>, bool) {
    match ty {
        Some(Type::Struct(reference)) => match reference.get().field(key) {
            Some(field) => (Some(&field.ty), field.pointer),
            None => (None, true),
        },
        // A key of a map is there or not, whatever its value.
        Some(Type::Map(item)) => (Some(item), true),
        _ => (None, true),
    }
}

/// Whether a value means the same as its absence.
fn is_zero(value: &Value, ty: Option<&Type>, pointer: bool) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => match ty {
            Some(Type::Struct(_)) if pointer => false,
            _ => fields.iter().all(|(key, value)| {
                let (ty, pointer) = field_type(ty, key);
                !matches!(ty, Some(Type::Map(_))) && present(Some(value)).is_none_or(|v| is_zero(v, ty, pointer))
            }),
        },
        _ if pointer => false,
        Value::String(text) => text.is_empty(),
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
    }
}

fn same_quantity(a: &Value, b: &Value, ty: Option<&Type>) -> bool {
    if !matches!(ty, Some(Type::Special(Special::Quantity))) {
        return false;
    }
    match (quantity(a), quantity(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Whether two pod specs mean the same.
    #[track_caller]
    fn check(a: Value, b: Value, expected: bool) {
        let pod = |spec: Value| json!({"apiVersion": "v1", "kind": "Pod", "spec": spec});
        assert_eq!(!changed(&pod(a.clone()), &pod(b.clone()), &["spec"]), expected, "{a} {b}");
        assert_eq!(!changed(&pod(b), &pod(a), &["spec"]), expected);
    }

    #[test]
    fn absent_equals_zero_but_for_pointers() {
        check(json!({"nodeName": ""}), json!({}), true);
        check(json!({"hostNetwork": false}), json!({}), true);
        check(json!({"volumes": []}), json!({"volumes": null}), true);
        check(json!({"nodeSelector": {}}), json!({}), true);
        check(json!({"hostUsers": false}), json!({}), false);
        check(json!({"securityContext": {}}), json!({}), false);
        check(json!({"priority": 0}), json!({}), false);
        check(json!({"containers": [{"resources": {}}]}), json!({"containers": [{}]}), true);
    }

    #[test]
    fn quantities_are_numbers() {
        let cpu = |text: &str| json!({"containers": [{"resources": {"limits": {"cpu": text}}}]});
        check(cpu("1"), cpu("1000m"), true);
        check(cpu("1"), cpu("2"), false);
        check(cpu("0"), json!({"containers": [{"resources": {"limits": {}}}]}), false);
    }

    #[test]
    fn order_and_values_count() {
        let names = |names: &[&str]| {
            let containers: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            json!({"containers": containers})
        };
        check(names(&["a", "b"]), names(&["a", "b"]), true);
        check(names(&["a", "b"]), names(&["b", "a"]), false);
        check(names(&["a"]), names(&["a", "b"]), false);
    }
}
