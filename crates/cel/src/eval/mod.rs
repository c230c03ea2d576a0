//! Evaluation: [`plan`] turns a checked expression into nodes that run without looking
//! anything up by name, [`run`] evaluates them and counts what that costs.

pub(crate) mod plan;
pub(crate) mod run;

use std::sync::Arc;

use regex::Regex;

use crate::cost::CostKind;
use crate::library::{Call, Function};
use crate::value::{OwnedMap, Value};

/// A step of a program.
#[derive(Debug)]
pub(crate) enum Node {
    Const(Value<'static>),
    /// A value and what is selected of it.
    Attribute(Box<Attribute>),
    /// Whether the last selection would find something.
    Has(Box<Attribute>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// True unless its operand is false; even if it failed.
    NotStrictlyFalse(Box<Node>),
    Call(Box<CallNode>),
    /// A call whose pattern is a constant.
    Regex(Box<RegexNode>),
    /// Whether a value is one of many constants.
    InSet(Box<(Node, OwnedMap<'static>)>),
    /// The value of an optional, or the second operand. With `unwrap`, `orValue`.
    OptionalOr {
        operands: Box<[Node; 2]>,
        unwrap: bool,
    },
    List(Box<[Element]>),
    Map(Box<[(Node, Element)]>),
    Struct(Box<StructNode>),
    Fold(Box<Fold>),
    /// `accumulator + [element]`, in place.
    Append {
        slot: usize,
        element: Box<Node>,
        create_cost: u64,
    },
    /// `cel.@mapInsert(accumulator, ...)`, in place.
    Insert {
        slot: usize,
        args: Box<[Node]>,
    },
}

#[derive(Debug)]
pub(crate) struct Element {
    pub node: Node,
    pub optional: bool,
}

#[derive(Debug)]
pub(crate) struct Attribute {
    pub base: Base,
    pub qualifiers: Vec<Qualifier>,
}

#[derive(Debug)]
pub(crate) enum Base {
    Variable(Arc<str>),
    /// A variable of a comprehension.
    Local(usize),
    Value(Node),
    /// Condition, then, else.
    Conditional(Box<[Node; 3]>),
}

#[derive(Debug)]
pub(crate) struct Qualifier {
    pub key: Key,
    pub optional: bool,
}

#[derive(Debug)]
pub(crate) enum Key {
    Field(Arc<str>),
    Const(Value<'static>),
    Computed(Node),
}

#[derive(Debug)]
pub(crate) struct CallNode {
    pub function: Arc<Function>,
    pub implementation: Implementation,
    pub args: Box<[Node]>,
    pub cost: CostKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Implementation {
    /// The types of the arguments are known to be right.
    Direct(Call),
    /// This overload, if the arguments turn out to fit.
    Guarded(usize),
    /// Whatever overload fits.
    Dispatch,
}

#[derive(Debug)]
pub(crate) struct RegexNode {
    pub operation: RegexOperation,
    pub pattern: Regex,
    /// All of the arguments, the constant pattern among them, for the cost.
    pub args: Box<[Node]>,
    pub cost: CostKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RegexOperation {
    Matches,
    Find,
    FindAll,
}

#[derive(Debug)]
pub(crate) struct StructNode {
    pub type_name: Arc<str>,
    pub fields: Vec<(Arc<str>, Element)>,
}

#[derive(Debug)]
pub(crate) struct Fold {
    pub range: Node,
    pub accumulator: usize,
    pub iteration: usize,
    /// For the macros with two variables: the index or key is then in `iteration`.
    pub second: Option<usize>,
    pub init: Node,
    pub condition: Node,
    pub step: Node,
    pub result: Node,
}
