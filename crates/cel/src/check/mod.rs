//! The type checker: gives each node a type, resolves names and overloads, and reports
//! what cannot be. The rules and the sentences are cel-go's checker/checker.go.

mod unify;
mod validators;

use std::sync::Arc;

use unify::{Substitution, most_general};

use crate::ast::{Ast, Comprehension, Expr, ExprKind, Literal, MapEntry, StructField};
use crate::environment::Environment;
use crate::library::Function;
use crate::source::{CompileErrors, Issue, Source};
use crate::types::{Type, signature};

/// A checked expression. Types and references are found by node id.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub ast: Ast,
    pub types: Vec<Type>,
    pub references: Vec<Option<Reference>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Reference {
    /// A variable of the environment or of a comprehension.
    Variable(String),
    /// A type used as a value.
    Type(String),
    Function {
        function: Arc<Function>,
        overloads: Vec<&'static str>,
    },
}

impl Checked {
    pub fn type_of(&self, expr: &Expr) -> &Type {
        &self.types[expr.id]
    }

    pub fn overloads(&self, expr: &Expr) -> &[&'static str] {
        match &self.references[expr.id] {
            Some(Reference::Function { overloads, .. }) => overloads,
            _ => &[],
        }
    }
}

pub(crate) fn check(environment: &Environment, mut ast: Ast, source: &Source) -> Result<Checked, CompileErrors> {
    let count = ast.offsets.len();
    let mut checker = Checker {
        environment,
        offsets: &ast.offsets,
        types: vec![Type::Error; count],
        references: vec![None; count],
        scopes: Vec::new(),
        known: Substitution::default(),
        fresh: 0,
        issues: Vec::new(),
    };
    checker.check(&mut ast.root);
    let Checker { mut types, references, known, mut issues, .. } = checker;
    for found in &mut types {
        *found = known.apply(found, true);
    }
    let checked = Checked { ast, types, references };
    if issues.is_empty() {
        validators::validate(&checked, &mut issues);
    }
    if issues.is_empty() { Ok(checked) } else { Err(CompileErrors::new(source.clone(), issues)) }
}

struct Checker<'e> {
    environment: &'e Environment,
    offsets: &'e [u32],
    types: Vec<Type>,
    references: Vec<Option<Reference>>,
    /// Variables of the comprehensions around, innermost last.
    scopes: Vec<(String, Type)>,
    known: Substitution,
    fresh: usize,
    issues: Vec<Issue>,
}

