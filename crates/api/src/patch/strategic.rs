//! Strategic merge patch: a merge patch that knows from the schema which lists merge by
//! key, with directives for what a merge cannot say.
//!
//! Called by the patch verb for `application/strategic-merge-patch+json` on builtin kinds
//! (custom resources answer 415). The rules are those of upstream's
//! apimachinery/pkg/util/strategicpatch:
//!
//! | directive | where | effect |
//! |---|---|---|
//! | `$patch: replace` | object | the patch's object takes the place of the present one |
//! | `$patch: delete` | object | the object becomes empty; in a merging list the item goes |
//! | `$patch: replace` | item of a merging list | the patch's other items are the whole list |
//! | `$retainKeys: [a, b]` | object | keys that are not named are removed |
//! | `$deleteFromPrimitiveList/f: [x]` | object | `x` is removed from the list `f` |
//! | `$setElementOrder/f: […]` | object | the order of the list `f` after the merge |

use super::{go, unprocessable};
use crate::object::Object;
use crate::schema::{Field, Special, Type, TypeDef};
use crate::status::Status;
use serde_json::Value;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";

/// Merges `patch` into `document`, an object of type `definition`. On an error the
/// document is left half patched; callers give it up then.
pub fn apply(document: &mut Value, patch: Value, definition: &TypeDef) -> Result<(), Status> {
    let Value::Object(patch) = patch else {
        return Err(Status::bad_request(Error::BAD_DOCUMENT));
    };
    let original = match document {
        Value::Object(map) => std::mem::take(map),
        _ => Object::new(),
    };
    *document = Value::Object(merge_map(original, patch, Meta::Struct(definition))?);
    Ok(())
}

/// Why a patch cannot be merged, sorted by what the server answers.
#[derive(Debug, thiserror::Error)]
enum Error {
    /// The patch breaks its own format: 400.
    #[error("{0}")]
    Format(&'static str),
    /// 422, with upstream's fixed sentence.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// Upstream has no status for these, so they surface as 500 with their text.
    #[error("{0}")]
    Merge(String),
}

impl Error {
    const BAD_DOCUMENT: &str = "invalid JSON document";
    const PRIMITIVE_LIST: Self = Self::Format("invalid patch format of primitive list");
    const RETAIN_KEYS: Self = Self::Format("invalid patch format of retainKeys");
    const ELEMENT_ORDER: Self = Self::Format("invalid patch format of setElementOrder list");

    fn type_mismatch(expected: &str, found: &Value) -> Self {
        Self::Merge(format!("expected a {expected}, but received a {}", go::type_name(found)))
    }

    fn no_merge_key(item: &Object, key: &str) -> Self {
        let item = go::value(&Value::Object(item.clone()));
        Self::Merge(format!("map: {item} does not contain declared merge key: {key}"))
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Format(text) => Status::bad_request(text),
            Error::ListOfLists => unprocessable(),
            Error::Merge(text) => Status::failure(500, "", text),
        }
    }
}

