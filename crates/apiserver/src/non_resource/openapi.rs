//! /openapi/v2 and /openapi/v3: documents that are large, seldom asked for and the same
//! until a definition of custom resources changes, so each is rendered when first asked for
//! and kept compressed as long as the rows are those it was made of.

use crate::ServerState;
use crate::config::ProseSource;
use crate::crd::openapi as custom;
use crate::door::answer;
use crate::door::negotiate::Accepted;
use crate::non_resource::version;
use crate::query::Query;
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::openapi::{self, Resource, Root, Subresource};
use ferry_api::schema::{self, TypeDef};
use ferry_api::status::Status;
use ferry_resources::Row;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH, VARY,
};
use http::{HeaderMap, Response, StatusCode};
use parking_lot::Mutex;
use sha2::{Digest, Sha512};
use std::collections::{BTreeSet, HashMap};
use std::io::{Read, Write};
use std::sync::Arc;

/// The documents rendered so far, by path. A document of a megabyte is a twentieth of that
/// in gzip, and nearly every client takes gzip.
#[derive(Default)]
pub(crate) struct Documents(Mutex<HashMap<String, Arc<Document>>>);

impl Documents {
    /// Lets go of the documents that tell of rows which are served no more: nobody may ever
    /// ask for them again, and they keep the rows with their compiled schemas.
    pub(crate) fn forget_stale(&self, served: &[Arc<Row>]) {
        let is_served = |row: &Arc<Row>| served.iter().any(|known| Arc::ptr_eq(known, row));
        self.0.lock().retain(|_, document| document.rows.iter().all(is_served));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

struct Document {
    /// The rows that the document tells of.
    rows: Vec<Arc<Row>>,
    gzip: Bytes,
    etag: String,
}

/// What a document is written in. Protobuf has version 2 only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Json,
    Protobuf,
}

impl Wire {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        }
    }

    /// The first clause of the Accept header that can be met (kube-openapi/pkg/handler).
    fn choose(headers: &HeaderMap, is_v2: bool) -> Option<Self> {
        let accept = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let accept = accept.collect::<Vec<_>>().join(",");
        if accept.trim().is_empty() {
            return Some(Self::Json);
        }
        let mut clauses: Vec<(f32, &str)> = accept
            .split(',')
            .map(|clause| {
                let (media_type, parameters) = clause.split_once(';').unwrap_or((clause, ""));
                let quality = parameters.split(';').find_map(|part| part.trim().strip_prefix("q=")?.parse().ok());
                (quality.unwrap_or(1.0), media_type.trim())
            })
            .collect();
        clauses.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        clauses.into_iter().find_map(|(_, media_type)| match media_type {
            "application/json" | "application/*" | "*/*" => Some(Self::Json),
            // The first is how clients before 1.24 write it.
            "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
            | "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
                if is_v2 =>
            {
                Some(Self::Protobuf)
            }
            _ => None,
        })
    }
}

/// What a document tells of.
enum Subject {
    /// Everything: version 2.
    All,
    /// A group and version.
    Version(String, String),
    /// A path above the resources.
    Root(Root),
}

impl Subject {
    /// The subject of a path below `/openapi`, if there is such a document.
    fn of_path(path: &str, rows: &[Arc<Row>]) -> Option<Self> {
        let document = match path.strip_prefix("/openapi/")? {
            "v2" => return Some(Self::All),
            rest => rest.strip_prefix("v3/")?,
        };
        if let Some(root) = Root::all(builtin_groups(rows)).find(|root| root.document() == document) {
            return Some(Self::Root(root));
        }
        match document.split('/').collect::<Vec<&str>>().as_slice() {
            ["api", version] => Some(Self::Version(String::new(), (*version).to_owned())),
            ["apis", group, version] => Some(Self::Version((*group).to_owned(), (*version).to_owned())),
            _ => None,
        }
    }

    /// The rows that the document is made of; none where there is nothing to tell of.
    fn rows(&self, rows: &[Arc<Row>]) -> Option<Vec<Arc<Row>>> {
        match self {
            Self::All => Some(rows.to_vec()),
            Self::Version(group, version) => {
                let own = rows.iter().filter(|row| row.group == *group && row.version == *version);
                Some(own.cloned().collect()).filter(|own: &Vec<_>| !own.is_empty())
            }
            Self::Root(_) => Some(Vec::new()),
        }
    }
}

fn builtin_groups(rows: &[Arc<Row>]) -> BTreeSet<String> {
    let builtin = rows.iter().filter(|row| row.custom.is_none() && !row.group.is_empty());
    builtin.map(|row| row.group.to_string()).collect()
}

