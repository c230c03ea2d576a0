//! What the backends of APIServices say of themselves: their part of the aggregated
//! discovery (kube-aggregator/pkg/apiserver/handler_discovery.go) and their OpenAPI
//! documents (controllers/openapi, controllers/openapiv3). Fetched when a backend becomes
//! available and renewed while it is; `discovery.rs` and `openapi.rs` read them.

use super::Aggregator;
use super::backend::Fetched;
use super::index::{Entry, Remote};
use ferry_api::codec;
use ferry_api::object::Meta;
use ferry_api::schema::builtin;
use http::StatusCode;
use http::header::{CONTENT_TYPE, ETAG};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ACCEPT_DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// By the name of the APIService.
#[derive(Default)]
pub(crate) struct Documents(Mutex<State>);

#[derive(Default)]
struct State {
    known: HashMap<String, Known>,
    /// Raised with every change of an OpenAPI v2 document, for those who keep a merged one.
    generation: u64,
}

struct Known {
    remote: Remote,
    fetched: Instant,
    /// The version's entry of the aggregated discovery; `None` when it could not be had.
    discovery: Option<Value>,
    /// The entry of the backend's own index of OpenAPI v3 documents.
    v3: Option<Value>,
    v2: Option<Arc<Value>>,
    v2_etag: String,
}

impl Documents {
    /// A version as the aggregated discovery shows it. What could not be learned is stale
    /// and without resources.
    pub(crate) fn version(&self, entry: &Entry) -> Value {
        let state = self.0.lock();
        let discovery = state.known.get(&entry.name).and_then(|known| known.discovery.as_ref());
        match discovery {
            Some(version) => {
                let mut version = version.clone();
                version["freshness"] = "Current".into();
                version
            }
            None => json!({"version": entry.version, "freshness": "Stale"}),
        }
    }

    /// The paths that backends add to the index of OpenAPI v3 documents.
    pub(crate) fn v3_index(&self, entries: &[Arc<Entry>]) -> Vec<(String, Value)> {
        let state = self.0.lock();
        let mut paths = Vec::new();
        for entry in entries.iter().filter(|entry| entry.remote.is_some()) {
            if let Some(item) = state.known.get(&entry.name).and_then(|known| known.v3.clone()) {
                paths.push((v3_key(entry), item));
            }
        }
        paths
    }

    /// The OpenAPI v2 documents, each with the prefix of the paths that count of it, and
    /// a number that changes when any of them does.
    pub(crate) fn v2(&self, entries: &[Arc<Entry>]) -> (u64, Vec<(String, Arc<Value>)>) {
        let state = self.0.lock();
        let documents = entries
            .iter()
            .filter_map(|entry| {
                let document = state.known.get(&entry.name)?.v2.clone()?;
                Some((format!("/apis/{}/{}/", entry.group, entry.version), document))
            })
            .collect();
        (state.generation, documents)
    }

    pub(crate) fn forget(&self, name: &str) {
        let mut state = self.0.lock();
        if state.known.remove(name).is_some_and(|known| known.v2.is_some()) {
            state.generation += 1;
        }
    }
}

fn v3_key(entry: &Entry) -> String {
    format!("apis/{}/{}", entry.group, entry.version)
}

impl Aggregator {
    /// Learns what a backend serves, unless that was done lately.
    pub(super) async fn refresh_documents(&self, entry: &Entry, available: bool, every: Duration) {
        let Some(remote) = entry.remote.clone() else { return };
        if !available {
            if let Some(known) = self.documents.0.lock().known.get_mut(&entry.name) {
                known.discovery = None;
            }
            return;
        }
        let v2_etag = {
            let state = self.documents.0.lock();
            match state.known.get(&entry.name) {
                Some(known)
                    if known.remote == remote && known.discovery.is_some() && known.fetched.elapsed() < every =>
                {
                    return;
                }
                Some(known) if known.remote == remote => known.v2_etag.clone(),
                _ => String::new(),
            }
        };
        let fetched = Instant::now();
        let (discovery, v3, v2) = tokio::join!(
            self.fetch_discovery(entry),
            self.fetch(entry, "/openapi/v3", "application/json", ""),
            self.fetch(entry, "/openapi/v2", "application/json", &v2_etag),
        );
        let discovery = discovery
            .inspect_err(|why| tracing::warn!(name = entry.name, why, "an aggregated API server tells no discovery"))
            .ok();
        let v3 = v3.ok().filter(|answer| answer.code == StatusCode::OK).and_then(|answer| {
            let index: Value = serde_json::from_slice(&answer.bytes).ok()?;
            index.get("paths")?.get(v3_key(entry)).cloned()
        });
        let mut state = self.documents.0.lock();
        let known = state.known.entry(entry.name.clone()).or_insert_with(|| Known {
            remote: remote.clone(),
            fetched,
            discovery: None,
            v3: None,
            v2: None,
            v2_etag: String::new(),
        });
        known.remote = remote;
        known.fetched = fetched;
        known.discovery = discovery;
        known.v3 = v3.or(known.v3.take());
        // The last good document stays when a new one cannot be had.
        if let Ok(answer) = v2
            && answer.code == StatusCode::OK
            && let Ok(document) = serde_json::from_slice::<Value>(&answer.bytes)
        {
            known.v2_etag = answer.header(ETAG).to_owned();
            known.v2 = Some(Arc::new(document));
            state.generation += 1;
        }
    }

