//! Merging an applied configuration into the live object, and taking fields out of an
//! object by path. Both follow upstream's structured-merge-diff: a merge removes nothing,
//! what is to go is taken out afterwards by ownership (see `configuration.rs`).

use super::place::{List, Place, Shape, field_place};
use super::set::Set;
use serde_json::{Map, Value};

/// `live` with every field of `config` laid over it. Leaves are the configuration's;
/// lists of type map and set keep the live items and take the order of the configuration.
pub(super) fn merge(place: Place<'_>, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    let over = config.or(live);
    let objects = (live.and_then(Value::as_object), config.and_then(Value::as_object));
    match place.shape() {
        Shape::Leaf => over.cloned(),
        Shape::Struct(definition) => merge_objects(objects, over, |key| field_place(definition, key)),
        Shape::Map(item) => merge_objects(objects, over, |_| item),
        Shape::List(list) => {
            let (live, config) = (items_of(live), items_of(config));
            if live.is_empty() && config.is_empty() {
                return over.cloned();
            }
            Some(Value::Array(merge_lists(&list, live, config)))
        }
        // Null over a map is no statement about its keys; null over all else is.
        Shape::Deduced => match (objects, config) {
            ((_, Some(_)), _) | ((Some(_), None), None | Some(Value::Null)) => {
                merge_objects(objects, over, |_| Place::Deduced)
            }
            _ => over.cloned(),
        },
    }
}

fn items_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

type Objects<'a> = (Option<&'a Map<String, Value>>, Option<&'a Map<String, Value>>);

fn merge_objects<'p>(
    (live, config): Objects<'_>,
    over: Option<&Value>,
    place: impl Fn(&str) -> Place<'p>,
) -> Option<Value> {
    let is_empty = |map: Option<&Map<String, Value>>| map.is_none_or(Map::is_empty);
    if is_empty(live) && is_empty(config) {
        return over.cloned();
    }
    let mut out = Map::new();
    for (key, value) in live.into_iter().flatten() {
        if let Some(value) = merge(place(key), Some(value), config.and_then(|config| config.get(key))) {
            out.insert(key.clone(), value);
        }
    }
    for (key, value) in config.into_iter().flatten() {
        if live.is_none_or(|live| !live.contains_key(key))
            && let Some(value) = merge(place(key), None, Some(value))
        {
            out.insert(key.clone(), value);
        }
    }
    Some(Value::Object(out))
}

/// Live items that the configuration does not name keep their place among those it does;
/// items of both stand in the order of the configuration.
fn merge_lists(list: &List<'_>, live: &[Value], config: &[Value]) -> Vec<Value> {
    let find = |items: &'_ [Value], item: &Value| -> Vec<usize> {
        (0..items.len()).filter(|&index| list.is_same_item(&items[index], item)).collect()
    };
    // The live item to merge with; items that repeat their keys are replaced, not merged.
    let live_of = |item: &Value| match find(live, item).as_slice() {
        [index] => Some(&live[*index]),
        _ => None,
    };
    let is_configured = |item: &Value| config.iter().any(|other| list.is_same_item(other, item));
    let is_live = |item: &Value| live.iter().any(|other| list.is_same_item(other, item));

    let mut shared = config.iter().filter(|item| is_live(item));
    let mut next_shared = shared.next();
    let mut merged: Vec<&Value> = Vec::new();
    let mut out = Vec::with_capacity(live.len().max(config.len()));
    let (mut left, mut right) = (0, 0);
    while left < live.len() || right < config.len() {
        if let (Some(mine), Some(theirs)) = (live.get(left), config.get(right)) {
            if list.is_same_item(mine, theirs) {
                merged.push(theirs);
                out.extend(merge(list.item, live_of(theirs), Some(theirs)));
                (left, right) = (left + 1, right + 1);
                next_shared = shared.next();
                continue;
            }
            let is_next = next_shared.is_none_or(|next| list.is_same_item(next, mine));
            if is_configured(mine) && !is_next {
                // It is in both, but the configuration has another one first.
                left += 1;
                continue;
            }
        }
        if let Some(mine) = live.get(left) {
            if !is_configured(mine) {
                out.extend(merge(list.item, Some(mine), None));
                left += 1;
                continue;
            }
            if merged.iter().any(|item| list.is_same_item(item, mine)) {
                left += 1;
            }
        }
        if let Some(theirs) = config.get(right) {
            merged.push(theirs);
            out.extend(merge(list.item, live_of(theirs), Some(theirs)));
            right += 1;
            if next_shared.is_some_and(|next| list.is_same_item(next, theirs)) {
                next_shared = shared.next();
            }
        }
    }
    out
}

