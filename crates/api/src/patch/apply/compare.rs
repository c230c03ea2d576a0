//! What a write changed: the fields that two versions of an object have only on one side
//! or with different values, found in one walk. Called on every write, so nothing is
//! allocated for what is equal.

use super::element::{PathElement, equal};
use super::place::{EMPTY_OBJECT, List, Place, Shape, field_place, implied};
use super::set::Set;
use crate::schema::TypeDef;
use serde_json::{Map, Value};

/// No field is in more than one of the sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub removed: Set,
    pub modified: Set,
    pub added: Set,
}

impl Comparison {
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// Takes the fields of `fields`, and all below them, out of the comparison.
    pub(super) fn exclude(&mut self, fields: &Set) {
        for set in [&mut self.removed, &mut self.modified, &mut self.added] {
            if !set.is_empty() {
                *set = set.recursive_difference(fields);
            }
        }
    }

    fn push(&mut self, element: PathElement, member: Kind, below: Comparison) {
        for (set, below) in [(&mut self.removed, below.removed), (&mut self.added, below.added)] {
            if !below.is_empty() {
                set.push(element.clone(), false, below);
            }
        }
        self.modified.push(element, member == Kind::Modified, below.modified);
    }

    fn restore_order(&mut self) {
        for set in [&mut self.removed, &mut self.modified, &mut self.added] {
            set.restore_order();
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Same,
    Modified,
}

/// From `live` (nothing, when the object is created) to `new`. Ownership itself,
/// `metadata.managedFields`, is left out.
pub(super) fn compare(live: Option<&Value>, new: &Value, definition: Option<&TypeDef>) -> Comparison {
    let mut out = Comparison::default();
    let live = live.unwrap_or(&EMPTY_OBJECT);
    walk(Place::of(definition), live, new, &mut out);
    out
}

/// Compares what is below two values that are both there; tells whether they differ as a
/// whole.
fn walk(place: Place<'_>, left: &Value, right: &Value, out: &mut Comparison) -> Kind {
    let (Value::Object(left_map), Value::Object(right_map)) = (left, right) else {
        return walk_others(place, left, right, out);
    };
    match place.shape() {
        Shape::Leaf | Shape::List(_) => return leaf(left, right),
        Shape::Struct(definition) => walk_struct(definition, left_map, right_map, out),
        Shape::Map(item) => walk_map(item, left_map, right_map, out),
        Shape::Deduced => walk_map(Place::Deduced, left_map, right_map, out),
    }
    out.restore_order();
    Kind::Same
}

fn leaf(left: &Value, right: &Value) -> Kind {
    if equal(left, right) { Kind::Same } else { Kind::Modified }
}

/// Values that are not both objects.
fn walk_others(place: Place<'_>, left: &Value, right: &Value, out: &mut Comparison) -> Kind {
    match (place.shape(), left, right) {
        // Null is a list, a map or a struct that has nothing in it; only between nothing
        // and nothing does the difference count.
        (Shape::List(list), Value::Array(_) | Value::Null, Value::Array(_) | Value::Null) => {
            let (left_items, right_items) = (items_of(left), items_of(right));
            if left_items.is_empty() && right_items.is_empty() {
                return leaf(left, right);
            }
            walk_list(list, left_items, right_items, out);
            out.restore_order();
            Kind::Same
        }
        (Shape::Struct(_) | Shape::Map(_), Value::Null, Value::Object(_)) => {
            out.added = whole(place, right);
            if out.added.is_empty() { leaf(left, right) } else { Kind::Same }
        }
        (Shape::Struct(_) | Shape::Map(_), Value::Object(_), Value::Null) => {
            out.removed = whole(place, left);
            if out.removed.is_empty() { leaf(left, right) } else { Kind::Same }
        }
        // One side has grown into a map or shrunk from one: the place has changed, and so
        // has all below it.
        (Shape::Deduced, Value::Object(_), _) => {
            out.removed = whole(place, left);
            Kind::Modified
        }
        (Shape::Deduced, _, Value::Object(_)) => {
            out.added = whole(place, right);
            Kind::Modified
        }
        _ => leaf(left, right),
    }
}

fn items_of(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn walk_struct(definition: &TypeDef, left: &Map<String, Value>, right: &Map<String, Value>, out: &mut Comparison) {
    for (key, left_value) in left {
        if key == "managedFields" && &*definition.name == "ObjectMeta" {
            continue;
        }
        // Most of an object does not change in a write, and to see that takes no schema.
        let right_value = right.get(key);
        if right_value == Some(left_value) {
            continue;
        }
        match definition.field(key) {
            Some(field) => walk_entry(Place::Field(field), key, Some(left_value), right_value, out),
            None => walk_entry(Place::Deduced, key, Some(left_value), right_value, out),
        }
    }
    for (key, right_value) in right {
        if left.contains_key(key) || (key == "managedFields" && &*definition.name == "ObjectMeta") {
            continue;
        }
        walk_entry(field_place(definition, key), key, None, Some(right_value), out);
    }
}

fn walk_map(item: Place<'_>, left: &Map<String, Value>, right: &Map<String, Value>, out: &mut Comparison) {
    for (key, value) in left {
        let other = right.get(key);
        if other != Some(value) {
            walk_entry(item, key, Some(value), other, out);
        }
    }
    for (key, value) in right {
        if !left.contains_key(key) {
            walk_entry(item, key, None, Some(value), out);
        }
    }
}

fn walk_entry<'a>(
    place: Place<'a>,
    key: &str,
    left: Option<&'a Value>,
    right: Option<&'a Value>,
    out: &mut Comparison,
) {
    let element = || match place {
        Place::Field(field) => PathElement::Field(field.name.clone()),
        _ => PathElement::field(key),
    };
    match (place.present(left), place.present(right)) {
        (None, None) => {}
        (Some(left), None) => out.removed.push(element(), true, whole(place, left)),
        (None, Some(right)) => out.added.push(element(), true, whole(place, right)),
        (Some(left), Some(right)) => walk_pair(place, element, left, right, out),
    }
}

fn walk_pair(
    place: Place<'_>,
    element: impl FnOnce() -> PathElement,
    left: &Value,
    right: &Value,
    out: &mut Comparison,
) {
    let mut below = Comparison::default();
    let kind = walk(place, left, right, &mut below);
    if kind == Kind::Modified || !below.is_same() {
        out.push(element(), kind, below);
    }
}

fn walk_list(list: List<'_>, left: &[Value], right: &[Value], out: &mut Comparison) {
    // The usual case: the same items in the same order, and no two with the same keys.
    let is_aligned = left.len() == right.len()
        && left.iter().zip(right).all(|(left, right)| list.is_same_item(left, right))
        && !has_repeats(&list, left);
    if is_aligned {
        for (left, right) in left.iter().zip(right).filter(|(left, right)| left != right) {
            let mut below = Comparison::default();
            let kind = walk(list.item, left, right, &mut below);
            if (kind == Kind::Modified || !below.is_same())
                && let Ok(element) = list.element(right)
            {
                out.push(element, kind, below);
            }
        }
        return;
    }
    for (element, left, right) in group(&list, left, right) {
        match (left.as_slice(), right.as_slice()) {
            ([], []) => {}
            ([left], [right]) => walk_pair(list.item, || element, left, right, out),
            ([left], []) => out.removed.push(element, true, whole(list.item, left)),
            ([], [right]) => out.added.push(element, true, whole(list.item, right)),
            // Items that share their keys are compared as one value that is owned whole.
            ([_, _, ..], [_, _, ..]) => {
                let is_same = left.len() == right.len() && left.iter().zip(&right).all(|(a, b)| equal(a, b));
                if !is_same {
                    out.modified.push(element, true, Set::new());
                }
            }
            ([_, _, ..], rest) => {
                if let [right] = rest {
                    out.added.push(element.clone(), true, whole(list.item, right));
                }
                out.removed.push(element, true, Set::new());
            }
            (rest, [_, _, ..]) => {
                if let [left] = rest {
                    out.removed.push(element.clone(), true, whole(list.item, left));
                }
                out.added.push(element, true, Set::new());
            }
        }
    }
}

fn has_repeats(list: &List<'_>, items: &[Value]) -> bool {
    items.iter().enumerate().any(|(index, item)| items[..index].iter().any(|other| list.is_same_item(item, other)))
}

type Group<'a> = (PathElement, Vec<&'a Value>, Vec<&'a Value>);

/// The items of both sides by path element, in its order. Items that can have none are
/// left out: validation has rejected them where that matters.
fn group<'a>(list: &List<'_>, left: &'a [Value], right: &'a [Value]) -> Vec<Group<'a>> {
    let mut items: Vec<(PathElement, bool, &Value)> = left
        .iter()
        .map(|item| (item, false))
        .chain(right.iter().map(|item| (item, true)))
        .filter_map(|(item, is_right)| Some((list.element(item).ok()?, is_right, item)))
        .collect();
    items.sort_by(|a, b| a.0.cmp(&b.0));
    let mut groups: Vec<Group<'a>> = Vec::with_capacity(items.len());
    for (element, is_right, item) in items {
        if groups.last().is_none_or(|(last, ..)| *last != element) {
            groups.push((element, Vec::new(), Vec::new()));
        }
        if let Some((_, lefts, rights)) = groups.last_mut() {
            if is_right { rights.push(item) } else { lefts.push(item) }
        }
    }
    groups
}

