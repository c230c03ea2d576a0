//! POST: a new object.

use super::Call;
use super::options::WriteOptions;
use crate::door::negotiate::Accepted;
use crate::registry::{Tracking, Wants};
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::status::Status;
use http::{Response, StatusCode};

pub(crate) async fn create(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let mut object = call.decode(&body, options.field_validation)?;
    call.row.default(&mut object);
    let mut caller = call.caller(&options, "CreateOptions");
    if accepted == Accepted::JSON {
        caller.wants = Wants::Bytes;
    }
    let registry = &call.server.registry;
    let written = registry.create(&call.row, call.namespace(), object, Tracking::Update, &caller).await?;
    Ok(call.show(StatusCode::CREATED, &written, &accepted))
}
