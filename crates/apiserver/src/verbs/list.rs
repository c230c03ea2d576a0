//! GET of many objects: which version of which page, then cached bytes spliced into a
//! streamed body. No object is decoded or copied whole unless the client wants another
//! shape than JSON objects.

use super::Call;
use super::options::{ListOptions, VersionMatch, too_large_version};
use super::selection::{Selection, scope, selection};
use crate::answer;
use crate::cache::{Filter, Scope, Stored};
use crate::compress;
use crate::continue_token::{self, Continue};
use crate::encryption::Kind;
use crate::negotiate::{Accepted, Format, Shape};
use crate::registry::{store_failed, unreadable_list};
use crate::table;
use crate::transport::Body;
use bytes::{BufMut, Bytes, BytesMut};
use ferry_api::status::Status;
use ferry_store::{RangeOptions, Revision};
use http::{Response, StatusCode};
use serde_json::{Value, json};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How large the pieces of a streamed list are.
const PIECE: usize = 64 * 1024;

const EXPIRED: &str = "The resourceVersion for the provided list is too old.";
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/// Some objects of a collection as of one revision.
pub struct Page {
    pub objects: Vec<Arc<Stored>>,
    pub revision: Revision,
    pub continue_token: Option<String>,
    pub remaining: Option<i64>,
}

pub async fn list(call: &Call) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let options = ListOptions::parse(&call.query, false)?;
    let page = read_page(call, &options).await?;
    show_page(call, page, &accepted).await
}

/// A page in the form that the client takes.
pub async fn show_page(call: &Call, page: Page, accepted: &Accepted) -> Result<Response<Body>, Status> {
    let (registry, row) = (&call.server.registry, &call.row);
    let converts = row.custom.is_none() && row.gvk() != row.stored_as;
    if accepted.shape == Shape::Object && accepted.format == Format::Json && !accepted.pretty && !converts {
        let items = match row.custom {
            // Items of custom resources tell their kind, unlike those of builtin kinds.
            Some(_) => registry.served(row, &page.objects).await?.into_iter().map(Item::Whole).collect(),
            None => page.objects.iter().cloned().map(Item::Stored).collect(),
        };
        return Ok(list_body(call, &page, items));
    }
    let objects = registry.served_values(row, &page.objects).await?;
    let document = if accepted.shape == Shape::Object {
        json!({
            "kind": row.list_kind, "apiVersion": row.group_version().to_string(),
            "metadata": list_metadata(&page), "items": objects,
        })
    } else {
        table::shape_list(call, &page, &objects, accepted)
    };
    Ok(compress::response(answer::document(StatusCode::OK, &document, accepted), &call.headers))
}

/// The metadata of a list: its revision, and how to go on.
pub fn list_metadata(page: &Page) -> Value {
    let mut metadata = json!({"resourceVersion": page.revision.to_string()});
    if let Some(token) = &page.continue_token {
        metadata["continue"] = token.as_str().into();
    }
    if let Some(remaining) = page.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    metadata
}

/// An object on its way into a list.
enum Item {
    /// Without kind and apiVersion, which the list tells for all.
    Stored(Arc<Stored>),
    Whole(Bytes),
}

impl Item {
    /// What follows the opening brace.
    fn rest(&self) -> &[u8] {
        match self {
            Self::Stored(stored) => stored.item(),
            Self::Whole(bytes) => bytes.get(1..).unwrap_or_default(),
        }
    }
}

/// Streams a page as a list of JSON objects.
fn list_body(call: &Call, page: &Page, items: Vec<Item>) -> Response<Body> {
    let head = format!(
        "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},\"items\":[",
        call.row.list_kind,
        call.row.group_version(),
        list_metadata(page)
    );
    let length =
        head.len() + items.iter().map(|item| item.rest().len() + 1).sum::<usize>() + items.len().saturating_sub(1) + 3;
    let body = ListBody { head: Some(head), items: items.into_iter(), first: true, done: false, left: length };
    compress::stream_response(
        answer::stream(StatusCode::OK, Format::Json.media_type(), crate::transport::empty()),
        body,
        length,
        &call.headers,
    )
}

/// The body of a list: pieces are made as the connection takes them, so a list of any
/// size costs one piece of memory.
pub struct ListBody {
    head: Option<String>,
    items: std::vec::IntoIter<Item>,
    first: bool,
    done: bool,
    left: usize,
}

