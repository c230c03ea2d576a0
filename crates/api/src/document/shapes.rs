//! Objects of one shape share their text: two pods of one template differ in a few dozen values,
//! and what stands between the values (keys, brackets, sets of fields) and most of the values
//! themselves are the same. The first object of a shape keeps its text and index as they are;
//! those that come later keep what they have of their own ([`Own`]) and point to it.
//!
//! ```text
//! text  {"name":"a","node":"n1","n":1}      the first object of the shape
//! own            b                          the second: {"name":"b","node":"n1","n":1}
//! ```
//!
//! A table knows the text that others may share by a hash of its shape, without keeping it
//! alive. A text that another one pushes out of the table is shared by no more objects, and
//! nothing else: there is no count to keep and nothing to sweep. `shared.rs` asks here.

use super::index::Index;
use super::own::{self, MAX_ENTRIES, Own};
use bytes::Bytes;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// A text that one object or many consist of, and its index once somebody needs it.
pub(super) struct Shape {
    pub text: Bytes,
    /// `None` once the text has turned out not to be JSON.
    pub index: OnceLock<Option<Index>>,
}

impl Shape {
    pub(super) fn new(text: Bytes) -> Self {
        Self { text, index: OnceLock::new() }
    }

    /// The index, made now if it is not there.
    pub(super) fn index(&self) -> Option<&Index> {
        let make = || Some(Index::in_room(std::str::from_utf8(&self.text).ok()?).ok()?.into_kept());
        self.index.get_or_init(make).as_ref()
    }

    /// The index, if somebody has made it.
    pub(super) fn known_index(&self) -> Option<&Index> {
        self.index.get().and_then(Option::as_ref)
    }

    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.text.len() + self.known_index().map_or(0, Index::size)
    }
}

/// Texts of one hash, of which the best fit is taken: a shape can be a small object's and a
/// large one's.
const WAYS: usize = 4;
const PLACES: usize = 1024;

/// A shorter text is not worth the words that tell it from another.
const SHORTEST: usize = 256;

/// Texts of one hash of the shape.
struct Known {
    hashes: [u64; WAYS],
    shapes: [Weak<Shape>; WAYS],
    /// Which of them makes room for the next.
    next: usize,
}

static KNOWN: [Mutex<Known>; PLACES] =
    [const { Mutex::new(Known { hashes: [0; WAYS], shapes: [const { Weak::new() }; WAYS], next: 0 }) }; PLACES];

/// The shape of a text as the table finds it.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

impl Hash {
    /// By the lengths of the stretches between the values; [`own::compare`] looks at the bytes. `None`
    /// for a text that is not shared.
    pub(super) fn of(text: &str, index: &Index) -> Option<Self> {
        // The multiplier of FNV-1a.
        let mix = |hash: u64, part: usize| (hash.rotate_left(5) ^ part as u64).wrapping_mul(0x0100_0000_01b3);
        if text.len() < SHORTEST || text.len() > usize::from(u16::MAX) || index.len() > MAX_ENTRIES {
            return None;
        }
        let (mut hash, mut behind) = (mix(index.len() as u64, 0), 0);
        for value in index.values() {
            hash = mix(hash, value.range.start - behind);
            behind = value.range.end;
        }
        Some(Self(mix(hash, text.len() - behind)))
    }

    fn place(self) -> &'static Mutex<Known> {
        &KNOWN[(self.0 >> 32) as usize % PLACES]
    }
}

/// A text of the same shape that some object has already, and what this object has besides.
pub(super) fn find(hash: Hash, text: &str, index: &Index) -> Option<(Arc<Shape>, Own)> {
    let known: [Option<Arc<Shape>>; WAYS] = {
        let place = hash.place().lock().unwrap_or_else(PoisonError::into_inner);
        std::array::from_fn(|way| if place.hashes[way] == hash.0 { place.shapes[way].upgrade() } else { None })
    };
    let mut best: Option<(Arc<Shape>, Own)> = None;
    for shape in known.into_iter().flatten() {
        // An object keeps at most as much of others alive as it would keep of its own.
        if shape.text.len() > 2 * text.len() {
            continue;
        }
        let (Some(known), Ok(known_text)) = (shape.index(), std::str::from_utf8(&shape.text)) else { continue };
        let most = best.as_ref().map_or(text.len() / 2, |(_, own)| own.size());
        if let Some(own) = own::compare(known_text, known, text, index, most)
            && best.as_ref().is_none_or(|(_, best)| own.size() < best.size())
        {
            best = Some((shape, own));
        }
    }
    best
}

/// Offers the text of an object to those of the same shape.
pub(super) fn offer(hash: Hash, shape: &Arc<Shape>) {
    let mut place = hash.place().lock().unwrap_or_else(PoisonError::into_inner);
    let way = place.shapes.iter().position(|known| known.strong_count() == 0).unwrap_or_else(|| {
        place.next = (place.next + 1) % WAYS;
        place.next
    });
    place.hashes[way] = hash.0;
    place.shapes[way] = Arc::downgrade(shape);
}
