//! The conditions under which a webhook is called or a policy holds at all (upstream's
//! webhook/matchconditions): expressions that must all be true.

use super::{Bindings, Expression, Failure, Names, Scope};
use ferry_cel::{Budget, MATCH_CONDITIONS_BUDGET, Value as Cel, Variable};
use ferry_resources::cel::admission::{Compiler, Place};
use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub struct MatchConditions {
    expressions: Vec<Expression>,
    names: Names,
}

impl MatchConditions {
    /// The conditions of a webhook, which has neither parameters nor variables.
    pub fn of_webhook(conditions: &[Value]) -> Self {
        Self::compile(&Compiler::plain(false), conditions, &[])
    }

    /// The conditions of a policy with the variables that the compiler knows.
    pub fn compile(compiler: &Compiler, conditions: &[Value], variables: &[Variable]) -> Self {
        let text =
            |condition: &Value| condition.get("expression").and_then(Value::as_str).unwrap_or_default().to_owned();
        let expressions: Vec<Expression> = conditions
            .iter()
            .map(|condition| Expression::new(compiler, &text(condition), Place::MatchCondition))
            .collect();
        let mut names = Names::default();
        names.add_all(&expressions);
        names.add_variables(variables);
        Self { expressions, names }
    }

    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    /// Whether all conditions are true. One that is false settles it, whatever is wrong
    /// with the others; otherwise the error tells what is wrong, and the caller's failure
    /// policy says whether that refuses the request or means no.
    pub fn matches(&self, scope: &Scope<'_>, params: Option<&Value>, variables: &[Variable]) -> Result<bool, String> {
        if self.expressions.is_empty() {
            return Ok(true);
        }
        // Conditions do not see the namespace: upstream leaves it null here.
        let names = Names { namespace: false, ..self.names };
        let bindings = Bindings { params, variables, has_authorizer: true, names };
        let mut activation = scope.activation(&bindings);
        activation.set("namespaceObject", Cel::Null);
        let mut budget = Budget::new(MATCH_CONDITIONS_BUDGET);
        let mut errors: Vec<String> = Vec::new();
        for expression in &self.expressions {
            match expression.evaluate(&activation, &mut budget) {
                Ok(Cel::Bool(true)) => {}
                Ok(_) => return Ok(false),
                Err(failure @ Failure::Budget) => return Err(failure.to_string()),
                Err(Failure::Expression(text)) if errors.contains(&text) => {}
                Err(Failure::Expression(text)) => errors.push(text),
            }
        }
        match errors.as_slice() {
            [] => Ok(true),
            [one] => Err(one.clone()),
            many => Err(format!("[{}]", many.join(", "))),
        }
    }
}
