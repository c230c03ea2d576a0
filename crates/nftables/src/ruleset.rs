//! What should be in a table, owner by owner, and the changes that bring it there: the whole of
//! it, or only what one owner's change makes different. An owner is a Service for the proxy; a
//! pod, a policy or a group of peers for the policies. Pure; driven by [`crate::LiveTable`].

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;

use crate::rule::{Chain, Name, Statement, Verdict};
use crate::set::{Key, Set};
use crate::transaction::Transaction;

/// A place in a named set or map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    pub set: Name,
    pub key: Key,
}

/// Everything that one owner adds to a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedRules {
    pub chains: BTreeMap<Name, Vec<Vec<Statement>>>,
    /// A set never changes under its name.
    pub sets: BTreeMap<Name, Set>,
    /// Verdicts by map and key, or nothing for the elements of a set; [`OwnedRules::add_element`]
    /// keeps them in order.
    elements: Vec<(Element, Option<Verdict>)>,
}

impl OwnedRules {
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty() && self.sets.is_empty() && self.elements.is_empty()
    }

    /// The first verdict for a key stays.
    pub fn add_element(&mut self, set: impl Into<Name>, key: Key, verdict: Option<Verdict>) {
        let element = Element { set: set.into(), key };
        if let Err(place) = self.elements.binary_search_by(|(known, _)| known.cmp(&element)) {
            self.elements.insert(place, (element, verdict));
        }
    }

    pub fn elements(&self) -> impl Iterator<Item = (&Element, Option<&Verdict>)> {
        self.elements.iter().map(|(element, verdict)| (element, verdict.as_ref()))
    }
}

/// The content of a table besides its frame.
#[derive(Debug)]
pub struct Ruleset<O> {
    owners: BTreeMap<O, OwnedRules>,
    claims: BTreeMap<Element, Claims<O>>,
    /// Chains that nothing leads to any more, emptied but not yet removed. Before Linux 6.2 a
    /// chain counts as used for a moment after the last element that named it is gone, so that
    /// removing it in the same transaction would fail.
    stale_chains: BTreeSet<Name>,
    /// Elements whose claims have changed, with what the kernel has for them. An element may pass
    /// from one owner to another within a transaction, and the kernel must not hear of both.
    unsettled: BTreeMap<Element, Option<Option<Verdict>>>,
}

/// The owners that want an element, with their verdicts. Two Services may share an endpoint, or
/// both claim one external address; the first by name gets its way. Nearly every element has
/// one owner.
#[derive(Debug)]
enum Claims<O> {
    One(O, Option<Verdict>),
    Many(BTreeMap<O, Option<Verdict>>),
}

impl<O: Ord + Clone> Claims<O> {
    fn verdict(&self) -> Option<&Option<Verdict>> {
        match self {
            Claims::One(_, verdict) => Some(verdict),
            Claims::Many(claims) => claims.values().next(),
        }
    }

    fn put(&mut self, owner: &O, verdict: Option<Verdict>) {
        match self {
            Claims::One(known, own) if known == owner => *own = verdict,
            Claims::One(known, own) => {
                let both = [(known.clone(), own.clone()), (owner.clone(), verdict)];
                *self = Claims::Many(BTreeMap::from(both));
            }
            Claims::Many(claims) => drop(claims.insert(owner.clone(), verdict)),
        }
    }

    /// Returns whether nobody is left.
    fn remove(&mut self, owner: &O) -> bool {
        match self {
            Claims::One(known, _) => known == owner,
            Claims::Many(claims) => {
                claims.remove(owner);
                if claims.len() == 1
                    && let Some((last, verdict)) = claims.pop_first()
                {
                    *self = Claims::One(last, verdict);
                }
                false
            }
        }
    }
}

impl<O> Default for Ruleset<O> {
    fn default() -> Self {
        Ruleset {
            owners: BTreeMap::new(),
            claims: BTreeMap::new(),
            stale_chains: BTreeSet::new(),
            unsettled: BTreeMap::new(),
        }
    }
}

impl<O: Ord + Clone> Ruleset<O> {
    /// Gives an owner its new rules, empty ones if it is gone, and adds what that changes of
    /// chains and sets to the transaction; [`Ruleset::settle`] adds the elements. An owner is
    /// given rules once in a transaction.
    pub fn replace(&mut self, owner: &O, new: OwnedRules, transaction: &mut Transaction) {
        let old = self.owners.remove(owner).unwrap_or_default();
        if old != new {
            self.replace_chains(&old, &new, transaction);
            for (element, new) in changed(&old.elements, &new.elements) {
                self.replace_claim(element, owner, new);
            }
        }
        if !new.is_empty() {
            self.owners.insert(owner.clone(), new);
        }
    }

