//! The patch that brings a live object to what a person applies: additions and changes
//! against the live object, removals against what was applied last. Builtin kinds get a
//! strategic merge patch, by the schema's merge keys (apimachinery/pkg/util/strategicpatch
//! CreateThreeWayMergePatch); all others a merge patch. `cmd/apply.rs` and `cmd/diff.rs` call
//! it.

use ferry_api::schema::{Field, Type, TypeDef};
use serde_json::{Map, Value, json};

/// A strategic merge patch; `{}` where nothing is to be done.
pub(crate) fn plan_strategic(original: &Value, modified: &Value, live: &Value, definition: &TypeDef) -> Value {
    Value::Object(diff_maps(original.as_object(), modified.as_object(), live.as_object(), Some(definition)))
}

/// A JSON merge patch.
pub(crate) fn plan_merge(original: &Value, modified: &Value, live: &Value) -> Value {
    Value::Object(diff_maps(original.as_object(), modified.as_object(), live.as_object(), None))
}

type Object = Map<String, Value>;

fn diff_maps(
    original: Option<&Object>,
    modified: Option<&Object>,
    live: Option<&Object>,
    definition: Option<&TypeDef>,
) -> Object {
    let (empty_original, empty_modified, empty_live) = (Object::new(), Object::new(), Object::new());
    let original = original.unwrap_or(&empty_original);
    let modified = modified.unwrap_or(&empty_modified);
    let live = live.unwrap_or(&empty_live);
    let mut patch = Object::new();
    for (key, wanted) in modified {
        let field = definition.and_then(|definition| definition.field(key));
        let Some(present) = live.get(key) else {
            if !wanted.is_null() {
                patch.insert(key.clone(), wanted.clone());
            }
            continue;
        };
        diff_value(key, original.get(key), wanted, present, field, definition.is_some(), &mut patch);
    }
    for key in original.keys() {
        if !modified.contains_key(key) && live.contains_key(key) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    patch
}

fn diff_value(
    key: &str,
    original: Option<&Value>,
    wanted: &Value,
    present: &Value,
    field: Option<&Field>,
    is_strategic: bool,
    patch: &mut Object,
) {
    match (wanted, present) {
        (Value::Object(wanted_map), Value::Object(present_map)) if !field.is_some_and(|f| f.patch.replace) => {
            let inner = field.and_then(|field| struct_of(&field.ty));
            let mut below = diff_maps(original.and_then(Value::as_object), Some(wanted_map), Some(present_map), inner);
            if below.is_empty() {
                return;
            }
            if field.is_some_and(|field| field.patch.retain_keys) {
                let keys: Vec<&String> = wanted_map.keys().collect();
                below.insert("$retainKeys".into(), json!(keys));
            }
            patch.insert(key.to_owned(), Value::Object(below));
        }
        (Value::Array(wanted_items), Value::Array(present_items))
            if is_strategic && field.is_some_and(|f| f.patch.merge) =>
        {
            let Some(field) = field else { return };
            let original_items = original.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            match &field.merge_key {
                Some(merge_key) => {
                    diff_keyed(key, merge_key, original_items, wanted_items, present_items, field, patch);
                }
                None => diff_primitives(key, original_items, wanted_items, present_items, patch),
            }
        }
        _ if is_same(wanted, present) => {}
        (Value::Null, _) => {
            patch.insert(key.to_owned(), Value::Null);
        }
        _ => {
            patch.insert(key.to_owned(), wanted.clone());
        }
    }
}

/// Equal; numbers by their value, as 1 and 1.0 are one to JSON.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn struct_of(ty: &Type) -> Option<&TypeDef> {
    match ty {
        Type::Struct(reference) => Some(reference.get()),
        Type::List(item) => struct_of(item),
        _ => None,
    }
}

/// A list whose items are told apart by a key.
fn diff_keyed(
    key: &str,
    merge_key: &str,
    original: &[Value],
    wanted: &[Value],
    present: &[Value],
    field: &Field,
    patch: &mut Object,
) {
    let find =
        |items: &[Value], id: &Value| -> Option<Value> { items.iter().find(|item| &item[merge_key] == id).cloned() };
    let definition = struct_of(&field.ty);
    let mut items = Vec::new();
    for item in wanted {
        let id = &item[merge_key];
        match find(present, id) {
            None => items.push(item.clone()),
            Some(live_item) => {
                let before = find(original, id);
                let before = before.as_ref().and_then(Value::as_object);
                let mut below = diff_maps(before, item.as_object(), live_item.as_object(), definition);
                if !below.is_empty() {
                    below.insert(merge_key.to_owned(), id.clone());
                    items.push(Value::Object(below));
                }
            }
        }
    }
    for item in original {
        let id = &item[merge_key];
        if find(wanted, id).is_none() && find(present, id).is_some() {
            items.push(json!({ "$patch": "delete", merge_key: id }));
        }
    }
    let order_of = |items: &[Value]| -> Vec<Value> { items.iter().map(|item| item[merge_key].clone()).collect() };
    let wanted_order = order_of(wanted);
    let mut live_order = order_of(present);
    live_order.retain(|id| wanted_order.contains(id));
    if items.is_empty() && live_order == wanted_order {
        return;
    }
    let order: Vec<Value> = wanted_order.iter().map(|id| json!({ merge_key: id })).collect();
    patch.insert(format!("$setElementOrder/{key}"), Value::Array(order));
    if !items.is_empty() {
        patch.insert(key.to_owned(), Value::Array(items));
    }
}

