//! POST: a new object.

use super::Call;
use super::options::WriteOptions;
use crate::negotiate;
use crate::registry::Tracking;
use crate::transport::Body;
use crate::wire;
use bytes::Bytes;
use ferry_api::status::Status;
use http::{Response, StatusCode};

pub async fn create(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let format = negotiate::input(&call.headers)?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let schema = call.row.schema.as_deref();
    let decoded = wire::decode(&body, format, &call.row.gvk(), schema, options.field_validation)?;
    decoded.warnings.into_iter().for_each(|text| call.warnings.add(text));
    let mut object = decoded.object;
    call.row.strategy.default(&mut object);
    let caller = call.caller(&options, "CreateOptions");
    let registry = &call.server.registry;
    let written = registry.create(&call.row, call.namespace(), object, Tracking::Update, &caller).await?;
    Ok(call.show(StatusCode::CREATED, &written, &accepted))
}
