//! The rules of a schema besides being structural: what OpenAPI knows and Kubernetes does
//! not take, how lists and maps are merged, and where rules in CEL may stand.

use super::rules::{self, Place};
use super::{structural, walk};
use crate::read::Read;
use crate::structural::{has_unpruned_defaults, validate_defaults};
use crate::validation::shown;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_cel::{Cardinality, TotalCost};
use serde_json::Value;
use std::collections::HashSet;

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];
/// What a schema may say at its root beside a status subresource, as upstream names it
/// and as JSON does.
const AT_ROOT: &[(&str, &str)] = &[
    ("Description", "description"),
    ("Type", "type"),
    ("Format", "format"),
    ("Title", "title"),
    ("Maximum", "maximum"),
    ("ExclusiveMaximum", "exclusiveMaximum"),
    ("Minimum", "minimum"),
    ("ExclusiveMinimum", "exclusiveMinimum"),
    ("MaxLength", "maxLength"),
    ("MinLength", "minLength"),
    ("Pattern", "pattern"),
    ("MaxItems", "maxItems"),
    ("MinItems", "minItems"),
    ("UniqueItems", "uniqueItems"),
    ("MultipleOf", "multipleOf"),
    ("Required", "required"),
    ("Items", "items"),
    ("Properties", "properties"),
    ("ExternalDocs", "externalDocs"),
    ("Example", "example"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
    ("XValidations", "x-kubernetes-validations"),
];

/// What is asked of schemas, and let pass where the old ones already lacked it.
#[derive(Clone, Copy)]
pub(super) struct SchemaDemands {
    pub structural: bool,
    pub known_types: bool,
    pub atomic_sets: bool,
    pub map_keys: bool,
    pub pruned_defaults: bool,
    /// Whether each rule is held to the limit of what one may cost.
    pub rule_costs: bool,
}

impl SchemaDemands {
    pub(super) const ALL: Self = Self {
        structural: true,
        known_types: true,
        atomic_sets: true,
        map_keys: true,
        pruned_defaults: true,
        rule_costs: true,
    };

    /// What the schemas of a stored definition keep, and so their successors must.
    pub(super) fn kept_by<'a>(schemas: impl Iterator<Item = &'a Value>) -> Self {
        let mut demands = Self::ALL;
        for schema in schemas {
            let is_structural = structural::unsupported(schema).is_none()
                && structural::validate_structural(schema, &Path::root()).is_empty();
            demands.structural &= is_structural;
            demands.pruned_defaults &= !is_structural || !has_unpruned_defaults(schema);
            walk(schema, &mut |part| {
                let kind = part.text("type");
                demands.known_types &= kind.is_empty() || TYPES.contains(&kind);
                demands.atomic_sets &= non_atomic_item(part).is_none();
                let mut errors = ErrorList::new();
                validate_map_keys(&mut errors, part, &Path::root());
                demands.map_keys &= errors.is_empty();
            });
        }
        demands
    }
}

/// One `schema` of a version, or `validation` where all versions share it.
pub(super) fn validate_validation(
    errors: &mut ErrorList,
    validation: Option<&Value>,
    has_status: bool,
    demands: SchemaDemands,
    path: &Path,
) {
    let Some(schema) = validation.field("openAPIV3Schema") else { return };
    let before = errors.len();
    if has_status {
        validate_root(errors, schema, path);
    }
    let at = path.child("openAPIV3Schema");
    if schema.flag("nullable") {
        errors.push(Error::forbidden(&path.child("openAPIV3Schema.nullable"), "nullable cannot be true at the root"));
    }
    let mut no_structure = None;
    // Rules are only looked at where the schema around them is sound.
    let mut cardinality = None;
    if demands.structural {
        no_structure = structural::unsupported(schema);
        if no_structure.is_none() {
            let mut found = structural::validate_structural(schema, &at);
            if found.is_empty() {
                found = validate_defaults(schema, demands.pruned_defaults, &at);
            }
            if found.is_empty() {
                cardinality = Some(Cardinality::ONE);
            }
            errors.append(&mut found);
        }
    }
    let mut found = Found::default();
    let walk = Walk { demands, forbidden_defaults: None, inside_meta: false, uncorrelatable: None };
    walk.validate(&mut found, schema, true, cardinality, &at);
    errors.append(&mut found.of_schema);
    errors.append(&mut found.of_rules);
    if let Some(why) = no_structure.filter(|_| errors.len() == before) {
        errors.push(Error::invalid(&at, "", why));
    }
    rules::validate_total(errors, &found.cost, &at);
}

