//! What is served: the legacy documents of groups, versions and resources, and the
//! aggregated one that tells all at once. All of it is read from the rows.

use crate::ServerState;
use crate::door::answer;
use crate::door::answer::document;
use crate::door::negotiate::{self, Use};
use crate::query::Query;
use crate::transport::{Body, empty};
use ferry_api::gvk::GroupVersion;
use ferry_api::status::Status;
use ferry_resources::Row;
use http::header::{ACCEPT, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, Response, StatusCode};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};
use std::sync::Arc;

pub(crate) fn serve(
    server: &ServerState,
    headers: &HeaderMap,
    path: &str,
    query: &Query,
) -> Result<Response<Body>, Status> {
    let rows = server.registry.rows.all();
    if matches!(path, "/api" | "/apis")
        && let Some(version) = aggregated_version(headers)
    {
        let groups = if path == "/api" { vec![(String::new(), versions(&rows, ""))] } else { groups(server, &rows) };
        return Ok(aggregated(headers, server, &rows, groups, version));
    }
    let accepted = negotiate::output(headers, query, Use::Plain)?;
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let value = match parts.as_slice() {
        ["api"] => json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [
                {"clientCIDR": "0.0.0.0/0", "serverAddress": server.config.external_address()},
            ],
        }),
        ["apis"] => {
            let groups: Vec<Value> =
                groups(server, &rows).iter().map(|(group, versions)| render_group(group, versions)).collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        ["apis", group] => {
            let groups = groups(server, &rows);
            let (group, versions) = groups.iter().find(|(name, _)| name == group).ok_or_else(Status::no_such_path)?;
            let mut value = render_group(group, versions);
            value["kind"] = "APIGroup".into();
            value["apiVersion"] = "v1".into();
            value
        }
        ["api", version] => render_resources(&rows, &GroupVersion::new("", (*version).to_owned()))?,
        ["apis", group, version] => {
            render_resources(&rows, &GroupVersion::new((*group).to_owned(), (*version).to_owned()))?
        }
        _ => return Err(Status::no_such_path()),
    };
    Ok(document(StatusCode::OK, &value, &accepted))
}

/// The named groups with their versions in the order that APIServices give them.
fn groups(server: &ServerState, rows: &[Arc<Row>]) -> Vec<(String, Vec<String>)> {
    let served = rows.iter().filter(|row| !row.group.is_empty());
    let mut groups =
        server.aggregator.index.ordered(served.map(|row| (row.group.to_string(), row.version.to_string())));
    groups.retain(|(group, _)| !group.is_empty());
    groups
}

fn versions(rows: &[Arc<Row>], group: &str) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.group == group) {
        if !versions.iter().any(|version| *version == row.version) {
            versions.push(row.version.to_string());
        }
    }
    versions
}

fn render_group(group: &str, versions: &[String]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{group}/{version}"), "version": version}))
        .collect();
    let preferred = versions.first().cloned().unwrap_or(Value::Null);
    json!({"name": group, "versions": versions, "preferredVersion": preferred})
}

fn render_resources(rows: &[Arc<Row>], of: &GroupVersion) -> Result<Value, Status> {
    let mut resources: Vec<(String, Value)> = Vec::new();
    for row in rows.iter().filter(|row| row.group_version() == *of) {
        let mut entry = json!({
            "name": row.plural, "singularName": row.singular, "namespaced": row.is_namespaced(),
            "kind": row.kind, "verbs": row.verbs,
        });
        if !row.short_names.is_empty() {
            entry["shortNames"] = json!(row.short_names);
        }
        if !row.categories.is_empty() {
            entry["categories"] = json!(row.categories);
        }
        if row.is_stored() {
            entry["storageVersionHash"] = storage_version_hash(row).into();
        }
        resources.push((row.plural.to_string(), entry));
        for subresource in &row.subresources {
            let name = format!("{}/{}", row.plural, subresource.name);
            let mut entry = json!({
                "name": name, "singularName": "", "namespaced": row.is_namespaced(),
                "kind": subresource.kind.kind, "verbs": subresource.verbs,
            });
            if subresource.kind.group_version() != *of {
                entry["group"] = subresource.kind.group.as_ref().into();
                entry["version"] = subresource.kind.version.as_ref().into();
            }
            resources.push((name, entry));
        }
    }
    if resources.is_empty() {
        return Err(Status::no_such_path());
    }
    resources.sort_by(|(a, _), (b, _)| a.cmp(b));
    let resources: Vec<Value> = resources.into_iter().map(|(_, entry)| entry).collect();
    Ok(json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": of.to_string(), "resources": resources,
    }))
}

