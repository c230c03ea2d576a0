//! The index of a JSON text: one entry for each key and value, in the order of the text, so
//! that a reader moves from value to value without looking at the bytes between them. An entry
//! has eight bytes while the text is read, and four in the kept index of a text below 64 KiB.

use super::Shape;
use super::field_sets::{Offsets, Part, Text};
use crate::codec::json::{Kind, Reader, SyntaxError};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// An entry: the kind in four bits, a length or an entry's number in 28, an offset in 32.
#[derive(Clone, Copy)]
struct Entry(u64);

/// The sets of fields in managedFields are half of many an object, and every reader but the
/// server-side apply of a write passes them on as they are.
const NOT_INDEXED: &str = "fieldsV1";

/// No object is near the 256 MiB that a length can count; a request's body is limited to 3.
const MAX_PAYLOAD: usize = (1 << 28) - 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
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

    fn tag(self) -> Tag {
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

    /// The same entry in the text that is left without its shared parts.
    fn moved(self, offsets: &mut Offsets<'_>) -> Result<Self, SyntaxError> {
        match self.tag() {
            Tag::Unescaped => Ok(self),
            Tag::Raw => {
                let start = offsets.kept(self.offset());
                let end = offsets.kept(self.offset() + self.payload());
                Self::new(Tag::Raw, end - start, start)
            }
            tag => Self::new(tag, self.payload(), offsets.kept(self.offset())),
        }
    }

    fn payload(self) -> usize {
        (self.0 >> 32) as usize & MAX_PAYLOAD
    }

    fn offset(self) -> usize {
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
    /// The parts that are not in the text; the offsets of a kept index are those of the kept text.
    parts: Arc<[Part]>,
    /// The whole text of an object that is kept in parts, for an index that is not kept.
    whole: String,
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
        Ok(self.root(text.as_bytes()))
    }

    /// The same of a text in parts, which is put together in room of the index's own.
    pub(super) fn read_in_parts<'a>(&'a mut self, text: Text<'_>) -> Result<super::Node<'a>, String> {
        let mut whole = std::mem::take(&mut self.whole);
        whole.clear();
        for piece in text.pieces() {
            whole.push_str(std::str::from_utf8(piece).map_err(|error| error.to_string())?);
        }
        let filled = self.fill(&whole);
        self.whole = whole;
        filled.map(|()| self.root(self.whole.as_bytes()))
    }

    /// An index in the room of this thread, to be kept or given back.
    pub(super) fn in_room(text: &str) -> Result<Self, String> {
        let mut index = Self { entries: ROOM.take(), ..Self::default() };
        index.fill(text)?;
        Ok(index)
    }

    /// Leaves the room to the next index.
    pub(super) fn give_back(self) {
        if self.entries.capacity() <= ROOM_MAX {
            ROOM.set(self.entries);
        }
    }

    /// The same index without room for more, for the text that is left without these parts.
    pub(super) fn into_kept(mut self, parts: Arc<[Part]>) -> Result<Self, String> {
        if !parts.is_empty() {
            let mut offsets = Offsets::new(&parts);
            for entry in &mut self.entries {
                *entry = entry.moved(&mut offsets).map_err(|error| error.0)?;
            }
        }
        self.parts = parts;
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
        Ok(self)
    }

    /// The bytes that the index takes.
    pub(super) fn size(&self) -> usize {
        let entries = size_of_val(&*self.narrow) + self.entries.capacity() * size_of::<Entry>();
        size_of::<Self>() + entries + self.unescaped.capacity()
    }

    /// Where the objects stand that are passed on and never read.
    pub(super) fn raw_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let raw = self.entries.iter().filter(|entry| entry.tag() == Tag::Raw);
        raw.map(|entry| entry.offset()..entry.offset() + entry.payload())
    }

    fn entry(&self, at: usize) -> Entry {
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

    /// The outermost value of the text that this index was made of.
    pub(super) fn root<'a>(&'a self, text: &'a [u8]) -> super::Node<'a> {
        super::Node::Text(Place { text, index: self, at: 0 })
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
                    self.string(key, reader.text())?;
                    if !is_indexed && reader.peek()? == Kind::Object {
                        let start = reader.position();
                        reader.skip_quickly()?;
                        self.push(Tag::Raw, reader.position() - start, start)?;
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
                self.string(text, reader.text())
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
    fn string(&mut self, text: Cow<'_, str>, source: &str) -> Result<(), SyntaxError> {
        match text {
            Cow::Borrowed(text) => {
                let start = text.as_ptr() as usize - source.as_ptr() as usize;
                self.push(Tag::Plain, text.len(), start)
            }
            Cow::Owned(text) => {
                let offset = self.unescaped.len();
                self.unescaped.push_str(&text);
                self.push(Tag::Unescaped, text.len(), offset)
            }
        }
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

/// A value in an indexed text.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// UTF-8, as the index was made of a `str`. Bytes nevertheless, of which only the part
    /// that is read is checked again: a reader that took a `str` would have to check all of
    /// an object for each field of it.
    text: &'a [u8],
    index: &'a Index,
    at: u32,
}

impl<'a> Place<'a> {
    fn entry(self) -> Entry {
        self.index.entry(self.at as usize)
    }

    pub(super) fn shape(self) -> Shape<'a> {
        let entry = self.entry();
        match entry.tag() {
            Tag::Null | Tag::End => Shape::Null,
            Tag::True => Shape::Bool(true),
            Tag::False => Shape::Bool(false),
            Tag::Number => Shape::Number,
            Tag::Plain | Tag::Unescaped => Shape::String(self.string(entry)),
            Tag::Array => Shape::Array,
            Tag::Object | Tag::Raw => Shape::Object,
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.entry().tag() == Tag::Null
    }

    /// Whether this is an object that is not indexed.
    pub(super) fn is_raw(self) -> bool {
        self.entry().tag() == Tag::Raw
    }

    /// The value of an object that is not indexed.
    pub(super) fn raw_value(self) -> Option<serde_json::Value> {
        (self.entry().tag() == Tag::Raw).then(|| Reader::new(&self.to_json()).any().unwrap_or_default())
    }

    fn string(self, entry: Entry) -> &'a str {
        std::str::from_utf8(self.string_bytes(entry)).unwrap_or_default()
    }

    fn string_bytes(self, entry: Entry) -> &'a [u8] {
        let source = if entry.tag() == Tag::Plain { self.text } else { self.index.unescaped.as_bytes() };
        source.get(entry.offset()..entry.offset() + entry.payload()).unwrap_or_default()
    }

    /// A part of the text that begins and ends with a token.
    fn part(self, range: Range<usize>) -> Option<&'a str> {
        std::str::from_utf8(self.text.get(range)?).ok()
    }

    pub(super) fn text_of_key(self) -> &'a str {
        self.string(self.entry())
    }

    pub(super) fn number(self) -> Option<&'a str> {
        let entry = self.entry();
        match entry.tag() {
            Tag::Number => self.part(entry.offset()..entry.offset() + entry.payload()),
            _ => None,
        }
    }

    /// Whether an object has this place for a key of these bytes.
    fn is_key(self, key: &str) -> bool {
        let entry = self.entry();
        entry.payload() == key.len() && self.string_bytes(entry) == key.as_bytes()
    }

    pub(super) fn get(self, key: &str) -> Option<Self> {
        if self.entry().tag() != Tag::Object {
            return None;
        }
        let mut children = self.children();
        loop {
            let is_it = children.next()?.is_key(key);
            let value = children.next()?;
            if is_it {
                return Some(value);
            }
        }
    }

    /// The value as it stands in the text, for one who copies its bytes.
    pub(crate) fn token(self) -> Token<'a> {
        let entry = self.entry();
        match entry.tag() {
            Tag::Null | Tag::End => Token::Null,
            Tag::True => Token::Bool(true),
            Tag::False => Token::Bool(false),
            Tag::Number => Token::Number(self.slice(entry.offset()..entry.offset() + entry.payload())),
            Tag::Plain | Tag::Unescaped => Token::String(self.string_bytes(entry)),
            Tag::Array => Token::Array,
            Tag::Object => Token::Object,
            Tag::Raw => Token::Raw(self.stretch(entry.offset()..entry.offset() + entry.payload())),
        }
    }

    /// A part of the text with the parts that are not kept in it.
    fn stretch(self, range: Range<usize>) -> Text<'a> {
        Text::new(self.text, &self.index.parts).within(range)
    }

    fn slice(self, range: Range<usize>) -> &'a [u8] {
        self.text.get(range).unwrap_or_default()
    }

    /// The keys of an object with the numbers of their values, which [`Place::at`] turns
    /// into places: a caller that keeps many keeps four bytes for each.
    pub(crate) fn fields(self) -> impl Iterator<Item = (&'a [u8], u32)> {
        let mut children = (self.entry().tag() == Tag::Object).then(|| self.children());
        std::iter::from_fn(move || {
            let children = children.as_mut()?;
            let key = children.next()?;
            Some((key.key(), children.next()?.at))
        })
    }

    /// The bytes of a key.
    pub(crate) fn key(self) -> &'a [u8] {
        self.string_bytes(self.entry())
    }

    /// Whether both are the same place of one text.
    pub(crate) fn is_at(self, other: Self) -> bool {
        self.at == other.at
    }

    /// The value with this number, which must come from [`Place::fields`].
    pub(crate) fn at(self, number: u32) -> Self {
        Self { at: number, ..self }
    }

    /// The values inside an array from the last to the first; of an object, the value and
    /// the key by turns.
    pub(crate) fn backwards(self) -> Backwards<'a> {
        let entry = self.entry();
        let end = match entry.tag() {
            Tag::Array | Tag::Object => entry.payload() as u32,
            _ => self.at + 1,
        };
        Backwards { place: self, end }
    }

    /// The values inside an array, or the keys and values by turns inside an object.
    pub(super) fn children(self) -> Children<'a> {
        let entry = self.entry();
        let end = match entry.tag() {
            Tag::Array | Tag::Object => entry.payload() as u32,
            _ => self.at + 1,
        };
        Children { next: Self { at: self.at + 1, ..self }, end }
    }

    /// The number of the entry after this value and all that is inside of it.
    fn after(self) -> u32 {
        let entry = self.entry();
        match entry.tag() {
            Tag::Array | Tag::Object => entry.payload() as u32 + 1,
            _ => self.at + 1,
        }
    }

    pub(super) fn to_json(self) -> Cow<'a, str> {
        let entry = self.entry();
        let plain = match entry.tag() {
            Tag::Array | Tag::Object => {
                let end = self.index.entry(entry.payload()).offset();
                return self.stretch(entry.offset()..end).to_str();
            }
            Tag::Number => self.number(),
            Tag::Raw => return self.stretch(entry.offset()..entry.offset() + entry.payload()).to_str(),
            Tag::Plain => self.part(entry.offset() - 1..entry.offset() + entry.payload() + 1),
            Tag::True => Some("true"),
            Tag::False => Some("false"),
            Tag::Null | Tag::End => Some("null"),
            Tag::Unescaped => return serde_json::Value::from(self.string(entry)).to_string().into(),
        };
        plain.unwrap_or("null").into()
    }
}

