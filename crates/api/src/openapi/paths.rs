//! The operations of every resource: which URLs there are, what they take and give.

use super::definitions::{Definitions, Dialect};
use super::{Resource, Subresource, custom_name};
use crate::gvk::GroupVersionKind;
use crate::schema::{TypeDef, builtin};
use serde_json::{Map, Value, json};
use std::sync::Arc;

const PRODUCES: [&str; 3] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

const STREAMS: [&str; 2] = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

const LIST_PARAMETERS: [(&str, &str); 10] = [
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];

const WRITE_PARAMETERS: [(&str, &str); 3] =
    [("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string")];

const PATCH_PARAMETERS: [(&str, &str); 4] =
    [("dryRun", "string"), ("fieldManager", "string"), ("fieldValidation", "string"), ("force", "boolean")];

const DELETE_PARAMETERS: [(&str, &str); 5] = [
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

const DELETE_COLLECTION_PARAMETERS: [(&str, &str); 13] = [
    ("continue", "string"),
    ("dryRun", "string"),
    ("fieldSelector", "string"),
    ("gracePeriodSeconds", "integer"),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
];

pub(super) fn render(resources: &[&Resource], definitions: &mut Definitions) -> Map<String, Value> {
    let mut paths = Map::new();
    for resource in resources {
        Writer { resource, definitions, paths: &mut paths }.write();
    }
    paths
}

/// One operation before it is written in a dialect.
struct Operation {
    /// `read`, `list`…: the first word of the operationId.
    id: String,
    action: &'static str,
    description: String,
    parameters: Vec<(&'static str, &'static str)>,
    kind: GroupVersionKind,
    body: Body,
    /// The codes of success with what they carry.
    responses: Vec<(&'static str, Option<Value>)>,
    produces: Vec<&'static str>,
}

enum Body {
    None,
    Object(Value),
    Optional(Value),
    Patch(Value),
}

struct Writer<'a> {
    resource: &'a Resource,
    definitions: &'a mut Definitions,
    paths: &'a mut Map<String, Value>,
}

impl Writer<'_> {
    fn write(mut self) {
        let resource = self.resource;
        let (group, version, plural) = (&resource.group, &resource.version, &resource.plural);
        let root = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        let collection = if resource.namespaced {
            format!("{root}/namespaces/{{namespace}}/{plural}")
        } else {
            format!("{root}/{plural}")
        };

        self.discovery(&format!("{root}/"));
        let kind = self.kind();
        let item = resource.schema.clone();
        let list = resource.list_schema.clone().or_else(|| resource.schema.clone());
        let (object, listed) = match &resource.custom {
            Some(custom) => {
                // The schemas refer to these by name.
                self.meta("ObjectMeta");
                self.meta("ListMeta");
                let list = custom_name(group, version, &custom.list_kind);
                let listed = self.definitions.plain(&list, custom.list.clone());
                (self.custom_object(), listed)
            }
            None => (self.reference(&item), self.reference(&list)),
        };

        let mut methods = Map::new();
        if self.has("list") {
            let operation = self.list_operation(format!("list{}", self.id("")), &listed);
            methods.insert("get".into(), self.operation(operation));
        }
        if self.has("create") {
            let operation = Operation {
                id: format!("create{}", self.id("")),
                action: "post",
                description: format!("create a {}", resource.kind),
                parameters: WRITE_PARAMETERS.to_vec(),
                kind: kind.clone(),
                body: Body::Object(object.clone()),
                responses: vec![
                    ("200", Some(object.clone())),
                    ("201", Some(object.clone())),
                    ("202", Some(object.clone())),
                ],
                produces: PRODUCES.to_vec(),
            };
            methods.insert("post".into(), self.operation(operation));
        }
        if self.has("deletecollection") {
            let (options, status) = (self.meta("DeleteOptions"), self.meta("Status"));
            let operation = Operation {
                id: format!("delete{}", self.id("Collection")),
                action: "deletecollection",
                description: format!("delete collection of {}", resource.kind),
                parameters: DELETE_COLLECTION_PARAMETERS.to_vec(),
                kind: kind.clone(),
                body: Body::Optional(options),
                responses: vec![("200", Some(status))],
                produces: PRODUCES.to_vec(),
            };
            methods.insert("delete".into(), self.operation(operation));
        }
        self.path(collection.clone(), methods, &[]);

        if resource.namespaced && self.has("list") {
            let id = format!("list{}{}ForAllNamespaces", self.group_version_id(), resource.kind);
            let operation = self.list_operation(id, &listed);
            let methods = Map::from_iter([("get".to_owned(), self.operation(operation))]);
            self.all_namespaces_path(format!("{root}/{plural}"), methods);
        }

        let mut methods = Map::new();
        self.object_methods(&resource.verbs, "", &kind, &object, &mut methods);
        self.path(format!("{collection}/{{name}}"), methods, &["name"]);

        for subresource in &resource.subresources {
            self.subresource(&collection, subresource);
        }
    }

    fn subresource(&mut self, collection: &str, subresource: &Subresource) {
        let name = &subresource.name;
        let suffix = capitalize(name);
        let mut methods = Map::new();
        // What connects (exec, proxy) or streams (log) has no object to give.
        let is_custom_status = self.resource.custom.is_some() && name == "status";
        let has_object = subresource.schema.is_some() || is_custom_status;
        if !has_object || subresource.kind.kind.ends_with("Options") || name == "log" {
            for verb in &subresource.verbs {
                let (method, action) = match verb.as_str() {
                    "get" if name == "log" => ("get", "get"),
                    "get" => ("get", "connect"),
                    "create" => ("post", "connect"),
                    "update" => ("put", "connect"),
                    "patch" => ("patch", "connect"),
                    "delete" => ("delete", "connect"),
                    _ => continue,
                };
                let id = if name == "log" {
                    format!("read{}{suffix}", self.id(""))
                } else {
                    format!("connect{}{}", self.id(&capitalize(method)), suffix)
                };
                let operation = Operation {
                    id,
                    action,
                    description: format!("{name} of {}", self.resource.kind),
                    parameters: Vec::new(),
                    kind: subresource.kind.clone(),
                    body: Body::None,
                    responses: vec![("200", Some(json!({"type": "string"})))],
                    produces: vec!["text/plain", "application/json"],
                };
                methods.insert(method.into(), self.operation(operation));
            }
        } else {
            let object = if is_custom_status { self.custom_object() } else { self.reference(&subresource.schema) };
            self.object_methods(&subresource.verbs, &suffix, &subresource.kind, &object, &mut methods);
            if subresource.verbs.iter().any(|verb| verb == "create") {
                let operation = Operation {
                    id: format!("create{}{suffix}", self.id("")),
                    action: "post",
                    description: format!("create {name} of a {}", self.resource.kind),
                    parameters: WRITE_PARAMETERS.to_vec(),
                    kind: subresource.kind.clone(),
                    body: Body::Object(object.clone()),
                    responses: vec![
                        ("200", Some(object.clone())),
                        ("201", Some(object.clone())),
                        ("202", Some(object.clone())),
                    ],
                    produces: PRODUCES.to_vec(),
                };
                methods.insert("post".into(), self.operation(operation));
            }
        }
        self.path(format!("{collection}/{{name}}/{name}"), methods, &["name"]);
    }

    /// get, update, patch and delete of one object or of a part of it.
    fn object_methods(
        &mut self,
        verbs: &[String],
        suffix: &str,
        kind: &GroupVersionKind,
        object: &Value,
        methods: &mut Map<String, Value>,
    ) {
        let of = if suffix.is_empty() { String::new() } else { format!("{} of ", suffix.to_lowercase()) };
        let resource_kind = &self.resource.kind;
        for verb in verbs {
            let base = |id: &str, action, what: &str| Operation {
                id: id.to_owned(),
                action,
                description: format!("{what} {of}the specified {resource_kind}"),
                parameters: Vec::new(),
                kind: kind.clone(),
                body: Body::None,
                responses: vec![("200", Some(object.clone()))],
                produces: PRODUCES.to_vec(),
            };
            let (method, operation) = match verb.as_str() {
                "get" => ("get", base("read", "get", "read")),
                "update" => (
                    "put",
                    Operation {
                        parameters: WRITE_PARAMETERS.to_vec(),
                        body: Body::Object(object.clone()),
                        responses: vec![("200", Some(object.clone())), ("201", Some(object.clone()))],
                        ..base("replace", "put", "replace")
                    },
                ),
                "patch" => {
                    let patch =
                        self.definitions.plain("io.k8s.apimachinery.pkg.apis.meta.v1.Patch", json!({"type": "object"}));
                    (
                        "patch",
                        Operation {
                            parameters: PATCH_PARAMETERS.to_vec(),
                            body: Body::Patch(patch),
                            responses: vec![("200", Some(object.clone())), ("201", Some(object.clone()))],
                            ..base("patch", "patch", "partially update")
                        },
                    )
                }
                "delete" => {
                    let (options, status) = (self.meta("DeleteOptions"), self.meta("Status"));
                    (
                        "delete",
                        Operation {
                            parameters: DELETE_PARAMETERS.to_vec(),
                            body: Body::Optional(options),
                            responses: vec![("200", Some(status.clone())), ("202", Some(status))],
                            ..base("delete", "delete", "delete")
                        },
                    )
                }
                _ => continue,
            };
            let id = format!("{}{}{suffix}", operation.id, self.id(""));
            methods.insert(method.into(), self.operation(Operation { id, ..operation }));
        }
    }

    fn list_operation(&self, id: String, listed: &Value) -> Operation {
        Operation {
            id,
            action: "list",
            description: format!("list or watch objects of kind {}", self.resource.kind),
            parameters: LIST_PARAMETERS.to_vec(),
            kind: self.kind(),
            body: Body::None,
            responses: vec![("200", Some(listed.clone()))],
            produces: PRODUCES.iter().chain(&STREAMS).copied().collect(),
        }
    }

    /// The list of resources that discovery gives.
    fn discovery(&mut self, path: &str) {
        if self.paths.contains_key(path) {
            return;
        }
        let listed = self.meta("APIResourceList");
        // No operation names the type of watch events, yet clients look for it.
        self.meta("WatchEvent");
        let operation = Operation {
            id: format!("get{}APIResources", self.group_version_id()),
            action: "",
            description: "get available resources".to_owned(),
            parameters: Vec::new(),
            kind: self.kind(),
            body: Body::None,
            responses: vec![("200", Some(listed))],
            produces: PRODUCES.to_vec(),
        };
        let mut rendered = self.operation(operation);
        if let Some(map) = rendered.as_object_mut() {
            map.remove("x-kubernetes-action");
            map.remove("x-kubernetes-group-version-kind");
        }
        self.paths.insert(path.to_owned(), json!({ "get": rendered }));
    }

    fn operation(&mut self, operation: Operation) -> Value {
        let v3 = self.definitions.dialect == Dialect::V3;
        let offered = |list: &[&'static str]| -> Vec<&'static str> {
            list.iter().copied().filter(|media| self.is_offered(media)).collect()
        };
        let (patches, produces) = (offered(&PATCHES), offered(&operation.produces));
        let mut out = Map::new();
        out.insert("operationId".into(), operation.id.into());
        out.insert("description".into(), operation.description.into());
        out.insert("tags".into(), json!([self.tag()]));
        out.insert("x-kubernetes-action".into(), operation.action.into());
        let kind = &operation.kind;
        out.insert(
            "x-kubernetes-group-version-kind".into(),
            json!({"group": kind.group, "version": kind.version, "kind": kind.kind}),
        );
        let mut parameters: Vec<Value> =
            operation.parameters.iter().map(|(name, ty)| self.parameter("query", name, ty)).collect();

        match operation.body {
            Body::None => {}
            Body::Object(schema) | Body::Optional(schema) if v3 => {
                let required = out
                    .get("x-kubernetes-action")
                    .is_some_and(|action| !matches!(action.as_str(), Some("delete" | "deletecollection")));
                let mut body = json!({"content": {"*/*": {"schema": schema}}});
                if required {
                    body["required"] = true.into();
                }
                out.insert("requestBody".into(), body);
            }
            Body::Patch(schema) if v3 => {
                let content: Map<String, Value> =
                    patches.iter().map(|media| ((*media).to_owned(), json!({"schema": schema}))).collect();
                out.insert("requestBody".into(), json!({"content": content, "required": true}));
            }
            Body::Object(schema) => {
                parameters.push(json!({"in": "body", "name": "body", "required": true, "schema": schema}));
                out.insert("consumes".into(), json!(["*/*"]));
            }
            Body::Optional(schema) => {
                parameters.push(json!({"in": "body", "name": "body", "schema": schema}));
                out.insert("consumes".into(), json!(["*/*"]));
            }
            Body::Patch(schema) => {
                parameters.push(json!({"in": "body", "name": "body", "required": true, "schema": schema}));
                out.insert("consumes".into(), json!(patches));
            }
        }
        if !parameters.is_empty() {
            out.insert("parameters".into(), Value::Array(parameters));
        }

        let mut responses = Map::new();
        for (code, schema) in operation.responses {
            let description = match code {
                "201" => "Created",
                "202" => "Accepted",
                _ => "OK",
            };
            let mut response = json!({ "description": description });
            match schema {
                Some(schema) if v3 => {
                    let content: Map<String, Value> =
                        produces.iter().map(|media| ((*media).to_owned(), json!({"schema": schema}))).collect();
                    response["content"] = Value::Object(content);
                }
                Some(schema) => response["schema"] = schema,
                None => {}
            }
            responses.insert(code.to_owned(), response);
        }
        responses.insert("401".into(), json!({"description": "Unauthorized"}));
        out.insert("responses".into(), Value::Object(responses));
        if !v3 {
            out.insert("produces".into(), json!(produces));
            out.insert("schemes".into(), json!(["https"]));
        }
        Value::Object(out)
    }

    fn parameter(&self, place: &str, name: &str, ty: &str) -> Value {
        let mut parameter = match self.definitions.dialect {
            Dialect::V3 => json!({"in": place, "name": name, "schema": {"type": ty, "uniqueItems": true}}),
            Dialect::V2 => json!({"in": place, "name": name, "type": ty, "uniqueItems": true}),
        };
        if place == "path" {
            parameter["required"] = true.into();
        }
        parameter
    }

    fn path(&mut self, path: String, methods: Map<String, Value>, in_path: &[&str]) {
        let namespace: &[&str] = if self.resource.namespaced { &["namespace"] } else { &[] };
        self.insert(path, methods, in_path.iter().chain(namespace).copied().collect());
    }

    fn all_namespaces_path(&mut self, path: String, methods: Map<String, Value>) {
        self.insert(path, methods, Vec::new());
    }

    fn insert(&mut self, path: String, mut methods: Map<String, Value>, in_path: Vec<&str>) {
        if methods.is_empty() {
            return;
        }
        let mut parameters: Vec<Value> =
            in_path.into_iter().map(|name| self.parameter("path", name, "string")).collect();
        parameters.push(self.parameter("query", "pretty", "string"));
        methods.insert("parameters".into(), Value::Array(parameters));
        self.paths.insert(path, Value::Object(methods));
    }

    fn has(&self, verb: &str) -> bool {
        self.resource.verbs.iter().any(|known| known == verb)
    }

    fn kind(&self) -> GroupVersionKind {
        let resource = self.resource;
        GroupVersionKind::new(resource.group.clone(), resource.version.clone(), resource.kind.clone())
    }

    fn reference(&mut self, definition: &Option<Arc<TypeDef>>) -> Value {
        match definition {
            Some(definition) => self.definitions.reference(definition),
            None => json!({"type": "object"}),
        }
    }

    fn custom_object(&mut self) -> Value {
        let resource = self.resource;
        let schema = resource.custom.as_ref().map(|custom| custom.object.clone()).unwrap_or_default();
        self.definitions.plain(&custom_name(&resource.group, &resource.version, &resource.kind), schema)
    }

    /// Custom resources have no protobuf form and no strategic merge.
    fn is_offered(&self, media: &str) -> bool {
        self.resource.custom.is_none() || !(media.contains("protobuf") || media.contains("strategic"))
    }

    fn meta(&mut self, name: &str) -> Value {
        self.reference(&builtin().get("meta/v1", name).cloned())
    }

    /// `AppsV1NamespacedDeployment`, with a word after the version if one is given.
    fn id(&self, word: &str) -> String {
        let namespaced = if self.resource.namespaced { "Namespaced" } else { "" };
        format!("{}{word}{namespaced}{}", self.group_version_id(), self.resource.kind)
    }

    /// `RbacAuthorizationV1`, `CoreV1`.
    fn group_version_id(&self) -> String {
        let group = match self.resource.group.as_str() {
            "" => "core",
            group => group.strip_suffix(".k8s.io").unwrap_or(group),
        };
        let group: String = group.split(['.', '-']).map(capitalize).collect();
        format!("{group}{}", capitalize(&self.resource.version))
    }

    /// `rbacAuthorization_v1`, `core_v1`.
    fn tag(&self) -> String {
        let id = self.group_version_id();
        let group = id.strip_suffix(&capitalize(&self.resource.version)).unwrap_or(&id);
        let mut letters = group.chars();
        let first = letters.next().map(|c| c.to_ascii_lowercase()).into_iter();
        format!("{}_{}", first.chain(letters).collect::<String>(), self.resource.version)
    }
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase()).into_iter();
    first.chain(letters).collect()
}
