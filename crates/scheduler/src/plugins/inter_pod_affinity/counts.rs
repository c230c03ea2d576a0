//! Numbers by topology: for each label of nodes that terms name, one number for each of its
//! values.

use crate::topology::LabelColumn;
use std::sync::Arc;

/// A trial on one node keeps its own differences beside the shared numbers, so that a copy
/// for each node of a preemption is small.
#[derive(Clone, Debug, Default)]
pub struct TopologyCounts {
    keys: Vec<KeyCounts>,
    /// Key, value and difference.
    trial: Vec<(usize, u32, i64)>,
}

#[derive(Clone, Debug)]
struct KeyCounts {
    key: Box<str>,
    column: Arc<LabelColumn>,
    sums: Arc<Vec<i64>>,
}

impl TopologyCounts {
    pub fn position(&self, key: &str) -> Option<usize> {
        self.keys.iter().position(|own| *own.key == *key)
    }

    /// The numbers of a key to be added to.
    pub fn entry(&mut self, key: &str, column: &Arc<LabelColumn>) -> &mut Vec<i64> {
        let position = self.position(key).unwrap_or_else(|| {
            let sums = Arc::new(vec![0; column.values_len()]);
            self.keys.push(KeyCounts { key: key.into(), column: column.clone(), sums });
            self.keys.len() - 1
        });
        Arc::make_mut(&mut self.keys[position].sums)
    }

    /// The number at the node's value; `None` where the node does not have the label.
    pub fn at(&self, position: usize, slot: u32) -> Option<i64> {
        let KeyCounts { column, sums, .. } = &self.keys[position];
        let value = column.value(slot);
        let shared = *sums.get(value as usize)?;
        if self.trial.is_empty() {
            return Some(shared);
        }
        let own = self.trial.iter().filter(|(key, of, _)| (*key, *of) == (position, value));
        Some(shared + own.map(|(.., delta)| delta).sum::<i64>())
    }

    /// The sum over all keys of the numbers at the node's values.
    pub fn score(&self, slot: u32) -> i64 {
        (0..self.keys.len()).filter_map(|position| self.at(position, slot)).sum()
    }

    pub fn any_positive(&self, slot: u32) -> bool {
        (0..self.keys.len()).any(|position| self.at(position, slot).is_some_and(|count| count > 0))
    }

    /// Changes the number at the node's value, for a trial of this node. Returns whether the
    /// node has the label.
    pub fn trial(&mut self, position: usize, slot: u32, delta: i64) -> bool {
        let value = self.keys[position].column.value(slot);
        let has_label = (value as usize) < self.keys[position].sums.len();
        if has_label {
            self.trial.push((position, value, delta));
        }
        has_label
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub fn total(&self) -> i64 {
        self.keys.iter().flat_map(|key| key.sums.iter()).sum()
    }
}
