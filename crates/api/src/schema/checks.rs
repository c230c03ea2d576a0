//! Plans of validation: for each type, the marks of its fields and the fields below which
//! there are more. A plan is made once a type; a type without marks in it or below it has an
//! empty plan and is never entered. The walker of `ferry_resources::validation` follows it.

use super::defaults::{Shape, struct_below};
use super::marks::{Mark, Marks};
use super::{Field, Type, TypeDef, TypeRef};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct CheckPlan {
    /// Fields with marks or with a marked type, members of `single` aside.
    pub fields: Box<[FieldCheck]>,
    pub single: Option<SingleCheck>,
    /// Fields that never change, and structs in which there are such.
    pub kept: Box<[KeptCheck]>,
}

/// Fields of which exactly one is set, in the order in which they are looked for.
#[derive(Debug)]
pub struct SingleCheck {
    pub members: Box<[FieldCheck]>,
    pub none: Arc<str>,
    pub many: Arc<str>,
}

#[derive(Debug)]
pub struct FieldCheck {
    pub name: Arc<str>,
    pub marks: Marks,
    /// Go tells an absent value from a zero one.
    pub pointer: bool,
    /// An empty map is no value, an empty struct is one.
    pub is_map: bool,
    pub below: Option<(Shape, TypeRef)>,
}

#[derive(Debug)]
pub struct KeptCheck {
    pub name: Arc<str>,
    /// As paths name the field.
    pub shown: Arc<str>,
    pub ty: Type,
    pub pointer: bool,
    /// The field itself is kept; otherwise something in the struct that it holds is.
    pub whole: bool,
}

impl FieldCheck {
    /// The field as paths name it.
    pub fn shown(&self) -> &str {
        self.marks.shown.as_deref().unwrap_or(&self.name)
    }
}

impl TypeDef {
    /// The checks of a value of this type.
    pub fn checks(&self) -> &CheckPlan {
        self.checks.get_or_init(|| Box::new(CheckPlan::new(self)))
    }
}

impl CheckPlan {
    fn new(definition: &TypeDef) -> Self {
        let is_member = |field: &Field| definition.single.as_ref().is_some_and(|s| s.members.contains(&field.name));
        let fields = definition.fields.iter().filter(|field| !is_member(field)).filter_map(check);
        let single = definition.single.as_ref().map(|single| SingleCheck {
            members: single.members.iter().filter_map(|name| definition.field(name)).map(any_check).collect(),
            none: single.none.clone(),
            many: single.many.clone(),
        });
        Self { fields: fields.collect(), single, kept: definition.fields.iter().filter_map(kept).collect() }
    }
}

/// `None` for a field with nothing to judge in it or below it.
fn check(field: &Field) -> Option<FieldCheck> {
    let check = any_check(field);
    let has_marks = !check.marks.list.is_empty() || check.below.is_some();
    has_marks.then_some(check)
}

fn any_check(field: &Field) -> FieldCheck {
    let marks = field.marks.as_deref().cloned().unwrap_or_default();
    let below =
        struct_below(&field.ty).filter(|(_, of)| !marks.elsewhere && reaches_mark(of.get(), &mut HashSet::new()));
    FieldCheck {
        name: field.name.clone(),
        marks,
        pointer: field.pointer,
        is_map: matches!(field.ty, Type::Map(_)),
        below: below.map(|(shape, of)| (shape, of.clone())),
    }
}

/// Whether the type or one below it has a mark to judge.
fn reaches_mark(definition: &TypeDef, seen: &mut HashSet<*const TypeDef>) -> bool {
    seen.insert(std::ptr::from_ref(definition))
        && (definition.single.is_some()
            || definition.fields.iter().any(|field| {
                field.marks.as_ref().is_some_and(|marks| !marks.list.is_empty())
                    || struct_below(&field.ty).is_some_and(|(_, of)| reaches_mark(of.get(), seen))
            }))
}

fn kept(field: &Field) -> Option<KeptCheck> {
    let whole = is_kept(field);
    let below = matches!(&field.ty, Type::Struct(of) if reaches_kept(of.get(), &mut HashSet::new()));
    let shown = field.marks.as_ref().and_then(|marks| marks.shown.clone()).unwrap_or_else(|| field.name.clone());
    (whole || below).then(|| KeptCheck {
        name: field.name.clone(),
        shown,
        ty: field.ty.clone(),
        pointer: field.pointer,
        whole,
    })
}

fn is_kept(field: &Field) -> bool {
    field.marks.as_ref().is_some_and(|marks| marks.immutable)
}

fn reaches_kept(definition: &TypeDef, seen: &mut HashSet<*const TypeDef>) -> bool {
    seen.insert(std::ptr::from_ref(definition))
        && definition
            .fields
            .iter()
            .any(|field| is_kept(field) || matches!(&field.ty, Type::Struct(of) if reaches_kept(of.get(), seen)))
}

impl Mark {
    /// Whether the mark speaks of each item of a list, and not of the list.
    pub fn is_of_items(&self) -> bool {
        match self {
            Self::Range { .. } | Self::Positive(_) | Self::OneOf(_) | Self::Format(_) | Self::MaxBytes(_) => true,
            Self::NonEmpty(_) | Self::MaxItems(_) | Self::Unique { .. } => false,
        }
    }
}
