//! Holds a value against its schema, with the texts of kube-openapi's pkg/validation/validate
//! as apiextensions-apiserver's pkg/apiserver/validation turns them into field errors. What
//! an update leaves as it was is not reported (validation/ratcheting.go).

use super::node::{Additional, Checks, ListKind, Node};
use super::ratchet::Correlated;
use ferry_api::field::{Error, ErrorList, ErrorType, Path};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// Every mistake in a value. `path` is where the value stands, in front of the paths that
/// the texts themselves tell.
pub(super) fn validate(node: &Node, value: &Value, correlated: Option<&Correlated<'_>>, path: &Path) -> ErrorList {
    let mut outcome = Outcome::default();
    check_ratcheted(node, value, &At::Root, correlated, &mut outcome);
    outcome.errors.into_iter().map(|failure| failure.into_error(path)).collect()
}

/// Where a value stands, told outside in; rendered only when something is wrong there.
enum At<'a> {
    Root,
    /// A declared property.
    Property(&'a At<'a>, &'a str),
    /// An entry of a map, which keeps its dot even at the root.
    Entry(&'a At<'a>, &'a str),
    Item(&'a At<'a>, usize),
}

impl At<'_> {
    fn render(&self) -> String {
        match self {
            At::Root => String::new(),
            At::Property(At::Root, name) => (*name).to_owned(),
            At::Property(parent, name) | At::Entry(parent, name) => format!("{}.{name}", parent.render()),
            At::Item(parent, index) => format!("{}[{index}]", parent.render()),
        }
    }
}

/// One mistake: `field` is none for those that upstream reports at no field.
struct Failure {
    kind: ErrorType,
    field: Option<String>,
    value: Option<Value>,
    /// kube-openapi's own sentence; no two mistakes of a value have the same.
    sentence: String,
    /// The detail of the field error, where it is not the sentence.
    detail: Option<String>,
}

impl Failure {
    fn into_error(self, path: &Path) -> Error {
        let field = self.field.as_deref().unwrap_or_default();
        let field = field.strip_prefix('.').unwrap_or(field);
        let path = if field.is_empty() { path.clone() } else { path.child(field) };
        let detail = self.detail.unwrap_or(self.sentence);
        Error { kind: self.kind, field: path.as_str().to_owned(), value: self.value, detail }
    }
}

/// The mistakes found so far, and how many checks were made: of several alternatives that
/// fail, the one that came farthest is told.
#[derive(Default)]
struct Outcome {
    errors: Vec<Failure>,
    /// The sentences of the errors: an object can have as many mistakes as items.
    sentences: HashSet<String>,
    matches: usize,
}

impl Outcome {
    fn add(&mut self, failure: Failure) {
        if self.sentences.insert(failure.sentence.clone()) {
            self.errors.push(failure);
        }
    }

    /// Forgets all mistakes but the first few.
    fn forget_after(&mut self, count: usize) {
        for failure in self.errors.drain(count..) {
            self.sentences.remove(&failure.sentence);
        }
    }

    fn merge(&mut self, other: Outcome) {
        self.matches += other.matches;
        other.errors.into_iter().for_each(|failure| self.add(failure));
    }

    /// A mistake in the value at a place; `sentence` begins with the place.
    fn invalid(&mut self, kind: ErrorType, field: String, value: impl Into<Value>, sentence: String) {
        self.add(Failure { kind, field: Some(field), value: Some(value.into()), sentence, detail: None });
    }

    /// A mistake that upstream reports at no field.
    fn general(&mut self, sentence: String) {
        self.add(Failure { kind: ErrorType::Invalid, field: None, value: Some("".into()), sentence, detail: None });
    }

    /// The value is not of a type: `found` is what it is instead.
    fn wrong_type(&mut self, at: &At<'_>, wanted: &str, found: &str) {
        let field = at.render();
        let sentence = format!("{field} in body must be of type {wanted}: {found:?}");
        self.invalid(ErrorType::TypeInvalid, field, found, sentence);
    }
}

