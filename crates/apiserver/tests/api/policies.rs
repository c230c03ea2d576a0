//! Policies in CEL as clients meet them: what is refused with which words, what is
//! changed, and what the status says of expressions.

use crate::server::{Answer, CONFIG_MAPS, DEPLOYMENTS, Server, config_map, deployment};
use serde_json::{Value, json};

const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const VALIDATING_BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const MUTATING_BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";

fn rule(group: &str, resource: &str) -> Value {
    json!({"operations": ["CREATE", "UPDATE"], "apiGroups": [group], "apiVersions": ["v1"], "resources": [resource]})
}

/// A policy about one resource with these other fields in its spec.
fn policy(name: &str, rule: Value, spec: Value) -> Value {
    let mut all = json!({"matchConstraints": {"resourceRules": [rule]}});
    if let (Some(all), Value::Object(spec)) = (all.as_object_mut(), spec) {
        all.extend(spec);
    }
    json!({"metadata": {"name": name}, "spec": all})
}

fn binding(name: &str, spec: Value) -> Value {
    let mut all = json!({"policyName": name});
    if let (Some(all), Value::Object(spec)) = (all.as_object_mut(), spec) {
        all.extend(spec);
    }
    json!({"metadata": {"name": format!("{name}-binding")}, "spec": all})
}

fn mutation(kind: &str, expression: &str) -> Value {
    let body = if kind == "JSONPatch" { "jsonPatch" } else { "applyConfiguration" };
    json!({"patchType": kind, body: {"expression": expression}})
}

impl Server {
    async fn validating(&self, name: &str, rule: Value, spec: Value, bound: Value) {
        self.post(VALIDATING, &policy(name, rule, spec)).await.ok();
        let mut bound = bound;
        if bound.get("validationActions").is_none() {
            bound["validationActions"] = json!(["Deny"]);
        }
        self.post(VALIDATING_BINDINGS, &binding(name, bound)).await.ok();
    }

    async fn mutating(&self, name: &str, rule: Value, spec: Value, bound: Value) {
        let mut spec = spec;
        if spec.get("reinvocationPolicy").is_none() {
            spec["reinvocationPolicy"] = "Never".into();
        }
        self.post(MUTATING, &policy(name, rule, spec)).await.ok();
        self.post(MUTATING_BINDINGS, &binding(name, bound)).await.ok();
    }

    async fn create_deployment(&self, name: &str, replicas: i64) -> Answer {
        let mut object = deployment(name);
        object["spec"]["replicas"] = replicas.into();
        self.post(DEPLOYMENTS, &object).await
    }
}

fn expect_denied(answer: &Answer, code: u16, reason: &str, message: &str) {
    let status = answer.json();
    assert_eq!((answer.code, status["reason"].as_str()), (code, Some(reason)), "{status}");
    assert_eq!(status["message"], message);
    assert!(message.ends_with(status["details"]["causes"][0]["message"].as_str().expect("a cause")), "{status}");
}

#[tokio::test]
async fn a_policy_refuses_what_its_expressions_say() {
    let server = Server::start().await;
    server
        .validating(
            "replicas.example.com",
            rule("apps", "deployments"),
            json!({"validations": [
                {"expression": "object.spec.replicas > 1", "messageExpression": "'wants replicas > 1, got ' + object.spec.replicas"},
                {"expression": "namespaceObject.metadata.name == 'default'", "message": "another namespace"},
                {"expression": "object.spec.replicas < 100", "messageExpression": "' too many: ' + string(object.spec.replicas) + ' '", "reason": "Forbidden"},
            ]}),
            json!({}),
        )
        .await;
    // A text and a number are not added, so the expression is the message.
    expect_denied(
        &server.create_deployment("one", 1).await,
        422,
        "Invalid",
        "deployments.apps \"one\" is forbidden: ValidatingAdmissionPolicy 'replicas.example.com' with binding 'replicas.example.com-binding' denied request: failed expression: object.spec.replicas > 1",
    );
    expect_denied(
        &server.create_deployment("many", 100).await,
        403,
        "Forbidden",
        "deployments.apps \"many\" is forbidden: ValidatingAdmissionPolicy 'replicas.example.com' with binding 'replicas.example.com-binding' denied request: too many: 100",
    );
    server.create_deployment("some", 2).await.ok();
    // Neither another kind nor the same by another name is meant.
    let mut other = deployment("one");
    other["kind"] = "ReplicaSet".into();
    other["spec"]["replicas"] = 1.into();
    server.post("/apis/apps/v1/namespaces/default/replicasets", &other).await.ok();
    // An update is judged by its new object, a change of the scale only by who says so.
    let answer = server
        .patch("application/merge-patch+json", &format!("{DEPLOYMENTS}/some"), &json!({"spec": {"replicas": 1}}))
        .await;
    assert_eq!(answer.code, 422, "{}", answer.message());
    let dry = server
        .ask("POST", &format!("{DEPLOYMENTS}?dryRun=All"), &[("content-type", "application/json")], deployment_with(1))
        .await;
    assert_eq!(dry.code, 422, "a dry run is judged too");
    // The policy holds no longer than it is there.
    server.delete(&format!("{VALIDATING}/replicas.example.com")).await.ok();
    server.create_deployment("one", 1).await.ok();
}

