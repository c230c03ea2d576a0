//! The field sets of managedFields are half of many an object, and pods of one template have
//! the same ones but for a uid and an address. [`take_out`] keeps one copy of each such part in
//! the process; a [`Text`] is what is left of an object, and puts the parts back as it is sent.
//! `shared.rs` makes the texts, `index.rs` reads through them.
//!
//! ```text
//! whole  …"fieldsV1":{"f:podIPs":{"k:{\"ip\":\"10.0.0.7\"}":{}}},"manager":…
//! kept   …"fieldsV1":10.0.0.7,"manager":…
//! parts         at ---^       ^--- at
//! ```

use bytes::{BufMut, Bytes, BytesMut};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A shorter part is not worth the words that name it.
const SHORTEST: usize = 64;

/// The keys of list items whose values differ from object to object, as they stand in the JSON
/// of a set: the owners of a pod and its addresses.
const UNIQUE: [&str; 2] = [r#"k:{\"uid\":\""#, r#"k:{\"ip\":\""#];
const UNIQUE_END: &str = r#"\""#;

/// How many parts are known at once. A part that comes into the place of another is shared
/// less, and nothing else.
const KNOWN: usize = 1024;

/// A stretch of text that stands at an offset of the kept text.
#[derive(Debug)]
pub(super) struct Part {
    at: u32,
    text: Arc<str>,
}

/// A stretch of an object's text, in pieces.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// UTF-8, cut between characters.
    kept: &'a [u8],
    /// The offset of `kept` in the kept text of the object.
    base: usize,
    parts: &'a [Part],
}

impl<'a> Text<'a> {
    pub(super) fn new(kept: &'a [u8], parts: &'a [Part]) -> Self {
        Self { kept, base: 0, parts }
    }

    /// The stretch between two offsets of the kept text, with its parts.
    pub(super) fn within(self, range: Range<usize>) -> Self {
        let first = self.parts.partition_point(|part| (part.at as usize) < range.start);
        let behind = self.parts.partition_point(|part| part.at as usize <= range.end);
        let kept = self.kept.get(range.start - self.base..range.end - self.base).unwrap_or_default();
        Self { kept, base: range.start, parts: self.parts.get(first..behind).unwrap_or_default() }
    }

    /// The text behind an offset of its first piece.
    pub fn from(self, start: usize) -> Self {
        self.within(start..self.kept.len())
    }

    /// The text before an offset of its first piece.
    pub fn until(self, end: usize) -> Self {
        let before = self.within(self.base..self.base + end);
        // A part at the end belongs to what follows it.
        let parts = before.parts.iter().take_while(|part| (part.at as usize) < before.base + end).count();
        Self { parts: &before.parts[..parts], ..before }
    }

    pub fn len(self) -> usize {
        self.kept.len() + self.parts.iter().map(|part| part.text.len()).sum::<usize>()
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The kept and the shared stretches by turns.
    pub fn pieces(self) -> impl DoubleEndedIterator<Item = &'a [u8]> {
        let offset = move |part: &Part| part.at as usize - self.base;
        (0..2 * self.parts.len() + 1).map(move |number| match self.parts.get(number / 2) {
            Some(part) if number % 2 == 1 => part.text.as_bytes(),
            part => {
                let start = self.parts[..number / 2].last().map_or(0, offset);
                &self.kept[start..part.map_or(self.kept.len(), offset)]
            }
        })
    }

    pub fn write_to(self, out: &mut impl BufMut) {
        self.pieces().for_each(|piece| out.put_slice(piece));
    }

    /// The text in one stretch.
    pub fn to_bytes(self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.len());
        self.write_to(&mut out);
        out.freeze()
    }

    /// The same, copied only where there are parts to put back.
    pub fn to_cow(self) -> Cow<'a, [u8]> {
        if self.parts.is_empty() { Cow::Borrowed(self.kept) } else { Cow::Owned(self.to_bytes().into()) }
    }

    pub(super) fn to_str(self) -> Cow<'a, str> {
        match self.to_cow() {
            Cow::Borrowed(text) => std::str::from_utf8(text).unwrap_or_default().into(),
            Cow::Owned(text) => String::from_utf8(text).unwrap_or_default().into(),
        }
    }
}

/// Translates offsets of the whole text, in the order of the text, into those of the kept one.
pub(super) struct Offsets<'a> {
    parts: std::slice::Iter<'a, Part>,
    removed: usize,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(parts: &'a [Part]) -> Self {
        Self { parts: parts.iter(), removed: 0 }
    }

    /// An offset where a part begins stays before the part.
    pub(super) fn kept(&mut self, whole: usize) -> usize {
        while let Some(part) = self.parts.as_slice().first()
            && part.at as usize + self.removed < whole
        {
            self.removed += part.text.len();
            self.parts.next();
        }
        whole - self.removed
    }
}

/// The rest of a text without the parts that other objects have too, and these parts; `None`
/// where nothing is shared. The sets stand in the order of the text.
pub(super) fn take_out(text: &str, sets: impl Iterator<Item = Range<usize>>) -> Option<(Bytes, Arc<[Part]>)> {
    let mut parts: Vec<(Range<usize>, Arc<str>)> = Vec::new();
    for set in sets {
        let whole = text.get(set.clone())?;
        for common in common_stretches(whole) {
            if let Some(known) = known(&whole[common.clone()]) {
                parts.push((set.start + common.start..set.start + common.end, known));
            }
        }
    }
    if parts.is_empty() {
        return None;
    }
    let removed: usize = parts.iter().map(|(range, _)| range.len()).sum();
    let mut kept = BytesMut::with_capacity(text.len() - removed);
    let mut behind = 0;
    let placed = parts.into_iter().map(|(range, part)| {
        kept.put_slice(&text.as_bytes()[behind..range.start]);
        behind = range.end;
        Some(Part { at: u32::try_from(kept.len()).ok()?, text: part })
    });
    let placed: Arc<[Part]> = placed.collect::<Option<_>>()?;
    kept.put_slice(&text.as_bytes()[behind..]);
    Some((kept.freeze(), placed))
}

/// The stretches of a set between the values that are an object's own.
fn common_stretches(set: &str) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut start = 0;
    let next_unique = |from: usize| {
        let rest = &set[from..];
        UNIQUE.iter().filter_map(|key| Some(from + rest.find(key)? + key.len())).min()
    };
    while let Some(value) = next_unique(start) {
        stretches.push(start..value);
        start = set[value..].find(UNIQUE_END).map_or(set.len(), |end| value + end);
    }
    stretches.push(start..set.len());
    stretches.retain(|stretch| stretch.len() >= SHORTEST);
    stretches
}

/// A part that was seen, and its text from the second time on: a text that is one object's
/// own stays where it is.
struct Known {
    hash: u64,
    text: Option<Arc<str>>,
}

static PARTS: [Mutex<Known>; KNOWN] = [const { Mutex::new(Known { hash: 0, text: None }) }; KNOWN];

/// The shared copy of a text that was seen before.
fn known(text: &str) -> Option<Arc<str>> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let hash = hasher.finish();
    let mut place = PARTS[hash as usize % KNOWN].lock().unwrap_or_else(PoisonError::into_inner);
    if place.hash != hash {
        *place = Known { hash, text: None };
        return None;
    }
    // The hash alone does not prove that the texts are equal.
    let shared = place.text.get_or_insert_with(|| text.into());
    (**shared == *text).then(|| shared.clone())
}
