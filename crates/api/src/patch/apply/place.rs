//! What the schema says at one place of an object, in the terms of apply: a leaf that is
//! owned whole, a struct, a map, or a list whose items are owned one by one.
//!
//! Extraction, comparison, merge and removal all walk objects by these shapes, so a rule
//! about ownership (which list is atomic, which key has a default) is told here only.

use super::element::PathElement;
use crate::schema::{Field, ListType, Special, StructType, Type, TypeDef};
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Root(&'a TypeDef),
    Field(&'a Field),
    /// An item of a list or the value of a map.
    Item(&'a Type),
    /// Nothing is known: maps are owned key by key, all else whole.
    Deduced,
}

pub(super) enum Shape<'a> {
    /// A scalar, or an atomic list, map or struct.
    Leaf,
    Struct(&'a TypeDef),
    Map(Place<'a>),
    List(List<'a>),
    Deduced,
}

/// A list whose items are owned one by one: with keys a map, without a set.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    pub item: Place<'a>,
    pub keys: &'a [Arc<str>],
}

/// What stands for a struct that Go always has and JSON may leave out.
pub(super) static EMPTY_OBJECT: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));
static EMPTY_STRING: LazyLock<Value> = LazyLock::new(|| Value::String(String::new()));
static ZERO: LazyLock<Value> = LazyLock::new(|| Value::from(0));
static ZERO_QUANTITY: LazyLock<Value> = LazyLock::new(|| Value::from("0"));

impl<'a> Place<'a> {
    pub(super) fn of(definition: Option<&'a TypeDef>) -> Self {
        definition.map_or(Self::Deduced, Self::Root)
    }

    pub(super) fn ty(self) -> Option<&'a Type> {
        match self {
            Self::Field(field) => Some(&field.ty),
            Self::Item(ty) => Some(ty),
            Self::Root(_) | Self::Deduced => None,
        }
    }

    pub(super) fn shape(self) -> Shape<'a> {
        let (ty, field) = match self {
            Self::Root(definition) => return Shape::Struct(definition),
            Self::Deduced => return Shape::Deduced,
            Self::Field(field) => (&field.ty, Some(field)),
            Self::Item(ty) => (ty, None),
        };
        match ty {
            Type::Struct(reference) => {
                let definition = reference.get();
                let struct_type = match field {
                    Some(field) => field.apply_struct_type(),
                    None => definition.struct_type.unwrap_or_default(),
                };
                if struct_type == StructType::Atomic { Shape::Leaf } else { Shape::Struct(definition) }
            }
            Type::Map(value) => match field.and_then(|field| field.map_type) {
                Some(StructType::Atomic) => Shape::Leaf,
                _ => Shape::Map(Self::Item(value)),
            },
            Type::List(item) => match field {
                Some(field) => list_shape(field, item),
                None => Shape::Leaf,
            },
            Type::Special(
                Special::Json
                | Special::FieldsV1
                | Special::JsonSchemaPropsOrBool
                | Special::JsonSchemaPropsOrArray
                | Special::JsonSchemaPropsOrStringArray,
            ) => Shape::Deduced,
            _ => Shape::Leaf,
        }
    }

    /// The struct here, atomic or not.
    fn definition(self) -> Option<&'a TypeDef> {
        match (self, self.ty()) {
            (Self::Root(definition), _) => Some(definition),
            (_, Some(Type::Struct(reference))) => Some(reference.get()),
            _ => None,
        }
    }

    /// The place of a field that the struct here declares.
    pub(super) fn declared(self, name: &str) -> Option<Self> {
        self.definition()?.field(name).map(Self::Field)
    }

    /// The place one step down, as far as the schema knows it.
    pub(super) fn below(self, element: &PathElement) -> Option<Self> {
        match (element, self.ty()) {
            (PathElement::Field(name), _) if self.definition().is_some() => self.declared(name),
            (PathElement::Field(_), Some(Type::Map(value))) => Some(Self::Item(value)),
            (PathElement::Key(_) | PathElement::Value(_), Some(Type::List(item))) => Some(Self::Item(item)),
            _ => None,
        }
    }

    /// What is at a place as Go has it: of a field that is always there its zero when JSON
    /// has nothing or null, and nothing for null at any other place with a type. Without a
    /// type null is a value.
    pub(super) fn present(self, value: Option<&'a Value>) -> Option<&'a Value> {
        match (self, value) {
            (Self::Deduced, value) => value,
            (Self::Field(field), None | Some(Value::Null)) => implied(field),
            (_, Some(Value::Null)) => None,
            (_, value) => value,
        }
    }
}

