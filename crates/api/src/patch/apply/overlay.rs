//! A configuration laid over an object without owning anything: what mutating admission
//! policies do (upstream's ApplyStructuredMergeDiff). Only what is owned part by part may
//! be named, because naming an atomic value would replace all of it.

use super::element::PathElement;
use super::extract::validate;
use super::merge::{drop_nulls, merge};
use super::place::{Place, Shape, field_place};
use super::set::Path;
use crate::schema::TypeDef;
use serde_json::Value;

/// `live` with every field of `config` laid over it, or why that cannot be.
pub fn lay_over(live: &Value, config: &Value, definition: Option<&TypeDef>) -> Result<Value, String> {
    let place = Place::of(definition);
    let errors = validate(place, config);
    match errors.as_slice() {
        [] => {}
        [one] => return Err(format!("failed to convert patch object to typed object: {one}")),
        many => {
            let all = many.join("\n  ");
            return Err(format!("failed to convert patch object to typed object: errors:\n  {all}"));
        }
    }
    let mut atomics = Vec::new();
    find_atomics(place, config, &mut Path(Vec::new()), &mut atomics);
    // Told in the order of their names, whatever order the configuration has.
    atomics.sort_unstable();
    if !atomics.is_empty() {
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomics.join(", ")
        ));
    }
    let mut merged = merge(place, Some(live), Some(config)).unwrap_or_else(|| live.clone());
    drop_nulls(place, &mut merged);
    Ok(merged)
}

fn find_atomics(place: Place<'_>, value: &Value, path: &mut Path, found: &mut Vec<String>) {
    let mut below = |place: Place<'_>, element: PathElement, value: &Value, found: &mut Vec<String>| {
        path.0.push(element);
        find_atomics(place, value, path, found);
        path.0.pop();
    };
    match (place.shape(), value) {
        (Shape::Leaf, Value::Object(_) | Value::Array(_)) | (Shape::Deduced, Value::Array(_)) => {
            found.push(path.to_string());
        }
        (Shape::Struct(definition), Value::Object(map)) => {
            for (key, value) in map {
                below(field_place(definition, key), PathElement::field(key.as_str()), value, found);
            }
        }
        // As upstream has it, nobody looks below the keys of a map.
        (Shape::List(list), Value::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                below(list.item, PathElement::Index(index as i64), value, found);
            }
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

    fn check(config: Value, expected: Result<Value, &str>) {
        let live = json!({"metadata": {"name": "a", "labels": {"x": "1"}}, "spec": {
            "containers": [{"name": "c", "image": "i"}], "nodeSelector": {"a": "b"}}});
        let definition = of_kind(&GroupVersionKind::new("", "v1", "Pod")).expect("Pod");
        assert_eq!(lay_over(&live, &config, Some(definition)), expected.map_err(str::to_owned), "{config}");
    }

    #[test]
    fn what_is_named_is_laid_over_the_rest() {
        check(
            json!({"metadata": {"labels": {"y": "2"}}, "spec": {"containers": [{"name": "c", "tty": true}]}}),
            Ok(json!({"metadata": {"name": "a", "labels": {"x": "1", "y": "2"}}, "spec": {
                "containers": [{"name": "c", "image": "i", "tty": true}], "nodeSelector": {"a": "b"}}})),
        );
    }

    #[test]
    fn atomic_values_may_not_be_named() {
        check(
            json!({"spec": {"nodeSelector": {"c": "d"}, "containers": [{"name": "c", "args": ["x"]}]}}),
            Err(
                "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers[0].args, .spec.nodeSelector",
            ),
        );
        check(
            json!({"spec": {"nope": 1}}),
            Err("failed to convert patch object to typed object: .spec.nope: field not declared in schema"),
        );
    }
}
