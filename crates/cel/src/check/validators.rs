//! Checks beyond types, on expressions whose types are right: constants that can only
//! fail, mixed literals, formats that do not fit their arguments.

use super::Checked;
use crate::ast::{Expr, ExprKind, Literal};
use crate::library::regex::compile;
use crate::library::string_format::{Piece, pieces};
use crate::source::Issue;
use crate::types::Type;
use crate::value::{Time, parse_duration};

pub(super) fn validate(checked: &Checked, issues: &mut Vec<Issue>) {
    let mut validator = Validator { checked, issues };
    validator.visit(&checked.ast.root, false);
}

struct Validator<'c> {
    checked: &'c Checked,
    issues: &'c mut Vec<Issue>,
}

impl Validator<'_> {
    fn report(&mut self, expr: &Expr, message: String) {
        self.issues.push(Issue { offset: Some(self.checked.ast.offsets[expr.id]), message });
    }

    /// `mixed` is true within the arguments of format(), which may be of any types.
    fn visit(&mut self, expr: &Expr, mut mixed: bool) {
        match &expr.kind {
            ExprKind::Call { function, target, args } => {
                mixed |= function == "format";
                self.check_constant(function, args);
                if let (true, Some(target), [list]) = (function == "format", target, &args[..]) {
                    self.check_format(expr, target, list);
                }
            }
            ExprKind::List { elements, optional } if !mixed => {
                let types = elements
                    .iter()
                    .enumerate()
                    .map(|(index, element)| (element, element_type(self.checked, element, optional.contains(&index))));
                let types: Vec<_> = types.collect();
                self.check_same(types.into_iter(), true);
            }
            ExprKind::Map { entries } if !mixed => {
                let keys: Vec<_> =
                    entries.iter().map(|entry| (&entry.key, element_type(self.checked, &entry.key, false))).collect();
                self.check_same(keys.into_iter(), false);
                let values = entries
                    .iter()
                    .map(|entry| (&entry.value, element_type(self.checked, &entry.value, entry.optional)))
                    .collect::<Vec<_>>();
                self.check_same(values.into_iter(), false);
            }
            _ => {}
        }
        expr.children(&mut |child| self.visit(child, mixed));
    }

    fn check_constant(&mut self, function: &str, args: &[Expr]) {
        let Some(first) = args.first() else { return };
        let good = match (function, &first.kind) {
            ("duration", ExprKind::Literal(Literal::String(text))) => parse_duration(text).is_some(),
            ("timestamp", ExprKind::Literal(Literal::String(text))) => Time::parse(text).is_some_and(Time::in_range),
            ("timestamp", ExprKind::Literal(Literal::Int(seconds))) => Time::from_seconds(*seconds).is_some(),
            ("matches", ExprKind::Literal(Literal::String(text))) => compile(text).is_ok(),
            _ => true,
        };
        if !good {
            self.report(first, format!("invalid {function} argument"));
        }
    }

    fn check_same<'a>(&mut self, elements: impl Iterator<Item = (&'a Expr, Type)>, once: bool) {
        let mut expected: Option<Type> = None;
        for (element, found) in elements {
            match &expected {
                None => expected = Some(found),
                Some(expected) if *expected == found => {}
                Some(expected) => {
                    self.report(element, format!("expected type '{expected}' but found '{found}'"));
                    if once {
                        return;
                    }
                }
            }
        }
    }

    fn check_format(&mut self, call: &Expr, target: &Expr, list: &Expr) {
        let (ExprKind::Literal(Literal::String(format)), ExprKind::List { elements, .. }) = (&target.kind, &list.kind)
        else {
            return;
        };
        let pieces = match pieces(format, elements.len()) {
            Ok(pieces) => pieces,
            Err(message) => return self.report(call, message),
        };
        let mut used = 0;
        for piece in pieces {
            let Piece::Clause(clause) = piece else { continue };
            let found = self.checked.type_of(&elements[used]);
            if !clause.accepts(found) {
                return self.report(&elements[used], clause.refusal(found.runtime_name()));
            }
            used += 1;
        }
        if elements.len() > used {
            let given = elements.len();
            self.report(call, format!("too many arguments supplied to string.format (expected {used}, got {given})"));
        }
    }
}

fn element_type(checked: &Checked, element: &Expr, optional: bool) -> Type {
    let found = checked.type_of(element);
    match found.unwrap_optional() {
        Some(inner) if optional => inner.clone(),
        _ => found.clone(),
    }
}
