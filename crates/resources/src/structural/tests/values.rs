//! Values held against a schema.

use super::*;

#[test]
fn values_have_the_types_of_their_schema() {
    for (field, good, bad, text) in [
        (
            json!({"type": "string"}),
            json!("x"),
            json!(5),
            "spec.a: Invalid value: \"integer\": spec.a in body must be of type string: \"integer\"",
        ),
        (
            json!({"type": "number"}),
            json!(1),
            json!("1"),
            "spec.a: Invalid value: \"string\": spec.a in body must be of type number: \"string\"",
        ),
        (
            json!({"type": "boolean"}),
            json!(true),
            json!("true"),
            "spec.a: Invalid value: \"string\": spec.a in body must be of type boolean: \"string\"",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!(["x"]),
            json!({}),
            "spec.a: Invalid value: \"object\": spec.a in body must be of type array: \"object\"",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!([]),
            json!(["x", 1]),
            "spec.a[1]: Invalid value: \"integer\": spec.a[1] in body must be of type string: \"integer\"",
        ),
        (
            json!({"type": "object"}),
            json!({}),
            json!([]),
            "spec.a: Invalid value: \"array\": spec.a in body must be of type object: \"array\"",
        ),
        (
            json!({"type": "string"}),
            json!(""),
            json!(null),
            "spec.a: Invalid value: \"null\": spec.a in body must be of type string: \"null\"",
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!("5%"),
            json!(true),
            "spec.a: Invalid value: \"boolean\": spec.a in body must be of type integer,string: \"boolean\"",
        ),
        (
            json!({"type": "string", "format": "date"}),
            json!("2020-01-01"),
            json!(5),
            "spec.a: Invalid value: \"int64\": spec.a in body must be of type date: \"int64\"",
        ),
        (
            json!({"type": "string", "format": "ipv4"}),
            json!("1.2.3.4"),
            json!("x"),
            "spec.a: Invalid value: \"x\": spec.a in body must be of type ipv4: \"x\"",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"k": "v"}),
            json!({"k": 1}),
            "spec.a.k: Invalid value: \"integer\": spec.a.k in body must be of type string: \"integer\"",
        ),
    ] {
        check_field(field.clone(), good, &[]);
        check_field(field, bad, &[text]);
    }
    check_field(json!({"type": "integer"}), json!(1.0), &[]);
    check_field(
        json!({"type": "integer"}),
        json!(1.5),
        &[
            "spec.a: Invalid value: \"number\": spec.a in body must be of type integer: \"number\"",
            "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.a",
        ],
    );
    check_field(json!({"type": "string", "nullable": true}), json!(null), &[]);
    check_field(json!({"type": "string", "format": "unheard-of"}), json!("x"), &[]);
}

