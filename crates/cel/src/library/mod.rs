//! The functions that expressions may call: one file per library, each declaring its
//! overloads (what the checker sees) beside their implementations. [`all`] says which
//! libraries Kubernetes 1.36 turns on.

pub(crate) mod all;
pub mod authorizer;
mod cidr;
pub mod format;
mod ip;
mod jsonpatch;
mod lists;
mod lists_ext;
pub(crate) mod number;
pub(crate) mod operators;
pub(crate) mod optional;
mod quantity;
pub(crate) mod re2;
pub(crate) mod regex;
pub mod semver;
mod sets;
pub(crate) mod standard;
pub(crate) mod string_format;
mod strings;
mod timestamps;
pub(crate) mod two_variables;
pub mod url;

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{EvalError, Evaluated};
use crate::types::Type;
use crate::value::{Opaque, Value};

/// An implementation. It is given as many arguments as its overload declares, of the
/// types it declares (a dyn argument may be anything).
pub(crate) type Call = for<'a, 'v> fn(&'a [Value<'v>]) -> Evaluated<Value<'v>>;

#[derive(Clone, Debug)]
pub(crate) struct Overload {
    pub id: &'static str,
    /// Called as `target.function()`; the target is the first argument.
    pub member: bool,
    pub args: Vec<Type>,
    pub result: Type,
    pub call: Call,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: &'static str,
    pub overloads: Vec<Overload>,
    /// All overloads share one implementation, which sorts out its arguments itself and is
    /// called without a check of their types: the operators.
    pub dynamic: bool,
}

/// What libraries declare, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub functions: HashMap<&'static str, Arc<Function>>,
    /// Types that expressions can name.
    pub types: Vec<Type>,
}

impl Declarations {
    fn overload(&mut self, name: &'static str, dynamic: bool, overload: Overload) {
        let function =
            self.functions.entry(name).or_insert_with(|| Arc::new(Function { name, overloads: Vec::new(), dynamic }));
        Arc::make_mut(function).overloads.push(overload);
    }

    /// Declares `name(args)`.
    fn global(&mut self, name: &'static str, id: &'static str, args: Vec<Type>, result: Type, call: Call) {
        self.overload(name, false, Overload { id, member: false, args, result, call });
    }

    /// Declares `first.name(rest)`.
    fn member(&mut self, name: &'static str, id: &'static str, args: Vec<Type>, result: Type, call: Call) {
        self.overload(name, false, Overload { id, member: true, args, result, call });
    }

    /// As [`Self::member`], called with whatever types the arguments turn out to have.
    fn unguarded(&mut self, name: &'static str, id: &'static str, args: Vec<Type>, result: Type, call: Call) {
        self.overload(name, true, Overload { id, member: true, args, result, call });
    }

    /// Declares one overload of an operator.
    fn operator(&mut self, name: &'static str, id: &'static str, args: Vec<Type>, result: Type, call: Call) {
        self.overload(name, true, Overload { id, member: false, args, result, call });
    }
}

impl Function {
    /// Calls the overload that fits the arguments.
    pub fn dispatch<'v>(&self, args: &[Value<'v>]) -> Evaluated<Value<'v>> {
        match self.overloads.iter().find(|overload| overload.accepts(args)) {
            Some(overload) => (overload.call)(args),
            None => Err(self.no_such_overload(args)),
        }
    }

    pub fn no_such_overload(&self, args: &[Value<'_>]) -> EvalError {
        let types: Vec<&str> = args.iter().map(Value::type_name).collect();
        EvalError::new(format_args!("no such overload: {}({})", self.name, types.join(", ")))
    }
}

impl Overload {
    pub fn accepts(&self, args: &[Value<'_>]) -> bool {
        args.len() == self.args.len() && self.args.iter().zip(args).all(|(declared, arg)| fits(declared, arg))
    }
}

/// Whether a value has the declared type, as far as its first element tells.
fn fits(declared: &Type, value: &Value<'_>) -> bool {
    match (declared, value) {
        (Type::Dyn | Type::Param(_), _) => true,
        (Type::List(element), Value::List(list)) => {
            matches!(**element, Type::Dyn | Type::Param(_))
                || list.get(0).is_none_or(|first| first.is_ok_and(|first| fits(element, &first)))
        }
        (Type::Map(..), Value::Map(_)) => true,
        (declared, value) => declared.runtime_name() == value.type_name(),
    }
}

/// The longest text that a function makes. Costs are counted after the fact, so that a
/// few bytes of expression could otherwise ask for all memory there is.
const MAX_TEXT: usize = 32 << 20;

fn check_size(bytes: usize) -> Evaluated<()> {
    if bytes > MAX_TEXT { Err(EvalError::CostLimitExceeded) } else { Ok(()) }
}

/// The error of an implementation that was given what its overload does not declare.
fn mismatch<'v>() -> Evaluated<Value<'v>> {
    Err(EvalError::no_such_overload())
}

fn opaque<'v>(value: Opaque<'v>) -> Evaluated<Value<'v>> {
    Ok(Value::Opaque(value))
}