/// What the schema says at one place of the walk.
#[derive(Clone, Copy)]
enum Meta<'a> {
    Struct(&'a TypeDef),
    /// A type of special form: to upstream a struct without the field that is asked for.
    Opaque(Special),
    /// Something that is no struct; Go's name of its kind.
    Kind(&'static str),
}

impl<'a> Meta<'a> {
    fn of(ty: &'a Type) -> Self {
        match ty {
            Type::Struct(reference) => Self::Struct(reference.get()),
            Type::Special(special) => Self::Opaque(*special),
            Type::Map(_) => Self::Kind("map"),
            Type::List(_) | Type::Bytes => Self::Kind("slice"),
            Type::String => Self::Kind("string"),
            Type::Bool => Self::Kind("bool"),
            Type::Int32 => Self::Kind("int32"),
            Type::Int64 => Self::Kind("int64"),
            Type::Uint32 => Self::Kind("uint32"),
            Type::Uint64 => Self::Kind("uint64"),
            Type::Float64 => Self::Kind("float64"),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Struct(_) | Self::Opaque(_) => "struct",
            Self::Kind(kind) => kind,
        }
    }

    /// The field of a struct; the case of its name is forgiven, as Go's JSON does.
    fn field(self, key: &str) -> Result<&'a Field, Error> {
        let missing =
            |name: &str| Error::Merge(format!("unable to find api field in struct {name} for the json field {key:?}"));
        match self {
            Self::Struct(definition) => definition
                .field(key)
                .or_else(|| definition.fields.iter().find(|field| field.name.eq_ignore_ascii_case(key)))
                .ok_or_else(|| missing(&definition.name)),
            Self::Opaque(special) => Err(missing(&format!("{special:?}"))),
            Self::Kind(kind) => {
                Err(Error::Merge(format!("merging an object in json but data type is not struct, instead is: {kind}")))
            }
        }
    }

    /// The field of a list, with the meta of its items.
    fn list_field(self, key: &str) -> Result<(&'a Field, Self), Error> {
        let field = self.field(key)?;
        match &field.ty {
            Type::List(item) if matches!(**item, Type::List(_)) => {
                Err(Error::Merge("unexpected slice of slice".to_owned()))
            }
            Type::List(item) => Ok((field, Self::of(item))),
            _ => Err(Error::Merge(format!("expected slice or array type, but got: {}", self.kind()))),
        }
    }
}

fn merge_map(mut original: Object, mut patch: Object, meta: Meta<'_>) -> Result<Object, Error> {
    if let Some(directive) = patch.remove(PATCH) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Object::new()),
            _ => {
                patch.insert(PATCH.to_owned(), directive.clone());
                let (directive, patch) = (go::value(&directive), go::value(&Value::Object(patch)));
                Err(Error::Merge(format!("unknown patch type: {directive} in map: {patch}")))
            }
        };
    }
    retain_keys(&mut original, &mut patch)?;
    merge_ordered_lists(&mut original, &mut patch, meta)?;
    for (key, value) in patch {
        merge_key(&mut original, key, value, meta)?;
    }
    Ok(original)
}

fn merge_key(original: &mut Object, key: String, value: Value, meta: Meta<'_>) -> Result<(), Error> {
    let deletes_from_list = key.starts_with(DELETE_FROM_LIST);
    let key = if deletes_from_list {
        directive_target(&key, DELETE_FROM_LIST).ok_or(Error::PRIMITIVE_LIST)?.to_owned()
    } else {
        key
    };
    if value.is_null() {
        original.remove(&key);
        return Ok(());
    }
    let merged = match (original.get_mut(&key).map(Value::take), value) {
        (Some(Value::Object(present)), Value::Object(patch)) => {
            let field = meta.field(&key)?;
            if field.patch.replace {
                Value::Object(patch)
            } else {
                Value::Object(merge_map(present, patch, Meta::of(&field.ty))?)
            }
        }
        (Some(Value::Array(present)), Value::Array(patch)) => {
            let (field, items) = meta.list_field(&key)?;
            Value::Array(merge_list_field(present, patch, field, items, deletes_from_list)?)
        }
        // There is no list to delete from: what is present stays.
        (Some(present), _) if deletes_from_list => present,
        (None, _) if deletes_from_list => return Ok(()),
        // Nothing comparable is there: the patch's value is taken, without its directives.
        (_, value) => match without_directives(without_nulls(value)) {
            Some(value) => value,
            None => {
                original.remove(&key);
                return Ok(());
            }
        },
    };
    original.insert(key, merged);
    Ok(())
}

/// `finalizers` of `$setElementOrder/finalizers`.
fn directive_target<'a>(key: &'a str, prefix: &str) -> Option<&'a str> {
    key.strip_prefix(prefix)?.strip_prefix('/')
}