fn deployment_with(replicas: i64) -> String {
    let mut object = deployment("dry");
    object["spec"]["replicas"] = replicas.into();
    object.to_string()
}

#[tokio::test]
async fn expressions_refer_to_variables() {
    let server = Server::start().await;
    server
        .validating(
            "odd",
            rule("apps", "deployments"),
            json!({
                "variables": [
                    {"name": "replicas", "expression": "object.spec.replicas"},
                    {"name": "odd", "expression": "variables.replicas % 2 == 1"},
                ],
                "matchConditions": [{"name": "not-exempt", "expression": "!('exempt' in object.metadata.?labels.orValue({}))"}],
                "validations": [{"expression": "variables.replicas > 1"}, {"expression": "variables.odd"}],
            }),
            json!({}),
        )
        .await;
    assert_eq!(server.create_deployment("one", 1).await.code, 422);
    let two = server.create_deployment("two", 2).await;
    assert!(two.message().ends_with("denied request: failed expression: variables.odd"), "{}", two.message());
    server.create_deployment("three", 3).await.ok();
    let mut exempt = deployment("exempt");
    exempt["metadata"]["labels"] = json!({"exempt": "yes"});
    exempt["spec"]["replicas"] = 2.into();
    server.post(DEPLOYMENTS, &exempt).await.ok();
}

#[tokio::test]
async fn bindings_say_where_and_what_follows() {
    let server = Server::start().await;
    server
        .post("/api/v1/namespaces", &json!({"metadata": {"name": "strict", "labels": {"policy": "strict"}}}))
        .await
        .ok();
    server
        .validating(
            "warns",
            rule("", "configmaps"),
            json!({"validations": [{"expression": "size(object.data) > 1", "message": "too little"}]}),
            json!({"validationActions": ["Warn", "Audit"], "matchResources": {
                "namespaceSelector": {"matchLabels": {"policy": "strict"}}}}),
        )
        .await;
    let warning = |answer: &Answer| answer.headers.get("warning").map(|text| text.to_str().expect("text").to_owned());
    let elsewhere = server.post(CONFIG_MAPS, &config_map("a")).await;
    assert_eq!((elsewhere.code, warning(&elsewhere)), (201, None));
    let there = server.post("/api/v1/namespaces/strict/configmaps", &config_map("a")).await;
    assert_eq!(there.code, 201);
    assert_eq!(
        warning(&there).expect("a warning"),
        "299 - \"Validation failed for ValidatingAdmissionPolicy 'warns' with binding 'warns-binding': too little\""
    );
}

#[tokio::test]
async fn failures_refuse_unless_the_policy_says_otherwise() {
    let server = Server::start().await;
    let broken = |policy: &str| json!({"failurePolicy": policy, "validations": [{"expression": "object.nope == 1"}]});
    server.validating("lenient", rule("", "configmaps"), broken("Ignore"), json!({})).await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    server.validating("strict", rule("", "configmaps"), broken("Fail"), json!({})).await;
    expect_denied(
        &server.post(CONFIG_MAPS, &config_map("b")).await,
        422,
        "Invalid",
        "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'strict' with binding 'strict-binding' denied request: expression 'object.nope == 1' resulted in error: no such key: nope",
    );
}

