//! GET of one object: the cached bytes, shared, without a decode. Its protobuf form is made
//! once for each version (`wire_form.rs` of the cache).

use super::Call;
use super::options::{parse_version, too_large_version};
use crate::cache::Stored;
use crate::door::answer;
use crate::door::compress;
use crate::door::negotiate::{Accepted, Format, Shape};
use crate::door::table;
use crate::door::wire;
use crate::transport::Body;
use ferry_api::codec::protobuf;
use ferry_api::schema;
use ferry_api::status::Status;
use http::{Response, StatusCode};

pub(crate) async fn get(call: &Call) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let cache = &call.server.registry.cache;
    match parse_version(call.query.text("resourceVersion").unwrap_or_default())? {
        None => cache.wait_consistent().await,
        Some(0) => {}
        Some(revision) => cache
            .wait_not_older_than(revision)
            .await
            .map_err(|ahead| too_large_version(ahead.requested, ahead.current))?,
    }
    let registry = &call.server.registry;
    let Some(stored) = registry.stored(&call.row, call.namespace(), &call.info.name) else {
        registry.check_readable(&call.row, call.namespace(), &call.info.name)?;
        return Err(Status::not_found(&call.row.group_resource(), &call.info.name));
    };
    if accepted.format == Format::Protobuf
        && let Some(bytes) = sealed(call, &stored, &accepted)
    {
        let response = answer::raw(StatusCode::OK, Format::Protobuf.media_type(), bytes);
        return Ok(compress::response(response, &call.headers));
    }
    let mut served = registry.served(&call.row, std::slice::from_ref(&stored)).await?;
    let bytes = served.pop().unwrap_or_default();
    let response = match accepted.shape {
        Shape::Object => answer::bytes(StatusCode::OK, bytes, &accepted),
        _ => {
            let object = serde_json::from_slice(&bytes).map_err(Status::internal)?;
            answer::document(StatusCode::OK, &table::shape_one(call, &object, &accepted), &accepted)
        }
    };
    Ok(compress::response(response, &call.headers))
}

/// The object in protobuf. `None` for one that has no such form or whose stored form is
/// another than the one that is asked for.
fn sealed(call: &Call, stored: &Stored, accepted: &Accepted) -> Option<Vec<u8>> {
    let kind = call.row.gvk();
    if call.row.custom.is_some() || kind != call.row.stored_as || accepted.shape == Shape::Table {
        return None;
    }
    let definition = schema::of_kind(&kind)?;
    let message = stored.protobuf().get_or_keep(|| wire::message(stored.document(), definition)).ok()?;
    match accepted.shape {
        Shape::Metadata => {
            let metadata = protobuf::metadata_of(&message)?;
            Some(protobuf::seal(accepted.meta_version(), "PartialObjectMetadata", metadata))
        }
        _ => Some(protobuf::seal(&kind.api_version(), &kind.kind, &message)),
    }
}