pub(crate) async fn serve(
    server: &ServerState,
    headers: &HeaderMap,
    path: &str,
    query: &Query,
) -> Result<Response<Body>, Status> {
    let rows = server.registry.rows.all();
    if path == "/openapi/v3" {
        let mut index = render_index(&rows);
        let theirs = server.aggregator.documents.v3_index(&server.aggregator.index.all());
        if let Some(paths) = index.get_mut("paths").and_then(serde_json::Value::as_object_mut) {
            paths.extend(theirs);
        }
        return Ok(answer::document(StatusCode::OK, &index, &Accepted::JSON));
    }
    if let Some(entry) = path.strip_prefix("/openapi/v3").and_then(|rest| server.aggregator.index.remote_of_path(rest))
    {
        let hash = query.text("hash").map(|hash| format!("?hash={hash}")).unwrap_or_default();
        return server.aggregator.serve_openapi(&entry, headers, &format!("{path}{hash}")).await;
    }
    let wire = Wire::choose(headers, path == "/openapi/v2");
    let wire = wire.ok_or_else(|| Status::not_acceptable(&["application/json"]))?;
    let document = document(server, &rows, path, wire).await?;
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = if known == Some(document.etag.as_str()) {
        answer::stream(StatusCode::NOT_MODIFIED, wire.media_type(), crate::transport::empty())
    } else if takes_gzip(headers) {
        let mut response = answer::raw(StatusCode::OK, wire.media_type(), document.gzip.clone());
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else {
        let mut plain = Vec::new();
        GzDecoder::new(&document.gzip[..]).read_to_end(&mut plain).map_err(Status::internal)?;
        answer::raw(StatusCode::OK, wire.media_type(), plain)
    };
    let out = response.headers_mut();
    out.insert(VARY, HeaderValue::from_static("Accept-Encoding, Accept"));
    if let Ok(etag) = HeaderValue::from_str(&document.etag) {
        out.insert(ETAG, etag);
    }
    if query.text("hash").is_some() {
        // The hash is part of the URL, so what stands there never changes.
        out.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        out.insert(EXPIRES, HeaderValue::from_static("Thu, 31 Dec 2037 23:55:55 GMT"));
    }
    Ok(response)
}

async fn document(
    server: &ServerState,
    rows: &Arc<Vec<Arc<Row>>>,
    path: &str,
    wire: Wire,
) -> Result<Arc<Document>, Status> {
    let (generation, additions) = match path {
        "/openapi/v2" => server.aggregator.documents.v2(&server.aggregator.index.all()),
        _ => (0, Vec::new()),
    };
    // A merged document is kept until one of its parts changes.
    let written = format!("{path}{}", if wire == Wire::Protobuf { "+protobuf" } else { "" });
    let key = if additions.is_empty() { written.clone() } else { format!("{written}#{generation}") };
    let subject = Subject::of_path(path, rows).ok_or_else(Status::no_such_path)?;
    let Some(rows) = subject.rows(rows) else {
        server.openapi.0.lock().remove(&key);
        return Err(Status::no_such_path());
    };
    if let Some(document) = server.openapi.0.lock().get(&key)
        && document.rows.len() == rows.len()
        && document.rows.iter().zip(&rows).all(|(known, row)| Arc::ptr_eq(known, row))
    {
        return Ok(document.clone());
    }
    // Rendering takes tens of milliseconds, too long for a thread that serves others.
    let prose = server.config.prose.clone();
    let document = tokio::task::spawn_blocking(move || render(rows, &subject, prose, &additions, wire))
        .await
        .map_err(Status::internal)?
        .map_err(Status::internal)?;
    let document = Arc::new(document);
    let mut documents = server.openapi.0.lock();
    documents.retain(|known, _| !known.starts_with(&format!("{written}#")));
    documents.insert(key, document.clone());
    Ok(document)
}

fn render(
    rows: Vec<Arc<Row>>,
    subject: &Subject,
    prose: Option<ProseSource>,
    additions: &[(String, Arc<serde_json::Value>)],
    wire: Wire,
) -> std::io::Result<Document> {
    // Gathered for this one rendering and let go again: it is larger than the document.
    let describe: openapi::Describe = match prose.map(|gather| gather()) {
        Some(prose) => Arc::new(move |definition: &TypeDef, field: Option<&str>| {
            prose(&openapi::definition_name(definition), field)
        }),
        None => openapi::no_descriptions(),
    };
    let dialect = if matches!(subject, Subject::All) { custom::Dialect::V2 } else { custom::Dialect::V3 };
    let common = common_prose(&describe);
    let resources: Vec<Resource> =
        rows.iter().map(|row| Resource { custom: custom::render(row, dialect, &common), ..resource(row) }).collect();
    let mut bytes = match subject {
        Subject::All => openapi::render_v2(&format!("v{}", version::KUBERNETES), &resources, describe),
        Subject::Version(group, version) => openapi::render_v3(group, version, &resources, describe),
        Subject::Root(root) => openapi::render_root_v3(root, describe),
    };
    if !additions.is_empty() {
        let mut document: serde_json::Value = serde_json::from_slice(&bytes)?;
        for (prefix, addition) in additions {
            crate::aggregation::openapi::merge_v2(&mut document, prefix, addition);
        }
        bytes = serde_json::to_vec(&document)?;
    }
    if wire == Wire::Protobuf {
        bytes = openapi::encode_v2(&serde_json::from_slice(&bytes)?);
    }
    let etag = format!("\"{:X}\"", Sha512::digest(&bytes));
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 16), Compression::default());
    encoder.write_all(&bytes)?;
    Ok(Document { rows, gzip: encoder.finish()?.into(), etag })
}

