//! The one place where the rules of kinds meet CEL: every expression that a kind carries
//! comes through [`validate_expression`]. Whether it compiles is not decided here yet;
//! whether it is there at all is.

use ferry_api::field::{Error, ErrorList, Path};

/// Where an expression stands, which decides what it may name and what it must yield.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    MatchCondition,
    Variable,
    Validation,
    Message,
    AuditAnnotation,
    ApplyConfiguration,
    JsonPatch,
    DeviceSelector,
    SchemaRule,
}

/// An expression that must be there. `missing` is the detail of the error if it is not.
/// Returns whether it was there.
pub fn validate_expression(errors: &mut ErrorList, expression: &str, place: Place, missing: &str, path: &Path) -> bool {
    if expression.trim().is_empty() {
        errors.push(Error::required(path, missing));
        return false;
    }
    if let Err(detail) = compile(expression, place) {
        errors.push(Error::invalid(path, expression, detail));
    }
    true
}

/// The hook for the compiler: the reason why an expression cannot stand in its place.
fn compile(_expression: &str, _place: Place) -> Result<(), String> {
    Ok(())
}

/// Whether a name can be one of CEL's.
pub fn is_identifier(name: &str) -> bool {
    const RESERVED: &[&str] = &[
        "true",
        "false",
        "null",
        "in",
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ];
    let good = |b: u8| b == b'_' || b.is_ascii_alphanumeric();
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(good)
        && !RESERVED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cels() {
        for (name, expected) in [("a", true), ("_a1", true), ("1a", false), ("", false), ("if", false), ("a-b", false)]
        {
            assert_eq!(is_identifier(name), expected, "{name}");
        }
    }

    #[test]
    fn an_expression_is_there() {
        let mut errors = ErrorList::new();
        assert!(!validate_expression(&mut errors, " ", Place::Validation, "why", &Path::new("x")));
        assert!(validate_expression(&mut errors, "true", Place::Validation, "why", &Path::new("x")));
        assert_eq!(crate::testing::texts(&errors), ["x: Required value: why"]);
    }
}
