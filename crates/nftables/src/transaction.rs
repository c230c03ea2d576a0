//! Changes of one table that take effect together. They are kept by kind because their order
//! matters: what is named must exist, and what is deleted must no longer be named.

use std::collections::BTreeSet;

use crate::rule::{Chain, Name, Statement, Verdict};
use crate::set::{Element, Key, Set};

/// In the order in which the kernel gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transaction {
    pub(crate) table: Name,
    /// Removes the table with all that is in it, if it is there.
    pub(crate) removes_table: bool,
    /// Makes the table, if it is not there.
    pub(crate) makes_table: bool,
    /// The table is made with its hooks off; see [`Transaction::split`].
    pub(crate) dormant: bool,
    pub(crate) new_sets: Vec<Set>,
    pub(crate) new_chains: Vec<(Name, Chain)>,
    pub(crate) flushed_chains: Vec<Name>,
    pub(crate) deleted_elements: Vec<(Name, Key)>,
    pub(crate) rules: Vec<(Name, Vec<Statement>)>,
    pub(crate) new_elements: Vec<Element>,
    pub(crate) deleted_chains: Vec<Name>,
    pub(crate) deleted_sets: Vec<Name>,
    /// A table that goes together with the change, whether it is there or not.
    pub(crate) superseded: Option<Name>,
    /// Turns the hooks of a dormant table on.
    pub(crate) wakes_table: bool,
}

impl Transaction {
    pub fn new(table: impl Into<Name>) -> Transaction {
        Transaction { table: table.into(), ..Transaction::default() }
    }

    /// The removal of the table, whether it is there or not.
    pub fn removal(table: impl Into<Name>) -> Transaction {
        Transaction { removes_table: true, ..Transaction::new(table) }
    }

    /// A new table in the place of what is there.
    pub fn replacement(table: impl Into<Name>) -> Transaction {
        Transaction { makes_table: true, ..Transaction::removal(table) }
    }

