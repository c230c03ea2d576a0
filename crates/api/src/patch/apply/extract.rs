//! The fields that an applied configuration names, and what is wrong with one that does
//! not fit its schema. Called by apply; a config that passes [`validate`] extracts cleanly.

use super::element::PathElement;
use super::place::{List, Place, Shape, field_place};
use super::set::Set;
use crate::patch::go;
use crate::schema::{Special, Type};
use serde_json::{Map, Value};

/// Every leaf and every list item that `value` mentions. Structs are not in the set, only
/// what is in them; keys of maps are, and so is whatever is null or an empty object.
pub(super) fn extract(place: Place<'_>, value: &Value) -> Set {
    node(place, value).1
}

/// Whether the value is owned whole, and what is owned below.
fn node(place: Place<'_>, value: &Value) -> (bool, Set) {
    let mut children = Set::new();
    match (place.shape(), value) {
        (Shape::Struct(definition), Value::Object(map)) => {
            for (key, value) in map {
                let is_declared = definition.field(key).is_some();
                entry(field_place(definition, key), key, value, is_declared, &mut children);
            }
        }
        (Shape::Map(item), Value::Object(map)) => {
            map.iter().for_each(|(key, value)| entry(item, key, value, false, &mut children));
        }
        (Shape::Deduced, Value::Object(map)) => {
            map.iter().for_each(|(key, value)| entry(Place::Deduced, key, value, false, &mut children));
        }
        (Shape::List(list), Value::Array(items)) => list_items(&list, items, &mut children),
        (Shape::Struct(_) | Shape::Map(_) | Shape::List(_), _) => {}
        (Shape::Leaf | Shape::Deduced, _) => return (true, children),
    }
    children.restore_order();
    (false, children)
}

fn entry(place: Place<'_>, key: &str, value: &Value, is_declared: bool, out: &mut Set) {
    let (is_leaf, children) = node(place, value);
    let is_void = value.is_null() || value.as_object().is_some_and(Map::is_empty);
    let element = match place {
        Place::Field(field) => PathElement::Field(field.name.clone()),
        _ => PathElement::field(key),
    };
    out.push(element, is_leaf || is_void || !is_declared, children);
}

fn list_items(list: &List<'_>, items: &[Value], out: &mut Set) {
    for (index, item) in items.iter().enumerate() {
        let Ok(element) = list.element(item) else { continue };
        let same = |other: &Value| list.is_same_item(item, other);
        if items[..index].iter().any(same) {
            continue;
        }
        // Items that share their keys cannot be told apart, so they are owned together.
        let is_repeated = items[index + 1..].iter().any(same);
        let children = if is_repeated { Set::new() } else { extract(list.item, item) };
        out.push(element, true, children);
    }
}

/// The set with the structs on the way to its fields as members: what removal needs, since
/// a struct whose last owned field goes has to go as well.
pub(super) fn with_named_fields(set: &Set, place: Option<Place<'_>>) -> Set {
    let mut out = Set::new();
    for node in &set.nodes {
        let is_named = match (&node.element, place) {
            (PathElement::Field(name), Some(place)) => !node.children.is_empty() && place.declared(name).is_some(),
            _ => false,
        };
        let below = place.and_then(|place| place.below(&node.element));
        out.push(node.element.clone(), node.member || is_named, with_named_fields(&node.children, below));
    }
    out
}

/// The set as it would be had it been written under this schema: of a list, map or struct
/// that is atomic by now, the parts become the whole. `None` when nothing changes.
pub(super) fn reconcile_with_schema(set: &Set, root: Place<'_>) -> Option<Set> {
    fn below(set: &Set, place: Place<'_>, changed: &mut bool) -> Set {
        let mut out = Set::new();
        for node in &set.nodes {
            let Some(place) = place.below(&node.element) else {
                out.nodes.push(node.clone());
                continue;
            };
            let is_container = matches!(place.ty(), Some(Type::List(_) | Type::Map(_) | Type::Struct(_)));
            if is_container && !node.children.is_empty() && matches!(place.shape(), Shape::Leaf) {
                *changed = true;
                out.push(node.element.clone(), true, Set::new());
            } else {
                out.push(node.element.clone(), node.member, below(&node.children, place, changed));
            }
        }
        out
    }
    let mut changed = false;
    let out = below(set, root, &mut changed);
    changed.then_some(out)
}

