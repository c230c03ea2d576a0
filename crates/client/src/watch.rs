//! The events of a watch: documents where the API server is in this process, and else its
//! body, one JSON document a line.

use crate::error::Error;
use crate::transport::Body;
use bytes::{Buf, Bytes, BytesMut};
use ferry_api::document::{Document, DocumentEvent, DocumentStream, DocumentWatch, EventType};
use ferry_api::status::Status;
use futures_util::StreamExt;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The events of a watch, those together that came together.
pub struct WatchEvents(Source);

enum Source {
    Documents(DocumentStream),
    Lines(WatchLines),
}

impl WatchEvents {
    pub(crate) fn new(response: http::Response<Body>) -> Self {
        let documents = response.extensions().get::<DocumentWatch>().and_then(DocumentWatch::take);
        Self(match documents {
            Some(stream) => Source::Documents(stream),
            None => Source::Lines(WatchLines::new(response.into_body())),
        })
    }

    /// The next events; `None` when the server ended the watch. An `ERROR` event ends it too
    /// and comes out as the status it carries.
    pub async fn next(&mut self) -> Option<Result<Vec<DocumentEvent>, Error>> {
        match &mut self.0 {
            Source::Documents(stream) => Some(stream.next().await?.map_err(Error::Api)),
            Source::Lines(lines) => Some(lines.next().await?.map(|event| event.document().into_iter().collect())),
        }
    }
}

/// One line, its object still undecoded.
#[derive(Debug)]
pub(crate) struct WatchEvent {
    /// `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`.
    pub kind: String,
    pub object: Box<RawValue>,
}

impl WatchEvent {
    /// `None` for an event of a type that is not known.
    fn document(&self) -> Option<DocumentEvent> {
        let kind = match self.kind.as_str() {
            "ADDED" => EventType::Added,
            "MODIFIED" => EventType::Modified,
            "DELETED" => EventType::Deleted,
            "BOOKMARK" => EventType::Bookmark,
            _ => return None,
        };
        let text = Bytes::copy_from_slice(self.object.get().as_bytes());
        Some(DocumentEvent { kind, document: Arc::new(Document::new(text)) })
    }
}

pub(crate) struct WatchLines {
    body: Body,
    buffer: BytesMut,
    /// How far the buffer was searched for a line's end already.
    scanned: usize,
}

impl WatchLines {
    pub(crate) fn new(body: Body) -> Self {
        Self { body, buffer: BytesMut::new(), scanned: 0 }
    }

    /// The next event; `None` when the server ended the watch. An `ERROR` event ends it
    /// too and comes out as the status it carries.
    pub(crate) async fn next(&mut self) -> Option<Result<WatchEvent, Error>> {
        loop {
            if let Some(end) = self.buffer[self.scanned..].iter().position(|&b| b == b'\n') {
                let line = self.buffer.split_to(self.scanned + end);
                self.buffer.advance(1);
                self.scanned = 0;
                if line.is_empty() {
                    continue;
                }
                return Some(parse(&line));
            }
            self.scanned = self.buffer.len();
            match self.body.frame().await? {
                Ok(frame) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
                Err(error) => return Some(Err(Error::Transport(error))),
            }
        }
    }
}

fn parse(line: &[u8]) -> Result<WatchEvent, Error> {
    #[derive(Deserialize)]
    struct Wire {
        #[serde(rename = "type")]
        kind: String,
        object: Box<RawValue>,
    }
    let decode = |source| Error::Decode { what: "watch".into(), source };
    let wire: Wire = serde_json::from_slice(line).map_err(decode)?;
    if wire.kind == "ERROR" {
        let status: Status = serde_json::from_str(wire.object.get()).map_err(decode)?;
        return Err(status.into());
    }
    Ok(WatchEvent { kind: wire.kind, object: wire.object })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    async fn events(chunks: Vec<&'static str>) -> Vec<String> {
        let frames =
            chunks.into_iter().map(|c| Ok::<_, crate::BoxError>(Frame::data(bytes::Bytes::from_static(c.as_bytes()))));
        let body = StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync();
        let mut lines = WatchLines::new(body);
        let mut out = Vec::new();
        while let Some(event) = lines.next().await {
            out.push(match event {
                Ok(event) => format!("{} {}", event.kind, event.object),
                Err(error) => format!("error {error}"),
            });
        }
        out
    }

    #[tokio::test]
    async fn lines_are_put_together_across_chunks() {
        let got = events(vec![
            "{\"type\":\"ADDED\",\"obj",
            "ect\":{\"a\":1}}\n{\"type\":",
            "\"BOOKMARK\",\"object\":{}}\n\n",
        ])
        .await;
        assert_eq!(got, ["ADDED {\"a\":1}", "BOOKMARK {}"]);
    }

    #[tokio::test]
    async fn an_error_event_becomes_its_status() {
        let got = events(vec![
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"message\":\"too old\",\"code\":410}}\n",
        ])
        .await;
        assert_eq!(got, ["error too old"]);
    }
}
