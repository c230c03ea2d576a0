//! GET with watch: a stream of events that begins where the client asks, never blocks
//! the cache, and ends with the client's timeout, its connection or its slowness.

use super::Call;
use super::documents;
use super::options::{ListOptions, too_large_version};
use super::selection::{Selection, scope, selection};
use crate::ServerState;
use crate::cache::{Cache, Event, Seen, Start, Stock, Watcher};
use crate::door::answer;
use crate::door::negotiate::{self, Accepted, Format, Shape, Use};
use crate::door::table;
use crate::metrics::storage::WatchTally;
use crate::registry::Registry;
use crate::transport::{Body, BoxError};
use bytes::{BufMut, Bytes, BytesMut};
use ferry_api::codec::protobuf;
use ferry_api::object::Meta;
use ferry_api::schema::{self, TypeDef};
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

/// The longest that a client may ask for: the clock cannot hold 2^63 seconds from now.
const MAX_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);

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

pub(super) async fn watch(call: &Call) -> Result<Response<Body>, Status> {
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
        Some(seconds) if seconds > 0 => Duration::from_secs(seconds).min(MAX_TIMEOUT),
        _ => MIN_TIMEOUT.mul_f64(1.0 + rand::rng().random::<f64>()),
    };
    call.check_format(&accepted)?;
    let renderer = Renderer {
        registry: registry.clone(),
        row: call.row.clone(),
        selection: selection.clone(),
        accepted,
        include_object: call.query.text("includeObject").unwrap_or_default().to_owned(),
        columns_sent: false,
        is_stored_form: call.row.gvk() == call.row.stored_as,
        api_version: call.row.group_version().to_string(),
        definition: schema::of_kind(&call.row.gvk()).map(|definition| &**definition),
    };
    let content_type = match accepted.format {
        Format::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        _ => "application/json",
    };
    let watcher = match stock.watch(scope(call), selection.clone(), start) {
        Ok(watcher) => watcher,
        // A client that has got this far is told inside the stream, as by upstream.
        Err(old) => {
            let status = Status::expired(format!("too old resource version: {} ({})", old.requested, old.oldest));
            let frame = renderer.error(&status);
            return Ok(answer::stream(StatusCode::OK, content_type, crate::transport::full(frame)));
        }
    };
    if documents::are_served(call, &accepted) {
        return Ok(documents::watch(call, watcher, stock, Instant::now() + timeout));
    }
    if call.row.custom.is_some() {
        // All of the first objects are converted in one go; each is kept for its event.
        registry.served(&call.row, &watcher.initial_objects()).await?;
    }
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
        failed: false,
        tally: call.server.metrics.watches.begin(&call.row),
        listing: (initial_events == Some(true)).then(|| Listing {
            server: call.server.clone(),
            scope: if call.namespace().is_empty() { "cluster" } else { "namespace" },
            began: now,
        }),
    };
    let body = StreamBody::new(stream::unfold(state, |mut state| async move {
        let piece = state.next_piece().await?;
        Some((Ok::<_, BoxError>(Frame::data(piece)), state))
    }));
    Ok(answer::stream(StatusCode::OK, content_type, body.boxed_unsync()))
}

/// When a watch that ends at `deadline` is told its revision next.
pub(super) fn next_bookmark(now: Instant, deadline: Instant) -> Instant {
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
    /// An event could not be shown; the client has been told, and must begin anew.
    failed: bool,
    tally: WatchTally,
    /// Measures how long the first events take, where a client asked for them.
    listing: Option<Listing>,
}

struct Listing {
    server: Arc<ServerState>,
    scope: &'static str,
    began: Instant,
}

impl State {
    async fn next_piece(&mut self) -> Option<Bytes> {
        let piece = self.make_piece().await;
        self.tally.flush();
        piece
    }

