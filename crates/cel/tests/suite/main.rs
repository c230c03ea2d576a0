//! Expressions and what they give, one table a library. Everything goes through
//! [`check`]: an expression, and its value, its failure or the complaint of the compiler
//! as text.

mod compile_errors;
mod costs;
mod estimates;
mod hosts;
mod kubernetes_libraries;
mod language;
mod parser_properties;
mod schemas;
mod standard_libraries;

use ferry_cel::{Activation, Budget, Environment, Library, Type, Value};
use serde_json::json;

pub fn environment() -> Environment {
    Environment::kubernetes()
        .with_variable("object", Type::Dyn)
        .with_variable("names", Type::list(Type::String))
        .with_variable("missing", Type::Dyn)
        .with_library(Library::Bind)
        .with_mutation_types()
}

/// The value of an expression as text; a failure begins with `error: `, a refusal of the
/// compiler with `refused: `.
pub fn evaluate(expression: &str) -> String {
    let program = match environment().compile(expression) {
        Ok(program) => program,
        Err(errors) => {
            let issues: Vec<String> = errors.issues.iter().map(|issue| issue.message.clone()).collect();
            return format!("refused: {}", issues.join("; "));
        }
    };
    let object = json!({
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web", "tier": "front"}},
        "spec": {
            "replicas": 3,
            "ratio": 0.5,
            "paused": false,
            "nothing": null,
            "ports": [80, 443],
            "containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:2"}],
        },
    });
    let names = json!(["b", "a", "c"]);
    let activation =
        Activation::new().with("object", Value::from_json(&object)).with("names", Value::from_json(&names));
    match program.evaluate(&activation, &mut Budget::default()) {
        Ok(value) => value.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

pub fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(expression, expected)| {
            let found = evaluate(expression);
            (found != *expected).then(|| format!("{expression}\n    expected {expected}\n    found    {found}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}