/// What is below a value that one side has and the other has not; every step of it is a
/// member, since each came or went with it.
fn whole(place: Place<'_>, value: &Value) -> Set {
    let mut out = Set::new();
    match (place.shape(), value) {
        (Shape::Struct(definition), Value::Object(map)) => {
            for (key, value) in map {
                add_whole(field_place(definition, key), key, value, &mut out);
            }
            for field in &definition.fields {
                if let Some(value) = implied(field)
                    && !map.contains_key(&*field.name)
                {
                    add_whole(Place::Field(field), &field.name, value, &mut out);
                }
            }
        }
        (Shape::Map(item), Value::Object(map)) => {
            map.iter().for_each(|(key, value)| add_whole(item, key, value, &mut out));
        }
        (Shape::Deduced, Value::Object(map)) => {
            map.iter().for_each(|(key, value)| add_whole(Place::Deduced, key, value, &mut out));
        }
        (Shape::List(list), Value::Array(items)) if !has_repeats(&list, items) => {
            for item in items {
                if let Ok(element) = list.element(item) {
                    out.push(element, true, whole(list.item, item));
                }
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            for (element, items, _) in group(&list, items, &[]) {
                let below = if let [item] = items.as_slice() { whole(list.item, item) } else { Set::new() };
                out.push(element, true, below);
            }
        }
        _ => {}
    }
    out.restore_order();
    out
}

fn add_whole<'a>(place: Place<'a>, key: &str, value: &'a Value, out: &mut Set) {
    let Some(value) = place.present(Some(value)) else { return };
    let element = match place {
        Place::Field(field) => PathElement::Field(field.name.clone()),
        _ => PathElement::field(key),
    };
    out.push(element, true, whole(place, value));
}

