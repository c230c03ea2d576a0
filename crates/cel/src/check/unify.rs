//! Whether one type can stand for another, learning what type parameters are on the way.
//! The rules are cel-go's checker/types.go; the checker calls them for every call,
//! literal and comprehension.

use std::collections::HashMap;
use std::sync::Arc;

use crate::types::Type;

/// What the type parameters were found to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Substitution {
    found: HashMap<Arc<str>, Type>,
    /// What the attempt under way changed, so that it can be undone. Copying everything
    /// known for each attempt would make long expressions quadratic.
    undo: Vec<(Arc<str>, Option<Type>)>,
}

impl Substitution {
    pub fn set(&mut self, name: Arc<str>, found: Type) {
        let before = self.found.insert(name.clone(), found);
        self.undo.push((name, before));
    }

    /// Ends an attempt: keeps what it learnt, or forgets it.
    fn end(&mut self, agree: bool) -> bool {
        if agree {
            self.undo.clear();
        }
        while let Some((name, before)) = self.undo.pop() {
            match before {
                Some(before) => self.found.insert(name, before),
                None => self.found.remove(&name),
            };
        }
        agree
    }

    /// `found` with everything known put in; what is unknown becomes dyn if asked.
    pub fn apply(&self, subject: &Type, unknown_is_dyn: bool) -> Type {
        match subject {
            Type::Param(name) => match self.found.get(name) {
                Some(found) => self.apply(found, unknown_is_dyn),
                None if unknown_is_dyn => Type::Dyn,
                None => subject.clone(),
            },
            Type::List(element) => Type::list(self.apply(element, unknown_is_dyn)),
            Type::Map(key, value) => Type::map(self.apply(key, unknown_is_dyn), self.apply(value, unknown_is_dyn)),
            Type::Type(Some(inner)) => Type::Type(Some(Arc::new(self.apply(inner, unknown_is_dyn)))),
            Type::Opaque(name, params) if !params.is_empty() => {
                let params = params.iter().map(|param| self.apply(param, unknown_is_dyn)).collect();
                Type::Opaque(name.clone(), params)
            }
            other => other.clone(),
        }
    }

    /// Tries the pairs; keeps what it learnt only if all of them agree.
    pub fn assign_all(&mut self, to: &[Type], from: &[Type]) -> bool {
        self.undo.clear();
        let agree = to.len() == from.len() && to.iter().zip(from).all(|(to, from)| self.unify(to, from));
        self.end(agree)
    }

    pub fn assign(&mut self, to: &Type, from: &Type) -> bool {
        self.undo.clear();
        let agree = self.unify(to, from);
        self.end(agree)
    }

    fn unify(&mut self, a: &Type, b: &Type) -> bool {
        if let Type::Param(name) = b {
            let (valid, known) = self.substitute(a, name);
            if valid || known {
                return valid;
            }
        }
        if let Type::Param(name) = a {
            return self.substitute(b, name).0;
        }
        if a.is_dyn_or_error() || b.is_dyn_or_error() {
            return true;
        }
        match (a, b) {
            (Type::Null, other) | (other, Type::Null) => {
                matches!(other, Type::Null | Type::Opaque(..) | Type::Struct(_) | Type::Duration | Type::Timestamp)
            }
            (Type::List(a), Type::List(b)) => self.unify(a, b),
            (Type::Map(ak, av), Type::Map(bk, bv)) => self.unify(ak, bk) && self.unify(av, bv),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::Opaque(a, ap), Type::Opaque(b, bp)) => {
                a == b && ap.len() == bp.len() && ap.iter().zip(bp.iter()).all(|(a, b)| self.unify(a, b))
            }
            (a, b) => a == b,
        }
    }

    /// Lets the parameter `name` be `found`; second, whether it was something already.
    fn substitute(&mut self, found: &Type, name: &Arc<str>) -> (bool, bool) {
        if matches!(found, Type::Param(other) if other == name) {
            return (true, true);
        }
        if let Some(before) = self.found.get(name).cloned() {
            if *found == before {
                return (true, true);
            }
            if self.unify(found, &before) {
                let general = if is_equal_or_less_specific(found, &before) { found.clone() } else { before };
                if !self.refers(name, &general) {
                    self.set(name.clone(), general);
                }
                return (true, true);
            }
            return (false, true);
        }
        if self.refers(name, found) {
            return (false, false);
        }
        self.set(name.clone(), found.clone());
        (true, false)
    }

    /// Whether the parameter occurs in `within`, which would make an infinite type.
    fn refers(&self, name: &Arc<str>, within: &Type) -> bool {
        match within {
            Type::Param(other) => other == name || self.found.get(other).is_some_and(|found| self.refers(name, found)),
            Type::List(element) => self.refers(name, element),
            Type::Map(key, value) => self.refers(name, key) || self.refers(name, value),
            Type::Type(Some(inner)) => self.refers(name, inner),
            Type::Opaque(_, params) => params.iter().any(|param| self.refers(name, param)),
            _ => false,
        }
    }
}

pub(crate) fn most_general(a: Type, b: Type) -> Type {
    if is_equal_or_less_specific(&a, &b) { a } else { b }
}

fn is_equal_or_less_specific(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Param(_), _) => true,
        (_, Type::Dyn | Type::Param(_)) => false,
        (Type::Opaque(an, ap), Type::Opaque(bn, bp)) => {
            an == bn && ap.len() == bp.len() && ap.iter().zip(bp.iter()).all(|(a, b)| is_equal_or_less_specific(a, b))
        }
        (Type::List(a), Type::List(b)) => is_equal_or_less_specific(a, b),
        (Type::Map(ak, av), Type::Map(bk, bv)) => {
            is_equal_or_less_specific(ak, bk) && is_equal_or_less_specific(av, bv)
        }
        (Type::Type(_), Type::Type(_)) => true,
        (a, b) => a == b,
    }
}
