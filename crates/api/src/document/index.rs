//! The index of a JSON text: one entry for each key and value, in the order of the text, so
//! that a reader moves from value to value without looking at the bytes between them. An entry
//! has eight bytes while the text is read, and four in the kept index of a text below 64 KiB.

use super::own::Own;
use super::place::Place;
use crate::codec::json::{Kind, Reader, SyntaxError};
use std::borrow::Cow;
use std::ops::Range;

/// An entry: the kind in four bits, a length or an entry's number in 28, an offset in 32.
#[derive(Clone, Copy)]
pub(super) struct Entry(u64);

/// The sets of fields in managedFields are half of many an object, and every reader but the
/// server-side apply of a write passes them on as they are.
const NOT_INDEXED: &str = "fieldsV1";

/// What stands before the values in a set that differ from object to object, as JSON text: the
/// owners of a pod, its addresses, and the volume that admission names at random.
const INNER_KEY: &str = r#"k:{\""#;
const INNER_NAMES: [&str; 3] = [r#"uid\":\""#, r#"ip\":\""#, r#"name\":\""#];
const INNER_END: &str = r#"\""#;

/// No object is near the 256 MiB that a length can count; a request's body is limited to 3.
const MAX_PAYLOAD: usize = (1 << 28) - 1;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    True,
    False,
    Number,
    /// Stands in the text without an escape.
    Plain,
    /// Had escapes, and stands in [`Index::unescaped`].
    Unescaped,
    Array,
    Object,
    /// An object that is passed on and never read: its text stands at the offset.
    Raw,
    /// The end of an array or object: the number of its first entry, and the offset after
    /// the closing bracket.
    End,
    /// As [`Tag::Plain`] and [`Tag::Unescaped`].
    Key,
    UnescapedKey,
    /// Follows [`Tag::Unescaped`] of a value: its escaped text, without the quotes.
    Source,
    /// Follows [`Tag::Raw`]: a value inside of it that may differ from object to object.
    Inner,
}

impl Entry {
    fn new(tag: Tag, payload: usize, offset: usize) -> Result<Self, SyntaxError> {
        match u32::try_from(offset) {
            Ok(offset) if payload <= MAX_PAYLOAD => {
                Ok(Self((tag as u64) << 60 | (payload as u64) << 32 | u64::from(offset)))
            }
            _ => Err(SyntaxError("the object is too large to be indexed".into())),
        }
    }

    pub(super) fn tag(self) -> Tag {
        match self.0 >> 60 {
            0 => Tag::Null,
            1 => Tag::True,
            2 => Tag::False,
            3 => Tag::Number,
            4 => Tag::Plain,
            5 => Tag::Unescaped,
            6 => Tag::Array,
            7 => Tag::Object,
            8 => Tag::Raw,
            10 => Tag::Key,
            11 => Tag::UnescapedKey,
            12 => Tag::Source,
            13 => Tag::Inner,
            _ => Tag::End,
        }
    }

    /// The same in four bytes: the kind in four bits, the payload in 12, the offset in 16.
    fn narrowed(self) -> Option<u32> {
        let (payload, offset) = (u32::try_from(self.payload()).ok()?, u32::try_from(self.offset()).ok()?);
        (payload < 1 << 12 && offset < 1 << 16).then_some((self.0 >> 60) as u32 * (1 << 28) + (payload << 16) + offset)
    }

    fn widened(narrow: u32) -> Self {
        let (tag, payload, offset) = (narrow >> 28, narrow >> 16 & 0xfff, narrow & 0xffff);
        Self(u64::from(tag) << 60 | u64::from(payload) << 32 | u64::from(offset))
    }

    /// The stretch of the text that this entry names by its offset and length.
    pub(super) fn range(self) -> Range<usize> {
        self.offset()..self.offset() + self.payload()
    }

    /// Whether the entry belongs to the value before it.
    pub(super) fn is_follower(self) -> bool {
        matches!(self.tag(), Tag::Source | Tag::Inner)
    }

    pub(super) fn payload(self) -> usize {
        (self.0 >> 32) as usize & MAX_PAYLOAD
    }

    pub(super) fn offset(self) -> usize {
        (self.0 & u64::from(u32::MAX)) as usize
    }
}

/// Keeps its memory from one text to the next, so that a list of ten thousand objects is
/// indexed in the room of its largest.
#[derive(Default)]
pub struct Index {
    entries: Vec<Entry>,
    /// The entries of a kept index whose text is small enough; `entries` is empty then.
    narrow: Box<[u32]>,
    unescaped: String,
    /// Whether the values inside of what is not indexed get entries.
    has_inner: bool,
}