/// Checks a value unless it is what it was before.
fn check_ratcheted<'a>(
    node: &'a Node,
    value: &'a Value,
    at: &At<'_>,
    correlated: Option<&Correlated<'a>>,
    outcome: &mut Outcome,
) {
    let before = outcome.errors.len();
    check(node, value, at, correlated, outcome);
    if outcome.errors.len() > before && correlated.is_some_and(Correlated::is_same) {
        outcome.forget_after(before);
    }
}

fn check<'a>(
    node: &'a Node,
    value: &'a Value,
    at: &At<'_>,
    correlated: Option<&Correlated<'a>>,
    outcome: &mut Outcome,
) {
    let checks = &node.checks;
    if value.is_null() {
        if !node.type_names().is_empty() && !node.nullable && &*node.kind != "null" {
            outcome.wrong_type(at, node.type_names(), "null");
        } else {
            outcome.matches += 1;
        }
        check_values(checks, value, at, outcome);
        return;
    }
    if !node.type_names().is_empty() || checks.format.is_some() {
        check_type(node, value, at, outcome);
        outcome.matches += 1;
    }
    check_parts(checks, value, at, outcome);
    outcome.matches += 2;
    match value {
        Value::String(text) => {
            check_text(checks, text, at, outcome);
            outcome.matches += 1;
            if let Some(format) = checks.format.as_ref().filter(|format| format.is_of_strings()) {
                if !format.accepts(text) {
                    outcome.wrong_type(at, format.name(), text);
                }
                outcome.matches += 1;
            }
        }
        Value::Number(number) => {
            check_number(node, number, at, outcome);
            outcome.matches += 2;
        }
        Value::Array(items) => {
            check_items(node, items, at, correlated, outcome);
            outcome.matches += 2;
        }
        _ => {}
    }
    check_values(checks, value, at, outcome);
    outcome.matches += 1;
    if let Value::Object(map) = value {
        check_fields(node, map, at, correlated, outcome);
        outcome.matches += 1;
    }
    outcome.matches += 1;
}

/// The type of a value with the format that upstream gives it.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::String(_) => ("string", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

fn check_type(node: &Node, value: &Value, at: &At<'_>, outcome: &mut Outcome) {
    let (kind, found_format) = type_of(value);
    let format = node.checks.format.as_ref().map_or("", |format| format.name());
    let is_whole = |number: &Value| number.as_f64().is_some_and(is_json_integer);
    let fits = node.has_type(kind)
        || (kind == "number" && node.has_type("integer") && is_whole(value))
        || (kind == "integer" && node.has_type("number"));
    let text_or_list = matches!(kind, "string" | "array");
    if !text_or_list && !format.is_empty() && !fits && found_format != format {
        outcome.wrong_type(at, format, found_format);
    } else if text_or_list && !format.is_empty() && !node.has_type("number") && !node.has_type("integer") {
        outcome.matches += 1;
    } else if !fits {
        outcome.wrong_type(at, node.type_names(), kind);
    } else {
        outcome.matches += 1;
    }
}

/// Whether a number is whole, and small enough for JSON to say so exactly.
fn is_json_integer(number: f64) -> bool {
    const LARGEST: f64 = ((1_i64 << 53) - 1) as f64;
    number.abs() <= LARGEST && number.fract() == 0.0
}

