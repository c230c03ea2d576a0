//! Admission webhooks, asked over real TLS on loopback.

use crate::custom_resources::{WIDGETS, widget, widgets};
use crate::hook_server::{HookServer, Reply, allow, deny, patch};
use crate::loopback::eventually;
use crate::server::{CONFIG_MAPS, PODS, Server, config_map, pod};
use http::StatusCode;
use serde_json::{Value, json};

pub const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
pub const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/// One entry of `webhooks` about config maps, with more or other fields.
pub fn hook(server: &HookServer, name: &str, more: Value) -> Value {
    let mut hook = json!({
        "name": format!("{name}.example.com"), "clientConfig": server.client_config("/"),
        "admissionReviewVersions": ["v1"], "sideEffects": "None",
        "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["configmaps"]}],
    });
    if let (Value::Object(hook), Value::Object(more)) = (&mut hook, more) {
        hook.extend(more);
    }
    hook
}

pub async fn configure(server: &Server, path: &str, name: &str, hooks: &[Value]) {
    let kind = if path == MUTATING { "MutatingWebhookConfiguration" } else { "ValidatingWebhookConfiguration" };
    let object = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
        "metadata": {"name": name}, "webhooks": hooks});
    server.post(path, &object).await.ok();
}

pub fn rule(operations: &[&str], resources: &[&str]) -> Value {
    json!({"rules": [{"operations": operations, "apiGroups": ["*"], "apiVersions": ["*"], "resources": resources}]})
}

#[tokio::test]
async fn a_write_is_denied_with_the_hooks_own_words() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(|review| {
        let object = &review["request"]["object"];
        match object["data"]["key"].as_str() {
            Some("value") => deny(review, json!({"message": "not this value", "code": 418, "reason": "Teapot"})),
            _ => allow(review),
        }
    })
    .await;
    configure(&server, VALIDATING, "a", &[hook(&hooks, "deny", json!({}))]).await;
    let answer = server.post(CONFIG_MAPS, &config_map("x")).await;
    assert_eq!(
        (answer.code, answer.message().as_str(), answer.json()["reason"].as_str()),
        (418, "admission webhook \"deny.example.com\" denied the request: not this value", Some("Teapot"))
    );
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/x")).await.code, 404);
    let mut other = config_map("x");
    other["data"]["key"] = "other".into();
    server.post(CONFIG_MAPS, &other).await.ok();
    // The old object is the stored one, whatever the new one claims.
    let change = json!({"data": {"key": "value"}});
    let answer = server.patch("application/merge-patch+json", &format!("{CONFIG_MAPS}/x"), &change).await;
    assert_eq!(answer.code, 418);
    let seen = hooks.requests();
    let last = seen.last().expect("asked");
    assert_eq!((&last["operation"], &last["oldObject"]["data"]["key"]), (&json!("UPDATE"), &json!("other")));
    assert_eq!(last["options"]["kind"], "UpdateOptions");
    assert_eq!((&last["name"], &last["namespace"]), (&json!("x"), &json!("default")));
    assert_eq!(last["userInfo"]["username"], "admin");
    assert_eq!(hooks.paths()[0], "/?timeout=10s");
}

#[tokio::test]
async fn hooks_mutate_in_the_order_of_their_configurations() {
    let server = Server::start().await;
    let hooks = HookServer::start(|path, review| {
        let object = &review["request"]["object"];
        let has = |key: &str| object["data"].get(key).is_some();
        Reply::Review(if path.starts_with("/one") {
            patch(review, json!([{"op": "add", "path": "/data/one", "value": "yes"}]))
        } else if has("one") {
            patch(review, json!([{"op": "add", "path": "/data/two", "value": "yes"}]))
        } else {
            allow(review)
        })
    })
    .await;
    let at = |path: &str| json!({"clientConfig": hooks.client_config(path)});
    configure(&server, MUTATING, "b", &[hook(&hooks, "two", at("/two"))]).await;
    configure(&server, MUTATING, "a", &[hook(&hooks, "one", at("/one"))]).await;
    let created = server.post(CONFIG_MAPS, &config_map("x")).await.ok();
    assert_eq!(created["data"], json!({"key": "value", "one": "yes", "two": "yes"}));
    // Configurations are followed as soon as they are changed, and when they are gone.
    server.delete(&format!("{MUTATING}/a")).await.ok();
    let created = server.post(CONFIG_MAPS, &config_map("y")).await.ok();
    assert_eq!(created["data"], json!({"key": "value"}));
}

