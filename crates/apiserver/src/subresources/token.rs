//! `serviceaccounts/token`: a bound token for a service account, issued by authentication.

use crate::admission::Operation;
use crate::door::answer;
use crate::door::negotiate;
use crate::door::wire;
use crate::registry::{IfAbsent, Part, Target};
use crate::transport::Body;
use crate::verbs::Call;
use crate::verbs::options::WriteOptions;
use bytes::Bytes;
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use ferry_api::schema;
use ferry_api::status::Status;
use http::{Response, StatusCode};

pub(super) async fn issue(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let format = negotiate::input(&call.headers)?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let kind = GroupVersionKind::new("authentication.k8s.io", "v1", "TokenRequest");
    let definition = schema::of_kind(&kind).map(|definition| &**definition);
    let mut request = wire::decode(&body, format, &kind, definition, options.field_validation)?.object;
    if !request.namespace().is_empty() && request.namespace() != call.namespace() {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    let caller = call.caller(&options, "CreateOptions");
    let target = Target {
        row: &call.row,
        namespace: call.namespace(),
        name: &call.info.name,
        part: Part::Other("token"),
        absent: IfAbsent::AsKind,
    };
    call.server.registry.admit(Operation::Create, &target, &mut request, &caller).await?;
    let mut issued = call.server.authenticator.issue_token(call.namespace(), &call.info.name, request, call.now)?;
    issued.set_gvk(&kind);
    issued.set_meta("name", call.info.name.as_str());
    issued.set_meta("namespace", call.namespace());
    Ok(answer::document(StatusCode::CREATED, &issued, &accepted))
}