#[test]
fn values_keep_within_limits() {
    for (field, good, bad, text) in [
        (
            json!({"type": "integer", "minimum": 1}),
            json!(1),
            json!(0),
            "spec.a: Invalid value: 0: spec.a in body should be greater than or equal to 1",
        ),
        (
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            json!(2),
            json!(1),
            "spec.a: Invalid value: 1: spec.a in body should be greater than 1",
        ),
        (
            json!({"type": "integer", "maximum": 10}),
            json!(10),
            json!(11),
            "spec.a: Invalid value: 11: spec.a in body should be less than or equal to 10",
        ),
        (
            json!({"type": "number", "maximum": 1.5, "exclusiveMaximum": true}),
            json!(1.4),
            json!(1.5),
            "spec.a: Invalid value: 1.5: spec.a in body should be less than 1.5",
        ),
        (
            json!({"type": "integer", "multipleOf": 3}),
            json!(9),
            json!(10),
            "spec.a: Invalid value: 10: spec.a in body should be a multiple of 3",
        ),
        (
            json!({"type": "number", "multipleOf": 0.5}),
            json!(1.5),
            json!(1.3),
            "spec.a: Invalid value: 1.3: spec.a in body should be a multiple of 0.5",
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(2147483647),
            json!(2147483648_i64),
            "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.a",
        ),
        (
            json!({"type": "string", "maxLength": 2}),
            json!("äö"),
            json!("abc"),
            "spec.a: Too long: may not be more than 2 bytes",
        ),
        (
            json!({"type": "string", "maxLength": 1}),
            json!("a"),
            json!("ab"),
            "spec.a: Too long: may not be more than 1 byte",
        ),
        (
            json!({"type": "string", "minLength": 2}),
            json!("ab"),
            json!("a"),
            "spec.a: Invalid value: \"a\": spec.a in body should be at least 2 chars long",
        ),
        (
            json!({"type": "string", "pattern": "^[a-z]+$"}),
            json!("ab"),
            json!("A"),
            "spec.a: Invalid value: \"A\": spec.a in body should match '^[a-z]+$'",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "maxItems": 1}),
            json!([1]),
            json!([1, 2]),
            "spec.a: Too many: 2: must have at most 1 item",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 1}),
            json!([1]),
            json!([]),
            "spec.a: Invalid value: 0: spec.a in body should have at least 1 items",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true}),
            json!([1, 2]),
            json!([1, 1]),
            "spec.a: Invalid value: \"\": spec.a in body shouldn't contain duplicates",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 1}),
            json!({"a": 1}),
            json!({"a": 1, "b": 2}),
            "spec.a: Too many: 2: must have at most 1 item",
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1}),
            json!({"a": 1}),
            json!({}),
            "spec.a: Invalid value: 0: spec.a in body should have at least 1 properties",
        ),
        (
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}),
            json!({"b": ""}),
            json!({}),
            "spec.a.b: Required value",
        ),
        (
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false}),
            json!({"b": ""}),
            json!({"c": 1}),
            "spec.a: Invalid value: \"c\": spec.a.c in body is a forbidden property",
        ),
        (
            json!({"type": "string", "enum": ["x", "y"]}),
            json!("x"),
            json!("z"),
            "spec.a: Unsupported value: \"z\": supported values: \"x\", \"y\"",
        ),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!(2),
            json!(3),
            "spec.a: Unsupported value: 3: supported values: \"1\", \"2\"",
        ),
    ] {
        check_field(field.clone(), good, &[]);
        check_field(field, bad, &[text]);
    }
    check(&compiled(json!({"type": "object", "required": ["spec"]})), json!({}), &["spec: Required value"]);
    check_field(
        json!({"type": "number", "maximum": 1e21}),
        json!(2e21),
        &["spec.a: Invalid value: 2e+21: spec.a in body should be less than or equal to 1e+21"],
    );
}

#[test]
fn alternatives_are_told_by_the_one_that_came_farthest() {
    let any = json!({"type": "object", "properties": {"b": {"type": "string"}, "c": {"type": "string"}},
        "anyOf": [{"required": ["b"]}, {"required": ["c"]}]});
    check_field(any.clone(), json!({"c": "x"}), &[]);
    check_field(
        any,
        json!({}),
        &[
            "<nil>: Invalid value: \"\": \"spec.a\" must validate at least one schema (anyOf)",
            "spec.a.b: Required value",
        ],
    );
    let one = json!({"type": "integer", "oneOf": [{"minimum": 5}, {"maximum": 7}]});
    check_field(one.clone(), json!(1), &[]);
    check_field(
        one,
        json!(6),
        &[
            "<nil>: Invalid value: \"\": \"spec.a\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
        ],
    );
    check_field(
        json!({"type": "integer", "oneOf": [{"minimum": 5}, {"minimum": 7}]}),
        json!(1),
        &[
            "<nil>: Invalid value: \"\": \"spec.a\" must validate one and only one schema (oneOf). Found none valid",
            "spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 5",
        ],
    );
    check_field(
        json!({"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 7}]}),
        json!(8),
        &[
            "spec.a: Invalid value: 8: spec.a in body should be less than or equal to 7",
            "<nil>: Invalid value: \"\": \"spec.a\" must validate all the schemas (allOf)",
        ],
    );
    check_field(
        json!({"type": "string", "not": {"enum": ["x"]}}),
        json!("x"),
        &["<nil>: Invalid value: \"\": \"spec.a\" must not validate the schema (not)"],
    );
    let either = json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    check_field(either.clone(), json!(1), &[]);
    check_field(either.clone(), json!("x"), &[]);
    check_field(
        either,
        json!(1.2),
        &[
            "spec.a: Invalid value: \"number\": spec.a in body must be of type integer,string: \"number\"",
            "<nil>: Invalid value: \"\": \"spec.a\" must validate at least one schema (anyOf)",
            "spec.a: Invalid value: \"number\": spec.a in body must be of type integer: \"number\"",
            "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.a",
        ],
    );
}

#[test]
fn lists_of_sets_and_maps_hold_nothing_twice() {
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    check_field(set.clone(), json!(["a", "b"]), &[]);
    check_field(set, json!(["a", "b", "a", "a"]), &["spec.a[2]: Duplicate value: \"a\""]);
    let map = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"],
        "items": {"type": "object", "properties": {"k": {"type": "string"}, "l": {"type": "integer"}}}});
    check_field(map.clone(), json!([{"k": "a", "l": 1}, {"k": "a", "l": 2}]), &[]);
    check_field(
        map.clone(),
        json!([{"k": "a", "l": 1}, {"k": "a", "l": 1}]),
        &["spec.a[1]: Duplicate value: {\"k\":\"a\",\"l\":1}"],
    );
    check_field(map.clone(), json!([{"k": "a"}, {"k": "a"}]), &["spec.a[1]: Duplicate value: {\"k\":\"a\"}"]);
    let structural = with(map);
    let twice = json!({"spec": {"a": [{"k": "a"}, {"k": "a"}]}});
    let more = json!({"spec": {"a": [{"k": "a"}, {"k": "a"}, {"k": "b"}]}});
    check_update(&structural, twice, more, &[]);
}