/// Removes from `original` every key that `$retainKeys` does not name.
fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), Error> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let Value::Array(retained) = directive else { return Err(Error::RETAIN_KEYS) };
    let is_retained = |key: &str| retained.iter().any(|retained| retained.as_str() == Some(key));
    for (key, value) in patch.iter() {
        let is_directive = key.starts_with(DELETE_FROM_LIST) || key.starts_with(SET_ELEMENT_ORDER);
        if !value.is_null() && !is_directive && !is_retained(key) {
            return Err(Error::RETAIN_KEYS);
        }
    }
    original.retain(|key, _| is_retained(key));
    Ok(())
}

/// Merges the lists that `$setElementOrder` orders and takes them out of the patch.
fn merge_ordered_lists(original: &mut Object, patch: &mut Object, meta: Meta<'_>) -> Result<(), Error> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else { continue };
        let Value::Array(order) = order else {
            return Err(Error::type_mismatch("[]interface {}", &order));
        };
        let key = directive_target(&directive, SET_ELEMENT_ORDER).ok_or(Error::ELEMENT_ORDER)?;
        let present = list_at(original, key)?;
        let patched = list_at(patch, key)?;
        let (field, items) = meta.list_field(key)?;
        let merge_key = field.merge_key.as_deref();
        if let Some(patched) = &patched {
            check_order(patched, &order, merge_key)?;
        }
        let kind = match (&present, &patched) {
            (None, None) => continue,
            (present, patched) => {
                element_kind(present.as_deref().unwrap_or_default(), patched.as_deref().unwrap_or_default())?
            }
        };
        let server_order = present.clone().unwrap_or_default();
        let merged = match (present, patched) {
            (Some(present), Some(patched)) => merge_list_field(present, patched, field, items, false)?,
            (Some(present), None) => present,
            (None, Some(patched)) => match without_directives(Value::Array(patched)) {
                Some(Value::Array(items)) => items,
                _ => continue,
            },
            (None, None) => continue,
        };
        let merged = order_items(merged, &order, &server_order, merge_key, kind)?;
        original.insert(key.to_owned(), Value::Array(merged));
        patch.remove(key);
    }
    Ok(())
}

fn list_at(map: &Object, key: &str) -> Result<Option<Vec<Value>>, Error> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => Err(Error::type_mismatch("[]interface {}", other)),
    }
}

/// The items of a patch must stand in the order that `$setElementOrder` gives, and all of
/// them must be named there; items to be deleted are not looked at.
fn check_order(patch: &[Value], order: &[Value], merge_key: Option<&str>) -> Result<(), Error> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut wanted = order.iter();
    for item in patch {
        if merge_key.is_some() && !item.is_object() {
            return Err(Error::type_mismatch("map[string]interface {}", item));
        }
        if item.get(PATCH).is_some() {
            continue;
        }
        let mut found = false;
        for candidate in wanted.by_ref() {
            if same_item(item, candidate, merge_key)? {
                found = true;
                break;
            }
        }
        if !found {
            let (patch, order) = (go::value(&Value::Array(patch.to_vec())), go::value(&Value::Array(order.to_vec())));
            return Err(Error::Merge(format!(
                "The order in patch list:\n{patch}\n doesn't match {SET_ELEMENT_ORDER} list:\n{order}\n"
            )));
        }
    }
    Ok(())
}

fn same_item(left: &Value, right: &Value, merge_key: Option<&str>) -> Result<bool, Error> {
    let Some(key) = merge_key else { return Ok(left == right) };
    Ok(key_of(left, key)? == key_of(right, key)?)
}

fn key_of<'a>(item: &'a Value, merge_key: &str) -> Result<&'a Value, Error> {
    let Value::Object(map) = item else {
        return Err(Error::type_mismatch("map[string]interface {}", item));
    };
    map.get(merge_key).ok_or_else(|| Error::no_merge_key(map, merge_key))
}

