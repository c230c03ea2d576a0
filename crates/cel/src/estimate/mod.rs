//! What an expression can cost before it ever runs, from the sizes that its schema
//! allows: cel-go's checker/cost.go with upstream's apiserver/pkg/cel/library/cost.go. A
//! CRD whose rules could cost too much is refused on the strength of this.

mod functions;

use std::collections::HashMap;

use crate::ast::{ACCUMULATOR, Comprehension, Expr, ExprKind, Literal};
use crate::check::Checked;
use crate::cost::{LIST_CREATE, MAP_CREATE, REGEX_LENGTH, STRING_TRAVERSAL, STRUCT_CREATE};
use crate::schema::Schema;
use crate::types::Type;

/// The bounds of a cost, or of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CostEstimate {
    pub min: u64,
    pub max: u64,
}

type Range = CostEstimate;

const UNKNOWN: Range = Range { min: 0, max: u64::MAX };
const ZERO: Range = fixed(0);
const ONE: Range = fixed(1);

const fn fixed(amount: u64) -> Range {
    Range { min: amount, max: amount }
}

impl CostEstimate {
    fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    fn scaled(self, factor: f64) -> Self {
        Self { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

fn scale(amount: u64, factor: f64) -> u64 {
    // The cast saturates.
    (amount as f64 * factor).ceil() as u64
}

/// The sizes of what is in a list or a map.
#[derive(Clone, Copy, Debug)]
struct Entries {
    list: bool,
    key: Range,
    value: Range,
}

struct Local {
    name: String,
    path: Vec<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

/// What a call costs, and the size of its result if that is known.
struct Call {
    cost: Range,
    size: Option<Range>,
}

/// An operand, for the costs of functions.
struct Operand<'c> {
    expr: &'c Expr,
    /// None once an accumulator is in it.
    path: Option<Vec<String>>,
    kind: &'c Type,
    size: Option<Range>,
}

pub(crate) fn estimate(checked: &Checked, root: Option<&Schema>) -> CostEstimate {
    let mut estimator = Estimator {
        checked,
        root,
        paths: HashMap::new(),
        locals: Vec::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
    };
    estimator.cost(&checked.ast.root)
}

struct Estimator<'c> {
    checked: &'c Checked,
    root: Option<&'c Schema>,
    /// Where in the object a node looks: `self`, `spec`, `@items`.
    paths: HashMap<usize, Vec<String>>,
    locals: Vec<Local>,
    sizes: HashMap<usize, Range>,
    entries: HashMap<usize, Entries>,
}

impl<'c> Estimator<'c> {
    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn path(&self, expr: &Expr) -> Vec<String> {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    fn path_to(&self, expr: &Expr, step: &str) -> Vec<String> {
        let mut path = self.path(expr);
        path.push(step.to_owned());
        path
    }

    fn cost(&mut self, expr: &'c Expr) -> Range {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => ZERO,
            ExprKind::Ident(name) => {
                let path = self.local(name).map_or_else(|| vec![name.clone()], |local| local.path.clone());
                self.paths.insert(expr.id, path);
                ONE
            }
            ExprKind::Select { operand, test_only: true, .. } => self.cost(operand),
            ExprKind::Select { operand, field, test_only: false } => {
                let mut sum = self.cost(operand);
                if matches!(self.checked.type_of(operand), Type::Map(..) | Type::Struct(_) | Type::Param(_)) {
                    sum = sum.plus(ONE);
                }
                let path = self.path_to(operand, field);
                self.paths.insert(expr.id, path);
                sum
            }
            ExprKind::Call { function, target, args } => self.cost_call(expr, function, target.as_deref(), args),
            ExprKind::List { elements, .. } => {
                let mut sum = ZERO;
                let mut items = Range { min: if elements.is_empty() { 0 } else { u64::MAX }, max: 0 };
                for element in elements {
                    sum = sum.plus(self.cost(element));
                    items = items.union(self.size_or_unknown(element));
                }
                self.entries.insert(expr.id, Entries { list: true, key: ONE, value: items });
                sum.plus(fixed(LIST_CREATE))
            }
            ExprKind::Map { entries } => {
                let mut sum = ZERO;
                let start = Range { min: if entries.is_empty() { 0 } else { u64::MAX }, max: 0 };
                let (mut keys, mut values) = (start, start);
                for entry in entries {
                    sum = sum.plus(self.cost(&entry.key)).plus(self.cost(&entry.value));
                    keys = keys.union(self.size_or_unknown(&entry.key));
                    values = values.union(self.size_or_unknown(&entry.value));
                }
                self.entries.insert(expr.id, Entries { list: false, key: keys, value: values });
                sum.plus(fixed(MAP_CREATE))
            }
            ExprKind::Struct { fields, .. } => {
                let sum = fields.iter().fold(ZERO, |sum, field| sum.plus(self.cost(&field.value)));
                sum.plus(fixed(STRUCT_CREATE))
            }
            ExprKind::Comprehension(fold) if fold.is_bind() => self.cost_bind(expr, fold),
            ExprKind::Comprehension(fold) => self.cost_comprehension(expr, fold),
        }
    }

    fn cost_bind(&mut self, expr: &Expr, fold: &'c Comprehension) -> Range {
        let sum = self.cost(&fold.range).plus(self.cost(&fold.init));
        self.push_accumulator(fold);
        let sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        self.copy_sizes(expr, &fold.result);
        sum
    }

    fn push_accumulator(&mut self, fold: &'c Comprehension) {
        let local = Local {
            name: fold.accu.clone(),
            path: self.path(&fold.init),
            size: self.size(&fold.init),
            entries: self.entries_of(&fold.init),
        };
        self.locals.push(local);
    }

    fn cost_comprehension(&mut self, expr: &Expr, fold: &'c Comprehension) -> Range {
        let mut sum = self.cost(&fold.range).plus(self.cost(&fold.init));
        self.push_accumulator(fold);
        let entries = self.entries_of(&fold.range);
        let list = entries.map_or(matches!(self.checked.type_of(&fold.range), Type::List(_)), |entries| entries.list);
        let keys = entries.map(|entries| entries.key);
        let values = entries.map(|entries| entries.value);
        let local = |name: &String, path, size| Local { name: name.clone(), path, size, entries: None };
        match &fold.iter2 {
            None => {
                let (step, size) = if list { ("@items", values) } else { ("@keys", keys) };
                self.locals.push(local(&fold.iter, self.path_to(&fold.range, step), size));
            }
            Some(iter2) => {
                let (key, value) = if list { ("@indices", "@items") } else { ("@keys", "@values") };
                self.locals.push(local(&fold.iter, self.path_to(&fold.range, key), keys));
                self.locals.push(local(iter2, self.path_to(&fold.range, value), values));
            }
        }
        let round = self.cost(&fold.condition).plus(self.cost(&fold.step));
        self.locals.truncate(self.locals.len() - if fold.iter2.is_some() { 2 } else { 1 });
        sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        let rounds = self.size_or_unknown(&fold.range);
        sum = sum.plus(rounds.times(round));
        match fold.init.kind {
            ExprKind::Literal(_) => {
                let size = self.size(&fold.init);
                self.set_size(expr, size);
            }
            ExprKind::List { .. } | ExprKind::Map { .. } => {
                self.set_size(expr, Some(rounds));
                if let Some(entries) = self.entries_of(&fold.step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        sum
    }

    fn operand(&mut self, expr: &'c Expr) -> Operand<'c> {
        let path = self.path(expr);
        let usable = !path.is_empty() && path[0] != ACCUMULATOR;
        Operand { expr, path: usable.then_some(path), kind: self.checked.type_of(expr), size: self.size(expr) }
    }

    fn cost_call(&mut self, expr: &'c Expr, function: &str, target: Option<&'c Expr>, args: &'c [Expr]) -> Range {
        if let ("dyn", [arg]) = (function, args) {
            let cost = self.cost(arg).plus(ONE);
            self.copy_sizes(expr, arg);
            return cost;
        }
        let mut costs = Vec::with_capacity(args.len());
        let mut operands = Vec::with_capacity(args.len());
        for arg in args {
            costs.push(self.cost(arg));
            operands.push(self.operand(arg));
        }
        let overloads = self.checked.overloads(expr);
        if overloads.is_empty() {
            return ZERO;
        }
        let mut sum = ZERO;
        let target = target.map(|target| {
            sum = self.cost(target);
            self.operand(target)
        });
        let mut total = Range { min: u64::MAX, max: 0 };
        let mut size: Option<Range> = None;
        for overload in overloads {
            let call = self.function_cost(expr, function, overload, target.as_ref(), &operands, &costs);
            total = total.union(call.cost);
            size = match (size, call.size) {
                (Some(before), Some(found)) => Some(before.union(found)),
                (before, found) => before.or(found),
            };
            if let ("index_list" | "index_map", Some(first)) = (*overload, args.first()) {
                size = self.entries_of(first).map(|entries| entries.value);
                let step = if *overload == "index_list" { "@items" } else { "@values" };
                let path = self.path_to(first, step);
                self.paths.insert(expr.id, path);
            }
            if size.is_none() {
                size = self.size(expr);
            }
        }
        self.set_size(expr, size);
        sum.plus(total)
    }

    fn function_cost(
        &mut self,
        expr: &Expr,
        function: &str,
        overload: &str,
        target: Option<&Operand<'c>>,
        args: &[Operand<'c>],
        costs: &[Range],
    ) -> Call {
        let paid = costs.iter().fold(ZERO, |sum, cost| sum.plus(*cost));
        if let Some(call) = self.extension_cost(function, overload, target, args) {
            return Call { cost: call.cost.plus(paid), size: call.size };
        }
        let known = |operand: &Operand<'_>| operand.size.unwrap_or(UNKNOWN);
        let simple = |cost: Range| Call { cost: cost.plus(paid), size: None };
        match (overload, target, args) {
            ("string_format", Some(target), _) => simple(known(target).scaled(STRING_TRAVERSAL)),
            ("string_to_bytes", _, [arg]) => {
                let size = known(arg);
                let result = Range { min: size.min, max: size.max.wrapping_mul(4) };
                Call { cost: size.scaled(STRING_TRAVERSAL).plus(paid), size: Some(result) }
            }
            ("bytes_to_string", _, [arg]) => {
                let size = known(arg);
                let result = Range { min: size.min / 4, max: size.max };
                Call { cost: size.scaled(STRING_TRAVERSAL).plus(paid), size: Some(result) }
            }
            ("strings_quote", _, [arg]) => {
                let size = known(arg);
                let result = Range { min: size.min.wrapping_add(2), max: size.max.wrapping_mul(2).wrapping_add(2) };
                Call { cost: size.scaled(STRING_TRAVERSAL).plus(paid), size: Some(result) }
            }
            ("starts_with_string" | "ends_with_string", _, [arg]) => simple(known(arg).scaled(STRING_TRAVERSAL)),
            ("in_list", _, [_, list]) => simple(known(list)),
            ("matches_string", Some(target), [pattern]) => simple(matching(known(target), known(pattern))),
            ("contains_string", Some(target), [part]) => {
                simple(known(target).scaled(STRING_TRAVERSAL).times(known(part).scaled(STRING_TRAVERSAL)))
            }
            ("logical_or" | "logical_and", ..) => {
                Call { cost: Range { min: costs[0].min, max: costs[0].plus(costs[1]).max }, size: None }
            }
            ("conditional", _, [_, yes, no]) => {
                let size = known(yes).union(known(no));
                if let (Some(yes), Some(no)) = (self.entries_of(yes.expr), self.entries_of(no.expr)) {
                    self.entries.insert(expr.id, join(yes, no));
                }
                Call { cost: costs[0].plus(costs[1].union(costs[2])), size: Some(size) }
            }
            ("add_string" | "add_bytes" | "add_list", _, [left, right]) => {
                let size = known(left).plus(known(right));
                if let (Some(left), Some(right)) = (self.entries_of(left.expr), self.entries_of(right.expr)) {
                    self.entries.insert(expr.id, join(left, right));
                }
                let cost = if overload == "add_list" { ONE } else { size.scaled(STRING_TRAVERSAL) };
                Call { cost: cost.plus(paid), size: Some(size) }
            }
            (
                "less_string"
                | "greater_string"
                | "less_equals_string"
                | "greater_equals_string"
                | "less_bytes"
                | "greater_bytes"
                | "less_equals_bytes"
                | "greater_equals_bytes"
                | "equals"
                | "not_equals",
                _,
                [left, right],
            ) => {
                let max = known(left).max.min(known(right).max);
                simple(Range { min: max.min(1), max }.scaled(STRING_TRAVERSAL))
            }
            _ => simple(ONE),
        }
    }

    /// The size that the schema allows at a path.
    fn schema_size(&self, path: &[String]) -> Option<Range> {
        let mut schema = self.root?;
        let (_, steps) = path.split_first()?;
        for (index, step) in steps.iter().enumerate() {
            // Keys have no schema of their own, and are counted as nothing.
            if step == "@keys" && schema.at("@values").is_some() {
                return (index + 1 == steps.len()).then_some(ZERO);
            }
            schema = schema.at(step)?;
        }
        Some(Range { min: 0, max: schema.max_elements })
    }

    fn set_size(&mut self, expr: &Expr, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        let size = self.size(from);
        self.set_size(to, size);
        if let Some(entries) = self.entries_of(from) {
            self.entries.insert(to.id, entries);
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(UNKNOWN)
    }

    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        match &expr.kind {
            ExprKind::Literal(Literal::String(text)) => return Some(fixed(text.chars().count() as u64)),
            ExprKind::Literal(Literal::Bytes(bytes)) => return Some(fixed(bytes.len() as u64)),
            ExprKind::Literal(_) => return Some(ONE),
            ExprKind::List { elements, .. } => return Some(fixed(elements.len() as u64)),
            ExprKind::Map { entries } => return Some(fixed(entries.len() as u64)),
            _ => {}
        }
        let path = self.path(expr);
        if let Some(size) = (!path.is_empty()).then(|| self.schema_size(&path)).flatten() {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.checked.type_of(expr)) {
            return Some(ONE);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name).and_then(|local| local.size),
            _ => None,
        }
    }

    fn entries_of(&self, expr: &Expr) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name).and_then(|local| local.entries),
            _ => None,
        }
    }
}

fn join(a: Entries, b: Entries) -> Entries {
    Entries { list: a.list, key: a.key.union(b.key), value: a.value.union(b.value) }
}

/// Of a text with a pattern; an empty text costs too.
fn matching(text: Range, pattern: Range) -> Range {
    text.plus(ONE).scaled(STRING_TRAVERSAL).times(pattern.scaled(REGEX_LENGTH))
}

fn is_scalar(kind: &Type) -> bool {
    match kind {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        kind => kind.unwrap_optional().is_some_and(is_scalar),
    }
}
