//! Create, get, update: metadata, versions, conflicts.

use crate::server::{CONFIG_MAPS, DEPLOYMENTS, Server, config_map, deployment};
use serde_json::json;

#[tokio::test]
async fn an_object_goes_through_its_life() {
    let server = Server::start().await;
    let created = server.post(CONFIG_MAPS, &config_map("a")).await;
    assert_eq!(created.code, 201);
    let created = created.ok();
    assert_eq!(created["metadata"]["namespace"], "default");
    for key in ["uid", "resourceVersion", "creationTimestamp"] {
        assert!(created["metadata"][key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    let read = server.get(&format!("{CONFIG_MAPS}/a")).await.ok();
    assert_eq!(read, created);

    let mut changed = read.clone();
    changed["data"]["key"] = "other".into();
    let updated = server.put(&format!("{CONFIG_MAPS}/a"), &changed).await.ok();
    assert_ne!(updated["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    assert_eq!(updated["metadata"]["uid"], created["metadata"]["uid"]);

    let conflict = server.put(&format!("{CONFIG_MAPS}/a"), &changed).await;
    assert_eq!(conflict.code, 409);
    assert_eq!(
        conflict.message(),
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );

    let deleted = server.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    assert_eq!((&deleted["status"], &deleted["details"]["name"]), (&json!("Success"), &json!("a")));
    assert_eq!(deleted["details"]["uid"], created["metadata"]["uid"]);
    let gone = server.get(&format!("{CONFIG_MAPS}/a")).await;
    assert_eq!((gone.code, gone.message().as_str()), (404, "configmaps \"a\" not found"));
    assert_eq!(gone.json()["details"], json!({"name": "a", "kind": "configmaps"}));
}

#[tokio::test]
async fn the_same_name_is_given_once() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let again = server.post(CONFIG_MAPS, &config_map("a")).await;
    assert_eq!((again.code, again.message().as_str()), (409, "configmaps \"a\" already exists"));
    assert_eq!(again.json()["reason"], "AlreadyExists");
}

#[tokio::test]
async fn names_are_generated_on_demand() {
    let server = Server::start().await;
    let object = json!({"metadata": {"generateName": "web-"}});
    let (one, two) = (server.post(CONFIG_MAPS, &object).await.ok(), server.post(CONFIG_MAPS, &object).await.ok());
    let name = one["metadata"]["name"].as_str().expect("a name");
    assert!(name.starts_with("web-") && name.len() == 9, "{name}");
    assert_ne!(one["metadata"]["name"], two["metadata"]["name"]);
    let nameless = server.post(CONFIG_MAPS, &json!({"metadata": {}})).await;
    assert_eq!(
        (nameless.code, nameless.message().as_str()),
        (422, "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required")
    );
}

#[tokio::test]
async fn an_update_that_changes_nothing_is_not_written() {
    let server = Server::start().await;
    let created = server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let updated = server.put(&format!("{CONFIG_MAPS}/a"), &created).await.ok();
    assert_eq!(updated, created);
    // Without a resourceVersion the change is unconditional, and this one is none.
    let plain = server.put(&format!("{CONFIG_MAPS}/a"), &config_map("a")).await.ok();
    assert_eq!(plain["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
}

#[tokio::test]
async fn generation_counts_changes_of_the_spec() {
    let server = Server::start().await;
    let created = server.post(DEPLOYMENTS, &deployment("d")).await.ok();
    assert_eq!(created["metadata"]["generation"], 1);
    let path = format!("{DEPLOYMENTS}/d");
    let labels = json!({"metadata": {"labels": {"x": "y"}}});
    let labelled = server.patch("application/merge-patch+json", &path, &labels).await.ok();
    assert_eq!(labelled["metadata"]["generation"], 1);
    let scaled = server.patch("application/merge-patch+json", &path, &json!({"spec": {"replicas": 5}})).await.ok();
    assert_eq!(scaled["metadata"]["generation"], 2);
    let mut status = scaled.clone();
    status["status"] = json!({"replicas": 5});
    status["spec"]["replicas"] = 9.into();
    let status = server.put(&format!("{path}/status"), &status).await.ok();
    assert_eq!((&status["metadata"]["generation"], &status["spec"]["replicas"]), (&json!(2), &json!(5)));
    assert_eq!(status["status"]["replicas"], 5);
    // And the object's own door leaves the status alone.
    let mut spec = status.clone();
    spec["status"] = json!({"replicas": 1});
    assert_eq!(server.put(&path, &spec).await.ok()["status"]["replicas"], 5);
}

#[tokio::test]
async fn a_dry_run_answers_and_stores_nothing() {
    let server = Server::start().await;
    let created = server.post(&format!("{CONFIG_MAPS}?dryRun=All"), &config_map("a")).await;
    assert_eq!(created.code, 201);
    assert!(created.json()["metadata"]["uid"].is_string());
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/a")).await.code, 404);
    let stored = server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    server.delete(&format!("{CONFIG_MAPS}/a?dryRun=All")).await.ok();
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/a")).await.ok(), stored);
}

#[tokio::test]
async fn yaml_goes_in_and_comes_out() {
    let server = Server::start().await;
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: y\ndata:\n  a: \"1\"\n";
    let headers = [("content-type", "application/yaml"), ("accept", "application/yaml")];
    let created = server.ask("POST", CONFIG_MAPS, &headers, yaml).await;
    assert_eq!(created.code, 201);
    assert_eq!(created.headers["content-type"], "application/yaml");
    assert!(String::from_utf8_lossy(&created.bytes).contains("\n  name: y\n"));
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/y")).await.ok()["data"]["a"], "1");
}

#[tokio::test]
async fn every_write_says_who_made_it() {
    let server = Server::start().await;
    let headers = [("content-type", "application/json"), ("user-agent", "kubectl/v1.36.0 (linux/amd64)")];
    let created = server.ask("POST", CONFIG_MAPS, &headers, config_map("a").to_string()).await.ok();
    let entry = &created["metadata"]["managedFields"][0];
    assert_eq!((&entry["manager"], &entry["operation"]), (&json!("kubectl"), &json!("Update")));
    assert_eq!(entry["fieldsV1"], json!({"f:data": {".": {}, "f:key": {}}}));
}

#[tokio::test]
async fn a_put_to_another_name_or_namespace_is_refused() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let other = server.put(&format!("{CONFIG_MAPS}/a"), &config_map("b")).await;
    assert_eq!(
        (other.code, other.message().as_str()),
        (400, "the name of the object (b) does not match the name on the URL (a)")
    );
    let mut elsewhere = config_map("a");
    elsewhere["metadata"]["namespace"] = "kube-system".into();
    let elsewhere = server.post(CONFIG_MAPS, &elsewhere).await;
    assert_eq!(
        (elsewhere.code, elsewhere.message().as_str()),
        (400, "the namespace of the provided object does not match the namespace sent on the request")
    );
}

#[tokio::test]
async fn a_namespace_that_is_not_there_takes_nothing() {
    let server = Server::start().await;
    let answer = server.post("/api/v1/namespaces/nowhere/configmaps", &config_map("a")).await;
    assert_eq!((answer.code, answer.message().as_str()), (404, "namespaces \"nowhere\" not found"));
}

#[tokio::test]
async fn json_ends_with_a_newline_as_clients_compare_it() {
    let server = Server::start().await;
    let created = server.post(CONFIG_MAPS, &config_map("a")).await;
    let missing = server.get(&format!("{CONFIG_MAPS}/none")).await;
    let one = server.get(&format!("{CONFIG_MAPS}/a")).await;
    let many = server.get(CONFIG_MAPS).await;
    let table = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = server.ask("GET", CONFIG_MAPS, &table, "").await;
    let discovery = server.get("/api/v1").await;
    let aggregated = [("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")];
    let aggregated = server.ask("GET", "/apis", &aggregated, "").await;
    let deleted = server.delete(&format!("{CONFIG_MAPS}/a")).await;
    let refused = server.ask("POST", CONFIG_MAPS, &[("content-type", "application/json")], "{").await;
    for (what, answer) in [
        ("created", &created),
        ("missing", &missing),
        ("one", &one),
        ("many", &many),
        ("table", &table),
        ("discovery", &discovery),
        ("aggregated", &aggregated),
        ("deleted", &deleted),
        ("refused", &refused),
    ] {
        let text = String::from_utf8_lossy(&answer.bytes);
        assert!(text.ends_with("}\n") && !text.ends_with("\n\n"), "{what}: {text:?}");
    }
    // Indented JSON has none.
    let pretty = server.get(&format!("{CONFIG_MAPS}?pretty=true")).await;
    assert!(pretty.bytes.ends_with(b"\n}"), "{:?}", pretty.bytes);
}