/// A value as it stands in the text.
#[derive(Clone, Copy)]
pub(crate) enum Token<'a> {
    Null,
    Bool(bool),
    Number(&'a [u8]),
    /// Without its quotes and escapes.
    String(&'a [u8]),
    Array,
    Object,
    /// An object that is not indexed.
    Raw(Text<'a>),
}

/// Walks over the inside of an array or object from its end.
pub(crate) struct Backwards<'a> {
    place: Place<'a>,
    /// The number after the entries that are left.
    end: u32,
}

impl<'a> Iterator for Backwards<'a> {
    type Item = Place<'a>;

    fn next(&mut self) -> Option<Place<'a>> {
        let last = self.end.checked_sub(1).filter(|last| *last > self.place.at)?;
        let entry = self.place.index.entry(last as usize);
        self.end = if entry.tag() == Tag::End { entry.payload() as u32 } else { last };
        Some(Place { at: self.end, ..self.place })
    }
}

/// Walks over the inside of an array or object.
#[derive(Clone, Copy)]
pub struct Children<'a> {
    next: Place<'a>,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = Place<'a>;

    fn next(&mut self) -> Option<Place<'a>> {
        if self.next.at >= self.end {
            return None;
        }
        let found = self.next;
        self.next.at = found.after();
        Some(found)
    }
}
