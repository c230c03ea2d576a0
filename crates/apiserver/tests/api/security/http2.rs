//! HTTP/2 by hand, for what no well-behaved client would send: a few kinds of frames, and
//! header blocks of HPACK that use its static table and no compression.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A value as it is, of a length that fits into one byte.
fn text(value: &str) -> Vec<u8> {
    let length = u8::try_from(value.len()).expect("a short text");
    assert!(length < 127, "longer values are written another way");
    [&[length], value.as_bytes()].concat()
}

/// A whole GET as one frame.
pub fn get(stream: u32, path: &str) -> Vec<u8> {
    get_with(stream, path, &[])
}

/// The same with more headers, in their order and as often as they stand there.
pub fn get_with(stream: u32, path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    const METHOD_GET: u8 = 0x82;
    const SCHEME_HTTPS: u8 = 0x87;
    const PATH_LITERAL: u8 = 0x04;
    const AUTHORITY_LITERAL: u8 = 0x01;
    const LITERAL: u8 = 0x00;
    const END_STREAM_AND_HEADERS: u8 = 0x5;
    let mut block = vec![METHOD_GET, SCHEME_HTTPS, PATH_LITERAL];
    block.extend(text(path));
    block.push(AUTHORITY_LITERAL);
    block.extend(text("x"));
    for (name, value) in headers {
        block.push(LITERAL);
        block.extend(text(name));
        block.extend(text(value));
    }
    frame(HEADERS, END_STREAM_AND_HEADERS, stream, &block)
}

pub fn reset(stream: u32) -> Vec<u8> {
    const CANCEL: u32 = 8;
    frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())
}

/// Begins a connection.
pub async fn greet(stream: &mut (impl AsyncWrite + Unpin)) {
    stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await.expect("sent");
}

/// The code of the answer on a stream; `None` if the stream or the connection ends before.
/// Only 200 and 400 are told apart, which the static table has; anything else is 0.
pub async fn answer(stream: &mut (impl AsyncRead + Unpin), asked: u32) -> Option<u16> {
    const STATUS_200: u8 = 0x88;
    const STATUS_400: u8 = 0x8c;
    let mut head = [0; 9];
    while stream.read_exact(&mut head).await.is_ok() {
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; usize::try_from(length).expect("a frame")];
        stream.read_exact(&mut payload).await.ok()?;
        match head[3] {
            GOAWAY => return None,
            RST_STREAM if id == asked => return None,
            HEADERS if id == asked => {
                // Changes of the table's size may come first.
                let first = payload.iter().find(|byte| **byte & 0xe0 != 0x20);
                return Some(match first {
                    Some(&STATUS_200) => 200,
                    Some(&STATUS_400) => 400,
                    _ => 0,
                });
            }
            _ => {}
        }
    }
    None
}
