//! No text makes the compiler or the interpreter panic.

use ferry_cel::{Activation, Budget, Environment, Type, Value};
use proptest::prelude::*;

fn survive(text: &str) {
    let environment = Environment::kubernetes().with_variable("object", Type::Dyn).with_variable("n", Type::Int);
    match environment.compile(text) {
        Err(errors) => drop(errors.to_string()),
        Ok(program) => {
            program.estimate_cost(None);
            let object = serde_json::json!({"a": [1, "b", null, {"c": 1.5}], "b": {"x": "y"}});
            let activation = Activation::new().with("object", Value::from_json(&object)).with("n", Value::Int(-3));
            if let Ok(value) = program.evaluate(&activation, &mut Budget::default()) {
                drop(value.to_string());
                drop(value.to_json());
            }
        }
    }
}

/// Pieces of expressions, glued together at random: mostly wrong, sometimes right.
const PIECES: &[&str] = &[
    "object",
    "n",
    ".a",
    ".b",
    ".?a",
    "[0]",
    "[?1]",
    "['x']",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " == ",
    " != ",
    " < ",
    " in ",
    " && ",
    " || ",
    "!",
    "-",
    "1",
    "2u",
    "0.5",
    "'s'",
    "b'\\x00'",
    "r'\\d'",
    "'''q'''",
    "null",
    "true",
    "has(object.a)",
    ".all(x, x)",
    ".map(x, x)",
    ".filter(x, true)",
    "x",
    ".exists(i, v, v)",
    ".transformMap(k, v, v)",
    ".size()",
    ".matches('a')",
    ".format([1])",
    "'%s %d'",
    "type(",
    "string(",
    "int(",
    "duration('1s')",
    "timestamp(0)",
    "quantity('1')",
    "ip('::1')",
    ".optMap(y, y)",
    "optional.of(",
    ".orValue(1)",
    "lists.range(3)",
    ".sort()",
    ".sortBy(e, e)",
    "sets.contains(",
    "url('/a')",
    "é",
    "\n",
    "//c\n",
    "`a`",
    "Object{a: 1}",
    "0x",
    "1e",
    "\"",
    "'",
    "\\",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn glued_pieces(indexes in prop::collection::vec(0..PIECES.len(), 0..24)) {
        survive(&indexes.iter().map(|index| PIECES[*index]).collect::<String>());
    }

    #[test]
    fn any_text(text in "\\PC{0,60}") {
        survive(&text);
    }
}

#[test]
fn the_deepest_expressions_fit_the_stack() {
    survive(&format!("{}n{}", "(".repeat(249), ")".repeat(249)));
    survive(&format!("{}true{}", "!(".repeat(240), ")".repeat(240)));
    survive(&format!("n{}", " + n".repeat(249)));
    survive(&format!("object{}", ".b".repeat(249)));
    survive(&format!("{}n{}", "[1].map(x, ".repeat(100), ")".repeat(100)));
    survive(&format!("{}1{}", "true ? ".repeat(200), " : 1".repeat(200)));
    survive(&format!("{}1{}", "[".repeat(249), "]".repeat(249)));
    survive(&"(".repeat(100_000));
    survive(&"[{".repeat(20_000));
    survive(&"-".repeat(100_000));
    survive(&"a.".repeat(40_000));
}
