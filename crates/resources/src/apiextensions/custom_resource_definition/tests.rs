//! What definitions are taken and refused, in upstream's words.

use super::*;
use crate::testing::{check, check_update, context};
use ferry_api::object::Meta;

fn version(name: &str, schema: Value) -> Value {
    json!({"name": name, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}})
}

fn definition(versions: Vec<Value>) -> Value {
    json!({
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "foos", "kind": "Foo"},
            "versions": versions},
    })
}

fn of(schema: Value) -> Value {
    definition(vec![version("v1", schema)])
}

fn field(schema: Value) -> Value {
    of(json!({"type": "object", "properties": {"a": schema}}))
}

const CRD: CustomResourceDefinition = CustomResourceDefinition;

#[test]
fn a_definition_names_its_kind() {
    check(&CRD, of(json!({"type": "object"})), &[]);
    let mut odd = of(json!({"type": "object"}));
    odd["metadata"]["name"] = "x".into();
    odd["spec"]["group"] = "example".into();
    odd["spec"]["scope"] = "Everywhere".into();
    odd["spec"]["names"] = json!({"plural": "Foos", "kind": "Foo", "listKind": "Foo"});
    check(
        &CRD,
        odd,
        &[
            "metadata.name: Invalid value: \"x\": must be spec.names.plural+\".\"+spec.group",
            "spec.group: Invalid value: \"example\": should be a domain with at least one dot",
            "spec.scope: Unsupported value: \"Everywhere\": supported values: \"Cluster\", \"Namespaced\"",
            "spec.names.plural: Invalid value: \"Foos\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
            "spec.names.listKind: Invalid value: \"Foo\": kind and listKind may not be the same",
        ],
    );
}

#[test]
fn versions_have_schemas_and_one_is_stored() {
    check(
        &CRD,
        definition(vec![json!({"name": "v1", "served": true, "storage": true})]),
        &["spec.versions[0].schema.openAPIV3Schema: Required value"],
    );
    let mut second = version("v2", json!({"type": "object", "description": "other"}));
    second["storage"] = false.into();
    check(&CRD, definition(vec![version("v1", json!({"type": "object"})), second.clone()]), &[]);
    second["schema"]["openAPIV3Schema"] = json!({});
    check(
        &CRD,
        definition(vec![version("v1", json!({"type": "object"})), second]),
        &["spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at the root"],
    );
    let mut none = of(json!({"type": "object"}));
    none["spec"]["versions"][0]["storage"] = false.into();
    none["status"] = json!({"storedVersions": ["v1"]});
    let errors = crate::testing::errors(&CRD, &{
        crate::testing::default(&CRD, &mut none);
        none
    });
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].detail, "must have exactly one version marked as storage version");
}

#[test]
fn schemas_are_structural() {
    let at = "spec.validation.openAPIV3Schema";
    check(&CRD, field(json!({"type": "string"})), &[]);
    check(
        &CRD,
        field(json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]})),
        &[],
    );
    check(&CRD, field(json!({"x-kubernetes-preserve-unknown-fields": true})), &[]);
    check(
        &CRD,
        field(json!({})),
        &[&format!("{at}.properties[a].type: Required value: must not be empty for specified object fields")],
    );
    check(
        &CRD,
        of(json!({"type": "object", "anyOf": [{"properties": {"b": {"type": "string"}}}]})),
        &[
            &format!("{at}.anyOf[0].properties[b].type: Forbidden: must be empty to be structural"),
            &format!("{at}.properties[b]: Required value: because it is defined in {at}.anyOf[0].properties[b]"),
        ],
    );
    check(
        &CRD,
        field(json!({"type": "array"})),
        &[&format!("{at}.properties[a].items: Required value: must be specified")],
    );
    check(
        &CRD,
        of(
            json!({"type": "object", "properties": {"metadata": {"type": "object", "properties": {"labels": {"type": "object"}}}}}),
        ),
        &[&format!(
            "{at}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified"
        )],
    );
    check(
        &CRD,
        of(json!({"type": "object", "$ref": "#/x"})),
        &[&format!("{at}.$ref: Forbidden: $ref is not supported")],
    );
    check(
        &CRD,
        of(json!({"type": "string"})),
        &[&format!("{at}.type: Invalid value: \"string\": must be object at the root")],
    );
}