    /// Makes the table if it is not there, and leaves what is in it.
    pub fn make_table(&mut self) {
        self.makes_table = true;
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of changes.
    pub fn len(&self) -> usize {
        usize::from(self.removes_table)
            + usize::from(self.makes_table)
            + self.new_sets.len()
            + self.new_chains.len()
            + self.flushed_chains.len()
            + self.deleted_elements.len()
            + self.rules.len()
            + self.new_elements.len()
            + self.deleted_chains.len()
            + self.deleted_sets.len()
            + usize::from(self.superseded.is_some())
            + usize::from(self.wakes_table)
    }

    pub fn table(&self) -> &Name {
        &self.table
    }

    /// Removes another table too, if it is there.
    pub fn supersede(&mut self, table: impl Into<Name>) {
        self.superseded = Some(table.into());
    }

    /// The whole of a table in parts that each keep the kernel busy for a short time only. They
    /// fill the table while its hooks are off; the last one turns them on and removes the table
    /// that it supersedes, so that packets see the one or the other.
    pub(crate) fn split(self, size: usize) -> Vec<Transaction> {
        let table = self.table.clone();
        let part = || Transaction::new(table.clone());
        let mut parts = vec![Transaction {
            removes_table: true,
            makes_table: true,
            dormant: true,
            new_sets: self.new_sets,
            ..part()
        }];
        for chains in chunks(self.new_chains, size, |_| 1) {
            parts.push(Transaction { new_chains: chains, ..part() });
        }
        for rules in chunks(self.rules, size, |(_, rule)| rule_weight(rule)) {
            parts.push(Transaction { rules, ..part() });
        }
        for new_elements in chunks(self.new_elements, size, |_| 1) {
            parts.push(Transaction { new_elements, ..part() });
        }
        parts.push(Transaction { superseded: self.superseded, wakes_table: true, ..part() });
        parts
    }

    /// The change in the order in which packets may meet it: first what is new, which nothing leads
    /// to yet, then what leads to it.
    ///
    /// A packet keeps to the rules of one generation, but looks an element up in the newest. In one
    /// transaction it could so be led by a new element to a new chain that is still empty to it, and
    /// leave the chain unjudged (kernel: nft_do_chain reads the generation once, nft_genmask_cur at
    /// each lookup).
    pub(crate) fn stages(self) -> Vec<Transaction> {
        if self.removes_table || self.new_chains.is_empty() {
            return vec![self];
        }
        let is_new_chain = |name: &Name| self.new_chains.iter().any(|(chain, _)| chain == name);
        let is_new_set = |name: &Name| self.new_sets.iter().any(|set| set.name == *name);
        let (new_rules, rules) = self.rules.into_iter().partition(|(chain, _)| is_new_chain(chain));
        let (filling, new_elements) = self.new_elements.into_iter().partition(|(set, _, _)| is_new_set(set));
        let first = Transaction {
            makes_table: self.makes_table,
            new_sets: self.new_sets,
            new_chains: self.new_chains,
            rules: new_rules,
            new_elements: filling,
            ..Transaction::new(self.table.clone())
        };
        let second = Transaction {
            new_sets: Vec::new(),
            new_chains: Vec::new(),
            makes_table: false,
            rules,
            new_elements,
            table: self.table,
            removes_table: false,
            dormant: self.dormant,
            flushed_chains: self.flushed_chains,
            deleted_elements: self.deleted_elements,
            deleted_chains: self.deleted_chains,
            deleted_sets: self.deleted_sets,
            superseded: self.superseded,
            wakes_table: self.wakes_table,
        };
        if second.is_empty() { vec![first] } else { vec![first, second] }
    }

    /// About how long it keeps the kernel busy, in elements.
    pub(crate) fn weight(&self) -> usize {
        self.len() + self.rules.iter().map(|(_, rule)| rule_weight(rule)).sum::<usize>()
    }

    pub fn add_set(&mut self, set: Set) {
        self.new_sets.push(set);
    }

    pub fn delete_set(&mut self, set: impl Into<Name>) {
        self.deleted_sets.push(set.into());
    }

    /// A chain with its rules. One that exists and is empty is taken as it is.
    pub fn add_chain(&mut self, name: impl Into<Name>, chain: Chain) {
        let name = name.into();
        let Chain { base, rules } = chain;
        self.rules.extend(rules.into_iter().map(|rule| (name.clone(), rule)));
        self.new_chains.push((name, Chain { base, rules: Vec::new() }));
    }

    /// New rules for a chain that exists; none empties it.
    pub fn replace_rules(&mut self, name: impl Into<Name>, rules: impl IntoIterator<Item = Vec<Statement>>) {
        let name = name.into();
        self.rules.extend(rules.into_iter().map(|rule| (name.clone(), rule)));
        self.flushed_chains.push(name);
    }

    pub fn delete_chain(&mut self, name: impl Into<Name>) {
        self.deleted_chains.push(name.into());
    }

    pub fn add_element(&mut self, set: impl Into<Name>, key: Key, verdict: Option<Verdict>) {
        self.new_elements.push((set.into(), key, verdict));
    }

    pub fn delete_element(&mut self, set: impl Into<Name>, key: Key) {
        self.deleted_elements.push((set.into(), key));
    }

    /// The chains that the transaction makes, for tests of what a change costs.
    pub fn made_chains(&self) -> BTreeSet<&str> {
        self.new_chains.iter().map(|(name, _)| &**name).collect()
    }

    /// The number of rules that the transaction loads.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }
}

/// A rule costs as much as a few elements, and the map inside it as its elements.
fn rule_weight(rule: &[Statement]) -> usize {
    let inside = |statement: &Statement| match statement {
        Statement::DnatRandom(targets) => targets.len(),
        Statement::GotoRandom(chains) => chains.len(),
        _ => 0,
    };
    4 + rule.iter().map(inside).sum::<usize>()
}

/// Pieces of a list that weigh about as much each.
fn chunks<T>(list: Vec<T>, size: usize, weight: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut pieces = Vec::new();
    let (mut piece, mut sum) = (Vec::new(), 0);
    for item in list {
        sum += weight(&item);
        piece.push(item);
        if sum >= size {
            pieces.push(std::mem::take(&mut piece));
            sum = 0;
        }
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}
