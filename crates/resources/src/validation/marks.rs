//! The walker of the marks: reports what in a value breaks the rules that the facts state
//! about its type (`ferry_api::schema::marks`). Called for every write by `judgement.rs`, and
//! by strategies for the parts that are marked `elsewhere`.

use super::equality::{semantically_equal, type_of};
use super::resources::quantity;
use super::{FIELD_IS_IMMUTABLE, formats, shown};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::quantity::Quantity;
use ferry_api::schema::{CheckPlan, FieldCheck, Mark, Marks, Shape, SingleCheck, Type, TypeDef};
use serde_json::Value;
use std::collections::HashSet;

/// Everything in a value of this type that breaks a mark.
pub fn validate_marks(errors: &mut ErrorList, definition: &TypeDef, value: &Value, path: &Path) {
    check_struct(errors, definition.checks(), value, &Place { parent: None, step: Step::At(path) });
}

/// Every field of a value of this type that is immutable and was changed.
pub fn validate_kept(errors: &mut ErrorList, definition: &TypeDef, new: &Value, old: &Value, path: &Path) {
    check_kept(errors, definition.checks(), new, old, &Place { parent: None, step: Step::At(path) });
}

/// The same as [`validate_marks`] for a builtin type by its name.
pub(crate) fn validate_marks_of(errors: &mut ErrorList, package: &str, type_name: &str, value: &Value, path: &Path) {
    if let Some(definition) = type_of(package, type_name) {
        validate_marks(errors, definition, value, path);
    }
}

/// The field of a `single` type that is set, the first of them if there are several.
pub(crate) fn single_member<'a>(definition: &'static TypeDef, value: &'a Value) -> Option<(&'static str, &'a Value)> {
    members_of(definition).find_map(|name| Some((name, present(value, name)?)))
}

/// The fields of a `single` type, of which one is set.
pub(crate) fn members_of(definition: &'static TypeDef) -> impl Iterator<Item = &'static str> {
    let single = definition.single.as_deref();
    single.into_iter().flat_map(|single| single.members.iter().map(|name| &**name))
}

/// The same for the top-level fields of an object that `is_judged` names.
pub(crate) fn validate_parts(
    errors: &mut ErrorList,
    schema: &TypeDef,
    object: &Value,
    is_judged: impl Fn(&str) -> bool,
) {
    for field in schema.checks().fields.iter().filter(|field| is_judged(&field.name)) {
        check_field(errors, field, object, &Place::ROOT);
    }
}

/// Where the walk is. A path is only written down for an error.
#[derive(Clone, Copy)]
struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    At(&'a Path),
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Place<'a> {
    const ROOT: Place<'static> = Place { parent: None, step: Step::Root };

    fn child(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Field(name) }
    }

    fn index(&'a self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }

    fn key(&'a self, key: &'a str) -> Self {
        Self { parent: Some(self), step: Step::Key(key) }
    }

    fn path(&self) -> Path {
        let parent = || self.parent.map(Place::path).unwrap_or_default();
        match self.step {
            Step::Root => Path::root(),
            Step::At(path) => path.clone(),
            Step::Field(name) => parent().child(name),
            Step::Index(index) => parent().index(index),
            Step::Key(key) => parent().key(key),
        }
    }
}

fn check_struct(errors: &mut ErrorList, plan: &CheckPlan, value: &Value, at: &Place<'_>) {
    if let Some(single) = &plan.single {
        check_single(errors, single, value, at);
    }
    for field in &plan.fields {
        check_field(errors, field, value, at);
    }
}

/// The first member that is set is judged, the others are refused.
fn check_single(errors: &mut ErrorList, single: &SingleCheck, holder: &Value, at: &Place<'_>) {
    let mut found = false;
    for member in single.members.iter().filter(|member| present(holder, &member.name).is_some()) {
        if found && !member.marks.beside {
            let name = member.marks.refused_as.as_deref().unwrap_or(&member.name);
            if !single.many.is_empty() {
                errors.push(Error::forbidden(&at.child(name).path(), &*single.many));
            }
        } else {
            found = true;
            check_field(errors, member, holder, at);
        }
    }
    if !found && !single.none.is_empty() {
        errors.push(Error::required(&at.path(), &*single.none));
    }
}

fn present<'a>(holder: &'a Value, name: &str) -> Option<&'a Value> {
    holder.get(name).filter(|value| !value.is_null())
}

fn check_field(errors: &mut ErrorList, field: &FieldCheck, holder: &Value, at: &Place<'_>) {
    let value = present(holder, &field.name);
    let own = at.child(field.shown());
    let at = if field.shown() == "." { *at } else { own };
    if !field.marks.list.is_empty() && !check_marks(errors, field, value, &at) {
        return;
    }
    let Some((shape, of)) = &field.below else { return };
    let plan = of.get().checks();
    match (shape, value) {
        (Shape::Struct, Some(value)) => check_struct(errors, plan, value, &at),
        // Go has a zero struct where none is given.
        (Shape::Struct, None) if !field.pointer => check_struct(errors, plan, &Value::Null, &at),
        (Shape::Items, Some(Value::Array(items))) => {
            for (index, item) in items.iter().enumerate() {
                let item_at = at.index(index);
                check_struct(errors, plan, item, if field.marks.unindexed { &at } else { &item_at });
            }
        }
        (Shape::Entries, Some(Value::Object(entries))) => {
            for (key, entry) in entries {
                check_struct(errors, plan, entry, &at.key(key));
            }
        }
        _ => {}
    }
}

