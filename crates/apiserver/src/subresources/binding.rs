//! `pods/binding` and POST of `bindings`: the scheduler's word, which node a pod runs on.
//! After it the pod never moves (registry/core/pod/storage BindingREST upstream).

use crate::admission::Operation;
use crate::door::answer;
use crate::door::negotiate::{self, Accepted};
use crate::door::wire;
use crate::registry::{Admit, IfAbsent, Part, Target, Tracking};
use crate::transport::Body;
use crate::verbs::Call;
use crate::verbs::options::WriteOptions;
use bytes::Bytes;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::gvk::{GroupResource, GroupVersionKind};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::condition;
use ferry_api::schema;
use ferry_api::status::Status;
use http::{Response, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

pub(super) async fn bind(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    call.accepted()?;
    let format = negotiate::input(&call.headers)?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let kind = GroupVersionKind::new("", "v1", "Binding");
    let definition = schema::of_kind(&kind).map(|definition| &**definition);
    let mut binding = wire::decode(&body, format, &kind, definition, options.field_validation)?.object;
    let name = if call.info.name.is_empty() { binding.name().to_owned() } else { call.info.name.clone() };
    if !binding.name().is_empty() && binding.name() != name {
        return Err(Status::bad_request("name in URL does not match name in Binding object"));
    }
    if !binding.namespace().is_empty() && binding.namespace() != call.info.namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    let caller = call.caller(&options, "CreateOptions");
    // Admission sees the binding, as something that is created: the change of the pod is
    // what becomes of it.
    let door = if call.info.subresource.is_empty() { Part::Main } else { Part::Other("binding") };
    let asked =
        Target { row: &call.row, namespace: &call.info.namespace, name: &name, part: door, absent: IfAbsent::AsKind };
    call.server.registry.admit(Operation::Create, &asked, &mut binding, &caller).await?;
    let errors = validate(&binding);
    if !errors.is_empty() {
        return Err(Status::invalid(&kind, &name, errors));
    }
    let pods = call.server.registry.rows.find("", "v1", "pods").ok_or_else(Status::no_such_path)?;
    let target = Target {
        row: &pods,
        namespace: &call.info.namespace,
        name: &name,
        part: Part::Other("binding"),
        absent: IfAbsent::AsKind,
    };
    call.server
        .registry
        .update_as(&target, Admit::Done, Tracking::Update, &caller, &mut |old| {
            let pod = old.ok_or_else(|| Status::not_found(&pods.group_resource(), &name))?;
            assign(pod, &binding, &name, call.now)
        })
        .await?;
    let status = Status { code: 201, ..Status::success(Default::default()) };
    let mut value = serde_json::to_value(&status).unwrap_or(Value::Null);
    ensure_object(&mut value).remove("details");
    Ok(answer::document(StatusCode::CREATED, &value, &Accepted::JSON))
}

fn validate(binding: &Value) -> ErrorList {
    let target = Path::new("target");
    let mut errors = ErrorList::new();
    let kind = binding.str_at(&["target", "kind"]);
    if !matches!(kind, "" | "Node") {
        errors.push(Error::not_supported(&target.child("kind"), kind, &["Node", "<empty>"]));
    }
    if binding.str_at(&["target", "name"]).is_empty() {
        errors.push(Error::required(&target.child("name"), ""));
    }
    errors
}

/// The pod on its node, or why it cannot be put there.
fn assign(pod: &Value, binding: &Value, name: &str, now: Timestamp) -> Result<Value, Status> {
    let conflict = |why: String| Err(Status::conflict(&GroupResource::new("", "pods/binding"), name, &why));
    for (key, what) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
        let (given, found) = (binding.meta_str(key), pod.meta_str(key));
        if !given.is_empty() && given != found {
            return conflict(format!(
                "Precondition failed: {what} in precondition: {given}, {what} in object meta: {found}"
            ));
        }
    }
    if pod.is_deleting() {
        return conflict(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    let assigned = pod.str_at(&["spec", "nodeName"]);
    if !assigned.is_empty() {
        return conflict(format!("pod {name} is already assigned to node {assigned:?}"));
    }
    if !pod.items_at(&["spec", "schedulingGates"]).is_empty() {
        return conflict(format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    let mut new = pod.clone();
    let root = ensure_object(&mut new);
    let spec = ensure_object(root.entry("spec").or_insert_with(|| json!({})));
    spec.insert("nodeName".into(), binding.str_at(&["target", "name"]).into());
    let status = root.entry("status").or_insert(Value::Null);
    // The node where the pod was expected is of no matter once it has one.
    ensure_object(status).remove("nominatedNodeName");
    condition::set_value(status, json!({"type": "PodScheduled", "status": "True", "lastProbeTime": null}), now);
    for field in ["annotations", "labels"] {
        let given = binding.meta(field).and_then(Value::as_object).filter(|given| !given.is_empty());
        if let Some(given) = given {
            let kept = ensure_object(new.meta_mut().entry(field).or_insert_with(|| json!({})));
            kept.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_assigned_once() {
        let pod = json!({"metadata": {"name": "p", "labels": {"app": "web", "zone": "?"}}, "spec": {},
            "status": {"nominatedNodeName": "m"}});
        let binding = json!({"metadata": {"name": "p", "annotations": {"by": "me"}, "labels": {"zone": "a"}},
            "target": {"kind": "Node", "name": "n"}});
        let bound = assign(&pod, &binding, "p", Timestamp::UNIX_EPOCH).expect("free");
        assert_eq!(bound["spec"]["nodeName"], "n");
        assert_eq!(bound["metadata"]["labels"], json!({"app": "web", "zone": "a"}));
        assert_eq!(bound["metadata"]["annotations"], json!({"by": "me"}));
        assert!(bound["status"].get("nominatedNodeName").is_none());
        assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
        assert_eq!(
            assign(&bound, &binding, "p", Timestamp::UNIX_EPOCH).expect_err("taken").message,
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\""
        );
    }
}
