//! Netlink's building blocks: messages, and attributes within them. All numbers of nftables'
//! attributes are in network order.

const HEADER: usize = 16;
const NESTED: u16 = 0x8000;

pub(crate) struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(bytes: &'a mut Vec<u8>) -> Writer<'a> {
        Writer { bytes }
    }

    /// A message of netfilter: its header, the header of the subsystem, and a body.
    pub(crate) fn message(
        &mut self,
        kind: u16,
        flags: u16,
        sequence: u32,
        family: u8,
        resource: u16,
        body: impl FnOnce(&mut Writer<'_>),
    ) {
        let start = self.bytes.len();
        self.bytes.extend([0; 4]);
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(flags.to_ne_bytes());
        self.bytes.extend(sequence.to_ne_bytes());
        self.bytes.extend([0; 4]);
        debug_assert_eq!(self.bytes.len() - start, HEADER);
        self.bytes.extend([family, 0]);
        self.bytes.extend(resource.to_be_bytes());
        body(self);
        let length = (self.bytes.len() - start) as u32;
        self.bytes[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    }

    pub(crate) fn length(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn bytes(&mut self, kind: u16, value: &[u8]) {
        let start = self.start(kind);
        self.bytes.extend(value);
        self.finish(start);
    }

    pub(crate) fn text(&mut self, kind: u16, value: &str) {
        let start = self.start(kind);
        self.bytes.extend(value.as_bytes());
        self.bytes.push(0);
        self.finish(start);
    }

    pub(crate) fn number(&mut self, kind: u16, value: u32) {
        self.bytes(kind, &value.to_be_bytes());
    }

    /// A nested attribute whose content is written already.
    pub(crate) fn nested_bytes(&mut self, kind: u16, content: &[u8]) {
        self.bytes(kind | NESTED, content);
    }

    pub(crate) fn nested(&mut self, kind: u16, body: impl FnOnce(&mut Writer<'_>)) {
        let start = self.start(kind | NESTED);
        body(self);
        self.finish(start);
    }

    fn start(&mut self, kind: u16) -> usize {
        let start = self.bytes.len();
        self.bytes.extend([0; 2]);
        self.bytes.extend(kind.to_ne_bytes());
        start
    }

    /// The length is without the bytes that fill up to the next border of four.
    fn finish(&mut self, start: usize) {
        let length = (self.bytes.len() - start) as u16;
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

/// The attributes of a body: offset, type without its flags, and value. Ends at the first that
/// does not fit.
pub(crate) fn attributes(body: &[u8]) -> impl Iterator<Item = (usize, u16, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let header = body.get(at..at + 4)?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let kind = u16::from_ne_bytes([header[2], header[3]]) & 0x3fff;
        let value = body.get(at + 4..at + length)?;
        let start = at;
        at += length.next_multiple_of(4).max(4);
        Some((start, kind, value))
    })
}
