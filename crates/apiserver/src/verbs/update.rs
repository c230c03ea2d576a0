//! PUT: the object as the client wants it, whole.

use super::Call;
use super::options::WriteOptions;
use crate::registry::{Part, Target, Tracking};
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use http::{Response, StatusCode};
use serde_json::Value;

pub(crate) async fn update(call: &Call, body: Bytes, part: Part<'_>) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let options = WriteOptions::parse(&call.query, "UpdateOptions")?;
    let mut object = call.decode(&body, options.field_validation)?;
    check_name(&mut object, call)?;
    call.row.default(&mut object);
    let caller = call.caller(&options, "UpdateOptions");
    let target = Target {
        row: &call.row,
        namespace: call.namespace(),
        name: &call.info.name,
        part,
        absent: call.if_absent(false).await,
    };
    let registry = &call.server.registry;
    let updated = registry.update(&target, Tracking::Update, &caller, &mut |_| Ok(object.clone())).await?;
    let code = if updated.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(call.show(code, &updated.written, &accepted))
}

/// The body must be about the object that the URL names.
pub(crate) fn check_name(object: &mut Value, call: &Call) -> Result<(), Status> {
    let (name, namespace) = (&call.info.name, call.namespace());
    let found = object.name();
    if found.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    if found != name {
        return Err(Status::bad_request(format!(
            "the name of the object ({found}) does not match the name on the URL ({name})"
        )));
    }
    let found = object.namespace();
    if !found.is_empty() && found != namespace {
        return Err(Status::bad_request(format!(
            "the namespace of the object ({found}) does not match the namespace on the request ({namespace})"
        )));
    }
    Ok(())
}