/// Every mistake in an applied configuration, as `path: text`.
pub(super) fn validate(place: Place<'_>, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(place, value, &mut String::new(), &mut errors);
    errors
}

fn check(place: Place<'_>, value: &Value, path: &mut String, errors: &mut Vec<String>) {
    let ty = place.ty();
    let mut fail = |path: &str, text: String| {
        errors.push(if path.is_empty() { text } else { format!("{path}: {text}") });
    };
    match (value, ty) {
        (Value::Null, _) | (_, Some(Type::Special(Special::Json | Special::RawExtension))) => {}
        (Value::Object(map), Some(Type::Map(item))) => {
            for (key, value) in map {
                descend(Place::Item(item), &format!(".{key}"), value, path, errors);
            }
        }
        (Value::Object(map), None | Some(Type::Struct(_))) => {
            let definition = match (place, ty) {
                (Place::Root(definition), _) => definition,
                (_, Some(Type::Struct(reference))) => reference.get(),
                _ => return,
            };
            for (key, value) in map {
                match definition.field(key) {
                    Some(field) => descend(Place::Field(field), &format!(".{key}"), value, path, errors),
                    None if definition.preserve_unknown => {}
                    None => {
                        errors.push(format!("{path}.{key}: field not declared in schema"));
                        // Upstream stops at the first field it does not know.
                        return;
                    }
                }
            }
        }
        (_, Some(Type::Map(_) | Type::Struct(_))) => fail(path, format!("expected map, got &{{{}}}", go::value(value))),
        (Value::Array(items), Some(Type::List(item))) => check_items(place, item, items, path, errors),
        (_, Some(Type::List(_))) => fail(path, format!("expected list, got &{{{}}}", go::value(value))),
        (value, Some(ty)) => {
            if let Some(text) = check_scalar(ty, value) {
                fail(path, text);
            }
        }
        (_, None) if matches!(place, Place::Root(_)) => {
            fail(path, format!("expected map, got &{{{}}}", go::value(value)));
        }
        (_, None) => {}
    }
}

fn descend(place: Place<'_>, step: &str, value: &Value, path: &mut String, errors: &mut Vec<String>) {
    let length = path.len();
    path.push_str(step);
    check(place, value, path, errors);
    path.truncate(length);
}

fn check_items(place: Place<'_>, item: &Type, items: &[Value], path: &mut String, errors: &mut Vec<String>) {
    let Shape::List(list) = place.shape() else {
        for (index, value) in items.iter().enumerate() {
            descend(Place::Item(item), &format!("[{index}]"), value, path, errors);
        }
        return;
    };
    for (index, value) in items.iter().enumerate() {
        let element = match list.element(value) {
            Ok(element) => element,
            Err(text) => {
                errors.push(format!("{path}: element {index}: {text}"));
                return;
            }
        };
        if items[..index].iter().any(|other| list.is_same_item(value, other)) {
            errors.push(format!("{path}: duplicate entries for key {element}"));
        }
        descend(list.item, &element.to_string(), value, path, errors);
    }
}