#[tokio::test]
async fn parameters_are_objects_of_any_kind() {
    let server = Server::start().await;
    let limit = |name: &str, most: &str| json!({"metadata": {"name": name, "labels": {"role": "limit"}}, "data": {"most": most}});
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "validations": [{
            "expression": "object.spec.replicas <= int(params.data.most)",
            "messageExpression": "'at most ' + params.data.most + ' by ' + params.metadata.name + ' of ' + params.kind",
        }],
    });
    let by_name = json!({"paramRef": {"name": "limit", "parameterNotFoundAction": "Deny"}});
    server.validating("limits", rule("apps", "deployments"), spec, by_name).await;
    let absent = server.create_deployment("a", 3).await;
    assert!(
        absent.message().ends_with("with binding 'limits-binding' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"),
        "{}",
        absent.message()
    );
    server.post(CONFIG_MAPS, &limit("limit", "2")).await.ok();
    let refused = server.create_deployment("a", 3).await;
    assert!(refused.message().ends_with("denied request: at most 2 by limit of ConfigMap"), "{}", refused.message());
    let path = format!("{CONFIG_MAPS}/limit");
    server.patch("application/merge-patch+json", &path, &json!({"data": {"most": "5"}})).await.ok();
    server.create_deployment("a", 3).await.ok();

    // By selector, the policy is asked with each that is found.
    let path = format!("{VALIDATING_BINDINGS}/limits-binding");
    let select = json!({"spec": {"paramRef": {"name": null, "namespace": "default", "parameterNotFoundAction": "Allow",
        "selector": {"matchLabels": {"role": "limit"}}}}});
    server.patch("application/merge-patch+json", &path, &select).await.ok();
    server.post(CONFIG_MAPS, &limit("tighter", "1")).await.ok();
    let refused = server.create_deployment("b", 3).await;
    assert!(refused.message().ends_with("at most 1 by tighter of ConfigMap"), "{}", refused.message());
    for name in ["limit", "tighter"] {
        server.delete(&format!("{CONFIG_MAPS}/{name}")).await.ok();
    }
    server.create_deployment("b", 300).await.ok();
}

#[tokio::test]
async fn a_parameter_kind_that_is_not_served_is_an_error() {
    let server = Server::start().await;
    let spec = json!({"paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"},
        "validations": [{"expression": "true"}]});
    server.validating("unknown", rule("", "configmaps"), spec, json!({})).await;
    expect_denied(
        &server.post(CONFIG_MAPS, &config_map("a")).await,
        422,
        "Invalid",
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'unknown' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'",
    );
}

#[tokio::test]
async fn policies_never_judge_policies() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("old")).await.ok();
    let everything = json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]});
    server.validating("never", everything, json!({"validations": [{"expression": "false"}]}), json!({})).await;
    assert_eq!(server.post(CONFIG_MAPS, &config_map("a")).await.code, 422);
    assert_eq!(server.delete(&format!("{CONFIG_MAPS}/old")).await.code, 422, "what goes is judged too");
    let review = json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}});
    server.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review).await.ok();
    server.delete(&format!("{VALIDATING_BINDINGS}/never-binding")).await.ok();
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
}

#[tokio::test]
async fn expressions_ask_what_the_user_may_do() {
    let server = Server::start().await;
    let spec = json!({"validations": [
        {"expression": "authorizer.requestResource.check('update').allowed() && request.userInfo.username == 'admin'"},
        {"expression": "!authorizer.serviceAccount('default', 'nobody').requestless('x')"},
    ]});
    let refused = server.post(VALIDATING, &policy("bad", rule("", "configmaps"), spec)).await;
    assert_eq!(refused.code, 422);
    assert!(
        refused.message().contains("spec.validations[1].expression: Invalid value")
            && refused.message().contains("compilation failed: ERROR: <input>:1:"),
        "{}",
        refused.message()
    );
    let spec = json!({"validations": [
        {"expression": "authorizer.requestResource.check('update').allowed() && request.userInfo.username == 'admin'"},
        {"expression": "authorizer.serviceAccount('default', 'nobody').group('').resource('configmaps').namespace('default').check('get').allowed()"},
    ]});
    server.validating("asks", rule("", "configmaps"), spec, json!({})).await;
    let refused = server.post(CONFIG_MAPS, &config_map("a")).await;
    assert!(refused.message().contains("failed expression: authorizer.serviceAccount"), "{}", refused.message());
}

