//! What every type looks like: one table of facts that alone drives strict decoding,
//! pruning, strategic merge, server-side apply, protobuf and OpenAPI.
//!
//! The facts live in `facts/*.facts`, one block a type, and are parsed once on first
//! use (`parse.rs`). A custom resource builds the same [`TypeDef`]s at run time.

use crate::gvk::GroupVersionKind;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

mod parse;

pub use parse::{builtin, of_kind};

/// A named type with fields: `core/v1.PodSpec`.
#[derive(Debug)]
pub struct TypeDef {
    /// `core/v1` – the file of facts the type stands in.
    pub package: Arc<str>,
    /// `PodSpec`.
    pub name: Arc<str>,
    /// As JSON has them, in the order of declaration: the fields of an embedded struct
    /// stand here with the others, each remembering where protobuf nests it.
    pub fields: Vec<Field>,
    pub(crate) by_name: HashMap<Arc<str>, usize>,
}

impl TypeDef {
    /// The field of this JSON name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.by_name.get(name).map(|&index| &self.fields[index])
    }
}

/// Whether apply owns a struct's fields one by one or the struct whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StructType {
    #[default]
    Granular,
    Atomic,
}

#[derive(Debug)]
pub struct Field {
    pub name: Arc<str>,
    /// The protobuf field number; `None` where the field has no protobuf form.
    pub tag: Option<u32>,
    /// The protobuf tags of the embedded messages that hold this field, outermost first;
    /// empty for a field of the type itself.
    pub embedded_in: Vec<u32>,
    pub ty: Type,
    /// Declared without `omitempty` and without `optional`.
    pub required: bool,
    pub omitempty: bool,
    pub optional: bool,
    /// A pointer in upstream's type: absent and zero are different.
    pub pointer: bool,
    pub patch: PatchStrategy,
    pub merge_key: Option<Arc<str>>,
    pub list_type: Option<ListType>,
    /// The keys of a `list_type` map.
    pub list_map_keys: Vec<Arc<str>>,
    pub map_type: Option<StructType>,
    pub struct_type: Option<StructType>,
    /// As declared on the type; JSON text, or `ref(Name)` resolved to its value.
    pub default: Option<serde_json::Value>,
    pub enum_values: Option<Arc<[Arc<str>]>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    pub merge: bool,
    pub replace: bool,
    pub retain_keys: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    Atomic,
    Set,
    Map,
}

/// What may stand at a place. `Ref` is resolved when the table is built, so a walk
/// over an object never looks a name up.
#[derive(Clone, Debug)]
pub enum Type {
    Bool,
    Int32,
    Int64,
    Uint32,
    Uint64,
    Float64,
    String,
    /// Base64 in JSON.
    Bytes,
    List(Arc<Type>),
    Map(Arc<Type>),
    Struct(TypeRef),
    Special(Special),
}

/// Types whose JSON or protobuf form is not that of their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Time,
    MicroTime,
    Duration,
    Quantity,
    IntOrString,
    RawExtension,
    FieldsV1,
    /// apiextensions JSON: any value at all.
    Json,
    JsonSchemaPropsOrBool,
    JsonSchemaPropsOrArray,
    JsonSchemaPropsOrStringArray,
}

/// A struct type named by another. Filled in once the whole table is read, so that
/// types may refer to each other and to themselves.
#[derive(Clone)]
pub struct TypeRef {
    pub package: Arc<str>,
    pub name: Arc<str>,
    pub(crate) slot: Arc<OnceLock<Arc<TypeDef>>>,
}

impl TypeRef {
    pub fn get(&self) -> &Arc<TypeDef> {
        self.slot.get().expect("every reference is filled in when a table is built")
    }
}

impl std::fmt::Debug for TypeRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.package, self.name)
    }
}

/// All types known at compile time, by package and name.
#[derive(Debug, Default)]
pub struct Table {
    pub(crate) types: HashMap<Arc<str>, HashMap<Arc<str>, Arc<TypeDef>>>,
}

impl Table {
    pub fn get(&self, package: &str, name: &str) -> Option<&Arc<TypeDef>> {
        self.types.get(package)?.get(name)
    }

    /// Every type, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<TypeDef>> {
        self.types.values().flat_map(HashMap::values)
    }
}

/// The facts file of a group and version: `core/v1`, `rbac/v1` (not `rbac.authorization.k8s.io/v1`).
pub fn package_of(kind: &GroupVersionKind) -> String {
    let group = match kind.group.as_ref() {
        "" => "core",
        group => group.split('.').next().unwrap_or(group),
    };
    format!("{group}/{}", kind.version)
}