#[test]
fn updates_answer_only_for_what_they_change() {
    let structural = compiled(json!({"type": "object", "properties": {
    "spec": {"type": "object", "required": ["must"], "properties": {
        "must": {"type": "string"},
        "name": {"type": "string", "maxLength": 3},
        "count": {"type": "integer", "maximum": 3},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {
                "k": {"type": "string"}, "v": {"type": "string", "enum": ["a"]}, "n": {"type": "integer"}}}},
        "list": {"type": "array", "items": {"type": "string", "maxLength": 1}},
    }}}}));
    let old = json!({"spec": {"name": "long", "count": 1, "map": [{"k": "x", "v": "z"}, {"k": "y", "v": "a"}],
        "list": ["ab"]}});
    let change = |key: &str, value: Value| {
        let mut new = old.clone();
        new["spec"][key] = value;
        new
    };
    check_update(&structural, old.clone(), old.clone(), &[]);
    // The spec changed, so that what is missing in it counts; its fields did not.
    check_update(&structural, old.clone(), change("count", json!(2)), &["spec.must: Required value"]);
    let mut kept = old.clone();
    kept["spec"]["must"] = "x".into();
    let change = |key: &str, value: Value| {
        let mut new = kept.clone();
        new["spec"][key] = value;
        new
    };
    check_update(&structural, kept.clone(), change("count", json!(2)), &[]);
    check_update(
        &structural,
        kept.clone(),
        change("count", json!(9)),
        &["spec.count: Invalid value: 9: spec.count in body should be less than or equal to 3"],
    );
    check_update(
        &structural,
        kept.clone(),
        change("name", json!("longer")),
        &["spec.name: Too long: may not be more than 3 bytes"],
    );
    // Items of a map list are found again by their keys, and in them unchanged fields.
    check_update(
        &structural,
        kept.clone(),
        change("map", json!([{"k": "new", "v": "a"}, {"k": "x", "v": "z", "n": 1}])),
        &[],
    );
    check_update(
        &structural,
        kept.clone(),
        change("map", json!([{"k": "new", "v": "z"}])),
        &["spec.map[0].v: Unsupported value: \"z\": supported values: \"a\""],
    );
    // Items of an atomic list are not.
    check_update(
        &structural,
        kept.clone(),
        change("list", json!(["ab", "c"])),
        &["spec.list[0]: Too long: may not be more than 1 byte"],
    );
}

#[test]
fn status_is_held_against_its_own_schema() {
    let structural = compiled(json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"b": {"type": "integer"}}}}}));
    let old = json!({"spec": {"a": "wrong"}, "status": {"b": 1}});
    let mut new = old.clone();
    new["status"]["b"] = "x".into();
    assert_eq!(
        texts(&structural.validate_status(&new, &old)),
        ["status.b: Invalid value: \"string\": b in body must be of type integer: \"string\""]
    );
}

#[test]
fn many_mistakes_are_all_told_in_time() {
    let structural = with(json!({"type": "array", "items": {"type": "string"}}));
    let items: Vec<i64> = (0..20_000).collect();
    let errors = structural.validate(&json!({"spec": {"a": items}}), None);
    assert_eq!(errors.len(), 20_000);
    assert_eq!(errors[19_999].field, "spec.a[19999]");
}
