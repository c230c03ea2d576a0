//! Runtime costs. The figures of the first two tables are those of upstream's and
//! cel-go's own tests, which do not fold constants.

use ferry_cel::{Activation, Authorize, Decision, Environment, Question, Type, Value, authorizer_type};
use serde_json::json;

struct Yes;

impl Authorize for Yes {
    fn authorize(&self, _: &Question<'_>) -> Decision {
        Decision { allowed: true, ..Decision::default() }
    }
}

fn base() -> Environment {
    let dynamic =
        ["object", "many"].into_iter().fold(Environment::kubernetes(), |e, name| e.with_variable(name, Type::Dyn));
    dynamic
        .with_mutation_types()
        .with_variable("authorizer", authorizer_type())
        .with_variable("text", Type::String)
        .with_variable("other", Type::String)
        .with_variable("bytes500", Type::Bytes)
        .with_variable("list", Type::list(Type::Int))
        .with_variable("map", Type::map(Type::String, Type::Dyn))
        .with_variable("a", Type::Bool)
        .with_variable("b", Type::Bool)
}

fn cost(environment: &Environment, expression: &str) -> u64 {
    let program = environment.compile(expression).unwrap_or_else(|errors| panic!("{errors}"));
    let text = "x".repeat(500);
    let list = json!([1, 2]);
    let map = json!({"key": "v", "nested": {"inner": 1}});
    let object = json!({"spec": {"replicas": 3, "names": ["aaaaaaaaaaaaaaaaaaaaa", "b"]}, "on": true});
    let activation = Activation::new()
        .with("authorizer", Value::authorizer(&Yes))
        .with("text", Value::from(&text))
        .with("other", Value::from("idc"))
        .with("bytes500", Value::Bytes(text.as_bytes().into()))
        .with("list", Value::from_json(&list))
        .with("map", Value::from_json(&map))
        .with("object", Value::from_json(&object))
        .with("a", Value::Bool(false))
        .with("b", Value::Bool(true));
    program.run(&activation, u64::MAX).1
}

