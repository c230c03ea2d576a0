//! What an evaluation costs: cel-go's interpreter/runtimecost.go for the language,
//! upstream's apiserver/pkg/cel/library/cost.go for the functions. The kind of cost of a
//! call is found when it is planned, the amount when it is made.

use crate::error::EvalError;
use crate::value::{Opaque, Value};

/// The most that one expression may cost: about a tenth of a second.
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The most that all expressions about one object may cost.
pub const RUNTIME_BUDGET: u64 = 10_000_000;

/// The most that all match conditions of one webhook or binding may cost.
pub const MATCH_CONDITIONS_BUDGET: u64 = 2_500_000;

pub(crate) const LIST_CREATE: u64 = 10;
pub(crate) const MAP_CREATE: u64 = 30;
pub(crate) const STRUCT_CREATE: u64 = 40;
pub(crate) const STRING_TRAVERSAL: f64 = 0.1;
pub(crate) const REGEX_LENGTH: f64 = 0.25;

/// Of an authorization check, so that an expression affords two.
pub(crate) const CHECK: u64 = 350_000;

/// What evaluations may still spend. One evaluation is cut off at `per_call`; what it
/// spent is taken from `remaining`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub per_call: u64,
    pub remaining: u64,
}

impl Budget {
    pub fn new(remaining: u64) -> Self {
        Self { per_call: PER_CALL_LIMIT, remaining }
    }

    /// Takes what an evaluation cost.
    pub fn spend(&mut self, cost: u64) -> Result<(), EvalError> {
        match self.remaining.checked_sub(cost) {
            Some(remaining) => {
                self.remaining = remaining;
                Ok(())
            }
            None => {
                self.remaining = 0;
                Err(EvalError::BudgetExceeded)
            }
        }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(RUNTIME_BUDGET)
    }
}

/// How the cost of a call is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CostKind {
    Fixed(u64),
    /// The first argument is read this many times.
    Traverse(f64),
    /// Everything in the first argument is looked at.
    Deep,
    /// The result is written and read.
    Result,
    Pattern,
    Contains,
    InList,
    Compare,
    Equals,
    Concatenate,
    ContainsIp {
        parses: bool,
    },
    ContainsCidr {
        parses: bool,
    },
    Validate,
    Selector,
    /// All pairs of two lists, this many times.
    Product(f64),
    ListResult,
    Flatten,
    /// All pairs within the list that is this argument.
    SelfCompare(usize),
}

/// The kind of a call; `overload` is none if it is found only at run time.
pub(crate) fn kind(function: &str, overload: Option<&str>) -> CostKind {
    use CostKind::*;
    let overload = overload.unwrap_or_default();
    match overload {
        "list_sets_contains_list" | "list_sets_intersects_list" => return Product(1.0),
        "list_sets_equivalent_list" => return Product(2.0),
        "list_slice" | "lists_range" | "list_reverse" => return ListResult,
        "list_flatten" | "list_flatten_int" => return Flatten,
        "list_distinct" => return SelfCompare(0),
        _ if overload.starts_with("list_") && overload.ends_with("_sort") => return SelfCompare(0),
        _ if overload.ends_with("_sortByAssociatedKeys") => return SelfCompare(1),
        _ => {}
    }
    match function {
        "check" => Fixed(CHECK),
        "fieldSelector" | "labelSelector" => Selector,
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => Deep,
        "url"
        | "lowerAscii"
        | "upperAscii"
        | "substring"
        | "trim"
        | "jsonpatch.escapeKey"
        | "cidr"
        | "isIP"
        | "isCIDR"
        | "quantity"
        | "isQuantity"
        | "semver"
        | "isSemver" => Traverse(1.0),
        "ip" if overload == "cidr_ip" => Fixed(1),
        "ip" => Traverse(1.0),
        "ip.isCanonical" | "replace" | "split" => Traverse(2.0),
        "join" => Result,
        "find" | "findAll" => Pattern,
        "containsIP" => ContainsIp { parses: overload == "cidr_contains_ip_string" },
        "containsCIDR" => ContainsCidr { parses: overload == "cidr_contains_cidr_string" },
        "validate" => Validate,
        "_==_" => Equals,
        "_!=_" => Compare,
        _ => match overload {
            "starts_with_string" | "ends_with_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
            | "string_format" => Traverse(1.0),
            "in_list" => InList,
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes" => Compare,
            "add_string" | "add_bytes" => Concatenate,
            "matches_string" => Pattern,
            "contains_string" => Contains,
            _ => Fixed(1),
        },
    }
}