    fn replace_chains(&mut self, old: &OwnedRules, new: &OwnedRules, transaction: &mut Transaction) {
        for (chain, rules) in &new.chains {
            let before = old.chains.get(chain);
            if before == Some(rules) {
                continue;
            }
            if before.is_none() {
                self.stale_chains.remove(chain);
                transaction.add_chain(chain.clone(), Chain { base: None, rules: rules.clone() });
            } else {
                transaction.replace_rules(chain.clone(), rules.iter().cloned());
            }
        }
        for chain in old.chains.keys().filter(|chain| !new.chains.contains_key(*chain)) {
            transaction.replace_rules(chain.clone(), []);
            self.stale_chains.insert(chain.clone());
        }
        for (_, set) in new.sets.iter().filter(|(name, _)| !old.sets.contains_key(*name)) {
            transaction.add_set(set.clone());
        }
        for name in old.sets.keys().filter(|name| !new.sets.contains_key(*name)) {
            transaction.delete_set(name.clone());
        }
    }

    fn replace_claim(&mut self, element: &Element, owner: &O, new: Option<&Option<Verdict>>) {
        let known = self.claims.get_mut(element);
        let before = known.as_ref().and_then(|claims| claims.verdict().cloned());
        match (known, new) {
            (Some(claims), Some(verdict)) => claims.put(owner, verdict.clone()),
            (Some(claims), None) => {
                if claims.remove(owner) {
                    self.claims.remove(element);
                }
            }
            (None, Some(verdict)) => {
                self.claims.insert(element.clone(), Claims::One(owner.clone(), verdict.clone()));
            }
            (None, None) => {}
        }
        self.unsettled.entry(element.clone()).or_insert(before);
    }

    pub fn has_unsettled(&self) -> bool {
        !self.unsettled.is_empty()
    }

    /// Adds the elements to the transaction that are others than the kernel has.
    pub fn settle(&mut self, transaction: &mut Transaction) {
        for (Element { set, key }, before) in std::mem::take(&mut self.unsettled) {
            let element = Element { set, key };
            let after = self.claims.get(&element).and_then(Claims::verdict);
            if before.as_ref() == after {
                continue;
            }
            // A map does not replace a verdict: the element has to go first.
            if before.is_some() {
                transaction.delete_element(element.set.clone(), element.key.clone());
            }
            if let Some(verdict) = after {
                transaction.add_element(element.set.clone(), element.key.clone(), verdict.clone());
            }
        }
    }

    /// Adds everything to a transaction that makes the table anew.
    pub fn add_all(&mut self, whole: &mut Transaction) {
        self.stale_chains.clear();
        self.unsettled.clear();
        for rules in self.owners.values() {
            for (chain, rules) in &rules.chains {
                whole.add_chain(chain.clone(), Chain { base: None, rules: rules.clone() });
            }
            for set in rules.sets.values() {
                whole.add_set(set.clone());
            }
        }
        for (element, claims) in &self.claims {
            if let Some(verdict) = claims.verdict() {
                whole.add_element(element.set.clone(), element.key.clone(), verdict.clone());
            }
        }
    }

    /// The chains that have become stale. They are forgotten: should their removal fail, hand
    /// them back with [`Ruleset::keep_stale`].
    pub fn take_stale(&mut self) -> BTreeSet<Name> {
        std::mem::take(&mut self.stale_chains)
    }

    pub fn keep_stale(&mut self, chains: BTreeSet<Name>) {
        self.stale_chains.extend(chains);
    }

    pub fn has_stale(&self) -> bool {
        !self.stale_chains.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.owners.is_empty() && self.claims.is_empty()
    }
}

type Entry = (Element, Option<Verdict>);

/// The elements of two sorted lists that differ, with the verdict of the second, if it has one.
fn changed<'a>(old: &'a [Entry], new: &'a [Entry]) -> Vec<(&'a Element, Option<&'a Option<Verdict>>)> {
    let (mut old, mut new): (Peekable<_>, Peekable<_>) = (old.iter().peekable(), new.iter().peekable());
    let mut changed = Vec::new();
    loop {
        match (old.peek(), new.peek()) {
            (None, None) => return changed,
            (Some(gone), Some(next)) if gone.0 == next.0 => {
                if gone.1 != next.1 {
                    changed.push((&next.0, Some(&next.1)));
                }
                old.next();
                new.next();
            }
            (Some(gone), next) if next.is_none_or(|next| gone.0 < next.0) => {
                changed.push((&gone.0, None));
                old.next();
            }
            (_, Some(next)) => {
                changed.push((&next.0, Some(&next.1)));
                new.next();
            }
            (Some(_), None) => return changed,
        }
    }
}