fn check_parts(checks: &Checks, value: &Value, at: &At<'_>, outcome: &mut Outcome) {
    // Nothing within an alternative is compared with the old object.
    let run = |part: &Node| {
        let mut own = Outcome::default();
        check(part, value, at, None, &mut own);
        own
    };
    if !checks.any_of.is_empty() {
        let mut best: Option<Outcome> = None;
        let mut valid = None;
        for part in &checks.any_of {
            let own = run(part);
            if own.errors.is_empty() {
                valid = Some(own);
                break;
            }
            if best.as_ref().is_none_or(|best| own.matches > best.matches) {
                best = Some(own);
            }
        }
        if valid.is_none() {
            outcome.general(format!("{:?} must validate at least one schema (anyOf)", at.render()));
        }
        if let Some(own) = valid.or(best) {
            outcome.merge(own);
        }
    }
    if !checks.one_of.is_empty() {
        let mut best: Option<Outcome> = None;
        let mut first = None;
        let mut valid = 0;
        for part in &checks.one_of {
            let own = run(part);
            if own.errors.is_empty() {
                valid += 1;
                best = None;
                first = first.or(Some(own));
            } else if valid == 0 && best.as_ref().is_none_or(|best| own.matches > best.matches) {
                best = Some(own);
            }
        }
        if valid == 1 {
            outcome.merge(first.unwrap_or_default());
        } else {
            let found =
                if valid == 0 { "Found none valid".into() } else { format!("Found {valid} valid alternatives") };
            outcome.general(format!("{:?} must validate one and only one schema (oneOf). {found}", at.render()));
            outcome.merge(best.unwrap_or_default());
        }
    }
    if !checks.all_of.is_empty() {
        let mut valid = 0;
        for part in &checks.all_of {
            let own = run(part);
            valid += usize::from(own.errors.is_empty());
            outcome.merge(own);
        }
        if valid != checks.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            outcome.general(format!("{:?} must validate all the schemas (allOf){none}", at.render()));
        }
    }
    if let Some(part) = &checks.not
        && run(part).errors.is_empty()
    {
        outcome.general(format!("{:?} must not validate the schema (not)", at.render()));
    }
}

/// Only the first mistake in a text is told.
fn check_text(checks: &Checks, text: &str, at: &At<'_>, outcome: &mut Outcome) {
    let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(max) = checks.max_length
        && length() > max
    {
        let field = at.render();
        let sentence = format!("{field} in body should be at most {max} chars long");
        let unit = if max == 1 { "byte" } else { "bytes" };
        let detail = if max < 0 { "value is too long".into() } else { format!("may not be more than {max} {unit}") };
        let kind = ErrorType::TooLong;
        outcome.add(Failure { kind, field: Some(field), value: None, sentence, detail: Some(detail) });
        return;
    }
    if let Some(min) = checks.min_length
        && length() < min
    {
        let field = at.render();
        let sentence = format!("{field} in body should be at least {min} chars long");
        outcome.invalid(ErrorType::Invalid, field, text, sentence);
        return;
    }
    let Some(pattern) = &checks.pattern else { return };
    let wanted: Cow<'_, str> = match &pattern.regex {
        Ok(regex) if regex.is_match(text) => return,
        Ok(_) => Cow::Borrowed(&pattern.text),
        Err(why) => format!("{}, but pattern is invalid: {why}", pattern.text).into(),
    };
    let field = at.render();
    let sentence = format!("{field} in body should match '{wanted}'");
    outcome.invalid(ErrorType::Invalid, field, text, sentence);
}