/// The status of a policy once its present generation was type checked.
async fn checked(server: &Server, name: &str) -> Value {
    let path = format!("{VALIDATING}/{name}");
    let mut events = server.watch(&format!("{VALIDATING}?watch=true&fieldSelector=metadata.name={name}")).await;
    loop {
        let object = server.get(&path).await.ok();
        if object["status"]["observedGeneration"] == object["metadata"]["generation"] {
            return object;
        }
        events.next().await.expect("an event");
    }
}

#[tokio::test]
async fn types_are_checked_and_the_status_tells() {
    let server = Server::start().await;
    let good = json!({"validations": [{"expression": "object.spec.replicas > 1"}]});
    server.post(VALIDATING, &policy("good", rule("apps", "deployments"), good)).await.ok();
    let status = checked(&server, "good").await["status"].clone();
    assert_eq!(status, json!({"observedGeneration": 1, "typeChecking": {}}));
    let confused = json!({"validations": [{
        "expression": "object.spec.replicas > '1'", "messageExpression": "'got ' + object.spec.replicas"}]});
    server.post(VALIDATING, &policy("confused", rule("apps", "deployments"), confused)).await.ok();
    let object = checked(&server, "confused").await;
    assert_eq!(
        object["status"]["typeChecking"]["expressionWarnings"],
        json!([
            {"fieldRef": "spec.validations[0].expression", "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n"},
            {"fieldRef": "spec.validations[0].messageExpression", "warning": "apps/v1, Kind=Deployment: ERROR: <input>:1:8: found no matching overload for '_+_' applied to '(string, int)'\n | 'got ' + object.spec.replicas\n | .......^\n"},
        ])
    );
    let managers: Vec<&str> = object["metadata"]["managedFields"]
        .as_array()
        .expect("managed fields")
        .iter()
        .filter_map(|entry| entry["manager"].as_str())
        .collect();
    assert!(managers.contains(&"validatingadmissionpolicy-status"), "{managers:?}");
    // A new generation is checked again.
    let mended = json!({"spec": {"validations": [{"expression": "object.spec.replicas > 1"}]}});
    server.patch("application/merge-patch+json", &format!("{VALIDATING}/confused"), &mended).await.ok();
    let status = checked(&server, "confused").await["status"].clone();
    assert_eq!(status["observedGeneration"], 2);
    assert_eq!(status["typeChecking"]["expressionWarnings"], Value::Null);
}

#[tokio::test]
async fn a_mutating_policy_changes_what_is_written() {
    let server = Server::start().await;
    let apply = |expression: &str| json!({"mutations": [mutation("ApplyConfiguration", expression)]});
    server
        .mutating(
            "annotates",
            rule("apps", "deployments"),
            apply("\n\tObject{\n\t\tmetadata: Object.metadata{\n\t\t\tannotations: {\n\t\t\t\t\"mutated-by\": \"admission-policy\"\n\t\t\t}\n\t\t}\n\t}"),
            json!({}),
        )
        .await;
    server
        .mutating("scales", rule("apps", "deployments"), apply("Object{spec: Object.spec{replicas: 1337}}"), json!({}))
        .await;
    let created = server.create_deployment("a", 1).await.ok();
    assert_eq!(created["metadata"]["annotations"]["mutated-by"], "admission-policy");
    assert_eq!(created["spec"]["replicas"], 1337);
    let path = format!("{DEPLOYMENTS}/a");
    let patched = server.patch("application/merge-patch+json", &path, &json!({"spec": {"replicas": 2}})).await.ok();
    assert_eq!(patched["spec"]["replicas"], 1337, "an update is changed too");
    server.delete(&path).await.ok();
}