impl ListBody {
    fn next_piece(&mut self) -> Option<Bytes> {
        if self.done {
            return None;
        }
        let mut piece = BytesMut::with_capacity(PIECE.min(self.left));
        if let Some(head) = self.head.take() {
            piece.put_slice(head.as_bytes());
        }
        while piece.len() < PIECE {
            let Some(item) = self.items.next() else {
                piece.put_slice(b"]}\n");
                self.done = true;
                break;
            };
            if !std::mem::take(&mut self.first) {
                piece.put_u8(b',');
            }
            piece.put_u8(b'{');
            piece.put_slice(item.rest());
        }
        self.left = self.left.saturating_sub(piece.len());
        Some(piece.freeze())
    }
}

impl http_body::Body for ListBody {
    type Data = Bytes;
    type Error = crate::transport::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.next_piece().map(|piece| Ok(http_body::Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.done
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.left as u64)
    }
}

/// Reads the page that the options ask for, from memory wherever memory has that version.
pub async fn read_page(call: &Call, options: &ListOptions) -> Result<Page, Status> {
    let registry = &call.server.registry;
    let selection = selection(call, &options.label_selector, &options.field_selector)?;
    let scope = scope(call);
    let stock = registry.cache.stock(&call.row).ok_or_else(Status::no_such_path)?;

    // A list that leaves something out must say so. One of any version (resourceVersion 0),
    // which is how informers begin, warns and goes on: a value that nobody can read is no
    // reason to keep every controller from the others.
    let unreadable = stock.all_unreadable(scope.prefix());
    if !unreadable.is_empty() {
        registry.encryption.ask_for_another_try();
        let status = unreadable_list(&call.row, &unreadable);
        if options.resource_version != Some(0) || !options.continue_token.is_empty() {
            return Err(status);
        }
        call.warnings.add(status.message);
    }

    if !options.continue_token.is_empty() {
        let Continue { revision, after } = continue_token::decode(&options.continue_token, scope.prefix())?;
        if let Ok(revision) = Revision::try_from(revision) {
            if let Some(listing) = stock.list_unchanged_since(scope.prefix(), &after, revision)
                && is_kept(call, revision).await?
            {
                return cut(call, listing.objects, revision, options.limit, &selection, &scope).await;
            }
            return read_history(call, options, &selection, &scope, revision, Some(after)).await;
        }
        // The consistent list is lost; the client has chosen to go on with what is there now.
        registry.cache.wait_consistent().await;
        let listing = stock.list(scope.prefix());
        let rest = listing.objects.into_iter().filter(|object| **object.key() > *after.as_str()).collect();
        return cut(call, rest, listing.revision, options.limit, &selection, &scope).await;
    }

    let mut limit = options.limit;
    match options.resource_version {
        None => registry.cache.wait_consistent().await,
        // Any version will do, and the whole of it is in memory.
        Some(0) => limit = 0,
        Some(revision) => {
            registry
                .cache
                .wait_not_older_than(revision)
                .await
                .map_err(|ahead| too_large_version(ahead.requested, ahead.current))?;
            // A limit without a match means the exact version, as it did before
            // resourceVersionMatch existed.
            let exact =
                options.version_match == Some(VersionMatch::Exact) || (options.version_match.is_none() && limit > 0);
            if exact {
                if let Some(listing) = stock.list_unchanged_since(scope.prefix(), scope.prefix(), revision)
                    && is_kept(call, revision).await?
                {
                    let with_first = stock.get(scope.prefix()).into_iter().chain(listing.objects).collect();
                    return cut(call, with_first, revision, limit, &selection, &scope).await;
                }
                return read_history(call, options, &selection, &scope, revision, None).await;
            }
        }
    }
    let listing = stock.list(scope.prefix());
    cut(call, listing.objects, listing.revision, limit, &selection, &scope).await
}

/// Whether the store still has the states of a revision. Memory could show an unchanged
/// collection for ever, but clients count on old tokens expiring wherever they are shown.
async fn is_kept(call: &Call, revision: Revision) -> Result<bool, Status> {
    match call.server.registry.store.get("", Some(revision)).await {
        Ok(_) => Ok(true),
        Err(ferry_store::Error::Compacted { .. }) => Ok(false),
        Err(error) => Err(store_failed(error)),
    }
}

