//! What may change in a pod once it is made (core/validation ValidatePodUpdate and
//! ValidatePodStatusUpdate), and the annotations that only pods have rules for.

use super::containers;
use super::volume::validate_descending_path;
use crate::names;
use crate::read::Read;
use crate::validation::equality::type_of;
use crate::validation::network::{is_dual_stack, validate_ip};
use crate::validation::{FIELD_IS_IMMUTABLE, each, semantically_equal, shown};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::pod::is_sidecar;
use ferry_api::schema::{Type, TypeDef};
use serde_json::{Value, json};

pub(crate) const MIRROR_POD: &str = "kubernetes.io/config.mirror";
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// The sentence upstream gives for a change of anything else.
const UPDATABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
`spec.tolerations` (only additions to existing tolerations),\
`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Annotations of a pod or template that mean something to Kubernetes.
pub(crate) fn validate_pod_annotations(errors: &mut ErrorList, metadata: Option<&Value>, spec: &Value, path: &Path) {
    for (key, value) in metadata.entries("annotations") {
        let (at, value) = (path.key(key), value.as_str().unwrap_or_default());
        if key == MIRROR_POD && spec.text("nodeName").is_empty() {
            errors.push(Error::invalid(&at, value, "must set spec.nodeName if mirror pod annotation is set"));
        } else if key == "controller.kubernetes.io/pod-deletion-cost" {
            // Leading zeros and plus signs are refused, since values are compared as text.
            let canonical = value.parse::<i32>().is_ok_and(|cost| cost.to_string() == value);
            if !canonical {
                errors.push(Error::invalid(&at, value, "must be a 32bit integer"));
            }
        } else if key == SECCOMP_POD || key.starts_with(SECCOMP_CONTAINER) {
            validate_seccomp_annotation(errors, value, &path.child(key));
        } else if let Some(name) = key.strip_prefix(APP_ARMOR) {
            if !containers(spec, &Path::root()).any(|(container, _)| container.text("name") == name) {
                errors.push(Error::invalid(&at, name, "container not found"));
            }
            if !matches!(value, "" | "runtime/default" | "unconfined") && !value.starts_with("localhost/") {
                errors.push(Error::invalid(&at, value, format!("invalid AppArmor profile name: {value:?}")));
            }
        }
    }
}

fn validate_seccomp_annotation(errors: &mut ErrorList, profile: &str, path: &Path) {
    match profile.strip_prefix("localhost/") {
        Some(file) => validate_descending_path(errors, file, path),
        None if matches!(profile, "runtime/default" | "docker/default" | "unconfined") => {}
        None => errors.push(Error::invalid(path, profile, "must be a valid seccomp profile")),
    }
}

/// Annotations that are decided when the pod is made.
pub(crate) fn validate_pod_annotations_update(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let (now, before) = (new.field("metadata").entries("annotations"), old.field("metadata").entries("annotations"));
    for (key, value) in before {
        if now.get(key) == Some(value) {
            continue;
        }
        if key.starts_with(APP_ARMOR) {
            errors.push(Error::forbidden(&path.key(key), "may not remove or update AppArmor annotations"));
        }
        if key == MIRROR_POD {
            errors.push(Error::forbidden(&path.key(key), "may not remove or update mirror pod annotation"));
        }
    }
    for key in now.keys().filter(|key| !before.contains_key(*key)) {
        if key.starts_with(APP_ARMOR) {
            errors.push(Error::forbidden(&path.key(key), "may not add AppArmor annotations"));
        }
        if key == MIRROR_POD {
            errors.push(Error::forbidden(&path.key(key), "may not add mirror pod annotation"));
        }
    }
}

/// The change of a pod's spec. The new spec by itself has been validated before.
pub(crate) fn validate_spec_update(errors: &mut ErrorList, new: &Value, old: &Value) {
    let path = Path::new("spec");
    for list in ["containers", "initContainers"] {
        if new.list(list).len() != old.list(list).len() {
            errors.push(Error::forbidden(&path.child(list), "pod updates may not add or remove containers"));
            return;
        }
    }
    if !validate_deadline_update(errors, new, old, &path.child("activeDeadlineSeconds")) {
        return;
    }
    validate_only_added_tolerations(errors, new, old, &path.child("tolerations"));
    validate_only_removed_gates(errors, new, old, &path.child("schedulingGates"));
    let gated = !old.list("schedulingGates").is_empty();
    if gated {
        validate_gated_update(errors, new, old, &path);
    }
    let changes = forbidden_changes(new, old, gated);
    if !changes.is_empty() {
        errors.push(Error::forbidden(&path, format!("{UPDATABLE}\n{}", changes.concat())));
    }
}

/// A deadline may be set, or be lowered. Says whether the rest is worth checking.
fn validate_deadline_update(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) -> bool {
    match (new.opt_int("activeDeadlineSeconds"), old.opt_int("activeDeadlineSeconds")) {
        (Some(now), _) if !(0..=i64::from(i32::MAX)).contains(&now) => {
            errors.push(Error::invalid(path, now, names::inclusive_range(0, i64::from(i32::MAX))));
            false
        }
        (Some(now), Some(before)) if before < now => {
            errors.push(Error::invalid(path, now, "must be less than or equal to previous value"));
            false
        }
        (None, Some(_)) => {
            let detail = "must not update from a positive integer to nil value";
            errors.push(Error::invalid(path, Value::Null, detail));
            true
        }
        _ => true,
    }
}

fn validate_only_added_tolerations(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let same =
        |a: &Value, b: &Value| ["key", "operator", "value", "effect"].iter().all(|key| a.text(key) == b.text(key));
    let tolerations = new.list("tolerations");
    for before in old.list("tolerations") {
        if !tolerations.iter().any(|now| same(now, before)) {
            errors.push(Error::forbidden(path, "existing toleration can not be modified except its tolerationSeconds"));
            return;
        }
    }
}

fn validate_only_removed_gates(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    for (index, gate) in new.list("schedulingGates").iter().enumerate() {
        let name = gate.text("name");
        if !old.list("schedulingGates").iter().any(|before| before.text("name") == name) {
            errors.push(Error::forbidden(
                &path.index(index).child("name"),
                format!("only deletion is allowed, but found new scheduling gate '{name}'"),
            ));
        }
    }
}

/// While a pod is gated its node selector and node affinity may be narrowed.
fn validate_gated_update(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let (now, before) = (new.entries("nodeSelector"), old.entries("nodeSelector"));
    if before.iter().any(|(key, value)| now.get(key) != Some(value)) {
        errors.push(Error::invalid(
            &path.child("nodeSelector"),
            shown(new.field("nodeSelector")),
            "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        ));
    }
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    fn terms(spec: &Value) -> &[Value] {
        let required = spec.field("affinity").field("nodeAffinity").field(REQUIRED);
        match required.and_then(|required| required.field("nodeSelectorTerms")) {
            Some(Value::Array(terms)) => terms,
            _ => &[],
        }
    }
    let (now, before) = (terms(new), terms(old));
    let path = path.child("affinity").child("nodeAffinity").child(REQUIRED).child("nodeSelectorTerms");
    if before.is_empty() {
        return;
    }
    if now.len() != before.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.push(Error::invalid(&path, now, detail));
        return;
    }
    for (index, (now, before)) in now.iter().zip(before).enumerate() {
        let is_empty = |term: &Value| term.list("matchExpressions").is_empty() && term.list("matchFields").is_empty();
        let kept = ["matchExpressions", "matchFields"].iter().all(|key| now.list(key).starts_with(before.list(key)));
        if !kept || (is_empty(before) && !is_empty(now)) {
            let detail = "only additions are allowed (no mutations or deletions)";
            errors.push(Error::invalid(&path.index(index), now.clone(), detail));
        }
    }
}

/// One line for each field that changed and may not.
fn forbidden_changes(new: &Value, old: &Value, gated: bool) -> Vec<String> {
    let spec_type = type_of("core/v1", "PodSpec");
    let container_type = type_of("core/v1", "Container");
    let mut changes = Vec::new();
    let became_one =
        new.opt_int("terminationGracePeriodSeconds") == Some(1) && old.int("terminationGracePeriodSeconds") < 0;
    for_each_change(new, old, spec_type, "", &mut |key, now, before| {
        match key {
            "activeDeadlineSeconds" | "tolerations" | "schedulingGates" => return,
            "terminationGracePeriodSeconds" if became_one => return,
            "nodeSelector" if gated => return,
            "affinity" if gated => {
                for_each_change(&or_empty(now), &or_empty(before), None, "affinity.", &mut |key, now, before| {
                    if key != "affinity.nodeAffinity" {
                        changes.push(change(key, now, before));
                    }
                });
                return;
            }
            "containers" | "initContainers" => {
                for (index, (now, before)) in new.list(key).iter().zip(old.list(key)).enumerate() {
                    let prefix = format!("{key}[{index}].");
                    for_each_change(now, before, container_type, &prefix, &mut |path, now, before| {
                        if path.strip_prefix(&prefix) != Some("image") {
                            changes.push(change(path, now, before));
                        }
                    });
                }
                return;
            }
            _ => {}
        }
        changes.push(change(key, now, before));
    });
    changes
}

fn or_empty(value: Option<&Value>) -> Value {
    value.cloned().unwrap_or_else(|| json!({}))
}

fn change(key: &str, now: Option<&Value>, before: Option<&Value>) -> String {
    let line = |sign: char, value: Option<&Value>| match value {
        Some(value) => format!("{sign} \t{key}: {value},\n"),
        None => String::new(),
    };
    format!("{}{}", line('-', before), line('+', now))
}

/// Told of each change: the field, what it is now, what it was.
type Found<'a> = dyn FnMut(&str, Option<&Value>, Option<&Value>) + 'a;

fn for_each_change(new: &Value, old: &Value, definition: Option<&TypeDef>, prefix: &str, found: &mut Found<'_>) {
    let keys = |value: &Value| value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
    let mut names: Vec<String> = keys(new);
    names.extend(keys(old));
    names.sort_unstable();
    names.dedup();
    for key in names {
        let (now, before) = (new.field(&key), old.field(&key));
        let field = definition.and_then(|definition| definition.field(&key));
        let ty: Option<&Type> = field.map(|field| &field.ty);
        if !semantically_equal(now, before, ty, field.is_none_or(|field| field.pointer)) {
            found(&format!("{prefix}{key}"), now, before);
        }
    }
}

/// The change of a pod's status, as the kubelet writes it.
pub(crate) fn validate_status_update(new: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    validate_pod_annotations_update(&mut errors, new, old, &Path::new("metadata").child("annotations"));
    let path = Path::new("status");
    let (status, was) = (new.field("status"), old.field("status"));
    for (index, condition) in status.list("conditions").iter().enumerate() {
        let (path, kind) = (path.child("conditions").index(index), condition.text("type"));
        if !matches!(kind, "PodScheduled" | "Ready" | "Initialized") {
            each(&mut errors, &path.child("Type"), kind, names::is_qualified_name(kind));
        }
    }
    if new.field("spec").text("nodeName") != old.field("spec").text("nodeName") {
        errors.push(Error::forbidden(&path.child("nodeName"), "may not be changed directly"));
    }
    let nominated = status.text("nominatedNodeName");
    if nominated != was.text("nominatedNodeName") && !nominated.is_empty() {
        let at = path.child("nominatedNodeName");
        each(&mut errors, &at, nominated, names::dns1123_subdomain(nominated, false));
        if !old.field("spec").text("nodeName").is_empty() {
            errors.push(Error::forbidden(&at, "may not be set on pods that are already bound to a node"));
        }
    }
    if status.text("qosClass") != was.text("qosClass") {
        errors.push(Error::invalid(&path.child("qosClass"), status.text("qosClass"), FIELD_IS_IMMUTABLE));
    }
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        validate_state_transitions(&mut errors, list, new, old, &path.child(list));
    }
    for (list, single) in [("podIPs", "podIP"), ("hostIPs", "hostIP")] {
        validate_status_ips(&mut errors, status, was, list, single, &path.child(list));
    }
    errors
}

/// A container that ended and may not restart stays ended.
fn validate_state_transitions(errors: &mut ErrorList, list: &str, new: &Value, old: &Value, path: &Path) {
    let spec = old.field("spec");
    let key = if list == "initContainerStatuses" { "initContainers" } else { "containers" };
    for (index, before) in old.field("status").list(list).iter().enumerate() {
        let Some(ended) = before.field("state").field("terminated") else { continue };
        let name = before.text("name");
        let Some(now) = new.field("status").list(list).iter().find(|status| status.text("name") == name) else {
            continue;
        };
        if now.field("state").has("terminated") {
            continue;
        }
        let container = spec.list(key).iter().find(|container| container.text("name") == name);
        if list == "ephemeralContainerStatuses" || !may_restart(container, spec, ended.int("exitCode")) {
            errors.push(Error::forbidden(
                &path.index(index).child("state"),
                "may not be transitioned to non-terminated state",
            ));
        }
    }
}

fn may_restart(container: Option<&Value>, spec: Option<&Value>, exit_code: i64) -> bool {
    let restarts_all = |container: &Value| {
        container.list("restartPolicyRules").iter().any(|rule| rule.text("action") == "RestartAllContainers")
    };
    if spec.list("containers").iter().chain(spec.list("initContainers")).any(restarts_all) {
        return true;
    }
    let Some(container) = container else { return false };
    if is_sidecar(container.into()) {
        return true;
    }
    for rule in container.list("restartPolicyRules") {
        let codes = rule.field("exitCodes");
        let listed = codes.list("values").iter().any(|code| code.as_i64() == Some(exit_code));
        if listed == (codes.text("operator") == "In") {
            return true;
        }
    }
    let policy = match container.opt_text("restartPolicy") {
        Some(own) => own,
        None => spec.text("restartPolicy"),
    };
    match policy {
        "Always" => true,
        "OnFailure" => exit_code != 0,
        _ => false,
    }
}

fn validate_status_ips(
    errors: &mut ErrorList,
    status: Option<&Value>,
    was: Option<&Value>,
    list: &str,
    single: &str,
    path: &Path,
) {
    let addresses = status.list(list);
    if let Some(first) = addresses.first()
        && list == "hostIPs"
        && first.text("ip") != status.text(single)
    {
        errors.push(Error::invalid(&path.index(0).child("ip"), first.text("ip"), "must be equal to `hostIP`"));
    }
    let kept: Vec<Value> = was.list(list).iter().map(|address| address.text("ip").into()).collect();
    for (index, address) in addresses.iter().enumerate() {
        validate_ip(errors, address.text("ip"), &kept, &path.index(index));
    }
    let dual = is_dual_stack(addresses.iter().map(|address| address.text("ip")));
    if addresses.len() > 1 && (!dual || addresses.len() > 2) {
        errors.push(Error::invalid(path, addresses, "may specify no more than one IP for each IP family"));
    }
}
