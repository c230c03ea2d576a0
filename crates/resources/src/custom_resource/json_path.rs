//! kubectl's JSONPath, as far as definitions of custom resources use it: printer columns
//! and selectable fields (client-go's util/jsonpath). A path that leads nowhere finds
//! nothing; it is never an error.
//!
//! ```text
//! .spec.replicas   .metadata.labels['a\.b']   .items[0].name   .items[*].name
//! .status.conditions[?(@.type=="Ready")].status   ..name
//! ```

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// `.*` and `[*]`.
    Each,
    /// `[1]`, `[-1]` and `[0,2]`.
    Indexes(Vec<i64>),
    /// `[1:3]` and `[0:6:2]`.
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        step: i64,
    },
    /// `..`: the value itself and everything below it.
    Descend,
    Filter(Filter),
}

#[derive(Clone, Debug, PartialEq)]
struct Filter {
    left: Operand,
    /// `None` asks only whether the left side is there.
    compare: Option<(Operator, Operand)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Path(JsonPath),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// In the order in which they must be looked for: `<=` before `<`.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

impl JsonPath {
    /// Reads a path; `None` for what is none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut rest = text.strip_prefix(['$', '@']).unwrap_or(text);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("..") {
                steps.push(Step::Descend);
                rest = if after.starts_with('[') { after } else { read_name(after, &mut steps)? };
            } else if let Some(after) = rest.strip_prefix('.') {
                // A dot before a bracket and one at the end are let pass, as by client-go.
                rest = if after.is_empty() || after.starts_with('[') { after } else { read_name(after, &mut steps)? };
            } else if rest.starts_with('[') {
                let end = closing_bracket(rest)?;
                steps.push(read_bracket(rest[1..end].trim())?);
                rest = &rest[end + 1..];
            } else {
                return None;
            }
        }
        Some(Self(steps))
    }

    /// Everything that the path leads to.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        for step in &self.0 {
            let mut next = Vec::new();
            for value in found {
                step.follow(value, &mut next);
            }
            found = next;
        }
        found
    }
}

impl Step {
    fn follow<'a>(&self, value: &'a Value, out: &mut Vec<&'a Value>) {
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => out.extend(map.get(name)),
            (Self::Each, Value::Object(map)) => out.extend(map.values()),
            (Self::Each, Value::Array(items)) => out.extend(items),
            (Self::Indexes(indexes), Value::Array(items)) => {
                let length = items.len() as i64;
                let places = indexes.iter().map(|&index| if index < 0 { index + length } else { index });
                out.extend(places.filter_map(|place| usize::try_from(place).ok().and_then(|place| items.get(place))));
            }
            (Self::Slice { from, to, step }, Value::Array(items)) => {
                let length = items.len() as i64;
                let place = |at: i64| (if at < 0 { at + length } else { at }).clamp(0, length) as usize;
                let (from, to) = (place(from.unwrap_or(0)), place(to.unwrap_or(length)));
                if from < to {
                    out.extend(items[from..to].iter().step_by((*step).max(1) as usize));
                }
            }
            (Self::Descend, value) => descend(value, out),
            (Self::Filter(filter), Value::Array(items)) => out.extend(items.iter().filter(|item| filter.accepts(item))),
            (Self::Filter(filter), Value::Object(map)) => {
                out.extend(map.values().filter(|value| filter.accepts(value)));
            }
            _ => {}
        }
    }
}

/// A value and all that is in it, outermost first. Depth is bounded by the decoder.
fn descend<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    out.push(value);
    match value {
        Value::Object(map) => map.values().for_each(|inner| descend(inner, out)),
        Value::Array(items) => items.iter().for_each(|inner| descend(inner, out)),
        _ => {}
    }
}

impl Filter {
    fn accepts(&self, value: &Value) -> bool {
        let Some(left) = self.left.of(value) else { return false };
        match &self.compare {
            None => true,
            Some((operator, right)) => right.of(value).is_some_and(|right| operator.holds(left, right)),
        }
    }
}

impl Operand {
    fn of<'a>(&'a self, value: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Path(path) => path.find(value).into_iter().next(),
            Self::Literal(literal) => Some(literal),
        }
    }
}

impl Operator {
    /// Values of two types are never equal and have no order.
    fn holds(self, left: &Value, right: &Value) -> bool {
        use std::cmp::Ordering;
        let order = match (left, right) {
            (Value::Number(left), Value::Number(right)) => {
                left.as_f64().zip(right.as_f64()).and_then(|(left, right)| left.partial_cmp(&right))
            }
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
            _ => None,
        };
        match (self, order) {
            (Self::Equal, order) => order == Some(Ordering::Equal),
            (Self::NotEqual, Some(order)) => order != Ordering::Equal,
            (Self::Less, Some(order)) => order == Ordering::Less,
            (Self::LessOrEqual, Some(order)) => order != Ordering::Greater,
            (Self::Greater, Some(order)) => order == Ordering::Greater,
            (Self::GreaterOrEqual, Some(order)) => order != Ordering::Less,
            (_, None) => false,
        }
    }
}

