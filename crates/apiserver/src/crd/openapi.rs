//! The schemas of custom resources as OpenAPI documents publish them
//! (apiextensions-apiserver's pkg/controller/openapi). Pure; called when a document is
//! rendered.

use ferry_api::object::ensure_object;
use ferry_api::openapi::{CustomSchema, custom_name, reference};
use ferry_resources::Row;
use ferry_resources::custom_resource::Custom;
use ferry_resources::read::Read;
use serde_json::{Map, Value, json};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const EMBEDDED: &str = "x-kubernetes-embedded-resource";
const INT_OR_STRING: &str = "x-kubernetes-int-or-string";

/// Which of the two documents a schema is for. Version 2 knows less, and kubectl is strict
/// about what it does know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    V2,
    V3,
}

/// What is said about the fields that every object has; absent without prose.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prose {
    pub api_version: Option<String>,
    pub kind: Option<String>,
    pub metadata: Option<String>,
    pub list_metadata: Option<String>,
}

/// The schemas of a row; `None` for builtin kinds.
pub(crate) fn render(row: &Row, dialect: Dialect, prose: &Prose) -> Option<CustomSchema> {
    let custom = row.custom.as_ref()?;
    let mut object = render_object(custom, dialect, prose);
    let mut list = render_list(row, dialect, prose);
    for (schema, kind) in [(&mut object, &row.kind), (&mut list, &row.list_kind)] {
        let kinds = json!([{"group": row.group, "version": row.version, "kind": kind}]);
        ensure_object(schema).insert("x-kubernetes-group-version-kind".into(), kinds);
        if !custom.selectable.is_empty() {
            let fields: Vec<Value> = custom.selectable.iter().map(|(name, _)| json!({"fieldPath": name})).collect();
            ensure_object(schema).insert("x-kubernetes-selectable-fields".into(), fields.into());
        }
    }
    Some(CustomSchema { object, list_kind: row.list_kind.to_string(), list })
}

fn render_object(custom: &Custom, dialect: Dialect, prose: &Prose) -> Value {
    let schema = &custom.openapi;
    // kubectl would take a list of fields for a complete one.
    if !schema.is_object() || (dialect == Dialect::V2 && schema.flag(PRESERVE)) {
        return json!({"type": "object"});
    }
    let mut schema = schema.clone();
    match dialect {
        Dialect::V2 => reduce(&mut schema),
        Dialect::V3 => unfold(&mut schema),
    }
    add_type(&mut schema, dialect, prose);
    each_part(&mut schema, &mut |part| add_embedded(part, dialect, prose));
    schema
}

fn render_list(row: &Row, dialect: Dialect, prose: &Prose) -> Value {
    let item = reference(&custom_name(&row.group, &row.version, &row.kind), dialect == Dialect::V2);
    let mut list = json!({
        "type": "object", "required": ["items"],
        "description": format!("{} is a list of {}", row.list_kind, row.kind),
        "properties": {"items": {
            "type": "array", "items": {"$ref": item},
            "description": format!("List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md", row.plural),
        }},
    });
    let properties = properties(&mut list);
    properties.insert("apiVersion".into(), text_field(prose.api_version.as_deref()));
    properties.insert("kind".into(), text_field(prose.kind.as_deref()));
    properties.insert("metadata".into(), metadata(LIST_META, dialect, prose.list_metadata.as_deref()));
    list
}

fn properties(schema: &mut Value) -> &mut Map<String, Value> {
    ensure_object(ensure_object(schema).entry("properties").or_insert_with(|| json!({})))
}

fn add_type(schema: &mut Value, dialect: Dialect, prose: &Prose) {
    let properties = properties(schema);
    properties.insert("apiVersion".into(), text_field(prose.api_version.as_deref()));
    properties.insert("kind".into(), text_field(prose.kind.as_deref()));
    properties.insert("metadata".into(), metadata(OBJECT_META, dialect, prose.metadata.as_deref()));
}

fn text_field(description: Option<&str>) -> Value {
    match description {
        Some(text) => json!({"type": "string", "description": text}),
        None => json!({"type": "string"}),
    }
}

