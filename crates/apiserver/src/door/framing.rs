//! One reading of where an HTTP/1 request ends.
//!
//! hyper takes a body's length from Transfer-Encoding although a Content-Length stands
//! beside it, and from one Content-Length although there are two. A proxy before us may
//! read the same bytes another way, and what it takes for a body would be a request here:
//! somebody else's, on a connection that the proxy vouches for. RFC 9112 (6.1, 6.3) lets a
//! server refuse such heads, and this refuses them, with 400.
//!
//! `serve.rs` puts a [`Guarded`] between TLS and hyper. It follows the requests as they
//! pass, and spoils a head that can be read in two ways, so that hyper itself answers and
//! closes the connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much of a line is kept: more than the lines have that count.
const LINE_MAX: usize = 64;

/// What hyper is shown in place of a byte that it must not accept. No head may have it, and
/// it leaves the head's end where it is, without which hyper would wait for more.
const SPOILT: u8 = 0;

/// The one encoding that is undone here.
const CHUNKED: &[u8] = b"chunked";

/// Where in the conversation the client's next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before or in a request line.
    RequestLine,
    /// In the name of a header, or in the line that ends a head.
    Name,
    /// In a value that says nothing about the length.
    Value,
    /// In a length, which is so much so far.
    Length(u64),
    /// In an encoding, of which so much has been read.
    Encoding(usize),
    Body(u64),
    ChunkSize,
    Chunk(u64),
    /// The line end that follows a chunk.
    ChunkEnd,
    Trailers,
    /// In what is no HTTP/1, or after what was spoilt: nothing is looked at any more.
    Elsewhere,
}

/// Follows the requests of one connection.
#[derive(Debug)]
struct Framing {
    place: Place,
    /// The line so far, where its text counts.
    line: Vec<u8>,
    /// What the present head has told of its body.
    body: Told,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Length(u64),
    Chunked,
}

impl Framing {
    fn new() -> Self {
        Self { place: Place::RequestLine, line: Vec::new(), body: Told::Nothing }
    }

    /// Takes what the client sent next, and changes it where hyper must not accept it.
    fn pass(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            match self.place {
                Place::Elsewhere => return,
                Place::Body(left) | Place::Chunk(left) => {
                    let here = left.min((bytes.len() - at) as u64);
                    at += usize::try_from(here).unwrap_or(bytes.len());
                    self.place = match (self.place, left - here) {
                        (Place::Body(_), 0) => Place::RequestLine,
                        (Place::Body(_), left) => Place::Body(left),
                        (_, 0) => Place::ChunkEnd,
                        (_, left) => Place::Chunk(left),
                    };
                }
                place => {
                    self.place = self.step(place, bytes[at]).unwrap_or_else(|| {
                        bytes[at] = SPOILT;
                        Place::Elsewhere
                    });
                    at += 1;
                }
            }
        }
    }

    /// One byte of a head or of what stands between chunks; `None` if it makes the head one
    /// that can be read in two ways.
    fn step(&mut self, place: Place, byte: u8) -> Option<Place> {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\r');
        Some(match (place, byte) {
            (Place::Name, b':') => return self.end_name(),
            (Place::Value | Place::Encoding(_), b'\n') => Place::Name,
            (Place::Length(length), b'\n') => {
                self.body = Told::Length(length);
                Place::Name
            }
            (_, b'\n') => self.end_line(place),
            (Place::Value, _) => Place::Value,
            // What is no digit hyper refuses on its own.
            (Place::Length(length), b'0'..=b'9') => {
                Place::Length(length.saturating_mul(10).saturating_add(u64::from(byte - b'0')))
            }
            (Place::Length(length), _) => Place::Length(length),
            (Place::Encoding(0) | Place::Encoding(7), _) if is_blank => place,
            // So it does with an encoding that is cut short.
            (Place::Encoding(read), b'\r') => Place::Encoding(read),
            (Place::Encoding(read), _) if CHUNKED.get(read) == Some(&byte.to_ascii_lowercase()) => {
                Place::Encoding(read + 1)
            }
            (Place::Encoding(_), _) => return None,
            _ => {
                if self.line.len() < LINE_MAX {
                    self.line.push(byte);
                }
                place
            }
        })
    }

    /// The name of a header has ended: whether it is one of the two that count, and the
    /// first of them in its head.
    fn end_name(&mut self) -> Option<Place> {
        let name = self.line.trim_ascii();
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        let is_encoding = name.eq_ignore_ascii_case(b"transfer-encoding");
        self.line.clear();
        match (is_length, is_encoding, self.body) {
            (false, false, _) => Some(Place::Value),
            (true, _, Told::Nothing) => Some(Place::Length(0)),
            (_, true, Told::Nothing) => {
                self.body = Told::Chunked;
                Some(Place::Encoding(0))
            }
            _ => None,
        }
    }

    fn end_line(&mut self, place: Place) -> Place {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let next = match place {
            // Empty lines before a request are passed over, as hyper passes over them.
            Place::RequestLine if line.is_empty() => Place::RequestLine,
            Place::RequestLine if line == b"PRI * HTTP/2.0" => Place::Elsewhere,
            Place::RequestLine => Place::Name,
            Place::Name if line.is_empty() => match std::mem::replace(&mut self.body, Told::Nothing) {
                Told::Nothing | Told::Length(0) => Place::RequestLine,
                Told::Length(length) => Place::Body(length),
                Told::Chunked => Place::ChunkSize,
            },
            Place::ChunkSize => match chunk_size(line) {
                0 => Place::Trailers,
                size => Place::Chunk(size),
            },
            Place::ChunkEnd => Place::ChunkSize,
            Place::Trailers if line.is_empty() => Place::RequestLine,
            other => other,
        };
        self.line.clear();
        next
    }
}

