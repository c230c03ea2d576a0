//! Conditions of a status: finding one, and setting one so that its transition time moves
//! only when its status does.
//!
//! Upstream has the same rule several times: `SetStatusCondition` of
//! apimachinery/pkg/api/meta/conditions.go, `UpdatePodCondition` of pkg/api/v1/pod/util.go,
//! and `SetDeploymentCondition` of pkg/controller/deployment/util, which adds a twist of its
//! own ([`set_unless_same_reason`]).

use crate::codec::time::{Moment, Precision, format_time};
use crate::document::Node;
use crate::view::{Element, List, Owned, View, alike};
use crate::view::{admissionregistration, apiextensions, apiregistration, apps, autoscaling, batch};
use crate::view::{certificates, core, flowcontrol, meta, networking, policy, resource};
use jiff::Timestamp;
use serde_json::Value;

/// A status with a list of conditions, and their type.
pub trait Conditions: Owned {
    type Condition: Owned;
}

/// The condition of that type.
pub fn find<'a, C: View<'a> + Element<'a>>(conditions: List<'a, C>, kind: &str) -> Option<C> {
    conditions.iter().find(|condition| text(condition.node(), "type") == kind)
}

/// Whether there is a condition of that type with status `True`.
pub fn is_true<'a, C: View<'a> + Element<'a>>(conditions: List<'a, C>, kind: &str) -> bool {
    find(conditions, kind).is_some_and(|condition| text(condition.node(), "status") == "True")
}

/// Adds the condition, or replaces the one of its type, and returns whether anything changed.
///
/// A condition whose status stays keeps the transition time that it had. One whose status
/// changes gets the time that it brings along, or else `now`.
///
/// ```
/// use ferry_api::rules::condition;
/// use ferry_api::view::core::v1::{Pod, PodCondition};
///
/// let mut pod = Pod::new();
/// let ready = PodCondition::new().with_type("Ready").with_status("True");
/// assert!(pod.edit_status(|status| condition::set(status, ready.clone(), "2026-01-01T00:00:00Z".parse().unwrap())));
/// assert!(!pod.edit_status(|status| condition::set(status, ready, "2026-01-01T00:00:09Z".parse().unwrap())));
/// ```
pub fn set<S: Conditions>(status: &mut S, condition: S::Condition, now: Timestamp) -> bool {
    set_value(status.value_mut(), condition.into(), now)
}

/// [`set`], but a condition that has the same status and reason already stays as it is, its
/// message too. Deployments, replica sets and replication controllers set theirs like this.
pub fn set_unless_same_reason<S: Conditions>(status: &mut S, condition: S::Condition, now: Timestamp) -> bool {
    let new = Node::Value(condition.value());
    let is_same = |old: &Value| {
        ["type", "status", "reason"].iter().all(|field| text(Node::Value(old), field) == text(new, field))
    };
    if list(status.value()).iter().any(is_same) {
        return false;
    }
    set(status, condition, now)
}

/// Removes the condition of that type, and returns whether there was one.
pub fn remove<S: Conditions>(status: &mut S, kind: &str) -> bool {
    let Some(Value::Array(conditions)) = status.value_mut().get_mut(CONDITIONS) else { return false };
    let before = conditions.len();
    conditions.retain(|condition| text(Node::Value(condition), "type") != kind);
    conditions.len() != before
}

/// [`set`] on a status that is a tree of values, as the API server and its extensions have it.
pub fn set_value(status: &mut Value, mut condition: Value, now: Timestamp) -> bool {
    const TRANSITION: &str = "lastTransitionTime";
    let fields = crate::object::ensure_object(status);
    let conditions = fields.entry(CONDITIONS).or_insert(Value::Null);
    if !conditions.is_array() {
        *conditions = Value::Array(Vec::new());
    }
    let Value::Array(conditions) = conditions else { return false };
    let same = |field: &str, a: &Value, b: &Value| text(Node::Value(a), field) == text(Node::Value(b), field);
    let old = conditions.iter_mut().find(|old| same("type", old, &condition));
    let kept = old.as_ref().filter(|old| same("status", old, &condition));
    let kept = kept.and_then(|old| old.get(TRANSITION)).filter(|time| !time.is_null()).cloned();
    let brought = condition.get(TRANSITION).filter(|time| !time.is_null()).cloned();
    let moment = Moment { seconds: now.as_second(), nanos: now.subsec_nanosecond() };
    let time = kept.or(brought).unwrap_or_else(|| format_time(moment, Precision::Seconds).into());
    crate::object::ensure_object(&mut condition).insert(TRANSITION.to_owned(), time);
    match old {
        Some(old) if alike(Node::Value(old), Node::Value(&condition)) => return false,
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
    true
}

const CONDITIONS: &str = "conditions";

fn text<'a>(node: Node<'a>, field: &str) -> &'a str {
    node.get(field).and_then(Node::as_str).unwrap_or_default()
}

