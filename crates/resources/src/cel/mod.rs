//! Where the rules of kinds meet CEL: whether an expression is there, and whether it
//! compiles in its place. [`admission`] has the expressions of policies and webhooks, which
//! the API server compiles in the same way to run them; [`device`] those of device
//! selectors. The rules of custom resources are compiled with their schema.

pub mod admission;
pub mod device;

use ferry_api::field::{Error, ErrorList, Path};
use ferry_cel::{CompileErrors, Stage, Type};

/// Where an expression stands that [`validate_expression`] looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    DeviceSelector,
    /// The rule of a custom resource, which only its schema can check.
    SchemaRule,
    /// The message of such a rule.
    Message,
}

/// An expression that must be there. `missing` is the detail of the error if it is not.
/// Returns whether it was there.
pub fn validate_expression(errors: &mut ErrorList, expression: &str, place: Place, missing: &str, path: &Path) -> bool {
    if expression.trim().is_empty() && place != Place::DeviceSelector {
        errors.push(Error::required(path, missing));
        return false;
    }
    if place == Place::DeviceSelector
        && let Err(detail) = device::compile(expression)
    {
        errors.push(Error::invalid(path, expression, detail));
    }
    true
}

/// Why an expression does not compile, as upstream says it in front of cel-go's own text.
fn compile_detail(errors: &CompileErrors) -> String {
    match errors.stage {
        Stage::Compile => format!("compilation failed: {errors}"),
        Stage::Instantiate => format!("program instantiation failed: {errors}"),
    }
}

/// A type as upstream's own messages name it, which is not how those of the checker do:
/// null is `null_type` here.
fn type_name(found: &Type) -> String {
    match found {
        Type::List(element) => format!("list({})", type_name(element)),
        Type::Map(key, value) => format!("map({}, {})", type_name(key), type_name(value)),
        Type::Opaque(name, params) if !params.is_empty() => {
            let params: Vec<String> = params.iter().map(type_name).collect();
            format!("{name}({})", params.join(", "))
        }
        Type::Type(Some(inner)) => format!("type({})", type_name(inner)),
        other => other.runtime_name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_there() {
        let mut errors = ErrorList::new();
        assert!(!validate_expression(&mut errors, " ", Place::SchemaRule, "why", &Path::new("x")));
        assert!(validate_expression(&mut errors, "true", Place::SchemaRule, "why", &Path::new("x")));
        assert_eq!(crate::testing::texts(&errors), ["x: Required value: why"]);
    }

    #[test]
    fn types_are_named_as_upstream_names_them() {
        for (found, expected) in [
            (Type::Null, "null_type"),
            (Type::list(Type::Int), "list(int)"),
            (Type::map(Type::String, Type::Dyn), "map(string, dyn)"),
            (Type::Timestamp, "google.protobuf.Timestamp"),
            (Type::optional(Type::Bool), "optional_type(bool)"),
        ] {
            assert_eq!(type_name(&found), expected);
        }
    }
}
