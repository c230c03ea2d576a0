//! The schemas of types. Whatever a path refers to is asked for by reference and rendered
//! at the end with all that it refers to in turn.

use super::Describe;
use crate::schema::{
    Field, ListType, PatchStrategy, Special, StructType, Type, TypeDef, Union, builtin, group_of_package, packages,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    V2,
    V3,
}

enum Wanted {
    /// Waits in `todo` until it is rendered.
    Struct,
    Special(Special),
    /// A named schema that is no type of the table.
    Plain(Value),
}

pub(super) struct Definitions {
    pub(super) dialect: Dialect,
    describe: Describe,
    /// The groups and versions that the document is of: some kinds of meta/v1 belong to
    /// each of them.
    versions: Vec<(String, String)>,
    wanted: BTreeMap<String, Wanted>,
    todo: Vec<Arc<TypeDef>>,
}

/// `io.k8s.api.apps.v1.Deployment`; a custom resource's group is turned around.
pub fn definition_name(definition: &TypeDef) -> String {
    match packages().iter().find(|package| package.name == definition.package.as_ref()) {
        Some(package) => format!("{}.{}", package.openapi_prefix, definition.name),
        None => {
            let (group, version) = definition.package.rsplit_once('/').unwrap_or(("", &definition.package));
            let mut parts: Vec<&str> = group.split('.').rev().collect();
            parts.extend([version, definition.name.as_ref()]);
            parts.join(".")
        }
    }
}

fn special_name(special: Special) -> &'static str {
    match special {
        Special::Time => "io.k8s.apimachinery.pkg.apis.meta.v1.Time",
        Special::MicroTime => "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime",
        Special::Duration => "io.k8s.apimachinery.pkg.apis.meta.v1.Duration",
        Special::FieldsV1 => "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
        Special::Quantity => "io.k8s.apimachinery.pkg.api.resource.Quantity",
        Special::IntOrString => "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
        Special::RawExtension => "io.k8s.apimachinery.pkg.runtime.RawExtension",
        Special::Json => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
        Special::JsonSchemaPropsOrBool => {
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool"
        }
        Special::JsonSchemaPropsOrArray => {
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray"
        }
        Special::JsonSchemaPropsOrStringArray => {
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray"
        }
    }
}

impl Definitions {
    pub(super) fn new(dialect: Dialect, describe: Describe, versions: Vec<(String, String)>) -> Self {
        Self { dialect, describe, versions, wanted: BTreeMap::new(), todo: Vec::new() }
    }

    /// A reference to a type, which is thereby to be rendered.
    pub(super) fn reference(&mut self, definition: &Arc<TypeDef>) -> Value {
        let name = definition_name(definition);
        if !self.wanted.contains_key(&name) {
            self.wanted.insert(name.clone(), Wanted::Struct);
            self.todo.push(definition.clone());
        }
        self.pointer(&name)
    }

    /// A reference to a type of meta/v1.
    pub(super) fn meta(&mut self, name: &str) -> Value {
        match builtin().get("meta/v1", name) {
            Some(definition) => self.reference(definition),
            None => json!({"type": "object"}),
        }
    }

    /// A reference to a schema of this name.
    pub(super) fn plain(&mut self, name: &str, schema: Value) -> Value {
        self.wanted.entry(name.to_owned()).or_insert(Wanted::Plain(schema));
        self.pointer(name)
    }

    fn pointer(&self, name: &str) -> Value {
        json!({"$ref": super::reference(name, self.dialect == Dialect::V2)})
    }

    /// Every schema that was asked for and those that they ask for.
    pub(super) fn render(mut self) -> Map<String, Value> {
        let mut schemas = Map::new();
        while let Some(definition) = self.todo.pop() {
            let schema = self.structure(&definition);
            schemas.insert(definition_name(&definition), schema);
        }
        for (name, wanted) in std::mem::take(&mut self.wanted) {
            match wanted {
                Wanted::Struct => {}
                Wanted::Special(special) => {
                    schemas.insert(name, self.special(special));
                }
                Wanted::Plain(schema) => {
                    schemas.insert(name, schema);
                }
            }
        }
        schemas
    }

    fn structure(&mut self, definition: &TypeDef) -> Value {
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        if let Some(text) = (self.describe)(definition, None) {
            schema.insert("description".into(), text.into());
        }
        let mut properties = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for field in &definition.fields {
            if field.required && field.embedded_name.as_deref() != Some("TypeMeta") {
                required.push(field.name.as_ref().into());
            }
            properties.insert(field.name.to_string(), self.field(definition, field));
        }
        if !properties.is_empty() {
            schema.insert("properties".into(), Value::Object(properties));
        }
        if !required.is_empty() {
            schema.insert("required".into(), Value::Array(required));
        }
        if definition.struct_type == Some(StructType::Atomic) {
            schema.insert("x-kubernetes-map-type".into(), "atomic".into());
        }
        if definition.preserve_unknown {
            schema.insert("x-kubernetes-preserve-unknown-fields".into(), true.into());
        }
        if let Some(union) = &definition.union {
            schema.insert("x-kubernetes-unions".into(), json!([render_union(union)]));
        }
        let kinds = self.kinds(definition);
        if !kinds.is_empty() {
            schema.insert("x-kubernetes-group-version-kind".into(), Value::Array(kinds));
        }
        Value::Object(schema)
    }

