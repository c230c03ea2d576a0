//! A checked expression to a program. Constants are folded as cel-go's optimizer does,
//! no more and no less, because what is folded costs nothing.

use std::sync::Arc;

use super::*;
use crate::ast::{ACCUMULATOR, Comprehension, Expr, ExprKind, Literal};
use crate::check::{Checked, Reference};
use crate::cost::{self, LIST_CREATE};
use crate::library::regex::compile;
use crate::library::standard::is_conversion;
use crate::program::Program;
use crate::source::{CompileErrors, Source};
use crate::types::Type;
use crate::value::{List, Map, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Optimize {
    Constants,
    Nothing,
}

pub(crate) fn plan(checked: Checked, source: Source, optimize: Optimize) -> Result<Program, CompileErrors> {
    let mut planner = Planner { checked: &checked, optimize, scopes: Vec::new(), slots: 0 };
    match planner.plan(&checked.ast.root) {
        Ok(root) => {
            let slots = planner.slots;
            Ok(Program::new(source, checked, root, slots))
        }
        Err(message) => Err(CompileErrors::instantiation(source, message)),
    }
}

/// A program, or why its constants can only fail.
type Planned<T> = Result<T, String>;

struct Planner<'c> {
    checked: &'c Checked,
    optimize: Optimize,
    scopes: Vec<(String, usize)>,
    /// Slots are never reused: an initial value that is computed late may run in the
    /// middle of any comprehension further in.
    slots: usize,
}