fn merge_list_field(
    original: Vec<Value>,
    patch: Vec<Value>,
    field: &Field,
    items: Meta<'_>,
    deletes_from_list: bool,
) -> Result<Vec<Value>, Error> {
    if !field.patch.merge && !deletes_from_list {
        return Ok(patch);
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let kind = element_kind(&original, &patch)?;
    if kind == Elements::Scalars {
        if deletes_from_list {
            return Ok(original.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let mut merged = original.clone();
        for item in &patch {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        dedup(&mut merged);
        return order_items(merged, &patch, &original, field.merge_key.as_deref(), kind);
    }
    let Some(merge_key) = field.merge_key.as_deref() else {
        return Err(Error::Merge(format!("cannot merge lists without merge key for {}", items.kind())));
    };
    let (original, patch) = split_directives(original, patch, merge_key)?;
    let server_order = original.clone();
    let order = patch.clone();
    let merged = merge_items(original, patch, merge_key, items)?;
    order_items(merged, &order, &server_order, Some(merge_key), kind)
}

fn dedup(items: &mut Vec<Value>) {
    let mut seen: Vec<Value> = Vec::with_capacity(items.len());
    items.retain(|item| {
        let new = !seen.contains(item);
        if new {
            seen.push(item.clone());
        }
        new
    });
}

/// Carries out the items of a patch that are directives; gives the list to merge into and
/// the items to merge.
fn split_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let mut rest = Vec::with_capacity(patch.len());
    let mut replaces = false;
    for item in patch {
        let Value::Object(map) = &item else { continue };
        let Some(directive) = map.get(PATCH) else {
            rest.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let key = key_of(&item, merge_key)?;
                original.retain(|present| present.get(merge_key) != Some(key));
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                return Err(Error::Merge("merging lists cannot yet be specified in the patch".to_owned()));
            }
            _ => {
                let (directive, item) = (go::value(directive), go::value(&item));
                return Err(Error::Merge(format!("unknown patch type: {directive} in map: {item}")));
            }
        }
    }
    Ok(if replaces { (rest, Vec::new()) } else { (original, rest) })
}

fn merge_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
    items: Meta<'_>,
) -> Result<Vec<Value>, Error> {
    for item in patch {
        let key = key_of(&item, merge_key)?;
        let present = original.iter_mut().find(|present| present.get(merge_key) == Some(key));
        match (present, item) {
            (Some(Value::Object(present)), Value::Object(patch)) => {
                *present = merge_map(std::mem::take(present), patch, items)?;
            }
            (_, item) => original.push(item),
        }
    }
    Ok(original)
}

/// Puts the items named by `order` in that order and lets the others, which only the
/// server has, keep their place among them as far as that is possible.
fn order_items(
    merged: Vec<Value>,
    order: &[Value],
    server_order: &[Value],
    merge_key: Option<&str>,
    kind: Elements,
) -> Result<Vec<Value>, Error> {
    // Upstream partitions by the merge key alone and only sorts by the elements' kind.
    if let (Some(key), Elements::Maps) = (merge_key, kind) {
        for item in merged.iter().chain(order).chain(server_order) {
            key_of(item, key)?;
        }
    }
    let identity = |item: &Value| -> Value {
        match (kind, merge_key) {
            (Elements::Maps, Some(key)) => item.get(key).cloned().unwrap_or(Value::Null),
            _ => item.clone(),
        }
    };
    let place = |list: &[Value], item: &Value| {
        let wanted = identity(item);
        list.iter().position(|other| identity(other) == wanted)
    };
    let (mut named, mut unnamed): (Vec<_>, Vec<_>) = merged.into_iter().partition(|item| place(order, item).is_some());
    named.sort_by_key(|item| place(order, item));
    unnamed.sort_by_key(|item| place(server_order, item).unwrap_or(usize::MAX));

    let mut out = Vec::with_capacity(named.len() + unnamed.len());
    let mut named = named.into_iter().peekable();
    for item in unnamed {
        let own = place(server_order, &item);
        while let Some(next) = named.peek() {
            // The server's item goes before the first patched item that the server has
            // after it; patched items that are new give no hint and go first.
            match (own, place(server_order, next)) {
                (Some(own), Some(other)) if own < other => break,
                _ => out.extend(named.next()),
            }
        }
        out.push(item);
    }
    out.extend(named);
    Ok(out)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    Maps,
    Scalars,
}

/// What the elements of both lists are; they must all be of one type.
fn element_kind(left: &[Value], right: &[Value]) -> Result<Elements, Error> {
    let mut all = left.iter().chain(right);
    let Some(first) = all.next() else {
        return Err(Error::Merge("no elements in any of the given slices".to_owned()));
    };
    if first.is_array() {
        return Err(Error::ListOfLists);
    }
    if first.is_null() || all.any(|item| go::type_name(item) != go::type_name(first)) {
        let lists = Value::Array(vec![Value::Array(left.to_vec()), Value::Array(right.to_vec())]);
        return Err(Error::Merge(format!("list element types are not identical: {}", go::value(&lists))));
    }
    Ok(if first.is_object() { Elements::Maps } else { Elements::Scalars })
}

/// The value without the objects that are directives; `None` when it is one itself.
fn without_directives(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(map) if map.contains_key(PATCH) => return None,
        Value::Object(map) => {
            Value::Object(map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().filter_map(without_directives).collect()),
        other => other,
    })
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gvk::GroupVersionKind;
    use crate::schema::of_kind;
    use serde_json::json;

    fn patched(kind: &'static str, mut document: Value, patch: Value) -> Result<Value, Status> {
        let group = if kind == "Deployment" { "apps" } else { "" };
        let definition = of_kind(&GroupVersionKind::new(group, "v1", kind)).expect("a builtin kind");
        apply(&mut document, patch, definition).map(|()| document)
    }

    fn check(document: Value, patch: Value, expected: Value) {
        assert_eq!(patched("Pod", document, patch.clone()).expect("a valid patch"), expected, "{patch}");
    }

    fn check_error(document: Value, patch: Value, code: u16, message: &str) {
        let status = patched("Pod", document, patch).expect_err("an invalid patch");
        assert_eq!((status.code, status.message.as_str()), (code, message));
    }

    fn containers(items: Value) -> Value {
        json!({"spec": {"containers": items}})
    }

    #[test]
    fn maps_merge_and_nulls_remove() {
        check(
            json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
            json!({"metadata": {"labels": {"a": null, "c": "3"}, "annotations": {"x": "y", "z": null}}}),
            json!({"metadata": {"labels": {"b": "2", "c": "3"}, "annotations": {"x": "y"}}}),
        );
    }

    #[test]
    fn lists_with_a_merge_key_merge_by_it() {
        check(
            containers(json!([{"name": "a", "image": "1"}, {"name": "b", "image": "1"}])),
            containers(json!([{"name": "b", "image": "2"}])),
            containers(json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}])),
        );
        check(
            containers(json!([{"name": "a", "env": [{"name": "X", "value": "1"}]}])),
            containers(json!([{"name": "a", "env": [{"name": "Y", "value": "2"}]}])),
            containers(json!([{"name": "a", "env": [{"name": "Y", "value": "2"}, {"name": "X", "value": "1"}]}])),
        );
    }

    #[test]
    fn lists_without_a_strategy_are_replaced() {
        check(
            containers(json!([{"name": "a", "args": ["x", "y"]}])),
            containers(json!([{"name": "a", "args": ["z"]}])),
            containers(json!([{"name": "a", "args": ["z"]}])),
        );
        check(
            json!({"spec": {"tolerations": [{"key": "a"}]}}),
            json!({"spec": {"tolerations": [{"key": "b"}]}}),
            json!({"spec": {"tolerations": [{"key": "b"}]}}),
        );
    }

    #[test]
    fn primitive_lists_merge_as_sets() {
        check(
            json!({"metadata": {"finalizers": ["a", "b"]}}),
            json!({"metadata": {"finalizers": ["b", "c"]}}),
            json!({"metadata": {"finalizers": ["a", "b", "c"]}}),
        );
        check(
            json!({"metadata": {"finalizers": ["a", "b", "c"]}}),
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a", "c", "x"]}}),
            json!({"metadata": {"finalizers": ["b"]}}),
        );
        check(
            json!({"metadata": {"name": "x"}}),
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}),
            json!({"metadata": {"name": "x"}}),
        );
    }

    #[test]
    fn patch_directives_replace_and_delete() {
        check(
            json!({"metadata": {"labels": {"a": "1"}}}),
            json!({"metadata": {"labels": {"$patch": "replace", "b": "2"}}}),
            json!({"metadata": {"labels": {"b": "2"}}}),
        );
        check(
            json!({"metadata": {"labels": {"a": "1"}}}),
            json!({"metadata": {"labels": {"$patch": "delete"}}}),
            json!({"metadata": {"labels": {}}}),
        );
        check(
            containers(json!([{"name": "a"}, {"name": "b"}])),
            containers(json!([{"name": "a", "$patch": "delete"}])),
            containers(json!([{"name": "b"}])),
        );
        check(
            containers(json!([{"name": "a"}, {"name": "b"}])),
            containers(json!([{"$patch": "replace"}, {"name": "c"}])),
            containers(json!([{"name": "c"}])),
        );
        // Where nothing is present a directive leaves nothing behind.
        check(json!({}), json!({"metadata": {"labels": {"$patch": "delete"}}}), json!({"metadata": {}}));
    }

    #[test]
    fn retain_keys_clears_the_other_keys_of_a_union() {
        let deployment = json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
        let patch = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
        let result = patched("Deployment", deployment, patch).expect("a valid patch");
        assert_eq!(result, json!({"spec": {"strategy": {"type": "Recreate"}}}));
        check_error(
            json!({"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}),
            json!({"spec": {"volumes": [{"name": "v", "$retainKeys": ["name"], "hostPath": {"path": "/"}}]}}),
            400,
            "invalid patch format of retainKeys",
        );
    }

    #[test]
    fn set_element_order_decides_the_order() {
        check(
            containers(json!([{"name": "a"}, {"name": "b"}, {"name": "server"}])),
            json!({"spec": {
                "$setElementOrder/containers": [{"name": "b"}, {"name": "new"}, {"name": "a"}],
                "containers": [{"name": "new", "image": "x"}],
            }}),
            containers(json!([{"name": "b"}, {"name": "new", "image": "x"}, {"name": "a"}, {"name": "server"}])),
        );
        check(
            json!({"metadata": {"finalizers": ["a", "b"]}}),
            json!({"metadata": {"$setElementOrder/finalizers": ["b", "a"]}}),
            json!({"metadata": {"finalizers": ["b", "a"]}}),
        );
        check(
            json!({"spec": {}}),
            json!({"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "a"}]}}),
            containers(json!([{"name": "a"}])),
        );
        check_error(
            containers(json!([{"name": "a"}])),
            json!({"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "b"}]}}),
            500,
            "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
        );
    }

    #[test]
    fn mistakes_are_named_in_upstreams_words() {
        let pod = || containers(json!([{"name": "a"}]));
        check_error(
            pod(),
            containers(json!([{"image": "x"}])),
            500,
            "map: map[image:x] does not contain declared merge key: name",
        );
        check_error(pod(), json!({"spec": {"$patch": "x"}}), 500, "unknown patch type: x in map: map[$patch:x]");
        check_error(
            json!({"spec": {"nope": {}}}),
            json!({"spec": {"nope": {}}}),
            500,
            "unable to find api field in struct PodSpec for the json field \"nope\"",
        );
        check_error(
            json!({"metadata": {"finalizers": ["a"]}}),
            json!({"metadata": {"finalizers": [["a"]]}}),
            500,
            "list element types are not identical: [[a] [[a]]]",
        );
        check_error(
            json!({"metadata": {"finalizers": []}}),
            json!({"metadata": {"finalizers": [["a"]]}}),
            422,
            "the server rejected our request due to an error in our request",
        );
        check_error(pod(), json!("x"), 400, "invalid JSON document");
        check_error(
            json!({"metadata": {"name": "p"}}),
            json!({"metadata": {"$deleteFromPrimitiveList": ["x"]}}),
            400,
            "invalid patch format of primitive list",
        );
    }
}
