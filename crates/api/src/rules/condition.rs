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