    /// The kinds that a type is; none for a part of one.
    fn kinds(&self, definition: &TypeDef) -> Vec<Value> {
        let entry =
            |group: &str, version: &str| json!({"group": group, "version": version, "kind": definition.name.as_ref()});
        let is_kind = definition.field("kind").is_some_and(|field| field.embedded_name.is_some());
        match (definition.package.as_ref(), definition.name.as_ref()) {
            ("meta/v1", "DeleteOptions" | "WatchEvent") => {
                let core = ("", "v1");
                let own = self.versions.iter().map(|(group, version)| (group.as_str(), version.as_str()));
                let mut versions: Vec<(&str, &str)> = own.chain([core]).collect();
                if self.dialect == Dialect::V2 {
                    versions.extend(
                        packages()
                            .iter()
                            .filter(|package| !WITHOUT_OPTIONS.contains(&package.group))
                            .map(|package| (package.group, package.version)),
                    );
                    versions.extend(NOT_SERVED);
                }
                versions.sort_unstable();
                versions.dedup();
                versions.into_iter().map(|(group, version)| entry(group, version)).collect()
            }
            ("meta/v1", _) if is_kind => vec![entry("", "v1")],
            (package, _) => match group_of_package(package) {
                Some((group, version)) if is_kind => vec![entry(group, version)],
                Some(_) => Vec::new(),
                // A custom resource's own type is the one that carries apiVersion and kind.
                None if definition.field("kind").is_some() && definition.field("apiVersion").is_some() => {
                    let (group, version) = package.rsplit_once('/').unwrap_or(("", package));
                    vec![entry(group, version)]
                }
                None => Vec::new(),
            },
        }
    }

    fn field(&mut self, definition: &TypeDef, field: &Field) -> Value {
        let mut extras = Map::new();
        if let Some(text) = (self.describe)(definition, Some(&field.name)) {
            extras.insert("description".into(), text.into());
        }
        if let Some(default) = self.default_of(field) {
            extras.insert("default".into(), default);
        }
        if let Some(strategy) = patch_strategy(field.patch) {
            extras.insert("x-kubernetes-patch-strategy".into(), strategy.into());
        }
        if let Some(key) = &field.merge_key {
            extras.insert("x-kubernetes-patch-merge-key".into(), key.as_ref().into());
        }
        if let Some(list_type) = field.list_type {
            let name = match list_type {
                ListType::Atomic => "atomic",
                ListType::Set => "set",
                ListType::Map => "map",
            };
            extras.insert("x-kubernetes-list-type".into(), name.into());
        }
        if !field.list_map_keys.is_empty() {
            let keys: Vec<&str> = field.list_map_keys.iter().map(AsRef::as_ref).collect();
            extras.insert("x-kubernetes-list-map-keys".into(), keys.into());
        }
        if let Some(own) = field.map_type.or(field.struct_type) {
            let name = if own == StructType::Atomic { "atomic" } else { "granular" };
            extras.insert("x-kubernetes-map-type".into(), name.into());
        }
        let schema = self.schema(&field.ty, field);
        self.merge(schema, extras)
    }

    /// Puts facts beside a schema. Version 3 gives no meaning to what stands beside a
    /// reference, so the reference moves into `allOf`.
    fn merge(&self, schema: Value, extras: Map<String, Value>) -> Value {
        let Value::Object(mut map) = schema else { return schema };
        if extras.is_empty() {
            return Value::Object(map);
        }
        if self.dialect == Dialect::V3 && map.contains_key("$ref") {
            map = Map::from_iter([("allOf".to_owned(), Value::Array(vec![Value::Object(map)]))]);
        }
        map.extend(extras);
        Value::Object(map)
    }

    /// Version 3 states the zero of what Go always writes, and declared defaults.
    fn default_of(&self, field: &Field) -> Option<Value> {
        if self.dialect == Dialect::V2 {
            return None;
        }
        if let Some(declared) = &field.default {
            return Some(declared.clone());
        }
        match &field.ty {
            _ if field.pointer => None,
            Type::Struct(_) => Some(json!({})),
            Type::Special(_) | Type::Bytes | Type::List(_) | Type::Map(_) => None,
            _ if field.omitempty => None,
            scalar => Some(crate::codec::zero(scalar)),
        }
    }