    async fn make_piece(&mut self) -> Option<Bytes> {
        if self.failed {
            return None;
        }
        if let Some(mark_end) = self.initial {
            let mut piece = BytesMut::new();
            while piece.len() < PIECE {
                match self.watcher.next_initial() {
                    Some((seen, event)) => {
                        if !self.show(seen, &event, &mut piece).await {
                            return Some(piece.freeze());
                        }
                    }
                    None => {
                        self.initial = None;
                        if mark_end {
                            self.bookmark(self.watcher.initial_revision, true, &mut piece);
                        }
                        if let Some(listing) = self.listing.take() {
                            let took = listing.began.elapsed();
                            listing.server.metrics.watches.listed(&self.renderer.row, listing.scope, took);
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
                    if self.show(seen, &event, &mut piece).await {
                        self.drain(&mut piece).await;
                    }
                    if !piece.is_empty() {
                        return Some(piece.freeze());
                    }
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
                        if self.drain(&mut piece).await {
                            self.bookmark(revision, false, &mut piece);
                        }
                        return Some(piece.freeze());
                    }
                }
            }
        }
    }

    /// Adds what is ready, without waiting for more. False when something could not be shown.
    async fn drain(&mut self, piece: &mut BytesMut) -> bool {
        while piece.len() < PIECE {
            let ready = {
                let waker = futures_util::task::noop_waker();
                self.watcher.poll_next(&mut std::task::Context::from_waker(&waker))
            };
            match ready {
                std::task::Poll::Ready(Some((seen, event))) => {
                    if !self.show(seen, &event, piece).await {
                        return false;
                    }
                }
                _ => break,
            }
        }
        true
    }

    fn bookmark(&mut self, revision: u64, initial_end: bool, piece: &mut BytesMut) {
        let before = piece.len();
        self.renderer.bookmark(revision, initial_end, piece);
        self.tally.sent(piece.len() - before);
    }

    /// Adds one event; false when that failed and the stream ends with the reason.
    async fn show(&mut self, seen: Seen, event: &Event, piece: &mut BytesMut) -> bool {
        let before = piece.len();
        let shown = self.render(seen, event, piece).await;
        if piece.len() > before {
            self.tally.sent(piece.len() - before);
        }
        shown
    }

    async fn render(&mut self, seen: Seen, event: &Event, piece: &mut BytesMut) -> bool {
        if self.renderer.row.custom.is_none() {
            self.renderer.event(seen, event, piece);
            return true;
        }
        if let Err(status) = self.renderer.custom_event(seen, event, piece).await {
            piece.put_slice(&self.renderer.error(&status));
            self.failed = true;
        }
        !self.failed
    }
}

/// Events to frames, in the client's format and shape.
struct Renderer {
    registry: Arc<Registry>,
    row: Arc<Row>,
    selection: Arc<Selection>,
    accepted: Accepted,
    include_object: String,
    /// Columns are described once a stream.
    columns_sent: bool,
    /// The stored bytes are those that the row shows.
    is_stored_form: bool,
    api_version: String,
    /// The type of a builtin kind.
    definition: Option<&'static TypeDef>,
}

impl Renderer {
    /// An event of a custom resource, whose objects may have to be converted to be shown
    /// and even to know whether they match.
    async fn custom_event(&mut self, seen: Seen, event: &Event, out: &mut BytesMut) -> Result<(), Status> {
        let (old, new) = event.sides();
        let seen = if self.selection.judges_form() {
            let before = match old {
                Some(old) => self.selection.holds(&self.registry, &self.row, old).await?,
                None => false,
            };
            let now = match new {
                Some(new) => self.selection.holds(&self.registry, &self.row, new).await?,
                None => false,
            };
            match Seen::of(before, now) {
                Some(seen) => seen,
                None => return Ok(()),
            }
        } else {
            seen
        };
        let shown = if seen == Seen::Deleted { old } else { new.or(old) };
        let Some(shown) = shown else { return Ok(()) };
        let bytes = self.registry.served(&self.row, std::slice::from_ref(shown)).await?.pop().unwrap_or_default();
        let plain = self.accepted.shape == Shape::Object && self.accepted.format == Format::Json;
        if plain && seen != Seen::Deleted {
            frame_json(name(seen), &bytes, out);
            return Ok(());
        }
        let mut object: Value = serde_json::from_slice(&bytes).map_err(Status::internal)?;
        if seen == Seen::Deleted {
            object.set_meta("resourceVersion", event.revision().to_string());
        }
        self.shaped(name(seen), object, out);
        Ok(())
    }

    fn event(&mut self, seen: Seen, event: &Event, out: &mut BytesMut) {
        let kind = name(seen);
        if self.is_stored_form && self.accepted.format == Format::Protobuf && self.frame_message(seen, event, out) {
            return;
        }
        let bytes = event.object(seen);
        if self.is_stored_form {
            match self.accepted.shape {
                Shape::Object => return frame_json(kind, &bytes, out),
                Shape::Metadata => return frame_json(kind, &table::partial_bytes(&bytes, &self.accepted), out),
                Shape::Table => {}
            }
        }
        let mut object: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if !self.is_stored_form {
            self.row.strategy.from_stored(&mut object);
            object.set_gvk(&self.row.gvk());
        }
        self.shaped(kind, object, out);
    }

    fn shaped(&mut self, kind: &str, object: Value, out: &mut BytesMut) {
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

    /// A frame of the change in protobuf, which is encoded once for all watchers; false for
    /// an object that has no such form.
    fn frame_message(&self, seen: Seen, event: &Event, out: &mut BytesMut) -> bool {
        let (Some(form), Some(document)) = (event.protobuf(seen), event.document(seen)) else { return false };
        let Some(definition) = self.definition else { return false };
        let Ok(message) = form.get_or_keep(|| crate::door::wire::message(document, definition)) else { return false };
        let frame = match self.accepted.shape {
            Shape::Object => protobuf::watch_frame(name(seen), &self.api_version, &self.row.kind, &message),
            Shape::Metadata => {
                let Some(metadata) = protobuf::metadata_of(&message) else { return false };
                let version = self.accepted.meta_version();
                protobuf::watch_frame(name(seen), version, "PartialObjectMetadata", metadata)
            }
            Shape::Table => return false,
        };
        out.put_slice(&frame);
        true
    }

    fn frame(&self, kind: &str, object: &Value, out: &mut BytesMut) {
        if self.accepted.format == Format::Protobuf
            && let Some(bytes) = crate::door::wire::to_protobuf(object)
            && let Ok(envelope) = protobuf::open(&bytes)
        {
            out.put_slice(&protobuf::watch_frame(kind, &envelope.api_version, &envelope.kind, envelope.raw));
            return;
        }
        frame_json(kind, &crate::registry::encode::encode(object), out);
    }
}

fn name(seen: Seen) -> &'static str {
    match seen {
        Seen::Added => "ADDED",
        Seen::Modified => "MODIFIED",
        Seen::Deleted => "DELETED",
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
