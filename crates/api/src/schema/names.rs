//! Finds a field of a type by its JSON name. Every key of every object that is decoded or
//! turned into protobuf is looked up here, so a look costs two loads and a multiplication.

use super::Field;

/// No field's position.
const FREE: u16 = u16::MAX;

/// Positions of fields by their names, with free slots between them.
#[derive(Debug)]
pub(super) struct FieldNames {
    slots: Box<[Slot]>,
}

/// A name by its length and the bytes at its two ends, which are all of a name of up to 16.
#[derive(Clone, Copy, Debug)]
struct Slot {
    ends: (u64, u64),
    length: u32,
    position: u16,
}

impl FieldNames {
    pub(super) fn new(fields: &[Field]) -> Self {
        let free = Slot { ends: (0, 0), length: 0, position: FREE };
        let mut slots = vec![free; (fields.len() * 2).next_power_of_two()].into_boxed_slice();
        let mask = slots.len() - 1;
        for (position, field) in (0..FREE).zip(fields) {
            let name = field.name.as_bytes();
            let (ends, length) = (ends(name), name.len() as u32);
            let mut at = slot_of(ends, name.len()) & mask;
            while slots[at].position != FREE {
                at = (at + 1) & mask;
            }
            slots[at] = Slot { ends, length, position };
        }
        Self { slots }
    }

    pub(super) fn find(&self, fields: &[Field], name: &[u8]) -> Option<usize> {
        let (ends, mask) = (ends(name), self.slots.len() - 1);
        let mut at = slot_of(ends, name.len()) & mask;
        loop {
            let slot = &self.slots[at];
            if slot.position == FREE {
                return None;
            }
            let position = usize::from(slot.position);
            if slot.ends == ends
                && slot.length as usize == name.len()
                && (name.len() <= 16 || fields[position].name.as_bytes() == name)
            {
                return Some(position);
            }
            at = (at + 1) & mask;
        }
    }
}

fn ends(name: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>()) {
        return (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)));
    }
    (name.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)), 0)
}

fn slot_of((first, last): (u64, u64), length: usize) -> usize {
    let mixed = (first ^ last.rotate_left(29) ^ length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as usize
}
