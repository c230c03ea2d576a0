//! Every builtin kind, one line each.

use crate::admissionregistration::policy::Policy;
use crate::admissionregistration::policy_binding::PolicyBinding;
use crate::admissionregistration::webhook_configuration::WebhookConfiguration;
use crate::dra::conversion::Beta;
use crate::dra::resource_claim::ResourceClaim;
use crate::dra::resource_claim_template::ResourceClaimTemplate;
use crate::dra::resource_slice::ResourceSlice;
use crate::facts_row::{kind, review};
use crate::review::Review;
use crate::storage::volume_attributes_class::VolumeAttributesClass;
use crate::{
    Row, apiextensions, apiregistration, apps, certificates, coordination, core, discovery, dra, events, flowcontrol,
    metrics, networking, rbac, scheduling, storagemigration,
};
use crate::{autoscaling, batch, node, policy, storage};
use std::sync::{Arc, LazyLock};

static ALL: LazyLock<Vec<Arc<Row>>> = LazyLock::new(|| builtin().into_iter().map(Arc::new).collect());

/// The rows in the order in which discovery lists them: by group as upstream ranks
/// groups, then by the name of the resource.
pub fn all() -> &'static [Arc<Row>] {
    &ALL
}

const ADMISSION: &str = "admissionregistration.k8s.io";
const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";
const FLOWCONTROL: &str = "flowcontrol.apiserver.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const STORAGE: &str = "storage.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";

const RESOURCE: &str = "resource.k8s.io";

