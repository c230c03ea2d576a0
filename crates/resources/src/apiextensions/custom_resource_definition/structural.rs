//! Structural schemas (apiextensions-apiserver's pkg/apiserver/schema): every field has a
//! type outside of `allOf`, `anyOf`, `oneOf` and `not`, which only narrow what is there.
//! Pruning, defaulting and apply need that.

use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Why a schema has no structural form at all.
pub fn unsupported(schema: &Value) -> Option<String> {
    for (key, name) in [
        ("id", "id"),
        ("$schema", "schema"),
        ("$ref", "$ref"),
        ("patternProperties", "patternProperties"),
        ("dependencies", "dependencies"),
        ("additionalItems", "additionalItems"),
        ("definitions", "definitions"),
    ] {
        if schema.field(key).is_some_and(|value| !is_empty(value)) {
            return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
        }
    }
    let parts = ["not"].iter().filter_map(|key| schema.field(key));
    let parts = parts.chain(["allOf", "anyOf", "oneOf"].iter().flat_map(|key| schema.list(key)));
    if let Some(why) = parts.into_iter().find_map(unsupported) {
        return Some(why);
    }
    if schema.opt_flag("x-kubernetes-preserve-unknown-fields") == Some(false) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    match schema.field("items") {
        Some(Value::Array(items)) if !items.is_empty() => {
            return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
        }
        Some(item @ Value::Object(_)) => {
            if let Some(why) = unsupported(item) {
                return Some(why);
            }
        }
        _ => {}
    }
    let properties = schema.entries("properties").values();
    let others = schema.field("additionalProperties").filter(|value| value.is_object());
    properties.chain(others).find_map(unsupported)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

/// What keeps a schema from being structural, in the order of the texts.
pub fn validate_structural(schema: &Value, path: &Path) -> ErrorList {
    let mut errors = ErrorList::new();
    validate_invariants(&mut errors, schema, Level::Root, path);
    validate_completeness(&mut errors, schema, Some(schema), path, path);
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

fn item(schema: &Value) -> Option<&Value> {
    schema.field("items").filter(|item| item.is_object())
}

fn validate_invariants(errors: &mut ErrorList, schema: &Value, level: Level, path: &Path) {
    let kind = schema.text("type");
    if kind == "array" && item(schema).is_none() {
        errors.push(Error::required(&path.child("items"), "must be specified"));
    }
    if let Some(item) = item(schema) {
        validate_invariants(errors, item, Level::Item, &path.child("items"));
    }
    for (name, property) in schema.entries("properties") {
        validate_invariants(errors, property, Level::Field, &path.child("properties").key(name));
    }
    let embedded = schema.flag("x-kubernetes-embedded-resource");
    let preserves = schema.flag("x-kubernetes-preserve-unknown-fields");
    let int_or_string = schema.flag("x-kubernetes-int-or-string");
    let additional_at = path.child("additionalProperties");
    if let Some(additional) = schema.field("additionalProperties") {
        if level == Level::Root {
            errors.push(Error::forbidden(&additional_at, "must not be used at the root"));
        }
        if additional.is_object() {
            validate_invariants(errors, additional, Level::Field, &additional_at);
        }
    }
    for (key, set) in
        [("x-kubernetes-preserve-unknown-fields", preserves), ("x-kubernetes-embedded-resource", embedded)]
    {
        if int_or_string && set {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push(Error::invalid(&path.child(key), true, detail));
        }
    }
    let skip =
        Skip { any_of: is_int_or_string(schema), all_of: schema.list("allOf").first().is_some_and(is_int_or_string) };
    validate_values(errors, schema, skip, level, path);
    validate_type(errors, schema, level, path);
    if embedded && schema.has("additionalProperties") {
        errors.push(Error::forbidden(&additional_at, "must not be used if x-kubernetes-embedded-resource is set"));
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        errors.push(Error::invalid(&path.child("type"), kind, "must be object at the root"));
    }
    validate_metadata(errors, schema, level, path);
    if embedded && !preserves && schema.entries("properties").is_empty() {
        let detail =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(Error::required(&path.child("properties"), detail));
    }
}

fn validate_type(errors: &mut ErrorList, schema: &Value, level: Level, path: &Path) {
    let (kind, at) = (schema.text("type"), path.child("type"));
    if schema.flag("x-kubernetes-embedded-resource") && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(if kind.is_empty() { Error::required(&at, detail) } else { Error::invalid(&at, kind, detail) });
    } else if kind.is_empty()
        && !schema.flag("x-kubernetes-int-or-string")
        && !schema.flag("x-kubernetes-preserve-unknown-fields")
    {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(Error::required(&at, detail));
    }
}

/// The fields that every object has are described by nobody but the server.
fn validate_metadata(errors: &mut ErrorList, schema: &Value, level: Level, path: &Path) {
    let checked = level == Level::Root || schema.flag("x-kubernetes-embedded-resource");
    let properties = schema.entries("properties");
    let at = |name: &str| path.child("properties").key(name);
    for name in ["kind", "apiVersion"] {
        if let Some(property) = properties.get(name)
            && checked
            && property.text("type") != "string"
        {
            errors.push(Error::invalid(&at(name).child("type"), property.text("type"), "must be string"));
        }
    }
    let Some(metadata) = properties.get("metadata") else { return };
    if checked && metadata.text("type") != "object" {
        errors.push(Error::invalid(&at("metadata").child("type"), metadata.text("type"), "must be object"));
    }
    if level != Level::Root {
        return;
    }
    let names: Vec<&str> = metadata.entries("properties").keys().map(String::as_str).collect();
    let only_names = !names.is_empty() && names.iter().all(|name| matches!(*name, "name" | "generateName"));
    let rest = metadata.as_object().is_some_and(|fields| {
        fields.iter().any(|(key, value)| match key.as_str() {
            "type" | "default" => false,
            "properties" => !only_names && !is_empty(value),
            _ => !value.is_null(),
        })
    });
    if rest {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(Error::forbidden(&at("metadata"), detail));
    }
}

/// The one use of types below `anyOf` that is let pass: an integer or a string.
fn is_int_or_string(schema: &Value) -> bool {
    schema.field("anyOf") == Some(&json!([{"type": "integer"}, {"type": "string"}]))
}

#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    /// The `anyOf` of the first of `allOf`.
    all_of: bool,
}

