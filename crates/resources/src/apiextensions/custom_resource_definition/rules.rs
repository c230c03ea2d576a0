//! The rules in CEL that a schema carries, as far as they can be judged before there is an
//! object: their form, whether they compile, and what they may cost
//! (apiextensions/validation/validation.go and cel_validation.go).

use super::{field_path, structural};
use crate::read::Read;
use crate::structural::rules::{Compiled, compile};
use crate::validation::facts::DeclaredValues;
use ferry_api::field::{Error, ErrorList, ErrorType, Path};
use ferry_cel::{Cardinality, STATIC_CRD_LIMIT, STATIC_RULE_LIMIT, TotalCost, cost_error};
use serde_json::Value;

static REASONS: DeclaredValues = DeclaredValues::of("apiextensions/v1", "ValidationRule", "reason");

/// The form of rules.
pub(super) fn validate_form(errors: &mut ErrorList, schema: &Value, path: &Path) {
    const NOT_EMPTY: &str = "must be non-empty if specified";
    const NO_BREAKS: &str = "must not contain line breaks";
    let breaks = |text: &str| text.contains(['\n', '\r']);
    for (index, rule) in schema.list("x-kubernetes-validations").iter().enumerate() {
        let path = path.child("x-kubernetes-validations").index(index);
        let (expression, message) = (rule.text("rule"), rule.text("message"));
        let at = path.child("message");
        if expression.trim().is_empty() {
            errors.push(Error::required(&path.child("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.push(Error::invalid(&at, message, NOT_EMPTY));
        } else if breaks(message.trim()) {
            errors.push(Error::invalid(&at, message, NO_BREAKS));
        } else if breaks(expression.trim()) && message.trim().is_empty() {
            errors.push(Error::required(&at, "message must be specified if rule contains line breaks"));
        }
        let message_expression = rule.text("messageExpression");
        if !message_expression.is_empty() && message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(Error::required(&path.child("messageExpression"), detail));
        }
        if let Some(reason) = rule.opt_text("reason")
            && !REASONS.contains(&reason)
        {
            errors.push(Error::not_supported(&path.child("reason"), reason, &REASONS));
        }
        let (field, at) = (rule.text("fieldPath"), path.child("fieldPath"));
        if !field.is_empty() {
            if field.trim().is_empty() {
                errors.push(Error::invalid(&at, field, NOT_EMPTY));
            }
            if breaks(field) {
                errors.push(Error::invalid(&at, field, NO_BREAKS));
            }
            let known = structural::unsupported(schema).is_some() || field_path::resolve(field, schema, true).is_ok();
            if !known {
                errors.push(Error::invalid(&at, field, "must be a valid path"));
            }
        }
    }
}

/// Where a schema stands, for its rules.
pub(super) struct Place<'a> {
    pub is_root: bool,
    /// How often an object can hold a value of the schema.
    pub cardinality: Cardinality,
    /// The list or map around the schema whose parts cannot be found again after an update.
    pub uncorrelatable: Option<&'a Path>,
    /// Whether a single rule is held to its limit. Not so where the schema was there before.
    pub limits_rules: bool,
}

/// Compiles the rules of a schema and adds up what they may cost.
pub(super) fn validate_programs(
    errors: &mut ErrorList,
    schema: &Value,
    place: &Place<'_>,
    total: &mut TotalCost<Path>,
    path: &Path,
) {
    let rules = schema.list("x-kubernetes-validations");
    if rules.is_empty() {
        return;
    }
    let path = path.child("x-kubernetes-validations");
    let Some((typed, compiled)) = compile(schema, place.is_root) else {
        let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
        errors.push(Error::internal(&path, detail));
        return;
    };
    for (index, (rule, compiled)) in rules.iter().zip(&compiled).enumerate() {
        let path = path.index(index);
        let (rule_at, message_at) = (path.child("rule"), path.child("messageExpression"));
        let cost = place.cardinality.rule_cost(compiled.max_cost, &typed);
        if place.limits_rules && cost > STATIC_RULE_LIMIT {
            errors.push(Error::forbidden(&rule_at, cost_error("estimated rule cost", cost, STATIC_RULE_LIMIT)));
        }
        total.add(rule_at.clone(), cost);
        if let Some(Err(why)) = &compiled.program {
            errors.push(invalid_rule(&rule_at, rule, why));
        }
        match &compiled.message {
            None => {}
            Some(Err(why)) => errors.push(invalid_rule(&message_at, rule, why)),
            Some(Ok(_)) => {
                let cost = compiled.message_max_cost;
                if place.limits_rules && cost > STATIC_RULE_LIMIT {
                    let detail = cost_error("estimated messageExpression cost", cost, STATIC_RULE_LIMIT);
                    errors.push(Error::forbidden(&message_at, detail));
                }
                total.add(message_at, cost);
            }
        }
        validate_old_self(errors, rule, compiled, place, &path);
    }
}

fn validate_old_self(errors: &mut ErrorList, rule: &Value, compiled: &Compiled, place: &Place<'_>, path: &Path) {
    if compiled.uses_old_self {
        if let Some(around) = place.uncorrelatable {
            let detail = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {around}");
            errors.push(Error::invalid(&path.child("rule"), rule.text("rule"), detail));
        }
    } else if let Some(optional) = rule.opt_flag("optionalOldSelf") {
        let detail = "may not be set if oldSelf is not used in rule";
        errors.push(Error::invalid(&path.child("optionalOldSelf"), optional, detail));
    }
}

/// What all rules together may cost an object.
pub(super) fn validate_total(errors: &mut ErrorList, total: &TotalCost<Path>, path: &Path) {
    if !total.exceeds_limit() {
        return;
    }
    for (place, _) in &total.most_expensive {
        let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        errors.push(Error::forbidden(place, detail));
    }
    let name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
    errors.push(Error::forbidden(path, cost_error(name, total.total, STATIC_CRD_LIMIT)));
}

/// An error that shows the rule as upstream's internal type is encoded: under the names of
/// Go's fields and in their order, which a JSON value would not keep.
fn invalid_rule(path: &Path, rule: &Value, why: &str) -> Error {
    let text = |key: &str| go_json(&Value::from(rule.text(key)));
    let or_null = |key: &str| rule.field(key).map_or_else(|| "null".to_owned(), go_json);
    let shown = format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        text("rule"),
        text("message"),
        text("messageExpression"),
        or_null("reason"),
        text("fieldPath"),
        or_null("optionalOldSelf"),
    );
    let (kind, field) = (ErrorType::Invalid, path.as_str().to_owned());
    Error { kind, field, value: None, detail: format!("{shown}: {why}") }
}

/// A scalar as Go's encoder writes it.
fn go_json(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