#[tokio::test]
async fn what_a_hook_adds_is_defaulted_and_validated() {
    let server = Server::start().await.with_default_account().await;
    let hooks = HookServer::reviewing(|review| {
        let name = review["request"]["name"].as_str().unwrap_or_default();
        let image = if name == "bad" { json!("") } else { json!("init:1") };
        patch(
            review,
            json!([{"op": "add", "path": "/spec/initContainers",
            "value": [{"name": "init", "image": image, "unknownField": 1}]}]),
        )
    })
    .await;
    configure(&server, MUTATING, "a", &[hook(&hooks, "init", rule(&["CREATE"], &["pods"]))]).await;
    let created = server.post(PODS, &pod("good")).await.ok();
    let init = &created["spec"]["initContainers"][0];
    assert_eq!((&init["terminationMessagePolicy"], init.get("unknownField")), (&json!("File"), None));
    let refused = server.post(PODS, &pod("bad")).await;
    assert_eq!(refused.code, 422, "{}", refused.message());
    assert!(refused.message().contains("spec.initContainers[0].image: Required value"), "{}", refused.message());
}

#[tokio::test]
async fn a_hook_is_called_again_when_others_changed_the_object() {
    let server = Server::start().await;
    let hooks = HookServer::start(|path, review| {
        let count = review["request"]["object"]["data"]["count"].as_str().unwrap_or("0").parse().unwrap_or(0);
        if path.starts_with("/count") {
            let next = (count + 1).to_string();
            return Reply::Review(patch(review, json!([{"op": "add", "path": "/data/count", "value": next}])));
        }
        Reply::Review(patch(review, json!([{"op": "add", "path": "/data/late", "value": "yes"}])))
    })
    .await;
    let config =
        |path: &str, policy: &str| json!({"clientConfig": hooks.client_config(path), "reinvocationPolicy": policy});
    configure(
        &server,
        MUTATING,
        "a",
        &[
            hook(&hooks, "never", config("/count-never", "Never")),
            hook(&hooks, "again", config("/count-again", "IfNeeded")),
            hook(&hooks, "late", config("/late", "Never")),
        ],
    )
    .await;
    let created = server.post(CONFIG_MAPS, &config_map("x")).await.ok();
    let paths: Vec<String> =
        hooks.paths().iter().map(|path| path.split('?').next().unwrap_or_default().into()).collect();
    assert_eq!(paths, ["/count-never", "/count-again", "/late", "/count-again"]);
    assert_eq!((&created["data"]["count"], &created["data"]["late"]), (&json!("3"), &json!("yes")));
}