#[test]
fn lists_say_how_they_merge() {
    let at = "spec.validation.openAPIV3Schema.properties[a]";
    let list = |kind: &str, item: Value, keys: Value| {
        field(
            json!({"type": "array", "items": item, "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": keys}),
        )
    };
    let item = json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}});
    check(&CRD, list("map", item.clone(), json!(["k"])), &[]);
    check(
        &CRD,
        list("map", item.clone(), json!(["x"])),
        &[&format!(
            "{at}.x-kubernetes-list-map-keys: Invalid value: [\"x\"]: entries must all be names of item properties"
        )],
    );
    check(
        &CRD,
        list("set", item, json!([])),
        &[&format!(
            "{at}.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set"
        )],
    );
    check(
        &CRD,
        list("bag", json!({"type": "string"}), json!([])),
        &[&format!(
            "{at}.x-kubernetes-list-type: Unsupported value: \"bag\": supported values: \"atomic\", \"set\", \"map\""
        )],
    );
}

#[test]
fn defaults_say_what_the_schema_knows() {
    check(&CRD, field(json!({"type": "string", "default": "x"})), &[]);
    check(
        &CRD,
        field(json!({"type": "object", "default": {"b": 1}})),
        &[
            "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: {\"b\":1}: must not have unknown fields",
        ],
    );
    check(
        &CRD,
        of(json!({"type": "object", "properties": {"kind": {"type": "string", "default": "x"}}})),
        &["spec.validation.openAPIV3Schema.properties[kind].default: Forbidden: must not be set in top-level kind"],
    );
}

