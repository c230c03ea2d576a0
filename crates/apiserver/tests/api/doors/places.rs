//! The places of a kind at which a client may put something, walked out of the facts, and the
//! odd values that upstream's decoders take there.

use ferry_api::schema::{Special, Type, TypeDef};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// One place of an object: the way to it, and the type that the facts give it.
#[derive(Clone, Debug)]
pub struct Place {
    pub way: Vec<Step>,
    ty: Type,
    enum_values: Option<Arc<[Arc<str>]>>,
}

impl Place {
    /// Whether an object has the thing that the place is a field of, or the item itself.
    pub fn is_near(&self, object: &Value) -> bool {
        let mut at = object;
        for (n, step) in self.way.iter().enumerate() {
            let next = match step {
                Step::Field(name) => at.get(&**name),
                Step::Item => at.get(0),
                Step::Entry => at.get("key"),
            };
            match next {
                Some(next) => at = next,
                None => return n + 1 == self.way.len() && matches!(step, Step::Field(_)),
            }
        }
        true
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Field(Arc<str>),
    /// The first item of a list.
    Item,
    /// The entry `key` of a map.
    Entry,
}

/// How a value is odd. Go's decoders take each of these at any place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    Null,
    /// Go's zero value, written out: `0001-01-01T00:00:00Z`, `""`, `[]`.
    Zero,
    Absent,
    /// A field beside this one that no version of the kind has.
    UnknownSibling,
    /// A usual value, so that the odd ones stand in objects that have something.
    Usual,
    /// Another spelling than ferry writes, or an empty thing within the thing.
    Foreign,
}

pub const ODD: [Odd; 6] = [Odd::Null, Odd::Zero, Odd::Absent, Odd::UnknownSibling, Odd::Usual, Odd::Foreign];

/// The metadata that decides which object is meant; changing it is another request.
const IDENTITY: [&str; 5] = ["name", "namespace", "generateName", "uid", "resourceVersion"];

/// Every place of a kind but those of its identity. A type that contains itself is entered once
/// on each way.
pub fn places(definition: &TypeDef) -> Vec<Place> {
    let mut found = Vec::new();
    for field in &definition.fields {
        if matches!(&*field.name, "apiVersion" | "kind") {
            continue;
        }
        let place = Place {
            way: vec![Step::Field(field.name.clone())],
            ty: field.ty.clone(),
            enum_values: field.enum_values.clone(),
        };
        visit(place, &mut HashSet::new(), &mut found);
    }
    found.retain(|place| match &place.way[..] {
        [Step::Field(first), Step::Field(second), ..] if &**first == "metadata" => !IDENTITY.contains(&&**second),
        way => way.len() > 1 || way[0] != Step::Field("metadata".into()),
    });
    found
}

fn visit(place: Place, within: &mut HashSet<(Arc<str>, Arc<str>)>, found: &mut Vec<Place>) {
    let inner = |step: Step, ty: &Type| {
        let way = place.way.iter().cloned().chain([step]).collect();
        Place { way, ty: ty.clone(), enum_values: place.enum_values.clone() }
    };
    match &place.ty {
        Type::List(item) => visit(inner(Step::Item, item), within, found),
        Type::Map(entry) => visit(inner(Step::Entry, entry), within, found),
        Type::Struct(reference) => {
            let definition = reference.get();
            let name = (definition.package.clone(), definition.name.clone());
            if within.insert(name.clone()) {
                for field in &definition.fields {
                    let field_place = Place {
                        enum_values: field.enum_values.clone(),
                        ..inner(Step::Field(field.name.clone()), &field.ty)
                    };
                    visit(field_place, within, found);
                }
                within.remove(&name);
            }
        }
        _ => {}
    }
    found.push(place);
}

/// Changes an object at a place; the things around it are made where they are missing.
pub fn change(object: &mut Value, place: &Place, odd: Odd) {
    let Some((last, around)) = place.way.split_last() else { return };
    let mut at = object;
    for step in around {
        at = enter(at, step);
    }
    match odd {
        Odd::Absent => match (at, last) {
            (Value::Object(fields), Step::Field(name)) => drop(fields.remove(&**name)),
            (Value::Object(fields), Step::Entry) => drop(fields.remove("key")),
            (Value::Array(items), _) => items.clear(),
            _ => {}
        },
        Odd::UnknownSibling => {
            if let (Value::Object(fields), Step::Field(_)) = (at, last) {
                fields.insert("ofAnotherVersion".into(), json!({"a": [null, 1, {}], "b": null}));
            }
        }
        Odd::Null => *enter(at, last) = Value::Null,
        Odd::Zero => *enter(at, last) = zero(&place.ty),
        Odd::Usual => *enter(at, last) = usual(&place.ty, place.enum_values.as_deref()),
        Odd::Foreign => *enter(at, last) = foreign(&place.ty),
    }
}

fn enter<'v>(value: &'v mut Value, step: &Step) -> &'v mut Value {
    match step {
        Step::Item => {
            if value.as_array().is_none_or(Vec::is_empty) {
                *value = json!([null]);
            }
            &mut value[0]
        }
        Step::Field(_) | Step::Entry => {
            if !value.is_object() {
                *value = json!({});
            }
            match step {
                Step::Field(name) => &mut value[&**name],
                _ => &mut value["key"],
            }
        }
    }
}