/// What becomes of a write whose hook answers in this way, and fails closed.
async fn failing(phase: &str, reply: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> String {
    let server = Server::start().await;
    let hooks = HookServer::start(move |_, review| reply(review)).await;
    configure(&server, phase, "closed", &[hook(&hooks, "broken", json!({"timeoutSeconds": 1}))]).await;
    let refused = server.post(CONFIG_MAPS, &config_map("x")).await;
    assert_eq!((refused.code, refused.json()["reason"].as_str()), (500, Some("InternalError")));
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/x")).await.code, 404, "nothing is stored");
    assert_eq!(hooks.paths().len(), 1, "asked once");
    // The same hook, when it may fail, is passed over.
    server.delete(&format!("{phase}/closed")).await.ok();
    let open = json!({"timeoutSeconds": 1, "failurePolicy": "Ignore"});
    configure(&server, phase, "open", &[hook(&hooks, "broken", open)]).await;
    server.post(CONFIG_MAPS, &config_map("x")).await.ok();
    assert_eq!(hooks.paths().len(), 2, "asked, and passed over");
    let url = &hooks.url;
    refused.message().replace(url.as_str(), "URL")
}

#[tokio::test]
async fn failures_of_a_hook_are_told_and_follow_its_policy() {
    const PREFIX: &str = "Internal error occurred: failed calling webhook \"broken.example.com\": ";
    let check = async |phase: &str, reply: fn(&Value) -> Reply, expected: &str| {
        assert_eq!(failing(phase, reply).await, format!("{PREFIX}{expected}"));
    };
    check(VALIDATING, |_| Reply::Hang, "failed to call webhook: Post \"URL/?timeout=1s\": context deadline exceeded")
        .await;
    check(
        MUTATING,
        |_| Reply::Raw(StatusCode::NOT_FOUND, &[], ""),
        "failed to call webhook: the server could not find the requested resource",
    )
    .await;
    check(
        VALIDATING,
        |_| Reply::Raw(StatusCode::OK, &[], "hello"),
        "failed to call webhook: couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value",
    )
    .await;
    check(
        MUTATING,
        |review| {
            let mut answer = allow(review);
            answer["response"]["patch"] = "W10=".into();
            Reply::Review(answer)
        },
        "received invalid webhook response: webhook returned response.patch but not response.patchType",
    )
    .await;
    check(
        VALIDATING,
        |_| Reply::Review(json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"})),
        "received invalid webhook response: webhook response was absent",
    )
    .await;
}

#[tokio::test]
async fn an_answer_to_another_question_is_no_answer() {
    let message = failing(VALIDATING, |review| {
        let mut answer = allow(review);
        answer["response"]["uid"] = "another".into();
        Reply::Review(answer)
    })
    .await;
    assert!(message.contains("received invalid webhook response: expected response.uid=\""), "{message}");
    assert!(message.ends_with("\", got \"another\""), "{message}");
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_asked() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(allow).await;
    let other = HookServer::reviewing(allow).await;
    let config = json!({"clientConfig": {"url": hooks.url, "caBundle": other.ca_bundle}});
    configure(&server, VALIDATING, "a", &[hook(&hooks, "x", config)]).await;
    let refused = server.post(CONFIG_MAPS, &config_map("x")).await;
    assert_eq!(
        refused.message().replace(&hooks.url, "URL"),
        "Internal error occurred: failed calling webhook \"x.example.com\": failed to call webhook: \
         Post \"URL/?timeout=10s\": tls: failed to verify certificate: x509: certificate signed by unknown authority"
    );
    assert!(hooks.paths().is_empty());
}

#[tokio::test]
async fn a_hook_with_an_expired_certificate_is_not_asked() {
    let server = Server::start().await;
    let long_ago = jiff::Timestamp::now() - std::time::Duration::from_secs(400 * 86_400);
    let hooks = HookServer::start_certified_at(long_ago, |_, review| Reply::Review(allow(review))).await;
    configure(&server, VALIDATING, "a", &[hook(&hooks, "x", json!({}))]).await;
    let refused = server.post(CONFIG_MAPS, &config_map("x")).await;
    assert_eq!(refused.code, 500);
    let expected = "Internal error occurred: failed calling webhook \"x.example.com\": failed to call webhook: \
         Post \"URL/?timeout=10s\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: ";
    let message = refused.message().replace(&hooks.url, "URL");
    assert!(message.starts_with(expected), "{message}");
    assert!(hooks.paths().is_empty());
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/x")).await.code, 404, "nothing is stored");
    // Where the hook may fail, the cluster goes on without it.
    server.delete(&format!("{VALIDATING}/a")).await.ok();
    configure(&server, VALIDATING, "b", &[hook(&hooks, "x", json!({"failurePolicy": "Ignore"}))]).await;
    server.post(CONFIG_MAPS, &config_map("x")).await.ok();
}

#[tokio::test]
async fn a_hook_that_hangs_holds_up_nobody_else() {
    let server = std::sync::Arc::new(Server::start().await);
    let hooks = HookServer::start(|_, _| Reply::Hang).await;
    configure(&server, VALIDATING, "a", &[hook(&hooks, "slow", json!({"timeoutSeconds": 30}))]).await;
    let waiting = server.clone();
    let waiting = tokio::spawn(async move { waiting.post(CONFIG_MAPS, &config_map("x")).await.code });
    eventually("the hook is asked", || async { hooks.paths().len() == 1 }).await;
    // Whatever the hook is not about is read and written as ever.
    server.post("/api/v1/namespaces", &json!({"metadata": {"name": "other"}})).await.ok();
    server.get(CONFIG_MAPS).await.ok();
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/x")).await.code, 404);
    assert!(!waiting.is_finished());
    // It can always be taken away, and then it holds up nothing any more.
    server.delete(&format!("{VALIDATING}/a")).await.ok();
    server.post(CONFIG_MAPS, &config_map("y")).await.ok();
    waiting.abort();
}

/// What a hook makes of a ConfigMap `x` that is created, and of one that is updated, by a
/// patch that applies but lies: the codes and messages of both refusals. Nothing is stored
/// either time.
async fn lying(operations: Value) -> [(u16, String); 2] {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("old")).await.ok();
    let before = server.get(&format!("{CONFIG_MAPS}/old")).await.ok();
    let hooks = HookServer::reviewing(move |review| patch(review, operations.clone())).await;
    // It is no failure to reach the hook, so it counts for one that may fail as well.
    configure(&server, MUTATING, "a", &[hook(&hooks, "liar", json!({"failurePolicy": "Ignore"}))]).await;
    let created = server.post(CONFIG_MAPS, &config_map("x")).await;
    let change = json!({"data": {"key": "other"}});
    let updated = server.patch("application/merge-patch+json", &format!("{CONFIG_MAPS}/old"), &change).await;
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/old")).await.ok(), before);
    let secrets = server.get("/api/v1/secrets").await.ok();
    assert_eq!(secrets["items"], json!([]));
    let maps = server.get("/api/v1/configmaps").await.ok();
    let mut names: Vec<&str> =
        maps["items"].as_array().expect("items").iter().filter_map(|map| map["metadata"]["name"].as_str()).collect();
    names.retain(|name| ["x", "old", "another"].contains(name));
    assert_eq!(names, ["old"], "nothing but what was there");
    // The server goes on, with and without the hook.
    server.delete(&format!("{MUTATING}/a")).await.ok();
    server.post(CONFIG_MAPS, &config_map("x")).await.ok();
    [(created.code, created.message()), (updated.code, updated.message())]
}

#[tokio::test]
async fn a_patch_that_makes_no_object_of_the_kind_is_refused() {
    for operations in [
        json!([{"op": "replace", "path": "/data", "value": "text"}]),
        json!([{"op": "replace", "path": "/data/key", "value": {"deep": 1}}]),
        json!([{"op": "replace", "path": "", "value": []}]),
        json!([{"op": "replace", "path": "", "value": "text"}]),
        json!([{"op": "replace", "path": "/metadata", "value": 7}]),
        json!([{"op": "add", "path": "/metadata/labels", "value": ["a"]}]),
        json!([{"op": "add", "path": "/metadata/deletionTimestamp", "value": "yesterday"}]),
        json!([{"op": "replace", "path": "/kind", "value": "Secret"}]),
        json!([{"op": "replace", "path": "/kind", "value": "Nonsense"}]),
        json!([{"op": "replace", "path": "/apiVersion", "value": "v2"}]),
    ] {
        for (code, message) in lying(operations.clone()).await {
            assert_eq!(code, 500, "{operations}: {message}");
            assert!(message.starts_with("Internal error occurred: "), "{operations}: {message}");
        }
    }
}

#[tokio::test]
async fn a_patch_that_makes_another_object_is_refused() {
    let [created, updated] = lying(json!([{"op": "add", "path": "/metadata/namespace", "value": "kube-system"}])).await;
    assert_eq!(
        created,
        (400, "the namespace of the provided object does not match the namespace sent on the request".into())
    );
    assert_eq!(updated.0, 400, "{}", updated.1);
    // A server that answers with nothing at all leaves nothing to be stored.
    for (code, message) in lying(json!([{"op": "replace", "path": "", "value": {}}])).await {
        assert!((400..=500).contains(&code) && !message.is_empty(), "{code} {message}");
    }

    let server = Server::start().await;
    let old = server.post(CONFIG_MAPS, &config_map("old")).await.ok();
    let lies = [
        ("name", json!("another"), "metadata.name: Invalid value: \"another\": field is immutable"),
        ("uid", json!("another"), "metadata.uid: Invalid value: \"another\": field is immutable"),
    ];
    for (field, value, why) in lies {
        let operations = json!([{"op": "replace", "path": format!("/metadata/{field}"), "value": value}]);
        let hooks = HookServer::reviewing(move |review| patch(review, operations.clone())).await;
        configure(&server, MUTATING, field, &[hook(&hooks, "liar", json!({}))]).await;
        let change = json!({"data": {"key": "other"}});
        let refused = server.patch("application/merge-patch+json", &format!("{CONFIG_MAPS}/old"), &change).await;
        assert!(refused.message().contains(why), "{field}: {} {}", refused.code, refused.message());
        assert_eq!(server.get(&format!("{CONFIG_MAPS}/old")).await.ok(), old);
        assert_eq!(server.get(&format!("{CONFIG_MAPS}/another")).await.code, 404);
        server.delete(&format!("{MUTATING}/{field}")).await.ok();
    }
}

#[tokio::test]
async fn a_custom_resource_stays_of_its_kind_whatever_a_hook_says() {
    let server = Server::start().await;
    server.define(&widgets()).await;
    for (field, value, why) in [
        ("kind", "Secret", "kind: Invalid value: \"Secret\""),
        ("apiVersion", "v1", "apiVersion: Invalid value: \"v1\""),
    ] {
        let operations = json!([{"op": "replace", "path": format!("/{field}"), "value": value}]);
        let hooks = HookServer::reviewing(move |review| patch(review, operations.clone())).await;
        configure(&server, MUTATING, "a", &[hook(&hooks, "liar", rule(&["CREATE"], &["widgets"]))]).await;
        let refused = server.post(WIDGETS, &widget("w", json!({"size": 1}))).await;
        assert!((400..=500).contains(&refused.code), "{field}: {}", refused.code);
        assert!(refused.message().contains(why), "{field}: {} {}", refused.code, refused.message());
        assert_eq!(server.get(&format!("{WIDGETS}/w")).await.code, 404, "nothing is stored");
        server.delete(&format!("{MUTATING}/a")).await.ok();
    }
    server.post(WIDGETS, &widget("w", json!({"size": 1}))).await.ok();
}

#[tokio::test]
async fn a_patch_that_does_not_apply_stores_nothing() {
    let server = Server::start().await;
    let hooks =
        HookServer::reviewing(|review| patch(review, json!([{"op": "replace", "path": "/nowhere/else", "value": 1}])))
            .await;
    let open = json!({"failurePolicy": "Ignore"});
    configure(&server, MUTATING, "a", &[hook(&hooks, "x", open)]).await;
    // What a hook asks for and cannot have is no failure to reach it.
    assert_eq!(server.post(CONFIG_MAPS, &config_map("x")).await.code, 500);
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/x")).await.code, 404);
}

#[tokio::test]
async fn a_dry_run_does_not_reach_a_hook_with_side_effects() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(allow).await;
    configure(&server, VALIDATING, "a", &[hook(&hooks, "none", json!({"sideEffects": "NoneOnDryRun"}))]).await;
    let dry = format!("{CONFIG_MAPS}?dryRun=All");
    server.post(&dry, &config_map("x")).await.ok();
    assert_eq!(hooks.requests()[0]["dryRun"], true);
    assert_eq!(hooks.requests()[0]["options"]["dryRun"], json!(["All"]));
    server.post(CONFIG_MAPS, &config_map("x")).await.ok();
    assert_eq!(hooks.requests()[1]["dryRun"], false);
}

