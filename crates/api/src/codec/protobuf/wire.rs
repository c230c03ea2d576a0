//! Protobuf's wire format: varints, tags and lengths.

use super::ProtobufError;

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;
const START_GROUP: u8 = 3;
const END_GROUP: u8 = 4;
const FIXED32: u8 = 5;

/// Writes a message from its end to its start, so that the length of every nested message
/// is known when its prefix is due and nothing is encoded twice.
#[derive(Default)]
pub(super) struct Writer {
    /// The message stands at the end of this; what is before `start` is room.
    buffer: Vec<u8>,
    start: usize,
}

impl Writer {
    /// A writer that need not grow before so many bytes.
    pub(super) fn with_room(room: usize) -> Self {
        Self { buffer: vec![0; room], start: room }
    }

    /// The message so far.
    pub(super) fn message(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.buffer.drain(..self.start);
        self.buffer
    }

    /// Forgets the message and keeps the room.
    pub(super) fn clear(&mut self) {
        self.start = self.buffer.len();
    }

    pub(super) fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        if bytes.len() > self.start {
            self.grow(bytes.len());
        }
        let start = self.start - bytes.len();
        self.buffer[start..self.start].copy_from_slice(bytes);
        self.start = start;
    }

    /// Makes room before the message for at least `more` bytes.
    #[cold]
    fn grow(&mut self, more: usize) {
        let length = self.len();
        let room = (length + more).max(512);
        let mut larger = vec![0; room + length];
        larger[room..].copy_from_slice(self.message());
        self.buffer = larger;
        self.start = room;
    }

    pub(super) fn varint(&mut self, mut value: u64) {
        if value < 0x80 && self.start > 0 {
            self.start -= 1;
            self.buffer[self.start] = value as u8;
            return;
        }
        if value < 0x4000 && self.start > 1 {
            self.start -= 2;
            self.buffer[self.start] = value as u8 | 0x80;
            self.buffer[self.start + 1] = (value >> 7) as u8;
            return;
        }
        let mut bytes = [0_u8; 10];
        let mut length = 0;
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            bytes[length] = if value == 0 { low } else { low | 0x80 };
            length += 1;
            if value == 0 {
                break;
            }
        }
        self.raw(&bytes[..length]);
    }

    pub(super) fn tag(&mut self, tag: u32, wire_type: u8) {
        self.varint(u64::from(tag) << 3 | u64::from(wire_type));
    }

    pub(super) fn varint_field(&mut self, tag: u32, value: u64) {
        self.varint(value);
        self.tag(tag, VARINT);
    }

    pub(super) fn fixed64_field(&mut self, tag: u32, bits: u64) {
        self.raw(&bits.to_le_bytes());
        self.tag(tag, FIXED64);
    }

    pub(super) fn bytes_field(&mut self, tag: u32, bytes: &[u8]) {
        self.raw(bytes);
        self.prefix(tag, bytes.len());
    }

    /// Writes the prefix of what has been written since the length was `start`.
    pub(super) fn close_from(&mut self, tag: u32, start: usize) {
        self.prefix(tag, self.len() - start);
    }

    /// Writes the prefix of a field of this length.
    pub(super) fn prefix(&mut self, tag: u32, length: usize) {
        self.varint(length as u64);
        self.tag(tag, BYTES);
    }
}

/// A field as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    pub(super) fn bytes(self) -> Result<&'a [u8], ProtobufError> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(ProtobufError::WireType),
        }
    }

    pub(super) fn varint(self) -> Result<u64, ProtobufError> {
        match self {
            Self::Varint(value) => Ok(value),
            _ => Err(ProtobufError::WireType),
        }
    }
}

pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes have not been read.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn varint(&mut self) -> Result<u64, ProtobufError> {
        let mut value = 0_u64;
        for (index, byte) in self.rest.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (index * 7).min(63);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(value);
            }
        }
        Err(if self.rest.len() < 10 { ProtobufError::Truncated } else { ProtobufError::Overflow })
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], ProtobufError> {
        let length = usize::try_from(length).map_err(|_| ProtobufError::Truncated)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(ProtobufError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next field with its tag, or `None` at the end. Groups, which nothing uses, are
    /// passed over.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Wire<'a>)>, ProtobufError> {
        let mut groups = 0_usize;
        while !self.is_empty() {
            let key = self.varint()?;
            let tag = u32::try_from(key >> 3).map_err(|_| ProtobufError::Tag)?;
            if tag == 0 {
                return Err(ProtobufError::Tag);
            }
            let wire = match (key & 7) as u8 {
                VARINT => Wire::Varint(self.varint()?),
                FIXED64 => Wire::Fixed64(u64::from_le_bytes(self.fixed()?)),
                FIXED32 => Wire::Fixed32(u32::from_le_bytes(self.fixed()?)),
                BYTES => {
                    let length = self.varint()?;
                    Wire::Bytes(self.take(length)?)
                }
                START_GROUP => {
                    groups += 1;
                    continue;
                }
                END_GROUP if groups > 0 => {
                    groups -= 1;
                    continue;
                }
                _ => return Err(ProtobufError::WireType),
            };
            if groups == 0 {
                return Ok(Some((tag, wire)));
            }
        }
        if groups > 0 { Err(ProtobufError::Truncated) } else { Ok(None) }
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], ProtobufError> {
        let bytes = self.take(N as u64)?;
        bytes.try_into().map_err(|_| ProtobufError::Truncated)
    }
}