    fn schema(&mut self, ty: &Type, field: &Field) -> Value {
        let values = || match &field.enum_values {
            Some(values) => {
                let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
                json!({"type": "string", "enum": values})
            }
            None => json!({"type": "string"}),
        };
        match ty {
            Type::Bool => json!({"type": "boolean"}),
            Type::Int32 => json!({"type": "integer", "format": "int32"}),
            Type::Int64 => json!({"type": "integer", "format": "int64"}),
            Type::Uint32 => json!({"type": "integer", "format": "int64"}),
            Type::Uint64 => json!({"type": "integer", "format": "int64"}),
            Type::Float64 => json!({"type": "number", "format": "double"}),
            Type::String => values(),
            Type::Bytes => json!({"type": "string", "format": "byte"}),
            Type::List(item) => {
                let items = self.element(item, field);
                json!({"type": "array", "items": items})
            }
            Type::Map(item) => {
                let values = self.element(item, field);
                json!({"type": "object", "additionalProperties": values})
            }
            Type::Struct(reference) => self.reference(reference.get()),
            Type::Special(special) => {
                let name = special_name(*special);
                self.wanted.entry(name.to_owned()).or_insert(Wanted::Special(*special));
                self.pointer(name)
            }
        }
    }

    /// The items of a list or the values of a map, with the zero that version 3 states.
    fn element(&mut self, ty: &Type, field: &Field) -> Value {
        let schema = self.schema(ty, field);
        let default = match ty {
            _ if self.dialect == Dialect::V2 => None,
            Type::Struct(_) => Some(json!({})),
            Type::Special(_) | Type::Bytes | Type::List(_) | Type::Map(_) => None,
            scalar => Some(crate::codec::zero(scalar)),
        };
        let extras = default.map(|default| ("default".to_owned(), default)).into_iter().collect();
        self.merge(schema, extras)
    }

    fn special(&self, special: Special) -> Value {
        match (special, self.dialect) {
            (Special::Time | Special::MicroTime, _) => json!({"type": "string", "format": "date-time"}),
            (Special::Duration, _) | (Special::Quantity, Dialect::V2) => json!({"type": "string"}),
            (Special::Quantity, Dialect::V3) => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
            (Special::IntOrString, Dialect::V2) => json!({"type": "string", "format": "int-or-string"}),
            (Special::IntOrString, Dialect::V3) => {
                json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
            }
            (Special::RawExtension | Special::FieldsV1, _) => json!({"type": "object"}),
            (
                Special::Json
                | Special::JsonSchemaPropsOrBool
                | Special::JsonSchemaPropsOrArray
                | Special::JsonSchemaPropsOrStringArray,
                _,
            ) => json!({}),
        }
    }
}

/// Groups that have types and take no requests with options.
const WITHOUT_OPTIONS: [&str; 3] = ["apidiscovery.k8s.io", "meta.k8s.io", "metrics.k8s.io"];

/// Versions that upstream knows and does not serve unless it is told to. In the document of
/// everything the kinds that belong to every version belong to these too.
const NOT_SERVED: [(&str, &str); 29] = [
    ("admission.k8s.io", "v1beta1"),
    ("admissionregistration.k8s.io", "v1alpha1"),
    ("apiextensions.k8s.io", "v1beta1"),
    ("apiregistration.k8s.io", "v1beta1"),
    ("apps", "v1beta1"),
    ("apps", "v1beta2"),
    ("authentication.k8s.io", "v1alpha1"),
    ("authentication.k8s.io", "v1beta1"),
    ("authorization.k8s.io", "v1beta1"),
    ("batch", "v1beta1"),
    ("certificates.k8s.io", "v1alpha1"),
    ("coordination.k8s.io", "v1alpha2"),
    ("discovery.k8s.io", "v1beta1"),
    ("events.k8s.io", "v1beta1"),
    ("extensions", "v1beta1"),
    ("flowcontrol.apiserver.k8s.io", "v1beta1"),
    ("flowcontrol.apiserver.k8s.io", "v1beta2"),
    ("flowcontrol.apiserver.k8s.io", "v1beta3"),
    ("imagepolicy.k8s.io", "v1alpha1"),
    ("internal.apiserver.k8s.io", "v1alpha1"),
    ("node.k8s.io", "v1alpha1"),
    ("node.k8s.io", "v1beta1"),
    ("policy", "v1beta1"),
    ("rbac.authorization.k8s.io", "v1alpha1"),
    ("rbac.authorization.k8s.io", "v1beta1"),
    ("resource.k8s.io", "v1alpha3"),
    ("scheduling.k8s.io", "v1alpha2"),
    ("scheduling.k8s.io", "v1beta1"),
    ("storage.k8s.io", "v1alpha1"),
];

/// Members are given by their names in Go, which are those in JSON with a capital.
fn render_union(union: &Union) -> Value {
    let named = |name: &Arc<str>| {
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
        (name.to_string(), Value::String(first.chain(letters).collect()))
    };
    let fields: Map<String, Value> = union.members.iter().map(named).collect();
    let mut rendered = json!({ "fields-to-discriminateBy": fields });
    if let Some(discriminator) = &union.discriminator {
        rendered["discriminator"] = discriminator.as_ref().into();
    }
    rendered
}

fn patch_strategy(patch: PatchStrategy) -> Option<String> {
    let names = [(patch.merge, "merge"), (patch.replace, "replace"), (patch.retain_keys, "retainKeys")];
    let set: Vec<&str> = names.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
    if set.is_empty() { None } else { Some(set.join(",")) }
}
