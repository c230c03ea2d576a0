//! One operation and how each dialect writes it: parameters, bodies, answers. `paths.rs` and
//! `roots.rs` say which operations there are.

use super::definitions::Dialect;
use crate::gvk::GroupVersionKind;
use crate::schema::{Type, TypeDef};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value in the URL. The order is that in which documents list them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parameter {
    name: Arc<str>,
    place: Place,
    ty: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Path,
    Query,
}

impl Parameter {
    pub(super) fn path(name: &str) -> Self {
        Self { name: name.into(), place: Place::Path, ty: "string" }
    }

    pub(super) fn query(name: &str, ty: &'static str) -> Self {
        Self { name: name.into(), place: Place::Query, ty }
    }

    /// The fields of a type of options that a query string can carry, without those named.
    /// Upstream leaves out whatever is a struct in Go, times among them (AddObjectParams in
    /// apiserver's endpoints/installer.go), and gives a list the type of its items.
    pub(super) fn of_options(options: &TypeDef, except: &[&str]) -> Vec<Self> {
        let own = options.fields.iter().filter(|field| field.embedded_name.is_none());
        own.filter(|field| !except.contains(&field.name.as_ref()))
            .filter_map(|field| Some(Self { name: field.name.clone(), place: Place::Query, ty: scalar(&field.ty)? }))
            .collect()
    }

    fn render(&self, dialect: Dialect) -> Value {
        let place = if self.place == Place::Path { "path" } else { "query" };
        let name = self.name.as_ref();
        let mut parameter = match dialect {
            Dialect::V3 => json!({"in": place, "name": name, "schema": {"type": self.ty, "uniqueItems": true}}),
            Dialect::V2 => json!({"in": place, "name": name, "type": self.ty, "uniqueItems": true}),
        };
        if self.place == Place::Path {
            parameter["required"] = true.into();
        }
        parameter
    }
}

fn scalar(ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Bool => Some("boolean"),
        Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 => Some("integer"),
        Type::Float64 => Some("number"),
        Type::String => Some("string"),
        Type::List(item) => scalar(item),
        Type::Bytes | Type::Map(_) | Type::Struct(_) | Type::Special(_) => None,
    }
}

pub(super) enum Body {
    None,
    Required(Value),
    Optional(Value),
    Patch(Value),
}

