//! DELETE of many objects: those that a list with the same options would show. Each is
//! deleted on its own; what is gone already is no mistake.

use super::Call;
use super::delete::delete_options;
use super::list::{read_page, show_page};
use super::options::ListOptions;
use crate::door::negotiate::{Accepted, Shape};
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::status::Status;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use http::Response;

/// How many deletions are under way at a time: enough to share commits.
const AT_ONCE: usize = 64;

pub(super) async fn delete_collection(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let (options, caller) = delete_options(call, &body)?;
    let page = read_page(call, &ListOptions::parse(&call.query, false)?).await?;
    let registry = &call.server.registry;
    let deletions: Vec<_> = page
        .objects
        .iter()
        .map(|object| registry.clone().delete_stored(call.row.clone(), object.clone(), options.clone(), caller.clone()))
        .collect();
    // What was deleted is told as it was; making that could fail, so it comes first.
    let answer = show_page(call, page, &Accepted { shape: Shape::Object, ..accepted }).await?;
    stream::iter(deletions).buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(answer)
}
