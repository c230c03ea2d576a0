//! One line of a container's log file in CRI's format: `time stream tag text`.
//!
//! The log server renders lines for clients, and `observed` takes the last ones as a
//! termination message; both must agree on where a line ends.

/// A line without its newline, split into CRI's fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LogLine<'a> {
    pub time: &'a [u8],
    pub stream: &'a [u8],
    /// The container has not ended the line: the rest follows in a later one, or never.
    pub is_partial: bool,
    pub text: &'a [u8],
}

impl<'a> LogLine<'a> {
    /// `None` for a line that is not in CRI's format: the runtime was cut off while it
    /// wrote it.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let mut parts = line.splitn(4, |byte| *byte == b' ');
        let (time, stream, tag) = (parts.next()?, parts.next()?, parts.next()?);
        // Tags may be joined by colons; the first one carries `P` or `F`.
        let is_partial = tag.split(|byte| *byte == b':').next() == Some(b"P");
        Some(Self { time, stream, is_partial, text: parts.next().unwrap_or_default() })
    }

    /// Appends the container's own bytes: a newline only where the container wrote one.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.text);
        if !self.is_partial {
            out.push(b'\n');
        }
    }
}