    /// The version's entry from the backend's aggregated discovery, or made of its legacy
    /// document where the backend is older than that.
    async fn fetch_discovery(&self, entry: &Entry) -> Result<Value, String> {
        let answer = self.fetch(entry, "/apis", ACCEPT_DISCOVERY, "").await?;
        if answer.code == StatusCode::SERVICE_UNAVAILABLE {
            return Err(format!("returned non-success response code: {}", answer.code.as_u16()));
        }
        if answer.code == StatusCode::OK && is_aggregated(&answer) {
            let list = decode(&answer.bytes, "apidiscovery/v2", "APIGroupDiscoveryList")?;
            return Ok(find_version(&list, &entry.group, &entry.version));
        }
        let path = format!("/apis/{}/{}", entry.group, entry.version);
        let answer = self.fetch(entry, &path, "application/json", "").await?;
        if answer.code != StatusCode::OK {
            return Err(format!("failed to download legacy discovery for {path}: {}", answer.code.as_u16()));
        }
        let list = decode(&answer.bytes, "meta/v1", "APIResourceList")?;
        Ok(json!({"version": entry.version, "resources": convert_legacy(&list)}))
    }
}

/// Reads a backend's document as its type. What is passed on to clients as part of our own
/// discovery must decode: a wrong type in one backend's answer would spoil that of all. A
/// null is an empty list, as it is to Go.
fn decode(bytes: &[u8], package: &str, name: &str) -> Result<Value, String> {
    let definition = builtin().get(package, name).ok_or_else(|| format!("no facts of {name}"))?;
    codec::decode_as(bytes, definition).map(|decoded| decoded.value).map_err(|error| error.to_string())
}

fn is_aggregated(answer: &Fetched) -> bool {
    let content_type = answer.header(CONTENT_TYPE).replace(' ', "");
    let mut parts = content_type.split(';');
    let media_type = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    media_type == "application/json"
        && parts.contains(&"g=apidiscovery.k8s.io")
        && parts.contains(&"as=APIGroupDiscoveryList")
        && (parts.contains(&"v=v2") || parts.contains(&"v=v2beta1"))
}

/// A version in a backend's list; one that it does not tell of has no resources.
fn find_version(list: &Value, group: &str, version: &str) -> Value {
    let groups = list.items_at(&["items"]).iter().filter(|item| item.name() == group);
    let mut versions = groups.flat_map(|item| item.items_at(&["versions"]));
    let Some(found) = versions.find(|item| item.str_at(&["version"]) == version) else {
        return json!({"version": version});
    };
    let mut found = found.clone();
    if let Some(version) = found.as_object_mut() {
        version.retain(|_, field| !field.is_null());
    }
    // Some clients do not bear a resource without a kind.
    for resource in found.get_mut("resources").and_then(Value::as_array_mut).into_iter().flatten() {
        ensure_kind(resource);
        ensure_verbs(resource);
        for subresource in resource.get_mut("subresources").and_then(Value::as_array_mut).into_iter().flatten() {
            ensure_kind(subresource);
            ensure_verbs(subresource);
        }
    }
    found
}

fn ensure_kind(entry: &mut Value) {
    if let Some(entry) = entry.as_object_mut()
        && entry.get("responseKind").is_none_or(Value::is_null)
    {
        entry.insert("responseKind".into(), json!({"group": "", "version": "", "kind": ""}));
    }
}

fn ensure_verbs(entry: &mut Value) {
    if entry.get("verbs").is_none_or(Value::is_null) {
        entry["verbs"] = json!([]);
    }
}

