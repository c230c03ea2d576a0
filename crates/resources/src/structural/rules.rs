//! `x-kubernetes-validations`: rules in CEL (pkg/apiserver/schema/cel). They are compiled
//! with the schema, and run on every object that the schema itself finds nothing wrong
//! with. Rules that name `oldSelf` judge changes; the others are not held against what an
//! update leaves as it was.

use super::Findings;
use super::node::{Additional, Node};
use super::ratchet::{Correlated, OldItems};
use crate::apiextensions::custom_resource_definition::resolve_field_path;
use crate::read::Read;
use ferry_api::field::{Error, ErrorType, Path};
use ferry_cel::{Activation, Environment, EvalError, PER_CALL_LIMIT, Program, Schema, Stage, Type};
use serde_json::Value;
use std::sync::Arc;

/// The longest message that an expression may make.
const MAX_MESSAGE: usize = 5 * 1024;
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The rules of one place in a schema.
#[derive(Debug)]
pub struct Rules {
    /// The type in the schema; errors about the rules themselves show it as the value.
    kind: Box<str>,
    schema: Arc<Schema>,
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    compiled: Compiled,
    /// How the rule is named when it fails: its message, or its text.
    name: String,
    has_message: bool,
    /// The text of `messageExpression`.
    message_expression: String,
    reason: Option<ErrorType>,
    optional_old_self: bool,
    /// Where under the value the mistake is to be reported.
    field_path: String,
}

/// A rule as far as it compiles; the texts of errors are upstream's.
#[derive(Debug)]
pub struct Compiled {
    /// None for a rule without text.
    pub program: Option<Result<Program, String>>,
    pub message: Option<Result<Program, String>>,
    pub uses_old_self: bool,
    /// What the rule costs at most where it applies once.
    pub max_cost: u64,
    pub message_max_cost: u64,
}

/// Compiles the rules of a schema, in their order. None if expressions cannot see values
/// of this schema at all.
pub fn compile(schema: &Value, is_resource: bool) -> Option<(Arc<Schema>, Vec<Compiled>)> {
    let typed = Schema::from_openapi(schema, is_resource);
    let kind = typed.to_type("selfType")?;
    let plain = Environment::kubernetes().with_variable("self", kind.clone());
    let strict = plain.clone().with_variable("oldSelf", kind.clone());
    let optional = plain.with_variable("oldSelf", Type::optional(kind));
    let compile = |rule: &Value| {
        let environment = if rule.flag("optionalOldSelf") { &optional } else { &strict };
        compile_rule(rule, environment, &typed)
    };
    let compiled = schema.list("x-kubernetes-validations").iter().map(compile).collect();
    Some((typed, compiled))
}

fn compile_rule(rule: &Value, environment: &Environment, schema: &Schema) -> Compiled {
    let mut compiled =
        Compiled { program: None, message: None, uses_old_self: false, max_cost: 0, message_max_cost: 0 };
    let text = rule.text("rule");
    if text.trim().is_empty() {
        return compiled;
    }
    let wrong_type = "cel expression must evaluate to a bool";
    let program =
        expression(environment, text, &Type::Bool, ["compilation failed", "program instantiation failed"], wrong_type);
    if let Ok(program) = &program {
        compiled.uses_old_self = program.uses_variable("oldSelf");
        compiled.max_cost = program.estimate_cost(Some(schema)).max;
        let text = rule.text("messageExpression");
        if !text.is_empty() {
            let failures = ["messageExpression compilation failed", "messageExpression instantiation failed"];
            let wrong_type = "messageExpression must evaluate to a string";
            let message = expression(environment, text, &Type::String, failures, wrong_type);
            if let Ok(message) = &message {
                compiled.message_max_cost = message.estimate_cost(Some(schema)).max;
            }
            compiled.message = Some(message);
        }
    }
    compiled.program = Some(program);
    compiled
}

fn expression(
    environment: &Environment,
    text: &str,
    wanted: &Type,
    failures: [&str; 2],
    wrong_type: &str,
) -> Result<Program, String> {
    let program = environment.compile(text).map_err(|errors| {
        let failure = failures[usize::from(errors.stage == Stage::Instantiate)];
        format!("{failure}: {errors}")
    })?;
    if program.result_type() == wanted { Ok(program) } else { Err(wrong_type.to_owned()) }
}

impl Rules {
    /// The rules of a schema, ready to run; none if expressions cannot see its values.
    pub fn compile(schema: &Value, is_resource: bool) -> Option<Self> {
        let (typed, compiled) = compile(schema, is_resource)?;
        let rules = schema.list("x-kubernetes-validations").iter().zip(compiled);
        let rules = rules.map(|(rule, compiled)| Rule::new(rule, compiled, schema)).collect();
        Some(Self { kind: schema.text("type").into(), schema: typed, rules })
    }
}

