//! A [`Document`] is one version of one object, shared by everyone who reads it: the API
//! server's watch cache holds it, and the informers of components in the same process hand
//! out the same one. Its text is indexed at most once, by the first reader.
//!
//! A component asks for documents by putting [`WantsDocuments`] into the extensions of a
//! LIST or WATCH request, and finds a [`DocumentList`] or [`DocumentWatch`] in the extensions
//! of the response. Extensions do not cross a socket, so a server on another machine answers
//! with bytes; the client then makes the documents itself.

use super::own::Own;
use super::shapes::{self, Hash, Shape};
use super::text::Text;
use super::{Index, Node};
use crate::status::Status;
use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

/// One version of one object: its JSON text, and the index of it once somebody has read it.
pub struct Document {
    /// The text of this object, or of another of the same shape.
    shape: Arc<Shape>,
    /// The values in which this object differs from that text.
    own: Own,
}

/// Where a value stands in a document, for one who puts another in its place.
#[derive(Clone, Copy, Debug)]
pub struct ValuePlace {
    entry: u32,
    start: u32,
    end: u32,
}

/// Whether the index of a document stays with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepIndex {
    /// Somebody in this process reads every version.
    Yes,
    /// The first who reads the document makes it anew.
    No,
}

impl Document {
    /// Checks nothing: bytes that are no JSON read as null.
    pub fn new(text: Bytes) -> Self {
        Self { shape: Arc::new(Shape::new(text)), own: Own::default() }
    }

    /// A document that stays for long: what it has in common with others is kept once. `read`
    /// sees the object on the way. An error names the first byte that is no JSON.
    pub fn shared<T>(text: Bytes, keep: KeepIndex, read: impl FnOnce(Node<'_>) -> T) -> Result<(Self, T), String> {
        let whole = std::str::from_utf8(&text).map_err(|error| error.to_string())?;
        let index = Index::in_room(whole)?;
        let seen = read(index.root(&text, None));
        let hash = Hash::of(whole, &index);
        if let Some((shape, own)) = hash.and_then(|hash| shapes::find(hash, whole, &index)) {
            index.give_back();
            return Ok((Self { shape, own }, seen));
        }
        let shape = Shape::new(text.clone());
        match keep {
            KeepIndex::Yes => drop(shape.index.set(Some(index.into_kept()))),
            KeepIndex::No => index.give_back(),
        }
        let shape = Arc::new(shape);
        if let Some(hash) = hash {
            shapes::offer(hash, &shape);
        }
        Ok((Self { shape, own: Own::default() }, seen))
    }

    fn own(&self) -> Option<(&Index, &Own)> {
        // The index was there when the own values were found.
        if self.own.is_empty() { None } else { Some((self.shape.known_index()?, &self.own)) }
    }

    /// The JSON of the object.
    pub fn text(&self) -> Text<'_> {
        Text::new(&self.shape.text, self.own())
    }

    /// The bytes that this document alone keeps in memory.
    pub fn own_size(&self) -> usize {
        self.own.size() + if Arc::strong_count(&self.shape) == 1 { self.shape.size() } else { 0 }
    }

    /// The same in one stretch, copied only where it is kept in pieces.
    pub fn to_bytes(&self) -> Bytes {
        if self.own.is_empty() { self.shape.text.clone() } else { self.text().to_bytes() }
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        match self.shape.index() {
            Some(index) => index.root(&self.shape.text, self.own().map(|(_, own)| own)),
            None => Node::NULL,
        }
    }

    /// The outermost value for one who reads it once: an index that is not there already is
    /// made in `scratch` and not kept.
    pub fn read<'a>(&'a self, scratch: &'a mut Index) -> Node<'a> {
        match self.shape.index.get() {
            Some(_) => self.root(),
            None => {
                std::str::from_utf8(&self.shape.text).ok().and_then(|text| scratch.read(text).ok()).unwrap_or_default()
            }
        }
    }

    /// The place of the value that is `entry` by [`Node::entry`] of the same text, and stands at
    /// these offsets of it.
    pub fn value_place(&self, entry: u32, in_text: Range<usize>) -> ValuePlace {
        let in_shape = self.own().and_then(|(index, _)| index.range_of(entry as usize));
        let Range { start, end } = in_shape.unwrap_or(in_text);
        // Larger objects than 4 GiB have no index.
        let offset = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        ValuePlace { entry, start: offset(start), end: offset(end) }
    }

    /// The text from so many bytes before a value on.
    pub fn text_from(&self, place: ValuePlace, before: usize) -> Text<'_> {
        self.text().from((place.start as usize).saturating_sub(before))
    }

    /// The same object with another value in this place, which needs no escapes.
    pub fn with_value(&self, place: ValuePlace, value: &str) -> Self {
        let own = self.shape.known_index().filter(|index| index.len() <= super::own::MAX_ENTRIES);
        if let Some(own) = own.and_then(|_| self.own.with(place.entry as usize, value.as_bytes())) {
            return Self { shape: self.shape.clone(), own };
        }
        let (before, after) = (self.text().until(place.start as usize), self.text().from(place.end as usize));
        let mut text = BytesMut::with_capacity(before.len() + value.len() + after.len());
        before.write_to(&mut text);
        text.extend_from_slice(value.as_bytes());
        after.write_to(&mut text);
        Self::new(text.freeze())
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text().to_cow()))
    }
}

/// In the extensions of a request: answer with documents where that is possible.
#[derive(Clone, Copy, Debug)]
pub struct WantsDocuments;

/// In the extensions of a response to a LIST: one page of the collection.
#[derive(Clone, Debug)]
pub struct DocumentList {
    pub items: Arc<Vec<Arc<Document>>>,
    pub resource_version: String,
    /// Empty on the last page.
    pub continue_token: String,
}

/// The kinds of watch events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    Added,
    Modified,
    Deleted,
    Bookmark,
}

/// One event of a watch.
#[derive(Clone, Debug)]
pub struct DocumentEvent {
    pub kind: EventType,
    pub document: Arc<Document>,
}

/// The events of a watch, those together that are ready together. It ends when the server
/// ends the watch; an `ERROR` event comes as the status that it carries and is the last.
pub type DocumentStream = Pin<Box<dyn Stream<Item = Result<Vec<DocumentEvent>, Box<Status>>> + Send>>;

/// In the extensions of a response to a WATCH, whose body is empty. Extensions are cloned
/// with the response, a stream cannot be: the first who takes it has it.
#[derive(Clone)]
pub struct DocumentWatch(Arc<Mutex<Option<DocumentStream>>>);

impl DocumentWatch {
    pub fn new(stream: DocumentStream) -> Self {
        Self(Arc::new(Mutex::new(Some(stream))))
    }

    pub fn take(&self) -> Option<DocumentStream> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}
