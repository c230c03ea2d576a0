//! What is kept of an object, what is added to it, and its type.

use super::*;
use ferry_api::schema::{ListType, Special, StructType, Type};

#[test]
fn what_the_schema_does_not_know_is_pruned() {
    let structural = compiled(json!({"type": "object", "properties": {
    "spec": {"type": "object", "properties": {
        "a": {"type": "string"},
        "list": {"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"c": {"type": "string"}}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"closed": {"type": "object", "properties": {"d": {"type": "string"}}}}},
        "raw": {"type": "object", "x-kubernetes-embedded-resource": true,
            "properties": {"spec": {"type": "object", "properties": {"e": {"type": "string"}}}}},
    }}}}));
    let mut object = json!({
        "apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n"}, "extra": 1,
        "spec": {
            "a": "x", "foo": {"bar": 1}, "list": [{"b": "x"}, {"b": "x", "bar": 1}],
            "map": {"k": {"c": "x", "z": 1}},
            "open": {"anything": {"goes": 1}, "closed": {"d": "x", "z": 1}},
            "raw": {"apiVersion": "b/v1", "kind": "B", "metadata": {"name": "m"}, "spec": {"e": "x", "z": 1}, "z": 1},
        },
    });
    assert_eq!(
        structural.prune(&mut object),
        [
            "extra",
            "spec.foo",
            "spec.list[1].bar",
            "spec.map.k.z",
            "spec.open.closed.z",
            "spec.raw.spec.z",
            "spec.raw.z"
        ]
    );
    assert_eq!(
        object,
        json!({
            "apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n"},
            "spec": {
                "a": "x", "list": [{"b": "x"}, {"b": "x"}], "map": {"k": {"c": "x"}},
                "open": {"anything": {"goes": 1}, "closed": {"d": "x"}},
                "raw": {"apiVersion": "b/v1", "kind": "B", "metadata": {"name": "m"}, "spec": {"e": "x"}},
            },
        })
    );
    assert_eq!(structural.prune(&mut object), Vec::<String>::new(), "a second time finds nothing");
}

#[test]
fn without_a_schema_only_metadata_is_kept_unless_all_is() {
    let object = json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n"}, "spec": {"a": 1}});
    let mut pruned = object.clone();
    let none = Structural::compile(&Value::Null, false).expect("no schema is no mistake");
    assert_eq!(none.prune(&mut pruned), ["spec"]);
    assert_eq!(pruned, json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n"}}));
    let mut kept = object.clone();
    let all = Structural::compile(&Value::Null, true).expect("no schema is no mistake");
    assert_eq!(all.prune(&mut kept), Vec::<String>::new());
    assert_eq!(kept, object);
}

#[test]
fn defaults_take_the_place_of_what_is_missing() {
    let structural = with(json!({"type": "object", "default": {}, "properties": {
        "port": {"type": "integer", "default": 80},
        "maybe": {"type": "string", "nullable": true, "default": "x"},
        "plain": {"type": "string"},
        "list": {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "string", "default": "TCP"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"q": {"type": "integer", "default": 1}}}},
    }}));
    for (given, expected) in [
        (json!({"spec": {}}), json!({"spec": {"a": {"port": 80, "maybe": "x"}}})),
        (json!({}), json!({})),
        (json!({"spec": {"a": null}}), json!({"spec": {"a": {"port": 80, "maybe": "x"}}})),
        (
            json!({"spec": {"a": {"port": null, "maybe": null, "plain": null}}}),
            json!({"spec": {"a": {"port": 80, "maybe": null}}}),
        ),
        (
            json!({"spec": {"a": {"port": 1, "maybe": "y", "list": [{}, {"p": "UDP"}], "map": {"k": {}}}}}),
            json!({"spec": {"a": {"port": 1, "maybe": "y", "list": [{"p": "TCP"}, {"p": "UDP"}], "map": {"k": {"q": 1}}}}}),
        ),
    ] {
        let mut object = given.clone();
        structural.prune(&mut object);
        structural.default(&mut object);
        assert_eq!(object, expected, "{given}");
    }
}

