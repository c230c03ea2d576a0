//! GET of one object: the cached bytes, shared, without a decode.

use super::Call;
use super::options::{parse_version, too_large_version};
use crate::answer;
use crate::compress;
use crate::negotiate::Shape;
use crate::table;
use crate::transport::Body;
use ferry_api::status::Status;
use http::{Response, StatusCode};

pub async fn get(call: &Call) -> Result<Response<Body>, Status> {
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
