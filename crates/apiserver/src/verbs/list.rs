//! GET of many objects: which version of which page, in which form. The items are made of
//! the cached bytes one by one (`list_body.rs`), in whichever format.

use super::Call;
use super::documents;
use super::list_body::{Form, Item, ListBody, ProtobufItems};
use super::options::{ListOptions, VersionMatch, too_large_version};
use super::readable::Readable;
use super::selection::{Selection, scope, selection};
use crate::cache::{Filter, ListingPage, Scope, Stored};
use crate::door::answer;
use crate::door::compress;
use crate::door::continue_token::{self, Continue};
use crate::door::negotiate::{Accepted, Format, Shape};
use crate::door::table;
use crate::encryption::Kind;
use crate::registry::{store_failed, unreadable_list};
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::codec::protobuf::{self, ListFrame};
use ferry_api::document::Index;
use ferry_api::gvk::{GroupVersion, GroupVersionKind};
use ferry_api::schema::{self, TypeDef};
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_store::{RangeOptions, Revision};
use http::{Response, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

const EXPIRED: &str = "The resourceVersion for the provided list is too old.";
const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/// Some objects of a collection as of one revision.
pub(crate) struct Page {
    pub objects: Vec<Arc<Stored>>,
    pub revision: Revision,
    pub continue_token: Option<String>,
    pub remaining: Option<i64>,
}

pub(crate) async fn list(call: &Call) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let options = ListOptions::parse(&call.query, false)?;
    let page = read_page(call, &options).await?;
    if documents::are_served(call, &accepted) {
        return Ok(documents::list(call, &page));
    }
    show_page(call, page, &accepted).await
}

/// A page in the form that the client takes.
pub(crate) async fn show_page(call: &Call, page: Page, accepted: &Accepted) -> Result<Response<Body>, Status> {
    let (registry, row) = (&call.server.registry, &call.row);
    if accepted.pretty || accepted.format == Format::Yaml {
        return show_readable(call, &page, accepted).await;
    }
    let is_stored_form = row.custom.is_none() && row.gvk() == row.stored_as;
    let items = if is_stored_form {
        page.objects.iter().cloned().map(Item::Stored).collect()
    } else {
        registry.served(row, &page.objects).await?.into_iter().map(Item::Whole).collect()
    };
    if accepted.format == Format::Protobuf
        && let Some(definition) = protobuf_type(row, accepted)
    {
        return protobuf_list(call, &page, items, accepted, definition).await;
    }
    Ok(json_list(call, &page, items, accepted))
}

/// Streams a page as pretty JSON or YAML.
async fn show_readable(call: &Call, page: &Page, accepted: &Accepted) -> Result<Response<Body>, Status> {
    let list = list_kind(call, accepted);
    let mut document = json!({
        "kind": list.kind, "apiVersion": list.api_version(), "metadata": list_metadata(page),
    });
    if accepted.shape == Shape::Table {
        document["columnDefinitions"] = table::columns(&call.row);
    }
    let items: Vec<Item> = if call.row.custom.is_none() {
        page.objects.iter().cloned().map(Item::Stored).collect()
    } else {
        call.server.registry.served(&call.row, &page.objects).await?.into_iter().map(Item::Whole).collect()
    };
    let readable = Readable::new(call.row.clone(), *accepted, table::include_object(call).to_owned());
    let (head, tail) = readable.frame(document, items.is_empty())?;
    let length = items.iter().map(Item::len).sum();
    let body = ListBody::new(head.into(), items, Form::Readable(readable), tail.into(), None);
    let response = answer::stream(StatusCode::OK, accepted.format.media_type(), crate::transport::empty());
    Ok(compress::stream_response(response, body, length, &call.headers))
}

/// The type of the items in protobuf; a kind or shape that has none is answered in JSON,
/// which every client reads.
fn protobuf_type(row: &Row, accepted: &Accepted) -> Option<&'static TypeDef> {
    match accepted.shape {
        Shape::Object if row.custom.is_some() => None,
        Shape::Object => schema::of_kind(&row.gvk()).map(|definition| &**definition),
        Shape::Metadata => schema::builtin().get("meta/v1", "PartialObjectMetadata").map(|definition| &**definition),
        Shape::Table => None,
    }
}

/// The kind of the list itself.
fn list_kind(call: &Call, accepted: &Accepted) -> GroupVersionKind {
    match accepted.shape {
        Shape::Object => call.row.group_version().with_kind(call.row.list_kind.clone()),
        Shape::Metadata => GroupVersion::parse(accepted.meta_version()).with_kind("PartialObjectMetadataList"),
        Shape::Table => GroupVersion::parse(accepted.meta_version()).with_kind("Table"),
    }
}