#[test]
fn metadata_has_the_form_of_any_objects() {
    let structural = with(json!({"type": "object", "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true}));
    let object = |metadata: Value| {
        json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "n"},
            "spec": {"a": {"apiVersion": "v1", "kind": "B", "metadata": metadata}}})
    };
    let mut odd = object(json!({"name": "m", "unheard": 1}));
    assert_eq!(structural.coerce(&mut odd, Malformed::Refuse), Ok(vec!["spec.a.metadata.unheard".to_owned()]));
    assert_eq!(odd, object(json!({"name": "m"})));
    let wrong = object(json!({"name": "m", "labels": {"a": 1}}));
    let error = structural.coerce(&mut wrong.clone(), Malformed::Refuse).expect_err("labels are strings");
    assert!(error.starts_with("spec.a.metadata: Invalid value: {"), "{error}");
    let mut dropped = wrong;
    assert_eq!(structural.coerce(&mut dropped, Malformed::Drop), Ok(Vec::new()));
    assert_eq!(dropped, object(json!({"name": "m"})));
    let mut root = json!({"apiVersion": "a/v1", "kind": "A", "metadata": {"name": 5}});
    let error = structural.coerce(&mut root, Malformed::Refuse).expect_err("names are strings");
    assert!(error.contains("cannot unmarshal number"), "{error}");
}

#[test]
fn embedded_resources_are_resources() {
    let structural = with(json!({"type": "object", "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true}));
    check(&structural, json!({"spec": {"a": {"apiVersion": "v1", "kind": "Pod"}}}), &[]);
    check(
        &structural,
        json!({"spec": {"a": {"kind": "_", "metadata": {"name": "a/b"}}}}),
        &[
            "spec.a.apiVersion: Required value",
            "spec.a.kind: Invalid value: \"_\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
            "spec.a.metadata.name: Invalid value: \"a/b\": may not contain '/'",
        ],
    );
}

#[test]
fn the_type_says_how_apply_merges() {
    let structural = compiled(
        json!({"type": "object", "properties": {"spec": {"type": "object", "required": ["s"], "properties": {
            "s": {"type": "string"},
            "i": {"x-kubernetes-int-or-string": true},
            "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": {"type": "string", "default": "d"}}}},
            "plain": {"type": "array", "items": {"type": "integer"}},
            "atomic": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"x": {"type": "string"}}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "half": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"x": {"type": "string"}}},
        }}}}),
    );
    let root = structural.type_def_named("example.com/v1", "Foo");
    assert_eq!((root.package.as_ref(), root.name.as_ref(), root.preserve_unknown), ("example.com/v1", "Foo", false));
    let Some(Type::Struct(spec)) = root.field("spec").map(|field| &field.ty) else { panic!("a struct") };
    let field = |name: &str| spec.get().field(name).unwrap_or_else(|| panic!("{name}"));
    assert!(field("s").required && field("s").tag.is_none());
    assert!(matches!(field("i").ty, Type::Special(Special::IntOrString)));
    assert_eq!(field("set").list_type, Some(ListType::Set));
    assert_eq!((field("map").list_type, field("map").list_map_keys.len()), (Some(ListType::Map), 1));
    assert_eq!(field("plain").list_type, None);
    assert_eq!(field("atomic").apply_struct_type(), StructType::Atomic);
    assert!(matches!(&field("labels").ty, Type::Map(_)));
    assert!(matches!(field("open").ty, Type::Special(Special::Json)));
    let Type::Struct(half) = &field("half").ty else { panic!("a struct") };
    assert!(half.get().preserve_unknown && half.get().field("x").is_some());
    assert!(root.field("metadata").is_some() && root.field("kind").is_some());
}
