//! DELETE of one object.

use super::Call;
use super::options::{invalid_options, validate_dry_run};
use crate::authz::Attributes;
use crate::door::answer;
use crate::door::negotiate::{self, Accepted};
use crate::door::wire;
use crate::registry::{Caller, DeleteOptions, Deleted, Wants, deleted_status};
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::field::{Error, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::status::{Details, Status};
use ferry_resources::strategy::Propagation;
use http::{Response, StatusCode};
use serde_json::{Value, json};

/// The option that lets an object go which cannot be read.
const UNSAFE: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

pub(super) async fn delete(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let (options, caller) = delete_options(call, &body)?;
    if options.ignore_store_read_error {
        authorize_unsafe_delete(call).await?;
    }
    let registry = &call.server.registry;
    let deleted = registry.delete(&call.row, call.namespace(), &call.info.name, &options, &caller).await?;
    // Whoever asked to wait for the dependents is told that the wait has begun; other
    // deletions that take time have always answered 200.
    let waits = caller.options.get("orphanDependents").and_then(Value::as_bool) == Some(false)
        || options.propagation == Some(Propagation::Foreground);
    let pending = if waits { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(show_deleted(call, deleted, pending, &accepted))
}

fn show_deleted(call: &Call, deleted: Deleted, pending: StatusCode, accepted: &Accepted) -> Response<Body> {
    match deleted {
        Deleted::GoneUnread => {
            let name = call.info.name.clone();
            let status = Status::success(Details { name, kind: call.row.kind.to_string(), ..Details::default() });
            let value = serde_json::to_value(&status).unwrap_or(Value::Null);
            answer::document(StatusCode::OK, &value, &Accepted { shape: negotiate::Shape::Object, ..*accepted })
        }
        Deleted::Gone(written) if !call.row.returns_deleted_object => {
            let status = deleted_status(&call.row, written.object());
            let value = serde_json::to_value(&status).unwrap_or(Value::Null);
            answer::document(StatusCode::OK, &value, &Accepted { shape: negotiate::Shape::Object, ..*accepted })
        }
        Deleted::Gone(written) => call.show(StatusCode::OK, &written, accepted),
        Deleted::Pending(written) => call.show(pending, &written, accepted),
    }
}

/// Removing what cannot be read is a right of its own, which deleting does not include.
async fn authorize_unsafe_delete(call: &Call) -> Result<(), Status> {
    call.notes.add("apiserver.k8s.io/unsafe-delete-ignore-read-error", "");
    let resource = call.row.group_resource();
    if !call.info.subresource.is_empty() {
        let why = "ignoreStoreReadErrorWithClusterBreakingPotential delete option is not allowed on a subresource or non-resource request";
        return Err(Status::forbidden(&resource, &call.info.name, why));
    }
    let verb = "unsafe-delete-ignore-read-errors";
    let attributes = Attributes { subresource: "", path: "", ..call.attributes(verb) };
    if call.server.authorizer.decide(&attributes).await.is_allowed() {
        return Ok(());
    }
    let why = format!("not permitted to do {verb:?}, reason: ");
    Err(Status::forbidden(&resource, &call.info.name, &why))
}

/// The options stand in the body, or in the query where there is none.
pub(super) fn delete_options(call: &Call, body: &[u8]) -> Result<(DeleteOptions, Caller), Status> {
    let kind = GroupVersionKind::new("meta.k8s.io", "v1", "DeleteOptions");
    let value: Value = if body.is_empty() {
        from_query(call)?
    } else {
        let format = negotiate::input(&call.headers)?;
        wire::decode_options(body, format, &kind)?
    };
    let text = |path: &[&str]| {
        use ferry_api::object::Meta as _;
        Some(value.str_at(path).to_owned()).filter(|text| !text.is_empty())
    };
    let mut errors = Vec::new();
    let policy = value.get("propagationPolicy").and_then(Value::as_str);
    let orphan = value.get("orphanDependents").and_then(Value::as_bool);
    if let (Some(policy), Some(_)) = (policy, orphan) {
        let why = "orphanDependents and deletionPropagation cannot be both set";
        errors.push(Error::invalid(&Path::new("propagationPolicy"), policy, why));
    }
    let propagation = match (policy, orphan) {
        (Some("Foreground"), _) => Some(Propagation::Foreground),
        (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
        (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
        (Some(other), _) => {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            errors.push(Error::not_supported(&Path::new("propagationPolicy"), other, &known));
            None
        }
        (None, None) => {
            call.row.strategy.deletion_warnings().into_iter().for_each(|text| call.warnings.add(text));
            None
        }
    };
    let dry_run: Vec<&str> = match value.get("dryRun") {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let dry_run = validate_dry_run(dry_run.into_iter().chain(call.query.all("dryRun")), &mut errors);
    let unsafe_path = Path::new(UNSAFE);
    let ignore_store_read_error = value.get(UNSAFE).and_then(Value::as_bool) == Some(true);
    if ignore_store_read_error {
        let others = [
            (dry_run, ".dryRun"),
            (policy.is_some(), ".propagationPolicy"),
            (orphan.is_some(), ".orphanDependents"),
            (value.get("gracePeriodSeconds").is_some_and(|v| !v.is_null()), ".gracePeriodSeconds"),
            (value.get("preconditions").is_some_and(|v| !v.is_null()), ".preconditions"),
        ];
        for (_, other) in others.iter().filter(|(set, _)| *set) {
            errors.push(Error::invalid(&unsafe_path, true, format!("cannot be set together with {other}")));
        }
        if call.info.name.is_empty() {
            let why = "is not allowed with DELETECOLLECTION, try again after removing the option";
            errors.push(Error::invalid(&unsafe_path, true, why));
        }
    }
    if !errors.is_empty() {
        return Err(invalid_options("DeleteOptions", errors));
    }
    let options = DeleteOptions {
        grace_period_seconds: value.get("gracePeriodSeconds").and_then(Value::as_i64),
        uid: text(&["preconditions", "uid"]),
        resource_version: text(&["preconditions", "resourceVersion"]),
        propagation,
        ignore_store_read_error,
    };
    let caller = Caller {
        user: call.user.clone(),
        now: call.now,
        dry_run,
        field_manager: String::new(),
        warnings: call.warnings.clone(),
        notes: call.notes.clone(),
        options: value.into(),
        wants: Wants::Object,
    };
    Ok((options, caller))
}

fn from_query(call: &Call) -> Result<Value, Status> {
    let mut value = json!({"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"});
    if let Some(seconds) = call.query.integer("gracePeriodSeconds")? {
        value["gracePeriodSeconds"] = seconds.into();
    }
    if let Some(policy) = call.query.text("propagationPolicy") {
        value["propagationPolicy"] = policy.into();
    }
    if let Some(ignore) = call.query.optional_flag(UNSAFE) {
        value[UNSAFE] = ignore.into();
    }
    if let Some(orphan) = call.query.optional_flag("orphanDependents") {
        value["orphanDependents"] = orphan.into();
    }
    Ok(value)
}
