//! `scale`: the number of replicas of any kind that has one, as autoscaling/v1 Scale.

use crate::door::answer;
use crate::door::negotiate;
use crate::door::wire;
use crate::registry::{Admit, IfAbsent, Part, Target, Tracking, View};
use crate::transport::Body;
use crate::verbs::options::WriteOptions;
use crate::verbs::{Call, PatchKind, patched};
use bytes::Bytes;
use ferry_api::field::{Error, Path};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::schema;
use ferry_api::selector::Selector;
use ferry_api::status::Status;
use ferry_resources::custom_resource::ScalePaths;
use http::{Response, StatusCode};
use serde_json::{Value, json};

fn scale_kind() -> GroupVersionKind {
    GroupVersionKind::new("autoscaling", "v1", "Scale")
}

pub(super) async fn scale(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let accepted = call.accepted()?;
    if call.info.verb == "get" {
        let object = call
            .server
            .registry
            .current(&call.row, call.namespace(), &call.info.name)
            .await?
            .ok_or_else(|| Status::not_found(&call.row.group_resource(), &call.info.name))?;
        return Ok(answer::document(StatusCode::OK, &shown(call, &object)?, &accepted));
    }
    let is_patch = call.info.verb == "patch";
    let kind = if is_patch { "PatchOptions" } else { "UpdateOptions" };
    let options = WriteOptions::parse(&call.query, kind)?;
    let wanted = if is_patch { Wanted::patch(call, &body)? } else { Wanted::whole(call, &body, &options)? };
    let caller = call.caller(&options, kind);
    let target = Target {
        row: &call.row,
        namespace: call.namespace(),
        name: &call.info.name,
        part: Part::Other("scale"),
        absent: IfAbsent::AsKind,
    };
    let registry = &call.server.registry;
    let updated = registry
        .update_as(&target, Admit::View(&AsScale(custom_paths(call))), Tracking::Update, &caller, &mut |old| {
            let old = old.ok_or_else(|| Status::not_found(&call.row.group_resource(), &call.info.name))?;
            match custom_paths(call) {
                Some(paths) => {
                    let scale = wanted.scale(&render_custom_scale(old, paths)?)?;
                    apply_custom_scale(old, &scale, paths)
                }
                None => apply_scale(old, &wanted.scale(&render_scale(old))?, &call.info.name),
            }
        })
        .await?;
    Ok(answer::document(StatusCode::OK, &shown(call, updated.written.object())?, &accepted))
}

/// Where a custom resource keeps its replicas.
fn custom_paths(call: &Call) -> Option<&ScalePaths> {
    call.row.custom.as_ref()?.scale.as_ref()
}

fn shown(call: &Call, object: &Value) -> Result<Value, Status> {
    let Some(paths) = custom_paths(call) else { return Ok(render_scale(object)) };
    let found = paths.spec_replicas.number(object).map_err(|why| Status::failure(500, "", why))?;
    if found.is_none() && call.info.verb == "get" {
        let path = &paths.spec_replicas.text;
        return Err(Status::internal(format!("the spec replicas field {path:?} does not exist")));
    }
    render_custom_scale(object, paths)
}

/// Admission sees the Scale and not what is scaled.
struct AsScale<'a>(Option<&'a ScalePaths>);

impl View for AsScale<'_> {
    fn show(&self, object: &Value) -> Result<Value, Status> {
        match self.0 {
            Some(paths) => render_custom_scale(object, paths),
            None => Ok(render_scale(object)),
        }
    }

    fn carry(&self, shown: &Value, object: &mut Value) -> Result<(), Status> {
        *object = match self.0 {
            Some(paths) => apply_custom_scale(object, shown, paths)?,
            None => apply_scale(object, shown, object.name())?,
        };
        Ok(())
    }
}

/// What the client sent: a whole Scale or changes to the present one.
enum Wanted {
    Whole(Value),
    Patch(PatchKind, Value),
}

impl Wanted {
    fn whole(call: &Call, body: &[u8], options: &WriteOptions) -> Result<Self, Status> {
        let format = negotiate::input(&call.headers)?;
        let kind = scale_kind();
        let schema = schema::of_kind(&kind).map(|definition| &**definition);
        let decoded = wire::decode(body, format, &kind, schema, options.field_validation)?;
        let mut scale = decoded.object;
        crate::verbs::check_name(&mut scale, call)?;
        Ok(Self::Whole(scale))
    }

    fn patch(call: &Call, body: &[u8]) -> Result<Self, Status> {
        let kind = PatchKind::of(&call.headers, call.row.custom.is_some())?;
        let json = if kind == PatchKind::Apply {
            wire::to_json(body, negotiate::Format::Yaml, &scale_kind())?
        } else {
            body.into()
        };
        let patch = serde_json::from_slice(&json)
            .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
        Ok(Self::Patch(kind, patch))
    }