impl Planner<'_> {
    fn plan(&mut self, expr: &Expr) -> Planned<Node> {
        Ok(match &expr.kind {
            ExprKind::Unspecified => return Err("unsupported expr".into()),
            ExprKind::Literal(literal) => Node::Const(constant(literal)),
            ExprKind::Ident(name) => self.plan_ident(expr, name),
            ExprKind::Select { operand, field, test_only } => {
                let mut attribute = self.plan_attribute(operand)?;
                let key = Key::Field(Arc::from(field.as_str()));
                attribute.qualifiers.push(Qualifier { key, optional: false });
                if *test_only { Node::Has(attribute) } else { Node::Attribute(attribute) }
            }
            ExprKind::Call { function, target, args } => self.plan_call(expr, function, target.as_deref(), args)?,
            ExprKind::List { elements, optional } => {
                let mut planned = Vec::with_capacity(elements.len());
                for (index, element) in elements.iter().enumerate() {
                    planned.push(Element { node: self.plan(element)?, optional: optional.contains(&index) });
                }
                self.fold_list(planned)
            }
            ExprKind::Map { entries } => {
                let mut planned = Vec::with_capacity(entries.len());
                for entry in entries {
                    let key = self.plan(&entry.key)?;
                    planned.push((key, Element { node: self.plan(&entry.value)?, optional: entry.optional }));
                }
                self.fold_map(planned)
            }
            ExprKind::Struct { type_name, fields } => {
                let mut planned = Vec::with_capacity(fields.len());
                for field in fields {
                    let element = Element { node: self.plan(&field.value)?, optional: field.optional };
                    planned.push((Arc::from(field.name.as_str()), element));
                }
                Node::Struct(Box::new(StructNode { type_name: Arc::from(type_name.as_str()), fields: planned }))
            }
            ExprKind::Comprehension(fold) => self.plan_fold(fold)?,
        })
    }

    fn plan_ident(&self, expr: &Expr, name: &str) -> Node {
        if let Some(Reference::Type(name)) = &self.checked.references[expr.id] {
            return Node::Const(Value::Type(Text::from(name.clone())));
        }
        let base = match self.scopes.iter().rev().find(|(scoped, _)| scoped == name) {
            Some((_, slot)) => Base::Local(*slot),
            None => Base::Variable(Arc::from(name.strip_prefix('.').unwrap_or(name))),
        };
        Node::Attribute(Box::new(Attribute { base, qualifiers: Vec::new() }))
    }

    /// Something that selections can be added to.
    fn plan_attribute(&mut self, operand: &Expr) -> Planned<Box<Attribute>> {
        Ok(match self.plan(operand)? {
            Node::Attribute(attribute) => attribute,
            value => Box::new(Attribute { base: Base::Value(value), qualifiers: Vec::new() }),
        })
    }

    fn plan_call(&mut self, expr: &Expr, function: &str, target: Option<&Expr>, args: &[Expr]) -> Planned<Node> {
        match (function, args) {
            ("_&&_", [a, b]) => return Ok(Node::And(Box::new([self.plan(a)?, self.plan(b)?]))),
            ("_||_", [a, b]) => return Ok(Node::Or(Box::new([self.plan(a)?, self.plan(b)?]))),
            ("@not_strictly_false", [operand]) => return Ok(Node::NotStrictlyFalse(Box::new(self.plan(operand)?))),
            ("_?_:_", [condition, yes, no]) => {
                let branches = [self.plan(condition)?, self.plan(yes)?, self.plan(no)?];
                let base = Base::Conditional(Box::new(branches));
                return Ok(Node::Attribute(Box::new(Attribute { base, qualifiers: Vec::new() })));
            }
            ("_[_]" | "_[?_]" | "_?._", [operand, index]) => {
                let mut attribute = self.plan_attribute(operand)?;
                let key = match self.plan(index)? {
                    Node::Const(Value::String(text)) => Key::Field(Arc::from(&*text)),
                    Node::Const(value) => Key::Const(value),
                    computed => Key::Computed(computed),
                };
                attribute.qualifiers.push(Qualifier { key, optional: function != "_[_]" });
                return Ok(Node::Attribute(attribute));
            }
            _ => {}
        }
        let mut planned = Vec::with_capacity(args.len() + 1);
        for arg in target.into_iter().chain(args) {
            planned.push(self.plan(arg)?);
        }
        self.finish_call(expr, planned)
    }

    fn finish_call(&mut self, expr: &Expr, args: Vec<Node>) -> Planned<Node> {
        let Some(Reference::Function { function, overloads }) = &self.checked.references[expr.id] else {
            return Err("unsupported expr".into());
        };
        let overload = match overloads[..] {
            [only] => Some(only),
            _ => None,
        };
        let cost = cost::kind(function.name, overload);
        let args = match self.specialize(expr, function.name, overload, args, cost)? {
            Ok(node) => return Ok(node),
            Err(args) => args,
        };
        let found = overload.and_then(|id| function.overloads.iter().position(|overload| overload.id == id));
        let implementation = match found {
            _ if function.dynamic => Implementation::Direct(function.overloads[0].call),
            Some(index) if self.known(expr) => Implementation::Direct(function.overloads[index].call),
            Some(index) => Implementation::Guarded(index),
            None => Implementation::Dispatch,
        };
        let call = CallNode { function: function.clone(), implementation, args: args.into(), cost };
        if self.optimize == Optimize::Constants
            && is_conversion(function.name)
            && let [Node::Const(_)] = &call.args[..]
        {
            return run::evaluate_constant(&Node::Call(Box::new(call))).map(Node::Const).map_err(|e| e.to_string());
        }
        Ok(Node::Call(Box::new(call)))
    }

    /// Whether the checker vouches for the types of all arguments.
    fn known(&self, expr: &Expr) -> bool {
        let mut known = true;
        expr.children(&mut |child| known &= is_concrete(self.checked.type_of(child)));
        known
    }

    /// Calls that are faster, or cheaper, than a general one; else the arguments again.
    fn specialize(
        &mut self,
        expr: &Expr,
        function: &str,
        overload: Option<&str>,
        args: Vec<Node>,
        cost: CostKind,
    ) -> Planned<Result<Node, Vec<Node>>> {
        let optimize = self.optimize == Optimize::Constants;
        match (function, overload) {
            ("or", Some("optional_or_optional")) | ("orValue", Some("optional_orValue_value")) => {
                let unwrap = function == "orValue";
                return Ok(<[Node; 2]>::try_from(args)
                    .map(|operands| Node::OptionalOr { operands: Box::new(operands), unwrap }));
            }
            ("@in", Some("in_list")) if optimize => return Ok(fold_membership(args)),
            ("matches" | "find" | "findAll", _) => {
                let Some(Node::Const(Value::String(pattern))) = args.get(1) else { return Ok(Err(args)) };
                if !optimize && function == "matches" {
                    return Ok(Err(args));
                }
                let pattern = compile(pattern)?;
                let operation = match function {
                    "matches" => RegexOperation::Matches,
                    "find" => RegexOperation::Find,
                    _ => RegexOperation::FindAll,
                };
                return Ok(Ok(Node::Regex(Box::new(RegexNode { operation, pattern, args: args.into(), cost }))));
            }
            ("_+_", Some("add_list")) => return Ok(self.append(expr, args)),
            ("cel.@mapInsert", Some(_)) => {
                if let Some(slot) = accumulator(&args[0]) {
                    let args = args.into_iter().skip(1).collect();
                    return Ok(Ok(Node::Insert { slot, args }));
                }
            }
            _ => {}
        }
        Ok(Err(args))
    }

    /// `accumulator + [element]` of the macros.
    fn append(&self, expr: &Expr, args: Vec<Node>) -> Result<Node, Vec<Node>> {
        let ExprKind::Call { args: written, .. } = &expr.kind else { return Err(args) };
        let macro_made = matches!(&written[0].kind, ExprKind::Ident(name) if name == ACCUMULATOR);
        let Some(slot) = accumulator(&args[0]).filter(|_| macro_made) else { return Err(args) };
        let mut args = args;
        match args.pop() {
            Some(Node::List(elements)) if elements.len() == 1 && !elements[0].optional => {
                let element = elements.into_iter().next().map(|element| element.node);
                let element = Box::new(element.unwrap_or(Node::Const(Value::Null)));
                Ok(Node::Append { slot, element, create_cost: LIST_CREATE })
            }
            Some(Node::Const(Value::List(list))) if list.len() == 1 => {
                let element = list.get(0).and_then(Result::ok).unwrap_or(Value::Null);
                Ok(Node::Append { slot, element: Box::new(Node::Const(element)), create_cost: 0 })
            }
            other => {
                args.extend(other);
                Err(args)
            }
        }
    }

    fn fold_list(&self, elements: Vec<Element>) -> Node {
        let constant = |element: &Element| matches!(element.node, Node::Const(_)) && !element.optional;
        if self.optimize == Optimize::Constants && elements.iter().all(constant) {
            let values = elements.into_iter().filter_map(|element| match element.node {
                Node::Const(value) => Some(value),
                _ => None,
            });
            return Node::Const(Value::list(values.collect()));
        }
        Node::List(elements.into())
    }

    fn fold_map(&self, entries: Vec<(Node, Element)>) -> Node {
        let constant = |(key, element): &(Node, Element)| {
            matches!((key, &element.node), (Node::Const(_), Node::Const(_))) && !element.optional
        };
        if self.optimize == Optimize::Constants && entries.iter().all(constant) {
            let mut map = OwnedMap::default();
            let mut good = true;
            for (key, element) in &entries {
                if let (Node::Const(key), Node::Const(value)) = (key, &element.node) {
                    good &= map.insert(key.clone(), value.clone());
                }
            }
            if good {
                return Node::Const(Value::Map(Map::Owned(Arc::new(map))));
            }
        }
        Node::Map(entries.into())
    }

    fn plan_fold(&mut self, fold: &Comprehension) -> Planned<Node> {
        let slot = self.slots;
        self.slots += 3;
        let range = self.plan(&fold.range)?;
        let init = self.plan(&fold.init)?;
        let outside = self.scopes.len();
        self.scopes.push((fold.accu.clone(), slot));
        let with_accumulator = self.scopes.len();
        self.scopes.push((fold.iter.clone(), slot + 1));
        if let Some(iter2) = &fold.iter2 {
            self.scopes.push((iter2.clone(), slot + 2));
        }
        let condition = self.plan(&fold.condition)?;
        let step = self.plan(&fold.step)?;
        self.scopes.truncate(with_accumulator);
        let result = self.plan(&fold.result)?;
        self.scopes.truncate(outside);
        let second = fold.iter2.is_some().then_some(slot + 2);
        Ok(Node::Fold(Box::new(Fold {
            range,
            accumulator: slot,
            iteration: slot + 1,
            second,
            init,
            condition,
            step,
            result,
        })))
    }
}