/// Judges a field by its marks; says whether what is below it is judged too.
fn check_marks(errors: &mut ErrorList, field: &FieldCheck, value: Option<&Value>, at: &Place<'_>) -> bool {
    let marks = &field.marks;
    let is_empty = match value {
        None => true,
        Some(value) => (!field.pointer && is_zero(value, field.is_map)) || (marks.or_empty && value == ""),
    };
    if is_empty {
        let required = marks.list.iter().find_map(|mark| match mark {
            Mark::NonEmpty(detail) => Some(detail),
            _ => None,
        });
        if let Some(detail) = required.filter(|_| !marks.or_empty) {
            errors.push(Error::required(&at.path(), &**detail));
            return false;
        }
        if field.pointer || !marks.even_empty {
            return true;
        }
    }
    let value = value.unwrap_or(&Value::Null);
    match value {
        Value::Array(items) => check_list(errors, marks, items, at),
        Value::Object(entries) => {
            for mark in &marks.list {
                match mark {
                    Mark::MaxItems(most) if entries.len() > *most => {
                        errors.push(Error::too_many(&at.path(), entries.len(), *most));
                        return false;
                    }
                    mark => check_value(errors, mark, value, at),
                }
            }
            true
        }
        value => {
            marks.list.iter().for_each(|mark| check_value(errors, mark, value, at));
            true
        }
    }
}

/// Of a list that is too long nothing else is said.
fn check_list(errors: &mut ErrorList, marks: &Marks, items: &[Value], at: &Place<'_>) -> bool {
    for mark in &marks.list {
        match mark {
            Mark::MaxItems(most) if items.len() > *most => {
                errors.push(Error::too_many(&at.path(), items.len(), *most));
                return false;
            }
            Mark::Unique { key, at_key } => check_unique(errors, key.as_deref(), *at_key, items, at),
            mark if mark.is_of_items() => {
                for (index, item) in items.iter().enumerate() {
                    let item_at = at.index(index);
                    check_value(errors, mark, item, if marks.unindexed { at } else { &item_at });
                }
            }
            _ => {}
        }
    }
    true
}

fn check_unique(errors: &mut ErrorList, key: Option<&str>, at_key: bool, items: &[Value], at: &Place<'_>) {
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let found = match key {
            Some(key) => item.get(key),
            None => Some(item),
        };
        let text = found.and_then(Value::as_str).unwrap_or_default();
        if !seen.insert(text) {
            let at = at.index(index);
            let path = key.filter(|_| at_key).map_or_else(|| at.path(), |key| at.child(key).path());
            errors.push(Error::duplicate(&path, text));
        }
    }
}

/// One value that is no list, or one item of a list.
fn check_value(errors: &mut ErrorList, mark: &Mark, value: &Value, at: &Place<'_>) {
    match mark {
        Mark::Range { low, high, detail } => {
            let is_good = |amount: &Number| amount.is_at_least(*low) && amount.is_at_most(*high);
            check_number(errors, value, is_good, detail, at);
        }
        Mark::Positive(detail) => check_number(errors, value, Number::is_positive, detail, at),
        Mark::OneOf(values) => {
            let text = value.as_str().unwrap_or_default();
            if !values.iter().any(|known| **known == *text) {
                let known: Vec<&str> = values.iter().map(|value| &**value).collect();
                errors.push(Error::not_supported(&at.path(), text, &known));
            }
        }
        Mark::MaxBytes(most) => {
            if value.as_str().is_some_and(|text| text.len() > *most) {
                errors.push(Error::too_long(&at.path(), *most));
            }
        }
        Mark::Format(format) => formats::judge(errors, *format, value, || at.path()),
        Mark::NonEmpty(_) | Mark::MaxItems(_) | Mark::Unique { .. } => {}
    }
}

/// A number, or a quantity, which is text.
enum Number {
    Int(i64),
    Quantity(Quantity),
}

impl Number {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(_) => quantity(value).map(Self::Quantity),
            value => Some(Self::Int(value.as_i64().unwrap_or_default())),
        }
    }

    fn is_at_least(&self, low: i64) -> bool {
        match self {
            Self::Int(number) => *number >= low,
            Self::Quantity(amount) => *amount >= Quantity::from_int(low, amount.format()),
        }
    }

    fn is_at_most(&self, high: i64) -> bool {
        match self {
            Self::Int(number) => *number <= high,
            Self::Quantity(amount) => *amount <= Quantity::from_int(high, amount.format()),
        }
    }

    fn is_positive(&self) -> bool {
        match self {
            Self::Int(number) => *number > 0,
            Self::Quantity(amount) => !amount.is_negative() && !amount.is_zero(),
        }
    }

    fn shown(&self) -> Value {
        match self {
            Self::Int(number) => (*number).into(),
            Self::Quantity(amount) => amount.to_string().into(),
        }
    }
}

fn check_number(
    errors: &mut ErrorList,
    value: &Value,
    is_good: impl Fn(&Number) -> bool,
    detail: &str,
    at: &Place<'_>,
) {
    if let Some(number) = Number::of(value).filter(|number| !is_good(number)) {
        errors.push(Error::invalid(&at.path(), number.shown(), detail));
    }
}

/// Fields that an update may not change.
fn check_kept(errors: &mut ErrorList, plan: &CheckPlan, new: &Value, old: &Value, at: &Place<'_>) {
    for field in &plan.kept {
        let (now, was) = (present(new, &field.name), present(old, &field.name));
        let at = at.child(&field.shown);
        if field.whole {
            if !semantically_equal(now, was, Some(&field.ty), field.pointer) {
                errors.push(Error::invalid(&at.path(), shown(now), FIELD_IS_IMMUTABLE));
            }
        } else if let Type::Struct(of) = &field.ty {
            check_kept(errors, of.get().checks(), now.unwrap_or(&Value::Null), was.unwrap_or(&Value::Null), &at);
        }
    }
}

fn is_zero(value: &Value, is_map: bool) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => is_map && entries.is_empty(),
    }
}
