//! The variables of one evaluation, among them those that are expressions themselves.

use std::cell::{Cell, RefCell};

use crate::error::{EvalError, Evaluated};
use crate::program::Program;
use crate::source::CompileErrors;
use crate::value::Value;

/// A composed variable of a policy: reached as `variables.name`.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub program: Result<Program, CompileErrors>,
}

/// Values by the names that the environment declared. The composed variables are
/// evaluated when an expression first asks for them, at most once an activation.
#[derive(Default)]
pub struct Activation<'v> {
    values: Vec<(&'v str, Value<'v>)>,
    variables: &'v [Variable],
    results: RefCell<Vec<Composed<'v>>>,
    /// What composed variables cost since it was last taken.
    cost: Cell<u64>,
}

#[derive(Clone)]
enum Composed<'v> {
    Unknown,
    Running,
    Known(Evaluated<Value<'v>>),
}

impl<'v> Activation<'v> {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with(mut self, name: &'v str, value: Value<'v>) -> Self {
        self.values.push((name, value));
        self
    }

    /// With `variables`, which the environment must declare as a struct of these names.
    pub fn with_variables(mut self, variables: &'v [Variable]) -> Self {
        self.results = RefCell::new(vec![Composed::Unknown; variables.len()]);
        self.variables = variables;
        self.with("variables", Value::Variables)
    }

    /// Changes a variable between evaluations; composed variables keep what they were.
    pub fn set(&mut self, name: &'v str, value: Value<'v>) {
        match self.values.iter_mut().find(|(existing, _)| *existing == name) {
            Some((_, existing)) => *existing = value,
            None => self.values.push((name, value)),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value<'v>> {
        self.values.iter().find(|(existing, _)| *existing == name).map(|(_, value)| value)
    }

    pub(crate) fn take_cost(&self) -> u64 {
        self.cost.take()
    }

    pub(crate) fn composed(&self, name: &str, limit: u64) -> Option<Evaluated<Value<'v>>> {
        let index = self.variables.iter().position(|variable| variable.name == name)?;
        let before = std::mem::replace(&mut self.results.borrow_mut()[index], Composed::Running);
        let result = match before {
            Composed::Known(result) => result,
            Composed::Running => Err(EvalError::new(format_args!("composited variable {name:?} refers to itself"))),
            Composed::Unknown => self.evaluate(&self.variables[index], limit),
        };
        self.results.borrow_mut()[index] = Composed::Known(result.clone());
        Some(result)
    }

    fn evaluate(&self, variable: &'v Variable, limit: u64) -> Evaluated<Value<'v>> {
        let name = &variable.name;
        let program = variable.program.as_ref().map_err(|error| {
            EvalError::new(format_args!("composited variable {name:?} fails to compile: compilation failed: {error}"))
        })?;
        let (result, cost) = program.run(self, limit);
        self.cost.set(self.cost.get().saturating_add(cost));
        result.map_err(|error| EvalError::new(format_args!("composited variable {name:?} fails to evaluate: {error}")))
    }
}