fn check(environment: &Environment, table: &[(&str, u64)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(expression, expected)| (expression, expected, cost(environment, expression)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(expression, expected, found)| format!("{expression}: expected {expected}, found {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_language() {
    check(
        &base().without_optimization(),
        &[
            ("\"Hello World!\"", 0),
            ("list", 1),
            ("map['key']", 2),
            ("list[0]", 2),
            ("map.key", 2),
            ("map['ke' + 'y']", 3),
            ("list[3-3]", 3),
            ("list[list[0] - 1]", 5),
            ("has(map.key)", 1),
            ("has(map.nested.inner)", 2),
            ("[1, 2, 3]", 10),
            ("{\"a\": 1, \"b\": 2, \"c\": 3}", 30),
            ("Object{a: 1}", 40),
            ("[1, 2, 3].all(x, true)", 20),
            ("'123'.matches('[0-9]')", 2),
            ("text.matches('[0-9]')", 103),
            ("false || false", 0),
            ("a || a || a || a", 4),
            ("b && b && b && b", 4),
            ("1 < 2", 1),
            ("1 == 2", 1),
            ("2 in [1, 2, 3]", 13),
            ("1 + 1", 1),
            ("true ? 1 : 2", 0),
            ("true ? false : 1 > 3", 0),
            ("false ? false : 1 > 3", 1),
            ("(list[0] > 2 ? list : list).size()", 4),
            ("size(\"123\")", 1),
            ("'12345678901234567890' == '123456789012345678901234567890'", 2),
            ("string(bytes500)", 51),
            ("bytes(text)", 51),
            ("string(1)", 1),
            ("text.contains(text)", 2502),
            ("text.matches('\\\\d+a\\\\d+b')", 103),
            ("other.startsWith(text)", 3),
            ("other.endsWith(text)", 3),
            ("other.size()", 2),
            ("size(other)", 2),
        ],
    );
}

#[test]
fn the_libraries() {
    let ints = "[1, 2, 3, 4, 5]";
    let strings = "['012345678901', '012345678901', '012345678901', '012345678901', '012345678901']";
    let uints = "[uint(1), uint(2), uint(3), uint(4), uint(5)]";
    let environment = base().without_optimization();
    for (list, call, expected) in [
        (ints, ".sum()", 15),
        (uints, ".sum()", 20),
        (ints, ".isSorted()", 15),
        (strings, ".max()", 15),
        (ints, ".indexOf(3)", 15),
        (strings, ".lastIndexOf('x')", 15),
        ("'01234567890123456789012345678901234567890123456789'", ".indexOf('123')", 5),
    ] {
        check(&environment, &[(&format!("{list}{call}"), expected)]);
    }
    check(
        &environment,
        &[
            ("url('https:://kubernetes.io/').getScheme()", 4),
            ("ip('192.168.0.1')", 2),
            ("ip('192.168.0.1').family()", 3),
            ("ip('192.168.0.1') == ip('192.168.0.1')", 5),
            ("cidr('192.168.0.0/16')", 2),
            ("cidr('192.168.0.0/16').ip()", 3),
            ("cidr('192.168.0.0/16').containsIP('192.169.0.1')", 5),
            ("cidr('192.168.0.0/16').containsCIDR('192.168.0.0/16')", 7),
            ("'ABCDEFGHIJ abcdefghij'.lowerAscii()", 3),
            ("'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 9),
            ("strings.quote('ABCDEFGHIJ abcdefghij')", 3),
            ("'abc 123 def 123'.replace('123', '456')", 3),
            ("'abc 123 def 123'.split(' ')", 3),
            ("'abc 123 def 123'.substring(5, 8)", 2),
            ("['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join(' ')", 15),
            ("['aa', 'bb', 'cc', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].join()", 13),
            ("'abc 123 def 123'.find('123')", 2),
            ("'abc 123 def 123'.findAll('123', 1)", 2),
            ("jsonpatch.escapeKey('abc/def~ abc/def~')", 2),
            ("authorizer.path('/healthz')", 2),
            (
                "authorizer.group('apps').resource('deployments').subresource('status').namespace('test').name('backend')",
                6,
            ),
            (
                "authorizer.group('').resource('pods').fieldSelector('spec.nodeName=example-node-name.fully.qualified.domain.name.example.com')",
                1821,
            ),
            ("authorizer.path('/healthz').check('get').allowed()", 350_003),
            ("quantity(\"200M\") == quantity(\"0.2G\") && quantity(\"0.2G\") == quantity(\"200M\")", 6),
            ("quantity(\"50k\").add(20).sub(quantity(\"100k\")).sub(-50000).asInteger() > 0", 7),
            ("format.named(\"dns1123Subdomain\").value().validate(\"my-name\")", 17),
            ("format.named(\"dns1123Label\").value() == format.named(\"dns1123Label\").value()", 5),
            ("sets.contains([], [])", 21),
            ("sets.contains([1, 2, 3, 4], [2, 3])", 29),
            ("!sets.contains([1], [2])", 23),
        ],
    );
}

/// What is constant costs nothing to a real program; what fails costs what it tried.
#[test]
fn programs() {
    check(
        &base(),
        &[
            ("[1, 2, 3]", 0),
            ("2 in [1, 2, 3]", 0),
            ("object.spec.replicas in [1, 2, 3]", 3),
            ("[1, 2, 3].all(x, true)", 10),
            ("[1, 2, 3].all(x, x > 0)", 16),
            ("[1, 2, 3].exists(x, x > 2)", 19),
            ("[1, 2].map(x, x)", 27),
            ("[1, 2].map(x, 7)", 5),
            ("[1, 2].filter(x, x > 1)", 18),
            ("[1, 2].exists_one(x, x > 1)", 8),
            ("{'a': 1}.transformMap(k, v, v)", 5),
            ("int('1') + 1", 1),
            ("object.?spec.?replicas", 3),
            ("object.?nope.?replicas", 1),
            ("object.?spec.orValue(1)", 2),
            ("object.nope == 1 || true", 3),
            ("object.on ? object.spec.replicas : 1", 4),
            ("object.spec.names[0] == object.spec.names[0]", 11),
            ("object.spec.names[0] + object.spec.names[0]", 9),
            ("optional.of(1).optMap(x, x + 1)", 7),
            ("[3, 1, 2].sort()", 29),
            ("lists.range(4)", 15),
        ],
    );
}