impl Checker<'_> {
    fn report(&mut self, id: usize, message: String) {
        self.issues.push(Issue { offset: Some(self.offsets[id]), message });
    }

    fn get(&self, expr: &Expr) -> Type {
        self.types[expr.id].clone()
    }

    fn new_variable(&mut self) -> Type {
        self.fresh += 1;
        Type::param(&format!("_var{}", self.fresh - 1))
    }

    /// What a name stands for.
    fn lookup(&self, name: &str) -> Option<(Type, Reference)> {
        let name = match name.strip_prefix('.') {
            Some(absolute) => absolute,
            None => {
                if let Some((_, found)) = self.scopes.iter().rev().find(|(scoped, _)| scoped == name) {
                    return Some((found.clone(), Reference::Variable(name.into())));
                }
                name
            }
        };
        if let Some(found) = self.environment.variable(name) {
            return Some((found.clone(), Reference::Variable(name.into())));
        }
        let found = self.environment.named_type(name)?;
        Some((Type::Type(Some(Arc::new(found))), Reference::Type(name.into())))
    }

    fn undeclared(&mut self, id: usize, name: &str) {
        self.report(id, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn check(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Unspecified => {}
            ExprKind::Literal(literal) => {
                self.types[expr.id] = match literal {
                    Literal::Null => Type::Null,
                    Literal::Bool(_) => Type::Bool,
                    Literal::Int(_) => Type::Int,
                    Literal::Uint(_) => Type::Uint,
                    Literal::Double(_) => Type::Double,
                    Literal::String(_) => Type::String,
                    Literal::Bytes(_) => Type::Bytes,
                };
            }
            ExprKind::Ident(name) => match self.lookup(name) {
                Some((found, reference)) => {
                    self.types[expr.id] = found;
                    self.references[expr.id] = Some(reference);
                }
                None => {
                    let name = name.clone();
                    self.undeclared(expr.id, &name);
                }
            },
            ExprKind::Select { .. } => self.check_select(expr),
            ExprKind::Call { .. } => self.check_call(expr),
            ExprKind::List { .. } => self.check_list(expr),
            ExprKind::Map { .. } => self.check_map(expr),
            ExprKind::Struct { .. } => self.check_struct(expr),
            ExprKind::Comprehension(fold) => {
                let id = expr.id;
                let found = self.check_comprehension(fold);
                self.types[id] = found;
            }
        }
    }

    fn check_select(&mut self, expr: &mut Expr) {
        // `authorizer.requestResource` is one name, unless a comprehension hides it.
        if let Some(name) = expr.qualified_name()
            && let Some((found, reference)) = self.lookup(&name)
        {
            self.types[expr.id] = found;
            self.references[expr.id] = Some(reference);
            expr.kind = ExprKind::Ident(name);
            return;
        }
        let id = expr.id;
        let ExprKind::Select { operand, field, test_only } = &mut expr.kind else { return };
        let field = field.clone();
        let mut found = self.check_field(id, operand, &field, false);
        if *test_only {
            found = Type::Bool;
        }
        self.types[id] = self.known.apply(&found, false);
    }

    /// The type of a field of `operand`, which is checked first.
    fn check_field(&mut self, id: usize, operand: &mut Expr, field: &str, optional: bool) -> Type {
        self.check(operand);
        let operand = self.known.apply(&self.get(operand), false);
        let inner = operand.unwrap_optional();
        let wrap = optional || inner.is_some();
        let target = inner.unwrap_or(&operand).clone();
        let found = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Struct(kind) => match kind.field(field) {
                Some(found) => found,
                None => {
                    self.report(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Param(_) => {
                self.known.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            Type::Dyn | Type::Error => Type::Dyn,
            _ => {
                self.report(id, format!("type '{target}' does not support field selection"));
                Type::Dyn
            }
        };
        if wrap { Type::optional(found) } else { found }
    }

    fn check_call(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let ExprKind::Call { function, target, args } = &mut expr.kind else { return };
        if function == "_?._" {
            if let [operand, Expr { kind: ExprKind::Literal(Literal::String(field)), .. }] = &mut args[..] {
                let field = field.clone();
                let found = self.check_field(id, operand, &field, true);
                self.types[id] = self.known.apply(&found, false);
                if let Some(function) = self.environment.function("_?._") {
                    let overloads = vec!["select_optional_field"];
                    self.references[id] = Some(Reference::Function { function: function.clone(), overloads });
                }
                self.types[args[1].id] = Type::String;
            }
            return;
        }
        args.iter_mut().for_each(|arg| self.check(arg));
        let environment = self.environment;
        let Some(receiver) = target else {
            match environment.function(function) {
                Some(found) => self.resolve(id, found, None, args),
                None => {
                    let function = function.clone();
                    self.undeclared(id, &function);
                }
            }
            return;
        };
        // `optional.of(x)` is a function with a dotted name, not a call on `optional`.
        if let Some(prefix) = receiver.qualified_name() {
            let name = format!("{prefix}.{function}");
            if let Some(found) = environment.function(&name) {
                *function = found.name.to_owned();
                *target = None;
                self.resolve(id, found, None, args);
                return;
            }
        }
        self.check(receiver);
        match environment.function(function) {
            Some(found) => {
                let receiver = self.get(receiver);
                self.resolve(id, found, Some(receiver), args);
            }
            None => {
                let function = function.clone();
                self.undeclared(id, &function);
            }
        }
    }

    /// Finds the overloads that the arguments allow, and with them the type.
    fn resolve(&mut self, id: usize, function: &Arc<Function>, receiver: Option<Type>, args: &[Expr]) {
        let member = receiver.is_some();
        let arguments: Vec<Type> = receiver.into_iter().chain(args.iter().map(|arg| self.get(arg))).collect();
        if matches!(function.name, "_&&_" | "_||_") {
            self.resolve_logic(id, function, args);
            return;
        }
        let mut result: Option<Type> = None;
        let mut overloads = Vec::new();
        for overload in function.overloads.iter().filter(|overload| overload.member == member) {
            let mut names: Vec<Arc<str>> = Vec::new();
            overload.args.iter().chain([&overload.result]).for_each(|declared| params(declared, &mut names));
            let mut fresh = Substitution::default();
            for name in names {
                let variable = self.new_variable();
                fresh.set(name, variable);
            }
            let declared: Vec<Type> = overload.args.iter().map(|declared| fresh.apply(declared, false)).collect();
            if !self.known.assign_all(&arguments, &declared) {
                continue;
            }
            overloads.push(overload.id);
            let found = self.known.apply(&fresh.apply(&overload.result, false), false);
            result = Some(match result {
                Some(before) if !before.is_dyn() && before != found => Type::Dyn,
                Some(before) => before,
                None => found,
            });
        }
        let Some(result) = result else {
            let arguments: Vec<Type> = arguments.iter().map(|found| self.known.apply(found, true)).collect();
            let signature = signature(&arguments, member);
            self.report(id, format!("found no matching overload for '{}' applied to '{signature}'", function.name));
            return;
        };
        self.types[id] = result;
        self.references[id] = Some(Reference::Function { function: function.clone(), overloads });
    }

    fn resolve_logic(&mut self, id: usize, function: &Arc<Function>, args: &[Expr]) {
        let mut good = true;
        for arg in args {
            let found = self.get(arg);
            if !self.known.assign(&found, &Type::Bool) {
                self.report(arg.id, format!("expected type 'bool' but found '{found}'"));
                good = false;
            }
        }
        if good {
            self.types[id] = Type::Bool;
            let overloads = vec![function.overloads[0].id];
            self.references[id] = Some(Reference::Function { function: function.clone(), overloads });
        }
    }

    /// The common type of the elements of a literal so far and one more.
    fn join(&mut self, before: Option<Type>, found: Type) -> Type {
        let Some(before) = before else { return found };
        if self.known.assign(&before, &found) {
            return most_general(before, found);
        }
        // Mixed literals are refused by a validator, except as arguments of format().
        Type::Dyn
    }

    /// The type of an element written with `?`.
    fn unwrap_element(&mut self, at: usize, found: Type) -> Type {
        match found.unwrap_optional() {
            Some(inner) => inner.clone(),
            None => {
                if !found.is_dyn() {
                    let expected = Type::optional(found.clone());
                    self.report(at, format!("expected type '{expected}' but found '{found}'"));
                }
                found
            }
        }
    }

    fn check_list(&mut self, expr: &mut Expr) {
        let ExprKind::List { elements, optional } = &mut expr.kind else { return };
        let mut joined = None;
        for (index, element) in elements.iter_mut().enumerate() {
            self.check(element);
            let mut found = self.get(element);
            if optional.contains(&index) {
                found = self.unwrap_element(element.id, found);
            }
            joined = Some(self.join(joined, found));
        }
        let element = joined.unwrap_or_else(|| self.new_variable());
        self.types[expr.id] = Type::list(element);
    }

    fn check_map(&mut self, expr: &mut Expr) {
        let ExprKind::Map { entries } = &mut expr.kind else { return };
        let (mut keys, mut values) = (None, None);
        for MapEntry { key, value, optional } in entries {
            self.check(key);
            let found = self.get(key);
            keys = Some(self.join(keys, found));
            self.check(value);
            let mut found = self.get(value);
            if *optional {
                found = self.unwrap_element(value.id, found);
            }
            values = Some(self.join(values, found));
        }
        let key = keys.unwrap_or_else(|| self.new_variable());
        let value = values.unwrap_or_else(|| self.new_variable());
        self.types[expr.id] = Type::map(key, value);
    }

    fn check_struct(&mut self, expr: &mut Expr) {
        let id = expr.id;
        let ExprKind::Struct { type_name, fields } = &mut expr.kind else { return };
        let name = type_name.strip_prefix('.').unwrap_or(type_name).to_owned();
        let found = match self.lookup(&name) {
            None => {
                let name = type_name.clone();
                return self.undeclared(id, &name);
            }
            Some((Type::Type(Some(inner)), _)) => match &*inner {
                Type::Struct(kind) => Some(kind.clone()),
                other => {
                    self.report(id, format!("'{other}' is not a message type"));
                    None
                }
            },
            Some((other, _)) => {
                self.report(id, format!("'{other}' is not a type"));
                None
            }
        };
        *type_name = name;
        if let Some(kind) = &found {
            self.types[id] = Type::Struct(kind.clone());
        }
        for StructField { id, name, value, optional } in fields {
            self.check(value);
            let mut provided = self.get(value);
            if *optional {
                provided = self.unwrap_element(value.id, provided);
            }
            let Some(kind) = &found else { continue };
            let Some(declared) = kind.field(name) else {
                self.report(*id, format!("undefined field '{name}'"));
                continue;
            };
            if !self.known.assign(&declared, &provided) {
                self.report(
                    *id,
                    format!("expected type of field '{name}' is '{declared}' but provided type is '{provided}'"),
                );
            }
        }
    }

    fn check_comprehension(&mut self, fold: &mut Comprehension) -> Type {
        self.check(&mut fold.range);
        self.check(&mut fold.init);
        let range = self.known.apply(&self.get(&fold.range), false);
        let accumulator = self.get(&fold.init);
        let outside = self.scopes.len();
        self.scopes.push((fold.accu.clone(), accumulator.clone()));
        let two = fold.iter2.is_some();
        let (first, second) = match &range {
            Type::List(element) if two => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Error),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.known.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                self.report(
                    fold.range.id,
                    format!("expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"),
                );
                (Type::Error, Type::Error)
            }
        };
        let with_accumulator = self.scopes.len();
        self.scopes.push((fold.iter.clone(), first));
        if let Some(iter2) = &fold.iter2 {
            self.scopes.push((iter2.clone(), second));
        }
        self.check(&mut fold.condition);
        self.expect(&fold.condition, &Type::Bool);
        self.check(&mut fold.step);
        self.expect(&fold.step, &accumulator);
        self.scopes.truncate(with_accumulator);
        self.check(&mut fold.result);
        self.scopes.truncate(outside);
        self.known.apply(&self.get(&fold.result), false)
    }

    fn expect(&mut self, expr: &Expr, expected: &Type) {
        let found = self.get(expr);
        if !self.known.assign(expected, &found) {
            self.report(expr.id, format!("expected type '{expected}' but found '{found}'"));
        }
    }
}

/// The names of the type parameters in a declaration.
fn params(declared: &Type, names: &mut Vec<Arc<str>>) {
    match declared {
        Type::Param(name) if !names.contains(name) => names.push(name.clone()),
        Type::List(element) => params(element, names),
        Type::Map(key, value) => {
            params(key, names);
            params(value, names);
        }
        Type::Type(Some(inner)) => params(inner, names),
        Type::Opaque(_, inner) => inner.iter().for_each(|inner| params(inner, names)),
        _ => {}
    }
}
