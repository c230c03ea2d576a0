//! OpenAPI documents, generated from the schema table and a list of resources: version 3,
//! one document for each group and version, and version 2, one for all. `kubectl explain`,
//! `apply`, `diff` and every client generator read them. The API server renders a document
//! when it is first asked for and keeps the bytes.

mod definitions;
mod operation;
mod paths;
mod protobuf;
mod roots;

use crate::gvk::GroupVersionKind;
use crate::schema::TypeDef;
use definitions::{Definitions, Dialect};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

pub use definitions::definition_name;
pub use protobuf::encode_v2;
pub use roots::Root;

/// One resource, as far as documents speak of it.
#[derive(Clone, Debug)]
pub struct Resource {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub namespaced: bool,
    /// As discovery lists them: `create`, `deletecollection`, `list`…
    pub verbs: Vec<String>,
    /// A completed delete gives the object's last version and not a Status.
    pub returns_deleted: bool,
    pub subresources: Vec<Subresource>,
    pub schema: Option<Arc<TypeDef>>,
    /// The type of the list; `None` where the table has none (custom resources).
    pub list_schema: Option<Arc<TypeDef>>,
    /// Takes the place of both types for a custom resource.
    pub custom: Option<CustomSchema>,
}

/// The schemas of a custom resource and its list as they are published. They may refer to
/// the metadata of objects and of lists in the words of [`reference`].
#[derive(Clone, Debug)]
pub struct CustomSchema {
    pub object: Value,
    pub list_kind: String,
    pub list: Value,
}

/// How a definition is referred to in a document.
pub fn reference(name: &str, v2: bool) -> String {
    if v2 { format!("#/definitions/{name}") } else { format!("#/components/schemas/{name}") }
}

/// `com.example.v1.Widget`: the name under which a custom resource's schema is published.
pub fn custom_name(group: &str, version: &str, kind: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').rev().collect();
    parts.extend([version, kind]);
    parts.join(".")
}

#[derive(Clone, Debug)]
pub struct Subresource {
    pub name: String,
    pub kind: GroupVersionKind,
    pub verbs: Vec<String>,
    pub schema: Option<Arc<TypeDef>>,
}

/// Gives the text of a type (`None`) or of one of its fields, if there is one. The prose
/// lives outside this crate and is large, so whoever renders brings it along.
pub type Describe = Arc<dyn Fn(&TypeDef, Option<&str>) -> Option<String> + Send + Sync>;

/// For documents without prose.
pub fn no_descriptions() -> Describe {
    Arc::new(|_, _| None)
}

/// The document of one group and version, served at `/openapi/v3/apis/apps/v1`. Resources
/// of other versions in the list are passed over.
pub fn render_v3(group: &str, version: &str, resources: &[Resource], describe: Describe) -> Vec<u8> {
    let mut definitions = Definitions::new(Dialect::V3, describe, vec![(group.to_owned(), version.to_owned())]);
    let own: Vec<&Resource> =
        resources.iter().filter(|resource| resource.group == group && resource.version == version).collect();
    let paths = paths::render(&own, &mut definitions);
    render_document_v3(paths, definitions)
}

/// The document of a path above the resources, served at `/openapi/v3/apis/apps`.
pub fn render_root_v3(root: &Root, describe: Describe) -> Vec<u8> {
    let mut definitions = Definitions::new(Dialect::V3, describe, Vec::new());
    let mut paths = serde_json::Map::new();
    root.render(&mut definitions, &mut paths);
    render_document_v3(paths, definitions)
}

fn render_document_v3(paths: serde_json::Map<String, Value>, definitions: Definitions) -> Vec<u8> {
    let mut components = json!({"securitySchemes": {"BearerToken": security_scheme()}});
    let schemas = definitions.render();
    if !schemas.is_empty() {
        components["schemas"] = schemas.into();
    }
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": components,
    });
    document.to_string().into_bytes()
}