    fn scale(&self, present: &Value) -> Result<Value, Status> {
        match self {
            Self::Whole(scale) => Ok(scale.clone()),
            Self::Patch(kind, patch) => {
                patched(*kind, present, patch, schema::of_kind(&scale_kind()).map(|definition| &**definition))
            }
        }
    }
}

/// The object with the replicas that a Scale asks for.
fn apply_scale(old: &Value, scale: &Value, name: &str) -> Result<Value, Status> {
    let replicas = scale.i64_at(&["spec", "replicas"]).unwrap_or(0);
    if replicas < 0 {
        let path = Path::new("spec").child("replicas");
        let error = Error::invalid(&path, replicas, "must be greater than or equal to 0");
        return Err(Status::invalid(&scale_kind(), name, vec![error]));
    }
    let mut new = old.clone();
    for key in ["resourceVersion", "uid"] {
        let given = scale.meta_str(key);
        if !given.is_empty() {
            new.set_meta(key, given);
        }
    }
    let spec = ensure_object(&mut new).entry("spec").or_insert_with(|| json!({}));
    ensure_object(spec).insert("replicas".into(), replicas.into());
    Ok(new)
}

/// A custom resource with the replicas that a Scale asks for; validation says whether the
/// number is a good one.
fn apply_custom_scale(old: &Value, scale: &Value, paths: &ScalePaths) -> Result<Value, Status> {
    let wanted = scale.i64_at(&["spec", "replicas"]);
    let had = paths.spec_replicas.number(old).map_err(|why| Status::failure(500, "", why))?;
    let Some(replicas) = wanted.or(had.map(|_| 0)) else {
        let path = &paths.spec_replicas.text;
        return Err(Status::bad_request(format!("the spec replicas field {path:?} cannot be empty")));
    };
    let mut new = old.clone();
    let version = scale.resource_version();
    if !version.is_empty() {
        new.set_meta("resourceVersion", version);
    }
    paths.spec_replicas.set(&mut new, replicas);
    Ok(new)
}

fn render_custom_scale(object: &Value, paths: &ScalePaths) -> Result<Value, Status> {
    let wrong = |why: String| Status::failure(500, "", why);
    let mut spec = json!({});
    if let Some(replicas) = paths.spec_replicas.number(object).map_err(wrong)?.filter(|replicas| *replicas != 0) {
        spec["replicas"] = replicas.into();
    }
    let mut status = json!({"replicas": paths.status_replicas.number(object).map_err(wrong)?.unwrap_or(0)});
    if let Some(path) = &paths.label_selector {
        let selector = path.string(object).map_err(wrong)?;
        if !selector.is_empty() {
            status["selector"] = selector.into();
        }
    }
    let metadata = scale_metadata(object);
    Ok(json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}))
}

fn scale_metadata(object: &Value) -> Value {
    let mut metadata = json!({});
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = object.meta(key) {
            metadata[key] = value.clone();
        }
    }
    metadata
}

fn render_scale(object: &Value) -> Value {
    let metadata = scale_metadata(object);
    let selector = object.at(&["spec", "selector"]);
    let selector = match selector {
        // The old kinds select by a plain map of labels.
        Some(Value::Object(map)) if !map.contains_key("matchLabels") && !map.contains_key("matchExpressions") => {
            Some(Selector::from_map(map.iter().filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)))))
        }
        other => Selector::from_object(other).ok(),
    };
    let mut status = json!({"replicas": object.i64_at(&["status", "replicas"]).unwrap_or(0)});
    if let Some(selector) = selector.filter(|selector| !selector.is_empty()) {
        status["selector"] = selector.to_string().into();
    }
    let mut spec = json!({});
    if let Some(replicas) = object.i64_at(&["spec", "replicas"]).filter(|replicas| *replicas != 0) {
        spec["replicas"] = replicas.into();
    }
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_shows_and_changes_the_replicas_alone() {
        let deployment = json!({
            "metadata": {"name": "d", "resourceVersion": "5", "labels": {"x": "y"}},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "d"}}, "paused": true},
            "status": {"replicas": 2},
        });
        let scale = render_scale(&deployment);
        assert_eq!(scale["spec"], json!({"replicas": 3}));
        assert_eq!(scale["status"], json!({"replicas": 2, "selector": "app=d"}));
        let mut wanted = scale.clone();
        wanted["spec"]["replicas"] = 0.into();
        let new = apply_scale(&deployment, &wanted, "d").expect("valid");
        assert_eq!((new["spec"]["replicas"].clone(), new["spec"]["paused"].clone()), (json!(0), json!(true)));
        wanted["spec"]["replicas"] = (-1).into();
        assert_eq!(
            apply_scale(&deployment, &wanted, "d").expect_err("negative").message,
            "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
        );
    }
}