fn validate_values(errors: &mut ErrorList, schema: &Value, skip: Skip, level: Level, path: &Path) {
    for key in ["anyOf", "allOf", "oneOf"] {
        if key == "anyOf" && skip.any_of {
            continue;
        }
        for (index, part) in schema.list(key).iter().enumerate() {
            let nested = Skip { any_of: key == "allOf" && index == 0 && skip.all_of, all_of: false };
            validate_nested(errors, part, nested, level, &path.child(key).index(index));
        }
    }
    if let Some(not) = schema.field("not") {
        validate_nested(errors, not, Skip::default(), level, &path.child("not"));
    }
    let pattern = schema.text("pattern");
    if !pattern.is_empty()
        && let Err(error) = ferry_cel::compile_pattern(pattern)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        errors.push(Error::invalid(&path.child("pattern"), pattern, detail));
    }
}

/// A part that only narrows: it may say nothing about the structure.
fn validate_nested(errors: &mut ErrorList, part: &Value, skip: Skip, level: Level, path: &Path) {
    validate_values(errors, part, skip, level, path);
    if let Some(item) = item(part) {
        validate_nested(errors, item, Skip::default(), level, &path.child("items"));
    }
    for (name, property) in part.entries("properties") {
        let path = path.child("properties").key(name);
        validate_nested(errors, property, Skip::default(), Level::Field, &path);
    }
    const EMPTY: &str = "must be empty to be structural";
    const UNDEFINED: &str = "must be undefined to be structural";
    const FALSE: &str = "must be false to be structural";
    let additional = part.field("additionalProperties").is_some_and(|value| *value != Value::Bool(false));
    for (key, is_set, detail) in [
        ("type", !part.text("type").is_empty(), EMPTY),
        ("additionalProperties", additional, UNDEFINED),
        ("default", part.has("default"), UNDEFINED),
        ("title", !part.text("title").is_empty(), EMPTY),
        ("description", !part.text("description").is_empty(), EMPTY),
        ("nullable", part.flag("nullable"), FALSE),
        ("x-kubernetes-preserve-unknown-fields", part.flag("x-kubernetes-preserve-unknown-fields"), FALSE),
        ("x-kubernetes-embedded-resource", part.flag("x-kubernetes-embedded-resource"), FALSE),
        ("x-kubernetes-int-or-string", part.flag("x-kubernetes-int-or-string"), FALSE),
        ("x-kubernetes-list-map-keys", !part.list("x-kubernetes-list-map-keys").is_empty(), EMPTY),
        ("x-kubernetes-list-type", part.has("x-kubernetes-list-type"), UNDEFINED),
        ("x-kubernetes-map-type", part.has("x-kubernetes-map-type"), UNDEFINED),
        ("x-kubernetes-validations", !part.list("x-kubernetes-validations").is_empty(), EMPTY),
    ] {
        if is_set {
            errors.push(Error::forbidden(&path.child(key), detail));
        }
    }
    if part.entries("properties").contains_key("metadata") {
        let path = path.child("properties").key("metadata");
        errors.push(Error::forbidden(&path, "must not be specified in a nested context"));
    }
}

/// What a part narrows must be there: `whole` is the structure at `path`, `part` stands at `at`.
fn validate_completeness(errors: &mut ErrorList, part: &Value, whole: Option<&Value>, path: &Path, at: &Path) {
    let nested = |errors: &mut ErrorList, inner: &Value, at: &Path| {
        validate_nested_completeness(errors, inner, whole, path, at);
    };
    if let Some(not) = part.field("not") {
        nested(errors, not, &at.child("not"));
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for (index, inner) in part.list(key).iter().enumerate() {
            nested(errors, inner, &at.child(key).index(index));
        }
    }
}

fn validate_nested_completeness(errors: &mut ErrorList, part: &Value, whole: Option<&Value>, path: &Path, at: &Path) {
    let Some(whole) = whole else {
        errors.push(Error::required(path, format!("because it is defined in {at}")));
        return;
    };
    validate_completeness(errors, part, Some(whole), path, at);
    if let Some(inner) = item(part) {
        validate_nested_completeness(errors, inner, item(whole), &path.child("items"), &at.child("items"));
    }
    for (name, property) in part.entries("properties") {
        let (path, at) = (path.child("properties").key(name), at.child("properties").key(name));
        validate_nested_completeness(errors, property, whole.entries("properties").get(name), &path, &at);
    }
}