thread_local! {
    /// The room in which an index is made before it is known how small it can be kept.
    static ROOM: std::cell::Cell<Vec<Entry>> = const { std::cell::Cell::new(Vec::new()) };
}

/// How many entries the room keeps; an index of more is rare, and its room is given back.
const ROOM_MAX: usize = 16 * 1024;

impl Index {
    /// Indexes a text and returns its outermost value. Any JSON is taken; of bytes that are
    /// no JSON the error names the first that is wrong.
    pub fn read<'a>(&'a mut self, text: &'a str) -> Result<super::Node<'a>, String> {
        self.fill(text)?;
        Ok(self.root(text.as_bytes(), None))
    }

    /// An index in the room of this thread, to be kept or given back.
    pub(super) fn in_room(text: &str) -> Result<Self, String> {
        let mut index = Self { entries: ROOM.take(), has_inner: true, ..Self::default() };
        index.fill(text)?;
        Ok(index)
    }

    /// Leaves the room to the next index.
    pub(super) fn give_back(self) {
        if self.entries.capacity() <= ROOM_MAX {
            ROOM.set(self.entries);
        }
    }

    /// The same index without room for more.
    pub(super) fn into_kept(mut self) -> Self {
        self.unescaped.shrink_to_fit();
        match self.entries.iter().map(|entry| entry.narrowed()).collect::<Option<Box<[u32]>>>() {
            Some(narrow) => {
                let room = std::mem::take(&mut self.entries);
                if room.capacity() <= ROOM_MAX {
                    ROOM.set(room);
                }
                self.narrow = narrow;
            }
            None => self.entries.shrink_to_fit(),
        }
        self
    }

    /// The bytes that the index takes.
    pub(super) fn size(&self) -> usize {
        let entries = size_of_val(&*self.narrow) + self.entries.capacity() * size_of::<Entry>();
        size_of::<Self>() + entries + self.unescaped.capacity()
    }

    pub(super) fn len(&self) -> usize {
        self.narrow.len().max(self.entries.len())
    }

    /// Where the values stand in the text that objects of one shape may differ in, with the
    /// numbers of their entries, in the order of the text.
    pub(super) fn values(&self) -> impl Iterator<Item = IndexedValue> {
        let numbered = (0..self.len()).map(|at| (at, self.entry(at)));
        numbered.filter(|(_, entry)| matches!(entry.tag(), Tag::Number | Tag::Plain | Tag::Source | Tag::Inner)).map(
            |(at, entry)| IndexedValue {
                at,
                range: entry.range(),
                is_number: entry.tag() == Tag::Number,
                is_escaped: entry.tag() == Tag::Source,
            },
        )
    }

    /// Where the value of an entry stands in the text; `None` where that is the text of another entry.
    pub(super) fn range_of(&self, at: usize) -> Option<Range<usize>> {
        let entry = self.entry(at);
        (entry.tag() != Tag::Unescaped).then(|| entry.range())
    }

    /// The strings that had escapes.
    pub(super) fn unescaped(&self) -> &[u8] {
        self.unescaped.as_bytes()
    }

    /// The string of the value whose escaped text the entry `source` names.
    pub(super) fn unescaped_of(&self, source: usize) -> &[u8] {
        let entry = source.checked_sub(1).map(|at| self.entry(at)).filter(|entry| entry.tag() == Tag::Unescaped);
        entry.and_then(|entry| self.unescaped.as_bytes().get(entry.range())).unwrap_or_default()
    }

    pub(super) fn entry(&self, at: usize) -> Entry {
        match self.narrow.get(at) {
            Some(narrow) => Entry::widened(*narrow),
            None => self.entries[at],
        }
    }

    fn fill(&mut self, text: &str) -> Result<(), String> {
        self.entries.clear();
        self.unescaped.clear();
        let mut reader = Reader::new(text);
        self.value(&mut reader).and_then(|()| reader.end()).map_err(|error| error.0)
    }

