//! LIST and WATCH for components of this process: the answer is the cache's own documents,
//! carried in the response's extensions, so that an object version is parsed once however
//! many components read it. The request has passed the same chain as any other.

use super::Call;
use super::list::Page;
use super::watch::next_bookmark;
use crate::cache::{Cache, Event, Seen, Stock, Watcher};
use crate::door::answer;
use crate::door::negotiate::{Accepted, Format, Shape};
use crate::metrics::storage::WatchTally;
use crate::transport::{self, Body};
use ferry_api::document::{Document, DocumentEvent, DocumentList, DocumentWatch, EventType};
use futures_util::{FutureExt, stream};
use http::{Response, StatusCode};
use std::sync::Arc;
use tokio::time::Instant;

/// How many events one batch has at most.
const BATCH: usize = 256;

/// Whether a request is answered in documents: the stored form must be the one that was
/// asked for. Metadata is the same in every version of a kind, and a view of the metadata
/// reads it from the whole object.
pub(super) fn are_served(call: &Call, accepted: &Accepted) -> bool {
    let is_stored_form = match accepted.shape {
        Shape::Object => call.row.custom.is_none() && call.row.gvk() == call.row.stored_as,
        Shape::Metadata => true,
        Shape::Table => false,
    };
    call.wants_documents && accepted.format == Format::Json && is_stored_form
}

pub(super) fn list(call: &Call, page: &Page) -> Response<Body> {
    if let Some(stock) = call.server.registry.cache.stock(&call.row) {
        stock.follow();
    }
    let mut response = empty_response();
    response.extensions_mut().insert(DocumentList {
        items: Arc::new(page.objects.iter().map(|stored| stored.document().clone()).collect()),
        resource_version: page.revision.to_string(),
        continue_token: page.continue_token.clone().unwrap_or_default(),
    });
    response
}

pub(super) fn watch(call: &Call, watcher: Watcher, stock: Arc<Stock>, deadline: Instant) -> Response<Body> {
    stock.follow();
    let state = State {
        watcher,
        cache: call.server.registry.cache.clone(),
        deadline,
        bookmark_at: next_bookmark(Instant::now(), deadline),
        stopped: call.server.stop.subscribe(),
        tally: call.server.metrics.watches.begin(&call.row),
        _stock: stock,
    };
    let batches = stream::unfold(state, |mut state| async move {
        let batch = state.next_batch().await?;
        state.tally.flush();
        Some((Ok(batch), state))
    });
    let mut response = empty_response();
    response.extensions_mut().insert(DocumentWatch::new(Box::pin(batches)));
    response
}

fn empty_response() -> Response<Body> {
    answer::stream(StatusCode::OK, Format::Json.media_type(), transport::empty())
}

struct State {
    watcher: Watcher,
    cache: Arc<Cache>,
    deadline: Instant,
    bookmark_at: Instant,
    /// The server is going; the client is to look for another.
    stopped: tokio::sync::watch::Receiver<bool>,
    tally: WatchTally,
    /// The stock lives as long as somebody watches it.
    _stock: Arc<Stock>,
}

impl State {
    /// The events that are ready, after a wait for the first; `None` at the end.
    async fn next_batch(&mut self) -> Option<Vec<DocumentEvent>> {
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some((seen, event)) = self.watcher.next_initial()
        {
            self.add(seen, &event, &mut batch);
        }
        while batch.is_empty() {
            tokio::select! {
                biased;
                event = self.watcher.next() => {
                    let (seen, event) = event?;
                    self.add(seen, &event, &mut batch);
                    self.drain(&mut batch);
                }
                () = tokio::time::sleep_until(self.deadline) => return None,
                _ = self.stopped.changed() => return None,
                () = tokio::time::sleep_until(self.bookmark_at) => {
                    self.bookmark_at = next_bookmark(Instant::now(), self.deadline);
                    // All changes up to this revision are in the queue or sent, so after
                    // draining the queue the client has seen them all.
                    let revision = self.cache.revision();
                    if self.drain(&mut batch) {
                        batch.push(bookmark(revision));
                    }
                }
            }
        }
        Some(batch)
    }

    /// Adds what is ready, without waiting for more. False if there may be more.
    fn drain(&mut self, batch: &mut Vec<DocumentEvent>) -> bool {
        while batch.len() < BATCH {
            match self.watcher.next().now_or_never() {
                Some(Some((seen, event))) => self.add(seen, &event, batch),
                _ => return true,
            }
        }
        false
    }

    fn add(&mut self, seen: Seen, event: &Event, batch: &mut Vec<DocumentEvent>) {
        let Some(document) = event.document(seen) else { return };
        self.tally.sent(document.text().len());
        let kind = match seen {
            Seen::Added => EventType::Added,
            Seen::Modified => EventType::Modified,
            Seen::Deleted => EventType::Deleted,
        };
        batch.push(DocumentEvent { kind, document: document.clone() });
    }
}

fn bookmark(revision: u64) -> DocumentEvent {
    let text = format!("{{\"metadata\":{{\"resourceVersion\":\"{revision}\"}}}}");
    DocumentEvent { kind: EventType::Bookmark, document: Arc::new(Document::new(text.into())) }
}
