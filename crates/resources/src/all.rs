//! Every builtin kind, one line each.

use crate::review::Review;
use crate::table::{kind, review};
use crate::{Row, apps, coordination, core, discovery, events, rbac, scheduling};
use std::sync::{Arc, LazyLock};

static ALL: LazyLock<Vec<Arc<Row>>> = LazyLock::new(|| builtin().into_iter().map(Arc::new).collect());

/// The rows in the order in which discovery lists them: by group as upstream ranks
/// groups, then by the name of the resource.
pub fn all() -> &'static [Arc<Row>] {
    &ALL
}

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

fn builtin() -> Vec<Row> {
    let core_events = kind("", "v1", "Event", core::event::Event);
    let events = kind("events.k8s.io", "v1", "Event", events::event::Event).sharing(&core_events);
    vec![
        review("", "v1", "Binding", Review),
        kind("", "v1", "ConfigMap", core::config_map::ConfigMap),
        kind("", "v1", "Endpoints", core::endpoints::Endpoints),
        core_events,
        kind("", "v1", "LimitRange", core::limit_range::LimitRange),
        kind("", "v1", "Namespace", core::namespace::Namespace),
        kind("", "v1", "Node", core::node::Node),
        kind("", "v1", "Pod", core::pod::Pod),
        kind("", "v1", "PodTemplate", core::pod_template::PodTemplate),
        kind("", "v1", "ResourceQuota", core::resource_quota::ResourceQuota),
        kind("", "v1", "Secret", core::secret::Secret),
        kind("", "v1", "ServiceAccount", core::service_account::ServiceAccount),
        kind("", "v1", "Service", core::service::Service),
        kind("apps", "v1", "ControllerRevision", apps::controller_revision::ControllerRevision),
        kind("apps", "v1", "Deployment", apps::deployment::Deployment),
        kind("apps", "v1", "ReplicaSet", apps::replica_set::ReplicaSet),
        events,
        review(AUTHENTICATION, "v1", "SelfSubjectReview", Review),
        review(AUTHENTICATION, "v1", "TokenReview", Review),
        review(AUTHORIZATION, "v1", "LocalSubjectAccessReview", Review),
        review(AUTHORIZATION, "v1", "SelfSubjectAccessReview", Review),
        review(AUTHORIZATION, "v1", "SelfSubjectRulesReview", Review),
        review(AUTHORIZATION, "v1", "SubjectAccessReview", Review),
        kind(RBAC, "v1", "ClusterRoleBinding", rbac::cluster_role_binding::ClusterRoleBinding),
        kind(RBAC, "v1", "ClusterRole", rbac::cluster_role::ClusterRole),
        kind(RBAC, "v1", "RoleBinding", rbac::role_binding::RoleBinding),
        kind(RBAC, "v1", "Role", rbac::role::Role),
        kind("scheduling.k8s.io", "v1", "PriorityClass", scheduling::priority_class::PriorityClass),
        kind("coordination.k8s.io", "v1", "Lease", coordination::lease::Lease),
        kind("discovery.k8s.io", "v1", "EndpointSlice", discovery::endpoint_slice::EndpointSlice),
    ]
}
