//! Bad input gets a clear 4xx and changes nothing.

use crate::server::{CONFIG_MAPS, DEPLOYMENTS, Server, config_map, deployment};
use serde_json::json;

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

#[tokio::test]
async fn malformed_bodies_are_named() {
    let server = Server::start().await;
    let broken = server.ask("POST", CONFIG_MAPS, &JSON, "{not json").await;
    assert_eq!(broken.code, 400);
    assert_eq!(broken.json()["reason"], "BadRequest");
    assert!(
        broken.message().starts_with(
            "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error:"
        ),
        "{}",
        broken.message()
    );
    let yaml = server.ask("POST", CONFIG_MAPS, &[("content-type", "application/yaml")], "a: b: c: [").await;
    assert_eq!(yaml.code, 400);
    let wrong = server.ask("POST", CONFIG_MAPS, &[("content-type", "text/plain")], "x").await;
    assert_eq!(
        (wrong.code, wrong.message().as_str()),
        (
            415,
            "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
        )
    );
    let accept = server.ask("GET", CONFIG_MAPS, &[("accept", "text/html")], "").await;
    assert_eq!(
        (accept.code, accept.message().as_str()),
        (
            406,
            "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
        )
    );
    assert_eq!(server.get(CONFIG_MAPS).await.ok()["items"], json!([]));
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}});
    let table = [("content-type", "application/json"), ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    assert_eq!(server.ask("POST", reviews, &table, review.to_string()).await.code, 406);
}

#[tokio::test]
async fn unknown_fields_are_refused_warned_of_or_ignored() {
    let server = Server::start().await;
    let mut object = deployment("d");
    object["spec"]["replicaz"] = 1.into();
    let strict = server.post(&format!("{DEPLOYMENTS}?fieldValidation=Strict"), &object).await;
    assert_eq!(
        (strict.code, strict.message().as_str()),
        (
            400,
            "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: unknown field \"spec.replicaz\""
        )
    );
    let warned = server.post(&format!("{DEPLOYMENTS}?fieldValidation=Warn&dryRun=All"), &object).await;
    assert_eq!(warned.code, 201);
    assert_eq!(warned.headers["warning"], "299 - \"unknown field \\\"spec.replicaz\\\"\"");
    let ignored = server.post(&format!("{DEPLOYMENTS}?fieldValidation=Ignore"), &object).await;
    assert_eq!(ignored.code, 201);
    assert!(ignored.headers.get("warning").is_none());
    assert!(ignored.json()["spec"].get("replicaz").is_none());
    let nonsense = server.post(&format!("{DEPLOYMENTS}?fieldValidation=Sometimes"), &object).await;
    assert_eq!(
        (nonsense.code, nonsense.message().as_str()),
        (
            422,
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Sometimes\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""
        )
    );
}

#[tokio::test]
async fn wrong_types_and_kinds_are_refused() {
    let server = Server::start().await;
    let mut object = deployment("d");
    object["spec"]["replicas"] = "three".into();
    let wrong = server.post(DEPLOYMENTS, &object).await;
    assert_eq!(wrong.code, 400);
    assert!(
        wrong.message().starts_with("Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field"),
        "{}",
        wrong.message()
    );
    let kind = server.post(DEPLOYMENTS, &config_map("a")).await;
    assert_eq!(kind.code, 400);
    let missing = server.post(DEPLOYMENTS, &json!({"metadata": {"name": "d"}, "spec": {}})).await;
    assert_eq!(missing.code, 422);
    let causes = missing.json()["details"]["causes"].as_array().cloned().unwrap_or_default();
    assert!(causes.iter().any(|cause| cause["field"] == "spec.selector"), "{causes:?}");
    assert!(causes.iter().any(|cause| cause["field"] == "spec.template.spec.containers"), "{causes:?}");
}

#[tokio::test]
async fn immutable_fields_stay() {
    let server = Server::start().await;
    let mut created = server.post(DEPLOYMENTS, &deployment("d")).await.ok();
    created["spec"]["selector"]["matchLabels"]["app"] = "other".into();
    created["spec"]["template"]["metadata"]["labels"]["app"] = "other".into();
    let refused = server.put(&format!("{DEPLOYMENTS}/d"), &created).await;
    assert_eq!(refused.code, 422);
    assert!(refused.message().contains("spec.selector: Invalid value"), "{}", refused.message());
    assert!(refused.message().ends_with("field is immutable"), "{}", refused.message());
}