#[tokio::test]
async fn warnings_and_old_reviews_are_passed_on() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(|review| {
        let mut answer = allow(review);
        answer["response"]["warnings"] = json!(["mind the gap"]);
        answer
    })
    .await;
    let old = json!({"admissionReviewVersions": ["v1beta1", "v1"]});
    configure(&server, VALIDATING, "a", &[hook(&hooks, "warn", old)]).await;
    let answer = server.post(CONFIG_MAPS, &config_map("x")).await;
    assert_eq!(answer.headers.get("warning").and_then(|v| v.to_str().ok()), Some("299 - \"mind the gap\""));
    assert_eq!(answer.code, 201);
}

#[tokio::test]
async fn conditions_decide_whether_a_hook_is_asked() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(|review| deny(review, json!({"message": "no"}))).await;
    let when = |expression: &str| json!({"matchConditions": [{"name": "c", "expression": expression}]});
    configure(&server, VALIDATING, "a", &[hook(&hooks, "x", when("object.metadata.name == 'x'"))]).await;
    assert_eq!(server.post(CONFIG_MAPS, &config_map("x")).await.code, 400);
    server.post(CONFIG_MAPS, &config_map("y")).await.ok();
    assert_eq!(hooks.requests().len(), 1);
    server.delete(&format!("{VALIDATING}/a")).await.ok();
    // A condition that cannot be evaluated refuses the write without asking.
    configure(&server, VALIDATING, "b", &[hook(&hooks, "x", when("object.data.nothing == 'x'"))]).await;
    let refused = server.post(CONFIG_MAPS, &config_map("z")).await;
    assert_eq!(refused.code, 403);
    assert!(refused.message().contains("no such key: nothing"), "{}", refused.message());
    assert_eq!(hooks.requests().len(), 1);
}

