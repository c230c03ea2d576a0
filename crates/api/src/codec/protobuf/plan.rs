//! The plan by which objects of a type become protobuf, made once a type: its fields in the
//! order in which the writer takes them, with the bytes of those that nothing set.

use super::wire::Writer;
use crate::schema::{Entry, Layout, Special, Type, TypeDef};

/// No type of upstream's has half as many fields.
const MAX_STEPS: usize = 128;

/// The steps of `encode.rs` for one message, from its last byte to its first.
#[derive(Debug)]
pub(crate) struct EncodePlan {
    pub(super) steps: Box<[Step]>,
    /// The steps to be taken even where the object has nothing for them, as bits.
    pub(super) always: u128,
    /// The message of a struct that nothing set.
    pub(super) zero: Box<[u8]>,
    /// The step of each field of the type; [`MAX_STEPS`] for one without a protobuf form.
    steps_of: Box<[u8]>,
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) tag: u32,
    pub(super) action: Action,
}

#[derive(Debug)]
pub(super) enum Action {
    /// An embedded message ends here; the writer goes backwards, so it is the first to come.
    Open,
    /// An embedded message begins here.
    Close,
    Field {
        ty: Type,
        list_message: bool,
        /// The bytes for a field that is absent; empty for one that is left out.
        absent: Box<[u8]>,
    },
}

impl EncodePlan {
    /// `None` for a type of more fields than a plan holds, which no builtin type has.
    pub(crate) fn new(definition: &TypeDef) -> Option<Self> {
        let mut steps = Vec::new();
        let mut steps_of = vec![MAX_STEPS as u8; definition.fields.len()];
        add_steps(definition, definition.layout(), &mut steps, &mut steps_of);
        if steps.len() > MAX_STEPS {
            return None;
        }
        let always =
            steps.iter().enumerate().filter(|(_, step)| step.is_always()).fold(0, |bits, (at, _)| bits | 1 << at);
        let mut plan = Self { steps: steps.into(), always, zero: Box::default(), steps_of: steps_of.into() };
        plan.zero = plan.zero();
        Some(plan)
    }

    /// The step for the field of this position.
    pub(super) fn step_of(&self, field: usize) -> Option<usize> {
        let step = usize::from(*self.steps_of.get(field)?);
        (step < MAX_STEPS).then_some(step)
    }

    fn zero(&self) -> Box<[u8]> {
        let (mut writer, mut opened) = (Writer::default(), Vec::new());
        for step in &self.steps {
            match &step.action {
                Action::Open => opened.push(writer.len()),
                Action::Close => writer.close_from(step.tag, opened.pop().unwrap_or_default()),
                Action::Field { absent, .. } => writer.raw(absent),
            }
        }
        writer.finish().into()
    }
}

impl Step {
    fn is_always(&self) -> bool {
        match &self.action {
            Action::Open | Action::Close => true,
            Action::Field { absent, .. } => !absent.is_empty(),
        }
    }
}

/// From the last tag to the first, since the writer goes backwards.
fn add_steps(definition: &TypeDef, layout: &Layout, steps: &mut Vec<Step>, steps_of: &mut [u8]) {
    for (tag, entry) in layout.entries.iter().rev() {
        let tag = *tag;
        match entry {
            Entry::Embedded(inner) => {
                steps.push(Step { tag, action: Action::Open });
                add_steps(definition, inner, steps, steps_of);
                steps.push(Step { tag, action: Action::Close });
            }
            Entry::Field(index) => {
                let field = &definition.fields[usize::from(*index)];
                steps_of[usize::from(*index)] = steps.len().min(MAX_STEPS) as u8;
                let is_left_out = field.pointer || matches!(field.ty, Type::List(_) | Type::Map(_) | Type::Bytes);
                let mut absent = Writer::default();
                if !is_left_out {
                    write_zero(&mut absent, tag, &field.ty, false);
                }
                let action = Action::Field {
                    ty: field.ty.clone(),
                    list_message: field.list_message,
                    absent: absent.finish().into(),
                };
                steps.push(Step { tag, action });
            }
        }
    }
}

/// Writes the zero value of a type with its tag, as Go writes a field that is no pointer.
pub(super) fn write_zero(writer: &mut Writer, tag: u32, ty: &Type, list_message: bool) {
    match ty {
        Type::Bool | Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 => writer.varint_field(tag, 0),
        Type::Float64 => writer.fixed64_field(tag, 0),
        Type::String | Type::Bytes => writer.bytes_field(tag, b""),
        Type::List(_) if list_message => writer.bytes_field(tag, b""),
        Type::List(_) | Type::Map(_) => {}
        Type::Struct(reference) => writer.bytes_field(tag, reference.get().plan().map_or(&[], |plan| &plan.zero)),
        Type::Special(special) => {
            let start = writer.len();
            match special {
                Special::Duration | Special::JsonSchemaPropsOrBool => writer.varint_field(1, 0),
                Special::Quantity => writer.bytes_field(1, b"0"),
                Special::IntOrString => {
                    writer.bytes_field(3, b"");
                    writer.varint_field(2, 0);
                    writer.varint_field(1, 0);
                }
                Special::Json => writer.bytes_field(1, b"null"),
                Special::Time
                | Special::MicroTime
                | Special::RawExtension
                | Special::FieldsV1
                | Special::JsonSchemaPropsOrArray
                | Special::JsonSchemaPropsOrStringArray => {}
            }
            writer.close_from(tag, start);
        }
    }
}