    /// The outermost value of the text that this index was made of, or of the object that has
    /// values of its own in it.
    pub(super) fn root<'a>(&'a self, text: &'a [u8], own: Option<&'a Own>) -> super::Node<'a> {
        super::Node::Text(Place::root(text, self, own))
    }

    fn value(&mut self, reader: &mut Reader<'_>) -> Result<(), SyntaxError> {
        let kind = reader.peek()?;
        let start = reader.position();
        match kind {
            Kind::Object => {
                let opened = self.open(reader)?;
                let mut first = true;
                while let Some(key) = reader.next_key(&mut first)? {
                    let is_indexed = key != NOT_INDEXED;
                    self.string(key, reader.text(), Tag::Key, Tag::UnescapedKey)?;
                    if !is_indexed && reader.peek()? == Kind::Object {
                        let start = reader.position();
                        reader.skip_quickly()?;
                        self.push(Tag::Raw, reader.position() - start, start)?;
                        if self.has_inner {
                            self.inner_values(reader.text(), start..reader.position())?;
                        }
                    } else {
                        self.value(reader)?;
                    }
                }
                self.close(opened, Tag::Object, start, reader.position())
            }
            Kind::Array => {
                let opened = self.open(reader)?;
                let mut first = true;
                while reader.next_item(&mut first)? {
                    self.value(reader)?;
                }
                self.close(opened, Tag::Array, start, reader.position())
            }
            Kind::String => {
                let text = reader.string()?;
                let is_escaped = matches!(text, Cow::Owned(_));
                self.string(text, reader.text(), Tag::Plain, Tag::Unescaped)?;
                match is_escaped {
                    true => self.push(Tag::Source, reader.position() - start - 2, start + 1),
                    false => Ok(()),
                }
            }
            Kind::Number => {
                let digits = reader.number()?;
                self.push(Tag::Number, digits.len(), start)
            }
            Kind::Bool => {
                let tag = if reader.bool()? { Tag::True } else { Tag::False };
                self.push(tag, 0, start)
            }
            Kind::Null => {
                reader.null()?;
                self.push(Tag::Null, 0, start)
            }
        }
    }

    fn push(&mut self, tag: Tag, payload: usize, offset: usize) -> Result<(), SyntaxError> {
        self.entries.push(Entry::new(tag, payload, offset)?);
        Ok(())
    }

    /// A string without escapes is a part of `source`, so its address says where it stands.
    fn string(&mut self, text: Cow<'_, str>, source: &str, plain: Tag, unescaped: Tag) -> Result<(), SyntaxError> {
        match text {
            Cow::Borrowed(text) => {
                let start = text.as_ptr() as usize - source.as_ptr() as usize;
                self.push(plain, text.len(), start)
            }
            Cow::Owned(text) => {
                let offset = self.unescaped.len();
                self.unescaped.push_str(&text);
                self.push(unescaped, text.len(), offset)
            }
        }
    }

    /// Entries for the values inside a set of fields that may be an object's own.
    fn inner_values(&mut self, text: &str, set: Range<usize>) -> Result<(), SyntaxError> {
        let set_end = set.end;
        let mut next = set.start;
        while let Some(key) = text.get(next..set_end).and_then(|rest| rest.find(INNER_KEY)) {
            next += key + INNER_KEY.len();
            let rest = text.get(next..set_end).unwrap_or_default();
            let Some(name) = INNER_NAMES.iter().find(|name| rest.starts_with(**name)) else { continue };
            next += name.len();
            let rest = text.get(next..set_end).unwrap_or_default();
            let length = rest.find(INNER_END).unwrap_or(rest.len());
            self.push(Tag::Inner, length, next)?;
            next += length;
        }
        Ok(())
    }

    /// Leaves room for the entry of an array or object, whose end is not known yet.
    fn open(&mut self, reader: &mut Reader<'_>) -> Result<usize, SyntaxError> {
        reader.open()?;
        self.push(Tag::Null, 0, 0)?;
        Ok(self.entries.len() - 1)
    }

    fn close(&mut self, opened: usize, tag: Tag, start: usize, end: usize) -> Result<(), SyntaxError> {
        let closes_at = self.entries.len();
        self.push(Tag::End, opened, end)?;
        self.entries[opened] = Entry::new(tag, closes_at, start)?;
        Ok(())
    }
}

/// A stretch of a text that objects of one shape may differ in.
pub(super) struct IndexedValue {
    /// The number of its entry.
    pub at: usize,
    pub range: Range<usize>,
    pub is_number: bool,
    /// Whether the entry before it is the string that the stretch stands for.
    pub is_escaped: bool,
}

impl IndexedValue {
    /// Whether the same entry of another index may stand for a value of this type.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        (self.at, self.is_number, self.is_escaped) == (other.at, other.is_number, other.is_escaped)
    }
}