/// Changes when the stored version of a resource does; storage migrators compare it.
fn storage_version_hash(row: &Row) -> String {
    use base64::Engine as _;
    let stored = &row.stored_as;
    let digest = sha2::Sha256::digest(format!("{}/{}/{}", stored.group, stored.version, stored.kind).as_bytes());
    base64::engine::general_purpose::STANDARD.encode(&digest[..8])
}

/// The version of apidiscovery.k8s.io that the client prefers to a legacy document.
fn aggregated_version(headers: &HeaderMap) -> Option<&'static str> {
    let accept = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    for clause in accept.flat_map(|value| value.split(',')) {
        let mut parts = clause.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let get = |key: &str| parameters.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
        let is_json = matches!(media_type, "application/json" | "*/*");
        match (is_json, get("g"), get("as"), get("v")) {
            (true, Some("apidiscovery.k8s.io"), Some("APIGroupDiscoveryList"), Some("v2")) => return Some("v2"),
            (true, Some("apidiscovery.k8s.io"), Some("APIGroupDiscoveryList"), Some("v2beta1")) => {
                return Some("v2beta1");
            }
            (true, None, None, None) => return None,
            _ => {}
        }
    }
    None
}

fn aggregated(
    headers: &HeaderMap,
    server: &ServerState,
    rows: &[Arc<Row>],
    groups: Vec<(String, Vec<String>)>,
    version: &'static str,
) -> Response<Body> {
    let items: Vec<Value> =
        groups.iter().map(|(group, versions)| render_aggregated_group(server, rows, group, versions)).collect();
    let value = json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {}, "items": items,
    });
    let mut bytes = crate::registry::encode::encode(&value);
    // Clients keep the document and ask only whether it is still this one.
    let etag = format!("\"{:X}\"", Sha512::digest(&bytes));
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let content_type = if version == "v2" {
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    } else {
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
    };
    let mut response = if known == Some(etag.as_str()) {
        answer::stream(StatusCode::NOT_MODIFIED, content_type, empty())
    } else {
        bytes.push(b'\n');
        answer::raw(StatusCode::OK, content_type, bytes)
    };
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        headers.insert(ETAG, etag);
    }
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("public"));
    response
}

fn render_aggregated_group(server: &ServerState, rows: &[Arc<Row>], group: &str, versions: &[String]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| {
            // What another server answers is told in that server's words.
            if let Some(entry) = server.aggregator.index.remote_of_path(&format!("/apis/{group}/{version}")) {
                return server.aggregator.documents.version(&entry);
            }
            let mut own: Vec<&Arc<Row>> =
                rows.iter().filter(|row| row.group == group && row.version == *version).collect();
            own.sort_by(|a, b| a.plural.cmp(&b.plural));
            let resources: Vec<Value> = own.into_iter().map(|row| render_aggregated_resource(row)).collect();
            json!({"version": version, "resources": resources, "freshness": "Current"})
        })
        .collect();
    let mut metadata = Map::new();
    if !group.is_empty() {
        metadata.insert("name".into(), group.into());
    }
    metadata.insert("creationTimestamp".into(), Value::Null);
    json!({"metadata": metadata, "versions": versions})
}

fn render_aggregated_resource(row: &Row) -> Value {
    let kind =
        |gvk: &ferry_api::gvk::GroupVersionKind| json!({"group": gvk.group, "version": gvk.version, "kind": gvk.kind});
    let mut entry = json!({
        "resource": row.plural, "responseKind": kind(&row.gvk()),
        "scope": if row.is_namespaced() { "Namespaced" } else { "Cluster" },
        "singularResource": row.singular, "verbs": row.verbs,
    });
    if !row.short_names.is_empty() {
        entry["shortNames"] = json!(row.short_names);
    }
    if !row.categories.is_empty() {
        entry["categories"] = json!(row.categories);
    }
    if !row.subresources.is_empty() {
        let subresources: Vec<Value> = row
            .subresources
            .iter()
            .map(|s| json!({"subresource": s.name, "responseKind": kind(&s.kind), "verbs": s.verbs}))
            .collect();
        entry["subresources"] = subresources.into();
    }
    entry
}
