//! A set of numbers of which some are taken: the core of both allocators. Small numbers
//! are left for those who name one; the others get a random one from above them, as
//! upstream's allocators do, so that a hand-picked address seldom meets a given one.

use rand::Rng;
use std::collections::HashSet;

#[derive(Debug)]
pub(super) struct Allocation {
    size: u32,
    taken: HashSet<u32>,
}

/// Some number below `size` that is free; `None` when there is none. Small numbers come
/// only when the rest is used up.
pub(super) fn pick(size: u32, is_taken: impl Fn(u32) -> bool) -> Option<u32> {
    let reserved = reserved(size);
    let walk = |from: u32, to: u32| {
        if from >= to {
            return None;
        }
        // From a random start, so a nearly full range still ends in one pass.
        let start = rand::rng().random_range(from..to);
        (start..to).chain(from..start).find(|number| !is_taken(*number))
    };
    walk(reserved, size).or_else(|| walk(0, reserved))
}

/// The band for hand-picked numbers is a sixteenth of the whole, between 16 and 256; a
/// range too small to share has none.
fn reserved(size: u32) -> u32 {
    let band = if size < 16 { 0 } else { (size / 16).clamp(16, 256) };
    if band >= size { 0 } else { band }
}

impl Allocation {
    pub(super) fn new(size: u32) -> Self {
        Self { size, taken: HashSet::new() }
    }

    /// False when the number is taken already. The caller has checked the range.
    pub(super) fn take(&mut self, number: u32) -> bool {
        self.taken.insert(number)
    }

    /// Some free number; `None` when there is none.
    pub(super) fn take_any(&mut self) -> Option<u32> {
        let found = pick(self.size, |number| self.taken.contains(&number))?;
        self.taken.insert(found);
        Some(found)
    }

    pub(super) fn release(&mut self, number: u32) {
        self.taken.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_given_out_once_and_the_low_band_last() {
        let mut allocation = Allocation::new(64);
        let given: Vec<u32> = std::iter::from_fn(|| allocation.take_any()).collect();
        assert_eq!(given.iter().collect::<HashSet<_>>().len(), 64);
        assert!(given[..48].iter().all(|number| *number >= 16));
        allocation.release(3);
        assert_eq!(allocation.take_any(), Some(3));
        assert!(!allocation.take(3));
    }
}
