//! Typed objects: what a schema exposes, how its formats read, and how names are escaped.

use ferry_cel::{Activation, Budget, Environment, Schema, Type, Value};
use serde_json::{Value as Json, json};

fn schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "replicas": {"type": "integer"},
                    "ratio": {"type": "number"},
                    "on": {"type": "boolean"},
                    "name": {"type": "string"},
                    "maybe": {"type": "string", "nullable": true},
                    "when": {"type": "string", "format": "date-time"},
                    "day": {"type": "string", "format": "date"},
                    "long": {"type": "string", "format": "duration"},
                    "raw": {"type": "string", "format": "byte"},
                    "port": {"x-kubernetes-int-or-string": true},
                    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                    "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                    "items": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["name"],
                        "items": {
                            "type": "object",
                            "properties": {"name": {"type": "string"}, "value": {"type": "integer"}},
                        },
                    },
                    "namespace": {"type": "string"},
                    "a-b.c/d__e": {"type": "string"},
                    "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "anything": {"x-kubernetes-preserve-unknown-fields": true},
                },
            },
        },
    })
}

fn evaluate(rule: &str, object: &Json, old: &Json) -> String {
    let schema = Schema::from_openapi(&schema(), true);
    let kind = schema.to_type("selfType").expect("objects are exposed");
    let environment = Environment::kubernetes().with_variable("self", kind.clone()).with_variable("oldSelf", kind);
    let program = match environment.compile(rule) {
        Ok(program) => program,
        Err(errors) => return format!("refused: {}", errors.issues[0].message),
    };
    let activation = Activation::new()
        .with("self", Value::from_typed(object, &schema).expect("an object"))
        .with("oldSelf", Value::from_typed(old, &schema).expect("an object"));
    let result = program.evaluate(&activation, &mut Budget::default());
    result.map_or_else(|error| format!("error: {error}"), |value| value.to_string())
}

#[test]
fn fields_have_the_types_of_their_schema() {
    let object = json!({
        "apiVersion": "a/v1",
        "kind": "A",
        "metadata": {"name": "x", "labels": {"a": "b"}},
        "spec": {
            "replicas": 3, "ratio": 1, "on": true, "name": "n", "maybe": null,
            "when": "2020-01-02T03:04:05Z", "day": "2020-01-02", "long": "90m", "raw": "aGk=", "port": "http",
            "labels": {"k": "v"}, "set": ["a", "b"],
            "items": [{"name": "x", "value": 1}, {"name": "y", "value": 2}],
            "namespace": "ns", "a-b.c/d__e": "odd", "open": {"deep": 1}, "anything": 7, "undeclared": 1,
        },
    });
    let mut old = object.clone();
    old["spec"]["set"] = json!(["b", "a"]);
    old["spec"]["items"] = json!([{"name": "y", "value": 2}, {"name": "x", "value": 1}]);
    for (rule, expected) in [
        ("self.spec.replicas + 1", "4"),
        ("self.spec.ratio == 1.0", "true"),
        ("self.spec.when.getFullYear() + self.spec.day.getMonth()", "2020"),
        ("self.spec.long == duration('1h30m')", "true"),
        ("self.spec.raw == b'hi'", "true"),
        ("type(self.spec.port) == string && self.spec.port == 'http'", "true"),
        ("self.spec.labels.k + self.spec.labels['k']", "vv"),
        ("self.metadata.name + self.kind + self.apiVersion", "xAa/v1"),
        ("self.metadata.labels", "refused: undefined field 'labels'"),
        ("self.spec.undeclared", "refused: undefined field 'undeclared'"),
        ("self.spec.anything", "refused: undefined field 'anything'"),
        ("self.spec.open.deep", "refused: undefined field 'deep'"),
        ("self.spec.__namespace__ + self.spec.a__dash__b__dot__c__slash__d__underscores__e", "nsodd"),
        ("self.spec.namespace == self.spec.__namespace__ && has(self.spec.namespace)", "true"),
        ("has(self.spec.maybe)", "false"),
        ("self.spec.maybe", "error: no such key: maybe"),
        ("has(self.spec.replicas)", "true"),
        ("self.spec.set == oldSelf.spec.set && self.spec.items == oldSelf.spec.items", "true"),
        ("self.spec.set + ['b', 'c']", "[a, b, c]"),
        ("(self.spec.items + oldSelf.spec.items).map(i, i.name)", "[x, y]"),
        ("self.spec.items + [] == oldSelf.spec.items", "true"),
        ("self.spec.items.all(i, i.value > 0)", "true"),
        ("self.spec.items[0].nope", "refused: undefined field 'nope'"),
        ("self.spec == oldSelf.spec", "true"),
        ("self.spec.replicas == 'a'", "refused: found no matching overload for '_==_' applied to '(int, string)'"),
        ("self.spec.labels.map(k, k)", "[k]"),
    ] {
        assert_eq!(evaluate(rule, &object, &old), expected, "{rule}");
    }
}

#[test]
fn data_that_belies_its_schema_is_an_error() {
    let object =
        json!({"spec": {"replicas": "3", "when": "yesterday", "raw": "?", "set": {}, "name": null, "port": 1.5}});
    for (rule, expected) in [
        ("self.spec.replicas", "error: invalid data, expected int, got string"),
        ("self.spec.set", "error: invalid data, expected an array for the provided schema with type=array"),
        ("self.spec.port == 1", "error: invalid data, expected XIntOrString value to be either a string or integer"),
        ("has(self.spec.name)", "false"),
    ] {
        assert_eq!(evaluate(rule, &object, &json!({})), expected, "{rule}");
    }
    assert!(evaluate("self.spec.when", &object, &json!({})).starts_with("error: Invalid date-time formatted string"));
}

#[test]
fn formats_are_read_as_upstream_reads_them() {
    let kinds = json!({"spec": {"long": "1 day 2 hours", "when": "2020-01-02T03:04:05"}});
    for (rule, expected) in
        [("self.spec.long == duration('26h')", "true"), ("self.spec.when == timestamp('2020-01-02T03:04:05Z')", "true")]
    {
        assert_eq!(evaluate(rule, &kinds, &json!({})), expected, "{rule}");
    }
    let broken = json!({"spec": {"long": "soon"}});
    assert_eq!(
        evaluate("self.spec.long", &broken, &json!({})),
        "error: Invalid duration soon: unable to parse soon as duration"
    );
}

#[test]
fn optional_old_self() {
    let schema = Schema::from_openapi(&json!({"type": "string"}), false);
    let kind = schema.to_type("selfType").unwrap();
    let environment =
        Environment::kubernetes().with_variable("self", kind.clone()).with_variable("oldSelf", Type::optional(kind));
    let program = environment.compile("oldSelf.hasValue() ? self == oldSelf.value() : self == 'new'").unwrap();
    let (new, old) = (json!("new"), json!("old"));
    for (before, expected) in [(Value::Optional(None), true), (Value::some(Value::from_json(&old)), false)] {
        let activation = Activation::new().with("self", Value::from_json(&new)).with("oldSelf", before);
        let found = program.evaluate(&activation, &mut Budget::default()).unwrap();
        assert_eq!(found.as_bool(), Some(expected));
    }
}