/// The size before the extensions of a chunk. What is none hyper refuses on its own.
fn chunk_size(line: &[u8]) -> u64 {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    std::str::from_utf8(digits).ok().and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or_default()
}

/// Lets go of a connection that has become something else than HTTP/1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Release(Arc<AtomicBool>);

impl Release {
    pub(crate) fn release(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A connection whose requests are followed.
pub(crate) struct Guarded<S> {
    stream: S,
    framing: Framing,
    released: Release,
}

impl<S> Guarded<S> {
    pub(crate) fn new(stream: S) -> (Self, Release) {
        let released = Release::default();
        (Self { stream, framing: Framing::new(), released: released.clone() }, released)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if !self.released.0.load(Ordering::Acquire) {
            self.framing.pass(&mut buffer.filled_mut()[before..]);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a conversation passes unchanged, cut into pieces of every size up to `cuts`.
    fn passes(text: &str, cuts: usize) -> bool {
        let verdicts = (1..=cuts.min(text.len())).map(|size| {
            let mut framing = Framing::new();
            let mut out = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                let mut piece = piece.to_vec();
                framing.pass(&mut piece);
                out.extend(piece);
            }
            out == text.as_bytes()
        });
        let verdicts: Vec<bool> = verdicts.collect();
        assert!(verdicts.iter().all(|verdict| *verdict == verdicts[0]), "the cuts must not matter: {text:?}");
        verdicts[0]
    }

    #[test]
    fn requests_with_one_end_pass_as_they_are() {
        for text in [
            "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n",
            "\r\n\r\nPOST / HTTP/1.1\nContent-Length: 0\n\nGET / HTTP/1.1\n\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            // What is in a body is nobody's head, however much it looks like one.
            "POST / HTTP/1.1\r\nContent-Length: 39\r\n\r\nX\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2a\r\nX\r\nContent-Length: 1\r\nTransfer-Encoding: q\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ] {
            assert!(passes(text, 60), "{text:?}");
        }
        let padded =
            format!("POST / HTTP/1.1\r\nContent-Length:{}5 \r\n\r\nhelloGET / HTTP/1.1\r\n\r\n", " ".repeat(300));
        assert!(passes(&padded, 20));
        let long = format!("GET / HTTP/1.1\r\nAuthorization: Bearer {}\r\n\r\n", "x".repeat(5000));
        assert!(passes(&long, 20));
    }

    #[test]
    fn heads_that_can_be_read_in_two_ways_are_spoilt() {
        for headers in [
            "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 5\r\nX: y\r\ncontent-length: 5",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked, identity",
            "Transfer-Encoding: gzip, chunked",
            "Transfer-Encoding: chunkedx",
            "Transfer-Encoding : chunked\r\nContent-Length: 5",
        ] {
            let head = format!("POST / HTTP/1.1\r\n{headers}\r\n\r\n");
            assert!(!passes(&head, 40), "{headers}");
            let second = format!("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi{head}");
            assert!(!passes(&second, 40), "after another request: {headers}");
        }
    }
}
