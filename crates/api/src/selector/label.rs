//! Label selectors, from their text (`a=b,c in (d,e),!f`) and from LabelSelector objects.

use super::SelectorError;
use super::syntax::{label_key_errors, label_value_errors};
use crate::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equals,
    DoubleEquals,
    NotEquals,
    In,
    NotIn,
    Exists,
    DoesNotExist,
    GreaterThan,
    LessThan,
}

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    pub key: String,
    pub operator: Operator,
    pub values: Vec<String>,
}

/// All requirements must hold, unless the selector is the one that matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
    nothing: bool,
}

impl Selector {
    pub fn everything() -> Self {
        Self::default()
    }

    /// What an absent LabelSelector object means.
    pub fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Reads the text of a `labelSelector` parameter or of `kubectl -l`.
    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut requirements = Parser { tokens: scan(text), position: 0 }.parse()?;
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements, nothing: false })
    }

    /// A map of labels that must all be there, as Services and ReplicationControllers have.
    pub fn from_map<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut requirements: Vec<Requirement> = labels
            .into_iter()
            .map(|(key, value)| Requirement {
                key: key.to_owned(),
                operator: Operator::Equals,
                values: vec![value.to_owned()],
            })
            .collect();
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Self { requirements, nothing: false }
    }

    /// Reads a LabelSelector object: null or absent matches nothing, `{}` everything.
    pub fn from_object(object: Option<&Value>) -> Result<Self, SelectorError> {
        let object = match object {
            None | Some(Value::Null) => return Ok(Self::nothing()),
            Some(object) => object,
        };
        let mut requirements = Vec::new();
        if let Some(labels) = object.get("matchLabels").and_then(Value::as_object) {
            for (key, value) in labels {
                let value = value.as_str().unwrap_or_default().to_owned();
                requirements.push(Requirement::new(key.clone(), Operator::Equals, vec![value])?);
            }
        }
        if let Some(expressions) = object.get("matchExpressions").and_then(Value::as_array) {
            for expression in expressions {
                let text = |key| expression.get(key).and_then(Value::as_str).unwrap_or_default();
                let operator = match text("operator") {
                    "In" => Operator::In,
                    "NotIn" => Operator::NotIn,
                    "Exists" => Operator::Exists,
                    "DoesNotExist" => Operator::DoesNotExist,
                    other => return Err(SelectorError(format!("{other:?} is not a valid label selector operator"))),
                };
                let values = expression.get("values").and_then(Value::as_array);
                let values =
                    values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
                requirements.push(Requirement::new(text("key").to_owned(), operator, values)?);
            }
        }
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Self { requirements, nothing: false })
    }

    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// Whether the selector restricts nothing.
    pub fn is_empty(&self) -> bool {
        !self.nothing && self.requirements.is_empty()
    }

    pub fn is_nothing(&self) -> bool {
        self.nothing
    }

    /// Adds a requirement, keeping the order of keys that printing relies on.
    pub fn with(mut self, requirement: Requirement) -> Self {
        self.requirements.push(requirement);
        self.requirements.sort_by(|a, b| a.key.cmp(&b.key));
        self
    }

    /// Whether labels given as pairs satisfy every requirement. The iterator is walked
    /// once for each requirement, which for the handful of labels that objects carry is
    /// cheaper than building a map.
    pub fn matches<'a, I>(&self, labels: I) -> bool
    where
        I: IntoIterator<Item = (&'a str, &'a str)>,
        I::IntoIter: Clone,
    {
        let labels = labels.into_iter();
        self.matches_with(|key| labels.clone().find(|(name, _)| *name == key).map(|(_, value)| value))
    }

    /// Whether labels found by `lookup` satisfy every requirement.
    pub fn matches_with<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        !self.nothing && self.requirements.iter().all(|requirement| requirement.matches(lookup(&requirement.key)))
    }

    /// The one value that a label must have, if the selector says so.
    pub fn requires_exact_match(&self, key: &str) -> Option<&str> {
        let requirement = self.requirements.iter().find(|requirement| requirement.key == key)?;
        match (requirement.operator, requirement.values.as_slice()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [one]) => Some(one),
            _ => None,
        }
    }
}

impl Requirement {
    /// Checks the key, the number of values and each value.
    pub fn new(key: String, operator: Operator, values: Vec<String>) -> Result<Self, SelectorError> {
        let mut errors = ErrorList::new();
        let mistakes = label_key_errors(&key);
        if !mistakes.is_empty() {
            errors.push(Error::invalid(&Path::new("key"), key.as_str(), mistakes.join("; ")));
        }
        let path = Path::new("values");
        let problem = match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                Some("for 'in', 'notin' operators, values set can't be empty")
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if values.len() != 1 => {
                Some("exact-match compatibility requires one single value")
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                Some("values set must be empty for exists and does not exist")
            }
            Operator::GreaterThan | Operator::LessThan if values.len() != 1 => {
                Some("for 'Gt', 'Lt' operators, exactly one value is required")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            errors.push(Error::invalid(&path, values.clone(), problem));
        }
        for (index, value) in values.iter().enumerate() {
            if matches!(operator, Operator::GreaterThan | Operator::LessThan) && value.parse::<i64>().is_err() {
                let problem = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push(Error::invalid(&path.index(index), value.as_str(), problem));
            }
            let mistakes = label_value_errors(value);
            if !mistakes.is_empty() {
                errors.push(Error::invalid(&path.index(index).key(&key), value.as_str(), mistakes.join("; ")));
            }
        }
        match errors.as_slice() {
            [] => Ok(Self { key, operator, values }),
            [one] => Err(SelectorError(one.to_string())),
            many => {
                let texts: Vec<String> = many.iter().map(ToString::to_string).collect();
                Err(SelectorError(format!("[{}]", texts.join(", "))))
            }
        }
    }

