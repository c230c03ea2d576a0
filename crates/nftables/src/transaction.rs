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
    pub(crate) new_sets: Vec<Set>,
    pub(crate) new_chains: Vec<(Name, Chain)>,
    pub(crate) flushed_chains: Vec<Name>,
    pub(crate) deleted_elements: Vec<(Name, Key)>,
    pub(crate) rules: Vec<(Name, Vec<Statement>)>,
    pub(crate) new_elements: Vec<Element>,
    pub(crate) deleted_chains: Vec<Name>,
    pub(crate) deleted_sets: Vec<Name>,
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
