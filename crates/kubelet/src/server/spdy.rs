//! SPDY/3.1 framing, as much of it as the runtime's streaming server needs.
//!
//! A frame is eight bytes of head and a body. The highest bit of the first byte tells
//! control frames from data:
//!
//! ```text
//! control: 80 03 | type (16) | flags (8) | length (24) | body
//! data:    stream (31)       | flags (8) | length (24) | bytes
//! ```
//!
//! Headers in SYN_STREAM are one zlib stream for the life of the connection, begun with
//! a dictionary that both sides know. The peer's headers hold nothing we need and are
//! left compressed. There is no flow control: neither end of this protocol in
//! Kubernetes (moby/spdystream) uses it.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use flate2::{Compress, Compression, FlushCompress};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const VERSION: u16 = 0x8003;
const SYN_STREAM: u16 = 1;
const SYN_REPLY: u16 = 2;
const RST_STREAM: u16 = 3;
const PING: u16 = 6;
const GOAWAY: u16 = 7;
const FLAG_FIN: u8 = 1;
const HEAD: usize = 8;
/// Data is cut into frames of this size; the format would allow 16 MiB.
const MAX_DATA: usize = 32 * 1024;

/// What the other side says.
#[derive(Debug, PartialEq)]
pub enum Frame {
    Data {
        stream: u32,
        data: Bytes,
        fin: bool,
    },
    Reply {
        stream: u32,
        fin: bool,
    },
    Reset {
        stream: u32,
    },
    Ping(u32),
    GoAway,
    /// SETTINGS, WINDOW_UPDATE, HEADERS and whatever else may be ignored.
    Other,
}

/// The sending half of a connection that we opened: our streams have odd numbers.
pub struct Writer<W> {
    io: W,
    compress: Compress,
    next: u32,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub fn new(io: W) -> Self {
        let mut compress = Compress::new(Compression::best(), true);
        compress.set_dictionary(DICTIONARY).expect("a fresh zlib stream takes a dictionary");
        Self { io, compress, next: 1 }
    }

    /// Opens a stream with these headers and answers its number.
    pub async fn open(&mut self, headers: &[(&str, &str)]) -> io::Result<u32> {
        let stream = self.next;
        self.next += 2;
        let block = self.compress_headers(headers)?;
        let mut frame = BytesMut::new();
        frame.put_u16(VERSION);
        frame.put_u16(SYN_STREAM);
        frame.put_u32((block.len() + 10) as u32);
        frame.put_u32(stream);
        frame.put_u32(0); // belongs to no other stream
        frame.put_u16(0); // priority and slot
        frame.put_slice(&block);
        self.write(&frame).await?;
        Ok(stream)
    }

    /// `fin` closes our direction of the stream.
    pub async fn send(&mut self, stream: u32, data: &[u8], fin: bool) -> io::Result<()> {
        let mut rest = data;
        loop {
            let (now, later) = rest.split_at(rest.len().min(MAX_DATA));
            rest = later;
            let last = rest.is_empty();
            let mut frame = BytesMut::with_capacity(HEAD + now.len());
            frame.put_u32(stream & 0x7fff_ffff);
            let flags = if fin && last { FLAG_FIN } else { 0 };
            frame.put_u32(u32::from(flags) << 24 | now.len() as u32);
            frame.put_slice(now);
            self.write(&frame).await?;
            if last {
                return Ok(());
            }
        }
    }

    /// Answers a ping of the other side with its own number.
    pub async fn pong(&mut self, id: u32) -> io::Result<()> {
        let mut frame = BytesMut::new();
        frame.put_u16(VERSION);
        frame.put_u16(PING);
        frame.put_u32(4);
        frame.put_u32(id);
        self.write(&frame).await
    }

    async fn write(&mut self, frame: &[u8]) -> io::Result<()> {
        self.io.write_all(frame).await?;
        self.io.flush().await
    }

    /// Count, then each name and value with its length; names in lower case.
    fn compress_headers(&mut self, headers: &[(&str, &str)]) -> io::Result<Vec<u8>> {
        let mut plain = BytesMut::new();
        plain.put_u32(headers.len() as u32);
        for (name, value) in headers {
            for text in [name.to_ascii_lowercase().as_str(), *value] {
                plain.put_u32(text.len() as u32);
                plain.put_slice(text.as_bytes());
            }
        }
        let mut out = Vec::with_capacity(plain.len() + 64);
        let mut input = &plain[..];
        loop {
            let before = self.compress.total_in();
            self.compress.compress_vec(input, &mut out, FlushCompress::Sync).map_err(io::Error::other)?;
            input = &input[(self.compress.total_in() - before) as usize..];
            // A flush is complete once it leaves room in the output.
            if input.is_empty() && out.len() < out.capacity() {
                return Ok(out);
            }
            out.reserve(256);
        }
    }
}

/// The receiving half.
pub struct Reader<R> {
    io: R,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    pub fn new(io: R) -> Self {
        Self { io, buffer: BytesMut::with_capacity(64 * 1024) }
    }

    /// The next frame; `None` at the end of the connection. May be dropped and called
    /// again without losing anything.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = parse(&mut self.buffer)? {
                return Ok(Some(frame));
            }
            if self.io.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