/// A struct's field, or the place of one that it does not declare.
pub(super) fn field_place<'a>(definition: &'a TypeDef, name: &str) -> Place<'a> {
    definition.field(name).map_or(Place::Deduced, Place::Field)
}

/// The value that a field has in Go though JSON may not show it: a struct that is not a
/// pointer is always there, a time too, as null, and so is the zero of any field that is
/// declared without `omitempty`. Ownership counts them. A container that is added without
/// resources brings `f:resources`, a condition `f:lastProbeTime`; but the list of
/// containers is always there, so whoever adds the first container does not own the list.
pub(super) fn implied(field: &Field) -> Option<&'static Value> {
    // Fields without a protobuf tag are those of custom resources, which are no Go structs.
    if field.omitzero || field.tag.is_none() {
        return None;
    }
    match &field.ty {
        Type::Struct(_) if !field.pointer => Some(&EMPTY_OBJECT),
        Type::Special(Special::Time | Special::MicroTime) if !field.pointer => Some(&Value::Null),
        _ if field.omitempty => None,
        _ if field.pointer => Some(&Value::Null),
        Type::Bool => Some(&Value::Bool(false)),
        Type::String => Some(&EMPTY_STRING),
        Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => Some(&ZERO),
        Type::Special(Special::IntOrString) => Some(&ZERO),
        Type::Special(Special::Quantity) => Some(&ZERO_QUANTITY),
        Type::List(_) | Type::Map(_) | Type::Bytes | Type::Struct(_) | Type::Special(_) => Some(&Value::Null),
    }
}

fn list_shape<'a>(field: &'a Field, item: &'a Type) -> Shape<'a> {
    let item = Place::Item(item);
    match field.list_type {
        Some(ListType::Atomic) => Shape::Leaf,
        Some(ListType::Set) => Shape::List(List { item, keys: &[] }),
        Some(ListType::Map) => Shape::List(List { item, keys: &field.list_map_keys }),
        None if field.patch.merge => Shape::List(List { item, keys: field.merge_key.as_slice() }),
        None => Shape::Leaf,
    }
}

impl<'a> List<'a> {
    /// The value of a key of an item: its own, or the default the schema declares.
    fn key_value(&self, item: &'a Value, key: &str) -> Option<&'a Value> {
        item.get(key).or_else(|| match self.item.declared(key) {
            Some(Place::Field(field)) => field.default.as_ref(),
            _ => None,
        })
    }

    /// The path element of an item, or why it can have none.
    pub(super) fn element(&self, item: &'a Value) -> Result<PathElement, String> {
        if self.keys.is_empty() {
            return match item {
                Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
                value => Ok(PathElement::Value(value.clone())),
            };
        }
        match item {
            Value::Object(_) => {}
            Value::Null => return Err("associative list with keys may not have a null element".to_owned()),
            _ => return Err("associative list with keys may not have non-map elements".to_owned()),
        }
        let keys: Vec<_> =
            self.keys.iter().filter_map(|key| Some((key.clone(), self.key_value(item, key)?.clone()))).collect();
        if keys.is_empty() {
            let names: Vec<String> = self.keys.iter().map(|key| format!("{key:?}")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
                names.join(" ")
            ));
        }
        Ok(PathElement::key(keys))
    }

    /// Whether two items have the same path element; told without making one.
    pub(super) fn is_same_item(&self, left: &'a Value, right: &'a Value) -> bool {
        if self.keys.is_empty() {
            return left == right;
        }
        self.keys.iter().all(|key| self.key_value(left, key) == self.key_value(right, key))
    }
}
