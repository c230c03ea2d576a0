//! The parts of a running pod that may change, each through its own door:
//! `pods/ephemeralcontainers` and `pods/resize` (core/validation
//! ValidatePodEphemeralContainersUpdate and ValidatePodResize).

use super::validate_metadata_and_spec;
use crate::pod_spec::update::MIRROR_POD;
use crate::read::Read;
use crate::validation::equality::type_of;
use crate::validation::semantically_equal;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::rules::pod::is_sidecar;
use ferry_api::rules::qos::{compute_qos_class, qos_class};
use ferry_api::view::core::v1::PodView;
use serde_json::Value;

/// Containers for debugging can be added, never changed or taken away.
pub(super) fn validate_ephemeral_containers(new: &Value, old: &Value) -> ErrorList {
    if old.annotation(MIRROR_POD).is_some() {
        return vec![Error::forbidden(&Path::root(), "static pods do not support ephemeral containers")];
    }
    let mut errors = validate_metadata_and_spec(new);
    let path = Path::new("spec").child("ephemeralContainers");
    let now = new.field("spec").list("ephemeralContainers");
    for before in old.field("spec").list("ephemeralContainers") {
        let name = before.text("name");
        match now.iter().find(|container| container.text("name") == name) {
            None => errors
                .push(Error::forbidden(&path, format!("existing ephemeral containers {name:?} may not be removed\n"))),
            Some(container) if !same(container, before) => errors
                .push(Error::forbidden(&path, format!("existing ephemeral containers {name:?} may not be changed\n"))),
            Some(_) => {}
        }
    }
    errors
}

/// A resize changes how much cpu and memory containers have, and nothing else.
pub(super) fn validate_resize(new: &Value, old: &Value) -> ErrorList {
    let refused = |detail: &str| vec![Error::forbidden(&Path::root(), detail)];
    let (spec, was) = (new.field("spec"), old.field("spec"));
    if old.annotation(MIRROR_POD).is_some() {
        return refused("static pods cannot be resized");
    }
    if was.field("os").text("name") == "windows" {
        return refused("windows pods cannot be resized");
    }
    let mut errors = validate_metadata_and_spec(new);
    let path = Path::new("spec");
    if compute_qos_class(PodView::from(new).spec()) != qos_class(PodView::from(old)) {
        let class = new.field("status").text("qosClass");
        errors.push(Error::invalid(&path, class, "Pod QOS Class may not change as a result of resizing"));
    }
    let running = old.field("status").list("containerStatuses").iter().find(|c| c.field("state").has("running"));
    if running.is_some_and(|container| !container.has("resources")) {
        errors.push(Error::forbidden(&path, "Pod running on node without support for resize"));
    }
    for list in ["initContainers", "containers"] {
        let (now, before) = (spec.list(list), was.list(list));
        if now.len() != before.len() {
            errors.push(Error::forbidden(&path.child(list), format!("{list} may not be added or removed on resize")));
            return errors;
        }
        for (index, (now, before)) in now.iter().zip(before).enumerate() {
            let at = path.child(list).index(index);
            if now.text("name") != before.text("name") {
                errors.push(Error::forbidden(&at, format!("{list} may not be renamed or reordered on resize")));
                continue;
            }
            validate_container_resize(&mut errors, list, now, before, &at);
        }
    }
    errors
}

fn validate_container_resize(errors: &mut ErrorList, list: &str, now: &Value, before: &Value, at: &Path) {
    let spec = Path::new("spec");
    if list == "initContainers" && !is_sidecar(before.into()) {
        if !same(now, before) {
            errors.push(Error::forbidden(&spec, "resources for non-sidecar init containers are immutable"));
        }
        return;
    }
    let (resources, was) = (now.field("resources"), before.field("resources"));
    for kind in ["requests", "limits"] {
        let kept = resources.entries(kind);
        if was.entries(kind).keys().any(|name| !kept.contains_key(name)) {
            let path = at.child("resources").child(kind);
            errors.push(Error::forbidden(&path, format!("resource {kind} cannot be removed")));
        }
    }
    let others_changed = ["requests", "limits"].iter().any(|kind| {
        let (now, before) = (resources.entries(kind), was.entries(kind));
        let mut names = now.keys().chain(before.keys()).filter(|name| !matches!(name.as_str(), "cpu" | "memory"));
        names.any(|name| now.get(name) != before.get(name))
    });
    if others_changed {
        let (path, what) = match list {
            "initContainers" => {
                (at.clone(), "only cpu and memory resources for init or sidecar containers are mutable")
            }
            _ => (spec, "only cpu and memory resources are mutable"),
        };
        errors.push(Error::forbidden(&path, what));
    }
}

fn same(now: &Value, before: &Value) -> bool {
    let definition = type_of("core/v1", "Container");
    let keys =
        |value: &Value| value.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    keys(now).into_iter().chain(keys(before)).all(|key| {
        let field = definition.and_then(|definition| definition.field(&key));
        let pointer = field.is_none_or(|field| field.pointer);
        semantically_equal(now.get(&key), before.get(&key), field.map(|field| &field.ty), pointer)
    })
}
