//! The schema in the terms of builtin types, for server-side apply and OpenAPI.

use super::node::{Additional, ListKind, Node};
use ferry_api::schema::{Field, ListType, Special, StructType, Type, TypeDef, TypeRef, builtin};
use std::sync::Arc;

/// The type of a whole resource. `package` is `<group>/<version>`, `name` the kind.
pub(super) fn of_root(root: &Node, preserves: bool, package: &str, name: &str) -> Arc<TypeDef> {
    Arc::new(definition(root, &package.into(), name, true, preserves))
}

fn definition(node: &Node, package: &Arc<str>, name: &str, is_resource: bool, preserves: bool) -> TypeDef {
    let mut fields = Vec::new();
    if is_resource {
        fields.extend(["apiVersion", "kind"].map(|name| Field::new(name.into(), Type::String)));
        if let Some(metadata) = builtin().get("meta/v1", "ObjectMeta") {
            let metadata = Type::Struct(TypeRef::to(metadata.clone()));
            fields.push(Field::new("metadata".into(), metadata));
        }
    }
    for (field_name, part) in &node.properties {
        let is_meta = matches!(&**field_name, "apiVersion" | "kind" | "metadata");
        if is_resource && is_meta {
            continue;
        }
        let mut field = field(part, package, field_name, &format!("{name}.{field_name}"));
        field.required = node.checks.required.contains(field_name);
        field.optional = !field.required;
        fields.push(field);
    }
    let mut definition = TypeDef::new(package.clone(), name.into(), fields);
    definition.preserve_unknown = preserves || node.preserves_unknown || matches!(node.additional, Additional::Any);
    definition.struct_type = node.map_is_atomic.then_some(StructType::Atomic);
    definition
}

fn field(node: &Node, package: &Arc<str>, field_name: &str, type_name: &str) -> Field {
    let mut field = Field::new(field_name.into(), type_of(node, package, type_name));
    field.default.clone_from(&node.default);
    match (&field.ty, &node.list) {
        (Type::List(_), ListKind::Atomic) => {}
        (Type::List(_), ListKind::Set) => field.list_type = Some(ListType::Set),
        (Type::List(_), ListKind::Map(keys)) => {
            field.list_type = Some(ListType::Map);
            field.list_map_keys = keys.iter().map(|key| Arc::from(&**key)).collect();
        }
        (Type::Map(_), _) if node.map_is_atomic => field.map_type = Some(StructType::Atomic),
        (Type::Struct(_), _) if node.map_is_atomic => field.struct_type = Some(StructType::Atomic),
        _ => {}
    }
    field
}

fn type_of(node: &Node, package: &Arc<str>, name: &str) -> Type {
    if node.int_or_string {
        return Type::Special(Special::IntOrString);
    }
    match &*node.kind {
        "string" => Type::String,
        "integer" => Type::Int64,
        "number" => Type::Float64,
        "boolean" => Type::Bool,
        "array" => match node.items.as_deref() {
            Some(items) => Type::List(Arc::new(type_of(items, package, name))),
            None => Type::List(Arc::new(Type::Special(Special::Json))),
        },
        "object" => match &node.additional {
            Additional::Schema(values) if node.properties.is_empty() => {
                Type::Map(Arc::new(type_of(values, package, name)))
            }
            // Of what nothing is said, anything is kept: apply finds the shape itself.
            _ if is_open(node) => Type::Special(Special::Json),
            _ => Type::Struct(TypeRef::to(Arc::new(definition(node, package, name, node.embedded, false)))),
        },
        _ => Type::Special(Special::Json),
    }
}

/// Whether a schema describes no field and keeps them all. One that is atomic stays a
/// struct, so that apply owns it whole.
fn is_open(node: &Node) -> bool {
    let keeps = node.preserves_unknown || matches!(node.additional, Additional::Any);
    keeps && node.properties.is_empty() && !node.embedded && !node.map_is_atomic
}