/// A status subresource needs an object at the root of which nothing is narrowed.
fn validate_root(errors: &mut ErrorList, schema: &Value, path: &Path) {
    let kind = schema.text("type");
    if !kind.is_empty() && kind != "object" {
        let detail =
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        errors.push(Error::invalid(&path.child("openAPIV3Schema.type"), kind, detail));
        return;
    }
    let odd = schema.as_object().is_some_and(|fields| {
        fields.iter().any(|(key, value)| !is_zero(value) && !AT_ROOT.iter().any(|(_, name)| name == key))
    });
    if odd {
        let names: Vec<&str> = AT_ROOT.iter().map(|(name, _)| *name).collect();
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            names.join(" ")
        );
        errors.push(Error::invalid(&path.child("openAPIV3Schema"), schema.clone(), detail));
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// What the walk has found so far.
#[derive(Default)]
struct Found {
    of_schema: ErrorList,
    of_rules: ErrorList,
    cost: TotalCost<Path>,
}

/// What holds on the way down.
#[derive(Clone)]
struct Walk {
    demands: SchemaDemands,
    /// Why defaults are refused here.
    forbidden_defaults: Option<String>,
    inside_meta: bool,
    /// The outermost list around whose items have no old selves.
    uncorrelatable: Option<Path>,
}

impl Walk {
    /// `cardinality` is none where rules are not looked at.
    fn validate(
        &self,
        found: &mut Found,
        schema: &Value,
        is_root: bool,
        cardinality: Option<Cardinality>,
        path: &Path,
    ) {
        let before = found.of_schema.len();
        let errors = &mut found.of_schema;
        self.validate_support(errors, schema, path);
        if schema.flag("uniqueItems") {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            errors.push(Error::forbidden(&path.child("uniqueItems"), detail));
        }
        self.descend(found, schema, is_root, cardinality, path);
        validate_merging(&mut found.of_schema, schema, self.demands, path);
        rules::validate_form(&mut found.of_schema, schema, path);
        if let Some(cardinality) = cardinality.filter(|_| found.of_schema.len() == before) {
            let uncorrelatable = self.uncorrelatable.as_ref();
            let place = Place { is_root, cardinality, uncorrelatable, limits_rules: self.demands.rule_costs };
            rules::validate_programs(&mut found.of_rules, schema, &place, &mut found.cost, path);
        }
    }

    fn validate_support(&self, errors: &mut ErrorList, schema: &Value, path: &Path) {
        let kind = schema.text("type");
        if self.demands.known_types && !kind.is_empty() && !TYPES.contains(&kind) {
            errors.push(Error::not_supported(&path.child("type"), kind, TYPES));
        }
        if let Some(reason) = self.forbidden_defaults.as_ref().filter(|_| schema.has("default")) {
            errors.push(Error::forbidden(&path.child("default"), format!("must not be set {reason}")));
        }
        for key in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] {
            if schema.field(key).is_some_and(|value| !is_zero(value) || key == "additionalItems") {
                errors.push(Error::forbidden(&path.child(key), format!("{key} is not supported")));
            }
        }
        if kind == "null" {
            let detail = "type cannot be set to null, use nullable as an alternative";
            errors.push(Error::forbidden(&path.child("type"), detail));
        }
        if matches!(schema.field("items"), Some(Value::Array(items)) if !items.is_empty()) {
            errors.push(Error::forbidden(&path.child("items"), "items must be a schema object and not an array"));
        }
        if self.inside_meta && schema.flag("x-kubernetes-embedded-resource") {
            let detail = "must not be used inside of resource meta";
            errors.push(Error::forbidden(&path.child("x-kubernetes-embedded-resource"), detail));
        }
    }

    fn descend(&self, found: &mut Found, schema: &Value, is_root: bool, cardinality: Option<Cardinality>, path: &Path) {
        let below = cardinality.map(|cardinality| cardinality.of_child(schema));
        let properties = schema.entries("properties");
        if let Some(additional) = schema.field("additionalProperties") {
            let at = path.child("additionalProperties");
            if !properties.is_empty() && *additional != Value::Bool(true) {
                found.of_schema.push(Error::forbidden(&at, "additionalProperties and properties are mutual exclusive"));
            }
            if additional.is_object() {
                let mut inner = self.clone();
                if self.inside_meta {
                    inner.forbidden_defaults =
                        Some("inside additionalProperties applying to object metadata".to_owned());
                }
                inner.validate(found, additional, false, below, &at);
            }
        }
        for (name, property) in properties {
            let mut inner = self.clone();
            if (is_root || schema.flag("x-kubernetes-embedded-resource"))
                && matches!(name.as_str(), "metadata" | "kind" | "apiVersion")
            {
                inner.inside_meta = true;
                if is_root {
                    inner.forbidden_defaults = Some(format!("in top-level {name}"));
                }
            }
            inner.validate(found, property, false, below, &path.child("properties").key(name));
        }
        if let Some(not) = schema.field("not") {
            self.validate(found, not, false, None, &path.child("not"));
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            for (index, part) in schema.list(key).iter().enumerate() {
                self.validate(found, part, false, None, &path.child(key).index(index));
            }
        }
        let mut inner = self.clone();
        if schema.text("x-kubernetes-list-type") != "map" {
            inner.uncorrelatable.get_or_insert_with(|| path.clone());
        }
        match schema.field("items") {
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    inner.validate(found, item, false, below, &path.child("items").index(index));
                }
            }
            Some(item) => inner.validate(found, item, false, below, &path.child("items")),
            None => {}
        }
        for key in ["definitions", "dependencies"] {
            for (name, part) in schema.entries(key).iter().filter(|(_, part)| part.is_object()) {
                self.validate(found, part, false, None, &path.child(key).key(name));
            }
        }
    }
}

