//! `application/vnd.kubernetes.protobuf`: objects in the envelope that client-go speaks,
//! and the frames of a watch. One transcoder for all kinds, driven by the schema table.
//!
//! ```text
//! 6b 38 73 00                      "k8s\0"
//! 0a .. { 0a .. apiVersion         Unknown.typeMeta
//!         12 .. kind }
//! 12 .. { the object's message }   Unknown.raw
//! 1a 00 22 00                      Unknown.contentEncoding, contentType
//! ```

mod decode;
mod encode;
mod plan;
mod wire;

use super::decode::{DecodeError, Decoded};
use super::normalize::normalize;
use crate::document::{Index, Node};
use crate::gvk::{GroupVersion, GroupVersionKind};
use crate::object::Meta;
use crate::schema::{TypeDef, builtin, of_kind};
use serde_json::{Map, Value};
use wire::{Reader, Wire, Writer};

pub(crate) use plan::EncodePlan;

/// What every body begins with.
pub const MAGIC: [u8; 4] = *b"k8s\0";

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufError {
    #[error("provided data does not appear to be a protobuf message, expected prefix {MAGIC:?}")]
    Magic,
    #[error("unexpected EOF")]
    Truncated,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: illegal tag")]
    Tag,
    #[error("proto: wrong wireType")]
    WireType,
    #[error("proto: message nests too deep")]
    Depth,
    #[error("proto: bad value{0}")]
    Value(String),
}

impl ProtobufError {
    /// Says where a value is wrong; the innermost place counts.
    fn at(self, place: &str) -> Self {
        match self {
            Self::Value(why) if !why.starts_with(" of ") => {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                Self::Value(format!(" of {place}{why}"))
            }
            other => other,
        }
    }
}

/// The envelope: which type, and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope<'a> {
    pub api_version: String,
    pub kind: String,
    pub raw: &'a [u8],
}

/// Takes the envelope off.
pub fn open(body: &[u8]) -> Result<Envelope<'_>, ProtobufError> {
    let unknown = body.strip_prefix(&MAGIC).ok_or(ProtobufError::Magic)?;
    let mut envelope = Envelope { api_version: String::new(), kind: String::new(), raw: b"" };
    let mut reader = Reader::new(unknown);
    while let Some((tag, wire)) = reader.next()? {
        match tag {
            1 => {
                let mut type_meta = Reader::new(wire.bytes()?);
                while let Some((tag, wire)) = type_meta.next()? {
                    let text = String::from_utf8_lossy(wire.bytes()?).into_owned();
                    match tag {
                        1 => envelope.api_version = text,
                        2 => envelope.kind = text,
                        _ => {}
                    }
                }
            }
            2 => envelope.raw = wire.bytes()?,
            _ => {}
        }
    }
    Ok(envelope)
}

/// Puts a message into the envelope.
pub fn seal(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
    let mut writer = Writer::with_room(raw.len() + FRAME_ROOM);
    writer.raw(ENVELOPE_TAIL);
    writer.bytes_field(2, raw);
    write_type(&mut writer, api_version, kind);
    writer.finish()
}

fn seal_backwards(
    writer: &mut Writer,
    api_version: &str,
    kind: &str,
    write_raw: impl FnOnce(&mut Writer) -> Result<(), ProtobufError>,
) -> Result<(), ProtobufError> {
    writer.raw(ENVELOPE_TAIL);
    let start = writer.len();
    write_raw(writer)?;
    writer.close_from(2, start);
    write_type(writer, api_version, kind);
    Ok(())
}

/// The start of an envelope: the magic bytes and the type.
fn write_type(writer: &mut Writer, api_version: &str, kind: &str) {
    let start = writer.len();
    writer.bytes_field(2, kind.as_bytes());
    writer.bytes_field(1, api_version.as_bytes());
    writer.close_from(1, start);
    writer.raw(&MAGIC);
}

