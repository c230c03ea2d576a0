//! Every operation that upstream has is one of ours, by the same name at the same place, with
//! the same parameters, codes and formats, and each that our documents name is served.
//! `operations/upstream.txt` holds upstream's, those of alpha versions left out;
//! `operations/missing.txt` those that are missing here with the reason. The latter may only
//! shrink: a test fails when a gap appears and when a listed one is no more. From upstream's
//! tree, the former is made by
//!
//! ```text
//! jq -r -f operations/upstream.jq api/openapi-spec/swagger.json
//! ```

use crate::server::{Server, admin};
use http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// `operationId` to `method path`.
type Operations = BTreeMap<String, String>;

/// Each operation as `operationId method path` with what it takes and gives.
fn upstream() -> BTreeMap<&'static str, &'static str> {
    let mut shape = "";
    let mut operations = BTreeMap::new();
    for line in include_str!("operations/upstream.txt").lines() {
        match line.strip_prefix("  ") {
            Some(operation) => drop(operations.insert(operation, shape)),
            None => shape = line,
        }
    }
    operations
}

/// What `upstream()` has, of our document of version 2.
fn shapes(document: &Value) -> BTreeMap<String, String> {
    let shape = |place: &str| {
        let (method, path) = place.split_once(' ').expect("a method and a path");
        let item = &document["paths"][path];
        let operation = &item[method];
        let of = |list: &Value| list.as_array().cloned().unwrap_or_default();
        let media = |list: &Value| {
            let mut media: Vec<String> = of(list).iter().filter_map(Value::as_str).map(str::to_owned).collect();
            media.sort();
            if media.is_empty() { "-".to_owned() } else { media.join(",") }
        };
        let parameter = |parameter: &Value| {
            let shared =
                parameter["$ref"].as_str().and_then(|pointer| document.pointer(pointer.trim_start_matches('#')));
            let parameter = shared.unwrap_or(parameter);
            let text = |key: &str| parameter[key].as_str().unwrap_or("object");
            let required = if parameter["required"] == true { "!" } else { "" };
            format!("{}.{}:{}{required}", text("in"), text("name"), text("type"))
        };
        let codes: Vec<String> = operation["responses"].as_object().expect("codes").keys().cloned().collect();
        let mut parameters: Vec<String> =
            of(&item["parameters"]).iter().chain(&of(&operation["parameters"])).map(parameter).collect();
        parameters.sort();
        let mut words = vec![
            operation["x-kubernetes-action"].as_str().unwrap_or("-").to_owned(),
            codes.join(","),
            media(&operation["consumes"]),
            media(&operation["produces"]),
        ];
        words.extend(parameters);
        words.join(" ")
    };
    operations(document).iter().map(|(id, place)| (format!("{id} {place}"), shape(place))).collect()
}

fn missing() -> Vec<&'static str> {
    let lines = include_str!("operations/missing.txt").lines();
    lines.map(|line| line.split_once(" - ").expect("an operation and the reason").0).collect()
}

fn operations(document: &Value) -> Operations {
    let mut operations = Operations::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods").iter().filter(|(key, _)| *key != "parameters") {
            let id = operation["operationId"].as_str().expect("an id").to_owned();
            let place = format!("{method} {path}");
            assert_eq!(operations.insert(id.clone(), place), None, "{id} stands for two operations");
        }
    }
    operations
}

#[tokio::test]
async fn operations_are_those_of_upstream() {
    let server = Server::start().await;
    let ours = shapes(&server.get("/openapi/v2").await.ok());
    let theirs = upstream();
    let id = |operation: &&'static str| operation.split(' ').next().unwrap_or_default();
    let gaps: Vec<&str> = theirs.keys().filter(|operation| !ours.contains_key(**operation)).map(id).collect();
    assert_eq!(gaps, missing(), "left is what is missing, right what operations/missing.txt says");
    // Upstream's clusters have this group from metrics-server, whose document is none of upstream's.
    for (operation, shape) in ours.iter().filter(|(operation, _)| !operation.contains(" /apis/metrics.k8s.io/")) {
        assert_eq!(
            Some(&shape.as_str()),
            theirs.get(operation.as_str()),
            "{operation}: left is ours, right upstream's"
        );
    }
}

#[tokio::test]
async fn both_versions_of_the_documents_have_the_same_operations() {
    let server = Server::start().await;
    let index = server.get("/openapi/v3").await.ok();
    let mut union = Operations::new();
    for entry in index["paths"].as_object().expect("documents").values() {
        let url = entry["serverRelativeURL"].as_str().expect("a URL");
        for (id, at) in operations(&server.get(url).await.ok()) {
            assert_eq!(union.insert(id.clone(), at), None, "{id} stands in two documents");
        }
    }
    assert_eq!(union, operations(&server.get("/openapi/v2").await.ok()));
}

/// Nothing is changed by the requests, and nothing they name is there: they need to be
/// understood, no more.
#[tokio::test]
async fn every_operation_is_served() {
    let server = Server::start().await;
    let document = server.get("/openapi/v2").await.ok();
    for place in operations(&document).values() {
        let (method, path) = place.split_once(' ').expect("a method and a path");
        let url = path.replace("{namespace}", "default").replace("{name}", "nothing").replace("{path}", "some/path");
        let request = Request::builder()
            .method(method.to_ascii_uppercase().as_str())
            .uri(format!("{url}?dryRun=All&timeoutSeconds=1"))
            .body(ferry_apiserver::transport::empty())
            .expect("a request");
        let response = tokio::time::timeout(Duration::from_secs(20), server.send(request, admin())).await;
        let response = response.unwrap_or_else(|_| panic!("{place} has no answer"));
        let code = response.status().as_u16();
        let action = &document["paths"][path][method]["x-kubernetes-action"];
        if action == "watch" || action == "watchlist" {
            // A watch is answered at once and ends when it is let go.
            assert_eq!(code, 200, "{place}");
            continue;
        }
        assert_ne!(code, 405, "{place}");
        assert!(code < 500 || action == "connect", "{place}: {code}");
        if code == 404 {
            let bytes = response.into_body().collect().await.expect("a body").to_bytes();
            let status: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let message = status["message"].as_str().unwrap_or_default();
            assert_ne!(message, "the server could not find the requested resource", "{place}");
        }
    }
}