#[tokio::test]
async fn deletions_are_asked_for_one_by_one() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(|review| {
        if review["request"]["name"] == "keep" { deny(review, json!({"message": "kept"})) } else { allow(review) }
    })
    .await;
    for name in ["keep", "a", "b"] {
        server.post(CONFIG_MAPS, &config_map(name)).await.ok();
    }
    configure(&server, VALIDATING, "a", &[hook(&hooks, "x", rule(&["DELETE"], &["configmaps"]))]).await;
    let refused = server.delete(&format!("{CONFIG_MAPS}/keep")).await;
    assert_eq!(refused.message(), "admission webhook \"x.example.com\" denied the request: kept");
    let seen = &hooks.requests()[0];
    assert_eq!((&seen["object"], &seen["oldObject"]["metadata"]["name"]), (&Value::Null, &json!("keep")));
    assert_eq!(seen["options"]["kind"], "DeleteOptions");
    assert_eq!(server.delete(CONFIG_MAPS).await.code, 400);
    let mut names: Vec<Value> = hooks.requests()[1..].iter().map(|request| request["name"].clone()).collect();
    names.sort_by_key(ToString::to_string);
    assert!(names.contains(&json!("keep")), "{names:?}");
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/keep")).await.code, 200);
}

#[tokio::test]
async fn connections_to_pods_are_admitted() {
    let server = Server::start().await.with_default_account().await;
    server.post(PODS, &pod("p")).await.ok();
    let hooks = HookServer::reviewing(|review| deny(review, json!({"message": "stay out"}))).await;
    configure(&server, VALIDATING, "a", &[hook(&hooks, "x", rule(&["CONNECT"], &["pods/*"]))]).await;
    let path = format!("{PODS}/p/attach?stdin=true&stdout=1&container=web");
    let refused = server.ask("POST", &path, &[("connection", "upgrade"), ("upgrade", "SPDY/3.1")], "").await;
    assert_eq!(refused.message(), "admission webhook \"x.example.com\" denied the request: stay out");
    let seen = &hooks.requests()[0];
    assert_eq!((&seen["operation"], &seen["subResource"]), (&json!("CONNECT"), &json!("attach")));
    assert_eq!(seen["kind"], json!({"group": "", "version": "v1", "kind": "PodAttachOptions"}));
    assert_eq!(seen["resource"]["resource"], "pods");
    assert_eq!(
        seen["object"],
        json!({"kind": "PodAttachOptions", "apiVersion": "v1", "stdin": true, "stdout": true, "container": "web"})
    );
    let path = format!("{PODS}/p/exec?command=ls&command=-l");
    server.ask("GET", &path, &[("connection", "upgrade"), ("upgrade", "websocket")], "").await;
    assert_eq!(hooks.requests()[1]["object"]["command"], json!(["ls", "-l"]));
    server.get(&format!("{PODS}/p/proxy/a/b")).await;
    assert_eq!(hooks.requests()[2]["object"], json!({"kind": "PodProxyOptions", "apiVersion": "v1", "path": "/a/b"}));
}

