//! `namespaces/finalize`: the namespace controller takes its name off spec.finalizers
//! when a namespace is empty; the update that removes the last one removes the namespace.

use crate::door::negotiate;
use crate::door::wire;
use crate::registry::{IfAbsent, Part, Target, Tracking};
use crate::transport::Body;
use crate::verbs::options::WriteOptions;
use crate::verbs::{Call, check_name};
use bytes::Bytes;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use http::{Response, StatusCode};
use serde_json::{Value, json};

pub(super) async fn finalize(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let format = negotiate::input(&call.headers)?;
    let options = WriteOptions::parse(&call.query, "UpdateOptions")?;
    let schema = call.row.schema.as_deref();
    let mut wanted = wire::decode(&body, format, &call.row.gvk(), schema, options.field_validation)?.object;
    check_name(&mut wanted, call)?;
    let caller = call.caller(&options, "UpdateOptions");
    let target = Target {
        row: &call.row,
        namespace: "",
        name: &call.info.name,
        part: Part::Other("finalize"),
        absent: IfAbsent::AsKind,
    };
    let registry = &call.server.registry;
    let updated = registry
        .update(&target, Tracking::Update, &caller, &mut |old| {
            let old = old.ok_or_else(|| Status::not_found(&call.row.group_resource(), &call.info.name))?;
            Ok(with_finalizers(old, &wanted))
        })
        .await?;
    Ok(call.show(StatusCode::OK, &updated.written, &accepted))
}

/// The namespace with the finalizers of another, and the version that this is meant for.
fn with_finalizers(old: &Value, wanted: &Value) -> Value {
    let mut new = old.clone();
    for key in ["resourceVersion", "uid"] {
        let given = wanted.meta_str(key);
        if !given.is_empty() {
            new.set_meta(key, given);
        }
    }
    let spec = ensure_object(ensure_object(&mut new).entry("spec").or_insert_with(|| json!({})));
    match wanted.items_at(&["spec", "finalizers"]) {
        [] => {
            spec.remove("finalizers");
        }
        finalizers => {
            spec.insert("finalizers".into(), finalizers.to_vec().into());
        }
    }
    new
}
