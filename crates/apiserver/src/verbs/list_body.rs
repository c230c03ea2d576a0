//! The body of a list: one item after the other is turned into the client's format when the
//! connection has room for it, so that a list of any size costs the memory of one piece.
//! `list.rs` chooses the form.

use super::readable::Readable;
use crate::cache::Stored;
use crate::door::negotiate::Accepted;
use crate::door::table;
use crate::transport::BoxError;
use bytes::{BufMut, Bytes, BytesMut};
use ferry_api::codec::protobuf::{MessageEncoder, ProtobufError, item_prefix, metadata_of};
use ferry_api::document::{Index, Node};
use ferry_api::schema::TypeDef;
use ferry_resources::Row;
use jiff::Timestamp;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How large the pieces of a streamed list are.
const PIECE: usize = 64 * 1024;

/// An object on its way into a list.
pub(super) enum Item {
    /// Its kind and apiVersion are the list's, and upstream's lists leave them out of items.
    Stored(Arc<Stored>),
    /// In a form that was made for this row; items of custom resources carry their kind.
    Whole(Bytes),
    /// The message of a list in protobuf.
    Message(Bytes),
}

impl Item {
    /// The length of the object by itself.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Stored(stored) => stored.text().len(),
            Self::Whole(bytes) | Self::Message(bytes) => bytes.len(),
        }
    }

    fn write_to(&self, out: &mut BytesMut) {
        match self {
            Self::Stored(stored) => stored.text().write_to(out),
            Self::Whole(bytes) | Self::Message(bytes) => out.put_slice(bytes),
        }
    }

    /// The object, with an index in `scratch` if it has none of its own.
    fn read<'a>(&'a self, scratch: &'a mut Index) -> Node<'a> {
        match self {
            Self::Stored(stored) => stored.document().read(scratch),
            Self::Whole(bytes) | Self::Message(bytes) => {
                std::str::from_utf8(bytes).ok().and_then(|text| scratch.read(text).ok()).unwrap_or_default()
            }
        }
    }

    /// The object as an item of a JSON list.
    fn write_item(&self, out: &mut BytesMut) {
        match self {
            Self::Stored(stored) => {
                out.put_u8(b'{');
                stored.item().write_to(out);
            }
            Self::Whole(bytes) | Self::Message(bytes) => out.put_slice(bytes),
        }
    }

    /// The length of the item in a list as JSON.
    pub(super) fn json_length(&self) -> usize {
        match self {
            Self::Stored(stored) => stored.item().len() + 1,
            Self::Whole(bytes) | Self::Message(bytes) => bytes.len(),
        }
    }
}

/// The form that each item takes.
pub(super) enum Form {
    Json,
    /// `PartialObjectMetadata` as JSON.
    Metadata {
        accepted: Accepted,
        index: Index,
    },
    /// A row of a Table as JSON.
    TableRow {
        row: Arc<Row>,
        accepted: Accepted,
        /// The client's includeObject.
        include: String,
        now: Timestamp,
        index: Index,
    },
    Protobuf(ProtobufItems),
    /// Pretty JSON or YAML, for people's eyes.
    Readable(Readable),
}

impl Form {
    fn write(&mut self, item: &Item, out: &mut BytesMut) -> Result<(), BoxError> {
        match self {
            Self::Json => item.write_item(out),
            Self::Metadata { accepted, index } => table::write_partial_of(item.read(index), accepted, out),
            Self::Readable(readable) => readable.write(item, out)?,
            Self::TableRow { row, accepted, include, now, index } => {
                let object = item.read(index);
                out.put_slice(b"{\"cells\":");
                serde_json::to_writer(&mut out.writer(), &row.cells(object, *now))?;
                let conditions = row.strategy.row_conditions(object);
                if !conditions.is_empty() {
                    out.put_slice(b",\"conditions\":");
                    serde_json::to_writer(&mut out.writer(), &conditions)?;
                }
                match include.as_str() {
                    "None" => {}
                    "Object" => {
                        out.put_slice(b",\"object\":");
                        item.write_to(out);
                    }
                    _ => {
                        out.put_slice(b",\"object\":");
                        table::write_partial_of(object, accepted, out);
                    }
                }
                out.put_u8(b'}');
            }
            Self::Protobuf(items) => items.write(item, out)?,
        }
        Ok(())
    }

