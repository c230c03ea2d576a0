//! One value of an indexed text, and the values inside of it. `index.rs` makes the index.

use super::Shape;
use super::index::{Entry, Index, Tag};
use super::own::Own;
use super::text::Text;
use crate::codec::json::Reader;
use std::borrow::Cow;
use std::ops::Range;

/// A value in an indexed text.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// UTF-8, as the index was made of a `str`. Bytes nevertheless, of which only the part
    /// that is read is checked again: a reader that took a `str` would have to check all of
    /// an object for each field of it.
    text: &'a [u8],
    index: &'a Index,
    /// The values that the object has in place of those in the text.
    own: Option<&'a Own>,
    at: u32,
}

impl<'a> Place<'a> {
    pub(super) fn root(text: &'a [u8], index: &'a Index, own: Option<&'a Own>) -> Self {
        Self { text, index, own, at: 0 }
    }

    fn entry(self) -> Entry {
        self.index.entry(self.at as usize)
    }

    pub(super) fn shape(self) -> Shape<'a> {
        let entry = self.entry();
        match entry.tag() {
            Tag::Null | Tag::End | Tag::Source | Tag::Inner => Shape::Null,
            Tag::True => Shape::Bool(true),
            Tag::False => Shape::Bool(false),
            Tag::Number => Shape::Number,
            Tag::Plain | Tag::Unescaped | Tag::Key | Tag::UnescapedKey => Shape::String(self.string(entry)),
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

    /// The number of the entry of this value.
    pub(super) fn number_of_entry(self) -> u32 {
        self.at
    }

    fn string(self, entry: Entry) -> &'a str {
        std::str::from_utf8(self.bytes(entry)).unwrap_or_default()
    }

    /// The bytes of a string or the digits of a number.
    fn bytes(self, entry: Entry) -> &'a [u8] {
        match self.own.and_then(|own| own.get(self.at as usize)) {
            Some(own) => own,
            None => self.bytes_in_text(entry),
        }
    }

    fn bytes_in_text(self, entry: Entry) -> &'a [u8] {
        let is_unescaped = matches!(entry.tag(), Tag::Unescaped | Tag::UnescapedKey);
        let source = if is_unescaped { self.index.unescaped() } else { self.text };
        source.get(entry.range()).unwrap_or_default()
    }

    pub(super) fn text_of_key(self) -> &'a str {
        std::str::from_utf8(self.key()).unwrap_or_default()
    }

    pub(super) fn number(self) -> Option<&'a str> {
        let entry = self.entry();
        match entry.tag() {
            Tag::Number => std::str::from_utf8(self.bytes(entry)).ok(),
            _ => None,
        }
    }

    /// Whether an object has this place for a key of these bytes.
    fn is_key(self, key: &str) -> bool {
        let entry = self.entry();
        entry.payload() == key.len() && self.bytes_in_text(entry) == key.as_bytes()
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
            Tag::Null | Tag::End | Tag::Source | Tag::Inner => Token::Null,
            Tag::True => Token::Bool(true),
            Tag::False => Token::Bool(false),
            Tag::Number => Token::Number(self.bytes(entry)),
            Tag::Plain | Tag::Unescaped | Tag::Key | Tag::UnescapedKey => Token::String(self.bytes(entry)),
            Tag::Array => Token::Array,
            Tag::Object => Token::Object,
            Tag::Raw => Token::Raw(self.stretch(entry.range())),
        }
    }

    /// The text of this array or object, which stands at these offsets.
    fn stretch(self, range: Range<usize>) -> Text<'a> {
        let own = self.own.map(|own| (self.index, own));
        Text::new(self.text, own).within(range, self.at as usize..self.after() as usize)
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
        self.bytes_in_text(self.entry())
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
            Tag::Unescaped | Tag::Raw => {
                let mut after = self.at as usize + 1;
                while after < self.index.len() && self.index.entry(after).is_follower() {
                    after += 1;
                }
                after as u32
            }
            _ => self.at + 1,
        }
    }

    pub(super) fn to_json(self) -> Cow<'a, str> {
        let entry = self.entry();
        let in_text = |range: Range<usize>| std::str::from_utf8(self.text.get(range).unwrap_or_default()).ok();
        let plain = match entry.tag() {
            Tag::Array | Tag::Object => {
                let end = self.index.entry(entry.payload()).offset();
                return self.stretch(entry.offset()..end).to_str();
            }
            Tag::Number => self.number(),
            Tag::Raw => return self.stretch(entry.range()).to_str(),
            Tag::Plain if self.own.is_none() => in_text(entry.offset() - 1..entry.range().end + 1),
            Tag::True => Some("true"),
            Tag::False => Some("false"),
            Tag::Null | Tag::End | Tag::Source | Tag::Inner => Some("null"),
            Tag::Plain | Tag::Unescaped | Tag::Key | Tag::UnescapedKey => {
                return serde_json::Value::from(self.string(entry)).to_string().into();
            }
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
        let mut last = last as usize;
        while self.place.index.entry(last).is_follower() {
            last = last.checked_sub(1)?;
        }
        let entry = self.place.index.entry(last);
        self.end = if entry.tag() == Tag::End { entry.payload() as u32 } else { last as u32 };
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