/// Version 3 gives no meaning to what stands beside a reference.
fn metadata(name: &str, dialect: Dialect, description: Option<&str>) -> Value {
    let pointer = reference(name, dialect == Dialect::V2);
    let mut field = match dialect {
        Dialect::V2 => json!({"$ref": pointer}),
        Dialect::V3 => json!({"allOf": [{"$ref": pointer}]}),
    };
    if let Some(text) = description {
        field["description"] = text.into();
    }
    field
}

/// An object inside the object tells its kind and has metadata, too.
fn add_embedded(part: &mut Value, dialect: Dialect, prose: &Prose) {
    if !part.flag(EMBEDDED) || (dialect == Dialect::V2 && part.flag(PRESERVE)) {
        return;
    }
    add_type(part, dialect, prose);
    let required = ensure_object(part).entry("required").or_insert_with(|| json!([]));
    if let Value::Array(required) = required {
        for field in ["kind", "apiVersion"] {
            if !required.iter().any(|known| known == field) {
                required.push(field.into());
            }
        }
    }
}

/// Calls `visit` for every schema below this one, innermost first.
fn each_part(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for part in properties.values_mut() {
            each_part(part, visit);
            visit(part);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(part @ Value::Object(_)) = map.get_mut(key) {
            each_part(part, visit);
            visit(part);
        }
    }
}

/// What may be a number or a text says so in terms that every client knows.
fn unfold(schema: &mut Value) {
    let add = |part: &mut Value| {
        if part.flag(INT_OR_STRING) && !part.has("anyOf") && !part.has("allOf") {
            ensure_object(part).insert("anyOf".into(), json!([{"type": "integer"}, {"type": "string"}]));
        }
    };
    each_part(schema, &mut |part| add(part));
}

/// Takes out of a schema what version 2 cannot say or kubectl cannot read there.
fn reduce(schema: &mut Value) {
    let preserves = schema.flag(PRESERVE);
    let nullable = schema.flag("nullable");
    let Value::Object(map) = schema else { return };
    for key in ["allOf", "oneOf", "anyOf", "not", "nullable"] {
        map.remove(key);
    }
    if nullable || preserves {
        map.remove("items");
        map.remove("properties");
    }
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    let untyped = nullable || (kind == "array" && !map.contains_key("items")) || (kind == "object" && preserves);
    if untyped {
        map.remove("type");
    }
    let nullables: Vec<String> = match map.get("properties") {
        Some(Value::Object(properties)) => {
            properties.iter().filter(|(_, part)| part.flag("nullable")).map(|(name, _)| name.clone()).collect()
        }
        _ => Vec::new(),
    };
    if map.get("additionalProperties").is_some_and(|part| part.flag("nullable")) {
        map.remove("required");
    }
    if let Some(Value::Array(required)) = map.get_mut("required") {
        required.retain(|name| !nullables.iter().any(|nullable| name == nullable));
        if required.is_empty() {
            map.remove("required");
        }
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(reduce);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(part @ Value::Object(_)) = map.get_mut(key) {
            reduce(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_2_says_only_what_kubectl_can_read() {
        let mut schema = json!({
            "type": "object", "required": ["a", "b"],
            "properties": {
                "a": {"type": "string", "nullable": true},
                "b": {"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": {"type": "object"}},
                "c": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"x": {}}},
                "d": {"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "e": {"type": "object", "nullable": true, "properties": {"x": {"type": "string"}}},
                "f": {"type": "array", "items": {"type": "integer", "nullable": true}},
            },
        });
        reduce(&mut schema);
        assert_eq!(
            schema,
            json!({
                "type": "object", "required": ["b"],
                "properties": {
                    "a": {}, "b": {"x-kubernetes-preserve-unknown-fields": true},
                    "c": {"x-kubernetes-preserve-unknown-fields": true}, "d": {"x-kubernetes-int-or-string": true},
                    "e": {}, "f": {"type": "array", "items": {}},
                },
            })
        );
    }

    #[test]
    fn embedded_resources_have_types_and_metadata() {
        let mut part = json!({"type": "object", "x-kubernetes-embedded-resource": true, "required": ["kind"]});
        add_embedded(&mut part, Dialect::V3, &Prose::default());
        assert_eq!(part["required"], json!(["kind", "apiVersion"]));
        let pointer = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
        assert_eq!(part["properties"]["metadata"], json!({"allOf": [{"$ref": pointer}]}));
    }
}
