//! The limits on what the validation rules of a CRD may cost, estimated when it is
//! written: after upstream's apiextensions validation (cel_validation.go). The API server
//! walks the schema, keeps a [`Cardinality`] beside it, and adds up a [`TotalCost`].

use serde_json::Value as Json;

use crate::schema::Schema;

/// The most that one rule may be estimated to cost for one object.
pub const STATIC_RULE_LIMIT: u64 = 10_000_000;

/// The most that all rules of a CRD may be estimated to cost for one object.
pub const STATIC_CRD_LIMIT: u64 = 100_000_000;

/// How many expensive rules an error names.
const NAMED: usize = 4;

/// How often a part of the schema can occur in an object; none if nothing limits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cardinality(Option<u64>);

impl Cardinality {
    /// Of the root of the schema.
    pub const ONE: Self = Self(Some(1));

    /// Of the properties, items or values of `parent`, which itself occurs this often.
    pub fn of_child(self, parent: &Json) -> Self {
        let limit = |key: &str| parent.get(key).and_then(Json::as_i64).map(|limit| limit.max(0) as u64);
        let each = match parent.get("type").and_then(Json::as_str) {
            Some("object") if parent.get("additionalProperties").is_some() => limit("maxProperties"),
            Some("array") => limit("maxItems"),
            _ => Some(1),
        };
        Self(self.0.zip(each).map(|(count, each)| count.saturating_mul(each)))
    }

    /// What a rule costs an object, if it costs `once` where it applies. Without a limit,
    /// as often as the part fits into a request.
    pub fn rule_cost(self, once: u64, schema: &Schema) -> u64 {
        once.saturating_mul(self.0.unwrap_or_else(|| schema.max_cardinality()))
    }
}

/// The estimated cost of all rules, with the places of the most expensive.
#[derive(Clone, Debug)]
pub struct TotalCost<P> {
    pub total: u64,
    pub most_expensive: Vec<(P, u64)>,
}

impl<P> Default for TotalCost<P> {
    fn default() -> Self {
        Self { total: 0, most_expensive: Vec::new() }
    }
}

impl<P> TotalCost<P> {
    pub fn add(&mut self, place: P, cost: u64) {
        self.total = self.total.saturating_add(cost);
        // A hundredth of the limit is not worth naming.
        if cost < STATIC_CRD_LIMIT / 100 {
            return;
        }
        self.most_expensive.push((place, cost));
        self.most_expensive.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
        self.most_expensive.truncate(NAMED);
    }

    pub fn exceeds_limit(&self) -> bool {
        self.total > STATIC_CRD_LIMIT
    }
}

/// The sentence about a cost above its limit. Upstream's names are "estimated rule cost",
/// "estimated messageExpression cost" and "x-kubernetes-validations estimated rule cost
/// total for entire OpenAPIv3 schema".
pub fn cost_error(name: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{name} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cardinality_multiplies_limits() {
        let object = json!({"type": "object", "properties": {}});
        let bounded = json!({"type": "array", "maxItems": 10});
        let map = json!({"type": "object", "additionalProperties": {}, "maxProperties": 5});
        let unbounded = json!({"type": "array"});
        let within = Cardinality::ONE.of_child(&object).of_child(&bounded).of_child(&map);
        assert_eq!(within, Cardinality(Some(50)));
        let schema = Schema::from_openapi(&json!({"type": "string"}), false);
        assert_eq!(within.rule_cost(3, &schema), 150);
        // A string takes two bytes and a comma, and a request has three mebibytes.
        let open = within.of_child(&unbounded).of_child(&bounded);
        assert_eq!(open.rule_cost(3, &schema), 3 * (3 * 1024 * 1024 / 3));
    }

    #[test]
    fn totals_name_the_most_expensive() {
        let mut total = TotalCost::default();
        for (place, cost) in
            [("a", 1), ("b", 60_000_000), ("c", 2_000_000), ("d", 50_000_000), ("e", 3_000_000), ("f", 4_000_000)]
        {
            total.add(place, cost);
        }
        let names: Vec<&str> = total.most_expensive.iter().map(|(place, _)| *place).collect();
        assert_eq!((names, total.exceeds_limit()), (vec!["b", "d", "f", "e"], true));
    }

    #[test]
    fn messages_round_as_upstream() {
        for (cost, factor) in [(12_000_000, "1.200000x"), (25_000_000, "2.5x"), (5_000_000_000, "more than 100x")] {
            let message = cost_error("estimated rule cost", cost, STATIC_RULE_LIMIT);
            assert!(
                message.starts_with(&format!("estimated rule cost exceeds budget by factor of {factor} (try")),
                "{message}"
            );
        }
    }
}
