//! A [`Document`] is one version of one object, shared by everyone who reads it: the API
//! server's watch cache holds it, and the informers of components in the same process hand
//! out the same one. Its text is indexed at most once, by the first reader.
//!
//! A component asks for documents by putting [`WantsDocuments`] into the extensions of a
//! LIST or WATCH request, and finds a [`DocumentList`] or [`DocumentWatch`] in the extensions
//! of the response. Extensions do not cross a socket, so a server on another machine answers
//! with bytes; the client then makes the documents itself.

use super::field_sets::{self, Part, Text};
use super::{Index, Node};
use crate::status::Status;
use bytes::Bytes;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};

/// One version of one object: its JSON text, and the index of it once somebody has read it.
pub struct Document {
    /// Without the parts.
    kept: Bytes,
    /// The stretches of field sets that other objects of this process have too.
    parts: Arc<[Part]>,
    /// `None` once a text has turned out not to be JSON.
    index: OnceLock<Option<Box<Index>>>,
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
        Self { kept: text, parts: Arc::default(), index: OnceLock::new() }
    }

    /// A document that stays for long: what it has in common with others is kept once. `read`
    /// sees the object on the way. An error names the first byte that is no JSON.
    pub fn shared<T>(text: Bytes, keep: KeepIndex, read: impl FnOnce(Node<'_>) -> T) -> Result<(Self, T), String> {
        let whole = std::str::from_utf8(&text).map_err(|error| error.to_string())?;
        let index = Index::in_room(whole)?;
        let seen = read(index.root(&text));
        let (kept, parts) = match field_sets::take_out(whole, index.raw_ranges()) {
            Some(taken) => taken,
            None => (text.clone(), Arc::default()),
        };
        let index = match keep {
            KeepIndex::Yes => OnceLock::from(Some(Box::new(index.into_kept(parts.clone())?))),
            KeepIndex::No => {
                index.give_back();
                OnceLock::new()
            }
        };
        Ok((Self { kept, parts, index }, seen))
    }

    /// The JSON of the object.
    pub fn text(&self) -> Text<'_> {
        Text::new(&self.kept, &self.parts)
    }

    /// The bytes that this document alone keeps in memory.
    pub fn own_size(&self) -> usize {
        let index = self.index.get().and_then(Option::as_ref).map_or(0, |index| index.size());
        self.kept.len() + std::mem::size_of_val(&*self.parts) + index
    }

    /// The same in one stretch, copied only where it is kept in parts.
    pub fn to_bytes(&self) -> Bytes {
        if self.parts.is_empty() { self.kept.clone() } else { self.text().to_bytes() }
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        let index = || {
            let whole = self.text().to_cow();
            let index = Index::in_room(std::str::from_utf8(&whole).ok()?).ok()?;
            index.into_kept(self.parts.clone()).ok().map(Box::new)
        };
        match self.index.get_or_init(index) {
            Some(index) => index.root(&self.kept),
            None => Node::NULL,
        }
    }

    /// The outermost value for one who reads it once: an index that is not there already is
    /// made in `scratch` and not kept.
    pub fn read<'a>(&'a self, scratch: &'a mut Index) -> Node<'a> {
        match self.index.get() {
            Some(Some(index)) => index.root(&self.kept),
            Some(None) => Node::NULL,
            None if self.parts.is_empty() => {
                std::str::from_utf8(&self.kept).ok().and_then(|text| scratch.read(text).ok()).unwrap_or_default()
            }
            None => scratch.read_in_parts(self.text()).unwrap_or_default(),
        }
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
