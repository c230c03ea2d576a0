//! Every plugin, in upstream's order (pkg/kubeapiserver/options/plugins.go): a plugin
//! sees what those before it have changed.

use super::plugins::always_admit::AlwaysAdmit;
use super::plugins::always_deny::AlwaysDeny;
use super::plugins::certificates::certificate_approval::CertificateApproval;
use super::plugins::certificates::certificate_signing::CertificateSigning;
use super::plugins::certificates::certificate_subject::CertificateSubjectRestriction;
use super::plugins::certificates::trust_bundle_attest::ClusterTrustBundleAttest;
use super::plugins::claim_resize::PersistentVolumeClaimResize;
use super::plugins::default_ingress_class::DefaultIngressClass;
use super::plugins::default_storage_class::DefaultStorageClass;
use super::plugins::deny_service_external_ips::DenyServiceExternalIps;
use super::plugins::event_rate_limit::EventRateLimit;
use super::plugins::namespace_auto_provision::NamespaceAutoProvision;
use super::plugins::namespace_exists::NamespaceExists;
use super::plugins::namespace_lifecycle::NamespaceLifecycle;
use super::plugins::node_restriction::NodeRestriction;
use super::plugins::owner_references::OwnerReferencesPermissionEnforcement;
use super::plugins::pods::always_pull_images::AlwaysPullImages;
use super::plugins::pods::anti_affinity::LimitPodHardAntiAffinityTopology;
use super::plugins::pods::default_toleration_seconds::DefaultTolerationSeconds;
use super::plugins::pods::extended_resource_toleration::ExtendedResourceToleration;
use super::plugins::pods::image_policy::ImagePolicyWebhook;
use super::plugins::pods::limit_ranger::LimitRanger;
use super::plugins::pods::pod_node_selector::PodNodeSelector;
use super::plugins::pods::pod_resize::PodResizeValidator;
use super::plugins::pods::pod_security::PodSecurity;
use super::plugins::pods::pod_toleration_restriction::PodTolerationRestriction;
use super::plugins::pods::pod_topology_labels::PodTopologyLabels;
use super::plugins::pods::priority::Priority;
use super::plugins::pods::runtime_class::RuntimeClass;
use super::plugins::pods::service_account::ServiceAccount;
use super::plugins::rbac_escalation::RbacEscalation;
use super::plugins::resource_quota::ResourceQuota;
use super::plugins::storage_protection::StorageObjectInUseProtection;
use super::plugins::taint_nodes::TaintNodesByCondition;
use super::policy::mutating::MutatingAdmissionPolicy;
use super::policy::validating::ValidatingAdmissionPolicy;
use super::webhook::{MutatingWebhooks, ValidatingWebhooks};
use super::{Plugin, Wiring};

pub fn all(wiring: &Wiring) -> Vec<Box<dyn Plugin>> {
    let Wiring { lookup, authorizer, .. } = wiring;
    vec![
        // Upstream's storage makes these checks around everything else, so they come first.
        Box::new(RbacEscalation::new(authorizer.clone())),
        Box::new(AlwaysAdmit),
        Box::new(NamespaceAutoProvision::new(wiring)),
        Box::new(NamespaceLifecycle::new(lookup.clone())),
        Box::new(NamespaceExists::new(lookup.clone())),
        Box::new(LimitPodHardAntiAffinityTopology),
        Box::new(LimitRanger::new(lookup.clone())),
        Box::new(ServiceAccount::new(lookup.clone())),
        Box::new(NodeRestriction::new(lookup.clone(), authorizer.clone())),
        Box::new(TaintNodesByCondition),
        Box::new(AlwaysPullImages),
        Box::new(ImagePolicyWebhook::new(wiring)),
        Box::new(PodSecurity::new(wiring)),
        Box::new(PodNodeSelector::new(wiring)),
        Box::new(Priority::new(lookup.clone())),
        Box::new(DefaultTolerationSeconds),
        Box::new(PodTolerationRestriction::new(wiring)),
        Box::new(EventRateLimit::new(wiring)),
        Box::new(ExtendedResourceToleration),
        Box::new(DefaultStorageClass::new(lookup.clone())),
        Box::new(StorageObjectInUseProtection),
        Box::new(OwnerReferencesPermissionEnforcement::new(wiring)),
        Box::new(PersistentVolumeClaimResize::new(lookup.clone())),
        Box::new(RuntimeClass::new(lookup.clone())),
        Box::new(CertificateApproval::new(authorizer.clone())),
        Box::new(CertificateSigning::new(authorizer.clone())),
        Box::new(ClusterTrustBundleAttest::new(authorizer.clone())),
        Box::new(CertificateSubjectRestriction),
        Box::new(DefaultIngressClass::new(lookup.clone())),
        Box::new(DenyServiceExternalIps),
        Box::new(PodTopologyLabels::new(lookup.clone())),
        Box::new(PodResizeValidator::new(lookup.clone())),
        Box::new(MutatingAdmissionPolicy::new(wiring)),
        // All that is ours has been done when others are asked.
        Box::new(MutatingWebhooks::new(wiring)),
        Box::new(ValidatingAdmissionPolicy::new(wiring)),
        Box::new(ValidatingWebhooks::new(wiring)),
        // Last, so that nothing is charged that another plugin refuses.
        Box::new(ResourceQuota::new(wiring)),
        Box::new(AlwaysDeny),
    ]
}
