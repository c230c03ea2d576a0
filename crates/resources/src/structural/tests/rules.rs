//! Rules in CEL, on new objects and on changed ones.

use super::*;

/// A spec of an integer `n`, a string `s` and a map list, with one rule on the spec.
fn ruled(rule: Value) -> Structural {
    compiled(json!({"type": "object", "properties": {"spec": {"type": "object",
    "x-kubernetes-validations": [rule],
    "properties": {
        "n": {"type": "integer"},
        "s": {"type": "string"},
        "port": {"x-kubernetes-int-or-string": true},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
    }}}}))
}

fn spec(spec: Value) -> Value {
    json!({"spec": spec})
}

#[test]
fn broken_rules_say_what_is_wrong() {
    for (rule, expected) in [
        (json!({"rule": "self.n > 5"}), "spec: Invalid value: failed rule: self.n > 5"),
        (json!({"rule": "self.n > 5", "message": " n is small "}), "spec: Invalid value: n is small"),
        (json!({"rule": "self.n > 5", "messageExpression": "'n is ' + string(self.n)"}), "spec: Invalid value: n is 1"),
        (json!({"rule": "self.n > 5", "message": "m", "messageExpression": "self.s + ''"}), "spec: Invalid value: m"),
        (json!({"rule": "self.n > 5", "message": "m", "messageExpression": "'a\\nb'"}), "spec: Invalid value: m"),
        (json!({"rule": "self.n > 5", "fieldPath": ".n"}), "spec.n: Invalid value: failed rule: self.n > 5"),
        (json!({"rule": "self.n > 5", "fieldPath": ".m['k']"}), "spec.m[k]: Invalid value: failed rule: self.n > 5"),
        (json!({"rule": "self.n > 5", "message": "m", "reason": "FieldValueForbidden"}), "spec: Forbidden: m"),
        (json!({"rule": "self.n > 5", "message": "m", "reason": "FieldValueRequired"}), "spec: Required value: m"),
        (json!({"rule": "self.n > 5", "reason": "FieldValueDuplicate"}), "spec: Duplicate value"),
        (
            json!({"rule": "self.s == 'x'"}),
            "spec: Invalid value: \"object\": no such key: s evaluating rule: self.s == 'x'",
        ),
        (
            json!({"rule": "self.port + 1 > 1"}),
            "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.port + 1 > 1",
        ),
    ] {
        check(&ruled(rule), spec(json!({"n": 1, "port": "http"})), &[expected]);
    }
    check(&ruled(json!({"rule": "self.n > 5"})), spec(json!({"n": 6})), &[]);
}

#[test]
fn scalars_are_shown_and_places_named() {
    let structural = with(json!({"type": "array", "items": {"type": "object",
        "additionalProperties": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 0"}]}}}));
    check(
        &structural,
        spec(json!({"a": [{"x": 1}, {"y": 0}]})),
        &["spec.a[1][y]: Invalid value: 0: failed rule: self > 0"],
    );
    let root = compiled(json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.metadata.name == 'x'"}],
        "properties": {"spec": {"type": "object"}}}));
    check(
        &root,
        json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "y"}}),
        &["<nil>: Invalid value: failed rule: self.metadata.name == 'x'"],
    );
}

#[test]
fn rules_wait_until_the_schema_is_content() {
    let structural = ruled(json!({"rule": "self.n > 5"}));
    check(
        &structural,
        spec(json!({"n": "x"})),
        &[
            "spec.n: Invalid value: \"string\": spec.n in body must be of type integer: \"string\"",
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
        ],
    );
}