#[test]
fn subresources_columns_and_fields_point_somewhere() {
    let with = |key: &str, value: Value| {
        let mut definition = field(json!({"type": "string"}));
        definition["spec"]["versions"][0][key] = value;
        definition
    };
    let scale = json!({"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}});
    check(&CRD, with("subresources", scale), &[]);
    check(
        &CRD,
        with("subresources", json!({"scale": {"specReplicasPath": "spec"}})),
        &[
            "spec.subresources.scale.specReplicasPath: Invalid value: \"spec\": must be a simple json path starting with .",
            "spec.subresources.scale.statusReplicasPath: Required value",
        ],
    );
    check(
        &CRD,
        with("additionalPrinterColumns", json!([{"name": "A", "type": "text"}])),
        &[
            "spec.additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of boolean,date,integer,number,string",
            "spec.additionalPrinterColumns[0].JSONPath: Required value",
        ],
    );
    check(&CRD, with("selectableFields", json!([{"jsonPath": ".a"}])), &[]);
    check(
        &CRD,
        with("selectableFields", json!([{"jsonPath": ".b"}, {"jsonPath": ".a"}, {"jsonPath": ".a"}])),
        &[
            "spec.selectableFields[0].jsonPath: Invalid value: \".b\": is an invalid path: does not refer to a valid field",
            "spec.selectableFields[2].jsonPath: Duplicate value: \".a\"",
        ],
    );
}

#[test]
fn conversion_asks_a_webhook_or_nobody() {
    let with = |conversion: Value| {
        let mut definition = of(json!({"type": "object"}));
        definition["spec"]["conversion"] = conversion;
        definition
    };
    let webhook =
        json!({"clientConfig": {"service": {"name": "a", "namespace": "b"}}, "conversionReviewVersions": ["v1"]});
    check(&CRD, with(json!({"strategy": "Webhook", "webhook": webhook})), &[]);
    check(
        &CRD,
        with(json!({"strategy": "Webhook"})),
        &[
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ],
    );
    check(
        &CRD,
        with(json!({"strategy": "None", "webhook": webhook})),
        &[
            "spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook",
            "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
        ],
    );
}

#[test]
fn the_groups_of_kubernetes_are_protected() {
    let mut definition = of(json!({"type": "object"}));
    definition["spec"]["group"] = "a.k8s.io".into();
    definition["metadata"]["name"] = "foos.a.k8s.io".into();
    check(
        &CRD,
        definition.clone(),
        &[
            "metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111",
        ],
    );
    definition.set_meta("annotations", json!({"api-approved.kubernetes.io": "https://example.com/1"}));
    check(&CRD, definition, &[]);
}

#[test]
fn names_never_change_and_stored_versions_stay() {
    let mut old = of(json!({"type": "object"}));
    old["status"] = json!({"storedVersions": ["v1"], "conditions": [{"type": "Established", "status": "True"}]});
    let mut new = old.clone();
    new["spec"]["scope"] = "Cluster".into();
    new["spec"]["names"]["kind"] = "Bar".into();
    check_update(
        &CRD,
        old.clone(),
        new,
        &[
            "spec.scope: Invalid value: \"Cluster\": field is immutable",
            "spec.names.kind: Invalid value: \"Bar\": field is immutable",
        ],
    );
    let mut new = old.clone();
    new["spec"]["versions"][0]["name"] = "v2".into();
    check_update(
        &CRD,
        old,
        new,
        &[
            "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions",
        ],
    );
}

#[test]
fn the_stored_version_is_remembered() {
    let mut object = of(json!({"type": "object", "properties": {"a": {"type": "string", "format": "odd"}}}));
    crate::testing::default(&CRD, &mut object);
    CRD.prepare_for_create(&context(), &mut object);
    assert_eq!(object["status"], json!({"storedVersions": ["v1"]}));
    assert_eq!(
        object["spec"]["names"],
        json!({"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"})
    );
    assert_eq!(object["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(CRD.warnings(&object, None), ["unrecognized format \"odd\""]);
    assert_eq!(CRD.warnings(&object, Some(&object)), Vec::<String>::new());
}

const COSTLY: &str = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

#[test]
fn rules_compile_where_they_stand() {
    let at = "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0]";
    let ruled = |rule: Value| {
        field(
            json!({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string", "maxLength": 9}}, "x-kubernetes-validations": [rule]}),
        )
    };
    check(&CRD, ruled(json!({"rule": "self.n > 5", "messageExpression": "'not ' + self.s"})), &[]);
    check(&CRD, ruled(json!({"rule": " "})), &[&format!("{at}.rule: Required value: rule is not specified")]);
    check(
        &CRD,
        ruled(json!({"rule": "self.m < 5"})),
        &[&format!(
            "{at}.rule: Invalid value: {{\"Rule\":\"self.m \\u003c 5\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}}: compilation failed: ERROR: <input>:1:5: undefined field 'm'\n | self.m < 5\n | ....^"
        )],
    );
    let shown = "{\"Rule\":\"self.n\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}";
    check(
        &CRD,
        ruled(json!({"rule": "self.n"})),
        &[&format!("{at}.rule: Invalid value: {shown}: cel expression must evaluate to a bool")],
    );
    let shown = "{\"Rule\":\"true\",\"Message\":\"\",\"MessageExpression\":\"self.n\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}";
    check(
        &CRD,
        ruled(json!({"rule": "true", "messageExpression": "self.n"})),
        &[&format!("{at}.messageExpression: Invalid value: {shown}: messageExpression must evaluate to a string")],
    );
    check(
        &CRD,
        ruled(json!({"rule": "true", "optionalOldSelf": true})),
        &[&format!("{at}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule")],
    );
    check(
        &CRD,
        ruled(json!({"rule": "true", "fieldPath": ".x", "reason": "Because"})),
        &[
            &format!(
                "{at}.reason: Unsupported value: \"Because\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", \"FieldValueInvalid\", \"FieldValueRequired\""
            ),
            &format!("{at}.fieldPath: Invalid value: \".x\": must be a valid path"),
        ],
    );
}

#[test]
fn old_selves_are_only_asked_where_they_can_be_found() {
    let list = |kind: &str| {
        let item = json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "maxLength": 5}},
            "x-kubernetes-validations": [{"rule": "self.k == oldSelf.k"}]});
        let mut list = json!({"type": "array", "maxItems": 5, "items": item, "x-kubernetes-list-type": kind});
        if kind == "map" {
            list["x-kubernetes-list-map-keys"] = json!(["k"]);
        }
        field(list)
    };
    check(&CRD, list("map"), &[]);
    let at = "spec.validation.openAPIV3Schema.properties[a]";
    check(
        &CRD,
        list("atomic"),
        &[&format!(
            "{at}.items.x-kubernetes-validations[0].rule: Invalid value: \"self.k == oldSelf.k\": oldSelf cannot be used on the uncorrelatable portion of the schema within {at}"
        )],
    );
}