/// Streams a page as JSON.
fn json_list(call: &Call, page: &Page, items: Vec<Item>, accepted: &Accepted) -> Response<Body> {
    let list = list_kind(call, accepted);
    let (columns, items_key) = match accepted.shape {
        Shape::Table => (format!("\"columnDefinitions\":{},", table::columns(&call.row)), "rows"),
        _ => (String::new(), "items"),
    };
    let head = format!(
        "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{},{columns}\"{items_key}\":[",
        list.kind,
        list.api_version(),
        list_metadata(page),
    );
    let form = match accepted.shape {
        Shape::Object => Form::Json,
        Shape::Metadata => Form::Metadata { accepted: *accepted, index: Index::default() },
        Shape::Table => Form::TableRow {
            row: call.row.clone(),
            accepted: *accepted,
            include: table::include_object(call).to_owned(),
            now: Timestamp::now(),
            index: Index::default(),
        },
    };
    const TAIL: &[u8] = b"]}\n";
    let of_items = items.iter().map(Item::json_length).sum::<usize>() + items.len().saturating_sub(1);
    let length = head.len() + of_items + TAIL.len();
    let exact = (accepted.shape == Shape::Object).then_some(length);
    let body = ListBody::new(head.into(), items, form, Bytes::from_static(TAIL), exact);
    let response = answer::stream(StatusCode::OK, Format::Json.media_type(), crate::transport::empty());
    compress::stream_response(response, body, length, &call.headers)
}

/// The items of a protobuf list of up to this many bytes as JSON are kept from the pass that
/// finds their lengths to the one that sends them: some 7,000 pods, which are then encoded
/// once. A larger list would fill memory, and leave no room for what others ask for.
const KEPT_ITEMS: usize = 24 << 20;

/// After so many items a long list lets other requests have the thread.
const ITEMS_BEFORE_YIELD: usize = 256;

/// Streams a page as protobuf. Its envelope begins with the length of everything, so the
/// items are encoded once for that; a list too large to be kept is encoded again when it is
/// sent, which costs less than holding it.
async fn protobuf_list(
    call: &Call,
    page: &Page,
    mut items: Vec<Item>,
    accepted: &Accepted,
    definition: &'static TypeDef,
) -> Result<Response<Body>, Status> {
    let mut encoder = ProtobufItems::new(definition, accepted.shape == Shape::Object);
    let are_kept = items.iter().map(Item::len).sum::<usize>() <= KEPT_ITEMS;
    let mut messages = Vec::with_capacity(if are_kept { items.len() } else { 0 });
    let mut length = 0;
    for (count, item) in items.iter().enumerate() {
        let encoded = if are_kept {
            encoder.keep(item).and_then(|message| {
                let message = Item::Message(message);
                let length = encoder.length(&message);
                messages.push(message);
                length
            })
        } else {
            encoder.length(item)
        };
        match encoded {
            Ok(encoded) => length += encoded,
            Err(_) => return Ok(json_list(call, page, items, accepted)),
        }
        if count % ITEMS_BEFORE_YIELD == ITEMS_BEFORE_YIELD - 1 {
            tokio::task::yield_now().await;
        }
    }
    if are_kept {
        items = messages;
    }
    let frame = protobuf::list_frame(&list_kind(call, accepted), &list_metadata(page), length);
    let ListFrame { head, tail } = frame.map_err(Status::internal)?;
    let total = head.len() + length + tail.len();
    let body = ListBody::new(head.into(), items, Form::Protobuf(encoder), Bytes::from_static(tail), Some(total));
    let response = answer::stream(StatusCode::OK, Format::Protobuf.media_type(), crate::transport::empty());
    Ok(compress::stream_response(response, body, total, &call.headers))
}

/// The metadata of a list: its revision, and how to go on.
pub(crate) fn list_metadata(page: &Page) -> Value {
    let mut metadata = json!({"resourceVersion": page.revision.to_string()});
    if let Some(token) = &page.continue_token {
        metadata["continue"] = token.as_str().into();
    }
    if let Some(remaining) = page.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    metadata
}

/// Reads the page that the options ask for, from memory wherever memory has that version.
pub(crate) async fn read_page(call: &Call, options: &ListOptions) -> Result<Page, Status> {
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

    // Where nothing is selected, a page costs as much as it has, and not as much as there is.
    let is_plain = options.limit > 0 && selection.is_everything() && scope.is_collection();
    if !options.continue_token.is_empty() {
        let Continue { revision, after } = continue_token::decode(&options.continue_token, scope.prefix())?;
        if let Ok(revision) = Revision::try_from(revision) {
            if is_plain
                && let Some(page) = stock.page_unchanged_since(scope.prefix(), &after, revision, options.limit)
                && is_kept(call, revision).await?
            {
                return answer_page(call, page, options.limit, &selection, &scope);
            }
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
    if is_plain && limit > 0 {
        return answer_page(call, stock.page(scope.prefix(), limit), limit, &selection, &scope);
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
    let page = ListingPage { objects, rest: matching.count(), revision };
    answer_page(call, page, fetched, selection, scope)
}

/// The page with the way to go on from it; `fetched` objects were looked at for it.
fn answer_page(
    call: &Call,
    page: ListingPage,
    fetched: usize,
    selection: &Selection,
    scope: &Scope,
) -> Result<Page, Status> {
    let ListingPage { objects, rest, revision } = page;
    if let Some(stock) = call.server.registry.cache.stock(&call.row) {
        let counts = stock.counts();
        counts.lists.count();
        counts.fetched.add(fetched as u64);
        counts.returned.add(objects.len() as u64);
    }
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
            count_remaining: true,
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