/// What is said about the fields that every kind has, taken from one of them.
fn common_prose(describe: &openapi::Describe) -> custom::Prose {
    let of = |kind: &str, field: &str| {
        let kind = ferry_api::gvk::GroupVersionKind::new("", "v1", kind.to_owned());
        schema::of_kind(&kind).and_then(|definition| describe(definition, Some(field)))
    };
    custom::Prose {
        api_version: of("ConfigMap", "apiVersion"),
        kind: of("ConfigMap", "kind"),
        metadata: of("ConfigMap", "metadata"),
        list_metadata: of("ConfigMapList", "metadata"),
    }
}

/// Where each document is. The hash covers the rows rather than the document, so that
/// the index does not need every document rendered.
fn render_index(rows: &[Arc<Row>]) -> serde_json::Value {
    let mut versions: Vec<(String, String, Sha512)> = Vec::new();
    for row in rows {
        let known = versions.iter().position(|(g, v, _)| *g == row.group && *v == row.version);
        let at = known.unwrap_or_else(|| {
            versions.push((row.group.to_string(), row.version.to_string(), hash_of_server()));
            versions.len() - 1
        });
        versions[at].2.update(format!("{}|{}|{:?}|{:?};", row.plural, row.kind, row.verbs, row.subresources));
        if let Some(custom) = &row.custom {
            let selectable: Vec<&str> = custom.selectable.iter().map(|(name, _)| name.as_str()).collect();
            versions[at].2.update(format!("{}|{selectable:?}|{:?};", custom.openapi, row.scope));
        }
    }
    let versions = versions.into_iter().map(|(group, version, hash)| (openapi::document_of(&group, &version), hash));
    let roots = Root::all(builtin_groups(rows)).map(|root| (root.document(), hash_of_server()));
    let hashed: Vec<(String, String)> =
        versions.chain(roots).map(|(document, hash)| (document, format!("{:X}", hash.finalize()))).collect();
    openapi::render_index(hashed.iter().map(|(document, hash)| (document.as_str(), hash.as_str())))
}

/// The beginning of every hash: another ferry may word its documents otherwise.
fn hash_of_server() -> Sha512 {
    Sha512::new().chain_update(env!("CARGO_PKG_VERSION")).chain_update(version::KUBERNETES)
}

fn resource(row: &Row) -> Resource {
    let list = row.group_version().with_kind(row.list_kind.clone());
    Resource {
        group: row.group.to_string(),
        version: row.version.to_string(),
        kind: row.kind.to_string(),
        plural: row.plural.to_string(),
        namespaced: row.is_namespaced(),
        verbs: row.verbs.iter().map(ToString::to_string).collect(),
        // Upstream gives a namespace back too, and its documents do not know.
        returns_deleted: row.returns_deleted_object && row.plural != "namespaces",
        subresources: row
            .subresources
            .iter()
            .map(|subresource| Subresource {
                name: subresource.name.to_string(),
                kind: subresource.kind.clone(),
                verbs: subresource.verbs.iter().map(ToString::to_string).collect(),
                schema: schema::of_kind(&subresource.kind).cloned(),
            })
            .collect(),
        schema: row.schema.clone(),
        list_schema: schema::of_kind(&list).cloned(),
        custom: None,
    }
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|coding| coding.trim().starts_with("gzip")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protobuf_is_for_those_who_ask_for_version_two_in_it() {
        let choose = |accept: &str, is_v2| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().expect("a header"));
            Wire::choose(&headers, is_v2)
        };
        let kubectl = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
        assert_eq!(choose(kubectl, true), Some(Wire::Protobuf));
        assert_eq!(choose(kubectl, false), None);
        assert_eq!(choose(&format!("{kubectl};q=0.5,application/json"), true), Some(Wire::Json));
        assert_eq!(choose("*/*", true), Some(Wire::Json));
        assert_eq!(choose("text/html", true), None);
        assert_eq!(Wire::choose(&HeaderMap::new(), true), Some(Wire::Json));
    }
}
