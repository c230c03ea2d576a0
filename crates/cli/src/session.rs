//! One command's dealings with the world: its streams, its connection and what the server
//! has. Made once in `lib.rs`; the client and the discovery are made when first asked for, so
//! that a command without a server needs none.

use crate::config::{Connection, ConnectionFlags};
use crate::discovery::{AGGREGATED, Discovery};
use crate::error::{CliError, Result};
use crate::transport::{HttpTransport, explain};
use ferry_client::{Body, Client, Request, read_body};
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// The three streams; a test reads them back.
pub(crate) struct Streams {
    pub input: Box<dyn Read>,
    pub out: Box<dyn Write>,
    pub err: Box<dyn Write>,
}

pub(crate) struct Session {
    pub flags: ConnectionFlags,
    streams: RefCell<Streams>,
    connection: OnceCell<Connection>,
    client: OnceCell<Client>,
    discovery: tokio::sync::OnceCell<Discovery>,
}

impl Session {
    pub(crate) fn new(flags: ConnectionFlags, streams: Streams) -> Self {
        Self {
            flags,
            streams: RefCell::new(streams),
            connection: OnceCell::new(),
            client: OnceCell::new(),
            discovery: tokio::sync::OnceCell::new(),
        }
    }

    /// Text for standard output, as it stands. A reader that is gone ends the command.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let out = &mut self.streams.borrow_mut().out;
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => CliError::Exit(141),
            _ => error.into(),
        })
    }

    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Result<()> {
        let out = &mut self.streams.borrow_mut().out;
        out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => CliError::Exit(141),
            _ => error.into(),
        })
    }

    /// A line for standard error.
    pub(crate) fn note(&self, line: &str) {
        // Nobody reading standard error is no reason to stop.
        let _ = writeln!(self.streams.borrow_mut().err, "{line}");
    }

    /// All of standard input.
    pub(crate) fn read_input(&self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        self.streams.borrow_mut().input.read_to_end(&mut text)?;
        Ok(text)
    }

    pub(crate) fn connection(&self) -> Result<&Connection> {
        if self.connection.get().is_none() {
            let connection = self.flags.resolve()?;
            let _ = self.connection.set(connection);
        }
        self.connection.get().ok_or_else(|| "no connection".into())
    }

    /// The namespace of commands that name none.
    pub(crate) fn namespace(&self) -> Result<&str> {
        Ok(&self.connection()?.namespace)
    }

    /// Requests without `--request-timeout` go on for as long as the server takes.
    pub(crate) fn client(&self) -> Result<&Client> {
        if self.client.get().is_none() {
            let transport = HttpTransport::new(self.connection()?, self.request_timeout()?)?;
            let _ = self.client.set(Client::new(Arc::new(transport), USER_AGENT));
        }
        self.client.get().ok_or_else(|| "no client".into())
    }

    fn request_timeout(&self) -> Result<Option<Duration>> {
        let text = self.flags.request_timeout.as_str();
        if let Ok(seconds) = text.parse::<u64>() {
            return Ok(Some(Duration::from_secs(seconds)).filter(|t| !t.is_zero()));
        }
        let timeout = ferry_api::rules::duration::parse(text).map_err(|_| {
            "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
        })?;
        Ok(Some(timeout).filter(|t| !t.is_zero()))
    }

    pub(crate) async fn discovery(&self) -> Result<&Discovery> {
        self.discovery
            .get_or_try_init(|| async {
                let read = |path: &'static str| async move {
                    let request = Request { path: path.into(), accept: Some(AGGREGATED.into()), ..Default::default() };
                    self.bytes(request).await
                };
                let (core, groups) = futures_util::try_join!(read("/api"), read("/apis"))?;
                let mut discovery = Discovery::default();
                discovery.add(&core)?;
                discovery.add(&groups)?;
                Ok(discovery)
            })
            .await
    }

    /// The answer to a request, its head read. Warnings of the server are printed.
    pub(crate) async fn send(&self, request: Request) -> Result<http::Response<Body>> {
        let response = self.client()?.call(request).await.map_err(explain)?;
        for warning in response.headers().get_all("warning") {
            if let Some(text) = warning.to_str().ok().and_then(warning_text) {
                self.note(&format!("Warning: {text}"));
            }
        }
        Ok(response)
    }

    pub(crate) async fn bytes(&self, request: Request) -> Result<Vec<u8>> {
        let response = self.send(request).await?;
        let body = read_body(response.into_body()).await.map_err(|error| CliError::Plain(error.to_string()))?;
        Ok(body.to_vec())
    }

    pub(crate) async fn json(&self, request: Request) -> Result<Value> {
        let what = format!("{} {}", request.method, request.path);
        let body = self.bytes(request).await?;
        serde_json::from_slice(&body).map_err(|error| format!("cannot read the answer to {what}: {error}").into())
    }
}

/// The field manager of writes without `--field-manager` is the part before the slash.
const USER_AGENT: &str = concat!("kubectl/v1.36 ferry/", env!("CARGO_PKG_VERSION"));

/// `299 - "text"`: the text of a Warning header.
fn warning_text(header: &str) -> Option<String> {
    let rest = header.strip_prefix("299 ")?;
    let (_, rest) = rest.split_once(" \"").or_else(|| rest.split_once('"'))?;
    let text = rest.strip_suffix('"').unwrap_or(rest);
    Some(text.replace("\\\"", "\"").replace("\\\\", "\\"))
}

#[cfg(test)]
mod tests {
    use super::warning_text;

    #[test]
    fn the_text_of_a_warning_is_unquoted() {
        assert_eq!(warning_text(r#"299 - "use \"x\"""#).as_deref(), Some("use \"x\""));
        assert_eq!(warning_text("199 - \"other\""), None);
    }
}