fn parse(buffer: &mut BytesMut) -> io::Result<Option<Frame>> {
    let Some(head) = buffer.get(..HEAD) else { return Ok(None) };
    let first = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
    let flags = head[4];
    let length = u32::from_be_bytes([0, head[5], head[6], head[7]]) as usize;
    if buffer.len() < HEAD + length {
        buffer.reserve(HEAD + length - buffer.len());
        return Ok(None);
    }
    buffer.advance(HEAD);
    let mut body = buffer.split_to(length).freeze();
    let fin = flags & FLAG_FIN != 0;
    if first & 0x8000_0000 == 0 {
        return Ok(Some(Frame::Data { stream: first, data: body, fin }));
    }
    if (first >> 16) as u16 != VERSION {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a SPDY/3 frame"));
    }
    let mut number = || {
        if body.len() < 4 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a SPDY frame is too short"));
        }
        Ok(body.get_u32())
    };
    Ok(Some(match first as u16 {
        SYN_REPLY => Frame::Reply { stream: number()? & 0x7fff_ffff, fin },
        RST_STREAM => Frame::Reset { stream: number()? & 0x7fff_ffff },
        PING => Frame::Ping(number()?),
        GOAWAY => Frame::GoAway,
        _ => Frame::Other,
    }))
}

/// The dictionary of SPDY/3 (draft-mbelshe-httpbis-spdy-00, section 2.6.10.1): length
/// prefixed names of headers and methods, then common values.
static DICTIONARY: &[u8] = include_bytes!("spdy_dictionary.bin");

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Decompress, FlushDecompress};

    struct Headers(Decompress);

    impl Headers {
        fn new() -> Self {
            Self(Decompress::new(true))
        }

        fn read(&mut self, block: &[u8]) -> Vec<(String, String)> {
            let mut plain = Vec::with_capacity(4096);
            let before = self.0.total_in();
            let first = self.0.decompress_vec(block, &mut plain, FlushDecompress::Sync);
            if let Err(error) = first {
                assert!(error.needs_dictionary().is_some(), "{error}");
                self.0.set_dictionary(DICTIONARY).expect("the dictionary fits");
                let used = (self.0.total_in() - before) as usize;
                self.0.decompress_vec(&block[used..], &mut plain, FlushDecompress::Sync).expect("a good block");
            }
            let mut plain = Bytes::from(plain);
            let mut pairs = Vec::new();
            let count = plain.get_u32();
            let mut text = || {
                let length = plain.get_u32() as usize;
                String::from_utf8(plain.split_to(length).to_vec()).expect("text")
            };
            for _ in 0..count {
                pairs.push((text(), text()));
            }
            pairs
        }
    }

    #[test]
    fn the_dictionary_is_the_one_of_the_specification() {
        assert_eq!(DICTIONARY.len(), 1423);
        // zlib names a dictionary by its Adler-32, which is public knowledge for SPDY/3.
        let (mut a, mut b) = (1u32, 0u32);
        for byte in DICTIONARY {
            a = (a + u32::from(*byte)) % 65_521;
            b = (b + a) % 65_521;
        }
        assert_eq!(b << 16 | a, 0xe3c6_a7c2);
    }

    #[tokio::test]
    async fn streams_are_opened_with_their_headers() {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let mut writer = Writer::new(ours);
        assert_eq!(writer.open(&[("streamtype", "error")]).await.expect("opened"), 1);
        assert_eq!(writer.open(&[("StreamType", "stdin"), ("port", "80")]).await.expect("opened"), 3);
        writer.send(3, b"hello", true).await.expect("sent");
        drop(writer);
        let mut reader = Reader::new(theirs);
        let mut headers = Headers::new();
        let mut raw = BytesMut::new();
        while reader.io.read_buf(&mut raw).await.expect("read") > 0 {}
        let mut seen = Vec::new();
        for expected in [1u32, 3] {
            assert_eq!((raw.get_u16(), raw.get_u16()), (VERSION, SYN_STREAM));
            let length = raw.get_u32() as usize;
            let mut body = raw.split_to(length);
            assert_eq!(body.get_u32(), expected);
            body.advance(6);
            seen.push(headers.read(&body));
        }
        assert_eq!(seen[0], [("streamtype".to_string(), "error".to_string())]);
        assert_eq!(seen[1][1], ("port".to_string(), "80".to_string()));
        let data = parse(&mut raw).expect("good").expect("whole");
        assert_eq!(data, Frame::Data { stream: 3, data: Bytes::from_static(b"hello"), fin: true });
    }

    #[test]
    fn frames_are_told_apart_and_halves_are_waited_for() {
        let mut buffer = BytesMut::from(&[0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0][..]);
        assert_eq!(parse(&mut buffer).expect("good"), None);
        buffer.put_u8(2);
        assert_eq!(parse(&mut buffer).expect("good"), Some(Frame::Ping(2)));
        let mut buffer = BytesMut::from(&[0x80, 3, 0, 2, 1, 0, 0, 4, 0, 0, 0, 5][..]);
        assert_eq!(parse(&mut buffer).expect("good"), Some(Frame::Reply { stream: 5, fin: true }));
        let mut buffer = BytesMut::from(&[0x80, 3, 0, 9, 0, 0, 0, 0][..]);
        assert_eq!(parse(&mut buffer).expect("good"), Some(Frame::Other));
        let mut buffer = BytesMut::from(&[0x80, 2, 0, 6, 0, 0, 0, 4, 0, 0, 0, 0][..]);
        assert!(parse(&mut buffer).is_err());
        let mut buffer = BytesMut::from(&[0x80, 3, 0, 6, 0, 0, 0, 1, 0][..]);
        assert!(parse(&mut buffer).is_err());
    }

    #[tokio::test]
    async fn long_data_is_cut_into_frames() {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let mut writer = Writer::new(ours);
        let data = vec![7; MAX_DATA * 2 + 1];
        writer.send(1, &data, true).await.expect("sent");
        drop(writer);
        let mut reader = Reader::new(theirs);
        let (mut total, mut ends) = (0, Vec::new());
        while let Some(Frame::Data { data, fin, .. }) = reader.next().await.expect("read") {
            total += data.len();
            ends.push(fin);
        }
        assert_eq!((total, ends), (data.len(), vec![false, false, true]));
    }
}
