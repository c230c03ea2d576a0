//! What calls of functions are estimated to cost that are not the language's own: those of
//! Kubernetes, the sets and the list extension.

use super::{Call, Estimator, ONE, Operand, Range, UNKNOWN, ZERO, fixed, matching};
use crate::ast::{ExprKind, Literal};
use crate::cost::{CHECK, LIST_CREATE, REGEX_LENGTH, STRING_TRAVERSAL, STRUCT_CREATE};
use crate::types::Type;

impl<'c> Estimator<'c> {
    /// What the size of an operand is taken to be by the functions of Kubernetes.
    fn estimated_size(&self, operand: &Operand<'_>) -> Range {
        operand.size.or_else(|| self.schema_size(operand.path.as_deref()?)).unwrap_or(UNKNOWN)
    }

    /// The cost of the functions that are not the language's own.
    pub(super) fn extension_cost(
        &self,
        function: &str,
        overload: &str,
        target: Option<&Operand<'c>>,
        args: &[Operand<'c>],
    ) -> Option<Call> {
        let size = |operand: &Operand<'_>| self.estimated_size(operand);
        let simple = |cost: Range| Some(Call { cost, size: None });
        if let Some(call) = self.list_cost(overload, target, args) {
            return Some(call);
        }
        match (function, target, args) {
            ("check", ..) => simple(fixed(CHECK)),
            ("fieldSelector" | "labelSelector", _, [selector]) => {
                let length = size(selector);
                let requirements = length.scaled(0.5).scaled((LIST_CREATE + STRUCT_CREATE) as f64);
                simple(fixed(LIST_CREATE).plus(length.scaled(STRING_TRAVERSAL)).plus(requirements))
            }
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", Some(target), _) => {
                let Some((kind, items)) = self.items(target) else {
                    return simple(size(target).scaled(STRING_TRAVERSAL));
                };
                let textual = matches!(kind, Type::String | Type::Bytes);
                let each = if textual { ONE.plus(items.scaled(STRING_TRAVERSAL)) } else { ONE };
                simple(size(target).times(each))
            }
            ("url" | "jsonpatch.escapeKey", _, [arg]) => {
                let length = size(arg);
                Some(Call { cost: length.scaled(STRING_TRAVERSAL), size: Some(length) })
            }
            ("lowerAscii" | "upperAscii" | "substring" | "trim", Some(target), _) => {
                let length = size(target);
                Some(Call { cost: length.scaled(STRING_TRAVERSAL), size: Some(length) })
            }
            ("replace", Some(target), [old, new, ..]) => Some(replace(size(target), size(old), size(new))),
            ("split", Some(target), _) => {
                let length = size(target);
                let limit = args.get(1).and_then(|limit| match &limit.expr.kind {
                    ExprKind::Literal(Literal::Int(limit)) => Some(*limit as u64),
                    _ => None,
                });
                let result = Range { min: 0, max: limit.unwrap_or(length.max) };
                Some(Call { cost: length.scaled(2.0 * STRING_TRAVERSAL), size: Some(result) })
            }
            ("join", Some(target), _) => {
                let count = size(target);
                let mut length = self.items(target).map_or(ZERO, |(_, items)| count.times(items));
                if let [separator] = args {
                    let gaps = Range { min: count.min.saturating_sub(1), max: count.max.saturating_sub(1) };
                    length = length.plus(size(separator).times(gaps));
                }
                Some(Call { cost: length.scaled(STRING_TRAVERSAL), size: Some(length) })
            }
            ("find" | "findAll", Some(target), [pattern, ..]) => {
                let length = size(target);
                let result = Range { min: 0, max: length.max };
                Some(Call { cost: matching(length, size(pattern)), size: Some(result) })
            }
            ("ip", ..) if overload == "cidr_ip" => simple(ONE),
            ("cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver", _, [text, ..]) => {
                simple(size(text).scaled(STRING_TRAVERSAL))
            }
            ("ip.isCanonical", _, [text]) => simple(size(text).scaled(2.0 * STRING_TRAVERSAL)),
            ("containsIP" | "containsCIDR", _, [other]) => {
                let address = Range { min: 4, max: 16 };
                let mut cost = address.plus(address).scaled(STRING_TRAVERSAL);
                if function == "containsCIDR" {
                    cost = cost.plus(address.scaled(STRING_TRAVERSAL)).plus(ONE);
                }
                if overload.ends_with("_string") {
                    cost = cost.plus(size(other).scaled(STRING_TRAVERSAL));
                }
                simple(cost)
            }
            // The longest pattern of a named format counts 128 characters.
            ("validate", _, [text]) => simple(size(text).scaled(STRING_TRAVERSAL).scaled(128.0 * REGEX_LENGTH)),
            ("_==_", _, [left, right]) if left.kind == right.kind => match left.kind.runtime_name() {
                "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => simple(ONE),
                name if name.starts_with("kubernetes.authorization.") => simple(ONE),
                "kubernetes.NamedFormat" => simple(Range { min: 1, max: 64 }.scaled(STRING_TRAVERSAL)),
                "kubernetes.URL" => {
                    let length = right.size.unwrap_or(ONE);
                    simple(Range { min: 1, max: length.max }.scaled(STRING_TRAVERSAL))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Sets and the list extension.
    fn list_cost(&self, overload: &str, target: Option<&Operand<'c>>, args: &[Operand<'c>]) -> Option<Call> {
        let size = |operand: &Operand<'_>| self.estimated_size(operand);
        let number = |operand: &Operand<'_>, otherwise: u64| match &operand.expr.kind {
            ExprKind::Literal(Literal::Int(value)) => u64::try_from(*value).unwrap_or(0),
            _ => otherwise,
        };
        let allocating = |factor: f64, size: Range| {
            Some(Call { cost: size.scaled(factor).plus(ONE).plus(fixed(LIST_CREATE)), size: Some(size) })
        };
        let pairs = |list: &Operand<'_>, textual: bool| {
            let length = size(list);
            let factor = if textual { 2.0 + STRING_TRAVERSAL } else { 2.0 };
            allocating(factor, length.times(length))
        };
        let textual = overload.starts_with("list_string_") || overload.starts_with("list_bytes_");
        match (overload, target, args) {
            ("list_sets_contains_list" | "list_sets_intersects_list", _, [a, b]) => {
                Some(Call { cost: size(a).times(size(b)).plus(ONE), size: None })
            }
            ("list_sets_equivalent_list", _, [a, b]) => {
                Some(Call { cost: size(a).times(size(b)).scaled(2.0).plus(ONE), size: None })
            }
            ("list_slice", Some(list), [start, end]) => {
                allocating(1.0, fixed(number(end, size(list).max).wrapping_sub(number(start, 0))))
            }
            ("lists_range", None, [count]) => allocating(1.0, fixed(number(count, u64::MAX))),
            ("list_reverse", Some(list), _) => allocating(1.0, size(list)),
            ("list_flatten" | "list_flatten_int", Some(list), _) => {
                let depth = args.first().map_or(1, |depth| number(depth, u64::MAX));
                allocating(depth as f64, size(list))
            }
            ("list_distinct", Some(list), _) => pairs(list, false),
            (_, Some(list), []) if overload.starts_with("list_") && overload.ends_with("_sort") => pairs(list, textual),
            (_, Some(_), [keys]) if overload.ends_with("_sortByAssociatedKeys") => pairs(keys, textual),
            _ => None,
        }
    }

    /// The type and the size of a list's elements.
    fn items(&self, list: &Operand<'c>) -> Option<(&'c Type, Range)> {
        let kind: &'c Type = match list.kind {
            Type::List(element) => element,
            Type::Map(key, _) => key,
            _ => return None,
        };
        let size = list.path.as_ref().and_then(|path| {
            let mut path = path.clone();
            path.push("@items".into());
            self.schema_size(&path)
        });
        Some((kind, size.unwrap_or(UNKNOWN)))
    }
}

/// Replacing costs a reading and a writing; how long the result can be depends on whether
/// the replacement is longer than what it replaces.
fn replace(text: Range, old: Range, new: Range) -> Call {
    let (mut count, mut kept) = (ZERO, ZERO);
    if old.min == 0 {
        // An empty pattern is found around every character.
        count.max = text.max.saturating_add(1);
        kept.max = text.max;
    } else if new.max <= old.min {
        kept.max = text.max;
    } else {
        count.max = (text.max as f64 / old.min as f64).ceil() as u64;
    }
    if old.max == 0 {
        count.min = text.min.saturating_add(1);
        kept.min = text.min;
    } else if old.max <= new.min {
        kept.min = text.min;
    } else {
        count.min = (text.min as f64 / old.max as f64).ceil() as u64;
    }
    Call { cost: text.scaled(2.0 * STRING_TRAVERSAL), size: Some(count.times(new).plus(kept)) }
}