/// Whether two values say the same, the order of lists included: what JSON leaves out and
/// Go always has makes no difference.
pub(super) fn is_equal(place: Place<'_>, left: &Value, right: &Value) -> bool {
    let entries = |item: Place<'_>, left: &Map<String, Value>, right: &Map<String, Value>| {
        left.iter().all(|(key, value)| is_equal_entry(item, Some(value), right.get(key)))
            && right.iter().all(|(key, value)| left.contains_key(key) || is_equal_entry(item, None, Some(value)))
    };
    if left == right {
        return true;
    }
    match (place.shape(), left, right) {
        (Shape::Struct(definition), Value::Object(left), Value::Object(right)) => {
            let side = |map: &Map<String, Value>, other: &Map<String, Value>| {
                map.iter().all(|(key, value)| is_equal_entry(field_place(definition, key), Some(value), other.get(key)))
            };
            side(left, right) && side(right, left)
        }
        (Shape::Map(item), Value::Object(left), Value::Object(right)) => entries(item, left, right),
        (Shape::Deduced, Value::Object(left), Value::Object(right)) => entries(Place::Deduced, left, right),
        (Shape::List(list), Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(a, b)| is_equal(list.item, a, b))
        }
        _ => equal(left, right),
    }
}

fn is_equal_entry<'a>(place: Place<'a>, left: Option<&'a Value>, right: Option<&'a Value>) -> bool {
    match (place.present(left), place.present(right)) {
        (None, None) => true,
        (Some(left), Some(right)) => is_equal(place, left, right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gvk::GroupVersionKind;
    use crate::schema::of_kind;
    use serde_json::json;

    fn check(live: Value, new: Value, removed: &str, modified: &str, added: &str) {
        let pod = of_kind(&GroupVersionKind::new("", "v1", "Pod")).expect("Pod");
        let result = compare(Some(&live), &new, Some(pod));
        let texts = (result.removed.to_json(), result.modified.to_json(), result.added.to_json());
        assert_eq!(texts, (removed.to_owned(), modified.to_owned(), added.to_owned()), "{live} -> {new}");
    }

    #[test]
    fn scalars_maps_and_items_are_told_apart() {
        check(
            json!({"metadata": {"labels": {"a": "1", "b": "1"}}, "spec": {"hostname": "x"}}),
            json!({"metadata": {"labels": {"a": "2", "c": "1"}}, "spec": {"hostname": "x", "subdomain": "y"}}),
            r#"{"f:metadata":{"f:labels":{"f:b":{}}}}"#,
            r#"{"f:metadata":{"f:labels":{"f:a":{}}}}"#,
            r#"{"f:metadata":{"f:labels":{"f:c":{}}},"f:spec":{"f:subdomain":{}}}"#,
        );
        check(
            json!({"metadata": {"finalizers": ["a", "b"]}}),
            json!({"metadata": {"finalizers": ["b", "c"]}}),
            r#"{"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}}"#,
            "{}",
            r#"{"f:metadata":{"f:finalizers":{"v:\"c\"":{}}}}"#,
        );
        // The order of a list of type map or set is nobody's.
        check(
            json!({"metadata": {"finalizers": ["a", "b"]}}),
            json!({"metadata": {"finalizers": ["b", "a"]}}),
            "{}",
            "{}",
            "{}",
        );
    }

    #[test]
    fn atomic_values_change_whole() {
        check(
            json!({"spec": {"nodeSelector": {"a": "1"}}}),
            json!({"spec": {"nodeSelector": {"a": "1", "b": "1"}}}),
            "{}",
            r#"{"f:spec":{"f:nodeSelector":{}}}"#,
            "{}",
        );
    }

    #[test]
    fn what_go_always_has_comes_with_an_item() {
        check(
            json!({"spec": {"containers": [{"name": "a"}]}}),
            json!({"spec": {"containers": [{"name": "b", "ports": [{"containerPort": 80}]}, {"name": "a"}]}}),
            "{}",
            "{}",
            r#"{"f:spec":{"f:containers":{"k:{\"name\":\"b\"}":{".":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}},"f:resources":{}}}}}"#,
        );
        check(
            json!({"status": {}}),
            json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
            "{}",
            "{}",
            r#"{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}}}}"#,
        );
        check(json!({"spec": {}}), json!({}), "{}", "{}", "{}");
        check(json!({"spec": {"hostname": null}}), json!({}), "{}", "{}", "{}");
        // The list of containers is always there; a list of volumes comes and goes.
        let (volume, container) = (json!({"name": "v", "emptyDir": {}}), json!({"name": "c"}));
        check(
            json!({}),
            json!({"spec": {"containers": [container], "volumes": [volume]}}),
            "{}",
            "{}",
            r#"{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:resources":{}}},"f:volumes":{".":{},"k:{\"name\":\"v\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}"#,
        );
    }

    #[test]
    fn repeated_items_are_one_value() {
        let env = |items: Value| json!({"spec": {"containers": [{"name": "a", "env": items}]}});
        let field = |inner: &str| {
            format!(r#"{{"f:spec":{{"f:containers":{{"k:{{\"name\":\"a\"}}":{{"f:env":{{{inner}}}}}}}}}}}"#)
        };
        let twice = json!([{"name": "X", "value": "1"}, {"name": "X", "value": "2"}]);
        check(env(twice.clone()), env(twice.clone()), "{}", "{}", "{}");
        check(
            env(twice.clone()),
            env(json!([{"name": "X", "value": "1"}, {"name": "X", "value": "3"}])),
            "{}",
            &field(r#""k:{\"name\":\"X\"}":{}"#),
            "{}",
        );
        check(
            env(twice),
            env(json!([{"name": "X", "value": "1"}])),
            &field(r#""k:{\"name\":\"X\"}":{}"#),
            "{}",
            &field(r#""k:{\"name\":\"X\"}":{".":{},"f:name":{},"f:value":{}}"#),
        );
    }

    #[test]
    fn a_deduced_place_may_change_its_shape() {
        let result = compare(Some(&json!({"a": {"b": 1}})), &json!({"a": 2}), None);
        assert_eq!(result.removed.to_json(), r#"{"f:a":{"f:b":{}}}"#);
        assert_eq!(result.modified.to_json(), r#"{"f:a":{}}"#);
        assert_eq!(compare(Some(&json!({"a": 1})), &json!({"a": 1.0}), None), Comparison::default());
    }
}