fn builtin() -> Vec<Row> {
    let core_events = kind("", "v1", "Event", core::event::Event);
    let events = kind("events.k8s.io", "v1", "Event", events::event::Event).sharing(&core_events);
    let addresses = kind(NETWORKING, "v1", "IPAddress", networking::ip_address::IpAddress);
    let old_addresses = kind(NETWORKING, "v1beta1", "IPAddress", networking::ip_address::IpAddress).sharing(&addresses);
    let ranges = kind(NETWORKING, "v1", "ServiceCIDR", networking::service_cidr::ServiceCidr);
    let old_ranges = kind(NETWORKING, "v1beta1", "ServiceCIDR", networking::service_cidr::ServiceCidr).sharing(&ranges);
    let mutating = kind(ADMISSION, "v1", "MutatingAdmissionPolicy", Policy::Mutating);
    let old_mutating = kind(ADMISSION, "v1beta1", "MutatingAdmissionPolicy", Policy::Mutating).sharing(&mutating);
    let bindings = kind(ADMISSION, "v1", "MutatingAdmissionPolicyBinding", PolicyBinding(Policy::Mutating));
    let old_bindings = kind(ADMISSION, "v1beta1", "MutatingAdmissionPolicyBinding", PolicyBinding(Policy::Mutating))
        .sharing(&bindings);
    let autoscaler = kind("autoscaling", "v2", "HorizontalPodAutoscaler", autoscaling::HorizontalPodAutoscaler);
    let autoscaler_v1 = kind("autoscaling", "v1", "HorizontalPodAutoscaler", autoscaling::HorizontalPodAutoscalerV1)
        .sharing(&autoscaler);
    let attributes = kind(STORAGE, "v1", "VolumeAttributesClass", VolumeAttributesClass);
    let attributes_v1beta1 =
        kind(STORAGE, "v1beta1", "VolumeAttributesClass", VolumeAttributesClass).sharing(&attributes);
    let classes = kind(RESOURCE, "v1", "DeviceClass", dra::device_class::DeviceClass);
    let claims = kind(RESOURCE, "v1", "ResourceClaim", ResourceClaim);
    let templates = kind(RESOURCE, "v1", "ResourceClaimTemplate", ResourceClaimTemplate);
    let slices = kind(RESOURCE, "v1", "ResourceSlice", ResourceSlice);
    let mut devices = Vec::new();
    for version in ["v1beta2", "v1beta1"] {
        let (claim, template, slice) = if version == "v1beta1" {
            (
                kind(RESOURCE, version, "ResourceClaim", Beta::claim(ResourceClaim)),
                kind(RESOURCE, version, "ResourceClaimTemplate", Beta::template(ResourceClaimTemplate)),
                kind(RESOURCE, version, "ResourceSlice", Beta::slice(ResourceSlice)),
            )
        } else {
            (
                kind(RESOURCE, version, "ResourceClaim", ResourceClaim),
                kind(RESOURCE, version, "ResourceClaimTemplate", ResourceClaimTemplate),
                kind(RESOURCE, version, "ResourceSlice", ResourceSlice),
            )
        };
        devices.push(kind(RESOURCE, version, "DeviceClass", dra::device_class::DeviceClass).sharing(&classes));
        if version == "v1beta2" {
            devices.push(kind(RESOURCE, version, "DeviceTaintRule", dra::device_taint_rule::DeviceTaintRule));
        }
        devices.extend([claim.sharing(&claims), template.sharing(&templates), slice.sharing(&slices)]);
    }
    let mut rows = vec![
        review("", "v1", "Binding", Review),
        review("", "v1", "ComponentStatus", core::component_status::ComponentStatus),
        kind("", "v1", "ConfigMap", core::config_map::ConfigMap),
        kind("", "v1", "Endpoints", core::endpoints::Endpoints),
        core_events,
        kind("", "v1", "LimitRange", core::limit_range::LimitRange),
        kind("", "v1", "Namespace", core::namespace::Namespace),
        kind("", "v1", "Node", core::node::Node),
        kind("", "v1", "PersistentVolumeClaim", core::persistent_volume_claim::PersistentVolumeClaim),
        kind("", "v1", "PersistentVolume", core::persistent_volume::PersistentVolume),
        kind("", "v1", "Pod", core::pod::Pod),
        kind("", "v1", "PodTemplate", core::pod_template::PodTemplate),
        kind("", "v1", "ReplicationController", core::replication_controller::ReplicationController),
        kind("", "v1", "ResourceQuota", core::resource_quota::ResourceQuota),
        kind("", "v1", "Secret", core::secret::Secret),
        kind("", "v1", "ServiceAccount", core::service_account::ServiceAccount),
        kind("", "v1", "Service", core::service::Service),
        kind("apiregistration.k8s.io", "v1", "APIService", apiregistration::api_service::ApiService),
        kind("apps", "v1", "ControllerRevision", apps::controller_revision::ControllerRevision),
        kind("apps", "v1", "DaemonSet", apps::daemon_set::DaemonSet),
        kind("apps", "v1", "Deployment", apps::deployment::Deployment),
        kind("apps", "v1", "ReplicaSet", apps::replica_set::ReplicaSet),
        kind("apps", "v1", "StatefulSet", apps::stateful_set::StatefulSet),
        events,
        review(AUTHENTICATION, "v1", "SelfSubjectReview", Review),
        review(AUTHENTICATION, "v1", "TokenReview", Review),
        review(AUTHORIZATION, "v1", "LocalSubjectAccessReview", Review),
        review(AUTHORIZATION, "v1", "SelfSubjectAccessReview", Review),
        review(AUTHORIZATION, "v1", "SelfSubjectRulesReview", Review),
        review(AUTHORIZATION, "v1", "SubjectAccessReview", Review),
        autoscaler,
        autoscaler_v1,
        kind("batch", "v1", "CronJob", batch::cron_job::CronJob),
        kind("batch", "v1", "Job", batch::job::Job),
        kind(
            CERTIFICATES,
            "v1",
            "CertificateSigningRequest",
            certificates::certificate_signing_request::CertificateSigningRequest,
        ),
        kind(CERTIFICATES, "v1beta1", "ClusterTrustBundle", certificates::cluster_trust_bundle::ClusterTrustBundle),
        kind(
            CERTIFICATES,
            "v1beta1",
            "PodCertificateRequest",
            certificates::pod_certificate_request::PodCertificateRequest,
        ),
        kind(NETWORKING, "v1", "IngressClass", networking::ingress_class::IngressClass),
        kind(NETWORKING, "v1", "Ingress", networking::ingress::Ingress),
        addresses,
        kind(NETWORKING, "v1", "NetworkPolicy", networking::network_policy::NetworkPolicy),
        ranges,
        old_addresses,
        old_ranges,
        kind("policy", "v1", "PodDisruptionBudget", policy::pod_disruption_budget::PodDisruptionBudget),
        kind(RBAC, "v1", "ClusterRoleBinding", rbac::binding::Binding::<false>),
        kind(RBAC, "v1", "ClusterRole", rbac::role::Role::<false>),
        kind(RBAC, "v1", "RoleBinding", rbac::binding::Binding::<true>),
        kind(RBAC, "v1", "Role", rbac::role::Role::<true>),
        kind(STORAGE, "v1", "CSIDriver", storage::csi_driver::CsiDriver),
        kind(STORAGE, "v1", "CSINode", storage::csi_node::CsiNode),
        kind(STORAGE, "v1", "CSIStorageCapacity", storage::csi_storage_capacity::CsiStorageCapacity),
        kind(STORAGE, "v1", "StorageClass", storage::storage_class::StorageClass),
        kind(STORAGE, "v1", "VolumeAttachment", storage::volume_attachment::VolumeAttachment),
        attributes,
        attributes_v1beta1,
        kind(
            "apiextensions.k8s.io",
            "v1",
            "CustomResourceDefinition",
            apiextensions::custom_resource_definition::CustomResourceDefinition,
        ),
        mutating,
        bindings,
        kind(ADMISSION, "v1", "MutatingWebhookConfiguration", WebhookConfiguration::Mutating),
        kind(ADMISSION, "v1", "ValidatingAdmissionPolicy", Policy::Validating),
        kind(ADMISSION, "v1", "ValidatingAdmissionPolicyBinding", PolicyBinding(Policy::Validating)),
        kind(ADMISSION, "v1", "ValidatingWebhookConfiguration", WebhookConfiguration::Validating),
        old_mutating,
        old_bindings,
        kind("scheduling.k8s.io", "v1", "PriorityClass", scheduling::priority_class::PriorityClass),
        kind("coordination.k8s.io", "v1", "Lease", coordination::lease::Lease),
        kind("coordination.k8s.io", "v1beta1", "LeaseCandidate", coordination::lease_candidate::LeaseCandidate),
        kind("node.k8s.io", "v1", "RuntimeClass", node::runtime_class::RuntimeClass),
        kind("discovery.k8s.io", "v1", "EndpointSlice", discovery::endpoint_slice::EndpointSlice),
        kind(FLOWCONTROL, "v1", "FlowSchema", flowcontrol::flow_schema::FlowSchema),
        kind(
            FLOWCONTROL,
            "v1",
            "PriorityLevelConfiguration",
            flowcontrol::priority_level_configuration::PriorityLevelConfiguration,
        ),
        classes,
        claims,
        templates,
        slices,
    ];
    rows.extend(devices);
    rows.push(kind(
        "storagemigration.k8s.io",
        "v1beta1",
        "StorageVersionMigration",
        storagemigration::storage_version_migration::StorageVersionMigration,
    ));
    rows.push(review("metrics.k8s.io", "v1beta1", "NodeMetrics", metrics::NodeMetrics));
    rows.push(review("metrics.k8s.io", "v1beta1", "PodMetrics", metrics::PodMetrics));
    rows
}
