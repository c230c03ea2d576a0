//! PriorityLevelConfiguration: the strategy of how many requests of a level run at once
//! and what happens to the others.

use super::flow_schema::validate_mandatory;
use crate::Strategy;
use crate::read::Read;
use crate::validation::one_of;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::Value;

pub struct PriorityLevelConfiguration;

/// How many bits of a request's hash deal its hand of queues.
const MAX_HASH_BITS: f64 = 60.0;
const PRESERVE_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

impl Strategy for PriorityLevelConfiguration {
    fn validate(&self, level: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        if level.annotation(PRESERVE_ZERO).is_some() {
            let path = Path::new("metadata").child("annotations");
            errors.push(Error::forbidden(&path, format!("annotation '{PRESERVE_ZERO}' is forbidden")));
        }
        validate_spec(&mut errors, level);
        let free: &[&str] = if level.name() == "exempt" { &["exempt"] } else { &[] };
        validate_mandatory(&mut errors, level, free);
        errors
    }
}

fn validate_spec(errors: &mut ErrorList, level: &Value) {
    let (spec, path) = (level.field("spec"), Path::new("spec"));
    let kind = spec.text("type");
    if (level.name() == "exempt") != (kind == "Exempt") {
        let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
        errors.push(Error::invalid(&path.child("type"), kind, detail));
    }
    let (exempt, limited) = (spec.field("exempt"), spec.field("limited"));
    match kind {
        "Exempt" if limited.is_some() => {
            errors.push(Error::forbidden(&path.child("limited"), "must be nil if the type is not Limited"));
        }
        "Limited" => {
            if exempt.is_some() {
                errors.push(Error::forbidden(&path.child("exempt"), "must be nil if the type is Limited"));
            }
            match limited {
                None => {
                    let detail = "must not be empty when type is Limited";
                    errors.push(Error::required(&path.child("limited"), detail));
                }
                Some(limited) => validate_limited(errors, limited, &path.child("limited")),
            }
        }
        _ => {}
    }
}

fn validate_limited(errors: &mut ErrorList, limited: &Value, path: &Path) {
    let (response, at) = (limited.field("limitResponse"), path.child("limitResponse"));
    let (queuing, queuing_at) = (response.field("queuing"), at.child("queuing"));
    match (response.text("type"), queuing) {
        ("Reject", Some(_)) => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            errors.push(Error::forbidden(&queuing_at, detail));
        }
        ("Reject", None) => {}
        ("Queue", None) => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            errors.push(Error::required(&queuing_at, detail));
        }
        ("Queue", Some(queuing)) => validate_queuing(errors, queuing, &queuing_at),
        (other, _) => one_of(errors, &at.child("type"), other, &["Queue", "Reject"]),
    }
}

fn validate_queuing(errors: &mut ErrorList, queuing: &Value, path: &Path) {
    let (queues, hand, at) = (queuing.int("queues"), queuing.int("handSize"), path.child("handSize"));
    if hand <= 0 {
        return;
    }
    if hand > queues {
        errors.push(Error::invalid(&at, hand, format!("should not be greater than queues ({queues})")));
    } else if ((queues as f64).log2() * hand as f64).ceil() > MAX_HASH_BITS {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater than {MAX_HASH_BITS}"
        );
        errors.push(Error::invalid(&at, hand, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check};
    use serde_json::json;

    fn level(spec: Value) -> Value {
        json!({"metadata": {"name": "a"}, "spec": spec})
    }

    fn queuing(queuing: Value) -> Value {
        level(json!({"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": queuing}}}))
    }

    #[test]
    fn a_level_limits_or_exempts() {
        check(&PriorityLevelConfiguration, queuing(json!({})), &[]);
        check(
            &PriorityLevelConfiguration,
            level(json!({"type": "Exempt", "limited": {}})),
            &[
                "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
                "spec.limited: Forbidden: must be nil if the type is not Limited",
            ],
        );
        check(
            &PriorityLevelConfiguration,
            queuing(json!({"queues": 512, "handSize": 8})),
            &[
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60",
            ],
        );
        check(
            &PriorityLevelConfiguration,
            level(json!({"type": "Limited", "limited": {"lendablePercent": 101, "limitResponse": {}}})),
            &[
                "spec.limited.limitResponse.type: Required value",
                "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
            ],
        );
    }

    #[test]
    fn a_level_is_shown() {
        assert_eq!(
            Value::from(cells("PriorityLevelConfiguration", queuing(json!({})))),
            json!(["a", "Limited", 30, 64, 8, 50, "10m"])
        );
    }
}