fn check_scalar(ty: &Type, value: &Value) -> Option<String> {
    let quoted = || match value {
        Value::String(text) => format!("{text:?}"),
        other => go::value(other),
    };
    match ty {
        Type::Bool => (!value.is_boolean()).then(|| format!("expected boolean, got &{{{}}}", go::value(value))),
        Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => {
            (!value.is_number()).then(|| format!("expected numeric (int or float), got {}", go::type_name(value)))
        }
        Type::String | Type::Bytes => {
            (!value.is_string()).then(|| format!("expected string, got &value.valueUnstructured{{Value:{}}}", quoted()))
        }
        Type::Special(
            Special::Time | Special::MicroTime | Special::Duration | Special::Quantity | Special::IntOrString,
        ) => (value.is_array() || value.is_object())
            .then(|| format!("expected any scalar, got &{{{}}}", go::value(value))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gvk::GroupVersionKind;
    use crate::schema::of_kind;
    use serde_json::json;

    fn pod() -> Place<'static> {
        Place::Root(of_kind(&GroupVersionKind::new("", "v1", "Pod")).expect("Pod"))
    }

    fn check(value: Value, expected: &str) {
        assert_eq!(extract(pod(), &value).to_json(), expected, "{value}");
    }

    #[test]
    fn structs_are_not_owned_but_keys_of_maps_and_items_are() {
        check(
            json!({"metadata": {"labels": {"a": "1"}}, "spec": {"hostNetwork": true}}),
            r#"{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:hostNetwork":{}}}"#,
        );
        check(
            json!({"spec": {"containers": [{"name": "a", "image": "i", "args": ["x"]}]}}),
            r#"{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:args":{},"f:image":{},"f:name":{}}}}}"#,
        );
        check(
            json!({"metadata": {"finalizers": ["b", "a"]}}),
            r#"{"f:metadata":{"f:finalizers":{"v:\"a\"":{},"v:\"b\"":{}}}}"#,
        );
    }

    #[test]
    fn keys_that_are_left_out_have_their_defaults() {
        check(
            json!({"spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}]}}),
            r#"{"f:spec":{"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}"#,
        );
    }

    #[test]
    fn atomic_values_are_owned_whole_and_void_ones_too() {
        check(
            json!({"spec": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "a"}]}}),
            r#"{"f:spec":{"f:nodeSelector":{},"f:tolerations":{}}}"#,
        );
        check(
            json!({"metadata": {"labels": {}}, "spec": {"hostname": null}}),
            r#"{"f:metadata":{"f:labels":{}},"f:spec":{"f:hostname":{}}}"#,
        );
        check(
            json!({"metadata": {"ownerReferences": [{"uid": "u", "name": "n"}]}}),
            r#"{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"u\"}":{}}}}"#,
        );
    }

    #[test]
    fn without_a_schema_maps_are_granular_and_lists_atomic() {
        let set = extract(Place::Deduced, &json!({"spec": {"list": [{"a": 1}], "map": {"k": "v"}}}));
        assert_eq!(set.to_json(), r#"{"f:spec":{".":{},"f:list":{},"f:map":{".":{},"f:k":{}}}}"#);
    }

    #[test]
    fn mistakes_are_named_in_upstreams_words() {
        let cases = [
            (json!({"spec": {"nope": 1}}), ".spec.nope: field not declared in schema"),
            (json!({"spec": {"hostNetwork": "x"}}), ".spec.hostNetwork: expected boolean, got &{x}"),
            (json!({"spec": {"priority": "x"}}), ".spec.priority: expected numeric (int or float), got string"),
            (
                json!({"metadata": {"labels": {"a": 1}}}),
                ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}",
            ),
            (json!({"spec": {"containers": {}}}), ".spec.containers: expected list, got &{map[]}"),
            (json!({"spec": []}), ".spec: expected map, got &{[]}"),
            (
                json!({"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}),
                ".spec.containers: duplicate entries for key [name=\"a\"]",
            ),
            (
                json!({"spec": {"containers": [{"image": "a"}]}}),
                ".spec.containers: element 0: associative list with keys has an element that omits all key fields [\"name\"] (and doesn't have default values for any key fields)",
            ),
        ];
        for (value, expected) in cases {
            assert_eq!(validate(pod(), &value), [expected]);
        }
        assert!(
            validate(
                pod(),
                &json!({"spec": {"containers": [{"name": "a", "livenessProbe": {"httpGet": {"port": 8080}}}]}})
            )
            .is_empty()
        );
    }

    #[test]
    fn what_became_atomic_is_owned_whole() {
        let set =
            Set::from_value(&json!({"f:spec": {"f:nodeSelector": {"f:a": {}}, "f:hostname": {}}})).expect("FieldsV1");
        let reconciled = reconcile_with_schema(&set, pod()).expect("a change");
        assert_eq!(reconciled.to_json(), r#"{"f:spec":{"f:hostname":{},"f:nodeSelector":{}}}"#);
        assert!(reconcile_with_schema(&reconciled, pod()).is_none());
    }
}
