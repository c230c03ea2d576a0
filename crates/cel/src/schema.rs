//! The schema of an object, in the form that type checking, typed access and cost
//! estimation share. It is built from an OpenAPI v3 schema (a CRD's structural schema or a
//! builtin kind's) and follows upstream's apiserver/pkg/cel/common/schemas.go.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::escape::escape;
use crate::types::{StructType, Type};

/// The largest request, in bytes; nothing in an object can be larger.
const MAX_REQUEST: u64 = 3 * 1024 * 1024;

#[derive(Debug)]
pub struct Schema {
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    /// The most characters, bytes, items or entries that a value can have.
    pub(crate) max_elements: u64,
    /// The fewest bytes that a value takes in JSON.
    pub(crate) min_size: u64,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Object(BTreeMap<String, Property>),
    /// An object that declares nothing: its contents are stored but not reached.
    OpaqueObject,
    Map(Arc<Schema>),
    List {
        items: Arc<Schema>,
        list: ListKind,
    },
    /// A list whose items are not described; not exposed.
    OpaqueList,
    String,
    Bytes,
    Duration,
    Date,
    DateTime,
    Number,
    Integer,
    Boolean,
    IntOrString,
    /// Kept as it came, comparable only; not exposed.
    Preserved,
}

#[derive(Debug, PartialEq)]
pub(crate) enum ListKind {
    Atomic,
    Set,
    /// The fields that tell items apart.
    Map(Vec<String>),
}

#[derive(Debug)]
pub(crate) struct Property {
    pub schema: Arc<Schema>,
    /// The identifier that reaches the field, if any does.
    pub identifier: Option<String>,
}

impl Schema {
    /// Reads a resolved OpenAPI schema (no `$ref`). `resource_root` is for the root of a
    /// custom resource, where `apiVersion`, `kind` and the names in `metadata` are
    /// reachable whatever the schema says.
    pub fn from_openapi(schema: &Json, resource_root: bool) -> Arc<Self> {
        let text = |key: &str| schema.get(key).and_then(Json::as_str).unwrap_or_default();
        let flag = |key: &str| schema.get(key).and_then(Json::as_bool).unwrap_or_default();
        let limit = |key: &str| schema.get(key).and_then(Json::as_i64).map(|limit| limit.max(0) as u64);
        let resource_root = resource_root || flag("x-kubernetes-embedded-resource");
        let max_string = MAX_REQUEST - 2;
        let (kind, max_elements, min_size) = match text("type") {
            _ if flag("x-kubernetes-int-or-string") => {
                (Kind::IntOrString, limit("maxLength").map_or(max_string, |max| max.saturating_mul(4)), 1)
            }
            "object" => object(schema, resource_root, limit("maxProperties")),
            "array" => match schema.get("items").filter(|items| items.is_object()) {
                None => (Kind::OpaqueList, 0, 2),
                Some(items) => {
                    let items = Self::from_openapi(items, false);
                    let max = limit("maxItems").unwrap_or(max_string / (items.min_size + 1));
                    let keys = schema.get("x-kubernetes-list-map-keys").and_then(Json::as_array);
                    let list = match text("x-kubernetes-list-type") {
                        "set" => ListKind::Set,
                        "map" => ListKind::Map(
                            keys.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect(),
                        ),
                        _ => ListKind::Atomic,
                    };
                    (Kind::List { items, list }, max, 2)
                }
            },
            "string" => match text("format") {
                "byte" => (Kind::Bytes, limit("maxLength").unwrap_or(max_string), 2),
                "duration" => (Kind::Duration, 32, 3),
                "date" => (Kind::Date, 12, 12),
                "date-time" => (Kind::DateTime, 32, 21),
                _ => {
                    let longest = |values: &Vec<Json>| {
                        values.iter().filter_map(Json::as_str).map(|value| value.len() as u64).max().unwrap_or(0)
                    };
                    let values = schema.get("enum").and_then(Json::as_array).filter(|values| !values.is_empty());
                    let max = limit("maxLength")
                        .map(|max| max.saturating_mul(4))
                        .or(values.map(longest))
                        .unwrap_or(max_string);
                    (Kind::String, max, 2)
                }
            },
            "boolean" => (Kind::Boolean, 0, 4),
            "number" => (Kind::Number, 0, 1),
            "integer" => (Kind::Integer, 0, 1),
            _ => (Kind::Preserved, 0, 2),
        };
        Arc::new(Self { kind, nullable: flag("nullable"), max_elements, min_size })
    }