/// Encodes an object with its envelope, which takes apiVersion and kind from the object.
pub fn encode(object: &Value, definition: &TypeDef) -> Result<Vec<u8>, ProtobufError> {
    let (kind, text) = (object.gvk(), object.to_string());
    let mut index = Index::default();
    encode_as(read(&mut index, &text)?, &kind.api_version(), &kind.kind, definition)
}

/// Encodes an object with an envelope of this type.
pub fn encode_as(
    object: Node<'_>,
    api_version: &str,
    kind: &str,
    definition: &TypeDef,
) -> Result<Vec<u8>, ProtobufError> {
    let mut writer = Writer::default();
    seal_backwards(&mut writer, api_version, kind, |writer| write_message(writer, object, definition))?;
    Ok(writer.finish())
}

/// Encodes the message alone, as it stands in a list.
pub fn encode_message(object: &Value, definition: &TypeDef) -> Result<Vec<u8>, ProtobufError> {
    let mut writer = Writer::default();
    write_message(&mut writer, object.into(), definition)?;
    Ok(writer.finish())
}

/// A tree of values is written out first: what is encoded often stands as text already.
fn write_message(writer: &mut Writer, object: Node<'_>, definition: &TypeDef) -> Result<(), ProtobufError> {
    match object {
        Node::Text(object) => encode::message(writer, object, definition),
        Node::Value(object) => {
            let (text, mut index) = (object.to_string(), Index::default());
            match read(&mut index, &text)? {
                Node::Text(object) => encode::message(writer, object, definition),
                Node::Value(_) => Err(ProtobufError::Value(String::new())),
            }
        }
    }
}

fn read<'a>(index: &'a mut Index, text: &'a str) -> Result<Node<'a>, ProtobufError> {
    index.read(text).map_err(|error| ProtobufError::Value(format!(": {error}")))
}

/// Makes messages one after the other in the same room.
#[derive(Default)]
pub struct MessageEncoder {
    writer: Writer,
}

impl MessageEncoder {
    /// The message of an object, without an envelope.
    pub fn encode(&mut self, object: Node<'_>, definition: &TypeDef) -> Result<&[u8], ProtobufError> {
        self.writer.clear();
        write_message(&mut self.writer, object, definition)?;
        Ok(self.writer.message())
    }
}

/// The bytes before a message that is an item of a list: field 2 with its length.
pub fn item_prefix(message_length: usize) -> Prefix {
    let mut prefix = Prefix { bytes: [0; 11], length: 1 };
    prefix.bytes[0] = 0x12;
    let mut left = message_length;
    loop {
        let low = (left & 0x7f) as u8;
        left >>= 7;
        prefix.bytes[prefix.length] = if left == 0 { low } else { low | 0x80 };
        prefix.length += 1;
        if left == 0 {
            return prefix;
        }
    }
}

/// A tag and a length.
pub struct Prefix {
    bytes: [u8; 11],
    length: usize,
}

