//! OpenAPI documents, generated from the schema table and a list of resources: version 3,
//! one document for each group and version, and version 2, one for all. `kubectl explain`,
//! `apply`, `diff` and every client generator read them. The API server renders a document
//! when it is first asked for and keeps the bytes.

mod definitions;
mod paths;
mod protobuf;

use crate::gvk::GroupVersionKind;
use crate::schema::TypeDef;
use definitions::{Definitions, Dialect};
use serde_json::{Value, json};
use std::sync::Arc;

pub use definitions::definition_name;
pub use protobuf::encode_v2;

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
    let schemas = definitions.render();
    let document = json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"BearerToken": security_scheme()},
        },
    });
    document.to_string().into_bytes()
}

/// The document of everything, served at `/openapi/v2` as JSON.
pub fn render_v2(server_version: &str, resources: &[Resource], describe: Describe) -> Vec<u8> {
    let versions = resources.iter().map(|resource| (resource.group.clone(), resource.version.clone())).collect();
    let mut definitions = Definitions::new(Dialect::V2, describe, versions);
    let all: Vec<&Resource> = resources.iter().collect();
    let paths = paths::render(&all, &mut definitions);
    let document = json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": server_version},
        "paths": paths,
        "definitions": definitions.render(),
        "securityDefinitions": {"BearerToken": security_scheme()},
        "security": [{"BearerToken": []}],
    });
    document.to_string().into_bytes()
}

/// `/openapi/v3`: where each document is. Entries are the group, the version and a hash
/// of the document, which changes the URL so that clients may keep what they fetched.
pub fn render_index<'a>(documents: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Value {
    let paths: serde_json::Map<String, Value> = documents
        .into_iter()
        .map(|(group, version, hash)| {
            let path = if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path, json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

fn security_scheme() -> Value {
    json!({"description": "Bearer Token authentication", "type": "apiKey", "name": "authorization", "in": "header"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gvk::GroupVersion;
    use crate::schema::of_kind;

    /// The resources of the table of facts, as the API server would give them.
    fn resources() -> Vec<Resource> {
        let mut out: Vec<Resource> = Vec::new();
        for line in include_str!("../../facts/resources.tsv").lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [group, version, resource, kind, scope, .., verbs] = columns.as_slice() else { panic!("{line}") };
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

    fn check_references(document: &Value, root: &Value, prefix: &str) {
        match document {
            Value::Object(map) => {
                if let Some(Value::String(reference)) = map.get("$ref") {
                    let name = reference.strip_prefix(prefix).unwrap_or_else(|| panic!("{reference}"));
                    assert!(root.get(name).is_some(), "{name} is referred to and not defined");
                }
                map.values().for_each(|value| check_references(value, root, prefix));
            }
            Value::Array(items) => items.iter().for_each(|value| check_references(value, root, prefix)),
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
            check_references(&document, &document["components"]["schemas"], "#/components/schemas/");
        }
        let document: Value =
            serde_json::from_slice(&render_v2("v1.36.4", &resources, no_descriptions())).expect("JSON");
        check_references(&document, &document["definitions"], "#/definitions/");
    }

    #[test]
    fn patch_operations_say_what_kubectl_looks_for() {
        for resource in resources().iter().filter(|resource| resource.verbs.iter().any(|verb| verb == "patch")) {
            let document = v3(&resource.group, &resource.version);
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
            render_index([("", "v1", "AB"), ("apps", "v1", "CD")]),
            json!({"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=AB"},
                             "apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=CD"}}})
        );
    }
}