#[tokio::test]
async fn names_follow_their_rules() {
    let server = Server::start().await;
    let refused = server.post(CONFIG_MAPS, &config_map("Not_A_Name")).await;
    assert_eq!(refused.code, 422);
    assert!(
        refused.message().starts_with(
            "ConfigMap \"Not_A_Name\" is invalid: metadata.name: Invalid value: \"Not_A_Name\": a lowercase RFC 1123 subdomain"
        ),
        "{}",
        refused.message()
    );
    let mut labels = config_map("a");
    labels["metadata"]["labels"] = json!({"a": "not a value"});
    let refused = server.post(CONFIG_MAPS, &labels).await;
    assert_eq!(refused.code, 422);
    assert!(refused.message().contains("metadata.labels: Invalid value: \"not a value\""), "{}", refused.message());
}

#[tokio::test]
async fn urls_that_lead_nowhere_say_so() {
    let server = Server::start().await;
    for path in [
        "/api/v1/nonsense",
        "/apis/nonsense/v1/things",
        "/nonsense",
        "/api/v2/pods",
        "/api/v1/namespaces/default/nodes",
    ] {
        let answer = server.get(path).await;
        assert_eq!(
            (answer.code, answer.message().as_str()),
            (404, "the server could not find the requested resource"),
            "{path}"
        );
    }
    for (method, path) in
        [("POST", "/api/v1/pods"), ("DELETE", "/api/v1/namespaces"), ("PUT", CONFIG_MAPS), ("POST", "/version")]
    {
        let answer = server.ask(method, path, &JSON, "{}").await;
        assert_eq!(
            (answer.code, answer.message().as_str()),
            (405, "the server does not allow this method on the requested resource"),
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn selectors_that_cannot_be_read_are_refused() {
    let server = Server::start().await;
    let labels = server.get(&format!("{CONFIG_MAPS}?labelSelector=a%20in%20b")).await;
    assert_eq!(labels.code, 400, "{}", labels.message());
    let fields = server.get(&format!("{CONFIG_MAPS}?fieldSelector=spec.x%3D1")).await;
    assert_eq!(fields.code, 400);
    let pods = server.get("/api/v1/pods?fieldSelector=spec.x%3D1").await;
    assert_eq!((pods.code, pods.message().as_str()), (400, "field label not supported: spec.x"));
    let version = server.get(&format!("{CONFIG_MAPS}?resourceVersion=abc")).await;
    assert_eq!(version.code, 400, "{}", version.message());
    let limit = server.get(&format!("{CONFIG_MAPS}?limit=abc")).await;
    assert_eq!(limit.code, 400);
}

#[tokio::test]
async fn the_largest_numbers_a_client_can_name_end_no_request_in_a_panic() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    for number in ["9223372036854775807", "-9223372036854775808", "18446744073709551615", "0", "-1"] {
        // A watch that is to last for ever begins like any other, and the server lives on.
        let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds={number}");
        let is_number = number.parse::<i64>().is_ok();
        if is_number {
            let mut events = server.watch(&path).await;
            assert_eq!(events.next().await.expect("an event")["type"], "ADDED", "timeoutSeconds={number}");
        } else {
            assert_eq!(server.get(&path).await.code, 400, "{path}");
        }
        for query in [
            format!("limit={number}"),
            format!("limit=1&timeoutSeconds={number}"),
            format!("resourceVersion=0&timeoutSeconds={number}"),
        ] {
            let code = server.get(&format!("{CONFIG_MAPS}?{query}")).await.code;
            assert!(code == 200 || code == 400 && (!is_number || number.starts_with('-')), "{query}: {code}");
        }
        for query in [format!("resourceVersion={number}"), format!("resourceVersion={number}&watch=1")] {
            let code = server.get(&format!("{CONFIG_MAPS}?{query}&timeoutSeconds=1")).await.code;
            assert!(code != 500, "{query}: {code}");
        }
        let path = format!("{CONFIG_MAPS}/a?gracePeriodSeconds={number}&dryRun=All");
        let code = server.delete(&path).await.code;
        assert!(code == 200 || !is_number && code == 400, "{path}: {code}");
    }
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/a")).await.code, 200);
}

#[tokio::test]
async fn a_create_with_a_resource_version_that_is_no_number_is_not_a_server_error() {
    let server = Server::start().await;
    for (name, version, code) in
        [("a", "abc", 201), ("b", "-1", 201), ("c", "99999999999999999999", 201), ("d", "0", 201), ("e", "7", 500)]
    {
        let mut object = config_map(name);
        object["metadata"]["resourceVersion"] = version.into();
        let answer = server.post(CONFIG_MAPS, &object).await;
        assert_eq!(answer.code, code, "{version}: {}", answer.message());
        if code == 201 {
            assert_ne!(answer.json()["metadata"]["resourceVersion"], version);
        } else {
            assert_eq!(answer.message(), "resourceVersion should not be set on objects to be created");
        }
    }
}