impl std::ops::Deref for Prefix {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The metadata of an object's message as the message of its PartialObjectMetadata: the
/// first field in both, as it stands. `None` for a message that begins otherwise.
pub fn metadata_of(message: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(message);
    match reader.next() {
        Ok(Some((1, Wire::Bytes(_)))) => message.get(..message.len() - reader.left()),
        _ => None,
    }
}

/// The bytes before and after the items of a list. The envelope names the length of all of
/// it, so the items' must be known before the first byte is sent.
pub struct ListFrame {
    pub head: Vec<u8>,
    pub tail: &'static [u8],
}

/// The empty contentEncoding and contentType that upstream writes at the end of an envelope.
const ENVELOPE_TAIL: &[u8] = &[0x1a, 0, 0x22, 0];

/// The frame of a list whose items with their prefixes ([`item_prefix`]) are `items_length` long.
pub fn list_frame(list: &GroupVersionKind, metadata: &Value, items_length: usize) -> Result<ListFrame, ProtobufError> {
    let mut writer = Writer::default();
    if let Some(definition) = builtin().get("meta/v1", "ListMeta") {
        write_message(&mut writer, metadata.into(), definition)?;
        writer.close_from(1, 0);
    }
    writer.prefix(2, writer.len() + items_length);
    write_type(&mut writer, &list.api_version(), &list.kind);
    Ok(ListFrame { head: writer.finish(), tail: ENVELOPE_TAIL })
}

/// Decodes a body with its envelope that must be of the kind `expected`.
pub fn decode(body: &[u8], definition: &TypeDef, expected: &GroupVersionKind) -> Result<Decoded, DecodeError> {
    let envelope = open(body).map_err(|error| DecodeError::unrecognized(error.to_string()))?;
    let found = super::decode::check_kind(&envelope.api_version, &envelope.kind, expected)?;
    let mut value = decode_message(envelope.raw, definition)
        .map_err(|error| DecodeError::of_kind(error.to_string(), found.clone()))?;
    value.set_gvk(&found);
    Ok(Decoded { value, ..Decoded::default() })
}

/// Decodes a message without its envelope.
pub fn decode_message(bytes: &[u8], definition: &TypeDef) -> Result<Value, ProtobufError> {
    let mut fields = Map::new();
    decode::message(bytes, definition, &mut fields, 0)?;
    let mut value = Value::Object(fields);
    normalize(&mut value, definition);
    Ok(value)
}

/// An object inside of another (`RawExtension`) that carries its own envelope.
fn decode_embedded(body: &[u8], depth: usize) -> Result<Value, ProtobufError> {
    let envelope = open(body)?;
    let kind = GroupVersion::parse(&envelope.api_version).with_kind(envelope.kind);
    let definition = of_kind(&kind).ok_or_else(|| ProtobufError::Value(format!(": no kind {kind} is registered")))?;
    let mut fields = Map::new();
    decode::message(envelope.raw, definition, &mut fields, depth)?;
    let mut value = Value::Object(fields);
    normalize(&mut value, definition);
    value.set_gvk(&kind);
    Ok(value)
}

/// One frame of a watch: four bytes of length, then a WatchEvent whose object is a message
/// in its envelope.
pub fn watch_frame(event_type: &str, api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let mut writer = Writer::with_room(message.len() + FRAME_ROOM);
    writer.raw(ENVELOPE_TAIL);
    writer.bytes_field(2, message);
    write_type(&mut writer, api_version, kind);
    close_frame(&mut writer, event_type);
    writer.finish()
}

/// The room that the envelope and the frame take beside the message, generously.
const FRAME_ROOM: usize = 128;

fn close_frame(writer: &mut Writer, event_type: &str) {
    writer.close_from(1, 0);
    writer.close_from(2, 0);
    writer.bytes_field(1, event_type.as_bytes());
    let length = u32::try_from(writer.len()).unwrap_or(u32::MAX);
    writer.raw(&length.to_be_bytes());
}

/// A frame read from the start of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchFrame<'a> {
    pub event_type: String,
    pub object: &'a [u8],
    /// How many bytes of the buffer the frame took.
    pub length: usize,
}

/// Reads a frame; `None` while the buffer does not hold all of it.
pub fn read_watch_frame(buffer: &[u8]) -> Result<Option<WatchFrame<'_>>, ProtobufError> {
    let Some((prefix, rest)) = buffer.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes(*prefix) as usize;
    let Some(event) = rest.get(..length) else { return Ok(None) };
    let mut frame = WatchFrame { event_type: String::new(), object: b"", length: length + 4 };
    let mut reader = Reader::new(event);
    while let Some((tag, wire)) = reader.next()? {
        match tag {
            1 => frame.event_type = String::from_utf8_lossy(wire.bytes()?).into_owned(),
            2 => {
                let mut raw_extension = Reader::new(wire.bytes()?);
                while let Some((tag, wire)) = raw_extension.next()? {
                    if tag == 1 {
                        frame.object = wire.bytes()?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(Some(frame))
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
