//! One ValidatingAdmissionPolicy, compiled, and what it says about one write with one set
//! of parameters. Follows upstream's policy/validating/validator.go.

use crate::admission::cel::{Bindings, Expression, Failure, MatchConditions, Names, Scope};
use ferry_cel::{Budget, Value as Cel, Variable};
use ferry_resources::cel::admission::{Compiler, Place};
use ferry_resources::read::Read;
use serde_json::Value;

/// A longer message is not an expression's to give.
const MAX_MESSAGE: usize = 5 * 1024;

pub(super) struct Validator {
    /// Whether what fails denies.
    fails: bool,
    conditions: MatchConditions,
    variables: Vec<Variable>,
    validations: Vec<Validation>,
    annotations: Vec<(String, Expression)>,
    names: Names,
}

struct Validation {
    expression: Expression,
    message_expression: Option<Expression>,
    message: String,
    reason: String,
}

/// What a policy says about a write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    pub denials: Vec<Denial>,
    pub annotations: Vec<Annotation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Denial {
    /// Which of the policy's validations denies.
    pub index: usize,
    pub message: String,
    /// A reason of Status; empty where the policy does not choose, and for failures.
    pub reason: String,
    /// The policy could not be evaluated.
    pub is_failure: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Annotation {
    Publish {
        key: String,
        value: String,
    },
    /// Its expression failed, which denies whatever the binding's actions are.
    Error(String),
}

impl Validator {
    pub(super) fn compile(spec: &Value) -> Self {
        let mut compiler = Compiler::composing(spec.has("paramKind"));
        let variables: Vec<Variable> = spec
            .list("variables")
            .iter()
            .map(|variable| compiler.declare(variable.text("name"), variable.text("expression")))
            .collect();
        let conditions = MatchConditions::compile(&compiler, spec.list("matchConditions"), &variables);
        let validations: Vec<Validation> = spec
            .list("validations")
            .iter()
            .map(|validation| Validation {
                expression: Expression::new(&compiler, validation.text("expression"), Place::Validation),
                message_expression: Some(validation.text("messageExpression"))
                    .filter(|text| !text.is_empty())
                    .map(|text| Expression::new(&compiler, text, Place::Message)),
                message: validation.text("message").to_owned(),
                reason: validation.text("reason").to_owned(),
            })
            .collect();
        let annotations: Vec<(String, Expression)> = spec
            .list("auditAnnotations")
            .iter()
            .map(|annotation| {
                let text = annotation.text("valueExpression");
                (annotation.text("key").to_owned(), Expression::new(&compiler, text, Place::AuditAnnotation))
            })
            .collect();
        let mut names = Names::default();
        names.add_variables(&variables);
        for validation in &validations {
            names.add_all(std::slice::from_ref(&validation.expression));
            names.add_all(validation.message_expression.as_slice());
        }
        annotations.iter().for_each(|(_, expression)| names.add_all(std::slice::from_ref(expression)));
        let fails = spec.text("failurePolicy") != "Ignore";
        Self { fails, conditions, variables, validations, annotations, names }
    }

    pub(super) fn validate(&self, scope: &Scope<'_>, params: Option<&Value>) -> Verdict {
        match self.conditions.matches(scope, params, &self.variables) {
            Ok(true) => {}
            Ok(false) => return Verdict::default(),
            Err(text) => return self.failed(text),
        }
        let bindings = Bindings { params, variables: &self.variables, has_authorizer: true, names: self.names };
        let activation = scope.activation(&bindings);
        let mut budget = Budget::default();
        let mut results: Vec<Result<bool, String>> = Vec::with_capacity(self.validations.len());
        for validation in &self.validations {
            match validation.expression.evaluate(&activation, &mut budget) {
                Ok(value) => results.push(Ok(value.as_bool() == Some(true))),
                Err(Failure::Expression(text)) => results.push(Err(text)),
                Err(failure @ Failure::Budget) => return self.failed(failure.to_string()),
            }
        }
        let mut verdict = Verdict::default();
        // Messages are made only when something is wrong: upstream makes them always, which
        // nobody can tell unless a message that is not needed costs all of the budget.
        if results.iter().any(|result| result != &Ok(true)) {
            verdict.denials = self.denials(&results, scope, bindings, budget);
        }
        if !self.annotations.is_empty() {
            match self.annotate(scope, bindings) {
                Ok(annotations) => verdict.annotations = annotations,
                Err(failure) => return self.failed(failure.to_string()),
            }
        }
        verdict
    }

    /// The verdict when the policy as a whole cannot be asked.
    fn failed(&self, message: String) -> Verdict {
        let denial = Denial { index: 0, message, reason: String::new(), is_failure: true };
        Verdict { denials: if self.fails { vec![denial] } else { Vec::new() }, annotations: Vec::new() }
    }

    fn denials<'s>(
        &self,
        results: &[Result<bool, String>],
        scope: &Scope<'s>,
        bindings: Bindings<'s>,
        budget: Budget,
    ) -> Vec<Denial> {
        let messages = self.messages(scope, bindings, budget);
        let mut denials = Vec::new();
        for (index, (validation, result)) in self.validations.iter().zip(results).enumerate() {
            let failure = match (result, &messages) {
                (Err(text), _) => Some(text.clone()),
                (Ok(_), Err(failure)) => Some(format!("failed messageExpression: {failure}")),
                (Ok(_), Ok(_)) => None,
            };
            match (failure, result) {
                (Some(message), _) if self.fails => {
                    denials.push(Denial { index, message, reason: String::new(), is_failure: true })
                }
                (Some(_), _) | (None, Ok(true)) => {}
                (None, _) => {
                    let made = messages.as_ref().ok().and_then(|made| made[index].as_deref());
                    let message = made.unwrap_or_default().trim();
                    let usable = message.len() <= MAX_MESSAGE && !message.contains('\n');
                    denials.push(Denial {
                        is_failure: false,
                        index,
                        message: validation.message(if usable { message } else { "" }),
                        reason: validation.reason.clone(),
                    });
                }
            }
        }
        denials
    }

    /// What the message expressions say, as far as they say a text. They may not ask the
    /// authorizer, and share what the validations left of the budget.
    fn messages<'s>(
        &self,
        scope: &Scope<'s>,
        bindings: Bindings<'s>,
        mut budget: Budget,
    ) -> Result<Vec<Option<String>>, Failure> {
        let activation = scope.activation(&Bindings { has_authorizer: false, ..bindings });
        let mut messages = Vec::with_capacity(self.validations.len());
        for validation in &self.validations {
            let evaluated =
                validation.message_expression.as_ref().map(|found| found.evaluate(&activation, &mut budget));
            messages.push(match evaluated {
                Some(Ok(value)) => value.as_str().map(str::to_owned),
                Some(Err(Failure::Budget)) => return Err(Failure::Budget),
                Some(Err(Failure::Expression(error))) => {
                    tracing::debug!(%error, "a messageExpression failed");
                    None
                }
                None => None,
            });
        }
        Ok(messages)
    }

    /// Annotations have a budget of their own.
    fn annotate<'s>(&self, scope: &Scope<'s>, bindings: Bindings<'s>) -> Result<Vec<Annotation>, Failure> {
        let activation = scope.activation(&Bindings { has_authorizer: false, ..bindings });
        let mut budget = Budget::default();
        let mut annotations = Vec::new();
        for (key, expression) in &self.annotations {
            match expression.evaluate(&activation, &mut budget) {
                Ok(Cel::String(text)) if !text.trim().is_empty() => {
                    annotations.push(Annotation::Publish { key: key.clone(), value: text.trim().to_owned() });
                }
                Ok(Cel::String(_) | Cel::Null) => {}
                Ok(other) => annotations.push(Annotation::Error(format!(
                    "valueExpression '{}' resulted in unsupported return type: {}. Return type must be either string or null.",
                    expression.text,
                    other.type_name()
                ))),
                Err(Failure::Budget) => return Err(Failure::Budget),
                Err(Failure::Expression(text)) if self.fails => annotations.push(Annotation::Error(text)),
                Err(Failure::Expression(_)) => {}
            }
        }
        Ok(annotations)
    }
}

impl Validation {
    /// The message of an expression, else the one that is written down, else the expression.
    fn message(&self, made: &str) -> String {
        if !made.is_empty() {
            return made.to_owned();
        }
        match self.message.trim() {
            "" => format!("failed expression: {}", self.expression.text.trim()),
            message => message.to_owned(),
        }
    }
}
