//! The selectors of a list as authorizers see them: as requirements. They come as text from
//! a request's query, and as text or requirements from an access review. Requirements are
//! all to hold, so one that is not understood can be left out: the question then is a
//! broader one.

use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::selector::{FieldSelector, Operator, Requirement, Selector};
use serde_json::{Value, json};

/// The text of a review's field selector, and what of it could not be read.
pub fn read_fields(attributes: &Value) -> (String, Option<Ignored>) {
    let raw = attributes.str_at(&["fieldSelector", "rawSelector"]);
    let requirements = attributes.items_at(&["fieldSelector", "requirements"]);
    if requirements.is_empty() {
        let failed = FieldSelector::parse(raw).is_err();
        return (if failed { String::new() } else { raw.to_owned() }, failed.then_some(Ignored::Wholly));
    }
    let mut selector = FieldSelector::everything();
    let mut failed = false;
    for requirement in requirements {
        let values = requirement.items_at(&["values"]);
        let equal = match requirement.str_at(&["operator"]) {
            "In" => true,
            "NotIn" => false,
            _ => {
                failed = true;
                continue;
            }
        };
        let [value] = values else {
            failed = true;
            continue;
        };
        selector.requirements.push(ferry_api::selector::FieldRequirement {
            field: requirement.str_at(&["key"]).to_owned(),
            value: value.as_str().unwrap_or_default().to_owned(),
            equal,
        });
    }
    (selector.to_string(), Ignored::of(failed, selector.is_empty()))
}

/// The same of its label selector.
pub fn read_labels(attributes: &Value) -> (String, Option<Ignored>) {
    let raw = attributes.str_at(&["labelSelector", "rawSelector"]);
    let requirements = attributes.items_at(&["labelSelector", "requirements"]);
    if requirements.is_empty() {
        let failed = Selector::parse(raw).is_err();
        return (if failed { String::new() } else { raw.to_owned() }, failed.then_some(Ignored::Wholly));
    }
    let mut selector = Selector::everything();
    let mut failed = false;
    for requirement in requirements {
        let operator = match requirement.str_at(&["operator"]) {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            _ => {
                failed = true;
                continue;
            }
        };
        let values = requirement.items_at(&["values"]).iter().filter_map(Value::as_str).map(str::to_owned).collect();
        match Requirement::new(requirement.str_at(&["key"]).to_owned(), operator, values) {
            Ok(requirement) => selector = selector.with(requirement),
            Err(_) => failed = true,
        }
    }
    (selector.to_string(), Ignored::of(failed, selector.is_empty()))
}

/// How much of a selector was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    Partially,
    Wholly,
}

impl Ignored {
    fn of(failed: bool, nothing_left: bool) -> Option<Self> {
        match (failed, nothing_left) {
            (false, _) => None,
            (true, true) => Some(Self::Wholly),
            (true, false) => Some(Self::Partially),
        }
    }

    pub fn describe(self, field: &str) -> String {
        match self {
            Self::Partially => format!("spec.resourceAttributes.{field} partially ignored due to parse error"),
            Self::Wholly => format!("spec.resourceAttributes.{field} ignored due to parse error"),
        }
    }
}

/// Whether a field selector pins a field to a value.
pub fn pins(selector: &str, field: &str, value: &str) -> bool {
    // Most requests have no selector, and those that do seldom name the field.
    selector.contains(field)
        && FieldSelector::parse(selector)
            .is_ok_and(|s| s.requirements.iter().any(|r| r.equal && r.field == field && r.value == value))
}

/// `fieldSelector.requirements` as webhooks are told them; empty if there are none.
pub fn field_requirements(selector: &str) -> Vec<Value> {
    let Ok(selector) = FieldSelector::parse(selector) else { return Vec::new() };
    let render = |r: &ferry_api::selector::FieldRequirement| json!({"key": r.field, "operator": if r.equal { "In" } else { "NotIn" }, "values": [r.value]});
    selector.requirements.iter().map(render).collect()
}

/// `labelSelector.requirements`, the same way. Comparisons have no name there and are left out.
pub fn label_requirements(selector: &str) -> Vec<Value> {
    let Ok(selector) = Selector::parse(selector) else { return Vec::new() };
    let render = |r: &Requirement| {
        let operator = match r.operator {
            Operator::Equals | Operator::DoubleEquals | Operator::In => "In",
            Operator::NotEquals | Operator::NotIn => "NotIn",
            Operator::Exists => "Exists",
            Operator::DoesNotExist => "DoesNotExist",
            Operator::GreaterThan | Operator::LessThan => return None,
        };
        let mut out = json!({"key": r.key, "operator": operator});
        if !r.values.is_empty() {
            out["values"] = json!(r.values);
        }
        Some(out)
    };
    selector.requirements().iter().filter_map(render).collect()
}