/// Takes the first `limit` matching objects of all that there are.
async fn cut(
    call: &Call,
    mut objects: Vec<Arc<Stored>>,
    revision: Revision,
    limit: usize,
    selection: &Selection,
    scope: &Scope,
) -> Result<Page, Status> {
    let fetched = objects.len();
    objects.retain(|object| scope.contains(object.key()) && selection.matches(object));
    let mut matching = selection.among(call, objects).await?.into_iter();
    let taken = if limit == 0 { usize::MAX } else { limit };
    let objects: Vec<Arc<Stored>> = matching.by_ref().take(taken).collect();
    if let Some(stock) = call.server.registry.cache.stock(&call.row) {
        let counts = stock.counts();
        counts.lists.count();
        counts.fetched.add(fetched as u64);
        counts.returned.add(objects.len() as u64);
    }
    let rest = matching.count();
    let continue_token = match objects.last() {
        Some(last) if rest > 0 => Some(token(last.key(), scope, revision)?),
        _ => None,
    };
    // A count of objects that were not compared with the selector would mislead.
    let remaining = (rest > 0 && selection.is_everything()).then_some(rest as i64);
    Ok(Page { objects, revision, continue_token, remaining })
}

/// Reads a page as of an older revision from the store.
async fn read_history(
    call: &Call,
    options: &ListOptions,
    selection: &Selection,
    scope: &Scope,
    revision: Revision,
    after: Option<String>,
) -> Result<Page, Status> {
    let registry = &call.server.registry;
    let stock = registry.cache.stock(&call.row).ok_or_else(Status::no_such_path)?;
    // What only the row's own form can tell is judged over all objects at once.
    let limit = if selection.judges_form() { 0 } else { options.limit };
    let mut objects = Vec::new();
    let mut start_after = after.clone();
    loop {
        let range = RangeOptions {
            limit: if limit == 0 { 0 } else { limit.max(100) },
            start_after: start_after.clone(),
            revision: Some(revision),
        };
        let range = match registry.store.range(scope.prefix(), range).await {
            Ok(range) => range,
            Err(ferry_store::Error::Compacted { .. }) => return Err(compacted(after.as_deref(), scope)),
            Err(ferry_store::Error::FutureRevision { requested, current }) => {
                return Err(too_large_version(requested, current));
            }
            Err(error) => return Err(store_failed(error)),
        };
        let total_left = range.remaining;
        let count = range.entries.len();
        let kind = Kind::of(&call.row);
        registry.encryption.prepare(kind, range.entries.iter().map(|entry| &*entry.value)).await;
        for (index, entry) in range.entries.iter().enumerate() {
            // Every present version can be read, so this is one whose key has been dropped
            // since: as good as compacted.
            let raw = match registry.encryption.open(kind, &entry.key, &entry.value) {
                Ok(raw) => raw,
                Err(_) => return Err(compacted(after.as_deref(), scope)),
            };
            let Some(stored) = stock.admit(entry.key.clone(), entry.revision, &raw) else { continue };
            if !scope.contains(&entry.key) || !selection.matches(&stored) {
                continue;
            }
            objects.push(Arc::new(stored));
            let rest = total_left + (count - index - 1) as u64;
            if limit > 0 && objects.len() == limit && rest > 0 {
                return Ok(Page {
                    objects,
                    revision,
                    continue_token: Some(token(&entry.key, scope, revision)?),
                    remaining: selection.is_everything().then_some(i64::try_from(rest).unwrap_or(i64::MAX)),
                });
            }
        }
        start_after = range.last_key().map(ToString::to_string);
        if !range.more {
            return if selection.judges_form() {
                cut(call, objects, revision, options.limit, selection, scope).await
            } else {
                Ok(Page { objects, revision, continue_token: None, remaining: None })
            };
        }
    }
}

fn compacted(after: Option<&str>, scope: &Scope) -> Status {
    let Some(after) = after else { return Status::expired(EXPIRED) };
    let mut status = Status::expired(CONTINUE_EXPIRED);
    if let Ok(token) = continue_token::encode(after, scope.prefix(), -1) {
        status.metadata.insert("continue".into(), token.into());
    }
    status
}

fn token(last: &str, scope: &Scope, revision: Revision) -> Result<String, Status> {
    continue_token::encode(last, scope.prefix(), i64::try_from(revision).unwrap_or(i64::MAX))
}
