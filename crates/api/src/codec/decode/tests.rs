//! What clients see: the form of decoded objects and the texts of refusals.

use super::*;
use crate::schema::of_kind;
use proptest::prelude::*;
use serde_json::json;

fn kind(api_version: &str, kind: &'static str) -> GroupVersionKind {
    GroupVersion::parse(api_version).with_kind(kind)
}

fn check(api_version: &str, name: &'static str, body: &str) -> Result<Decoded, String> {
    let kind = kind(api_version, name);
    let definition = of_kind(&kind).expect("a builtin kind");
    decode(body.as_bytes(), definition, &kind).map_err(|error| error.into_status(&kind, body.as_bytes()).message)
}

#[test]
fn a_deployment_takes_upstreams_form() {
    let decoded = check(
        "apps/v1",
        "Deployment",
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":null},
            "spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},
            "template":{"metadata":{"labels":{"app":"web"},"creationTimestamp":null},"spec":{"containers":[
              {"name":"c","image":"i","resources":{"limits":{"cpu":0.5,"memory":"1024Ki"}},
               "ports":[{"containerPort":80,"name":""}],"readinessProbe":{"httpGet":{"port":"http","path":"/"}}}]}}}}"#,
    )
    .expect("a deployment");
    assert_eq!(decoded.violations, Vec::<String>::new());
    assert_eq!(
        decoded.value,
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "strategy": {},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
              {"name": "c", "image": "i", "resources": {"limits": {"cpu": "500m", "memory": "1Mi"}},
               "ports": [{"containerPort": 80}], "readinessProbe": {"httpGet": {"port": "http", "path": "/"}}}]}}},
            "status": {}})
    );
}

#[test]
fn strictness_names_fields_with_their_paths() {
    let decoded = check(
        "v1",
        "Pod",
        r#"{"foo":1,"spec":{"containers":[{"name":"a","Image":"x","name":"b"}],"nodeSelector":{"a":"1","a":"2"}},
            "spec":{"hostNetwork":true}}"#,
    )
    .expect("a pod");
    assert_eq!(decoded.unknown, ["foo", "spec.containers[0].Image"]);
    assert_eq!(decoded.duplicate, ["spec.containers[0].name", "spec.nodeSelector.a", "spec"]);
    assert_eq!(
        decoded.strict_error(&kind("v1", "Pod")).expect("an error").message,
        "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field \"foo\", \
         unknown field \"spec.containers[0].Image\", duplicate field \"spec.containers[0].name\", \
         duplicate field \"spec.nodeSelector.a\", duplicate field \"spec\""
    );
    assert_eq!(decoded.value["spec"]["containers"][0]["name"], "b", "a later spec adds to the earlier one");
    assert_eq!(decoded.value["spec"]["hostNetwork"], true);
    assert_eq!(decoded.value["spec"]["nodeSelector"]["a"], "2");
}

#[test]
fn type_errors_are_gos() {
    for (body, message) in [
        (
            r#"{"spec":{"replicas":"3"}}"#,
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":3000000000}}"#,
            "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":1.5}}"#,
            "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"template":{"spec":{"restartPolicy":1}}}}"#,
            "json: cannot unmarshal number into Go struct field PodSpec.spec.template.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":{}}}}}"#,
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":["x"]}}}}"#,
            "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
        ),
        (
            r#"{"metadata":{"labels":{"a":1}}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            r#"{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1.5}}}}"#,
            "json: cannot unmarshal number 1.5 into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            r#"{"metadata":{"creationTimestamp":"yesterday"}}"#,
            "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\"",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":"1x"}}}]}}}}"#,
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            r#"{"spec":{"template":{"spec":{"volumes":[{"emptyDir":1}]}}}}"#,
            "json: cannot unmarshal number into Go struct field Volume.spec.template.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
        ),
    ] {
        let expected = format!("Deployment in version \"v1\" cannot be handled as a Deployment: {message}");
        assert_eq!(check("apps/v1", "Deployment", body), Err(expected), "{body}");
    }
    assert_eq!(
        check("v1", "Secret", r#"{"data":{"a":"!"}}"#),
        Err("Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input byte 0".into())
    );
}

#[test]
fn bodies_that_are_no_objects_are_unrecognized() {
    assert_eq!(
        check("v1", "Pod", r#"{"kind":"Pod",}"#),
        Err("the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: \
             invalid character '}' looking for beginning of object key string ({\"kind\":\"Pod\",})"
            .into())
    );
    assert_eq!(
        check("v1", "Pod", "hello"),
        Err("the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: \
             invalid character 'h' looking for beginning of value (68656c6c6f)"
            .into())
    );
    assert!(check("v1", "Pod", r#"{"kind":1}"#).is_err_and(|message| {
        message.contains("json: cannot unmarshal number into Go struct field .kind of type string")
    }));
}