/// An APIResourceList as the aggregated discovery shows it: subresources stand below
/// their resource.
fn convert_legacy(list: &Value) -> Vec<Value> {
    let mut resources: Vec<Value> = Vec::new();
    let kind = |item: &Value| {
        let text = |key: &str| item.str_at(&[key]).to_owned();
        json!({"group": text("group"), "version": text("version"), "kind": text("kind")})
    };
    let scope = |item: &Value| if item.bool_at(&["namespaced"]).unwrap_or(false) { "Namespaced" } else { "Cluster" };
    let items = list.items_at(&["resources"]);
    for item in items.iter().filter(|item| !item.str_at(&["name"]).contains('/')) {
        let mut entry = Map::new();
        entry.insert("resource".into(), item.str_at(&["name"]).into());
        entry.insert("responseKind".into(), kind(item));
        entry.insert("scope".into(), scope(item).into());
        entry.insert("singularResource".into(), item.str_at(&["singularName"]).into());
        for (from, to) in [("verbs", "verbs"), ("shortNames", "shortNames"), ("categories", "categories")] {
            if let Some(value) = item.get(from).filter(|value| !value.is_null()) {
                entry.insert(to.into(), value.clone());
            }
        }
        entry.entry("verbs").or_insert_with(|| json!([]));
        resources.push(entry.into());
    }
    for item in items {
        let Some((parent, name)) = item.str_at(&["name"]).split_once('/') else { continue };
        let at = resources.iter().position(|entry| entry.str_at(&["resource"]) == parent).unwrap_or_else(|| {
            resources.push(json!({"resource": parent, "scope": scope(item), "singularResource": "",
                "responseKind": {"group": "", "version": "", "kind": ""}}));
            resources.len() - 1
        });
        let verbs = item.get("verbs").filter(|verbs| !verbs.is_null()).cloned().unwrap_or_else(|| json!([]));
        let subresource = json!({"subresource": name, "responseKind": kind(item), "verbs": verbs});
        match resources[at].get_mut("subresources").and_then(Value::as_array_mut) {
            Some(list) => list.push(subresource),
            None => resources[at]["subresources"] = json!([subresource]),
        }
    }
    resources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_and_made_safe_for_clients() {
        let list = json!({"items": [{"metadata": {"name": "a.b"}, "versions": [
            {"version": "v1", "resources": [{"resource": "x", "subresources": [{"subresource": "status"}]}]}]}]});
        let found = find_version(&list, "a.b", "v1");
        let nothing = json!({"group": "", "version": "", "kind": ""});
        assert_eq!(found["resources"][0]["responseKind"], nothing);
        assert_eq!(found["resources"][0]["subresources"][0]["responseKind"], nothing);
        assert_eq!(find_version(&list, "a.b", "v2"), json!({"version": "v2"}));
    }

    #[test]
    fn legacy_documents_become_aggregated_ones() {
        let list = json!({"resources": [
            {"name": "flunders", "singularName": "flunder", "namespaced": true, "kind": "Flunder", "verbs": ["get"]},
            {"name": "flunders/status", "namespaced": true, "kind": "Flunder", "verbs": ["update"]},
            {"name": "alone/scale", "namespaced": false, "kind": "Scale", "group": "autoscaling", "version": "v1", "verbs": []},
        ]});
        let resources = convert_legacy(&list);
        assert_eq!(resources[0]["subresources"][0]["subresource"], "status");
        assert_eq!(
            (&resources[0]["scope"], &resources[0]["singularResource"]),
            (&json!("Namespaced"), &json!("flunder"))
        );
        assert_eq!(resources[1]["resource"], "alone");
        assert_eq!(resources[1]["subresources"][0]["responseKind"]["group"], "autoscaling");
    }

    #[test]
    fn a_backends_nulls_are_empty_and_its_wrong_types_its_own_fault_alone() {
        let decode = |text: &str| super::decode(text.as_bytes(), "apidiscovery/v2", "APIGroupDiscoveryList");
        let list = decode(
            r#"{"items":[{"metadata":{"name":"a.b"},"versions":[
                {"version":"v1","resources":[{"resource":"x","scope":"Namespaced","verbs":null,"subresources":null}]},
                {"version":"v2","resources":null}]}]}"#,
        )
        .expect("nulls are read");
        assert_eq!(find_version(&list, "a.b", "v1")["resources"][0]["verbs"], json!([]));
        assert_eq!(find_version(&list, "a.b", "v2"), json!({"version": "v2"}));
        for bad in [r#"{"items":[{"versions":[{"version":"v1","resources":7}]}]}"#, r#"{"items":{}}"#, "[]", "<html>"] {
            assert!(decode(bad).is_err(), "{bad}");
        }
        for bad in [r#"{"resources":[{"name":"x","verbs":"get"}]}"#, "[]"] {
            assert!(super::decode(bad.as_bytes(), "meta/v1", "APIResourceList").is_err(), "{bad}");
        }
    }
}
