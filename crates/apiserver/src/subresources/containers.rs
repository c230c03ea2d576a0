//! `pods/ephemeralcontainers` and `pods/resize`: the parts of a running pod that may
//! change, each through its own door.

use crate::door::negotiate;
use crate::door::wire;
use crate::registry::{IfAbsent, Part, Target, Tracking};
use crate::transport::Body;
use crate::verbs::options::WriteOptions;
use crate::verbs::{self, Call, PatchKind, check_name, patched};
use bytes::Bytes;
use ferry_api::codec;
use ferry_api::field::{Error, Path};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use http::{Response, StatusCode};
use serde_json::{Value, json};

pub(super) async fn serve(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    if call.info.verb == "get" {
        return verbs::get(call).await;
    }
    let accepted = call.accepted()?;
    let is_patch = call.info.verb == "patch";
    let kind = if is_patch { "PatchOptions" } else { "UpdateOptions" };
    let options = WriteOptions::parse(&call.query, kind)?;
    let schema = call.row.schema.as_deref();
    let gvk = call.row.gvk();
    let (patch_kind, sent) = if is_patch {
        let patch_kind = PatchKind::of(&call.headers, false)?;
        let patch: Value = serde_json::from_slice(&body)
            .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
        (Some(patch_kind), patch)
    } else {
        let format = negotiate::input(&call.headers)?;
        let mut pod = wire::decode(&body, format, &gvk, schema, options.field_validation)?.object;
        check_name(&mut pod, call)?;
        (None, pod)
    };
    let caller = call.caller(&options, kind);
    let subresource = call.info.subresource.as_str();
    let target = Target {
        row: &call.row,
        namespace: call.namespace(),
        name: &call.info.name,
        part: Part::Other(subresource),
        absent: IfAbsent::AsKind,
    };
    let updated = call
        .server
        .registry
        .update(&target, Tracking::Update, &caller, &mut |old| {
            let old = old.ok_or_else(|| Status::not_found(&call.row.group_resource(), &call.info.name))?;
            let mut wanted = match patch_kind {
                Some(patch_kind) => patched(patch_kind, old, &sent, schema)?,
                None => sent.clone(),
            };
            if let Some(schema) = schema {
                wanted =
                    codec::decode_value(&wanted, schema, &gvk).map_err(|error| error.into_status(&gvk, &[]))?.value;
            }
            call.row.default(&mut wanted);
            let new = if subresource == "resize" { resized(old, &wanted) } else { with_ephemeral(old, &wanted)? };
            Ok(new)
        })
        .await?;
    Ok(call.show(StatusCode::OK, &updated.written, &accepted))
}

fn with_version(old: &Value, wanted: &Value) -> Value {
    let mut new = old.clone();
    if !wanted.resource_version().is_empty() {
        new.set_meta("resourceVersion", wanted.resource_version());
    }
    new
}

/// Ephemeral containers can be added, never changed or taken away.
fn with_ephemeral(old: &Value, wanted: &Value) -> Result<Value, Status> {
    const FIELD: &[&str] = &["spec", "ephemeralContainers"];
    let (before, after) = (old.items_at(FIELD), wanted.items_at(FIELD));
    let path = Path::new("spec").child("ephemeralContainers");
    let mut errors = Vec::new();
    for container in before {
        let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
        match after.iter().find(|other| other.get("name") == container.get("name")) {
            None => errors
                .push(Error::forbidden(&path, format!("existing ephemeral containers {name:?} may not be removed\n"))),
            Some(other) if other != container => errors
                .push(Error::forbidden(&path, format!("existing ephemeral containers {name:?} may not be changed\n"))),
            Some(_) => {}
        }
    }
    if !errors.is_empty() {
        return Err(Status::invalid(&old.gvk(), old.name(), errors));
    }
    let mut new = with_version(old, wanted);
    let spec = ensure_object(ensure_object(&mut new).entry("spec").or_insert_with(|| json!({})));
    spec.insert("ephemeralContainers".into(), after.to_vec().into());
    Ok(new)
}

/// Resources of the pod as a whole, resources and resize policies of its containers by name;
/// everything else stays.
fn resized(old: &Value, wanted: &Value) -> Value {
    let mut new = with_version(old, wanted);
    if let Some(own) = wanted.at(&["spec", "resources"]).filter(|own| !own.is_null()) {
        let spec = ensure_object(ensure_object(&mut new).entry("spec").or_insert_with(|| json!({})));
        spec.insert("resources".into(), own.clone());
    }
    for list in ["containers", "initContainers"] {
        let asked = wanted.items_at(&["spec", list]).to_vec();
        let Some(Value::Array(containers)) = new.get_mut("spec").and_then(|spec| spec.get_mut(list)) else { continue };
        for container in containers {
            let Some(other) = asked.iter().find(|other| other.get("name") == container.get("name")) else { continue };
            for key in ["resources", "resizePolicy"] {
                if let Some(value) = other.get(key) {
                    ensure_object(container).insert(key.into(), value.clone());
                }
            }
        }
    }
    new
}
