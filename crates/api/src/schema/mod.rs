//! What every type looks like: one table of facts that alone drives strict decoding,
//! pruning, constant defaults, validation by marks, strategic merge, server-side apply, protobuf and OpenAPI.
//!
//! The facts live in `facts/*.facts`, one block a type, and are parsed once on first
//! use (`parse.rs`). A custom resource builds the same [`TypeDef`]s at run time.

use crate::codec::protobuf::EncodePlan;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

mod checks;
mod defaults;
mod layout;
mod marks;
mod names;
mod packages;
mod parse;

use defaults::DefaultPlan;
use names::FieldNames;

pub use checks::{CheckPlan, FieldCheck, KeptCheck, SingleCheck};
pub use defaults::Shape;
pub use layout::{Entry, Layout};
pub use marks::{Format, Mark, Marks, Single};
pub use packages::{Package, group_of_package, package_of, packages};
pub use parse::{ParseError, builtin, of_kind, parse};

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
    /// How apply treats a value of this type wherever it stands, unless the field that
    /// holds it says otherwise (see [`Field::struct_type`]).
    pub struct_type: Option<StructType>,
    /// Fields that are not listed are kept as they are (custom resources may say so).
    pub preserve_unknown: bool,
    /// Of these fields at most one is set. OpenAPI says so, and nothing here depends on it.
    pub union: Option<Box<Union>>,
    pub single: Option<Box<Single>>,
    by_name: FieldNames,
    /// Positions of the fields that Go writes even when they are zero.
    always: Box<[u16]>,
    layout: OnceLock<Box<Layout>>,
    plan: OnceLock<Option<Box<EncodePlan>>>,
    defaults: OnceLock<Box<DefaultPlan>>,
    checks: OnceLock<Box<CheckPlan>>,
}

impl TypeDef {
    pub fn new(package: Arc<str>, name: Arc<str>, fields: Vec<Field>) -> Self {
        let positions = 0..fields.len().min(usize::from(u16::MAX)) as u16;
        let always = positions.filter(|&index| fields[usize::from(index)].always_written()).collect();
        Self {
            package,
            name,
            by_name: FieldNames::new(&fields),
            fields,
            struct_type: None,
            preserve_unknown: false,
            union: None,
            single: None,
            always,
            layout: OnceLock::new(),
            plan: OnceLock::new(),
            defaults: OnceLock::new(),
            checks: OnceLock::new(),
        }
    }

    /// How protobuf lays the type out.
    pub fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Box::new(Layout::new(&self.fields)))
    }

    /// How an object of this type becomes protobuf; `None` for a type that cannot.
    pub(crate) fn plan(&self) -> Option<&EncodePlan> {
        self.plan.get_or_init(|| EncodePlan::new(self).map(Box::new)).as_deref()
    }

    /// The fields that Go writes even when they are zero.
    pub fn always_written(&self) -> impl Iterator<Item = &Field> {
        self.always.iter().map(|&index| &self.fields[usize::from(index)])
    }

    /// The field of this JSON name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.field_index(name).map(|index| &self.fields[index])
    }

    /// The position in `fields` of this JSON name.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.by_name.find(&self.fields, name.as_bytes())
    }

    /// The same for a name that stands in a text as these bytes.
    pub(crate) fn field_index_of(&self, name: &[u8]) -> Option<usize> {
        self.by_name.find(&self.fields, name)
    }
}

/// Fields that exclude each other.
#[derive(Debug)]
pub struct Union {
    /// The field that says which of them is set, if there is one.
    pub discriminator: Option<Arc<str>>,
    pub members: Box<[Arc<str>]>,
}