/// A list that is a set of plain values.
fn diff_primitives(key: &str, original: &[Value], wanted: &[Value], present: &[Value], patch: &mut Object) {
    let added: Vec<Value> = wanted.iter().filter(|item| !present.contains(item)).cloned().collect();
    let gone: Vec<Value> =
        original.iter().filter(|item| !wanted.contains(item) && present.contains(item)).cloned().collect();
    let live_order: Vec<&Value> = present.iter().filter(|item| wanted.contains(item)).collect();
    if added.is_empty() && gone.is_empty() && live_order.into_iter().eq(wanted.iter()) {
        return;
    }
    patch.insert(format!("$setElementOrder/{key}"), Value::Array(wanted.to_vec()));
    if !added.is_empty() {
        patch.insert(key.to_owned(), Value::Array(added));
    }
    if !gone.is_empty() {
        patch.insert(format!("$deleteFromPrimitiveList/{key}"), Value::Array(gone));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::gvk::GroupVersion;

    fn definition(api_version: &str, kind: &str) -> std::sync::Arc<TypeDef> {
        let kind = GroupVersion::parse(api_version).with_kind(kind.to_owned());
        ferry_api::schema::of_kind(&kind).expect("a builtin kind").clone()
    }

    /// The patch, and the live object that the server's own merge makes of it.
    fn check(kind: (&str, &str), original: Value, modified: Value, live: Value, patch: Value, result: Value) {
        let definition = definition(kind.0, kind.1);
        let made = plan_strategic(&original, &modified, &live, &definition);
        assert_eq!(made, patch);
        let mut merged = live;
        ferry_api::patch::strategic::apply(&mut merged, made, &definition).expect("merged");
        assert_eq!(merged, result);
    }

    #[test]
    fn containers_merge_by_name_and_what_others_set_stays() {
        check(
            ("v1", "Pod"),
            json!({"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "old"}], "nodeName": "n"}}),
            json!({"spec": {"containers": [{"name": "a", "image": "2"}, {"name": "new"}]}}),
            json!({"spec": {"containers": [{"name": "a", "image": "1", "tty": true}, {"name": "old"}, {"name": "injected"}], "nodeName": "n"}}),
            json!({"spec": {
                "$setElementOrder/containers": [{"name": "a"}, {"name": "new"}],
                "containers": [{"name": "a", "image": "2"}, {"name": "new"}, {"$patch": "delete", "name": "old"}],
                "nodeName": null,
            }}),
            json!({"spec": {"containers": [{"name": "a", "image": "2", "tty": true}, {"name": "new"}, {"name": "injected"}]}}),
        );
    }

    #[test]
    fn nothing_to_do_is_an_empty_patch() {
        let object = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 1}});
        let mut live = object.clone();
        live["spec"]["paused"] = true.into();
        check(("apps/v1", "Deployment"), object.clone(), object, live.clone(), json!({}), live);
    }

    #[test]
    fn a_strategy_of_another_type_drops_the_old_types_fields() {
        check(
            ("apps/v1", "Deployment"),
            json!({"spec": {"strategy": {"type": "RollingUpdate"}}}),
            json!({"spec": {"strategy": {"type": "Recreate"}}}),
            json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}),
            json!({"spec": {"strategy": {"type": "Recreate", "$retainKeys": ["type"]}}}),
            json!({"spec": {"strategy": {"type": "Recreate"}}}),
        );
    }

    #[test]
    fn sets_of_text_gain_and_lose_their_members() {
        check(
            ("v1", "Pod"),
            json!({"metadata": {"finalizers": ["a", "b"]}}),
            json!({"metadata": {"finalizers": ["a", "c"]}}),
            json!({"metadata": {"finalizers": ["a", "b", "x"]}}),
            json!({"metadata": {
                "$setElementOrder/finalizers": ["a", "c"],
                "finalizers": ["c"],
                "$deleteFromPrimitiveList/finalizers": ["b"],
            }}),
            json!({"metadata": {"finalizers": ["a", "c", "x"]}}),
        );
    }

    #[test]
    fn other_kinds_replace_their_lists() {
        let patch = plan_merge(
            &json!({"spec": {"a": 1, "list": [1]}}),
            &json!({"spec": {"list": [1, 2], "b": {"c": 1}}}),
            &json!({"spec": {"a": 1, "list": [1], "b": {"c": 1, "d": 2}}}),
        );
        assert_eq!(patch, json!({"spec": {"a": null, "list": [1, 2]}}));
    }
}
