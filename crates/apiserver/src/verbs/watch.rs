//! GET with watch: a stream of events that begins where the client asks, never blocks
//! the cache, and ends with the client's timeout, its connection or its slowness.

use super::Call;
use super::options::{ListOptions, too_large_version};
use super::selection::{scope, selection};
use crate::answer;
use crate::cache::{Cache, Event, Seen, Start, Stock, Watcher};
use crate::metrics::Gauged;
use crate::negotiate::{self, Accepted, Format, Shape, Use};
use crate::table;
use crate::transport::{Body, BoxError};
use bytes::{BufMut, Bytes, BytesMut};
use ferry_api::status::Status;
use ferry_resources::Row;
use futures_util::stream;
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use rand::Rng;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A watch without a timeout lasts between this and twice this, so that clients that
/// connected together do not come back together (upstream's min-request-timeout).
const MIN_TIMEOUT: Duration = Duration::from_secs(1800);

/// How often a quiet watch is told how far it has come.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// The last bookmark comes this long before the timeout, so that the client resumes
/// from a recent revision.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// Events that are ready together are sent together, up to this size.
const PIECE: usize = 64 * 1024;

pub async fn watch(call: &Call) -> Result<Response<Body>, Status> {
    let accepted = negotiate::output(&call.headers, &call.query, Use::Watch)?;
    let options = ListOptions::parse(&call.query, true)?;
    let selection = selection(call, &options.label_selector, &options.field_selector)?;
    let registry = &call.server.registry;
    let stock = registry.cache.stock(&call.row).ok_or_else(Status::no_such_path)?;
    let initial_events = options.send_initial_events;
    let start = match (options.resource_version, initial_events) {
        (None | Some(0), Some(false)) => Start::Now,
        (None | Some(0), _) | (Some(_), Some(true)) => Start::InitialState,
        (Some(revision), _) => Start::After(revision),
    };
    match options.resource_version {
        None => registry.cache.wait_consistent().await,
        Some(revision) if start == Start::InitialState => registry
            .cache
            .wait_not_older_than(revision)
            .await
            .map_err(|ahead| too_large_version(ahead.requested, ahead.current))?,
        Some(_) => {}
    }
    let timeout = match options.timeout_seconds {
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds),
        _ => MIN_TIMEOUT.mul_f64(1.0 + rand::rng().random::<f64>()),
    };
    let renderer = Renderer {
        row: call.row.clone(),
        accepted,
        include_object: call.query.text("includeObject").unwrap_or_default().to_owned(),
        columns_sent: false,
    };
    let content_type = match accepted.format {
        Format::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        _ => "application/json",
    };
    // Bytes of two formats cannot be mixed in one stream.
    if accepted.format == Format::Protobuf && call.row.schema.is_none() {
        return Err(Status::not_acceptable(&["application/json;stream=watch"]));
    }
    let watcher = match stock.watch(scope(call), selection, start) {
        Ok(watcher) => watcher,
        // A client that has got this far is told inside the stream, as by upstream.
        Err(old) => {
            let status = Status::expired(format!("too old resource version: {} ({})", old.requested, old.oldest));
            let frame = renderer.error(&status);
            return Ok(answer::stream(StatusCode::OK, content_type, crate::transport::full(frame)));
        }
    };
    let now = Instant::now();
    let state = State {
        watcher,
        renderer,
        cache: registry.cache.clone(),
        _stock: stock,
        bookmarks: options.allow_bookmarks,
        initial: Some(initial_events == Some(true) && options.allow_bookmarks),
        deadline: now + timeout,
        stopped: call.server.stop.subscribe(),
        bookmark_at: next_bookmark(now, now + timeout),
        _open: call.server.metrics.watch_opened(&call.row),
    };
    let body = StreamBody::new(stream::unfold(state, |mut state| async move {
        let piece = state.next_piece().await?;
        Some((Ok::<_, BoxError>(Frame::data(piece)), state))
    }));
    Ok(answer::stream(StatusCode::OK, content_type, body.boxed_unsync()))
}

fn next_bookmark(now: Instant, deadline: Instant) -> Instant {
    let regular = now + BOOKMARK_EVERY;
    let last = deadline - BOOKMARK_BEFORE_END;
    if regular > last && now < last { last } else { regular }
}

struct State {
    watcher: Watcher,
    renderer: Renderer,
    cache: Arc<Cache>,
    _stock: Arc<Stock>,
    bookmarks: bool,
    /// Still sending the state that the watch begins with; true if its end is marked.
    initial: Option<bool>,
    deadline: Instant,
    /// The server is going; the client is to look for another.
    stopped: tokio::sync::watch::Receiver<bool>,
    bookmark_at: Instant,
    _open: Gauged,
}

