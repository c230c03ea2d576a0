//! The scopes that narrow a quota to some objects: `spec.scopes` and `spec.scopeSelector`.

use crate::object::Meta;
use serde_json::Value;

/// One scope and what is asked of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement<'a> {
    pub scope: &'a str,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`.
    pub operator: &'a str,
    pub values: Vec<&'a str>,
}

impl Requirement<'_> {
    /// Whether something whose value in this scope is one of these fulfils the requirement,
    /// as a label selector would judge it.
    pub fn accepts(&self, value: Option<&str>) -> bool {
        match self.operator {
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "In" => value.is_some_and(|value| self.values.contains(&value)),
            "NotIn" => value.is_none_or(|value| !self.values.contains(&value)),
            _ => false,
        }
    }
}

/// All that a quota asks; each must be fulfilled.
pub fn requirements(quota: &Value) -> Vec<Requirement<'_>> {
    let plain = quota.items_at(&["spec", "scopes"]).iter().filter_map(Value::as_str);
    let plain = plain.map(|scope| Requirement { scope, operator: "Exists", values: Vec::new() });
    let selected =
        quota.items_at(&["spec", "scopeSelector", "matchExpressions"]).iter().map(|expression| Requirement {
            scope: expression.str_at(&["scopeName"]),
            operator: expression.str_at(&["operator"]),
            values: expression.items_at(&["values"]).iter().filter_map(Value::as_str).collect(),
        });
    plain.chain(selected).collect()
}
