//! Frames of the streams that exec, attach and port-forward open.

use bytes::Bytes;
use ferry_kubelet::server::channel::{self, Said};
use ferry_kubelet::server::spdy::{Frame, Reader, Writer};
use futures_util::{FutureExt, StreamExt};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

/// A connection that hands out its bytes a few at a time and takes whatever is written.
struct Trickle<'a> {
    rest: &'a [u8],
    step: usize,
}

impl AsyncRead for Trickle<'_> {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let count = self.step.min(self.rest.len()).min(buffer.remaining());
        let (now, later) = self.rest.split_at(count);
        buffer.put_slice(now);
        self.rest = later;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Trickle<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn frames(data: &[u8], step: usize) -> (Vec<Frame>, bool) {
    let mut reader = Reader::new(Trickle { rest: data, step });
    let mut frames = Vec::new();
    loop {
        match reader.next().now_or_never().expect("everything is there already") {
            Ok(Some(frame)) => frames.push(frame),
            Ok(None) => return (frames, true),
            Err(_) => return (frames, false),
        }
    }
}

pub fn spdy(data: &[u8]) {
    let whole = frames(data, usize::MAX);
    assert_eq!(frames(data, 3), whole, "how the bytes arrive does not matter");
    for frame in whole.0 {
        let Frame::Data { stream, data, fin } = frame else { continue };
        let mut written = Vec::new();
        Writer::new(&mut written).send(stream, &data, fin).now_or_never().expect("at once").expect("to memory");
        let (again, well) = frames(&written, usize::MAX);
        assert!(well);
        let mut joined = Vec::new();
        for (index, frame) in again.iter().enumerate() {
            let Frame::Data { stream: to, data, fin: end } = frame else { panic!("{frame:?}") };
            assert_eq!(*to, stream);
            assert_eq!(*end, fin && index + 1 == again.len(), "only the last frame ends a stream");
            joined.extend_from_slice(data);
        }
        assert_eq!(Bytes::from(joined), data);
    }
}

pub fn websocket(data: &[u8]) {
    let limits = Some(channel::limits());
    let stream = WebSocketStream::from_raw_socket(Trickle { rest: data, step: 7 }, Role::Server, limits);
    let mut stream = stream.now_or_never().expect("no handshake is waited for");
    while let Some(said) = stream.next().now_or_never().expect("everything is there already") {
        match said {
            Ok(said @ (Message::Binary(_) | Message::Text(_))) => read_channel(&said.into_data()),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    read_channel(data);
}

fn read_channel(message: &[u8]) {
    match channel::read(message) {
        Said::Input { channel, data } => {
            assert!(matches!(channel, channel::STDIN | channel::RESIZE), "nobody may write into channel {channel}");
            assert_eq!(channel::render(channel, data), message);
        }
        Said::End(channel) => assert_eq!(channel, channel::STDIN),
        Said::Nothing => {}
    }
}
