//! Tables that were once much larger give their room back: a start fills every queue with all
//! objects of its kind, and a hash table keeps the room of its largest day. `queue.rs` calls
//! this where keys leave it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};

/// Tables of fewer places are left alone.
const SMALLEST: usize = 1024;

/// A table is sparse when so many times its entries have room. Giving back leaves room for twice
/// as many, so that it costs little for each entry that leaves.
const SPARSE: usize = 8;

pub(crate) trait GiveBack {
    /// Gives back room if most of it is empty.
    fn give_back(&mut self);
}

fn is_sparse(length: usize, capacity: usize) -> bool {
    capacity >= SMALLEST && length <= capacity / SPARSE
}

impl<K: Eq + Hash, V, S: BuildHasher> GiveBack for HashMap<K, V, S> {
    fn give_back(&mut self) {
        if is_sparse(self.len(), self.capacity()) {
            self.shrink_to(2 * self.len());
        }
    }
}

impl<T: Eq + Hash, S: BuildHasher> GiveBack for HashSet<T, S> {
    fn give_back(&mut self) {
        if is_sparse(self.len(), self.capacity()) {
            self.shrink_to(2 * self.len());
        }
    }
}

impl<T> GiveBack for VecDeque<T> {
    fn give_back(&mut self) {
        if is_sparse(self.len(), self.capacity()) {
            self.shrink_to(2 * self.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_was_large_becomes_small_with_its_entries() {
        let (mut map, mut set, mut queue) = (HashMap::new(), HashSet::new(), VecDeque::new());
        for number in 0..10_000 {
            map.insert(number, ());
            set.insert(number);
            queue.push_back(number);
        }
        for number in 0..9_990 {
            assert_eq!((map.remove(&number), set.remove(&number), queue.pop_front()), (Some(()), true, Some(number)));
            map.give_back();
            set.give_back();
            queue.give_back();
        }
        assert!([map.capacity(), set.capacity(), queue.capacity()].iter().all(|capacity| *capacity < SMALLEST));
        assert_eq!((map.len(), set.len(), queue.len()), (10, 10, 10));
    }
}