/// One operation before it is written in a dialect.
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) tag: String,
    /// What is done to objects of which kind; `None` where the path names no resource.
    pub(super) action: Option<(&'static str, GroupVersionKind)>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Body,
    pub(super) consumes: Vec<&'static str>,
    pub(super) produces: Vec<&'static str>,
    /// The codes of success with what they carry.
    pub(super) responses: Vec<(&'static str, Value)>,
}

/// The operations of one path by method. What each of them takes from the URL is said once
/// for the path (kube-openapi's builder does so by name and place).
pub(super) fn render_path(operations: Vec<(&'static str, Operation)>, dialect: Dialect) -> Value {
    let is_common = |parameter: &Parameter| {
        operations.iter().all(|(_, operation)| {
            operation.parameters.iter().any(|own| (own.place, &own.name) == (parameter.place, &parameter.name))
        })
    };
    let first = operations.first().map(|(_, operation)| operation.parameters.as_slice()).unwrap_or_default();
    let mut common: Vec<Parameter> = first.iter().filter(|parameter| is_common(parameter)).cloned().collect();
    common.sort();
    let mut item = Map::new();
    for (method, mut operation) in operations {
        operation
            .parameters
            .retain(|own| !common.iter().any(|parameter| (own.place, &own.name) == (parameter.place, &parameter.name)));
        item.insert(method.to_owned(), operation.render(dialect));
    }
    if !common.is_empty() {
        let common: Vec<Value> = common.iter().map(|parameter| parameter.render(dialect)).collect();
        item.insert("parameters".into(), common.into());
    }
    Value::Object(item)
}

impl Operation {
    fn render(mut self, dialect: Dialect) -> Value {
        let v3 = dialect == Dialect::V3;
        let mut out = Map::new();
        out.insert("operationId".into(), self.id.into());
        out.insert("description".into(), self.description.into());
        out.insert("tags".into(), json!([self.tag]));
        if let Some((action, kind)) = self.action {
            out.insert("x-kubernetes-action".into(), action.into());
            out.insert(
                "x-kubernetes-group-version-kind".into(),
                json!({"group": kind.group, "version": kind.version, "kind": kind.kind}),
            );
        }
        self.parameters.sort();
        let mut parameters: Vec<Value> = self.parameters.iter().map(|own| own.render(dialect)).collect();
        let body = match self.body {
            Body::None => None,
            Body::Required(schema) => Some((schema, true, vec!["*/*"])),
            Body::Optional(schema) => Some((schema, false, vec!["*/*"])),
            Body::Patch(schema) => Some((schema, true, self.consumes.clone())),
        };
        if let Some((schema, required, media)) = body {
            let mut body = if v3 {
                json!({ "content": with_schema(&media, &schema) })
            } else {
                json!({"in": "body", "name": "body", "schema": schema})
            };
            if required {
                body["required"] = true.into();
            }
            if v3 {
                out.insert("requestBody".into(), body);
            } else {
                // "body" comes before any other name that operations have.
                parameters.insert(0, body);
            }
        }
        if !parameters.is_empty() {
            out.insert("parameters".into(), parameters.into());
        }
        let mut responses = Map::new();
        for (code, schema) in self.responses {
            let description = match code {
                "201" => "Created",
                "202" => "Accepted",
                _ => "OK",
            };
            let response = if v3 {
                json!({"description": description, "content": with_schema(&self.produces, &schema)})
            } else {
                json!({"description": description, "schema": schema})
            };
            responses.insert(code.to_owned(), response);
        }
        responses.insert("401".into(), json!({"description": "Unauthorized"}));
        out.insert("responses".into(), responses.into());
        if !v3 {
            if !self.consumes.is_empty() {
                out.insert("consumes".into(), json!(self.consumes));
            }
            out.insert("produces".into(), json!(self.produces));
            out.insert("schemes".into(), json!(["https"]));
        }
        Value::Object(out)
    }
}

fn with_schema(media: &[&'static str], schema: &Value) -> Map<String, Value> {
    media.iter().map(|media| ((*media).to_owned(), json!({ "schema": schema }))).collect()
}

/// Takes the parameters that many paths have out of them and leaves references. Version 2
/// is one document for all, so they are a good part of it. Which ones stay is
/// upstream's choice (kube-openapi's builder/parameters.go): older kubectl looks for dryRun
/// and fieldValidation in the operations, and a name is said to be that of its kind.
pub(super) fn share_parameters(paths: &mut Map<String, Value>) -> Map<String, Value> {
    let mut shared: BTreeMap<String, Value> = BTreeMap::new();
    for item in paths.values_mut().filter_map(Value::as_object_mut) {
        for (key, value) in item {
            let list = if key == "parameters" { Some(value) } else { value.get_mut("parameters") };
            for parameter in list.and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(name) = shared_name(parameter) {
                    let reference = json!({"$ref": format!("#/parameters/{name}")});
                    shared.insert(name, std::mem::replace(parameter, reference));
                }
            }
        }
    }
    shared.into_iter().collect()
}

/// `limit-1NfNmdNH`: the name with a hash of all that is said; `None` for what stays.
fn shared_name(parameter: &Value) -> Option<String> {
    let name = parameter.get("name")?.as_str()?;
    if matches!(name, "name" | "fieldValidation" | "dryRun") {
        return None;
    }
    let of_meta = |pointer: &str| pointer.starts_with("#/definitions/io.k8s.apimachinery");
    if name == "body" && !parameter["schema"]["$ref"].as_str().is_some_and(of_meta) {
        return None;
    }
    // FNV-1, as upstream has it.
    let hash = parameter
        .to_string()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(byte));
    Some(format!("{name}-{}", URL_SAFE.encode(&hash.to_be_bytes()[..6])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::builtin;

    fn operation(parameters: Vec<Parameter>) -> Operation {
        Operation {
            id: "readX".into(),
            description: String::new(),
            tag: "x".into(),
            action: None,
            parameters,
            body: Body::None,
            consumes: Vec::new(),
            produces: vec!["application/json"],
            responses: vec![("200", json!({"type": "string"}))],
        }
    }

    #[test]
    fn what_all_operations_take_is_said_once() {
        let (name, pretty, force) =
            (Parameter::path("name"), Parameter::query("pretty", "string"), Parameter::query("force", "boolean"));
        let item = render_path(
            vec![
                ("get", operation(vec![pretty.clone(), name.clone()])),
                ("patch", operation(vec![force, pretty, name])),
            ],
            Dialect::V2,
        );
        let names = |list: &Value| -> Vec<String> {
            let list = list.as_array().expect("parameters");
            list.iter().map(|own| own["name"].as_str().expect("a name").to_owned()).collect()
        };
        assert_eq!(names(&item["parameters"]), ["name", "pretty"]);
        assert_eq!(names(&item["patch"]["parameters"]), ["force"]);
        assert!(item["get"].get("parameters").is_none());
    }

    #[test]
    fn options_become_parameters_where_a_query_can_carry_them() {
        let options = builtin().get("core/v1", "PodLogOptions").expect("a type");
        let parameters = Parameter::of_options(options, &["stream"]);
        let of = |name: &str| parameters.iter().find(|own| own.name.as_ref() == name).map(|own| own.ty);
        assert_eq!(
            (of("follow"), of("tailLines"), of("container")),
            (Some("boolean"), Some("integer"), Some("string"))
        );
        assert_eq!((of("sinceTime"), of("kind"), of("stream")), (None, None, None));
        let command = builtin().get("core/v1", "PodExecOptions").expect("a type");
        assert!(Parameter::of_options(command, &[]).contains(&Parameter::query("command", "string")));
    }

    #[test]
    fn parameters_of_many_paths_are_shared() {
        let item = json!({
            "get": {"parameters": [{"in": "query", "name": "limit", "type": "integer"}]},
            "parameters": [{"in": "path", "name": "name"}, {"in": "query", "name": "limit", "type": "integer"}],
        });
        let mut paths = Map::from_iter([("/a".to_owned(), item.clone()), ("/b".to_owned(), item)]);
        let shared = share_parameters(&mut paths);
        let (name, limit) = shared.iter().next().expect("one is shared");
        assert_eq!((shared.len(), limit["name"].as_str()), (1, Some("limit")));
        let reference = json!({"$ref": format!("#/parameters/{name}")});
        assert_eq!(paths["/b"]["get"]["parameters"], json!([reference]));
        assert_eq!(paths["/b"]["parameters"], json!([{"in": "path", "name": "name"}, reference]));
    }
}
