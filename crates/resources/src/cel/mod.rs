//! Where the rules of kinds meet CEL: whether an expression compiles in its place.
//! [`admission`] has the expressions of policies and webhooks, which the API server
//! compiles in the same way to run them; [`device`] those of device selectors. The rules of
//! custom resources are compiled with their schema.

pub mod admission;
pub mod device;

use ferry_cel::{CompileErrors, Stage, Type};

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
