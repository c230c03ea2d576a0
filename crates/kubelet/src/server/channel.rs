//! The channel protocol v5 of exec and attach over WebSocket: the first byte of a message
//! says which stream the rest belongs to, and a message of its own closes one.
//! `websocket.rs` passes on what is read here.

use bytes::Bytes;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

pub const STDIN: u8 = 0;
pub const STDOUT: u8 = 1;
pub const STDERR: u8 = 2;
pub const ERROR: u8 = 3;
pub const RESIZE: u8 = 4;
/// The next byte names a channel that gets nothing more.
const CLOSE: u8 = 255;

const MAX_MESSAGE: usize = 32 << 20;

/// What a message of the caller asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said<'a> {
    Input {
        channel: u8,
        data: &'a [u8],
    },
    /// The caller has nothing more for this channel.
    End(u8),
    /// Empty messages, and channels that only the other side may write.
    Nothing,
}

/// Reads a message of the caller. Only its input and the size of its terminal are taken
/// from it, and only the input can be closed.
pub fn read(message: &[u8]) -> Said<'_> {
    match message {
        [CLOSE, STDIN, ..] => Said::End(STDIN),
        [channel @ (STDIN | RESIZE), data @ ..] => Said::Input { channel: *channel, data },
        _ => Said::Nothing,
    }
}

/// A message for a channel.
pub fn render(channel: u8, data: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(data.len() + 1);
    bytes.push(channel);
    bytes.extend_from_slice(data);
    Bytes::from(bytes)
}

/// How much a caller may send at once.
pub fn limits() -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(MAX_MESSAGE)).max_frame_size(Some(MAX_MESSAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_input_and_sizes_are_taken_from_a_caller() {
        assert_eq!(read(&render(STDIN, b"ls\n")), Said::Input { channel: STDIN, data: b"ls\n" });
        assert_eq!(read(&render(RESIZE, b"{}")), Said::Input { channel: RESIZE, data: b"{}" });
        assert_eq!(read(&[CLOSE, STDIN]), Said::End(STDIN));
        for nothing in [&[][..], &[CLOSE], &[CLOSE, STDOUT], &[STDOUT, 1], &[ERROR, 1], &[9]] {
            assert_eq!(read(nothing), Said::Nothing, "{nothing:?}");
        }
    }
}
