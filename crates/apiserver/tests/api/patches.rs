//! The four kinds of patch.

use crate::server::{CONFIG_MAPS, DEPLOYMENTS, Server, config_map, deployment};
use serde_json::{Value, json};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

#[tokio::test]
async fn json_merge_and_strategic_patches_change_what_they_say() {
    let server = Server::start().await;
    server.post(DEPLOYMENTS, &deployment("d")).await.ok();
    let path = format!("{DEPLOYMENTS}/d");
    let patch = json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]);
    assert_eq!(server.patch(JSON_PATCH, &path, &patch).await.ok()["spec"]["replicas"], 7);
    let patch = json!({"metadata": {"annotations": {"a": "b"}}, "spec": {"replicas": null}});
    let merged = server.patch(MERGE, &path, &patch).await.ok();
    assert_eq!((&merged["metadata"]["annotations"]["a"], &merged["spec"]["replicas"]), (&json!("b"), &json!(1)));
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}}});
    let strategic = server.patch(STRATEGIC, &path, &patch).await.ok();
    let containers = strategic["spec"]["template"]["spec"]["containers"].as_array().expect("containers").clone();
    let mut names: Vec<&str> = containers.iter().filter_map(|container| container["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["side", "web"]);
}

#[tokio::test]
async fn patches_that_cannot_be_carried_out_are_refused() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let absent = server.patch(MERGE, &format!("{CONFIG_MAPS}/b"), &json!({})).await;
    assert_eq!((absent.code, absent.message().as_str()), (404, "configmaps \"b\" not found"));
    let wrong = server.patch("application/json", &path, &json!({})).await;
    assert_eq!(
        (wrong.code, wrong.message().as_str()),
        (
            415,
            "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"
        )
    );
    let test = server.patch(JSON_PATCH, &path, &json!([{"op": "test", "path": "/data/key", "value": "no"}])).await;
    assert_eq!(test.code, 422);
    let stale = server.patch(MERGE, &path, &json!({"metadata": {"resourceVersion": "1"}, "data": {"x": "y"}})).await;
    assert_eq!(stale.code, 409);
    let renamed = server.patch(MERGE, &path, &json!({"metadata": {"name": "b"}})).await;
    assert_eq!(renamed.code, 400);
    let mistyped = server.patch(MERGE, &path, &json!({"data": {"x": 1}})).await;
    assert_eq!(mistyped.code, 422, "{}", mistyped.message());
}

#[tokio::test]
async fn apply_creates_owns_and_conflicts() {
    let server = Server::start().await;
    let path = format!("{CONFIG_MAPS}/a");
    let config =
        |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data});
    let nameless = server.patch(APPLY, &path, &config(json!({}))).await;
    assert_eq!(
        (nameless.code, nameless.message().as_str()),
        (422, "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch")
    );
    let created = server.patch(APPLY, &format!("{path}?fieldManager=one"), &config(json!({"a": "1", "b": "1"}))).await;
    assert_eq!(created.code, 201);
    let same = server.patch(APPLY, &format!("{path}?fieldManager=one"), &config(json!({"a": "1", "b": "1"}))).await;
    assert_eq!((same.code, same.json()), (200, created.json()), "applying the same again changes nothing");
    let conflict = server.patch(APPLY, &format!("{path}?fieldManager=two"), &config(json!({"a": "2"}))).await;
    assert_eq!(
        (conflict.code, conflict.message().as_str()),
        (409, "Apply failed with 1 conflict: conflict with \"one\": .data.a")
    );
    let forced =
        server.patch(APPLY, &format!("{path}?fieldManager=two&force=true"), &config(json!({"a": "2"}))).await.ok();
    assert_eq!(forced["data"], json!({"a": "2", "b": "1"}));
    // What a manager no longer names and nobody else has goes away.
    let dropped = server.patch(APPLY, &format!("{path}?fieldManager=one"), &config(json!({}))).await.ok();
    assert_eq!(dropped["data"], json!({"a": "2"}));
}

#[tokio::test]
async fn whoever_creates_by_apply_must_be_allowed_to_create() {
    let server = Server::start().await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let role = json!({
        "metadata": {"name": "patcher"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch"]}],
    });
    server.post(&format!("{rbac}/roles"), &role).await.ok();
    let binding = json!({
        "metadata": {"name": "patcher"},
        "subjects": [{"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"kind": "Role", "name": "patcher", "apiGroup": "rbac.authorization.k8s.io"},
    });
    server.post(&format!("{rbac}/rolebindings"), &binding).await.ok();
    let config = config_map("a").to_string();
    let headers = [("content-type", APPLY), ("impersonate-user", "bob")];
    let url = format!("{CONFIG_MAPS}/a?fieldManager=bob");
    let refused = server.ask("PATCH", &url, &headers, config.clone()).await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (
            403,
            "configmaps \"a\" is forbidden: User \"bob\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"default\""
        )
    );
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    assert_eq!(server.ask("PATCH", &url, &headers, config).await.code, 200);
}

#[tokio::test]
async fn apply_is_strict_about_unknown_fields() {
    let server = Server::start().await;
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndate:\n  x: y\n";
    let url = format!("{CONFIG_MAPS}/a?fieldManager=me&fieldValidation=Strict");
    let refused = server.ask("PATCH", &url, &[("content-type", APPLY)], config).await;
    assert_eq!(refused.code, 400);
    assert!(refused.message().contains("unknown field \"date\""), "{}", refused.message());
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/a")).await.code, 404);
}

#[tokio::test]
async fn patches_of_many_clients_all_take_effect() {
    let server = Server::start().await;
    let mut empty = config_map("a");
    empty["data"] = json!({});
    server.post(CONFIG_MAPS, &empty).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let patches = (0..20).map(|index| {
        let (server, path) = (&server, &path);
        async move {
            let patch = json!({"data": {format!("k{index}"): "v"}});
            server.patch(MERGE, path, &patch).await.ok()
        }
    });
    futures_util::future::join_all(patches).await;
    let data = server.get(&path).await.ok()["data"].as_object().cloned().unwrap_or_default();
    assert_eq!(data.len(), 20);
}