fn list(status: &Value) -> &[Value] {
    status.get(CONDITIONS).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

macro_rules! conditions {
    ($($status:ty: $condition:ty;)*) => {$(
        impl Conditions for $status {
            type Condition = $condition;
        }
    )*};
}

conditions! {
    core::v1::PodStatus: core::v1::PodCondition;
    core::v1::NodeStatus: core::v1::NodeCondition;
    core::v1::NamespaceStatus: core::v1::NamespaceCondition;
    core::v1::PersistentVolumeClaimStatus: core::v1::PersistentVolumeClaimCondition;
    core::v1::ReplicationControllerStatus: core::v1::ReplicationControllerCondition;
    core::v1::ServiceStatus: meta::v1::Condition;
    apps::v1::DeploymentStatus: apps::v1::DeploymentCondition;
    apps::v1::ReplicaSetStatus: apps::v1::ReplicaSetCondition;
    apps::v1::StatefulSetStatus: apps::v1::StatefulSetCondition;
    apps::v1::DaemonSetStatus: apps::v1::DaemonSetCondition;
    batch::v1::JobStatus: batch::v1::JobCondition;
    autoscaling::v2::HorizontalPodAutoscalerStatus: autoscaling::v2::HorizontalPodAutoscalerCondition;
    policy::v1::PodDisruptionBudgetStatus: meta::v1::Condition;
    networking::v1::ServiceCIDRStatus: meta::v1::Condition;
    resource::v1::AllocatedDeviceStatus: meta::v1::Condition;
    admissionregistration::v1::ValidatingAdmissionPolicyStatus: meta::v1::Condition;
    certificates::v1::CertificateSigningRequestStatus: certificates::v1::CertificateSigningRequestCondition;
    flowcontrol::v1::FlowSchemaStatus: flowcontrol::v1::FlowSchemaCondition;
    flowcontrol::v1::PriorityLevelConfigurationStatus: flowcontrol::v1::PriorityLevelConfigurationCondition;
    apiregistration::v1::APIServiceStatus: apiregistration::v1::APIServiceCondition;
    apiextensions::v1::CustomResourceDefinitionStatus: apiextensions::v1::CustomResourceDefinitionCondition;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::apps::v1::{DeploymentCondition, DeploymentStatus};
    use crate::view::core::v1::{PodCondition, PodStatus};
    use serde_json::json;

    const THEN: &str = "2026-01-01T00:00:00Z";
    const NOW: &str = "2026-01-01T00:10:00Z";

    fn now() -> Timestamp {
        NOW.parse().expect("a time")
    }

    #[test]
    fn the_transition_time_moves_with_the_status_only() {
        let check = |old: Value, new: Value, expected: Value, changed: bool| {
            let mut status = PodStatus::from(json!({"phase": "Running", "conditions": old}));
            assert_eq!(set(&mut status, PodCondition::from(new.clone()), now()), changed, "{new}");
            assert_eq!(status.value(), &json!({"phase": "Running", "conditions": expected}), "{new}");
        };
        let ready = |status: &str, reason: &str, time: Option<&str>| {
            let mut condition = json!({"type": "Ready", "status": status, "reason": reason});
            if let Some(time) = time {
                condition["lastTransitionTime"] = time.into();
            }
            condition
        };
        check(json!(null), ready("True", "", None), json!([ready("True", "", Some(NOW))]), true);
        check(json!(null), ready("True", "", Some(THEN)), json!([ready("True", "", Some(THEN))]), true);
        let old = || json!([ready("True", "A", Some(THEN))]);
        check(old(), ready("True", "A", None), old(), false);
        check(old(), ready("True", "A", Some(NOW)), old(), false);
        check(old(), ready("True", "B", None), json!([ready("True", "B", Some(THEN))]), true);
        check(old(), ready("False", "A", None), json!([ready("False", "A", Some(NOW))]), true);
        let other = || json!({"type": "Initialized", "status": "True"});
        let both = json!([ready("True", "A", Some(THEN)), {"type": "Initialized", "status": "True", "lastTransitionTime": NOW}]);
        check(old(), other(), both, true);
    }

    #[test]
    fn a_deployments_condition_with_the_same_reason_stays() {
        let check = |reason: &str, changed: bool, message: &str| {
            let old = json!({"type": "Progressing", "status": "True", "reason": "A", "message": "old", "lastTransitionTime": THEN});
            let mut status = DeploymentStatus::from(json!({"conditions": [old]}));
            let new = DeploymentCondition::new().with_type("Progressing").with_status("True");
            let new = new.with_reason(reason).with_message("new");
            assert_eq!(set_unless_same_reason(&mut status, new, now()), changed);
            let found = find(status.view().conditions(), "Progressing").expect("the condition");
            assert_eq!((found.message(), found.reason()), (message, reason));
            assert_eq!(found.last_transition_time(), THEN.parse().ok());
        };
        check("A", false, "old");
        check("B", true, "new");
    }

    #[test]
    fn conditions_are_found_and_removed_by_type() {
        let mut status = PodStatus::from(json!({"conditions": [
            {"type": "Ready", "status": "False"}, {"type": "Initialized", "status": "True"}]}));
        let check = |status: &PodStatus, kind: &str, is_there: bool, truth: bool| {
            let conditions = status.view().conditions();
            assert_eq!((find(conditions, kind).is_some(), is_true(conditions, kind)), (is_there, truth), "{kind}");
        };
        check(&status, "Ready", true, false);
        check(&status, "Initialized", true, true);
        check(&status, "Unheard", false, false);
        assert!(remove(&mut status, "Initialized") && !remove(&mut status, "Initialized"));
        check(&status, "Initialized", false, false);
        check(&status, "Ready", true, false);
    }
}