fn constant(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::String(Text::Shared(text.clone())),
        Literal::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}

fn accumulator(node: &Node) -> Option<usize> {
    match node {
        Node::Attribute(attribute) if attribute.qualifiers.is_empty() => match attribute.base {
            Base::Local(slot) => Some(slot),
            _ => None,
        },
        _ => None,
    }
}

/// A list of many constants is asked for its members by hashing.
fn fold_membership(args: Vec<Node>) -> Result<Node, Vec<Node>> {
    let Some(Node::Const(Value::List(list))) = args.get(1) else { return Err(args) };
    if list.is_empty() {
        return Ok(Node::Const(Value::Bool(false)));
    }
    let Some(set) = set_of(list) else { return Err(args) };
    match args.into_iter().next() {
        Some(value) => Ok(Node::InSet(Box::new((value, set)))),
        None => Err(Vec::new()),
    }
}

fn set_of<'v>(list: &List<'v>) -> Option<OwnedMap<'v>> {
    let mut set = OwnedMap::default();
    for item in list.iter() {
        let item = item.ok()?;
        // A double may have a fraction, and then is no key.
        if matches!(item, Value::Double(_)) || !set.insert(item, Value::Bool(true)) {
            return None;
        }
    }
    Some(set)
}

fn is_concrete(found: &Type) -> bool {
    match found {
        Type::Dyn | Type::Error | Type::Param(_) => false,
        Type::List(element) => is_concrete(element),
        Type::Map(key, value) => is_concrete(key) && is_concrete(value),
        Type::Opaque(_, params) => params.iter().all(is_concrete),
        _ => true,
    }
}
