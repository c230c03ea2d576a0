//! The text of an object in the pieces that it is kept in: its own values and the stretches
//! between them that it shares with others (`shapes.rs`). Whoever sends an object writes one piece after the other.

use super::index::Index;
use super::own::Own;
use bytes::{BufMut, Bytes, BytesMut};
use std::borrow::Cow;
use std::ops::Range;

/// A stretch of an object's text, in pieces. Offsets are those of the text that is shared.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// The whole text that is shared; UTF-8, cut between characters.
    shared: &'a [u8],
    own: Option<(&'a Index, &'a Own)>,
    start: usize,
    end: usize,
    /// The numbers of the entries that stand for this stretch: the first, and the one behind it.
    entries: (u32, u32),
}

impl<'a> Text<'a> {
    pub(super) fn new(shared: &'a [u8], own: Option<(&'a Index, &'a Own)>) -> Self {
        Self { shared, own, start: 0, end: shared.len(), entries: (0, u32::MAX) }
    }

    /// A part of a whole text, and the entries that stand for it.
    pub(super) fn within(self, range: Range<usize>, entries: Range<usize>) -> Self {
        let entries = (entries.start as u32, entries.end as u32);
        Self { start: range.start, end: range.end.min(self.shared.len()), entries, ..self }
    }

    /// The text from an offset on, which stands in no value.
    pub fn from(self, start: usize) -> Self {
        Self { start, ..self }
    }

    /// The text before an offset, which stands in no value.
    pub fn until(self, end: usize) -> Self {
        Self { end, ..self }
    }

    /// The object's own values in this stretch, and what they take the place of.
    fn own_values(self) -> impl Iterator<Item = (Range<usize>, &'a [u8])> {
        let (first, behind) = self.entries;
        self.own
            .into_iter()
            .flat_map(move |(index, own)| {
                let values = own.from(first as usize).take_while(move |(at, _)| *at < behind as usize);
                values.filter_map(move |(at, value)| Some((index.range_of(at)?, value)))
            })
            .skip_while(move |(range, _)| range.start < self.start)
            .take_while(move |(range, _)| range.end <= self.end && range.start < self.end)
    }

    pub fn len(self) -> usize {
        let shared = self.end.saturating_sub(self.start);
        self.own_values().fold(shared, |length, (range, value)| length - range.len() + value.len())
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Shared stretches and the values of the object's own by turns.
    pub fn pieces(self) -> impl Iterator<Item = &'a [u8]> {
        let (mut values, mut value) = (self.own_values(), None);
        let mut next = Some(self.start);
        std::iter::from_fn(move || {
            if let Some(value) = value.take() {
                return Some(value);
            }
            let start = next.take()?;
            let end = values.next().map_or(self.end, |(range, own)| {
                value = Some(own);
                next = Some(range.end);
                range.start
            });
            Some(self.shared.get(start..end).unwrap_or_default())
        })
    }

    /// The pieces from the last to the first.
    pub(crate) fn pieces_backwards(self, each: impl FnMut(&'a [u8])) {
        match self.whole() {
            Some(whole) => [whole].into_iter().for_each(each),
            None => self.pieces().collect::<Vec<_>>().into_iter().rev().for_each(each),
        }
    }

    pub fn write_to(self, out: &mut impl BufMut) {
        self.pieces().for_each(|piece| out.put_slice(piece));
    }

    /// The text where it is one piece.
    fn whole(self) -> Option<&'a [u8]> {
        let is_whole = self.own_values().next().is_none();
        is_whole.then(|| self.shared.get(self.start..self.end).unwrap_or_default())
    }

    /// The text in one stretch.
    pub fn to_bytes(self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.len());
        self.write_to(&mut out);
        out.freeze()
    }

    /// The same, copied only where it is in pieces.
    pub fn to_cow(self) -> Cow<'a, [u8]> {
        self.whole().map_or_else(|| Cow::Owned(self.to_bytes().into()), Cow::Borrowed)
    }

    pub(super) fn to_str(self) -> Cow<'a, str> {
        match self.to_cow() {
            Cow::Borrowed(text) => std::str::from_utf8(text).unwrap_or_default().into(),
            Cow::Owned(text) => String::from_utf8(text).unwrap_or_default().into(),
        }
    }
}