fn zero(ty: &Type) -> Value {
    match ty {
        Type::Bool => false.into(),
        Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => 0.into(),
        Type::String | Type::Bytes => "".into(),
        Type::List(_) => json!([]),
        Type::Map(_) | Type::Struct(_) => json!({}),
        Type::Special(special) => match special {
            Special::Time => "0001-01-01T00:00:00Z".into(),
            Special::MicroTime => "0001-01-01T00:00:00.000000Z".into(),
            Special::Duration => "0s".into(),
            Special::Quantity => "0".into(),
            Special::IntOrString => 0.into(),
            _ => json!({}),
        },
    }
}

fn usual(ty: &Type, enum_values: Option<&[Arc<str>]>) -> Value {
    match ty {
        Type::Bool => true.into(),
        Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Float64 => 7.into(),
        Type::String => enum_values.and_then(<[_]>::first).map_or("text", |value| value).into(),
        Type::Bytes => "Ynl0ZXM=".into(),
        Type::List(item) => json!([usual(item, enum_values)]),
        Type::Map(entry) => json!({"key": usual(entry, enum_values)}),
        Type::Struct(reference) => {
            let required = reference.get().fields.iter().filter(|field| field.required);
            let plain = required.filter(|field| !matches!(field.ty, Type::Struct(_) | Type::List(_) | Type::Map(_)));
            let fields: Map<String, Value> =
                plain.map(|field| (field.name.to_string(), usual(&field.ty, field.enum_values.as_deref()))).collect();
            Value::Object(fields)
        }
        Type::Special(special) => match special {
            Special::Time => "2026-01-02T03:04:05Z".into(),
            Special::MicroTime => "2026-01-02T03:04:05.000006Z".into(),
            Special::Duration => "1m0s".into(),
            Special::Quantity => "100m".into(),
            Special::IntOrString => "http".into(),
            Special::RawExtension | Special::FieldsV1 | Special::Json => json!({"a": 1}),
            Special::JsonSchemaPropsOrBool | Special::JsonSchemaPropsOrArray => json!({"type": "object"}),
            Special::JsonSchemaPropsOrStringArray => json!(["a"]),
        },
    }
}

fn foreign(ty: &Type) -> Value {
    match ty {
        Type::Bool => Value::Null,
        Type::Int64 | Type::Uint64 => 9_007_199_254_740_993_i64.into(),
        Type::Int32 | Type::Uint32 => 2_147_483_647.into(),
        Type::Float64 => 1e-7.into(),
        Type::String => "\u{e9}\u{1F600}\u{0}\u{2028}\"\\".into(),
        Type::Bytes => "YQ=\n=".into(),
        Type::List(_) => json!([null]),
        Type::Map(_) => json!({"": null}),
        Type::Struct(_) => json!({"ofAnotherVersion": null}),
        Type::Special(special) => match special {
            Special::Time => "2026-01-02T05:04:05.123456789+02:00".into(),
            Special::MicroTime => "2026-01-02T05:04:05.000006+02:00".into(),
            Special::Duration => "0h60m".into(),
            Special::Quantity => 1.5.into(),
            Special::IntOrString => "50%".into(),
            Special::RawExtension => json!({"kind": null, "a": [null]}),
            Special::FieldsV1 => json!({"f:a": {}, ".": null}),
            Special::Json => json!([null, {"a": null}]),
            Special::JsonSchemaPropsOrBool => false.into(),
            Special::JsonSchemaPropsOrArray | Special::JsonSchemaPropsOrStringArray => json!({}),
        },
    }
}

/// The object without the fields that Go's decoders pass over: those that are null, and those
/// that the kind does not have. An item or an entry that is null is a zero value and stays.
pub fn as_go_reads(value: &Value, definition: &TypeDef) -> Value {
    let Some(fields) = value.as_object() else { return value.clone() };
    let known = fields.iter().filter(|(_, field)| !field.is_null());
    known
        .filter_map(|(name, field)| {
            let ty = &definition.field(name)?.ty;
            Some((name.clone(), as_type(field, ty)))
        })
        .collect::<Map<_, _>>()
        .into()
}

fn as_type(value: &Value, ty: &Type) -> Value {
    match (ty, value) {
        (Type::Struct(reference), _) => as_go_reads(value, reference.get()),
        (Type::List(item), Value::Array(items)) => items.iter().map(|value| as_type(value, item)).collect(),
        (Type::Map(entry), Value::Object(entries)) => {
            entries.iter().map(|(key, value)| (key.clone(), as_type(value, entry))).collect::<Map<_, _>>().into()
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::gvk::GroupVersionKind;
    use ferry_api::schema::of_kind;

    #[test]
    fn every_field_of_a_kind_is_a_place_and_oddities_of_null_are_invisible_to_go() {
        let service = of_kind(&GroupVersionKind::new("", "v1", "Service")).expect("facts");
        let places = places(service);
        let way = |names: &[&str]| -> Vec<Step> {
            names.iter().map(|name| if *name == "0" { Step::Item } else { Step::Field((*name).into()) }).collect()
        };
        let find = |names: &[&str]| places.iter().find(|place| place.way == way(names));
        assert!(find(&["metadata", "name"]).is_none() && find(&["metadata", "creationTimestamp"]).is_some());
        let time = find(&["status", "conditions", "0", "lastTransitionTime"]).expect("a place");
        let mut object = json!({"metadata": {"name": "a"}});
        change(&mut object, time, Odd::Zero);
        assert_eq!(object["status"]["conditions"], json!([{"lastTransitionTime": "0001-01-01T00:00:00Z"}]));
        change(&mut object, time, Odd::UnknownSibling);
        change(&mut object, time, Odd::Null);
        assert_eq!(as_go_reads(&object, service)["status"], json!({"conditions": [{}]}));
        change(&mut object, time, Odd::Absent);
        assert_eq!(object["status"]["conditions"][0].as_object().map(Map::len), Some(1));
    }
}