#[tokio::test]
async fn subresources_are_shown_as_what_they_take() {
    let server = Server::start().await.with_default_account().await;
    let hooks = HookServer::reviewing(allow).await;
    let more = rule(&["*"], &["deployments/*", "pods/*", "serviceaccounts/token"]);
    configure(&server, VALIDATING, "a", &[hook(&hooks, "x", more)]).await;
    let deployments = crate::server::DEPLOYMENTS;
    server.post(deployments, &crate::server::deployment("d")).await.ok();
    let scale = json!({"spec": {"replicas": 5}});
    server.patch("application/merge-patch+json", &format!("{deployments}/d/scale"), &scale).await.ok();
    server.post(PODS, &pod("p")).await.ok();
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    server.post(&format!("{PODS}/p/binding"), &binding).await.ok();
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}});
    server.post(&format!("{PODS}/p/eviction"), &eviction).await.ok();
    // A rule for every subresource is one for the object itself, too.
    let of_subresources: Vec<Value> =
        hooks.requests().into_iter().filter(|request| request.get("subResource").is_some()).collect();
    let shown: Vec<Value> = of_subresources
        .iter()
        .map(|r| {
            json!([r["operation"], r["subResource"], r["kind"]["kind"], r["object"]["kind"], r["oldObject"]["kind"]])
        })
        .collect();
    assert_eq!(
        shown,
        [
            json!(["UPDATE", "scale", "Scale", "Scale", "Scale"]),
            json!(["CREATE", "binding", "Binding", "Binding", null]),
            json!(["CREATE", "eviction", "Eviction", "Eviction", null]),
        ]
    );
    assert_eq!(of_subresources[0]["object"]["spec"]["replicas"], 5);
    assert_eq!(of_subresources[0]["oldObject"]["spec"]["replicas"], 3);
}