#[tokio::test]
async fn a_mutating_policy_patches_with_parameters_and_variables() {
    let server = Server::start().await;
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "variables": [{"name": "images", "expression": "object.spec.template.spec.containers.map(c, c.image)"}],
        "matchConditions": [{"name": "has-none", "expression": "!has(object.metadata.annotations)"}],
        "mutations": [
            mutation("JSONPatch", "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'example.com/first': variables.images[0]}}]"),
            mutation("JSONPatch", "[JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('example.com/second'), value: params.data.key}]"),
            mutation("JSONPatch", "[JSONPatch{op: 'test', path: '/spec/replicas', value: 99}, JSONPatch{op: 'replace', path: '/spec/replicas', value: 7}]"),
        ],
    });
    let bound = json!({"paramRef": {"name": "params", "namespace": "default", "parameterNotFoundAction": "Allow"}});
    server.mutating("patches", rule("apps", "deployments"), spec, bound).await;
    let without = server.create_deployment("a", 1).await.ok();
    assert_eq!(without["metadata"]["annotations"], Value::Null, "without parameters it is not asked");
    server.post(CONFIG_MAPS, &config_map("params")).await.ok();
    let created = server.create_deployment("b", 1).await.ok();
    assert_eq!(
        created["metadata"]["annotations"],
        json!({"example.com/first": "web:1", "example.com/second": "value"})
    );
    assert_eq!(created["spec"]["replicas"], 1);
}

#[tokio::test]
async fn a_mutation_that_fails_refuses_unless_the_policy_says_otherwise() {
    let server = Server::start().await;
    let spec = |policy: &str, expression: &str| json!({"failurePolicy": policy, "mutations": [mutation("ApplyConfiguration", expression)]});
    let atomic = "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}";
    server.mutating("atomic", rule("apps", "deployments"), spec("Fail", atomic), json!({})).await;
    let answer = server.create_deployment("a", 1).await;
    let status = answer.json();
    assert_eq!((answer.code, status["reason"].as_str()), (403, Some("Invalid")), "{status}");
    assert_eq!(
        status["message"],
        "policy 'atomic' with binding 'atomic-binding' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector"
    );
    assert_eq!(status["details"]["causes"], json!([{"message": status["message"]}]));
    let path = format!("{MUTATING}/atomic");
    server.patch("application/merge-patch+json", &path, &json!({"spec": {"failurePolicy": "Ignore"}})).await.ok();
    server.create_deployment("a", 1).await.ok();
}

#[tokio::test]
async fn a_policy_sees_what_later_ones_changed_if_it_asks() {
    let server = Server::start().await;
    // `a` counts labels, `b` adds one; only with another round does `a` see it.
    let count = "Object{metadata: Object.metadata{annotations: {'count': string(size(object.metadata.labels))}}}";
    let spec = |reinvocation: &str, expression: &str| json!({"reinvocationPolicy": reinvocation, "mutations": [mutation("ApplyConfiguration", expression)]});
    server.mutating("a", rule("", "configmaps"), spec("IfNeeded", count), json!({})).await;
    let add = "Object{metadata: Object.metadata{labels: {'added': 'yes'}}}";
    server.mutating("b", rule("", "configmaps"), spec("Never", add), json!({})).await;
    let labelled = |name: &str| json!({"metadata": {"name": name, "labels": {"x": "y"}}});
    let created = server.post(CONFIG_MAPS, &labelled("seen")).await.ok();
    assert_eq!(created["metadata"]["annotations"]["count"], "2");
    let path = format!("{MUTATING}/a");
    server.patch("application/merge-patch+json", &path, &json!({"spec": {"reinvocationPolicy": "Never"}})).await.ok();
    let created = server.post(CONFIG_MAPS, &labelled("unseen")).await.ok();
    assert_eq!(created["metadata"]["annotations"]["count"], "1");
}

#[tokio::test]
async fn what_a_policy_makes_of_a_write_is_validated() {
    let server = Server::start().await;
    let patch = "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'bad key': 'x'}}]";
    server
        .mutating("bad", rule("", "configmaps"), json!({"mutations": [mutation("JSONPatch", patch)]}), json!({}))
        .await;
    let answer = server.post(CONFIG_MAPS, &config_map("a")).await;
    assert_eq!(answer.code, 422);
    assert!(answer.message().contains("metadata.labels: Invalid value: \"bad key\""), "{}", answer.message());
}