/// Whether apply owns a struct's fields one by one or the struct whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StructType {
    #[default]
    Granular,
    Atomic,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Arc<str>,
    /// The protobuf field number; `None` where the field has no protobuf form.
    pub tag: Option<u32>,
    /// The protobuf tags of the embedded messages that hold this field, outermost first;
    /// empty for a field of the type itself.
    pub embedded_in: Vec<u32>,
    pub ty: Type,
    /// The type as the facts write it: `[]PersistentVolumeAccessMode`, `*int32`. Error
    /// texts name Go types, aliases included, and those are resolved away in `ty`.
    pub declared: Arc<str>,
    /// The package `declared` is to be read in; differs from the type's own for embedded fields.
    pub declared_in: Arc<str>,
    /// The embedded structs that hold this field in Go, `RuleWithOperations.Rule`: error
    /// texts name them in the path.
    pub embedded_name: Option<Arc<str>>,
    /// OpenAPI lists the field as required: declared without `omitempty` and without
    /// `optional`, or marked so.
    pub required: bool,
    /// Go leaves the field out when it is false, 0, "", nil or an empty list or map.
    /// A struct that is not a pointer is never empty in this sense.
    pub omitempty: bool,
    /// Go leaves the field out when it is the zero value, structs included.
    pub omitzero: bool,
    pub optional: bool,
    /// A pointer in upstream's type: absent and zero are different.
    pub pointer: bool,
    pub patch: PatchStrategy,
    pub merge_key: Option<Arc<str>>,
    pub list_type: Option<ListType>,
    /// The keys of a `list_type` map.
    pub list_map_keys: Vec<Arc<str>>,
    pub map_type: Option<StructType>,
    /// What is declared at this place; it overrides the `struct_type` of the type.
    /// [`Field::apply_struct_type`] gives the one that counts.
    pub struct_type: Option<StructType>,
    /// As declared on the type; OpenAPI publishes it.
    pub default: Option<serde_json::Value>,
    /// The constant that the server fills in without declaring it on the type.
    pub fill: Option<serde_json::Value>,
    /// The values upstream declares for the field, or for the items where it is a list.
    /// An unknown one is no decoding error: validation is each kind's own.
    pub enum_values: Option<Arc<[Arc<str>]>>,
    /// The list here (or the list that is a map's value) is in protobuf a message whose
    /// field 1 is the items: `Verbs`, `ExtraValue`.
    pub list_message: bool,
    /// The demands of validation.
    pub marks: Option<Box<Marks>>,
}

impl Field {
    /// An optional field of this name and type with no other facts; a starting point for
    /// types that are built at run time. Nothing is added when it is absent and nothing
    /// dropped when it is zero.
    pub fn new(name: Arc<str>, ty: Type) -> Self {
        Self {
            name,
            tag: None,
            embedded_in: Vec::new(),
            ty,
            declared: Arc::from(""),
            declared_in: Arc::from(""),
            embedded_name: None,
            required: false,
            omitempty: true,
            omitzero: false,
            optional: true,
            pointer: true,
            patch: PatchStrategy::default(),
            merge_key: None,
            list_type: None,
            list_map_keys: Vec::new(),
            map_type: None,
            struct_type: None,
            default: None,
            fill: None,
            enum_values: None,
            list_message: false,
            marks: None,
        }
    }

    /// Whether Go writes the field even when nothing set it: a field without `omitempty`,
    /// and a struct that is no pointer, which `omitempty` does not affect.
    pub fn always_written(&self) -> bool {
        let is_struct = !self.pointer && matches!(self.ty, Type::Struct(_) | Type::Special(_));
        !self.omitzero && (!self.omitempty || is_struct)
    }

    /// How apply treats the struct at this place.
    pub fn apply_struct_type(&self) -> StructType {
        match (&self.struct_type, &self.ty) {
            (Some(own), _) => *own,
            (None, Type::Struct(reference)) => reference.get().struct_type.unwrap_or_default(),
            (None, _) => StructType::default(),
        }
    }
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

/// What may stand at a place. `Struct` is resolved when the table is built, so a walk
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
    slot: Arc<OnceLock<Arc<TypeDef>>>,
}

impl TypeRef {
    /// A reference to a type that exists already. Types built at run time use this; a
    /// cycle of such references would never be freed.
    pub fn to(definition: Arc<TypeDef>) -> Self {
        let (package, name) = (definition.package.clone(), definition.name.clone());
        let slot = OnceLock::new();
        // The lock is new, so this cannot find it filled.
        let _ = slot.set(definition);
        Self { package, name, slot: Arc::new(slot) }
    }

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
    types: HashMap<Arc<str>, HashMap<Arc<str>, Arc<TypeDef>>>,
}

impl Table {
    pub fn get(&self, package: &str, name: &str) -> Option<&Arc<TypeDef>> {
        self.types.get(package)?.get(name)
    }

    /// Every type, in no particular order. A type that another package names by an
    /// alias comes once for each name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<TypeDef>> {
        self.types.values().flat_map(HashMap::values)
    }
}