    /// The type that expressions see, with structs named after their path from `name`;
    /// none if the value is not exposed to them.
    pub fn to_type(&self, name: &str) -> Option<Type> {
        Some(match &self.kind {
            Kind::Object(properties) => {
                let mut fields = BTreeMap::new();
                for property in properties.values() {
                    if let Some(identifier) = &property.identifier
                        && let Some(found) = property.schema.to_type(&format!("{name}.{identifier}"))
                    {
                        fields.insert(identifier.clone(), found);
                    }
                }
                Type::Struct(StructType::new(name, fields))
            }
            Kind::OpaqueObject => Type::Struct(StructType::new(name, BTreeMap::new())),
            Kind::Map(values) => Type::map(Type::String, values.to_type(&format!("{name}.@elem"))?),
            Kind::List { items, .. } => Type::list(items.to_type(&format!("{name}.@idx"))?),
            Kind::String => Type::String,
            Kind::Bytes => Type::Bytes,
            Kind::Duration => Type::Duration,
            Kind::Date | Kind::DateTime => Type::Timestamp,
            Kind::Number => Type::Double,
            Kind::Integer => Type::Int,
            Kind::Boolean => Type::Bool,
            Kind::IntOrString => Type::Dyn,
            Kind::Preserved | Kind::OpaqueList => return None,
        })
    }

    fn is_exposed(&self) -> bool {
        match &self.kind {
            Kind::Map(part) | Kind::List { items: part, .. } => part.is_exposed(),
            Kind::Preserved | Kind::OpaqueList => false,
            _ => true,
        }
    }

    /// How many values of this schema a request can hold.
    pub fn max_cardinality(&self) -> u64 {
        MAX_REQUEST / (self.min_size + 1)
    }

    /// The schema of a part, by a path of the cost estimator: field names and `@items`,
    /// `@values`.
    pub(crate) fn at(&self, step: &str) -> Option<&Schema> {
        match (&self.kind, step) {
            (Kind::List { items, .. }, "@items") => Some(items),
            (Kind::Map(values), "@values") => Some(values),
            (Kind::Object(properties), name) => {
                let found = properties.values().find(|property| property.identifier.as_deref() == Some(name))?;
                Some(&found.schema)
            }
            _ => None,
        }
    }

    fn string() -> Arc<Self> {
        Arc::new(Self { kind: Kind::String, nullable: false, max_elements: MAX_REQUEST - 2, min_size: 2 })
    }
}

fn object(schema: &Json, resource_root: bool, max_properties: Option<u64>) -> (Kind, u64, u64) {
    if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
        let values = Schema::from_openapi(values, false);
        let max = max_properties.unwrap_or((MAX_REQUEST - 2) / (values.min_size + 6));
        return (Kind::Map(values), max, 2);
    }
    let declared = schema.get("properties").and_then(Json::as_object);
    let required: Vec<&str> =
        schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    let mut min_size = 2;
    let mut properties = BTreeMap::new();
    let mut add = |name: &str, part: Arc<Schema>, has_default: bool| {
        // Only what must be there counts; a default is filled in by the server.
        if required.contains(&name) && !has_default && part.is_exposed() {
            min_size += name.len() as u64 + part.min_size + 4;
        }
        let identifier = escape(name).map(|identifier| identifier.into_owned());
        properties.insert(name.to_owned(), Property { schema: part, identifier });
    };
    for (name, property) in declared.into_iter().flatten() {
        add(name, Schema::from_openapi(property, false), property.get("default").is_some());
    }
    if resource_root && !has_type_and_object_meta(schema) {
        add("kind", Schema::string(), false);
        add("apiVersion", Schema::string(), false);
        let names = ["name", "generateName"]
            .map(|name| (name.to_owned(), Property { schema: Schema::string(), identifier: Some(name.to_owned()) }));
        let kind = Kind::Object(BTreeMap::from(names));
        add("metadata", Arc::new(Schema { kind, nullable: false, max_elements: 0, min_size: 2 }), false);
    }
    if properties.is_empty() && declared.is_none() {
        return (Kind::OpaqueObject, 0, min_size);
    }
    (Kind::Object(properties), 0, min_size)
}

fn has_type_and_object_meta(schema: &Json) -> bool {
    [
        ("/properties/kind/type", "string"),
        ("/properties/apiVersion/type", "string"),
        ("/properties/metadata/type", "object"),
        ("/properties/metadata/properties/name/type", "string"),
        ("/properties/metadata/properties/generateName/type", "string"),
    ]
    .into_iter()
    .all(|(path, expected)| schema.pointer(path).and_then(Json::as_str) == Some(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_beyond_counting_is_the_longest() {
        let longest = i64::MAX;
        for mut schema in
            [serde_json::json!({"type": "string"}), serde_json::json!({"x-kubernetes-int-or-string": true})]
        {
            schema["maxLength"] = longest.into();
            assert_eq!(Schema::from_openapi(&schema, false).max_elements, u64::MAX);
        }
    }
}
