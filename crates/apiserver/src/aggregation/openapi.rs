//! The OpenAPI documents of backends beside ours: version 3 is passed on document by
//! document, version 2 is one document for all and so is merged (kube-aggregator's
//! controllers/openapi and kube-openapi's aggregator). `openapi.rs` calls it.

use super::Aggregator;
use super::index::Entry;
use crate::transport::{Body, full};
use ferry_api::status::Status;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, IF_NONE_MATCH, VARY};
use http::{HeaderMap, Response};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const REFERENCE: &str = "#/definitions/";
const PARAMETER: &str = "#/parameters/";

impl Aggregator {
    /// A version 3 document from the server that it is about.
    pub(crate) async fn serve_openapi(
        &self,
        entry: &Entry,
        headers: &HeaderMap,
        path_and_query: &str,
    ) -> Result<Response<Body>, Status> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let answer = self
            .fetch(entry, path_and_query, text(ACCEPT), text(IF_NONE_MATCH))
            .await
            .map_err(|why| Status::service_unavailable(format!("error trying to reach service: {why}")))?;
        let mut response = Response::new(full(answer.bytes.clone()));
        *response.status_mut() = answer.code;
        for name in [CONTENT_TYPE, ETAG, CACHE_CONTROL, EXPIRES, VARY] {
            if let Some(value) = answer.headers.get(&name) {
                response.headers_mut().insert(name, value.clone());
            }
        }
        Ok(response)
    }
}

/// Adds a backend's paths below a prefix, and the definitions that they need, to ours. A
/// definition of the same name that says something else is given another name.
pub(crate) fn merge_v2(document: &mut Value, prefix: &str, addition: &Value) {
    let Some(paths) = addition.get("paths").and_then(Value::as_object) else { return };
    let empty = Map::new();
    let theirs = addition.get("definitions").and_then(Value::as_object).unwrap_or(&empty);
    let mut paths: Map<String, Value> = paths
        .iter()
        .filter(|(path, _)| path.starts_with(prefix))
        .map(|(path, item)| (path.clone(), item.clone()))
        .collect();
    if let Some(shared) = addition.get("parameters").and_then(Value::as_object) {
        paths.values_mut().for_each(|item| unshare(item, shared));
    }
    let mut needed = BTreeSet::new();
    paths.values().for_each(|item| gather(item, theirs, &mut needed));
    let mut definitions: Map<String, Value> =
        needed.iter().filter_map(|name| Some((name.clone(), theirs.get(name)?.clone()))).collect();
    let renamed: Vec<(String, String)> = {
        let ours = document.get("definitions").and_then(Value::as_object).unwrap_or(&empty);
        definitions
            .iter()
            .filter(|(name, definition)| ours.get(*name).is_some_and(|own| own != *definition))
            .map(|(name, _)| {
                let free = (2_u32..).map(|n| format!("{name}_v{n}")).find(|new| !ours.contains_key(new));
                (name.clone(), free.expect("there are more numbers than definitions"))
            })
            .collect()
    };
    if !renamed.is_empty() {
        paths.values_mut().chain(definitions.values_mut()).for_each(|value| rename(value, &renamed));
        for (old, new) in &renamed {
            if let Some(definition) = definitions.remove(old) {
                definitions.insert(new.clone(), definition);
            }
        }
    }
    for (key, from) in [("paths", paths), ("definitions", definitions)] {
        let to = document.as_object_mut().map(|root| root.entry(key).or_insert_with(|| Value::Object(Map::new())));
        if let Some(Value::Object(to)) = to {
            for (name, value) in from {
                // Where both serve a path, ours stays.
                to.entry(name).or_insert(value);
            }
        }
    }
}

/// Puts parameters in the place of references to them: the names are hashes of each
/// server's own making, so theirs and ours need not mean the same.
fn unshare(item: &mut Value, shared: &Map<String, Value>) {
    let Some(fields) = item.as_object_mut() else { return };
    for (key, value) in fields {
        let list = if key == "parameters" { Some(value) } else { value.get_mut("parameters") };
        for parameter in list.and_then(Value::as_array_mut).into_iter().flatten() {
            let name = parameter.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix(PARAMETER));
            if let Some(whole) = name.and_then(|name| shared.get(name)) {
                *parameter = whole.clone();
            }
        }
    }
}

/// The names of the definitions that a value leads to.
fn gather(value: &Value, definitions: &Map<String, Value>, needed: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, definitions, needed)),
        Value::Object(fields) => {
            for (key, value) in fields {
                let name = value.as_str().filter(|_| key == "$ref").and_then(|text| text.strip_prefix(REFERENCE));
                match name {
                    Some(name) if needed.insert(name.to_owned()) => {
                        if let Some(definition) = definitions.get(name) {
                            gather(definition, definitions, needed);
                        }
                    }
                    Some(_) => {}
                    None => gather(value, definitions, needed),
                }
            }
        }
        _ => {}
    }
}

fn rename(value: &mut Value, renamed: &[(String, String)]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, renamed)),
        Value::Object(fields) => {
            for (key, value) in fields {
                let new = value
                    .as_str()
                    .filter(|_| key == "$ref")
                    .and_then(|text| text.strip_prefix(REFERENCE))
                    .and_then(|name| renamed.iter().find(|(old, _)| old == name))
                    .map(|(_, new)| format!("{REFERENCE}{new}"));
                match new {
                    Some(new) => *value = new.into(),
                    None => rename(value, renamed),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shared_parameters_of_a_backend_are_written_out() {
        let mut ours = json!({"paths": {}, "definitions": {}, "parameters": {"body-1": {"name": "limit"}}});
        let body = json!({"in": "body", "name": "body", "schema": {"$ref": "#/definitions/a"}});
        let reference = json!({"$ref": "#/parameters/body-1"});
        let theirs = json!({
            "paths": {"/apis/x/v1/y": {"post": {"parameters": [reference]}, "parameters": [reference]}},
            "definitions": {"a": {}},
            "parameters": {"body-1": body},
        });
        merge_v2(&mut ours, "/apis/x/v1/", &theirs);
        assert_eq!(ours["paths"]["/apis/x/v1/y"], json!({"post": {"parameters": [body]}, "parameters": [body]}));
        assert!(ours["definitions"]["a"].is_object(), "what a shared parameter names is merged too");
        assert_eq!(ours["parameters"], json!({"body-1": {"name": "limit"}}));
    }

    #[test]
    fn only_what_a_backend_answers_for_is_merged() {
        let mut ours = json!({"paths": {"/api/v1/pods": {}}, "definitions": {"a": {"type": "string"}, "same": {}}});
        let theirs = json!({
            "paths": {
                "/apis/x/v1/y": {"get": {"schema": {"$ref": "#/definitions/a"}, "other": {"$ref": "#/definitions/same"}}},
                "/apis/other/v1/z": {"get": {"schema": {"$ref": "#/definitions/c"}}},
            },
            "definitions": {"a": {"items": {"$ref": "#/definitions/b"}}, "b": {"$ref": "#/definitions/a"}, "c": {}, "same": {}},
        });
        merge_v2(&mut ours, "/apis/x/v1/", &theirs);
        assert_eq!(
            ours,
            json!({
                "paths": {
                    "/api/v1/pods": {},
                    "/apis/x/v1/y": {"get": {"schema": {"$ref": "#/definitions/a_v2"}, "other": {"$ref": "#/definitions/same"}}},
                },
                "definitions": {
                    "a": {"type": "string"}, "same": {},
                    "a_v2": {"items": {"$ref": "#/definitions/b"}}, "b": {"$ref": "#/definitions/a_v2"},
                },
            })
        );
    }
}
