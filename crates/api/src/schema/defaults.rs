//! Constant defaults: values that the facts give to fields a user left out (`default=`,
//! which OpenAPI publishes too, and `fill=`, which it does not). Strategies of
//! `ferry_resources` call [`TypeDef::fill_defaults`] and add the defaults that depend on
//! other fields.
//!
//! A plan is made once a type: its constants, and the fields below which there are more.
//! Filling an object visits only those.

use super::{Field, Type, TypeDef, TypeRef};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct DefaultPlan {
    constants: Box<[Constant]>,
    children: Box<[Child]>,
}

#[derive(Debug)]
struct Constant {
    name: Arc<str>,
    value: Value,
    /// Go cannot tell the zero value from an absent one: the field is no pointer.
    replaces_zero: bool,
}

#[derive(Debug)]
struct Child {
    name: Arc<str>,
    shape: Shape,
    of: TypeRef,
}

/// How a field holds structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Struct,
    Items,
    Entries,
}

impl TypeDef {
    /// Fills in the constants of this type and of every type below it. What is absent, null
    /// or, where Go has no pointer, zero is filled in; a struct that is absent stays absent
    /// unless it has a default of its own.
    pub fn fill_defaults(&self, value: &mut Value) {
        self.default_plan().fill(value);
    }

    fn default_plan(&self) -> &DefaultPlan {
        self.defaults.get_or_init(|| Box::new(DefaultPlan::new(self)))
    }
}

impl DefaultPlan {
    fn new(definition: &TypeDef) -> Self {
        let children = definition.fields.iter().filter_map(|field| {
            let (shape, of) = struct_below(&field.ty)?;
            let has_constants = reaches_constant(of.get(), &mut HashSet::new());
            has_constants.then(|| Child { name: field.name.clone(), shape, of: of.clone() })
        });
        Self { constants: definition.fields.iter().filter_map(constant).collect(), children: children.collect() }
    }

    fn fill(&self, value: &mut Value) {
        let Value::Object(fields) = value else { return };
        for constant in &self.constants {
            let is_missing = match fields.get(&*constant.name) {
                None | Some(Value::Null) => true,
                Some(present) => constant.replaces_zero && is_zero(present),
            };
            if is_missing {
                fields.insert(constant.name.to_string(), constant.value.clone());
            }
        }
        for child in &self.children {
            let Some(below) = fields.get_mut(&*child.name) else { continue };
            let plan = child.of.get().default_plan();
            match (child.shape, below) {
                (Shape::Struct, below) => plan.fill(below),
                (Shape::Items, Value::Array(items)) => items.iter_mut().for_each(|item| plan.fill(item)),
                (Shape::Entries, Value::Object(entries)) => entries.values_mut().for_each(|entry| plan.fill(entry)),
                _ => {}
            }
        }
    }
}

/// A zero that Go would have anyway is no default.
fn constant(field: &Field) -> Option<Constant> {
    let value = field.fill.as_ref().or(field.default.as_ref())?;
    let replaces_zero = !field.pointer;
    let says_nothing = replaces_zero && is_zero(value);
    (!says_nothing).then(|| Constant { name: field.name.clone(), value: value.clone(), replaces_zero })
}

pub(super) fn struct_below(ty: &Type) -> Option<(Shape, &TypeRef)> {
    match ty {
        Type::Struct(of) => Some((Shape::Struct, of)),
        Type::List(item) => {
            if let Type::Struct(of) = &**item {
                Some((Shape::Items, of))
            } else {
                None
            }
        }
        Type::Map(entry) => {
            if let Type::Struct(of) = &**entry {
                Some((Shape::Entries, of))
            } else {
                None
            }
        }
        _ => None,
    }
}

/// Whether the type or one below it has a constant; `seen` ends the types that hold themselves.
fn reaches_constant(definition: &TypeDef, seen: &mut HashSet<*const TypeDef>) -> bool {
    seen.insert(std::ptr::from_ref(definition))
        && definition.fields.iter().any(|field| {
            constant(field).is_some() || struct_below(&field.ty).is_some_and(|(_, of)| reaches_constant(of.get(), seen))
        })
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use serde_json::{Value, json};

    const FACTS: &str = "type Pod
  spec 1 Spec omitempty
type Spec
  policy 1 string omitempty fill=\"Always\"
  grace 2 *int64 omitempty fill=30
  modes 3 []string omitempty fill=[\"a\"]
  context 4 *Context omitempty fill={}
  other 5 *Context omitempty
  parts 6 []Part omitempty
  named 7 map[string]Part omitempty
  self 8 *Spec omitempty
type Context
  user 1 *int64 omitempty fill=0
type Part
  protocol 1 string omitempty default=\"TCP\"
  count 2 int32 omitempty default=0
";

    fn check(given: Value, expected: Value) {
        let table = parse(&[("a/v1", FACTS)]).expect("the facts are well formed");
        let mut object = json!({"spec": given});
        table.get("a/v1", "Pod").expect("the type is there").fill_defaults(&mut object);
        assert_eq!(object["spec"], expected);
    }

    #[test]
    fn what_is_left_out_is_filled_in() {
        let whole = json!({"policy": "Always", "grace": 30, "modes": ["a"], "context": {"user": 0}});
        check(json!({}), whole.clone());
        check(json!({"policy": "", "grace": null, "modes": [], "context": null}), whole.clone());
        check(
            json!({"policy": "Never", "grace": 0, "modes": ["b"], "context": {"user": 7}}),
            json!({"policy": "Never", "grace": 0, "modes": ["b"], "context": {"user": 7}}),
        );
        check(whole.clone(), whole);
        check(json!("no struct"), json!("no struct"));
    }

    #[test]
    fn structs_below_are_filled_where_they_are() {
        let base = |more: Value| {
            let mut spec = json!({"policy": "Always", "grace": 30, "modes": ["a"], "context": {"user": 0}});
            spec.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            spec
        };
        check(
            json!({"parts": [{}, null, {"protocol": "UDP"}]}),
            base(json!({"parts": [{"protocol": "TCP"}, null, {"protocol": "UDP"}]})),
        );
        check(json!({"named": {"x": {}}}), base(json!({"named": {"x": {"protocol": "TCP"}}})));
        check(json!({"other": {}, "parts": "odd"}), base(json!({"other": {"user": 0}, "parts": "odd"})));
        check(json!({"self": {}}), base(json!({"self": base(json!({}))})));
    }
}
