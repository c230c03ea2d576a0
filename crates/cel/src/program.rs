//! A compiled expression: shared between threads, evaluated any number of times.

use std::sync::Arc;

use crate::activation::Activation;
use crate::ast::{Expr, ExprKind, Literal};
use crate::check::{Checked, Reference};
use crate::cost::Budget;
use crate::error::Evaluated;
use crate::estimate::{CostEstimate, estimate};
use crate::eval::Node;
use crate::eval::run::Interpreter;
use crate::schema::Schema;
use crate::source::Source;
use crate::types::Type;
use crate::value::Value;

#[derive(Clone, Debug)]
pub struct Program {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    source: Source,
    checked: Checked,
    root: Node,
    slots: usize,
}

impl Program {
    pub(crate) fn new(source: Source, checked: Checked, root: Node, slots: usize) -> Self {
        Self { inner: Arc::new(Inner { source, checked, root, slots }) }
    }

    pub fn source(&self) -> &str {
        self.inner.source.text()
    }

    /// The type of the value, as far as it is known before evaluation.
    pub fn result_type(&self) -> &Type {
        self.inner.checked.type_of(&self.inner.checked.ast.root)
    }

    /// Whether the expression refers to a variable: a rule that uses `oldSelf` is a
    /// transition rule.
    pub fn uses_variable(&self, name: &str) -> bool {
        self.inner
            .checked
            .references
            .iter()
            .any(|reference| matches!(reference, Some(Reference::Variable(found)) if found == name))
    }

    /// Whether the expression calls a function of this name, macros not counted.
    pub fn uses_function(&self, name: &str) -> bool {
        fn calls(expr: &Expr, name: &str) -> bool {
            let mut found = matches!(&expr.kind, ExprKind::Call { function, .. } if function == name);
            expr.children(&mut |child| found = found || calls(child, name));
            found
        }
        calls(&self.inner.checked.ast.root, name)
    }

    /// Whether the expression reads a field of a variable, as `claims.email` does.
    pub fn selects(&self, variable: &str, field: &str) -> bool {
        fn is_variable(expr: &Expr, variable: &str) -> bool {
            matches!(&expr.kind, ExprKind::Ident(name) if name == variable)
        }
        fn selects(expr: &Expr, variable: &str, wanted: &str) -> bool {
            let mut found = match &expr.kind {
                ExprKind::Select { operand, field, .. } => field == wanted && is_variable(operand, variable),
                // `claims.?email` is a call.
                ExprKind::Call { function, target: None, args } if function == "_?._" => {
                    matches!(args.as_slice(), [operand, Expr { kind: ExprKind::Literal(Literal::String(name)), .. }]
                        if **name == *wanted && is_variable(operand, variable))
                }
                _ => false,
            };
            expr.children(&mut |child| found = found || selects(child, variable, wanted));
            found
        }
        selects(&self.inner.checked.ast.root, variable, field)
    }

    /// Evaluates, and pays from the budget what that cost, composed variables included.
    pub fn evaluate<'v>(&self, activation: &Activation<'v>, budget: &mut Budget) -> Evaluated<Value<'v>> {
        let (result, cost) = self.run(activation, budget.per_call);
        budget.spend(cost.saturating_add(activation.take_cost()))?;
        result
    }

    /// Evaluates up to a limit of cost; with the cost, that of composed variables left out.
    pub fn run<'v>(&self, activation: &Activation<'v>, limit: u64) -> (Evaluated<Value<'v>>, u64) {
        let mut interpreter = Interpreter::new(activation, self.inner.slots, limit);
        let result = interpreter.eval(&self.inner.root);
        (result, interpreter.cost)
    }

    /// What an evaluation costs at least and at most. `root` describes the variable that
    /// the first step of each path names (`self` and `oldSelf` of a validation rule).
    pub fn estimate_cost(&self, root: Option<&Schema>) -> CostEstimate {
        estimate(&self.inner.checked, root)
    }
}