/// A field's name after a dot; a backslash takes the next character as it is.
fn read_name<'a>(text: &'a str, steps: &mut Vec<Step>) -> Option<&'a str> {
    if let Some(after) = text.strip_prefix('*') {
        steps.push(Step::Each);
        return Some(after);
    }
    let mut name = String::new();
    let mut characters = text.char_indices();
    let mut end = text.len();
    while let Some((index, character)) = characters.next() {
        match character {
            '\\' => name.push(characters.next()?.1),
            '.' | '[' => {
                end = index;
                break;
            }
            character if character.is_whitespace() || "{}()|&!?:;,".contains(character) => return None,
            character => name.push(character),
        }
    }
    if name.is_empty() {
        return None;
    }
    steps.push(Step::Field(name));
    Some(&text[end..])
}

/// Where the bracket that opens the text is closed, quotes and inner brackets considered.
fn closing_bracket(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    for (index, character) in text.char_indices() {
        match (quote, character) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), character) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

fn read_bracket(inner: &str) -> Option<Step> {
    if inner == "*" {
        return Some(Step::Each);
    }
    if let Some(filter) = inner.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        return read_filter(filter).map(Step::Filter);
    }
    if inner.starts_with(['\'', '"']) {
        return unquote(inner).map(Step::Field);
    }
    if inner.contains(':') {
        let mut parts = inner.split(':').map(|part| {
            let part = part.trim();
            if part.is_empty() { Some(None) } else { part.parse().ok().map(Some) }
        });
        let (from, to) = (parts.next()??, parts.next()??);
        let step = parts.next().unwrap_or(Some(None))?.unwrap_or(1);
        return (parts.next().is_none() && step > 0).then_some(Step::Slice { from, to, step });
    }
    inner.split(',').map(|index| index.trim().parse().ok()).collect::<Option<Vec<i64>>>().map(Step::Indexes)
}

fn read_filter(text: &str) -> Option<Filter> {
    let found = OPERATORS
        .iter()
        .filter_map(|(sign, operator)| outside_quotes(text, sign).map(|at| (at, *sign, *operator)))
        .min_by_key(|(at, sign, _)| (*at, usize::MAX - sign.len()));
    match found {
        Some((at, sign, operator)) => Some(Filter {
            left: read_operand(&text[..at])?,
            compare: Some((operator, read_operand(&text[at + sign.len()..])?)),
        }),
        None => Some(Filter { left: read_operand(text)?, compare: None }),
    }
}

fn outside_quotes(text: &str, sign: &str) -> Option<usize> {
    let mut quote = None;
    for (index, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), character) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, _) if text[index..].starts_with(sign) => return Some(index),
            _ => {}
        }
    }
    None
}

fn read_operand(text: &str) -> Option<Operand> {
    let text = text.trim();
    if text.starts_with(['\'', '"']) {
        return unquote(text).map(|text| Operand::Literal(text.into()));
    }
    if text.starts_with(['@', '$', '.']) {
        return JsonPath::parse(text).map(Operand::Path);
    }
    serde_json::from_str(text).ok().map(Operand::Literal)
}

fn unquote(text: &str) -> Option<String> {
    let quote = text.chars().next()?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut out = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        out.push(if character == '\\' { characters.next()? } else { character });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(path: &str, expected: &[Value]) {
        let object = json!({
            "metadata": {"name": "a", "labels": {"a.b/c": "d"}},
            "spec": {"replicas": 3, "list": [1, 2, 3, 4], "null": null},
            "status": {"conditions": [
                {"type": "Ready", "status": "True", "n": 1}, {"type": "Old", "status": "False", "n": 5},
            ]},
        });
        let found: Vec<Value> = JsonPath::parse(path).expect("a path").find(&object).into_iter().cloned().collect();
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn paths_lead_where_kubectls_lead() {
        check(".spec.replicas", &[json!(3)]);
        check("$.spec.replicas", &[json!(3)]);
        check(".spec.missing.deeper", &[]);
        check(".spec.null", &[Value::Null]);
        check(".metadata.labels['a.b/c']", &[json!("d")]);
        check(r".metadata.labels.a\.b/c", &[json!("d")]);
        check(".spec.list[0]", &[json!(1)]);
        check(".spec.list[-1]", &[json!(4)]);
        check(".spec.list[9]", &[]);
        check(".spec.list[1:3]", &[json!(2), json!(3)]);
        check(".spec.list[0:4:2]", &[json!(1), json!(3)]);
        check(".spec.list[*]", &[json!(1), json!(2), json!(3), json!(4)]);
        check(r#".status.conditions[?(@.type=="Ready")].status"#, &[json!("True")]);
        check(".status.conditions[?(@.type=='Ready')].status", &[json!("True")]);
        check(".status.conditions[?(@.n > 2)].type", &[json!("Old")]);
        check(".status.conditions[?(@.n <= 1)].type", &[json!("Ready")]);
        check(".status.conditions[?(@.missing)].type", &[]);
        check("..type", &[json!("Ready"), json!("Old")]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["spec", ".spec[", ".spec[a]", ".spec['a", ".a b", "..", ".x[?(@.a==b)]"] {
            assert_eq!(JsonPath::parse(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_path_panics(text in "[.\\[\\]'\"*?()@=<>:,a-c0-9\\\\-]{0,24}") {
            if let Some(path) = JsonPath::parse(&text) {
                path.find(&json!({"a": [{"b": 1}, [2, {"c": "x"}]], "b": {"c": null}}));
            }
        }
    }
}