fn check_number(node: &Node, number: &Number, at: &At<'_>, outcome: &mut Outcome) {
    let checks = &node.checks;
    let as_float = number.as_f64().unwrap_or_default();
    if let Some(sentence) = out_of_range(node, number.as_i64(), as_float, "Checked", at) {
        outcome.general(sentence);
    }
    // A limit that is itself out of range is a mistake of its own, and the number is then
    // compared as a float.
    let whole = |limit: f64, prefix: &str, outcome: &mut Outcome| match out_of_range(node, None, limit, prefix, at) {
        Some(sentence) => {
            outcome.general(sentence);
            None
        }
        None => number.as_i64(),
    };
    if let Some(factor) = checks.multiple_of {
        let whole = whole(factor, "MultipleOf", outcome);
        let (shown, is_positive, divides) = match whole {
            Some(number) => {
                let factor = factor as i64;
                (factor.to_string(), factor > 0, factor > 0 && number % factor == 0)
            }
            None => {
                let quotient = if factor < 1.0 { 1.0 / factor * as_float } else { as_float / factor };
                (go_float(factor), factor > 0.0, is_json_integer(quotient))
            }
        };
        let field = at.render();
        if !is_positive {
            let sentence = format!("factor MultipleOf declared for {field} must be positive: {shown}");
            outcome.invalid(ErrorType::Invalid, field, go_number(factor), sentence);
        } else if !divides {
            let sentence = format!("{field} in body should be a multiple of {shown}");
            outcome.invalid(ErrorType::Invalid, field, number.clone(), sentence);
        }
    }
    let mut limit = |limit: Option<f64>, exclusive: bool, prefix: &str, words: [&str; 2], least: bool| {
        let Some(limit) = limit else { return };
        let (shown, beyond, equal) = match whole(limit, prefix, outcome) {
            Some(number) => {
                let limit = limit as i64;
                (limit.to_string(), if least { number < limit } else { number > limit }, number == limit)
            }
            None => (go_float(limit), if least { as_float < limit } else { as_float > limit }, as_float == limit),
        };
        if beyond || (exclusive && equal) {
            let field = at.render();
            let words = words[usize::from(exclusive)];
            let sentence = format!("{field} in body should be {words} {shown}");
            outcome.invalid(ErrorType::Invalid, field, number.clone(), sentence);
        }
    };
    let least = ["greater than or equal to", "greater than"];
    limit(checks.minimum, checks.exclusive_minimum, "Minimum boundary", least, true);
    let most = ["less than or equal to", "less than"];
    limit(checks.maximum, checks.exclusive_maximum, "Maximum boundary", most, false);
}

/// The sentence about a number that its type and format cannot hold.
fn out_of_range(node: &Node, whole: Option<i64>, number: f64, prefix: &str, at: &At<'_>) -> Option<String> {
    if node.int_or_string {
        return None;
    }
    let format = node.checks.format.as_ref().map_or("", |format| format.name());
    let whole = whole.or((number.fract() == 0.0 && number.abs() < 9.3e18).then_some(number as i64));
    let fits = match (&*node.kind, format) {
        ("integer", "int32") => whole.is_some_and(|number| i32::try_from(number).is_ok()),
        ("integer", _) => whole.is_some(),
        ("number", "float") => number.abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if fits {
        return None;
    }
    let (kind, place) = (&node.kind, at.render());
    Some(if format.is_empty() {
        format!("{prefix} value must be of type {kind} (default format) in {place}")
    } else {
        format!("{prefix} value must be of type {kind} with format {format} in {place}")
    })
}

/// A float as Go's %v prints it.
fn go_float(number: f64) -> String {
    let exponent = if number == 0.0 { 0 } else { number.abs().log10().floor() as i32 };
    if (-4..21).contains(&exponent) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

fn go_number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 1e15 { Value::from(number as i64) } else { Value::from(number) }
}

fn check_items(node: &Node, items: &[Value], at: &At<'_>, correlated: Option<&Correlated<'_>>, outcome: &mut Outcome) {
    let checks = &node.checks;
    if let Some(part) = node.items.as_deref() {
        // Items of other lists have no old selves.
        let is_map = matches!(node.list, ListKind::Map(_));
        let before = correlated.filter(|_| is_map).map(Correlated::items).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            let correlated = before.get(index).and_then(Option::as_ref);
            check_ratcheted(part, item, &At::Item(at, index), correlated, outcome);
        }
    }
    let size = items.len() as i64;
    if let Some(min) = checks.min_items.filter(|min| size < *min) {
        let field = at.render();
        let sentence = format!("{field} in body should have at least {min} items");
        outcome.invalid(ErrorType::Invalid, field, size, sentence);
    }
    if let Some(max) = checks.max_items.filter(|max| size > *max) {
        too_many(outcome, at, size, max, "items");
    }
    if checks.unique_items && (1..items.len()).any(|index| items[..index].contains(&items[index])) {
        let field = at.render();
        let sentence = format!("{field} in body shouldn't contain duplicates");
        outcome.invalid(ErrorType::Invalid, field, "", sentence);
    }
}