impl State {
    async fn next_piece(&mut self) -> Option<Bytes> {
        if let Some(mark_end) = self.initial {
            let mut piece = BytesMut::new();
            while piece.len() < PIECE {
                match self.watcher.next_initial() {
                    Some((seen, event)) => self.renderer.event(seen, &event, &mut piece),
                    None => {
                        self.initial = None;
                        if mark_end {
                            let revision = self.watcher.initial_revision;
                            self.renderer.bookmark(revision, true, &mut piece);
                        }
                        break;
                    }
                }
            }
            if !piece.is_empty() {
                return Some(piece.freeze());
            }
        }
        loop {
            tokio::select! {
                biased;
                event = self.watcher.next() => {
                    let (seen, event) = event?;
                    let mut piece = BytesMut::new();
                    self.renderer.event(seen, &event, &mut piece);
                    self.drain(&mut piece);
                    return Some(piece.freeze());
                }
                () = tokio::time::sleep_until(self.deadline) => return None,
                _ = self.stopped.changed() => return None,
                () = tokio::time::sleep_until(self.bookmark_at) => {
                    self.bookmark_at = next_bookmark(Instant::now(), self.deadline);
                    if self.bookmarks {
                        // All changes up to this revision are in the queue or sent, so
                        // after draining the queue the client has seen them all.
                        let revision = self.cache.revision();
                        let mut piece = BytesMut::new();
                        self.drain(&mut piece);
                        self.renderer.bookmark(revision, false, &mut piece);
                        return Some(piece.freeze());
                    }
                }
            }
        }
    }

    /// Adds what is ready, without waiting.
    fn drain(&mut self, piece: &mut BytesMut) {
        let waker = futures_util::task::noop_waker();
        let mut context = std::task::Context::from_waker(&waker);
        while piece.len() < PIECE {
            match self.watcher.poll_next(&mut context) {
                std::task::Poll::Ready(Some((seen, event))) => self.renderer.event(seen, &event, piece),
                _ => break,
            }
        }
    }
}

/// Events to frames, in the client's format and shape.
struct Renderer {
    row: Arc<Row>,
    accepted: Accepted,
    include_object: String,
    /// Columns are described once a stream.
    columns_sent: bool,
}

impl Renderer {
    fn event(&mut self, seen: Seen, event: &Event, out: &mut BytesMut) {
        let kind = match seen {
            Seen::Added => "ADDED",
            Seen::Modified => "MODIFIED",
            Seen::Deleted => "DELETED",
        };
        let bytes = event.object(seen);
        let plain = self.accepted.shape == Shape::Object && self.row.gvk() == self.row.stored_as;
        if plain && self.accepted.format == Format::Json {
            return frame_json(kind, &bytes, out);
        }
        let mut object: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if self.row.gvk() != self.row.stored_as {
            use ferry_api::object::Meta as _;
            self.row.strategy.from_stored(&mut object);
            object.set_gvk(&self.row.gvk());
        }
        let shaped = match self.accepted.shape {
            Shape::Object => object,
            Shape::Metadata => table::partial(&object, &self.accepted),
            Shape::Table => {
                let mut table = table::table(&self.row, &[object], &self.accepted, &self.include_object);
                if std::mem::replace(&mut self.columns_sent, true) {
                    table["columnDefinitions"] = Value::Null;
                }
                table
            }
        };
        self.frame(kind, &shaped, out);
    }

    fn bookmark(&mut self, revision: u64, initial_end: bool, out: &mut BytesMut) {
        let mut metadata = json!({"resourceVersion": revision.to_string(), "creationTimestamp": null});
        if initial_end {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = json!({
            "kind": self.row.kind, "apiVersion": self.row.group_version().to_string(), "metadata": metadata,
        });
        let shaped = match self.accepted.shape {
            Shape::Object => object,
            Shape::Metadata => table::partial(&object, &self.accepted),
            // A bookmark in a table is a row without cells: only its metadata counts.
            Shape::Table => {
                let partial = table::partial(&object, &self.accepted);
                json!({
                    "kind": "Table", "apiVersion": self.accepted.meta_version(),
                    "metadata": {"resourceVersion": revision.to_string()},
                    "columnDefinitions": null, "rows": [{"cells": [], "object": partial}],
                })
            }
        };
        self.frame("BOOKMARK", &shaped, out);
    }

    fn error(&self, status: &Status) -> Bytes {
        let mut out = BytesMut::new();
        self.frame("ERROR", &serde_json::to_value(status).unwrap_or(Value::Null), &mut out);
        out.freeze()
    }

    fn frame(&self, kind: &str, object: &Value, out: &mut BytesMut) {
        if self.accepted.format == Format::Protobuf
            && let Some(bytes) = crate::wire::to_protobuf(object)
        {
            out.put_slice(&ferry_api::codec::protobuf::watch_frame(kind, &bytes));
            return;
        }
        frame_json(kind, &crate::registry::encode::encode(object), out);
    }
}

fn frame_json(kind: &str, object: &[u8], out: &mut BytesMut) {
    out.reserve(object.len() + 40);
    out.put_slice(b"{\"type\":\"");
    out.put_slice(kind.as_bytes());
    out.put_slice(b"\",\"object\":");
    out.put_slice(object);
    out.put_slice(b"}\n");
}