    fn separator(&self) -> &'static [u8] {
        match self {
            Self::Protobuf(_) => b"",
            Self::Readable(readable) => readable.separator(),
            _ => b",",
        }
    }
}

/// Encodes items of one type as fields of a list's message.
pub(super) struct ProtobufItems {
    definition: &'static TypeDef,
    /// All of the object is wanted, and not its metadata alone.
    is_whole: bool,
    index: Index,
    encoder: MessageEncoder,
}

impl ProtobufItems {
    pub(super) fn new(definition: &'static TypeDef, is_whole: bool) -> Self {
        Self { definition, is_whole, index: Index::default(), encoder: MessageEncoder::default() }
    }

    /// The message of an item for one who keeps it until it is sent. That of a stored object
    /// is kept beside it as well, for the next who asks.
    pub(super) fn keep(&mut self, item: &Item) -> Result<Bytes, ProtobufError> {
        match item {
            Item::Message(message) => Ok(message.clone()),
            Item::Stored(stored) if self.is_whole => stored.protobuf().get_or_keep(|| self.make(item)),
            _ => self.make(item),
        }
    }

    fn make(&mut self, item: &Item) -> Result<Bytes, ProtobufError> {
        if let Item::Stored(stored) = item
            && !self.is_whole
            && let Some(message) = stored.protobuf().get()
            && let Some(metadata) = metadata_of(&message)
        {
            return Ok(message.slice_ref(metadata));
        }
        self.encode(item).map(Bytes::copy_from_slice)
    }

    /// How long an item is in its list.
    pub(super) fn length(&mut self, item: &Item) -> Result<usize, ProtobufError> {
        let length = match item {
            Item::Message(message) => message.len(),
            _ => self.encode(item)?.len(),
        };
        Ok(item_prefix(length).len() + length)
    }

    fn write(&mut self, item: &Item, out: &mut BytesMut) -> Result<(), ProtobufError> {
        let message = match item {
            Item::Message(message) => message,
            _ => self.encode(item)?,
        };
        out.put_slice(&item_prefix(message.len()));
        out.put_slice(message);
        Ok(())
    }

    fn encode(&mut self, item: &Item) -> Result<&[u8], ProtobufError> {
        match item.read(&mut self.index) {
            object if object.is_null() => Err(ProtobufError::Value(": the object is not JSON".into())),
            object => self.encoder.encode(object, self.definition),
        }
    }
}

/// A list on its way to the client.
pub(super) struct ListBody {
    head: Bytes,
    items: std::vec::IntoIter<Item>,
    form: Form,
    tail: Bytes,
    first: bool,
    done: bool,
    /// The bytes still to come, where that is known from the start.
    left: Option<usize>,
}

impl ListBody {
    /// `length` is that of the whole body, which is sent with its length if it is known.
    pub(super) fn new(head: Bytes, items: Vec<Item>, form: Form, tail: Bytes, length: Option<usize>) -> Self {
        Self { head, items: items.into_iter(), form, tail, first: true, done: false, left: length }
    }

    fn next_piece(&mut self) -> Result<Option<Bytes>, BoxError> {
        if self.done {
            return Ok(None);
        }
        let mut piece = BytesMut::with_capacity(self.left.map_or(PIECE, |left| left.min(PIECE + PIECE / 8)));
        piece.put_slice(&std::mem::take(&mut self.head));
        while piece.len() < PIECE {
            let Some(item) = self.items.next() else {
                piece.put_slice(&self.tail);
                self.done = true;
                break;
            };
            if !std::mem::take(&mut self.first) {
                piece.put_slice(self.form.separator());
            }
            self.form.write(&item, &mut piece)?;
        }
        self.left = self.left.map(|left| left.saturating_sub(piece.len()));
        Ok(Some(piece.freeze()))
    }
}

impl http_body::Body for ListBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.next_piece().transpose().map(|piece| piece.map(http_body::Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.done
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.left.map_or_else(http_body::SizeHint::default, |left| http_body::SizeHint::with_exact(left as u64))
    }
}
