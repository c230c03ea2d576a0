//! Which operations each resource has: the URLs, what they take and what they give. Rows of
//! custom resources say less, as upstream's do (apiextensions-apiserver's
//! controller/openapi/builder): no protobuf, no watch paths, no strategic merge.

use super::definitions::Definitions;
use super::operation::{Body, Operation, Parameter, render_path};
use super::{Resource, Subresource, custom_name};
use crate::gvk::GroupVersionKind;
use crate::schema::{TypeDef, builtin};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) const MEDIA: [&str; 3] = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

const STREAMS: [&str; 2] = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

pub(super) fn render(resources: &[&Resource], definitions: &mut Definitions) -> Map<String, Value> {
    let mut paths = Map::new();
    for resource in resources {
        Writer { resource, definitions, paths: &mut paths }.write();
    }
    paths
}

/// The operations of one path by method.
type Operations = Vec<(&'static str, Operation)>;

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
        let scoped = if resource.namespaced { format!("namespaces/{{namespace}}/{plural}") } else { plural.clone() };
        let collection = format!("{root}/{scoped}");

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
            None => {
                self.discovery(format!("{root}/"));
                (self.reference(&item), self.reference(&list))
            }
        };

        let mut operations = Operations::new();
        if self.has("list") {
            operations.push(("get", self.list(format!("list{}", self.id("")), &listed)));
        }
        if self.has("create") {
            operations.push(("post", self.create("", &object)));
        }
        if self.has("deletecollection") {
            operations.push(("delete", self.delete_collection()));
        }
        self.insert(collection.clone(), operations, &[]);

        if resource.namespaced && self.has("list") {
            let id = format!("list{}{}ForAllNamespaces", self.group_version_id(), resource.kind);
            let operation = self.list(id, &listed);
            self.insert_with(format!("{root}/{plural}"), vec![("get", operation)], &[]);
        }

        let operations = self.object_operations(&resource.verbs, "", &object);
        self.insert(format!("{collection}/{{name}}"), operations, &["name"]);

        for subresource in &resource.subresources {
            self.subresource(&collection, subresource);
        }
        if self.has("watch") && resource.custom.is_none() {
            self.watches(&root, &scoped);
        }
    }

    fn subresource(&mut self, collection: &str, subresource: &Subresource) {
        let path = format!("{collection}/{{name}}/{}", subresource.name);
        let suffix = capitalize(&subresource.name);
        // What is read with options of its own (log) is no object.
        let reading = builtin().get("core/v1", &format!("{}{suffix}Options", self.resource.kind));
        if subresource.kind.kind.ends_with("Options") {
            self.connections(&path, subresource);
        } else if let Some(options) = reading.filter(|_| self.resource.group.is_empty()) {
            let description = format!("read {} of the specified {}", subresource.name, self.resource.kind);
            let id = format!("read{}{suffix}", self.id(""));
            let mut operation = self.operation(id, "get", description, &json!({"type": "string"}));
            operation.parameters.extend(Parameter::of_options(options, &[]));
            operation.produces.insert(0, "text/plain");
            self.insert(path, vec![("get", operation)], &["name"]);
        } else {
            let is_custom_status = self.resource.custom.is_some() && subresource.name == "status";
            let object = if is_custom_status { self.custom_object() } else { self.reference(&subresource.schema) };
            let mut operations = self.object_operations(&subresource.verbs, &suffix, &object);
            if subresource.verbs.iter().any(|verb| verb == "create") {
                operations.push(("post", self.create(&suffix, &object)));
            }
            // The parts of a custom resource count as the resource.
            if self.resource.custom.is_none() {
                for (_, operation) in &mut operations {
                    operation.action = operation.action.take().map(|(action, _)| (action, subresource.kind.clone()));
                }
            }
            self.insert(path, operations, &["name"]);
        }
    }

    /// exec, proxy…: the options are the query. Where they name a path, the connection is to
    /// an HTTP server: it takes every method, and the path may stand in the URL as well.
    fn connections(&mut self, path: &str, subresource: &Subresource) {
        let options = subresource.schema.as_ref().or_else(|| builtin().get("core/v1", &subresource.kind.kind));
        let parameters = options.map(|options| Parameter::of_options(options, &[])).unwrap_or_default();
        let is_proxy = options.is_some_and(|options| options.field("path").is_some());
        let mut methods: Vec<&'static str> = subresource.verbs.iter().filter_map(|verb| method_of(verb)).collect();
        if is_proxy {
            methods.extend(["head", "options"]);
        }
        let tails = [("", "", &["name"][..]), ("/{path}", "WithPath", &["name", "path"][..])];
        for (tail, word, in_path) in tails.into_iter().take(if is_proxy { 2 } else { 1 }) {
            let operations = methods.iter().map(|method| {
                let id = format!("connect{}{}{word}", self.id(&capitalize(method)), capitalize(&subresource.name));
                let description = format!(
                    "connect {} requests to {} of {}",
                    method.to_ascii_uppercase(),
                    subresource.name,
                    self.resource.kind
                );
                let operation = Operation {
                    action: Some(("connect", subresource.kind.clone())),
                    parameters: parameters.clone(),
                    produces: vec!["*/*"],
                    ..self.operation(id, "connect", description, &json!({"type": "string"}))
                };
                (*method, operation)
            });
            let operations = operations.collect();
            self.insert(format!("{path}{tail}"), operations, in_path);
        }
    }

    /// get, update, patch and delete of one object or of a part of it.
    fn object_operations(&mut self, verbs: &[String], suffix: &str, object: &Value) -> Operations {
        let of = if suffix.is_empty() { String::new() } else { format!("{} of ", suffix.to_lowercase()) };
        let is_custom = self.resource.custom.is_some();
        let mut operations = Operations::new();
        for verb in verbs {
            let Some(method) = method_of(verb) else { continue };
            let (word, what) = match verb.as_str() {
                "get" => ("read", "read"),
                "update" => ("replace", "replace"),
                "patch" => ("patch", "partially update"),
                "delete" => ("delete", "delete"),
                _ => continue,
            };
            let id = format!("{word}{}{suffix}", self.id(""));
            let description = format!("{what} {of}the specified {}", self.resource.kind);
            let mut operation = self.operation(id, method, description, object);
            match verb.as_str() {
                "get" if is_custom => operation.parameters.extend(options("GetOptions", &[])),
                "update" => {
                    operation.parameters.extend(options("UpdateOptions", &[]));
                    operation.body = Body::Required(object.clone());
                    operation.responses = carrying(&["200", "201"], object);
                }
                "patch" => {
                    let name = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch";
                    operation.parameters.extend(options("PatchOptions", &[]));
                    operation.body = Body::Patch(self.definitions.plain(name, json!({"type": "object"})));
                    operation.consumes = self.offered(&PATCHES);
                    operation.responses = carrying(if is_custom { &["200"] } else { &["200", "201"] }, object);
                }
                "delete" => {
                    let given = if self.resource.returns_deleted { object.clone() } else { self.meta("Status") };
                    operation.parameters.extend(options("DeleteOptions", &[]));
                    operation.body = Body::Optional(self.meta("DeleteOptions"));
                    operation.responses = carrying(&["200", "202"], &given);
                }
                _ => {}
            }
            operations.push((method, operation));
        }
        operations
    }

    fn create(&self, suffix: &str, object: &Value) -> Operation {
        let of = if suffix.is_empty() { String::new() } else { format!("{} of ", suffix.to_lowercase()) };
        let id = format!("create{}{suffix}", self.id(""));
        let mut operation = self.operation(id, "post", format!("create {of}a {}", self.resource.kind), object);
        operation.parameters.extend(options("CreateOptions", &[]));
        operation.body = Body::Required(object.clone());
        operation.responses = carrying(&["200", "201", "202"], object);
        operation
    }

    fn delete_collection(&mut self) -> Operation {
        let status = self.meta("Status");
        let id = format!("delete{}", self.id("Collection"));
        let description = format!("delete collection of {}", self.resource.kind);
        let mut operation = self.operation(id, "deletecollection", description, &status);
        if self.resource.custom.is_some() {
            operation.parameters.extend(options("ListOptions", &[]));
        } else {
            operation.parameters.extend(options("DeleteOptions", &[]));
            operation.parameters.extend(options("ListOptions", &["watch", "allowWatchBookmarks"]));
            operation.body = Body::Optional(self.meta("DeleteOptions"));
        }
        operation
    }

    fn list(&self, id: String, listed: &Value) -> Operation {
        let description = format!("list or watch objects of kind {}", self.resource.kind);
        let mut operation = self.operation(id, "list", description, listed);
        operation.parameters.extend(options("ListOptions", &[]));
        if self.resource.custom.is_none() {
            operation.produces.extend(STREAMS);
        }
        operation
    }

    /// The paths that watched before `?watch=true` did. They are served and deprecated.
    fn watches(&mut self, root: &str, scoped: &str) {
        let event = self.meta("WatchEvent");
        let watch = |writer: &Self, id: String, action, what: &str| {
            let description = format!("{what} of kind {}; deprecated: list with watch", writer.resource.kind);
            let mut operation = writer.operation(id, action, description, &event);
            operation.parameters.extend(options("ListOptions", &[]));
            operation.produces.extend(STREAMS);
            vec![("get", operation)]
        };
        let one = watch(self, format!("watch{}", self.id("")), "watch", "watch one object");
        let all = watch(self, format!("watch{}List", self.id("")), "watchlist", "watch the objects");
        self.insert(format!("{root}/watch/{scoped}/{{name}}"), one, &["name"]);
        self.insert(format!("{root}/watch/{scoped}"), all, &[]);
        if self.resource.namespaced {
            let id = format!("watch{}{}ListForAllNamespaces", self.group_version_id(), self.resource.kind);
            let everywhere = watch(self, id, "watchlist", "watch the objects of all namespaces");
            self.insert_with(format!("{root}/watch/{}", self.resource.plural), everywhere, &[]);
        }
    }

    /// The list of resources that discovery gives.
    fn discovery(&mut self, path: String) {
        if self.paths.contains_key(&path) {
            return;
        }
        let listed = self.meta("APIResourceList");
        let id = format!("get{}APIResources", self.group_version_id());
        let operation = Operation {
            action: None,
            parameters: Vec::new(),
            consumes: MEDIA.to_vec(),
            ..self.operation(id, "", "get available resources".to_owned(), &listed)
        };
        let item = render_path(vec![("get", operation)], self.definitions.dialect);
        self.paths.insert(path, item);
    }

    /// An operation that takes nothing and gives this.
    fn operation(&self, id: String, action: &'static str, description: String, given: &Value) -> Operation {
        Operation {
            id,
            description,
            tag: self.tag(),
            action: Some((action, self.kind())),
            parameters: vec![Parameter::query("pretty", "string")],
            body: Body::None,
            consumes: if self.resource.custom.is_some() { self.offered(&MEDIA) } else { vec!["*/*"] },
            produces: self.offered(&MEDIA),
            responses: carrying(&["200"], given),
        }
    }

    /// A path below the namespace, if the resource has one.
    fn insert(&mut self, path: String, operations: Operations, in_path: &[&str]) {
        let namespace: &[&str] = if self.resource.namespaced { &["namespace"] } else { &[] };
        let in_path: Vec<&str> = in_path.iter().chain(namespace).copied().collect();
        self.insert_with(path, operations, &in_path);
    }

    fn insert_with(&mut self, path: String, mut operations: Operations, in_path: &[&str]) {
        if operations.is_empty() {
            return;
        }
        for (_, operation) in &mut operations {
            operation.parameters.extend(in_path.iter().map(|name| Parameter::path(name)));
        }
        self.paths.insert(path, render_path(operations, self.definitions.dialect));
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
    fn offered(&self, media: &[&'static str]) -> Vec<&'static str> {
        let is_builtin = self.resource.custom.is_none();
        let offered =
            |media: &&&'static str| is_builtin || !(media.contains("protobuf") || media.contains("strategic"));
        media.iter().filter(offered).copied().collect()
    }

    fn meta(&mut self, name: &str) -> Value {
        self.definitions.meta(name)
    }

    /// `AppsV1NamespacedDeployment`, with a word after the version if one is given.
    fn id(&self, word: &str) -> String {
        let namespaced = if self.resource.namespaced { "Namespaced" } else { "" };
        format!("{}{word}{namespaced}{}", self.group_version_id(), self.resource.kind)
    }

    /// `RbacAuthorizationV1`, `CoreV1`.
    fn group_version_id(&self) -> String {
        format!("{}{}", group_id(&self.resource.group), capitalize(&self.resource.version))
    }

    /// `rbacAuthorization_v1`, `core_v1`.
    fn tag(&self) -> String {
        format!("{}_{}", group_tag(&self.resource.group), self.resource.version)
    }
}

fn options(name: &str, except: &[&str]) -> Vec<Parameter> {
    builtin().get("meta/v1", name).map(|options| Parameter::of_options(options, except)).unwrap_or_default()
}

fn carrying(codes: &[&'static str], value: &Value) -> Vec<(&'static str, Value)> {
    codes.iter().map(|code| (*code, value.clone())).collect()
}

fn method_of(verb: &str) -> Option<&'static str> {
    match verb {
        "get" => Some("get"),
        "create" => Some("post"),
        "update" => Some("put"),
        "patch" => Some("patch"),
        "delete" => Some("delete"),
        _ => None,
    }
}

/// `RbacAuthorization` for `rbac.authorization.k8s.io`, `Core` for the group without a name.
pub(super) fn group_id(group: &str) -> String {
    let group = if group.is_empty() { "core" } else { group.strip_suffix(".k8s.io").unwrap_or(group) };
    group.split(['.', '-']).map(capitalize).collect()
}

/// `rbacAuthorization`, `core`.
pub(super) fn group_tag(group: &str) -> String {
    let id = group_id(group);
    let mut letters = id.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase()).into_iter();
    first.chain(letters).collect()
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase()).into_iter();
    first.chain(letters).collect()
}