#[tokio::test]
async fn a_scale_is_mutated_as_a_scale() {
    let server = Server::start().await;
    let deployments = crate::server::DEPLOYMENTS;
    server.post(deployments, &crate::server::deployment("d")).await.ok();
    let hooks =
        HookServer::reviewing(|review| patch(review, json!([{"op": "replace", "path": "/spec/replicas", "value": 2}])))
            .await;
    configure(&server, MUTATING, "a", &[hook(&hooks, "x", rule(&["UPDATE"], &["deployments/scale"]))]).await;
    let scale = json!({"spec": {"replicas": 5}});
    let scaled = server.patch("application/merge-patch+json", &format!("{deployments}/d/scale"), &scale).await.ok();
    assert_eq!(scaled["spec"]["replicas"], 2);
    assert_eq!(server.get(&format!("{deployments}/d")).await.ok()["spec"]["replicas"], 2);
}

#[tokio::test]
async fn hooks_never_see_what_configures_hooks() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(|review| deny(review, json!({"message": "mine forever"}))).await;
    configure(&server, VALIDATING, "a", &[hook(&hooks, "x", rule(&["*"], &["*/*"]))]).await;
    assert_eq!(server.post(CONFIG_MAPS, &config_map("x")).await.code, 400);
    server.delete(&format!("{VALIDATING}/a")).await.ok();
    server.post(CONFIG_MAPS, &config_map("x")).await.ok();
}

#[tokio::test]
async fn another_version_of_an_object_is_shown_in_the_hooks_own() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(|review| {
        patch(review, json!([{"op": "replace", "path": "/spec/targetCPUUtilizationPercentage", "value": 55}]))
    })
    .await;
    let mut more = rule(&["CREATE"], &["horizontalpodautoscalers"]);
    more["rules"][0]["apiVersions"] = json!(["v1"]);
    configure(&server, MUTATING, "a", &[hook(&hooks, "x", more)]).await;
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let created = server
        .post(
            path,
            &json!({"metadata": {"name": "h"}, "spec": {"maxReplicas": 3,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "metrics": [{"type": "Resource", "resource":
                {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}}),
        )
        .await
        .ok();
    let target = &created["spec"]["metrics"][0]["resource"]["target"];
    assert_eq!((&created["apiVersion"], &target["averageUtilization"]), (&json!("autoscaling/v2"), &json!(55)));
    let seen = &hooks.requests()[0];
    assert_eq!((&seen["kind"]["version"], &seen["requestKind"]["version"]), (&json!("v1"), &json!("v2")));
    assert_eq!(seen["object"]["apiVersion"], "autoscaling/v1");
}

#[tokio::test]
async fn conditions_that_do_not_compile_are_refused() {
    let server = Server::start().await;
    let hooks = HookServer::reviewing(allow).await;
    let conditions = json!({"matchConditions": [{"name": "c", "expression": "object.metadata.namespace == 'x"}]});
    let object = json!({"metadata": {"name": "a"}, "webhooks": [hook(&hooks, "x", conditions)]});
    for path in [MUTATING, VALIDATING] {
        let refused = server.post(path, &object).await;
        assert_eq!(refused.code, 422);
        assert!(refused.message().contains("compilation failed"), "{}", refused.message());
    }
}