/// The kind of item that a list of type set cannot have, with the key that must be atomic.
fn non_atomic_item(schema: &Value) -> Option<&'static str> {
    let item = schema.field("items").filter(|item| item.is_object())?;
    if schema.text("x-kubernetes-list-type") != "set" {
        return None;
    }
    match item.text("type") {
        "array" if item.has("x-kubernetes-list-type") && item.text("x-kubernetes-list-type") != "atomic" => {
            Some("x-kubernetes-list-type")
        }
        "object" if item.text("x-kubernetes-map-type") != "atomic" => Some("x-kubernetes-map-type"),
        _ => None,
    }
}

/// How apply merges lists and maps.
fn validate_merging(errors: &mut ErrorList, schema: &Value, demands: SchemaDemands, path: &Path) {
    let kind = schema.text("type");
    let type_is = |errors: &mut ErrorList, wanted: &str, key: &str| {
        let (at, detail) = (path.child("type"), format!("must be {wanted} if {key} is specified"));
        errors.push(if kind.is_empty() { Error::required(&at, detail) } else { Error::invalid(&at, kind, detail) });
    };
    if schema.opt_flag("x-kubernetes-preserve-unknown-fields") == Some(false) {
        let at = path.child("x-kubernetes-preserve-unknown-fields");
        errors.push(Error::invalid(&at, false, "must be true or undefined"));
    }
    if let Some(map_type) = schema.opt_text("x-kubernetes-map-type") {
        if kind != "object" {
            type_is(errors, "object", "x-kubernetes-map-type");
        }
        if !matches!(map_type, "atomic" | "granular") {
            let at = path.child("x-kubernetes-map-type");
            errors.push(Error::not_supported(&at, map_type, &["atomic", "granular"]));
        }
    }
    let list_type = schema.opt_text("x-kubernetes-list-type");
    let list_at = path.child("x-kubernetes-list-type");
    if list_type.is_some() && kind != "array" {
        type_is(errors, "array", "x-kubernetes-list-type");
    } else if demands.atomic_sets
        && let Some(key) = non_atomic_item(schema)
    {
        let item = schema.field("items");
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let value = shown(item.field("x-kubernetes-list-type"));
        errors.push(Error::invalid(&path.child("items").child(key), value, detail));
    }
    if let Some(list_type) = list_type
        && !matches!(list_type, "atomic" | "set" | "map")
    {
        errors.push(Error::not_supported(&list_at, list_type, &["atomic", "set", "map"]));
    }
    let keys = schema.list("x-kubernetes-list-map-keys");
    if !keys.is_empty() && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        errors.push(match list_type {
            None => Error::required(&list_at, detail),
            Some(other) => Error::invalid(&list_at, other, detail),
        });
    }
    if list_type == Some("map") {
        validate_map_list(errors, schema, path);
    }
    if demands.map_keys {
        validate_map_keys(errors, schema, path);
    }
}

