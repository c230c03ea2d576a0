//! What should be in the table, and the transactions that bring it there: the whole of it, or
//! only what a Service's change makes different. Pure; driven by `sync.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use ferry_api::rules::key::ObjectKey;

use crate::Config;
use crate::render::{Element, ServiceRules, render_base};

/// The desired content of the table besides the frame.
#[derive(Debug, Default)]
pub struct Ruleset {
    services: BTreeMap<ObjectKey, ServiceRules>,
    /// Who wants an element, and with which verdict. Two Services may share an endpoint, or
    /// both claim one external address; the first by name gets its way.
    claims: BTreeMap<Element, BTreeMap<ObjectKey, Option<String>>>,
    /// Chains that nothing leads to any more, emptied but not yet removed. Before Linux 6.2 a
    /// chain counts as used for a moment after the last element that named it is gone, so that
    /// removing it in the same transaction would fail.
    stale_chains: BTreeSet<String>,
}

impl Ruleset {
    /// Gives a Service its new rules, empty ones if it is gone, and adds what that changes to
    /// the transaction.
    pub fn replace(&mut self, key: &ObjectKey, new: ServiceRules, transaction: &mut Transaction) {
        let old = self.services.remove(key).unwrap_or_default();
        if old != new {
            self.replace_chains(&old, &new, transaction);
            let wanted: BTreeSet<&Element> = old.elements.keys().chain(new.elements.keys()).collect();
            for element in wanted {
                self.replace_claim(element, key, new.elements.get(element), transaction);
            }
        }
        if new != ServiceRules::default() {
            self.services.insert(key.clone(), new);
        }
    }

    fn replace_chains(&mut self, old: &ServiceRules, new: &ServiceRules, transaction: &mut Transaction) {
        for (chain, rules) in &new.chains {
            let before = old.chains.get(chain);
            if before == Some(rules) {
                continue;
            }
            if before.is_none() {
                self.stale_chains.remove(chain);
                transaction.new_chains.push(chain.clone());
            } else {
                transaction.flushed_chains.push(chain.clone());
            }
            transaction.rules.extend(rules.iter().map(|rule| format!("{chain} {rule}")));
        }
        for chain in old.chains.keys().filter(|chain| !new.chains.contains_key(*chain)) {
            transaction.flushed_chains.push(chain.clone());
            self.stale_chains.insert(chain.clone());
        }
        for (set, definition) in new.sets.iter().filter(|(set, _)| !old.sets.contains_key(*set)) {
            transaction.new_sets.push(format!("{set} {{ {definition} }}"));
        }
        transaction.deleted_sets.extend(old.sets.keys().filter(|set| !new.sets.contains_key(*set)).cloned());
    }

    fn replace_claim(
        &mut self,
        element: &Element,
        key: &ObjectKey,
        new: Option<&Option<String>>,
        transaction: &mut Transaction,
    ) {
        let claims = self.claims.entry(element.clone()).or_default();
        let before = claims.values().next().cloned();
        match new {
            Some(verdict) => drop(claims.insert(key.clone(), verdict.clone())),
            None => drop(claims.remove(key)),
        }
        let after = claims.values().next().cloned();
        if claims.is_empty() {
            self.claims.remove(element);
        }
        if before == after {
            return;
        }
        let Element { container, key } = element;
        // A map does not replace a verdict: the element has to go first.
        if before.is_some() {
            transaction.deleted_elements.push(format!("{container} {{ {key} }}"));
        }
        if let Some(verdict) = after {
            transaction.new_elements.push(render_element(element, &verdict));
        }
    }

    /// Replaces whatever is in the table. Readers of the packets' way through it see either the
    /// old content or the new.
    pub fn render_full(&mut self, config: &Config) -> String {
        self.stale_chains.clear();
        let mut whole = Transaction::default();
        for rules in self.services.values() {
            for (chain, rules) in &rules.chains {
                whole.new_chains.push(chain.clone());
                whole.rules.extend(rules.iter().map(|rule| format!("{chain} {rule}")));
            }
            whole.new_sets.extend(rules.sets.iter().map(|(set, definition)| format!("{set} {{ {definition} }}")));
        }
        for (element, claims) in &self.claims {
            whole.new_elements.extend(claims.values().next().map(|verdict| render_element(element, verdict)));
        }
        let table = &config.table;
        let mut script = render_removal(table);
        let _ = write!(script, "table inet {table} {{\n{}}}\n", render_base(config));
        script.push_str(&whole.render(table));
        script
    }

    /// The removal of the chains that have become stale, if there are any. They are forgotten:
    /// should it fail, hand them back with [`Ruleset::keep_stale`].
    pub fn take_stale(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.stale_chains)
    }

    pub fn keep_stale(&mut self, chains: BTreeSet<String>) {
        self.stale_chains.extend(chains);
    }

    pub fn has_stale(&self) -> bool {
        !self.stale_chains.is_empty()
    }
}

fn render_element(element: &Element, verdict: &Option<String>) -> String {
    let Element { container, key } = element;
    match verdict {
        Some(verdict) => format!("{container} {{ {key} : {verdict} }}"),
        None => format!("{container} {{ {key} }}"),
    }
}

pub(crate) fn render_stale_removal(table: &str, chains: &BTreeSet<String>) -> String {
    chains.iter().fold(String::new(), |script, chain| script + &format!("delete chain inet {table} {chain}\n"))
}

/// Adding first makes the deletion succeed whether the table was there or not.
pub(crate) fn render_removal(table: &str) -> String {
    format!("add table inet {table}\ndelete table inet {table}\n")
}

/// Commands that take effect together. They are kept by kind because their order matters: what
/// is named must exist, and what is deleted must no longer be named.
#[derive(Debug, Default)]
pub struct Transaction {
    new_chains: Vec<String>,
    new_sets: Vec<String>,
    flushed_chains: Vec<String>,
    deleted_elements: Vec<String>,
    rules: Vec<String>,
    new_elements: Vec<String>,
    deleted_sets: Vec<String>,
}

impl Transaction {
    pub fn is_empty(&self) -> bool {
        self.new_chains.is_empty()
            && self.new_sets.is_empty()
            && self.flushed_chains.is_empty()
            && self.deleted_elements.is_empty()
            && self.new_elements.is_empty()
            && self.deleted_sets.is_empty()
    }

    /// The script for `nft -f`.
    pub fn render(&self, table: &str) -> String {
        let mut script = String::new();
        let mut each = |command: &str, arguments: &[String]| {
            for argument in arguments {
                // A set's name is followed by its definition, a chain's name by a rule.
                let _ = writeln!(script, "{command} inet {table} {argument}");
            }
        };
        each("add chain", &self.new_chains);
        // A chain that is stale exists still, and is empty; flushing makes sure of it.
        each("flush chain", &self.new_chains);
        each("add set", &self.new_sets);
        each("flush chain", &self.flushed_chains);
        each("delete element", &self.deleted_elements);
        each("add rule", &self.rules);
        each("add element", &self.new_elements);
        each("delete set", &self.deleted_sets);
        script
    }
}

#[cfg(test)]
mod tests;
