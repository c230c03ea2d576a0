//! From a schema as JSON to [`Node`]s. Everything that can be prepared is: patterns,
//! formats and the programs of rules are ready before the first object comes.

use super::formats::Format;
use super::node::{Additional, Checks, ListKind, Node, Pattern};
use super::rules::Rules;
use crate::apiextensions::custom_resource_definition::unsupported_schema;
use crate::read::Read;
use serde_json::Value;

/// Compiles a schema. `is_root` is for the root of a custom resource, of which rules can
/// read the metadata.
pub(super) fn compile(schema: &Value, is_root: bool) -> Result<Node, String> {
    if let Some(why) = unsupported_schema(schema) {
        return Err(why);
    }
    let mut node = node(schema);
    add_rules(&mut node, schema, is_root);
    Ok(node)
}

/// Every rule needs the types of what stands below it, so that rules are compiled where
/// the whole schema of their place is at hand.
fn add_rules(node: &mut Node, schema: &Value, is_root: bool) {
    let is_resource = is_root || node.embedded;
    if !schema.list("x-kubernetes-validations").is_empty() {
        match Rules::compile(schema, is_resource) {
            Some(rules) => node.rules = Some(Box::new(rules)),
            // What expressions cannot see has no rules, nor has anything in it.
            None => return,
        }
    }
    node.rules_within = node.rules.is_some();
    if let (Some(items), Some(part)) = (&mut node.items, schema.field("items")) {
        add_rules(items, part, false);
        node.rules_within |= items.rules_within;
    }
    let properties = schema.entries("properties");
    for (name, property) in &mut node.properties {
        if let Some(part) = properties.get(&**name) {
            add_rules(property, part, false);
            node.rules_within |= property.rules_within;
        }
    }
    if let (Additional::Schema(additional), Some(part)) = (&mut node.additional, schema.field("additionalProperties")) {
        add_rules(additional, part, false);
        node.rules_within |= additional.rules_within;
    }
}

fn node(schema: &Value) -> Node {
    let mut node = Node {
        kind: schema.text("type").into(),
        int_or_string: schema.flag("x-kubernetes-int-or-string"),
        nullable: schema.flag("nullable"),
        preserves_unknown: schema.flag("x-kubernetes-preserve-unknown-fields"),
        embedded: schema.flag("x-kubernetes-embedded-resource"),
        list: match schema.text("x-kubernetes-list-type") {
            "set" => ListKind::Set,
            "map" => ListKind::Map(schema.texts("x-kubernetes-list-map-keys").map(Into::into).collect()),
            _ => ListKind::Atomic,
        },
        map_is_atomic: schema.text("x-kubernetes-map-type") == "atomic",
        default: schema.field("default").cloned(),
        items: schema.field("items").filter(|items| items.is_object()).map(|items| Box::new(self::node(items))),
        properties: schema
            .entries("properties")
            .iter()
            .map(|(name, part)| (name.as_str().into(), self::node(part)))
            .collect(),
        additional: match schema.field("additionalProperties") {
            None => Additional::Unsaid,
            Some(Value::Bool(false)) => Additional::Forbidden,
            Some(part @ Value::Object(_)) => Additional::Schema(Box::new(self::node(part))),
            Some(_) => Additional::Any,
        },
        checks: Checks::default(),
        rules: None,
        rules_within: false,
        embedded_within: false,
        lists_within: false,
    };
    node.checks = checks(schema, &node);
    let additional = match &node.additional {
        Additional::Schema(part) => Some(&**part),
        _ => None,
    };
    let (mut embedded, mut lists) = (node.embedded, node.list != ListKind::Atomic);
    for part in node.items.as_deref().into_iter().chain(node.properties.values()).chain(additional) {
        embedded |= part.embedded_within;
        lists |= part.lists_within;
    }
    (node.embedded_within, node.lists_within) = (embedded, lists);
    node
}

fn checks(schema: &Value, node: &Node) -> Checks {
    let number = |key: &str| schema.field(key).and_then(Value::as_f64);
    let count = |key: &str| schema.opt_int(key);
    let parts = |key: &str| schema.list(key).iter().map(self::node).collect();
    let pattern = schema.text("pattern");
    Checks {
        format: Format::of(node, schema.text("format")),
        maximum: number("maximum"),
        exclusive_maximum: schema.flag("exclusiveMaximum"),
        minimum: number("minimum"),
        exclusive_minimum: schema.flag("exclusiveMinimum"),
        multiple_of: number("multipleOf"),
        max_length: count("maxLength"),
        min_length: count("minLength"),
        pattern: (!pattern.is_empty())
            .then(|| Pattern { text: pattern.into(), regex: ferry_cel::compile_pattern(pattern) }),
        max_items: count("maxItems"),
        min_items: count("minItems"),
        unique_items: schema.flag("uniqueItems"),
        max_properties: count("maxProperties"),
        min_properties: count("minProperties"),
        required: schema.texts("required").map(Into::into).collect(),
        values: schema.list("enum").to_vec(),
        all_of: parts("allOf"),
        any_of: parts("anyOf"),
        one_of: parts("oneOf"),
        not: schema.field("not").map(|part| Box::new(self::node(part))),
    }
}
