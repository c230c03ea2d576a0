//! The complaints of the compiler, to the letter, with their pointers.

use ferry_cel::{Environment, Stage, Type};

fn check(expression: &str, expected: &str) {
    let environment = Environment::kubernetes().with_variable("object", Type::Dyn).with_variable("n", Type::Int);
    let errors = environment.compile(expression).expect_err(expression);
    assert_eq!(errors.to_string(), expected, "{expression}");
    assert_eq!(errors.stage, Stage::Compile);
}

#[test]
fn pointers_stand_under_the_place() {
    check(
        "object.x + nope",
        "ERROR: <input>:1:12: undeclared reference to 'nope' (in container '')\n | object.x + nope\n | ...........^",
    );
    check(
        "n + 'a'",
        "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | n + 'a'\n | ..^",
    );
    check(
        "n.size()",
        "ERROR: <input>:1:7: found no matching overload for 'size' applied to 'int.()'\n | n.size()\n | ......^",
    );
    check("n.x", "ERROR: <input>:1:2: type 'int' does not support field selection\n | n.x\n | .^");
    check(
        "true &&\n  a || b",
        "ERROR: <input>:2:3: undeclared reference to 'a' (in container '')\n |   a || b\n | ..^\nERROR: <input>:2:8: undeclared reference to 'b' (in container '')\n |   a || b\n | .......^",
    );
    check(
        "'ä' + n",
        "ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n | 'ä' + n\n | .．..^",
    );
}

#[test]
fn syntax() {
    check(
        "1 +",
        "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^",
    );
    check("1 2", "ERROR: <input>:1:3: Syntax error: extraneous input '2' expecting <EOF>\n | 1 2\n | ..^");
    check("(1", "ERROR: <input>:1:3: Syntax error: missing ')' at '<EOF>'\n | (1\n | ..^");
    check(
        "",
        "ERROR: <input>:1:1: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | \n | ^",
    );
    check(
        "#",
        "ERROR: <input>:1:1: Syntax error: token recognition error at: '#'\n | #\n | ^\nERROR: <input>:1:2: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | #\n | .^",
    );
    check(
        "n = 1",
        "ERROR: <input>:1:3: Syntax error: token recognition error at: '= '\n | n = 1\n | ..^\nERROR: <input>:1:5: Syntax error: extraneous input '1' expecting <EOF>\n | n = 1\n | ....^",
    );
    check(
        "object.in",
        "ERROR: <input>:1:8: Syntax error: no viable alternative at input '.in'\n | object.in\n | .......^",
    );
    check(
        "object.true",
        "ERROR: <input>:1:8: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | object.true\n | .......^",
    );
    check("object.", "ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | object.\n | .......^");
    check("namespace == 'a'", "ERROR: <input>:1:1: reserved identifier: namespace\n | namespace == 'a'\n | ^");
    check("object.`a-b`", "ERROR: <input>:1:8: unsupported syntax: '`'\n | object.`a-b`\n | .......^");
}

#[test]
fn limits() {
    for nested in [
        "(".repeat(251) + "1" + &")".repeat(251),
        "1".to_owned() + &" + 1".repeat(251),
        "object".to_owned() + &".a".repeat(251),
    ] {
        check(&nested, "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
    }
    let many = Environment::kubernetes().compile(&"#".repeat(5000)).unwrap_err();
    assert_eq!(many.issues[100].message, "Syntax error: More than 100 syntax errors");
    let many = Environment::kubernetes().compile(&format!("[{}]", vec!["a"; 150].join(","))).unwrap_err();
    assert!(many.to_string().ends_with("\n50 more errors were truncated"), "{many}");
    let long = "1".repeat(100_001);
    check(&long, "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000");
    // A long chain of && does not nest.
    let chain = vec!["true"; 5000].join(" && ");
    assert!(Environment::kubernetes().compile(&chain).is_ok());
    let chain = format!("object{}", ".optMap(x, x)".repeat(60));
    let environment = Environment::kubernetes().with_variable("object", Type::optional(Type::Dyn));
    assert!(environment.compile(&chain).is_err());
}

#[test]
fn constants_that_can_only_fail() {
    let errors = Environment::kubernetes().compile("int('x') == 1").unwrap_err();
    assert_eq!(
        (errors.stage, errors.to_string().as_str()),
        (Stage::Instantiate, "type conversion error from 'string' to 'int'")
    );
}