#[test]
fn transition_rules_judge_changes() {
    let structural = ruled(json!({"rule": "self.n >= oldSelf.n", "message": "n shrinks"}));
    check(&structural, spec(json!({"n": 1})), &[]);
    check_update(&structural, spec(json!({"n": 1})), spec(json!({"n": 2})), &[]);
    check_update(&structural, spec(json!({"n": 2})), spec(json!({"n": 1})), &["spec: Invalid value: n shrinks"]);
    let optional = ruled(
        json!({"rule": "oldSelf.hasValue() ? self.n >= oldSelf.value().n : self.n == 0", "optionalOldSelf": true, "message": "m"}),
    );
    check(&optional, spec(json!({"n": 1})), &["spec: Invalid value: m"]);
    check(&optional, spec(json!({"n": 0})), &[]);
    check_update(&optional, spec(json!({"n": 0})), spec(json!({"n": 3})), &[]);
    check_update(&optional, spec(json!({"n": 3})), spec(json!({"n": 2})), &["spec: Invalid value: m"]);
}

#[test]
fn items_of_map_lists_are_followed_by_their_keys() {
    let structural =
        with(json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "required": ["k"],
            "x-kubernetes-validations": [{"rule": "self.v >= oldSelf.v", "message": "v shrinks"}],
            "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}}));
    let old = spec(json!({"a": [{"k": "x", "v": 5}, {"k": "y", "v": 1}]}));
    check_update(
        &structural,
        old,
        spec(json!({"a": [{"k": "y", "v": 2}, {"k": "z", "v": 0}, {"k": "x", "v": 4}]})),
        &["spec.a[2]: Invalid value: v shrinks"],
    );
}

#[test]
fn what_an_update_leaves_alone_only_warns() {
    let structural = compiled(json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "string", "x-kubernetes-validations": [{"rule": "self.startsWith('x')", "message": "a needs x"}]},
        "b": {"type": "integer"},
        "c": {"type": "array", "items": {"type": "string", "x-kubernetes-validations": [{"rule": "self != 'bad'"}]}},
    }}}}));
    let old = spec(json!({"a": "y", "b": 1, "c": ["bad"]}));
    let new = spec(json!({"a": "y", "b": 2, "c": ["bad"]}));
    let findings = structural.check(&new, Some(&old), Write::Object);
    assert_eq!(texts(&findings.errors), Vec::<String>::new());
    assert_eq!(
        findings.warnings,
        ["spec.a: Invalid value: \"y\": a needs x", "spec.c[0]: Invalid value: \"bad\": failed rule: self != 'bad'"]
    );
    check_update(
        &structural,
        old.clone(),
        spec(json!({"a": "z", "b": 1, "c": ["bad"]})),
        &["spec.a: Invalid value: \"z\": a needs x"],
    );
    // Items of an atomic list answer with the list.
    check_update(
        &structural,
        old,
        spec(json!({"a": "y", "b": 1, "c": ["bad", "good"]})),
        &["spec.c[0]: Invalid value: \"bad\": failed rule: self != 'bad'"],
    );
}

#[test]
fn rules_have_a_budget() {
    let structural = with(json!({"type": "array", "items": {"type": "integer"},
    "x-kubernetes-validations": [
        {"rule": "self.all(x, self.all(y, self.all(z, x + y + z >= 0)))", "message": "deep"},
        {"rule": "false"},
    ]}));
    let many: Vec<i64> = (0..300).collect();
    check(
        &structural,
        spec(json!({"a": many})),
        &[
            "spec.a: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: deep",
        ],
    );
    let item = json!({"type": "array", "items": {"type": "integer"},
        "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x + y >= 0))"}]});
    let structural = with(json!({"type": "array", "items": item}));
    let row: Vec<i64> = (0..250).collect();
    let rows = vec![json!(row); 40];
    let errors = texts(&structural.validate(&spec(json!({"a": rows})), None));
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0]
            .ends_with("validation failed due to running out of cost budget, no further validation rules will be run"),
        "{errors:?}"
    );
}

#[test]
fn a_rule_that_does_not_compile_refuses_objects() {
    let errors = texts(&ruled(json!({"rule": "self.nope"})).validate(&spec(json!({"n": 1})), None));
    assert!(
        errors[0].starts_with("spec: Invalid value: \"object\": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'nope'"),
        "{errors:?}"
    );
    // What is null or not there has no rules to keep.
    check(&ruled(json!({"rule": "false"})), json!({}), &[]);
}