    /// Whether a label with this value, or its absence, satisfies the requirement.
    pub fn matches(&self, value: Option<&str>) -> bool {
        let listed = |value: &str| self.values.iter().any(|known| known == value);
        match (self.operator, value) {
            (Operator::In | Operator::Equals | Operator::DoubleEquals, value) => value.is_some_and(listed),
            (Operator::NotIn | Operator::NotEquals, value) => !value.is_some_and(listed),
            (Operator::Exists, value) => value.is_some(),
            (Operator::DoesNotExist, value) => value.is_none(),
            (Operator::GreaterThan | Operator::LessThan, value) => {
                let number = |text: &str| text.parse::<i64>().ok();
                match (value.and_then(number), self.values.first().and_then(|bound| number(bound))) {
                    (Some(value), Some(bound)) if self.operator == Operator::GreaterThan => value > bound,
                    (Some(value), Some(bound)) => value < bound,
                    _ => false,
                }
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut values = self.values.clone();
        values.sort_unstable();
        let (key, values) = (&self.key, values.join(","));
        match self.operator {
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{requirement}")?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name, or `in` and `notin`, which are operators only where one may stand.
    Word(String),
    Symbol(&'static str),
    /// The text that upstream quotes when it meets a symbol that is none.
    Bad(String),
    End,
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Bad(text) => text,
            Self::Symbol(text) => text,
            Self::End => "",
        }
    }
}

fn scan(text: &str) -> Vec<Token> {
    const SYMBOLS: [&str; 8] = ["==", "!=", "=", "!", "(", ")", ",", ">"];
    let is_symbol = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_space);
        let Some(first) = rest.chars().next() else { break };
        if first == '<' {
            tokens.push(Token::Symbol("<"));
            rest = &rest[1..];
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        } else if is_symbol(first) {
            // Every symbol is in the list; this arm keeps the scan total.
            tokens.push(Token::Bad(format!("error expected: keyword found '{first}'")));
            rest = &rest[first.len_utf8()..];
        } else {
            let end = rest.find(|c| is_symbol(c) || is_space(c)).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    tokens.push(Token::End);
    tokens
}

struct Parser {
    tokens: Vec<Token>,
    position: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.position).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.position += 1;
        token
    }

    fn parse(mut self) -> Result<Vec<Requirement>, SelectorError> {
        let mut requirements = Vec::new();
        loop {
            match self.peek() {
                Token::Word(_) | Token::Symbol("!") => {
                    let requirement = self
                        .requirement()
                        .map_err(|error| SelectorError(format!("unable to parse requirement: {error}")))?;
                    requirements.push(requirement);
                    match self.next() {
                        Token::End => return Ok(requirements),
                        Token::Symbol(",") => match self.peek() {
                            Token::Word(_) | Token::Symbol("!") => {}
                            other => {
                                let found = other.text();
                                let message = format!("found '{found}', expected: identifier after ','");
                                return Err(SelectorError(message));
                            }
                        },
                        other => {
                            let found = other.text();
                            let message = format!("found '{found}', expected: ',' or 'end of string'");
                            return Err(SelectorError(message));
                        }
                    }
                }
                Token::End => return Ok(requirements),
                other => {
                    let found = other.text();
                    let message = format!("found '{found}', expected: !, identifier, or 'end of string'");
                    return Err(SelectorError(message));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let mut token = self.next();
        let negated = token == Token::Symbol("!");
        if negated {
            token = self.next();
        }
        let Token::Word(key) = token else {
            return Err(SelectorError(format!("found '{}', expected: identifier", token.text())));
        };
        let mistakes = label_key_errors(&key);
        if !mistakes.is_empty() {
            let error = Error::invalid(&Path::root(), key.as_str(), mistakes.join("; "));
            return Err(SelectorError(error.to_string()));
        }
        // After "!key" upstream looks for no operator at all.
        if negated {
            return Requirement::new(key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Requirement::new(key, Operator::Exists, Vec::new());
        }
        let token = self.next();
        let operator = match &token {
            Token::Word(word) if word == "in" => Operator::In,
            Token::Word(word) if word == "notin" => Operator::NotIn,
            Token::Symbol("=") => Operator::Equals,
            Token::Symbol("==") => Operator::DoubleEquals,
            Token::Symbol("!=") => Operator::NotEquals,
            Token::Symbol(">") => Operator::GreaterThan,
            Token::Symbol("<") => Operator::LessThan,
            other => {
                let found = other.text();
                let message = format!("found '{found}', expected: in, notin, =, ==, !=, gt, lt");
                return Err(SelectorError(message));
            }
        };
        let mut values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.exact_value()?],
        };
        values.sort_unstable();
        values.dedup();
        Requirement::new(key, operator, values)
    }

    /// `(a,b)`; empty places count as the empty value.
    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        let open = self.next();
        if open != Token::Symbol("(") {
            return Err(SelectorError(format!("found '{}' expected: '('", open.text())));
        }
        match self.peek() {
            Token::Symbol(")") => {
                self.next();
                return Ok(vec![String::new()]);
            }
            Token::Word(_) | Token::Symbol(",") => {}
            other => {
                let found = other.text();
                return Err(SelectorError(format!("found '{found}', expected: ',', ')' or identifier")));
            }
        }
        let mut values = Vec::new();
        loop {
            match self.next() {
                Token::Word(word) => {
                    values.push(word);
                    match self.peek() {
                        Token::Symbol(",") => {}
                        Token::Symbol(")") => break,
                        other => {
                            let found = other.text();
                            return Err(SelectorError(format!("found '{found}', expected: ',' or ')'")));
                        }
                    }
                }
                Token::Symbol(",") => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek() {
                        Token::Symbol(")") => {
                            values.push(String::new());
                            break;
                        }
                        Token::Symbol(",") => values.push(String::new()),
                        _ => {}
                    }
                }
                other => {
                    let found = other.text();
                    return Err(SelectorError(format!("found '{found}', expected: ',', or identifier")));
                }
            }
        }
        self.next();
        Ok(values)
    }

    fn exact_value(&mut self) -> Result<String, SelectorError> {
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Ok(String::new());
        }
        match self.next() {
            Token::Word(word) => Ok(word),
            other => Err(SelectorError(format!("found '{}', expected: identifier", other.text()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const LABELS: [(&str, &str); 4] = [("app", "web"), ("tier", "front"), ("n", "5"), ("empty", "")];

    fn check(text: &str, expected: bool) {
        let selector = Selector::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(selector.matches(LABELS), expected, "{text}");
    }

    #[test]
    fn every_operator_matches() {
        for text in [
            "",
            "app",
            "app=web",
            "app==web",
            "app = web",
            "app!=db",
            "none!=x",
            "app in (web,db)",
            "app notin (db)",
            "none notin (db)",
            "!none",
            "n>4",
            "n<6",
            "app=web,tier in (front, back),!x",
            "empty=",
            "empty in ()",
            "empty in (,a)",
            "in notin (in)",
        ] {
            check(text, true);
        }
        for text in ["app=db", "none", "!app", "app in (db)", "app notin (web)", "n>5", "none<6", "app>1", "app="] {
            check(text, false);
        }
    }

    #[test]
    fn selectors_print_sorted_by_key() {
        let printed = |text| Selector::parse(text).expect("a selector").to_string();
        assert_eq!(printed("z=1,a in (c,b),!m"), "a in (b,c),!m,z=1");
        assert_eq!(printed("x>1,y"), "x>1,y");
    }

    #[test]
    fn mistakes_have_upstreams_words() {
        let error = |text| Selector::parse(text).expect_err("a mistake").to_string();
        assert_eq!(error("a b"), "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
        assert_eq!(error("a in b"), "unable to parse requirement: found 'b' expected: '('");
        assert_eq!(error("a=b,"), "found '', expected: identifier after ','");
        assert_eq!(error("=a"), "found '=', expected: !, identifier, or 'end of string'");
        assert_eq!(error("a=b c"), "found 'c', expected: ',' or 'end of string'");
        assert!(error("a/b/c=d").starts_with(
            "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must consist of"
        ));
        assert!(error("a=-").starts_with("unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid"));
        assert!(error("a>x").contains("the value must be an integer"));
    }

    #[test]
    fn objects_are_read() {
        let object = json!({"matchLabels": {"app": "web"}, "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["front"]},
            {"key": "x", "operator": "DoesNotExist"},
        ]});
        let selector = Selector::from_object(Some(&object)).expect("a selector");
        assert!(selector.matches(LABELS));
        assert_eq!(selector.to_string(), "app=web,tier in (front),!x");
        assert!(Selector::from_object(Some(&json!({}))).expect("everything").matches(LABELS));
        assert!(!Selector::from_object(None).expect("nothing").matches(LABELS));
        let bad = json!({"matchExpressions": [{"key": "a", "operator": "Is"}]});
        assert_eq!(
            Selector::from_object(Some(&bad)).expect_err("a mistake").to_string(),
            "\"Is\" is not a valid label selector operator"
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z=!(),<> \\-in/.]{0,40}") {
            if let Ok(selector) = Selector::parse(&text) {
                let printed = selector.to_string();
                prop_assert_eq!(Selector::parse(&printed).map(|again| again.to_string()), Ok(printed));
            }
        }
    }
}
