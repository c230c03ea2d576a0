//! One label of every node as an array: the filters of thousands of nodes compare numbers
//! and read no document.

use std::collections::HashMap;
use std::sync::Arc;

/// The nodes' values of one label, by [`NodeInfo::slot`](crate::node_info::NodeInfo::slot).
///
/// ```text
/// slot        0       1       2         by_slot = [0, 1, NONE, 0]
/// zone        "east"  "west"  (absent)  values  = ["east", "west"]
/// ```
#[derive(Clone, Debug, Default)]
pub struct LabelColumn {
    by_slot: Vec<u32>,
    values: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, u32>,
    /// The number of nodes that have each value. A value that no node has keeps its number,
    /// until there are so many that the column is numbered anew.
    nodes: Vec<u32>,
    unused: usize,
}

/// The node does not have the label, or there is no such node.
pub const NONE: u32 = u32::MAX;

/// Values without a node that a column puts up with, beside as many as have one.
const MAX_UNUSED: usize = 1024;

impl LabelColumn {
    /// The number of the node's value, or [`NONE`].
    pub fn value(&self, slot: u32) -> u32 {
        self.by_slot.get(slot as usize).copied().unwrap_or(NONE)
    }

    pub fn text(&self, value: u32) -> Option<&str> {
        self.values.get(value as usize).map(|text| &**text)
    }

    /// The number of a value, if any node has ever had it.
    pub fn id(&self, text: &str) -> Option<u32> {
        self.ids.get(text).copied()
    }

    /// Numbers are below this.
    pub fn values_len(&self) -> usize {
        self.values.len()
    }

    pub fn by_slot(&self) -> &[u32] {
        &self.by_slot
    }

    pub fn set(&mut self, slot: u32, text: Option<&str>) {
        let before = self.value(slot);
        if text == self.text(before) {
            return;
        }
        let index = slot as usize;
        if index >= self.by_slot.len() {
            self.by_slot.resize(index + 1, NONE);
        }
        if let Some(nodes) = self.nodes.get_mut(before as usize) {
            *nodes -= 1;
            self.unused += usize::from(*nodes == 0);
        }
        self.by_slot[index] = text.map_or(NONE, |text| self.intern(text));
        if self.unused > MAX_UNUSED && self.unused > self.values.len() / 2 {
            self.renumber();
        }
    }

    fn intern(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.ids.get(text) {
            let nodes = &mut self.nodes[id as usize];
            self.unused -= usize::from(*nodes == 0);
            *nodes += 1;
            return id;
        }
        let text: Arc<str> = text.into();
        let id = u32::try_from(self.values.len()).unwrap_or(NONE);
        self.values.push(text.clone());
        self.nodes.push(1);
        self.ids.insert(text, id);
        id
    }

    fn renumber(&mut self) {
        let mut fresh = Self { by_slot: vec![NONE; self.by_slot.len()], ..Self::default() };
        for (slot, &value) in self.by_slot.iter().enumerate() {
            if let Some(text) = self.text(value) {
                fresh.by_slot[slot] = fresh.intern(text);
            }
        }
        *self = fresh;
    }

    /// The sum of the counts of each value's nodes.
    pub fn sum(&self, counts: &[u32]) -> Vec<i64> {
        let mut sums = vec![0; self.values.len()];
        for (&value, &count) in self.by_slot.iter().zip(counts) {
            if count > 0
                && let Some(sum) = sums.get_mut(value as usize)
            {
                *sum += i64::from(count);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbered_and_counts_summed_by_them() {
        let mut column = LabelColumn::default();
        for (slot, text) in [(0, Some("east")), (3, Some("west")), (1, Some("east")), (3, None), (2, Some("north"))] {
            column.set(slot, text);
        }
        let texts: Vec<Option<&str>> = (0..5).map(|slot| column.text(column.value(slot))).collect();
        assert_eq!(texts, [Some("east"), Some("east"), Some("north"), None, None]);
        assert_eq!(column.sum(&[1, 2, 4, 8, 16]), [3, 0, 4], "west has no node any more");
        assert_eq!(column.id("gone"), None);
    }

    #[test]
    fn values_that_come_and_go_do_not_pile_up() {
        let mut column = LabelColumn::default();
        column.set(1, Some("stays"));
        for round in 0..5000 {
            column.set(0, Some(&format!("host-{round}")));
        }
        assert!(column.values_len() <= 2 * MAX_UNUSED + 2, "{}", column.values_len());
        assert_eq!(column.text(column.value(0)), Some("host-4999"));
        assert_eq!(column.text(column.value(1)), Some("stays"));
    }
}