/// `value` without the fields of `set`; null when nothing is left of it.
pub(super) fn remove(place: Place<'_>, value: &Value, set: &Set) -> Value {
    match (place.shape(), value) {
        (Shape::Struct(definition), Value::Object(map)) => remove_keys(map, set, |key| field_place(definition, key)),
        (Shape::Map(item), Value::Object(map)) => remove_keys(map, set, |_| item),
        (Shape::Deduced, Value::Object(map)) => remove_keys(map, set, |_| Place::Deduced),
        (Shape::List(list), Value::Array(items)) => {
            let mut out = Vec::with_capacity(items.len());
            for item in items {
                match list.element(item).ok().and_then(|element| set.get(&element)) {
                    Some(node) if node.member => {}
                    Some(node) => out.push(remove(list.item, item, &node.children)),
                    None => out.push(item.clone()),
                }
            }
            if out.is_empty() { Value::Null } else { Value::Array(out) }
        }
        _ => value.clone(),
    }
}

fn remove_keys<'p>(map: &Map<String, Value>, set: &Set, place: impl Fn(&str) -> Place<'p>) -> Value {
    let mut out = Map::new();
    for (key, value) in map {
        match set.get_field(key) {
            Some(node) if node.member => {}
            Some(node) => {
                out.insert(key.clone(), remove(place(key), value, &node.children));
            }
            None => {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    if out.is_empty() { Value::Null } else { Value::Object(out) }
}

/// Drops the nulls at places that have a type: decoding into a Go struct leaves none.
pub(super) fn drop_nulls(place: Place<'_>, value: &mut Value) {
    fn entries<'p>(map: &mut Map<String, Value>, place: impl Fn(&str) -> Place<'p>) {
        map.retain(|key, value| {
            let place = place(key);
            drop_nulls(place, value);
            matches!(place, Place::Deduced) || !value.is_null()
        });
    }
    match (place.shape(), value) {
        (Shape::Struct(definition), Value::Object(map)) => entries(map, |key| field_place(definition, key)),
        (Shape::Map(item), Value::Object(map)) => entries(map, |_| item),
        (Shape::List(list), Value::Array(items)) => {
            items.iter_mut().for_each(|item| drop_nulls(list.item, item));
            items.retain(|item| !item.is_null());
        }
        _ => {}
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

    fn check(live: Value, config: Value, expected: Value) {
        assert_eq!(merge(pod(), Some(&live), Some(&config)).expect("a value"), expected, "{live} + {config}");
    }

    fn names(items: &[&str]) -> Value {
        json!({"spec": {"containers": items.iter().map(|name| json!({"name": name})).collect::<Vec<_>>()}})
    }

    #[test]
    fn leaves_are_the_configurations_and_the_rest_stays() {
        check(
            json!({"metadata": {"labels": {"a": "1", "b": "1"}}, "spec": {"hostname": "x", "tolerations": [{"key": "a"}]}}),
            json!({"metadata": {"labels": {"b": "2"}}, "spec": {"tolerations": [{"key": "b"}]}}),
            json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "spec": {"hostname": "x", "tolerations": [{"key": "b"}]}}),
        );
        check(
            json!({"spec": {"containers": [{"name": "a", "image": "1", "tty": true}]}}),
            json!({"spec": {"containers": [{"name": "a", "image": "2"}]}}),
            json!({"spec": {"containers": [{"name": "a", "image": "2", "tty": true}]}}),
        );
    }

    #[test]
    fn lists_take_the_configurations_order() {
        check(names(&["a", "b", "c"]), names(&["c", "a"]), names(&["b", "c", "a"]));
        check(names(&["a", "b"]), names(&["a", "x", "b"]), names(&["a", "x", "b"]));
        check(names(&["live", "a"]), names(&["a", "new"]), names(&["live", "a", "new"]));
        check(names(&[]), names(&["a"]), names(&["a"]));
    }

    #[test]
    fn null_clears_leaves_but_not_containers() {
        let mut merged = merge(
            pod(),
            Some(&json!({"metadata": {"labels": {"a": "1"}}, "spec": {"hostname": "x"}})),
            Some(&json!({"metadata": {"labels": null}, "spec": {"hostname": null}})),
        )
        .expect("a value");
        drop_nulls(pod(), &mut merged);
        assert_eq!(merged, json!({"metadata": {"labels": {"a": "1"}}, "spec": {}}));
    }

    #[test]
    fn fields_are_removed_by_path() {
        let set = Set::from_value(&json!({
            "f:metadata": {"f:labels": {"f:a": {}}, "f:finalizers": {"v:\"x\"": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {}, "k:{\"name\":\"b\"}": {"f:image": {}}}},
        }))
        .expect("FieldsV1");
        let value = json!({
            "metadata": {"labels": {"a": "1", "b": "1"}, "finalizers": ["x", "y"]},
            "spec": {"containers": [{"name": "a"}, {"name": "b", "image": "i"}]},
        });
        assert_eq!(
            remove(pod(), &value, &set),
            json!({"metadata": {"labels": {"b": "1"}, "finalizers": ["y"]}, "spec": {"containers": [{"name": "b"}]}})
        );
    }
}