/// What is wrong with the selectors of a review's `resourceAttributes`.
pub fn validate(attributes: &Value, path: &Path) -> ErrorList {
    let mut errors = ErrorList::new();
    for (name, is_field) in [("fieldSelector", true), ("labelSelector", false)] {
        let Some(selector) = attributes.get(name).filter(|selector| selector.is_object()) else { continue };
        let path = path.child(name);
        let raw = selector.str_at(&["rawSelector"]);
        let requirements = selector.items_at(&["requirements"]);
        if !raw.is_empty() && !requirements.is_empty() {
            errors.push(Error::invalid(
                &path.child("rawSelector"),
                raw,
                "may not specified at the same time as requirements",
            ));
        }
        if raw.is_empty() && requirements.is_empty() {
            let detail = format!("when {} is specified, requirements or rawSelector is required", path.as_str());
            errors.push(Error::required(&path.child("requirements"), detail));
        }
        for (index, requirement) in requirements.iter().enumerate() {
            validate_requirement(requirement, is_field, &path.child("requirements").index(index), &mut errors);
        }
    }
    errors
}

fn validate_requirement(requirement: &Value, is_field: bool, path: &Path, errors: &mut ErrorList) {
    let values = requirement.items_at(&["values"]);
    match requirement.str_at(&["operator"]) {
        "In" | "NotIn" if values.is_empty() => {
            errors.push(Error::required(&path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            errors.push(Error::forbidden(&path.child("values"), detail));
        }
        // A newer client may know operators that we do not; its question is answered broadly.
        _ => {}
    }
    let key = requirement.str_at(&["key"]);
    if is_field {
        if key.is_empty() {
            errors.push(Error::required(&path.child("key"), "must be specified"));
        }
        return;
    }
    for mistake in ferry_api::selector::label_key_errors(key) {
        errors.push(Error::invalid(&path.child("key"), key, mistake));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_become_text_and_what_is_not_understood_is_left_out() {
        let fields = |requirements: Value| read_fields(&json!({"fieldSelector": {"requirements": requirements}}));
        let node = json!({"key": "spec.nodeName", "operator": "In", "values": ["a,b"]});
        assert_eq!(fields(json!([node])), ("spec.nodeName=a\\,b".into(), None));
        assert!(pins("spec.nodeName=a\\,b", "spec.nodeName", "a,b"));
        let odd = json!({"key": "x", "operator": "Near", "values": ["y"]});
        assert_eq!(fields(json!([node, odd])).1, Some(Ignored::Partially));
        assert_eq!(fields(json!([odd])), (String::new(), Some(Ignored::Wholly)));
        let raw = json!({"fieldSelector": {"rawSelector": "spec.nodeName"}});
        assert_eq!(read_fields(&raw), (String::new(), Some(Ignored::Wholly)));
        assert_eq!(
            field_requirements("a=b,c!=d"),
            [
                json!({"key": "a", "operator": "In", "values": ["b"]}),
                json!({"key": "c", "operator": "NotIn", "values": ["d"]})
            ]
        );

        let labels = json!({"labelSelector": {"requirements": [
            {"key": "app", "operator": "In", "values": ["a", "b"]}, {"key": "old", "operator": "DoesNotExist"}]}});
        let (text, ignored) = read_labels(&labels);
        assert_eq!(ignored, None);
        assert_eq!(Value::from(label_requirements(&text)), labels["labelSelector"]["requirements"]);
    }

    #[test]
    fn a_selector_pins_only_by_equality() {
        assert!(pins("spec.nodeName==a", "spec.nodeName", "a"));
        assert!(pins("status.phase!=x,spec.nodeName=a", "spec.nodeName", "a"));
        for other in ["", "spec.nodeName!=a", "spec.nodeName=b", "xspec.nodeName=a", "spec.nodeName"] {
            assert!(!pins(other, "spec.nodeName", "a"), "{other}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let check = |selector: Value, expected: &[&str]| {
            let errors = validate(&json!({"fieldSelector": selector}), &Path::new("spec.resourceAttributes"));
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(texts, expected);
        };
        check(
            json!({}),
            &[
                "spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required",
            ],
        );
        check(
            json!({"requirements": [{"key": "", "operator": "In"}]}),
            &[
                "spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
                "spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified",
            ],
        );
    }
}