/// Fields are counted as items in the detail, though not in the sentence.
fn too_many(outcome: &mut Outcome, at: &At<'_>, size: i64, max: i64, what: &str) {
    let field = at.render();
    let sentence = format!("{field} in body should have at most {max} {what}");
    let unit = if max == 1 { "item" } else { "items" };
    let detail = if max < 0 { "has too many items".into() } else { format!("must have at most {max} {unit}") };
    let (kind, value) = (ErrorType::TooMany, Some(size.into()));
    outcome.add(Failure { kind, field: Some(field), value, sentence, detail: Some(detail) });
}

fn check_fields<'a>(
    node: &'a Node,
    map: &'a Map<String, Value>,
    at: &At<'_>,
    correlated: Option<&Correlated<'a>>,
    outcome: &mut Outcome,
) {
    let checks = &node.checks;
    let size = map.len() as i64;
    if let Some(min) = checks.min_properties.filter(|min| size < *min) {
        let field = at.render();
        let sentence = format!("{field} in body should have at least {min} properties");
        outcome.invalid(ErrorType::Invalid, field, size, sentence);
    }
    if let Some(max) = checks.max_properties.filter(|max| size > *max) {
        too_many(outcome, at, size, max, "properties");
    }
    // What kind an object is of is never compared: both were converted to one version.
    let before = |name: &str, value: &'a Value, part: &'a Node| match at {
        At::Root if matches!(name, "apiVersion" | "kind") => None,
        _ => correlated.and_then(|correlated| correlated.field(name, value, part)),
    };
    match &node.additional {
        Additional::Unsaid | Additional::Any => {}
        Additional::Forbidden => {
            for name in map.keys().filter(|name| !node.properties.contains_key(name.as_str())) {
                let field = at.render();
                let sentence = format!("{field}.{name} in body is a forbidden property");
                outcome.invalid(ErrorType::Invalid, field, name.as_str(), sentence);
            }
        }
        Additional::Schema(part) => {
            for (name, value) in map.iter().filter(|(name, _)| !node.properties.contains_key(name.as_str())) {
                let before = before(name, value, part);
                check_ratcheted(part, value, &At::Entry(at, name), before.as_ref(), outcome);
            }
        }
    }
    for (name, part) in &node.properties {
        if let Some(value) = map.get(&**name) {
            let before = before(name, value, part);
            check_ratcheted(part, value, &At::Property(at, name), before.as_ref(), outcome);
        }
    }
    for name in checks.required.iter().filter(|name| !map.contains_key(&***name)) {
        let field = format!("{}.{name}", at.render());
        let sentence = format!("{field} in body is required");
        let (kind, detail) = (ErrorType::Required, Some(String::new()));
        outcome.add(Failure { kind, field: Some(field), value: None, sentence, detail });
    }
}

fn check_values(checks: &Checks, value: &Value, at: &At<'_>, outcome: &mut Outcome) {
    if checks.values.is_empty() || checks.values.iter().any(|allowed| is_value(value, allowed)) {
        return;
    }
    let shown = |allowed: &Value| match allowed {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let allowed: Vec<String> = checks.values.iter().map(shown).collect();
    let names: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let field = at.render();
    let sentence = format!("{field} in body should be one of [{}]", names.join(" "));
    let detail = Error::not_supported(&Path::root(), Value::Null, &names).detail;
    let (kind, value) = (ErrorType::NotSupported, Some(value.clone()));
    outcome.add(Failure { kind, field: Some(field), value, sentence, detail: Some(detail) });
}

/// Whether a value is one of an enumeration. Go converts numbers to the type of the listed
/// one first; null is never one.
fn is_value(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) => false,
        (Value::Number(found), Value::Number(wanted)) => match wanted.as_i64() {
            Some(wanted) => found.as_i64().or(found.as_f64().map(|found| found as i64)) == Some(wanted),
            None => found.as_f64() == wanted.as_f64(),
        },
        (value, allowed) => value == allowed,
    }
}
