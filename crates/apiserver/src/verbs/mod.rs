//! The verbs, each generic over rows: what a request asks of the registry or the cache,
//! and how the result is shown. `chain.rs` calls [`dispatch`] when a request has passed.

mod create;
mod delete;
mod delete_collection;
mod documents;
mod get;
pub(crate) mod list;
mod list_body;
pub(crate) mod options;
mod patch;
mod readable;
pub(crate) mod selection;
pub(crate) mod unstored;
mod update;
mod watch;

pub(crate) use create::create;
pub(crate) use get::get;
pub(crate) use patch::{PatchKind, patch, patched};
pub(crate) use update::{check_name, update};

use crate::ServerState;
use crate::authn::UserInfo;
use crate::authz::Attributes;
use crate::door::answer;
use crate::door::negotiate::{self, Accepted, Format, Shape, Use};
use crate::door::table;
use crate::door::wire::{self, FieldValidation};
use crate::query::Query;
use crate::registry::{Caller, IfAbsent, RequestNotes, Wants, Warnings, Written};
use crate::request_info::RequestInfo;
use crate::resource_metrics;
use crate::subresources;
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::status::Status;
use ferry_resources::Row;
use http::{HeaderMap, Response, StatusCode};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// One request for a resource, past the chain.
pub(crate) struct Call {
    pub server: Arc<ServerState>,
    pub row: Arc<Row>,
    pub info: Arc<RequestInfo>,
    pub query: Query,
    pub headers: HeaderMap,
    pub user: Arc<UserInfo>,
    pub warnings: Warnings,
    pub notes: RequestNotes,
    pub now: Timestamp,
    /// The caller is in this process and takes the cache's own documents (`documents.rs`).
    pub wants_documents: bool,
}

impl Call {
    pub(crate) fn header(&self, name: http::header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(crate) fn accepted(&self) -> Result<Accepted, Status> {
        let accepted = negotiate::output(&self.headers, &self.query, Use::Object)?;
        self.check_format(&accepted)?;
        Ok(accepted)
    }

    /// Custom resources have no protobuf form, though their metadata and their Scale have.
    pub(crate) fn check_format(&self, accepted: &Accepted) -> Result<(), Status> {
        let whole = accepted.shape == Shape::Object && self.info.subresource != "scale";
        if self.row.custom.is_none() || accepted.format != Format::Protobuf || !whole {
            return Ok(());
        }
        let kind = if self.info.verb == "list" { "UnstructuredList" } else { "Unstructured" };
        let text = format!(
            "object *unstructured.{kind} does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message"
        );
        Err(Status::failure(406, "NotAcceptable", text))
    }

    /// The namespace of the object: for a Namespace itself there is none.
    pub(crate) fn namespace(&self) -> &str {
        if self.row.is_namespaced() { &self.info.namespace } else { "" }
    }

    /// The caller with the options that every write has.
    pub(crate) fn caller(&self, options: &options::WriteOptions, kind: &str) -> Caller {
        Caller {
            user: self.user.clone(),
            now: self.now,
            dry_run: options.dry_run,
            field_manager: options.manager(self.header(http::header::USER_AGENT)),
            warnings: self.warnings.clone(),
            notes: self.notes.clone(),
            options: Arc::new(options.to_value(kind)),
            wants: Wants::Object,
        }
    }

    /// What a write to a name that is not there may do. Whoever creates by PUT or apply
    /// must be allowed to create, not only to update or patch.
    pub(crate) async fn if_absent(&self, creates: bool) -> IfAbsent {
        if !creates && !self.row.writes.creates {
            return IfAbsent::AsKind;
        }
        match self.server.authorizer.check(&self.attributes("create")).await {
            Ok(()) => IfAbsent::Create,
            Err(status) => IfAbsent::Refuse(Box::new(status)),
        }
    }

    /// The question whether the user may do this to what the request is about.
    pub(crate) fn attributes<'a>(&'a self, verb: &'a str) -> Attributes<'a> {
        let info = &self.info;
        Attributes {
            subresource: &info.subresource,
            namespace: &info.namespace,
            name: &info.name,
            path: &info.path,
            ..Attributes::resource(&self.user, verb, &info.api_group, &info.api_version, &info.resource)
        }
    }

    /// Shows what a write left.
    pub(crate) fn show(&self, code: StatusCode, written: &Written, accepted: &Accepted) -> Response<Body> {
        match accepted.shape {
            Shape::Object if *accepted == Accepted::JSON => answer::bytes(code, written.bytes.clone(), accepted),
            Shape::Object => answer::object(code, written.object(), &written.bytes, accepted),
            _ => answer::document(code, &table::shape_one(self, written.object(), accepted), accepted),
        }
    }

    /// Decodes the body of a write as an object of the row's kind; what is dropped on the
    /// way is warned of.
    pub(crate) fn decode(&self, body: &[u8], validation: FieldValidation) -> Result<Value, Status> {
        let format = negotiate::input(&self.headers)?;
        let decoded = wire::decode_object(&self.row, body, format, validation)?;
        decoded.warnings.into_iter().for_each(|text| self.warnings.add(text));
        Ok(decoded.object)
    }
}

/// Sends a request to its verb. The body has been read for verbs that have one.
pub(crate) async fn dispatch(call: Call, body: Bytes) -> Result<Response<Body>, Status> {
    // Each verb but the smallest has a box of its own: a request carries through the chain
    // what it needs, and not room for the largest of them.
    if !call.info.subresource.is_empty() {
        return Box::pin(subresources::dispatch(call, body)).await;
    }
    match call.info.verb.as_str() {
        "get" | "list" if resource_metrics::are_asked(&call.row) => Box::pin(resource_metrics::read(&call)).await,
        "get" | "list" if !call.row.is_stored() => unstored::read(&call),
        _ if !call.row.is_stored() => Box::pin(subresources::create_review(call, body)).await,
        "get" => get(&call).await,
        "list" => Box::pin(list::list(&call)).await,
        "watch" => Box::pin(watch::watch(&call)).await,
        "create" => Box::pin(create(&call, body)).await,
        "update" => Box::pin(update(&call, body, crate::registry::Part::Main)).await,
        "patch" => Box::pin(patch(&call, body, crate::registry::Part::Main)).await,
        "delete" => Box::pin(delete::delete(&call, body)).await,
        "deletecollection" => Box::pin(delete_collection::delete_collection(&call, body)).await,
        _ => Err(method_not_allowed()),
    }
}

/// A path that exists with a method that it does not take.
pub(crate) fn method_not_allowed() -> Status {
    Status::failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
        .with_details(Default::default())
}