/// The document of everything, served at `/openapi/v2` as JSON.
pub fn render_v2(server_version: &str, resources: &[Resource], describe: Describe) -> Vec<u8> {
    let versions = resources.iter().map(|resource| (resource.group.clone(), resource.version.clone())).collect();
    let mut definitions = Definitions::new(Dialect::V2, describe, versions);
    let all: Vec<&Resource> = resources.iter().collect();
    let mut paths = paths::render(&all, &mut definitions);
    for root in Root::all(builtin_groups(&all)) {
        root.render(&mut definitions, &mut paths);
    }
    let parameters = operation::share_parameters(&mut paths);
    let document = json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": server_version},
        "paths": paths,
        "parameters": parameters,
        "definitions": definitions.render(),
        "securityDefinitions": {"BearerToken": security_scheme()},
        "security": [{"BearerToken": []}],
    });
    document.to_string().into_bytes()
}

/// The named groups of builtin kinds. No document tells of the group of a custom resource.
fn builtin_groups(resources: &[&Resource]) -> BTreeSet<String> {
    let builtin = resources.iter().filter(|resource| resource.custom.is_none() && !resource.group.is_empty());
    builtin.map(|resource| resource.group.clone()).collect()
}

/// `/openapi/v3`: where each document is. Entries are the path of the document and a hash
/// of it, which changes the URL so that clients may keep what they fetched.
pub fn render_index<'a>(documents: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let paths: serde_json::Map<String, Value> = documents
        .into_iter()
        .map(|(path, hash)| {
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path.to_owned(), json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// `api/v1`, `apis/apps/v1`: where the document of a group and version is.
pub fn document_of(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

fn security_scheme() -> Value {
    json!({"description": "Bearer Token authentication", "type": "apiKey", "name": "authorization", "in": "header"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gvk::GroupVersion;
    use crate::schema::of_kind;
    use std::collections::HashMap;

    /// The resources of the table of facts, as the API server would give them.
    fn resources() -> Vec<Resource> {
        let mut out: Vec<Resource> = Vec::new();
        for line in include_str!("../../facts/resources.tsv").lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [group, version, resource, kind, scope, _, _, _, verbs, ..] = columns.as_slice() else {
                panic!("{line}")
            };
            let verbs: Vec<String> = verbs.split(',').map(str::to_owned).collect();
            let own = GroupVersion::new((*group).to_owned(), (*version).to_owned());
            match resource.split_once('/') {
                None => out.push(Resource {
                    group: (*group).into(),
                    version: (*version).into(),
                    kind: (*kind).into(),
                    plural: (*resource).into(),
                    namespaced: *scope == "Namespaced",
                    verbs,
                    returns_deleted: false,
                    subresources: Vec::new(),
                    schema: of_kind(&own.with_kind((*kind).to_owned())).cloned(),
                    list_schema: of_kind(&own.with_kind(format!("{kind}List"))).cloned(),
                    custom: None,
                }),
                Some((parent, name)) => {
                    // A kind of another group stands there as "policy/v1.Eviction".
                    let kind = match kind.rsplit_once('.') {
                        Some((version, kind)) => GroupVersion::parse(version).with_kind(kind.to_owned()),
                        None => own.with_kind((*kind).to_owned()),
                    };
                    let schema = of_kind(&kind).cloned();
                    let subresource = Subresource { name: name.into(), kind, verbs, schema };
                    let parent = out
                        .iter_mut()
                        .find(|known| known.plural == parent && known.group == *group && known.version == *version);
                    parent.expect("a subresource stands below its resource").subresources.push(subresource);
                }
            }
        }
        out
    }

    fn v3(group: &str, version: &str) -> Value {
        serde_json::from_slice(&render_v3(group, version, &resources(), no_descriptions())).expect("JSON")
    }

    fn check_references(value: &Value, document: &Value) {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(reference)) = map.get("$ref") {
                    let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
                    assert!(document.pointer(pointer).is_some(), "{reference} is referred to and not defined");
                }
                map.values().for_each(|value| check_references(value, document));
            }
            Value::Array(items) => items.iter().for_each(|value| check_references(value, document)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_of_every_document_is_defined() {
        let resources = resources();
        let mut versions: Vec<(&str, &str)> =
            resources.iter().map(|resource| (resource.group.as_str(), resource.version.as_str())).collect();
        versions.dedup();
        for (group, version) in versions {
            let document = v3(group, version);
            check_references(&document, &document);
        }
        for root in Root::all(["apps".to_owned()]) {
            let document: Value = serde_json::from_slice(&render_root_v3(&root, no_descriptions())).expect("JSON");
            check_references(&document, &document);
            assert!(document["paths"][format!("/{}/", root.document())]["get"]["operationId"].is_string());
        }
        let document: Value =
            serde_json::from_slice(&render_v2("v1.36.4", &resources, no_descriptions())).expect("JSON");
        check_references(&document, &document);
    }

    #[test]
    fn patch_operations_say_what_kubectl_looks_for() {
        let mut documents: HashMap<(&str, &str), Value> = HashMap::new();
        let resources = resources();
        for resource in resources.iter().filter(|resource| resource.verbs.iter().any(|verb| verb == "patch")) {
            let version = (resource.group.as_str(), resource.version.as_str());
            let document = documents.entry(version).or_insert_with(|| v3(version.0, version.1));
            let wanted = json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
            let paths = document["paths"].as_object().expect("paths");
            let patch = paths
                .values()
                .find_map(|path| path.get("patch").filter(|patch| patch["x-kubernetes-group-version-kind"] == wanted));
            let parameters = patch.expect("a patch operation")["parameters"].as_array().expect("parameters");
            for name in ["fieldValidation", "dryRun", "fieldManager", "force"] {
                assert!(parameters.iter().any(|parameter| parameter["name"] == name && parameter["in"] == "query"));
            }
        }
    }

    #[test]
    fn a_deployment_is_described_as_upstream_describes_it() {
        let document = v3("apps", "v1");
        let schemas = &document["components"]["schemas"];
        assert_eq!(
            schemas["io.k8s.api.apps.v1.DeploymentSpec"],
            json!({"type": "object", "required": ["selector", "template"], "properties": {
                "minReadySeconds": {"type": "integer", "format": "int32"},
                "paused": {"type": "boolean"},
                "progressDeadlineSeconds": {"type": "integer", "format": "int32"},
                "replicas": {"type": "integer", "format": "int32"},
                "revisionHistoryLimit": {"type": "integer", "format": "int32"},
                "selector": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector"},
                "strategy": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}],
                    "default": {}, "x-kubernetes-patch-strategy": "retainKeys"},
                "template": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec"}],
                    "default": {}},
            }})
        );
        assert_eq!(
            schemas["io.k8s.api.apps.v1.Deployment"]["x-kubernetes-group-version-kind"],
            json!([{"group": "apps", "version": "v1", "kind": "Deployment"}])
        );
        assert_eq!(
            schemas["io.k8s.api.core.v1.Container"]["properties"]["ports"],
            json!({"type": "array",
                "items": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.core.v1.ContainerPort"}], "default": {}},
                "x-kubernetes-list-map-keys": ["containerPort", "protocol"], "x-kubernetes-list-type": "map",
                "x-kubernetes-patch-merge-key": "containerPort", "x-kubernetes-patch-strategy": "merge"})
        );
        assert_eq!(
            schemas["io.k8s.apimachinery.pkg.api.resource.Quantity"],
            json!({"oneOf": [{"type": "string"}, {"type": "number"}]})
        );
        let operation = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["get"];
        assert_eq!(operation["operationId"], "readAppsV1NamespacedDeployment");
        assert_eq!(operation["x-kubernetes-action"], "get");
    }

    #[test]
    fn the_index_names_documents_by_their_hash() {
        assert_eq!(
            render_index([(document_of("", "v1").as_str(), "AB"), (document_of("apps", "v1").as_str(), "CD")]),
            json!({"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=AB"},
                             "apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=CD"}}})
        );
    }
}
