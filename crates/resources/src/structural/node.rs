//! A compiled schema: what `compile.rs` makes and every other file here walks. The parts
//! below `allOf`, `anyOf`, `oneOf` and `not` are nodes too; they only narrow values.

use super::formats::Format;
use super::rules::Rules;
use ferry_api::field::Path;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Node {
    /// `object`, `string`, …; empty where the schema says none.
    pub kind: Box<str>,
    pub int_or_string: bool,
    pub nullable: bool,
    pub preserves_unknown: bool,
    pub embedded: bool,
    pub list: ListKind,
    pub map_is_atomic: bool,
    pub default: Option<Value>,
    pub items: Option<Box<Node>>,
    pub properties: BTreeMap<Box<str>, Node>,
    pub additional: Additional,
    pub checks: Checks,
    pub rules: Option<Box<Rules>>,
    /// Whether there are rules here or below.
    pub rules_within: bool,
    /// Whether there are resources embedded here or below.
    pub embedded_within: bool,
    /// Whether there are lists of type set or map here or below.
    pub lists_within: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    #[default]
    Atomic,
    Set,
    /// The fields that tell items apart.
    Map(Vec<Box<str>>),
}

#[derive(Debug, Default)]
pub enum Additional {
    /// The schema does not say: unknown fields are pruned, and let pass if they are not.
    #[default]
    Unsaid,
    Forbidden,
    Any,
    Schema(Box<Node>),
}

/// What narrows a value.
#[derive(Debug, Default)]
pub struct Checks {
    pub format: Option<Format>,
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub multiple_of: Option<f64>,
    pub max_length: Option<i64>,
    pub min_length: Option<i64>,
    pub pattern: Option<Pattern>,
    pub max_items: Option<i64>,
    pub min_items: Option<i64>,
    pub unique_items: bool,
    pub max_properties: Option<i64>,
    pub min_properties: Option<i64>,
    pub required: Vec<Box<str>>,
    pub values: Vec<Value>,
    pub all_of: Vec<Node>,
    pub any_of: Vec<Node>,
    pub one_of: Vec<Node>,
    pub not: Option<Box<Node>>,
}

#[derive(Debug)]
pub struct Pattern {
    pub text: Box<str>,
    /// Definitions with patterns that do not compile are refused; an old one may have one.
    pub regex: Result<Regex, String>,
}

impl Node {
    /// The schema of a field by its name.
    pub fn field(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or(match &self.additional {
            Additional::Schema(node) => Some(node),
            _ => None,
        })
    }

    /// The path of a field: a declared one follows a dot, an entry of a map stands in
    /// brackets.
    pub fn path_of(&self, path: &Path, name: &str) -> Path {
        if self.properties.contains_key(name) { path.child(name) } else { path.key(name) }
    }

    pub fn has_type(&self, kind: &str) -> bool {
        if self.int_or_string { matches!(kind, "integer" | "string") } else { &*self.kind == kind }
    }

    /// The types as error texts name them; empty if there are none.
    pub fn type_names(&self) -> &str {
        if self.int_or_string { "integer,string" } else { &self.kind }
    }
}
