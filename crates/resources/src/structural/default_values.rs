//! The defaults that a schema declares are themselves values of it: they say nothing that
//! would be pruned and break no rule (pkg/apiserver/schema/defaulting/validation.go). The
//! rules of CustomResourceDefinition call this.

use super::coerce::{Malformed, coerce, coerce_resource};
use super::compile::compile;
use super::embedded::{self, validate_resource};
use super::node::{Additional, Node};
use super::prune::prune;
use super::rules;
use super::{Findings, validate};
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Map, Value, json};

/// The mistakes in all defaults of a schema.
pub(crate) fn validate_defaults(schema: &Value, must_be_pruned: bool, path: &Path) -> ErrorList {
    let mut walk = Walk { errors: ErrorList::new(), must_be_pruned, budget: Some(super::RUNTIME_BUDGET) };
    walk.schema(schema, &mut Vec::new(), Around::Root, path);
    walk.errors
}

/// Whether a default says something that the schema around it does not know.
pub(crate) fn has_unpruned_defaults(schema: &Value) -> bool {
    fn unpruned(node: &Node) -> bool {
        let own = node.default.as_ref().is_some_and(|default| !is_pruned(default, node));
        let additional = match &node.additional {
            Additional::Schema(part) => Some(&**part),
            _ => None,
        };
        own || node.items.as_deref().into_iter().chain(node.properties.values()).chain(additional).any(unpruned)
    }
    compile(schema, true).is_ok_and(|node| unpruned(&node))
}

fn is_pruned(value: &Value, node: &Node) -> bool {
    let mut pruned = value.clone();
    prune(&mut pruned, node, node.embedded);
    pruned == *value
}

/// What a schema stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// It is that of the custom resource itself.
    Root,
    Resource,
    /// The type or metadata of a resource, custom or embedded.
    Meta,
}

/// A step from a resource down to a value.
#[derive(Clone)]
enum Step<'a> {
    Field(&'a str),
    Item,
}

struct Walk {
    errors: ErrorList,
    must_be_pruned: bool,
    /// What rules may still spend; none once it is spent, and then the rest is not looked at.
    budget: Option<u64>,
}

impl Walk {
    fn schema<'a>(&mut self, schema: &'a Value, steps: &mut Vec<Step<'a>>, around: Around, path: &Path) {
        let is_resource = around == Around::Root || schema.flag("x-kubernetes-embedded-resource");
        let mut own_steps = Vec::new();
        let (steps, around) = if is_resource { (&mut own_steps, around) } else { (steps, around) };
        if let Some(default) = schema.field("default") {
            let at = path.child("default");
            match compile(schema, is_resource) {
                Ok(node) => self.default(&node, default, steps, (around, is_resource), &at),
                Err(why) => self.errors.push(Error::invalid(&at, default.clone(), why)),
            }
        }
        // Below additionalProperties defaults are refused elsewhere.
        if let Some(items) = schema.field("items").filter(|items| items.is_object()) {
            steps.push(Step::Item);
            let around = if is_resource { Around::Resource } else { around };
            self.schema(items, steps, around, &path.child("items"));
            steps.pop();
        }
        for (name, property) in schema.entries("properties") {
            if self.budget.is_none() {
                return;
            }
            let is_meta = is_resource && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
            let around = match around {
                _ if is_meta => Around::Meta,
                Around::Meta if !is_resource => Around::Meta,
                _ => Around::Resource,
            };
            steps.push(Step::Field(name));
            self.schema(property, steps, around, &path.child("properties").key(name));
            steps.pop();
        }
    }

    fn default(
        &mut self,
        node: &Node,
        default: &Value,
        steps: &[Step<'_>],
        (around, is_resource): (Around, bool),
        path: &Path,
    ) {
        if around == Around::Meta && !is_resource {
            if let Err(why) = check_metadata(default, steps) {
                let detail = format!("must result in valid metadata: {why}");
                self.errors.push(Error::invalid(path, default.clone(), detail));
                return;
            }
        } else {
            if self.must_be_pruned && !is_pruned_resource(default, node, is_resource) {
                self.errors.push(Error::invalid(path, default.clone(), "must not have unknown fields"));
            }
            let found = check_embedded(default, node, is_resource, path);
            if !found.is_empty() {
                self.errors.extend(found);
                return;
            }
        }
        let found = validate::validate(node, default, None, path);
        if !found.is_empty() {
            self.errors.extend(found);
            return;
        }
        self.rules(node, default, path);
    }

    /// A default comes both with an object that had it before and with one that had not.
    fn rules(&mut self, node: &Node, default: &Value, path: &Path) {
        let Some(budget) = self.budget.filter(|_| node.rules_within) else { return };
        let mut findings = Findings::default();
        let unchanged = rules::validate(node, default, Some(default), None, path, &mut findings, budget);
        let mut left = unchanged;
        if findings.errors.is_empty() {
            let fresh = rules::validate(node, default, None, None, path, &mut findings, budget);
            left = unchanged.zip(fresh).map(|(unchanged, fresh)| unchanged.min(fresh));
        }
        self.errors.append(&mut findings.errors);
        self.budget = left;
    }
}

fn is_pruned_resource(value: &Value, node: &Node, is_resource: bool) -> bool {
    let mut pruned = value.clone();
    prune(&mut pruned, node, is_resource);
    pruned == *value
}

/// The mistakes in the types and metadata of resources within a default.
fn check_embedded(default: &Value, node: &Node, is_resource: bool, path: &Path) -> ErrorList {
    let mut copy = default.clone();
    let mut unknown = Vec::new();
    let own = match &mut copy {
        Value::Object(map) if is_resource && !node.embedded => {
            coerce_resource(map, Malformed::Refuse, path, &mut unknown)
        }
        _ => Ok(()),
    };
    if let Err(error) = own.and_then(|()| coerce(&mut copy, node, Malformed::Refuse, path, &mut unknown)) {
        return vec![error];
    }
    let mut errors = ErrorList::new();
    if let Value::Object(map) = &copy
        && is_resource
        && !node.embedded
    {
        validate_resource(&mut errors, map, path);
    }
    embedded::validate(&mut errors, &copy, node, path);
    errors
}

/// Whether a default within metadata makes a resource that could be: the object around it
/// is made up.
fn check_metadata(default: &Value, steps: &[Step<'_>]) -> Result<(), String> {
    let mut value = default.clone();
    for step in steps.iter().rev() {
        value = match step {
            Step::Field(name) => Value::Object(Map::from_iter([((*name).to_owned(), value)])),
            Step::Item => json!([value]),
        };
    }
    let Value::Object(mut map) = value else { return Ok(()) };
    map.entry("kind").or_insert_with(|| "Validation".into());
    map.entry("apiVersion").or_insert_with(|| "validation/v1".into());
    coerce_resource(&mut map, Malformed::Refuse, &Path::root(), &mut Vec::new()).map_err(|error| error.to_string())?;
    let mut errors = ErrorList::new();
    validate_resource(&mut errors, &map, &Path::root());
    let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    texts.dedup();
    match texts.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}