/// The size that costs count: characters, bytes, items, entries; one for all else.
fn size(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => text.chars().count() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::List(list) => list.len() as u64,
        Value::Map(map) => map.len() as u64,
        Value::Opaque(opaque) => opaque.size().unwrap_or(1),
        _ => 1,
    }
}

/// As [`size`], but looking into an optional.
fn inner_size(value: &Value<'_>) -> u64 {
    match value {
        Value::Optional(Some(inner)) => inner_size(inner),
        other => size(other),
    }
}

fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

fn traversal(size: u64) -> u64 {
    scaled(size, STRING_TRAVERSAL)
}

/// Of a string with a pattern of a length; an empty string costs too.
fn pattern(text: u64, regex: u64) -> u64 {
    traversal(text + 1).saturating_mul(scaled(regex, REGEX_LENGTH))
}

fn deep(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => (text.len() as f64 * STRING_TRAVERSAL) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * STRING_TRAVERSAL) as u64,
        Value::List(list) => list.iter().map(|item| item.map_or(1, |item| deep(&item))).sum(),
        Value::Map(map) => map.entries().iter().map(|(key, value)| deep(key) + value.as_ref().map_or(1, deep)).sum(),
        _ => 1,
    }
}

/// The cost of a call that was made. An argument that failed is given as null.
pub(crate) fn cost(kind: CostKind, args: &[Value<'_>], result: &Value<'_>) -> u64 {
    match kind {
        CostKind::Fixed(cost) => cost,
        CostKind::Traverse(times) => {
            args.first().map_or(1, |first| scaled(inner_size(first), times * STRING_TRAVERSAL))
        }
        CostKind::Deep => args.first().map_or(0, deep),
        CostKind::Result => scaled(size(result), 2.0 * STRING_TRAVERSAL),
        CostKind::Pattern => pattern(size(&args[0]), size(&args[1])),
        CostKind::Contains => traversal(size(&args[0])).saturating_mul(traversal(size(&args[1]))),
        CostKind::InList => size(&args[1]),
        CostKind::Compare => traversal(inner_size(&args[0]).min(inner_size(&args[1]))),
        CostKind::Equals if matches!(args[0], Value::Opaque(_)) => 1,
        CostKind::Equals => traversal(inner_size(&args[0]).min(inner_size(&args[1]))),
        CostKind::Concatenate => traversal(size(&args[0]) + size(&args[1])),
        CostKind::ContainsIp { parses } => {
            let network = size(&args[0]);
            traversal(network * 2) + if parses { traversal(size(&args[1])) } else { 0 }
        }
        CostKind::ContainsCidr { parses } => {
            let network = size(&args[0]);
            traversal(network * 2) + traversal(network) + 1 + if parses { traversal(size(&args[1])) } else { 0 }
        }
        CostKind::Validate => match &args[0] {
            Value::Opaque(Opaque::Format(format)) => pattern(size(&args[1]), format.regex_size),
            _ => 1,
        },
        CostKind::Selector => selector(size(&args[1])),
        CostKind::Product(times) => 1 + ((size(&args[0]) * size(&args[1])) as f64 * times) as u64,
        CostKind::ListResult => size(result) + 1 + LIST_CREATE,
        CostKind::Flatten => {
            let depth = args.get(1).and_then(Value::as_int).unwrap_or(1).max(0) as f64;
            (size(&args[0]) as f64 * depth) as u64 + 1 + LIST_CREATE
        }
        CostKind::SelfCompare(index) => {
            let Value::List(list) = &args[index] else { return 1 };
            let length = list.len() as u64;
            let textual = matches!(list.get(0), Some(Ok(Value::String(_) | Value::Bytes(_))));
            let factor = if textual { 2.0 + STRING_TRAVERSAL } else { 2.0 };
            ((length * length) as f64 * factor) as u64 + 1 + LIST_CREATE
        }
    }
}

/// Parsing a selector: reading it, and a struct and a list for each requirement, the
/// shortest of which takes two characters.
pub(crate) fn selector(length: u64) -> u64 {
    let requirements = scaled(length, 0.5);
    LIST_CREATE
        .saturating_add(traversal(length))
        .saturating_add(requirements.saturating_mul(LIST_CREATE + STRUCT_CREATE))
}