fn validate_map_list(errors: &mut ErrorList, schema: &Value, path: &Path) {
    let (keys, keys_at) = (schema.list("x-kubernetes-list-map-keys"), path.child("x-kubernetes-list-map-keys"));
    if keys.is_empty() {
        errors.push(Error::required(&keys_at, "must not be empty if x-kubernetes-list-type is map"));
    }
    let at = path.child("items");
    let item = match schema.field("items") {
        None => {
            errors.push(Error::required(&at, "must have a schema if x-kubernetes-list-type is map"));
            return;
        }
        Some(items @ Value::Array(_)) => {
            let detail = "must only have a single schema if x-kubernetes-list-type is map";
            errors.push(Error::invalid(&at, items.clone(), detail));
            return;
        }
        Some(item) => item,
    };
    let kind = item.text("type");
    if kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        errors.push(Error::invalid(&at.child("type"), kind, detail));
        return;
    }
    let mut seen = HashSet::new();
    for key in schema.texts("x-kubernetes-list-map-keys") {
        match item.entries("properties").get(key) {
            Some(property) if matches!(property.text("type"), "array" | "object") => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                errors.push(Error::invalid(&at.child("properties").key(key).child("type"), kind, detail));
            }
            Some(_) => {}
            None => errors.push(Error::invalid(&keys_at, keys, "entries must all be names of item properties")),
        }
        if !seen.insert(key) {
            errors.push(Error::invalid(&keys_at, keys, "must not contain duplicate entries"));
        }
    }
}

/// The keys of a list of type map are always there.
fn validate_map_keys(errors: &mut ErrorList, schema: &Value, path: &Path) {
    let Some(item) = schema.field("items").filter(|item| item.is_object()) else { return };
    let list_type = schema.text("x-kubernetes-list-type");
    if !matches!(list_type, "set" | "map") {
        return;
    }
    let at = path.child("items");
    if item.flag("nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(Error::forbidden(&at.child("nullable"), detail));
    }
    if list_type != "map" {
        return;
    }
    for key in schema.texts("x-kubernetes-list-map-keys") {
        let Some(property) = item.entries("properties").get(key) else { continue };
        let at = at.child("properties").key(key);
        if !item.texts("required").any(|required| required == key) && !property.has("default") {
            let detail =
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            errors.push(Error::required(&at.child("default"), detail));
        }
        if property.flag("nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            errors.push(Error::forbidden(&at.child("nullable"), detail));
        }
    }
}