impl Rule {
    fn new(rule: &Value, compiled: Compiled, schema: &Value) -> Self {
        let message = rule.text("message");
        let field_path = match rule.text("fieldPath") {
            "" => String::new(),
            path => resolve_field_path(path, schema, true).map(|found| found.path.to_string()).unwrap_or_default(),
        };
        Self {
            compiled,
            name: if message.is_empty() { rule.text("rule") } else { message }.trim().to_owned(),
            has_message: !message.is_empty(),
            message_expression: rule.text("messageExpression").to_owned(),
            reason: match rule.text("reason") {
                "FieldValueForbidden" => Some(ErrorType::Forbidden),
                "FieldValueRequired" => Some(ErrorType::Required),
                "FieldValueDuplicate" => Some(ErrorType::Duplicate),
                _ => None,
            },
            optional_old_self: rule.flag("optionalOldSelf"),
            field_path,
        }
    }

    fn default_message(&self) -> String {
        if self.has_message { self.name.clone() } else { format!("failed rule: {}", self.name) }
    }
}

/// Runs every rule on an object. Ratcheted failures become warnings. Returns what is left
/// of the budget; none if it is spent, and then not every rule was run.
pub fn validate(
    root: &Node,
    new: &Value,
    old: Option<&Value>,
    correlated: Option<Correlated<'_>>,
    path: &Path,
    findings: &mut Findings,
    budget: u64,
) -> Option<u64> {
    let mut run = Run { findings, budget };
    let ratchet = Ratchet { current: correlated, parent: None };
    run.node(root, new, old, ratchet, path).is_ok().then_some(run.budget)
}

/// No further rules will be run: the budget is spent, and the findings say so.
struct Spent;

struct Run<'f> {
    findings: &'f mut Findings,
    budget: u64,
}

/// The old values that decide whether a failure counts: that of the value itself, or of
/// the nearest value around it that has one.
#[derive(Clone, Copy)]
struct Ratchet<'a> {
    current: Option<Correlated<'a>>,
    parent: Option<Correlated<'a>>,
}

impl<'a> Ratchet<'a> {
    fn is_same(&self) -> bool {
        self.current.or(self.parent).is_some_and(|correlated| correlated.is_same())
    }

    fn key(self, name: &str) -> Self {
        match (self.current, self.parent) {
            (None, _) => self,
            // What kind the object is of is never compared.
            (Some(_), None) if matches!(name, "apiVersion" | "kind") => Self { current: None, parent: None },
            (Some(current), _) => self.below(current.key(name)),
        }
    }

    fn below(self, child: Option<Correlated<'a>>) -> Self {
        match self.current {
            None => self,
            current => Self { current: child, parent: current },
        }
    }
}

