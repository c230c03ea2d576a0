//! PATCH: the present object with the client's changes. Four kinds of patch share one
//! loop: apply to what is there now, decode strictly, hand to the registry, again if
//! somebody was faster.

use super::Call;
use super::options::{WriteOptions, invalid_options};
use crate::door::negotiate::Format;
use crate::door::wire::{self, FieldValidation};
use crate::registry::{Part, Target, Tracking};
use crate::transport::Body;
use bytes::Bytes;
use ferry_api::codec;
use ferry_api::field::{Error, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::Meta;
use ferry_api::patch::apply::{ApplyOptions, apply};
use ferry_api::patch::{json, merge, strategic};
use ferry_api::schema::TypeDef;
use ferry_api::status::Status;
use ferry_resources::reset::ResetFields;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response, StatusCode};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    Strategic,
    Apply,
}

const ACCEPTED: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];
const ACCEPTED_CUSTOM: [&str; 3] =
    ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"];

impl PatchKind {
    /// Custom resources have no strategy for lists, so no strategic merge.
    pub(crate) fn of(headers: &HeaderMap, is_custom: bool) -> Result<Self, Status> {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match content_type.split(';').next().unwrap_or_default().trim() {
            "application/json-patch+json" => Ok(Self::Json),
            "application/merge-patch+json" => Ok(Self::Merge),
            "application/strategic-merge-patch+json" if !is_custom => Ok(Self::Strategic),
            "application/apply-patch+yaml" => Ok(Self::Apply),
            _ if is_custom => Err(Status::unsupported_media_type(&ACCEPTED_CUSTOM)),
            _ => Err(Status::unsupported_media_type(&ACCEPTED)),
        }
    }
}

pub(crate) async fn patch(call: &Call, body: Bytes, part: Part<'_>) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    let row = &call.row;
    let kind = PatchKind::of(&call.headers, row.custom.is_some())?;
    let options = WriteOptions::parse(&call.query, "PatchOptions")?;
    let mut errors = Vec::new();
    if kind == PatchKind::Apply && options.field_manager.is_empty() {
        errors.push(Error::required(&Path::new("fieldManager"), "is required for apply patch"));
    }
    if kind != PatchKind::Apply && options.force.is_some() {
        errors.push(Error::forbidden(&Path::new("force"), "may not be specified for non-apply patch"));
    }
    if !errors.is_empty() {
        return Err(invalid_options("PatchOptions", errors));
    }
    let caller = call.caller(&options, "PatchOptions");
    let target = Target {
        row,
        namespace: call.namespace(),
        name: &call.info.name,
        part,
        absent: call.if_absent(kind == PatchKind::Apply).await,
    };
    let gvk = row.gvk();
    let change_to = |changed: Value| -> Result<Value, Status> {
        let mut object = changed;
        row.default(&mut object);
        Ok(object)
    };
    let registry = &call.server.registry;
    let updated = if kind == PatchKind::Apply {
        let config = decode_apply(call, &body, &gvk, options.field_validation)?;
        registry
            .update(&target, Tracking::Applied, &caller, &mut |old| {
                if old.is_none() && !config.uid().is_empty() {
                    let why = format!(
                        "uid mismatch: the provided object specified uid {}, and no existing object was found",
                        config.uid()
                    );
                    return Err(Status::conflict(&row.group_resource(), &call.info.name, &why));
                }
                let write = ferry_api::patch::apply::WriteOptions {
                    manager: &options.field_manager,
                    kind: &gvk,
                    subresource: part.name(),
                    now: call.now,
                    reset_fields: row.reset_fields(part.name()).and_then(ResetFields::set),
                };
                let force = options.force.unwrap_or(false);
                let merged = apply(old, &config, row.schema.as_deref(), &ApplyOptions { write, force })?;
                let mut object = checked(merged, Vec::new(), FieldValidation::Ignore, call)?;
                object.set_meta("name", call.info.name.as_str());
                change_to(object)
            })
            .await?
    } else {
        let (patch, mistakes) = decode_patch(kind, &body)?;
        registry
            .update(&target, Tracking::Update, &caller, &mut |old| {
                let old = old.ok_or_else(|| Status::not_found(&row.group_resource(), &call.info.name))?;
                let mut object = patched(kind, old, &patch, row.schema.as_deref())?;
                object = checked(object, mistakes.clone(), options.field_validation, call)?;
                super::update::check_name(&mut object, call)?;
                change_to(object)
            })
            .await?
    };
    let code = if updated.created { StatusCode::CREATED } else { StatusCode::OK };
    Ok(call.show(code, &updated.written, &accepted))
}

/// The patch, and what strictness has to say about its own text.
fn decode_patch(kind: PatchKind, body: &[u8]) -> Result<(Value, Vec<String>), Status> {
    let patch =
        serde_json::from_slice(body).map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
    let mistakes = match kind {
        PatchKind::Merge => codec::decode_any(body).map(|decoded| decoded.violations).unwrap_or_default(),
        _ => Vec::new(),
    };
    Ok((patch, mistakes))
}

