//! Every plugin, in upstream's order (pkg/kubeapiserver/options/plugins.go): a plugin
//! sees what those before it have changed.

use super::always_admit::AlwaysAdmit;
use super::always_deny::AlwaysDeny;
use super::always_pull_images::AlwaysPullImages;
use super::anti_affinity::LimitPodHardAntiAffinityTopology;
use super::certificate_approval::CertificateApproval;
use super::certificate_signing::CertificateSigning;
use super::certificate_subject::CertificateSubjectRestriction;
use super::claim_resize::PersistentVolumeClaimResize;
use super::default_ingress_class::DefaultIngressClass;
use super::default_storage_class::DefaultStorageClass;
use super::default_toleration_seconds::DefaultTolerationSeconds;
use super::deny_service_external_ips::DenyServiceExternalIps;
use super::event_rate_limit::EventRateLimit;
use super::extended_resource_toleration::ExtendedResourceToleration;
use super::image_policy::ImagePolicyWebhook;
use super::limit_ranger::LimitRanger;
use super::namespace_auto_provision::NamespaceAutoProvision;
use super::namespace_exists::NamespaceExists;
use super::namespace_lifecycle::NamespaceLifecycle;
use super::node_restriction::NodeRestriction;
use super::owner_references::OwnerReferencesPermissionEnforcement;
use super::pod_node_selector::PodNodeSelector;
use super::pod_resize::PodResizeValidator;
use super::pod_security::PodSecurity;
use super::pod_toleration_restriction::PodTolerationRestriction;
use super::pod_topology_labels::PodTopologyLabels;
use super::policy::mutating::MutatingAdmissionPolicy;
use super::policy::validating::ValidatingAdmissionPolicy;
use super::priority::Priority;
use super::rbac_escalation::RbacEscalation;
use super::resource_quota::ResourceQuota;
use super::runtime_class::RuntimeClass;
use super::service_account::ServiceAccount;
use super::storage_protection::StorageObjectInUseProtection;
use super::taint_nodes::TaintNodesByCondition;
use super::trust_bundle_attest::ClusterTrustBundleAttest;
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