impl Run<'_> {
    fn node(
        &mut self,
        node: &Node,
        new: &Value,
        old: Option<&Value>,
        ratchet: Ratchet<'_>,
        path: &Path,
    ) -> Result<(), Spent> {
        if new.is_null() || !node.rules_within {
            return Ok(());
        }
        let old = old.filter(|old| !old.is_null());
        if let Some(rules) = &node.rules {
            self.rules(rules, new, old, ratchet, path)?;
        }
        match new {
            Value::Object(map) => {
                if let Additional::Schema(part) = &node.additional
                    && part.rules_within
                {
                    for (name, value) in map.iter().filter(|(name, _)| !node.properties.contains_key(name.as_str())) {
                        let old = old.and_then(|old| old.get(name));
                        self.node(part, value, old, ratchet.key(name), &path.key(name))?;
                    }
                }
                for (name, part) in node.properties.iter().filter(|(_, part)| part.rules_within) {
                    if let Some(value) = map.get(&**name) {
                        let old = old.and_then(|old| old.get(&**name));
                        self.node(part, value, old, ratchet.key(name), &path.child(name))?;
                    }
                }
            }
            Value::Array(items) => {
                let Some(part) = node.items.as_deref().filter(|part| part.rules_within) else { return Ok(()) };
                let before = OldItems::of(node, old);
                let correlated = ratchet.current.map(|current| current.items()).unwrap_or_default();
                for (index, item) in items.iter().enumerate() {
                    let ratchet = ratchet.below(correlated.get(index).copied().flatten());
                    self.node(part, item, before.get(item), ratchet, &path.index(index))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A mistake of the rules rather than of the value.
    fn fail(&mut self, rules: &Rules, path: &Path, detail: String) {
        self.findings.errors.push(Error::invalid(path, &*rules.kind, detail));
    }

    fn rules(
        &mut self,
        rules: &Rules,
        new: &Value,
        old: Option<&Value>,
        ratchet: Ratchet<'_>,
        path: &Path,
    ) -> Result<(), Spent> {
        if self.budget == 0 {
            self.fail(rules, path, OUT_OF_BUDGET.to_owned());
            return Err(Spent);
        }
        let value_of = |value| ferry_cel::Value::from_typed(value, &rules.schema);
        let (this, before) = (value_of(new), old.map(value_of).transpose());
        let (this, before) = match (this, before) {
            (Ok(this), Ok(before)) => (this, before),
            // Only what the schema refuses cannot be read, and such objects do not come here
            // unless an update left the mistake alone.
            (Err(error), _) | (_, Err(error)) => {
                for rule in &rules.rules {
                    self.fail(rules, path, format!("{error} evaluating rule: {}", rule.name));
                }
                return Ok(());
            }
        };
        let mut plain = Activation::new().with("self", this.clone());
        if let Some(before) = &before {
            plain.set("oldSelf", before.clone());
        }
        let optional = before.map_or(ferry_cel::Value::Optional(None), ferry_cel::Value::some);
        let optional = Activation::new().with("self", this).with("oldSelf", optional);
        for rule in &rules.rules {
            let program = match &rule.compiled.program {
                None => continue,
                Some(Err(why)) => {
                    self.fail(rules, path, format!("rule compile error: {why}"));
                    continue;
                }
                Some(Ok(program)) => program,
            };
            if rule.compiled.uses_old_self && old.is_none() && !rule.optional_old_self {
                continue;
            }
            let activation = if rule.optional_old_self { &optional } else { &plain };
            let (result, cost) = program.run(activation, PER_CALL_LIMIT);
            match self.budget.checked_sub(cost) {
                Some(rest) => self.budget = rest,
                None => {
                    self.fail(rules, path, OUT_OF_BUDGET.to_owned());
                    return Err(Spent);
                }
            }
            let name = &rule.name;
            match result {
                Ok(value) if value.as_bool() == Some(true) => {}
                Ok(_) => self.broken(rules, rule, new, &plain, ratchet, path)?,
                Err(error @ EvalError::CostLimitExceeded) => {
                    let detail = format!(
                        "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
                    );
                    self.fail(rules, path, detail);
                    return Err(Spent);
                }
                Err(error) if error.to_string().starts_with("no such overload") => {
                    let detail = format!(
                        "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
                    );
                    self.fail(rules, path, detail);
                }
                Err(error) => self.fail(rules, path, format!("{error} evaluating rule: {name}")),
            }
        }
        Ok(())
    }

    /// A rule that is false of its value.
    fn broken(
        &mut self,
        rules: &Rules,
        rule: &Rule,
        new: &Value,
        activation: &Activation<'_>,
        ratchet: Ratchet<'_>,
        path: &Path,
    ) -> Result<(), Spent> {
        let path = if rule.field_path.is_empty() { path.clone() } else { path.child(&rule.field_path) };
        let is_old = !rule.compiled.uses_old_self && ratchet.is_same();
        let add = |findings: &mut Findings, error: Error| {
            if is_old {
                findings.warnings.push(error.to_string());
            } else {
                findings.errors.push(error);
            }
        };
        let detail = match &rule.compiled.message {
            Some(Ok(program)) => match self.message(program, rule, activation) {
                Ok(message) => message.unwrap_or_else(|| rule.default_message()),
                Err(detail) => {
                    add(self.findings, Error::invalid(&path, &*rules.kind, detail));
                    return Err(Spent);
                }
            },
            _ => rule.default_message(),
        };
        // Objects and lists are not repeated in the error.
        let value = (!matches!(&*rules.kind, "object" | "array")).then(|| new.clone());
        let error = match rule.reason {
            Some(kind @ (ErrorType::Forbidden | ErrorType::Required)) => {
                Error { kind, field: path.as_str().to_owned(), value: None, detail }
            }
            Some(kind @ ErrorType::Duplicate) => {
                Error { kind, field: path.as_str().to_owned(), value, detail: String::new() }
            }
            _ => Error { kind: ErrorType::Invalid, field: path.as_str().to_owned(), value, detail },
        };
        add(self.findings, error);
        Ok(())
    }

    /// The message that an expression makes; none if it makes none that can be shown. The
    /// error is the last that is said.
    fn message(
        &mut self,
        program: &Program,
        rule: &Rule,
        activation: &Activation<'_>,
    ) -> Result<Option<String>, String> {
        let (result, cost) = program.run(activation, PER_CALL_LIMIT);
        let Some(rest) = self.budget.checked_sub(cost) else {
            return Err("messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run".to_owned());
        };
        if result.as_ref().is_err_and(|error| *error == EvalError::CostLimitExceeded) {
            return Err(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {:?}",
                rule.message_expression
            ));
        }
        self.budget = rest;
        let message = result.ok().and_then(|value| value.as_str().map(|text| text.trim().to_owned()));
        Ok(message.filter(|text| !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n')))
    }
}
