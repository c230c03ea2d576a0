//! Field selectors: `metadata.name=a,status.phase!=Running`. Values may hold `,`, `=` and
//! `\` when a backslash stands before them.

use super::SelectorError;
use std::fmt;

/// One term of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    pub field: String,
    pub value: String,
    /// False for `!=`.
    pub equal: bool,
}

/// All terms must hold. An empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    pub requirements: Vec<FieldRequirement>,
}

impl FieldSelector {
    pub fn everything() -> Self {
        Self::default()
    }

    pub fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut terms = split_terms(text);
        terms.sort_unstable();
        let mut requirements = Vec::new();
        for term in terms.into_iter().filter(|term| !term.is_empty()) {
            let Some((field, equal, value)) = split_term(term) else {
                return Err(SelectorError(format!("invalid selector: '{text}'; can't understand '{term}'")));
            };
            let value = unescape(value)?;
            // A term that says nothing selects everything.
            if field.is_empty() && value.is_empty() {
                continue;
            }
            requirements.push(FieldRequirement { field: field.to_owned(), value, equal });
        }
        Ok(Self { requirements })
    }

    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// `lookup` gives a field's value; what the object lacks counts as empty.
    pub fn matches<'a>(&self, lookup: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|term| (lookup(&term.field).unwrap_or_default() == term.value) == term.equal)
    }

    /// The one value that a field must have, if the selector says so.
    pub fn requires_exact_match(&self, field: &str) -> Option<&str> {
        self.requirements.iter().find(|term| term.equal && term.field == field).map(|term| term.value.as_str())
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{}{}", term.field, if term.equal { "=" } else { "!=" })?;
            for c in term.value.chars() {
                if matches!(c, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{c}")?;
            }
        }
        Ok(())
    }
}

/// Splits at commas that no backslash escapes; the backslashes stay.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (index, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

/// Splits at the first operator: names of fields cannot be escaped.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    for (index, _) in term.char_indices() {
        let rest = &term[index..];
        for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
            if let Some(value) = rest.strip_prefix(operator) {
                return Some((&term[..index], equal, value));
            }
        }
    }
    None
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let bad = |sequence: String| SelectorError(format!("invalid field selector: invalid escape sequence: {sequence}"));
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                Some(c) => return Err(bad(format!("\\{c}"))),
                None => return Err(bad("\\".to_owned())),
            },
            // Upstream prints the character's number here.
            ',' | '=' => {
                let number = c as u32;
                return Err(SelectorError(format!("invalid field selector: unescaped character in value: {number}")));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(selector: &str, fields: &[(&str, &str)]) -> bool {
        let selector = FieldSelector::parse(selector).expect("a selector");
        selector.matches(|name| fields.iter().find(|(key, _)| *key == name).map(|(_, value)| *value))
    }

    #[test]
    fn terms_match_exactly_and_absent_is_empty() {
        let pod = [("metadata.name", "a"), ("status.phase", "Running")];
        assert!(matches("", &pod) && matches("metadata.name=a", &pod) && matches("metadata.name==a", &pod));
        assert!(matches("metadata.name=a,status.phase!=Pending", &pod));
        assert!(!matches("status.phase!=Running", &pod));
        assert!(matches("spec.nodeName=", &pod) && !matches("spec.nodeName!=", &pod));
    }

    #[test]
    fn values_are_escaped() {
        let selector = FieldSelector::parse(r"a=x\,y\=z\\").expect("a selector");
        assert_eq!(selector.requires_exact_match("a"), Some(r"x,y=z\"));
        assert_eq!(selector.to_string(), r"a=x\,y\=z\\");
    }

    #[test]
    fn mistakes_have_upstreams_words() {
        let error = |text| FieldSelector::parse(text).expect_err("a mistake").to_string();
        assert_eq!(error("a"), "invalid selector: 'a'; can't understand 'a'");
        assert_eq!(error(r"a=\x"), r"invalid field selector: invalid escape sequence: \x");
        assert_eq!(error("a=b=c"), "invalid field selector: unescaped character in value: 61");
    }

    proptest! {
        #[test]
        fn printed_selectors_read_back(field in "[a-z.]{1,10}", value in "\\PC{0,12}", equal: bool) {
            let selector = FieldSelector { requirements: vec![FieldRequirement { field, value, equal }] };
            prop_assert_eq!(FieldSelector::parse(&selector.to_string()), Ok(selector));
        }
    }
}
