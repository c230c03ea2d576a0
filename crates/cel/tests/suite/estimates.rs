//! Static costs, with the figures of upstream's own tests of validation rules.

use ferry_cel::{Environment, Schema};
use serde_json::{Value as Json, json};

fn estimate(schema: &Json, rule: &str) -> u64 {
    let schema = Schema::from_openapi(schema, false);
    let environment =
        Environment::kubernetes().with_variable("self", schema.to_type("selfType").expect("it is exposed"));
    let program = environment.compile(rule).unwrap_or_else(|errors| panic!("{errors}"));
    program.estimate_cost(Some(&schema)).max
}

fn of(kind: &str) -> Json {
    match kind {
        "int-or-string" => json!({"x-kubernetes-int-or-string": true}),
        "duration" | "date" | "date-time" | "byte" => json!({"type": "string", "format": kind}),
        kind => json!({"type": kind}),
    }
}

fn with(mut schema: Json, key: &str, limit: Option<i64>) -> Json {
    if let Some(limit) = limit {
        schema[key] = json!(limit);
    }
    schema
}

fn array(kind: &str, limit: Option<i64>) -> Json {
    with(json!({"type": "array", "items": of(kind)}), "maxItems", limit)
}

fn map(kind: &str, limit: Option<i64>) -> Json {
    with(json!({"type": "object", "additionalProperties": of(kind)}), "maxProperties", limit)
}

fn string(limit: Option<i64>) -> Json {
    with(of("string"), "maxLength", limit)
}

#[test]
fn rules_cost_what_their_schema_allows() {
    type Make = fn(Option<i64>) -> Json;
    let nested: Make = |limit| {
        with(json!({"type": "array", "items": {"type": "array", "items": {"type": "number"}}}), "maxItems", limit)
    };
    let maps: Make = |limit| {
        with(
            json!({"type": "array", "items": {"type": "object", "additionalProperties": {"type": "number"}}}),
            "maxItems",
            limit,
        )
    };
    let table: &[(Make, &str, u64, i64, u64)] = &[
        (|l| array("number", l), "self.all(x, true)", 4_718_591, 10, 32),
        (|l| array("string", l), "self.all(x, true)", 3_145_727, 20, 62),
        (|l| array("boolean", l), "self.all(x, true)", 1_887_437, 5, 17),
        (nested, "self.all(x, true)", 3_145_727, 100, 302),
        (|l| map("number", l), "self.all(x, true)", 1_348_169, 10, 32),
        (|l| map("string", l), "self.all(x, true)", 1_179_647, 3, 11),
        (|l| map("boolean", l), "self.all(x, true)", 943_718, 100, 302),
        (string, "self.contains('test')", 314_574, 10, 5),
        (string, "self.startsWith('test')", 2, 15, 2),
        (string, "size(self + \"hello\") > size(\"hello\")", 314_578, 4, 7),
        (|l| array("number", l), "self[1] == 0.0", 2, 5000, 2),
        (|l| array("string", l), "self[1] == self[1]", 314_577, 8, 314_577),
        (string, "self.matches(\"x\")", 314_574, 50, 22),
        (string, "\"\".matches(\"(((((((((())))))))))[0-9]\")", 7, 10, 7),
        (string, "self.matches(\"\")", 1, 100, 1),
        (|l| map("string", l), "self.all(x, x.contains(self[x]))", 2_752_507, 10, 72),
        (string, "self == \"x\"", 2, 0, 1),
        (|l| with(of("byte"), "maxLength", l), "self == b\"x\"", 2, 0, 1),
        (|l| array("number", l), "self.all(x, x == 0.0)", 6_291_454, 3 * 1024 * 2048, 25_165_826),
        (|l| array("int-or-string", l), "self.all(x, true)", 4_718_591, 10, 32),
        (|l| array("int-or-string", l), "self[0] == 5", 3, 10, 3),
        (nested, "self[0][0] == -1.0", 3, 51, 3),
        (maps, "self.all(x, x.y == 25.2)", 6_291_452, 12, 74),
        (maps, "self[0].x > 2.0", 4, 3000, 4),
        (|l| array("duration", l), "self.all(x, true)", 2_359_295, 5, 17),
        (|l| array("duration", l), "self[0].getHours() == 2", 4, 525, 4),
        (|l| array("date", l), "self.all(x, true)", 725_936, 15, 47),
        (|l| array("date-time", l), "self.all(x, true)", 428_963, 25, 77),
        (|l| map("int-or-string", l), "self.all(x, true)", 1_348_169, 15, 47),
    ];
    let mut wrong = Vec::new();
    for (make, rule, unlimited, limit, limited) in table {
        let found = (estimate(&make(None), rule), estimate(&make(Some(*limit)), rule));
        if found != (*unlimited, *limited) {
            wrong.push(format!("{rule}: expected {:?}, found {found:?}", (unlimited, limited)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(estimate(&array("number", Some(10)), "self.all(x, self.all(y, true))"), 352);
    assert_eq!(estimate(&array("number", Some(10)), "self.all(x, self.all(y, self.all(z, true)))"), 3552);
}

#[test]
fn functions_are_estimated() {
    let environment = Environment::kubernetes().with_mutation_types();
    for (expression, min, max) in [
        ("[1, 2, 3, 4, 5].sum()", 15, 15),
        ("url('https:://kubernetes.io/').getScheme()", 4, 4),
        ("ip('192.168.0.1') == ip('192.168.0.1')", 5, 5),
        ("'ABCDEFGHIJ abcdefghij'.lowerAscii() == 'abcdefghij ABCDEFGHIJ'.lowerAscii()", 7, 9),
        ("strings.quote('ABCDEFGHIJ abcdefghij') == strings.quote('ABCDEFGHIJ abcdefghij')", 7, 11),
        ("'abc 123 def 123'.replace('123', '456')", 3, 3),
        ("'abc 123 def 123'.split(' ', 1)", 3, 3),
        ("'abc 123 def 123'.find('123')", 2, 2),
        ("quantity(\"200M\") == quantity(\"0.2G\") && quantity(\"0.2G\") == quantity(\"200M\")", 3, 6),
        ("format.named(\"dns1123Subdomain\").value().validate(\"my-name\")", 34, 34),
        ("format.named(\"dns1123Label\").value() == format.named(\"dns1123Label\").value()", 5, 11),
        ("sets.contains([1, 2, 3, 4], [2, 3])", 29, 29),
        ("!sets.contains([1], [2])", 23, 23),
    ] {
        let found = environment.compile(expression).unwrap_or_else(|errors| panic!("{errors}")).estimate_cost(None);
        assert_eq!((found.min, found.max), (min, max), "{expression}");
    }
}