#[test]
fn rules_may_not_cost_too_much() {
    let costing = |rule: &str| {
        field(json!({"type": "array", "items": {"type": "number"}, "x-kubernetes-validations": [{"rule": rule}]}))
    };
    let root = "spec.validation.openAPIV3Schema";
    let at = format!("{root}.properties[a].x-kubernetes-validations[0].rule");
    check(&CRD, costing("self.all(x, x == 0.0)"), &[]);
    check(
        &CRD,
        costing("self.all(x, self.all(y, x == y))"),
        &[
            &format!("{at}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x {COSTLY}"),
            &format!(
                "{at}: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
            ),
            &format!(
                "{root}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x {COSTLY}"
            ),
        ],
    );
    // What was taken once is let pass as long as nobody touches it.
    let dear = costing("self.all(x, x == 0.0) && self.all(x, x == 1.0)");
    check(
        &CRD,
        dear.clone(),
        &[&format!("{at}: Forbidden: estimated rule cost exceeds budget by factor of 1.258291x {COSTLY}")],
    );
    let mut new = dear.clone();
    new["spec"]["names"]["shortNames"] = json!(["f"]);
    check_update(&CRD, dear, new, &[]);
}

#[test]
fn defaults_are_values_of_their_schema() {
    let at = "spec.validation.openAPIV3Schema.properties[a]";
    check(
        &CRD,
        field(json!({"type": "string", "default": 5})),
        &[&format!("{at}.default: Invalid value: \"integer\":  in body must be of type string: \"integer\"")],
    );
    check(
        &CRD,
        field(json!({"type": "object", "default": {"n": 9}, "properties": {"n": {"type": "integer", "maximum": 5}}})),
        &[&format!("{at}.default.n: Invalid value: 9: n in body should be less than or equal to 5")],
    );
    check(
        &CRD,
        field(json!({"type": "integer", "default": 0, "x-kubernetes-validations": [{"rule": "self > 0"}]})),
        &[&format!("{at}.default: Invalid value: 0: failed rule: self > 0")],
    );
    check(
        &CRD,
        field(json!({"type": "integer", "default": 1, "x-kubernetes-validations": [{"rule": "self > 0"}]})),
        &[],
    );
    let embedded = |default: Value| {
        field(json!({"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true, "default": default}))
    };
    check(&CRD, embedded(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}})), &[]);
    check(&CRD, embedded(json!({"apiVersion": "v1"})), &[&format!("{at}.default.kind: Required value")]);
}

#[test]
fn authorities_are_certificates_once_the_kind_is_served() {
    let with = |bundle: &str, established: bool| {
        let mut definition = of(json!({"type": "object"}));
        definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
            "clientConfig": {"service": {"name": "a", "namespace": "b"}, "caBundle": bundle},
            "conversionReviewVersions": ["v1"]}});
        if established {
            definition["status"] =
                json!({"storedVersions": ["v1"], "conditions": [{"type": "Established", "status": "True"}]});
        }
        definition
    };
    check(&CRD, with("eA==", false), &[]);
    check_update(&CRD, with("", false), with("eA==", false), &[]);
    check_update(&CRD, with("eA==", true), with("eHg=", true), &[]);
    check_update(
        &CRD,
        with("", true),
        with("eA==", true),
        &[
            "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"eA==\": unable to load root certificates: unable to parse bytes as PEM block",
        ],
    );
}
