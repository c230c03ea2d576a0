//! The syntax tree. Macros are already expanded in it: `list.all(x, p)` is a
//! [`Comprehension`], `has(a.b)` a [`ExprKind::Select`] that only tests.

use std::sync::Arc;

/// The accumulator of the standard macros; no source text can spell it.
pub(crate) const ACCUMULATOR: &str = "@result";

/// The iteration variable of a comprehension that only binds a name.
pub(crate) const UNUSED: &str = "#unused";

#[derive(Clone, Debug)]
pub struct Expr {
    /// Index into the tables of positions, types and references.
    pub id: usize,
    pub kind: ExprKind,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Stands where parsing failed.
    Unspecified,
    Literal(Literal),
    Ident(String),
    Select {
        operand: Box<Expr>,
        field: String,
        test_only: bool,
    },
    Call {
        function: String,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    List {
        elements: Vec<Expr>,
        optional: Vec<usize>,
    },
    Map {
        entries: Vec<MapEntry>,
    },
    Struct {
        type_name: String,
        fields: Vec<StructField>,
    },
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

#[derive(Clone, Debug)]
pub struct MapEntry {
    pub key: Expr,
    pub value: Expr,
    pub optional: bool,
}

#[derive(Clone, Debug)]
pub struct StructField {
    pub id: usize,
    pub name: String,
    pub value: Expr,
    pub optional: bool,
}

/// A fold over a range: `accu` starts as `init`; for each element, while `condition`
/// holds, it becomes `step`; the value is `result`.
#[derive(Clone, Debug)]
pub struct Comprehension {
    pub range: Expr,
    pub iter: String,
    pub iter2: Option<String>,
    pub accu: String,
    pub init: Expr,
    pub condition: Expr,
    pub step: Expr,
    pub result: Expr,
}

impl Comprehension {
    /// Whether this only gives a name to `init` for the use of `result`.
    pub fn is_bind(&self) -> bool {
        matches!(&self.range.kind, ExprKind::List { elements, .. } if elements.is_empty())
            && matches!(self.condition.kind, ExprKind::Literal(Literal::Bool(false)))
    }
}

/// A parsed expression with the character offset of each node.
#[derive(Clone, Debug)]
pub struct Ast {
    pub root: Expr,
    pub offsets: Vec<u32>,
}

impl Expr {
    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Expr)) {
        match &self.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select { operand, .. } => visit(operand),
            ExprKind::Call { target, args, .. } => {
                if let Some(target) = target {
                    visit(target);
                }
                args.iter().for_each(visit);
            }
            ExprKind::List { elements, .. } => elements.iter().for_each(visit),
            ExprKind::Map { entries } => {
                for entry in entries {
                    visit(&entry.key);
                    visit(&entry.value);
                }
            }
            ExprKind::Struct { fields, .. } => fields.iter().for_each(|field| visit(&field.value)),
            ExprKind::Comprehension(fold) => {
                [&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result].into_iter().for_each(visit);
            }
        }
    }

    /// `a.b.c` as a dotted name, if it is nothing else.
    pub(crate) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Ident(name) => Some(name.clone()),
            ExprKind::Select { operand, field, test_only: false } => {
                let mut name = operand.qualified_name()?;
                name.push('.');
                name.push_str(field);
                Some(name)
            }
            _ => None,
        }
    }
}