#[test]
fn another_kind_is_refused() {
    assert_eq!(
        check("v1", "Pod", r#"{"apiVersion":"v1","kind":"Service"}"#),
        Err("Service in version \"v1\" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): \
             unknown conversion"
            .into())
    );
    assert!(
        check("v1", "Pod", r#"{"apiVersion":"v1","kind":"Foo"}"#)
            .is_err_and(|message| message.contains("no kind \"Foo\" is registered for version \"v1\""))
    );
}

#[test]
fn special_types_take_their_canonical_form() {
    let decoded =
        check("coordination.k8s.io/v1", "Lease", r#"{"spec":{"renewTime":"2024-01-01T02:00:00.123456+02:00"}}"#)
            .expect("a lease");
    assert_eq!(decoded.value["spec"]["renewTime"], "2024-01-01T00:00:00.123456Z");
    let decoded = check("v1", "Secret", r#"{"data":{"a":"YQ==","b":null,"c":"Yf==","d":"Y\nQ=="}}"#).expect("a secret");
    assert_eq!(decoded.value["data"], json!({"a": "YQ==", "b": null, "c": "YQ==", "d": "YQ=="}));
    let decoded = check(
        "v1",
        "Service",
        r#"{"spec":{"ports":[{"port":80,"targetPort":"http"},{"port":81,"targetPort":8080},{"port":82}]}}"#,
    )
    .expect("a service");
    let targets: Vec<&Value> =
        decoded.value["spec"]["ports"].as_array().expect("ports").iter().map(|port| &port["targetPort"]).collect();
    assert_eq!(targets, [&json!("http"), &json!(8080), &json!(0)]);
    assert_eq!(decoded.value["status"], json!({"loadBalancer": {}}));
}

#[test]
fn schemas_of_custom_resources_are_read_whole() {
    let decoded = check(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        r#"{"spec":{"group":"g","versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":
            {"a":{"type":"array","items":{"type":"string","bogus":1}},"b":{"additionalProperties":true},
             "c":{"default":{"x":1.5},"maximum":1.0}}}}}]}}"#,
    )
    .expect("a definition");
    assert_eq!(decoded.violations, Vec::<String>::new());
    let properties = &decoded.value["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    assert_eq!(
        *properties,
        json!({"a": {"type": "array", "items": {"type": "string"}}, "b": {"additionalProperties": true},
               "c": {"default": {"x": 1.5}, "maximum": 1}})
    );
}

#[test]
fn nothing_nests_without_end() {
    let body = format!("{}{}", r#"{"spec":{"x":"#, "[".repeat(1_000_000));
    assert!(check("v1", "Pod", &body).is_err_and(|message| message.contains("exceeded max depth")));
    let schema = format!("{}{}", r#"{"not":"#.repeat(50_000), "}".repeat(50_000));
    let body = format!(r#"{{"spec":{{"versions":[{{"schema":{{"openAPIV3Schema":{schema}}}}}]}}}}"#);
    assert!(check("apiextensions.k8s.io/v1", "CustomResourceDefinition", &body).is_err());
}

#[test]
fn every_type_decodes_its_own_zero_to_itself() {
    for definition in crate::schema::builtin().iter() {
        let zero = crate::codec::zero_struct(definition);
        let decoded = decode_as(zero.to_string().as_bytes(), definition);
        let decoded = decoded.unwrap_or_else(|error| panic!("{}.{}: {error}", definition.package, definition.name));
        assert_eq!(decoded.value, zero, "{}.{}", definition.package, definition.name);
    }
}

proptest! {
    #[test]
    fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let kind = kind("v1", "Pod");
        let definition = of_kind(&kind).expect("a builtin kind");
        let _ = decode(&body, definition, &kind);
        let _ = decode_any(&body);
    }

    #[test]
    fn decoding_twice_is_decoding_once(
        name in "[a-z]{0,5}", replicas in prop::option::of(any::<i32>()), cpu in "[0-9]{1,4}(m|Mi|k)?", paused: bool,
    ) {
        let body = json!({"metadata": {"name": name}, "spec": {"replicas": replicas, "paused": paused,
            "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": cpu}}}]}}}}).to_string();
        let once = check("apps/v1", "Deployment", &body).expect("a deployment");
        let twice = check("apps/v1", "Deployment", &once.value.to_string()).expect("a deployment");
        prop_assert_eq!(once.value, twice.value);
    }
}