/// An object with a patch carried out on it.
pub(crate) fn patched(kind: PatchKind, old: &Value, patch: &Value, schema: Option<&TypeDef>) -> Result<Value, Status> {
    let mut object = old.clone();
    match (kind, schema) {
        (PatchKind::Json, _) => json::apply(&mut object, patch)?,
        (PatchKind::Strategic, Some(schema)) => strategic::apply(&mut object, patch.clone(), schema)?,
        _ => merge::apply(&mut object, patch.clone())?,
    }
    Ok(object)
}

/// The configuration that is applied: YAML or JSON of the object's own kind.
fn decode_apply(
    call: &Call,
    body: &[u8],
    gvk: &GroupVersionKind,
    validation: FieldValidation,
) -> Result<Value, Status> {
    let json = wire::to_json(body, Format::Yaml, gvk)
        .map_err(|status| Status::bad_request(format!("error decoding YAML: {}", status.message)))?;
    let config: Value =
        serde_json::from_slice(&json).map_err(|error| Status::bad_request(format!("error decoding YAML: {error}")))?;
    if !config.is_object() {
        return Err(Status::bad_request("error decoding YAML: the configuration must be an object"));
    }
    // The schema of a custom resource is held against the configuration as it is merged;
    // only fields that stand twice must be found here, since the merge cannot see them.
    if call.row.custom.is_some() {
        if validation != FieldValidation::Ignore
            && let Some(text) = codec::yaml::duplicate_key(body)
        {
            if validation == FieldValidation::Strict {
                return Err(Status::bad_request(format!("error strict decoding YAML: {text}")));
            }
            call.warnings.add(text);
        }
        return Ok(config);
    }
    // What the kind does not have is found by decoding the configuration once on its own;
    // the configuration itself is applied as it was sent, since defaults are not asked for.
    if let Some(schema) = call.row.schema.as_deref() {
        let decoded = codec::decode(&json, schema, gvk).map_err(|error| error.into_status(gvk, body))?;
        match validation {
            FieldValidation::Strict => {
                if let Some(status) = decoded.strict_error(gvk) {
                    return Err(status);
                }
            }
            FieldValidation::Warn => decoded.violations.into_iter().for_each(|text| call.warnings.add(text)),
            FieldValidation::Ignore => {}
        }
        let mut config = config;
        drop_unknown(&mut config, schema);
        return Ok(config);
    }
    Ok(config)
}

/// Removes top-level and nested fields that the schema does not have.
fn drop_unknown(config: &mut Value, schema: &TypeDef) {
    use ferry_api::schema::Type;
    fn walk(value: &mut Value, ty: &Type) {
        match (ty, value) {
            (Type::Struct(reference), value @ Value::Object(_)) => drop_unknown(value, reference.get()),
            (Type::List(item), Value::Array(items)) => items.iter_mut().for_each(|v| walk(v, item)),
            (Type::Map(item), Value::Object(map)) => map.values_mut().for_each(|v| walk(v, item)),
            _ => {}
        }
    }
    let Value::Object(map) = config else { return };
    map.retain(|key, _| schema.field(key).is_some() || matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
    for (key, value) in map.iter_mut() {
        if let Some(field) = schema.field(key) {
            walk(value, &field.ty);
        }
    }
}

/// What a patch leaves must decode like any other object.
///
/// `mistakes` are those already found in the patch itself.
fn checked(
    object: Value,
    mut mistakes: Vec<String>,
    validation: FieldValidation,
    call: &Call,
) -> Result<Value, Status> {
    let gvk = call.row.gvk();
    let invalid = |why: String| {
        let error = Error::invalid(&Path::new("patch"), object.to_string(), why);
        Status::invalid(&GroupVersionKind::new("", "", ""), "", vec![error])
    };
    let checked = match (&call.row.custom, call.row.schema.as_deref()) {
        (Some(custom), _) => {
            let mut pruned = object.clone();
            let unknown = wire::decode_patched(custom, &mut pruned, &gvk).map_err(|status| invalid(status.message))?;
            mistakes.extend(unknown);
            pruned
        }
        (None, Some(schema)) => {
            let decoded = codec::decode_value(&object, schema, &gvk).map_err(|error| invalid(error.to_string()))?;
            mistakes.extend(decoded.violations);
            decoded.value
        }
        (None, None) => return Ok(object),
    };
    if !mistakes.is_empty() {
        match validation {
            FieldValidation::Strict => {
                return Err(invalid(format!("strict decoding error: {}", mistakes.join(", "))));
            }
            FieldValidation::Warn => mistakes.iter().for_each(|text| call.warnings.add(text.as_str())),
            FieldValidation::Ignore => {}
        }
    }
    Ok(checked)
}
