//! Arithmetic over lists of resources, after upstream's apiserver/pkg/quota/v1/resources.go.

use crate::object::Meta;
use crate::quantity::{self, Quantity};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Resource names and how much of each.
pub type Amounts = BTreeMap<String, Quantity>;

/// The resource list at a path; what does not parse is left to validation.
pub fn amounts_at(object: &Value, path: &[&str]) -> Amounts {
    let Some(Value::Object(list)) = object.at(path) else { return Amounts::new() };
    list.iter().filter_map(|(name, value)| Some((name.clone(), quantity::from_value(value)?))).collect()
}

pub fn to_value(amounts: &Amounts) -> Value {
    let list: Map<String, Value> =
        amounts.iter().map(|(name, amount)| (name.clone(), amount.to_string().into())).collect();
    Value::Object(list)
}

pub fn add(a: &Amounts, b: &Amounts) -> Amounts {
    let mut sum = a.clone();
    for (name, amount) in b {
        let slot = sum.entry(name.clone()).or_default();
        *slot = slot.add(amount);
    }
    sum
}

/// What is left, and nothing where that were less than nothing. What only `b` has is left out.
pub fn subtract(a: &Amounts, b: &Amounts) -> Amounts {
    let left = |name: &String, amount: &Quantity| match b.get(name) {
        Some(less) => {
            let left = amount.sub(less);
            if left.is_negative() { Quantity::ZERO } else { left }
        }
        None => *amount,
    };
    a.iter().map(|(name, amount)| (name.clone(), left(name, amount))).collect()
}

pub fn mask<'n>(amounts: &Amounts, names: impl IntoIterator<Item = &'n String>) -> Amounts {
    names.into_iter().filter_map(|name| Some((name.clone(), *amounts.get(name)?))).collect()
}

pub fn without_zeros(mut amounts: Amounts) -> Amounts {
    amounts.retain(|_, amount| !amount.is_zero());
    amounts
}

/// `cpu,pods`, for messages.
pub fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut all: Vec<&str> = names.into_iter().collect();
    all.sort_unstable();
    all.join(",")
}

/// `cpu=1,pods=2`, for messages.
pub fn render(amounts: &Amounts) -> String {
    amounts.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(",")
}
