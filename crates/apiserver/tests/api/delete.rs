//! Deletion: at once, gracefully, held by finalizers, by the collection.

use crate::server::{CONFIG_MAPS, DEPLOYMENTS, PODS, Server, config_map, deployment, labelled, pod};
use ferry_store::{Commit, Expect, Op, Store};
use serde_json::{Value, json};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

async fn delete_with(server: &Server, path: &str, options: Value) -> crate::server::Answer {
    server.ask("DELETE", path, &JSON, options.to_string()).await
}

#[tokio::test]
async fn finalizers_hold_an_object_until_they_are_gone() {
    let server = Server::start().await;
    let mut object = config_map("a");
    object["metadata"]["finalizers"] = json!(["example.com/wait"]);
    server.post(CONFIG_MAPS, &object).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let pending = server.delete(&path).await.ok();
    assert!(pending["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(pending["metadata"]["deletionGracePeriodSeconds"], 0);
    let again = server.post(CONFIG_MAPS, &config_map("a")).await;
    assert_eq!(
        (again.code, again.message().as_str()),
        (409, "object is being deleted: configmaps \"a\" already exists")
    );
    let mut more = server.get(&path).await.ok();
    more["metadata"]["finalizers"] = json!(["example.com/wait", "example.com/more"]);
    let refused = server.put(&path, &more).await;
    assert_eq!(refused.code, 422);
    assert!(refused.message().contains("no new finalizers can be added"), "{}", refused.message());
    let mut events = server.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    assert_eq!(events.next_name().await.0, "ADDED");
    server.patch("application/merge-patch+json", &path, &json!({"metadata": {"finalizers": null}})).await.ok();
    assert_eq!(events.next_name().await.0, "DELETED");
    assert_eq!(server.get(&path).await.code, 404);
}

#[tokio::test]
async fn a_running_pod_is_given_its_grace() {
    let server = Server::start().await.with_default_account().await;
    server.post(PODS, &pod("p")).await.ok();
    let binding = json!({"target": {"kind": "Node", "name": "n"}});
    server.post(&format!("{PODS}/p/binding"), &binding).await.ok();
    let path = format!("{PODS}/p");
    let first = server.delete(&path).await.ok();
    assert_eq!(first["metadata"]["deletionGracePeriodSeconds"], 30);
    let second = server.delete(&path).await.ok();
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"], "nothing to hasten");
    let shorter = delete_with(&server, &path, json!({"gracePeriodSeconds": 5})).await.ok();
    assert_eq!(shorter["metadata"]["deletionGracePeriodSeconds"], 5);
    let now = delete_with(&server, &path, json!({"gracePeriodSeconds": 0})).await.ok();
    assert_eq!(now["kind"], "Pod");
    assert_eq!(server.get(&path).await.code, 404);
}

#[tokio::test]
async fn a_pod_without_a_node_goes_at_once() {
    let server = Server::start().await.with_default_account().await;
    server.post(PODS, &pod("p")).await.ok();
    server.delete(&format!("{PODS}/p")).await.ok();
    assert_eq!(server.get(&format!("{PODS}/p")).await.code, 404);
}

/// A deletion by force is two writes: the mark and the removal. Whoever sees the mark may be
/// quicker with the removal, as the collector of orphaned pods can be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_succeeds_when_another_completes_it() {
    let server = Server::start().await.with_default_account().await;
    let mut quicker = 0;
    for n in 0..1000 {
        let name = format!("p{n}");
        server.post(PODS, &pod(&name)).await.ok();
        let key = format!("/registry/pods/default/{name}");
        let store = server.store.clone();
        let mut events = store.watch(&key, store.current_revision()).await.expect("a watch");
        let other = tokio::spawn(async move {
            let marked = events.next().await.expect("an event").expect("no failure");
            let expect = Expect::Revision(marked[0].revision);
            store.commit(Commit { key, expect, op: Op::Delete }).await.is_ok()
        });
        let gone = delete_with(&server, &format!("{PODS}/{name}"), json!({"gracePeriodSeconds": 0})).await.ok();
        assert_eq!((&gone["kind"], &gone["metadata"]["name"]), (&json!("Pod"), &json!(name)));
        quicker += usize::from(other.await.expect("the other one is done"));
        if quicker == 3 {
            return;
        }
    }
    panic!("of 1000 deletions only {quicker} met another");
}

#[tokio::test]
async fn preconditions_protect_the_wrong_object() {
    let server = Server::start().await;
    let created = server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let path = format!("{CONFIG_MAPS}/a");
    let refused = delete_with(&server, &path, json!({"preconditions": {"uid": "other"}})).await;
    let uid = created["metadata"]["uid"].as_str().expect("a uid");
    assert_eq!(
        (refused.code, refused.message()),
        (
            409,
            format!(
                "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (other) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
            )
        )
    );
    let refused = delete_with(&server, &path, json!({"preconditions": {"resourceVersion": "1"}})).await;
    assert_eq!(refused.code, 409);
    delete_with(&server, &path, json!({"preconditions": {"uid": uid}})).await.ok();
}

#[tokio::test]
async fn propagation_leaves_its_finalizer_for_the_garbage_collector() {
    let server = Server::start().await;
    for (name, policy, finalizer) in [("f", "Foreground", "foregroundDeletion"), ("o", "Orphan", "orphan")] {
        server.post(DEPLOYMENTS, &deployment(name)).await.ok();
        let path = format!("{DEPLOYMENTS}/{name}");
        let pending = delete_with(&server, &path, json!({"propagationPolicy": policy})).await;
        assert_eq!(pending.code, if policy == "Foreground" { 202 } else { 200 });
        let pending = pending.ok();
        assert_eq!(pending["metadata"]["finalizers"], json!([finalizer]));
        assert_eq!(pending["metadata"]["generation"], 2, "controllers must look again");
    }
    server.post(DEPLOYMENTS, &deployment("b")).await.ok();
    delete_with(&server, &format!("{DEPLOYMENTS}/b"), json!({"propagationPolicy": "Background"})).await.ok();
    assert_eq!(server.get(&format!("{DEPLOYMENTS}/b")).await.code, 404);
    let refused = delete_with(&server, &format!("{DEPLOYMENTS}/f"), json!({"propagationPolicy": "Sideways"})).await;
    assert_eq!(
        refused.message(),
        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"Sideways\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
    );
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector() {
    let server = Server::start().await;
    for (name, label) in [("a", "x"), ("b", "y"), ("c", "x")] {
        server.post(CONFIG_MAPS, &labelled(name, label)).await.ok();
    }
    let answer = server.delete(&format!("{CONFIG_MAPS}?labelSelector=app%3Dx")).await.ok();
    assert_eq!(answer["kind"], "ConfigMapList");
    assert_eq!(answer["items"].as_array().map(Vec::len), Some(2));
    let left = server.get(CONFIG_MAPS).await.ok();
    assert_eq!(left["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(left["items"][0]["metadata"]["name"], "b");
}

#[tokio::test]
async fn what_a_delete_gives_back_is_what_the_documents_say() {
    let server = Server::start().await;
    let storage = "/apis/storage.k8s.io/v1";
    let class = json!({"metadata": {"name": "a"}, "provisioner": "example.com/none"});
    server.post(&format!("{storage}/storageclasses"), &class).await.ok();
    let capacity = json!({"metadata": {"name": "a"}, "storageClassName": "a"});
    server.post(&format!("{storage}/namespaces/default/csistoragecapacities"), &capacity).await.ok();
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let document = server.get("/openapi/v2").await.ok();
    for (collection, namespace, kind) in [
        (format!("{storage}/storageclasses"), "", "StorageClass"),
        (format!("{storage}/namespaces/{{namespace}}/csistoragecapacities"), "default", "Status"),
        ("/api/v1/namespaces/{namespace}/configmaps".to_owned(), "default", "Status"),
    ] {
        let said = &document["paths"][format!("{collection}/{{name}}")]["delete"]["responses"]["200"]["schema"]["$ref"];
        assert!(said.as_str().is_some_and(|said| said.ends_with(&format!(".{kind}"))), "{collection}: {said}");
        let given = server.delete(&format!("{}/a", collection.replace("{namespace}", namespace))).await.ok();
        assert_eq!(given["kind"], kind, "{collection}");
    }
}

#[tokio::test]
async fn a_namespace_waits_for_its_finalizer() {
    let server = Server::start().await;
    let created = server.post("/api/v1/namespaces", &json!({"metadata": {"name": "n"}})).await.ok();
    assert_eq!(created["spec"]["finalizers"], json!(["kubernetes"]));
    let terminating = server.delete("/api/v1/namespaces/n").await.ok();
    assert_eq!(terminating["status"]["phase"], "Terminating");
    assert!(terminating["metadata"]["deletionTimestamp"].is_string());
    let refused = server.post("/api/v1/namespaces/n/configmaps", &config_map("a")).await;
    assert_eq!(refused.code, 403);
    assert!(
        refused.message().contains("unable to create new content in namespace n because it is being terminated"),
        "{}",
        refused.message()
    );
    let mut finalized = server.get("/api/v1/namespaces/n").await.ok();
    finalized["spec"]["finalizers"] = json!([]);
    server.put("/api/v1/namespaces/n/finalize", &finalized).await.ok();
    assert_eq!(server.get("/api/v1/namespaces/n").await.code, 404);
}
