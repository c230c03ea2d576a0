//! A watch as a command reads it: a line of JSON for each event. `get -w`, `wait`, `rollout
//! status` and `delete --wait` follow one.

use crate::error::{CliError, Result};
use crate::session::Session;
use bytes::BytesMut;
use ferry_client::{Body, Request};
use http_body_util::BodyExt;
use serde_json::Value;

pub(crate) struct Watch {
    body: Body,
    buffer: BytesMut,
}

/// `ADDED`, `MODIFIED`, `DELETED` or `BOOKMARK`, with its object.
#[derive(Debug)]
pub(crate) struct WatchEvent {
    pub event_type: String,
    pub object: Value,
}

impl Watch {
    /// Opens a watch of a collection after `resource_version`.
    pub(crate) async fn open(
        session: &Session,
        url: String,
        mut query: Vec<(String, String)>,
        resource_version: &str,
        accept: Option<&str>,
    ) -> Result<Self> {
        query.push(("watch".into(), "true".into()));
        if !resource_version.is_empty() {
            query.push(("resourceVersion".into(), resource_version.into()));
        }
        let request = Request { path: url, query, accept: accept.map(str::to_owned), ..Default::default() };
        Ok(Self { body: session.send(request).await?.into_body(), buffer: BytesMut::new() })
    }

    /// The next event; `None` when the server ends the watch.
    pub(crate) async fn next(&mut self) -> Result<Option<WatchEvent>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end + 1);
                if line.len() > 1 {
                    return read_event(&line).map(Some);
                }
                continue;
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(CliError::Plain(error.to_string())),
                Some(Ok(frame)) => self.buffer.extend(frame.into_data().ok()),
            }
        }
    }
}

impl Watch {
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Self { body: ferry_client::full_body(text.to_owned()), buffer: BytesMut::new() }
    }
}

fn read_event(line: &[u8]) -> Result<WatchEvent> {
    let mut event: Value =
        serde_json::from_slice(line).map_err(|error| format!("cannot read a watch event: {error}"))?;
    let object = event["object"].take();
    let event_type = event["type"].as_str().unwrap_or_default().to_owned();
    if event_type == "ERROR" {
        let status = serde_json::from_value(object).map_err(|error| format!("cannot read a watch error: {error}"))?;
        return Err(CliError::Api(Box::new(status)));
    }
    Ok(WatchEvent { event_type, object })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn events_are_lines_and_an_error_is_the_servers() {
        let mut watch = Watch::of(
            "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n\n{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"old\"}}\n",
        );
        let event = watch.next().await.expect("read").expect("an event");
        assert_eq!((event.event_type.as_str(), &event.object["a"]), ("ADDED", &Value::from(1)));
        let error = watch.next().await.expect_err("an error").render();
        assert_eq!(error, "Error from server (Expired): old");
    }
}
