//! Every controller, one line each. A newcomer is run, and met by the tests that loop
//! over this list, by being named here.

use crate::Config;
use crate::autoscale::HorizontalPodAutoscalerController;
use crate::device::pod_claims::PodClaimsController;
use crate::device::resource_claim::ResourceClaimController;
use crate::device::taint_eviction::DeviceTaintEvictionController;
use crate::error::Result;
use crate::garbage_collector::GarbageCollector;
use crate::namespace::NamespaceController;
use crate::network::endpoint_slice::EndpointSliceController;
use crate::network::endpoint_slice_mirroring::EndpointSliceMirroringController;
use crate::network::endpoints::EndpointsController;
use crate::network::load_balancer::LoadBalancerController;
use crate::node::node_ipam::NodeIpamController;
use crate::node::node_lifecycle::NodeLifecycleController;
use crate::node::node_ttl::NodeTtlController;
use crate::node::taint_eviction::TaintEvictionController;
use crate::resource_quota::ResourceQuotaController;
use crate::runner::Controller;
use crate::security::bootstrap_signer::BootstrapSignerController;
use crate::security::certificates::approver::ApprovingController;
use crate::security::certificates::cleaner::CleanerController;
use crate::security::certificates::serving::ServingApprover;
use crate::security::certificates::signer::SigningController;
use crate::security::cluster_role_aggregation::ClusterRoleAggregationController;
use crate::security::legacy_token_cleaner::LegacyTokenCleanerController;
use crate::security::root_ca::RootCaController;
use crate::security::service_account::ServiceAccountController;
use crate::security::service_account_token::ServiceAccountTokenController;
use crate::security::token_cleaner::TokenCleanerController;
use crate::storage::attach_detach::AttachDetachController;
use crate::storage::binder::PersistentVolumeBinder;
use crate::storage::ephemeral_volume::EphemeralVolumeController;
use crate::storage::expander::ExpandController;
use crate::storage::storage_protection::{
    AttributesClassProtectionController, ClaimProtectionController, VolumeProtectionController,
};
use crate::workload::cron_job::CronJobController;
use crate::workload::daemon_set::DaemonSetController;
use crate::workload::deployment::DeploymentController;
use crate::workload::disruption::DisruptionController;
use crate::workload::job::JobController;
use crate::workload::job::orphan::JobOrphanPodController;
use crate::workload::pod_gc::PodGcController;
use crate::workload::replica_set::ReplicaController;
use crate::workload::stateful_set::StatefulSetController;
use crate::workload::ttl_after_finished::TtlAfterFinishedController;
use ferry_api::view::apps::v1::ReplicaSet;
use ferry_api::view::core::v1::ReplicationController;
use std::sync::Arc;

pub(crate) fn all(config: &Config) -> Result<Vec<Arc<dyn Controller>>> {
    let mut all: Vec<Arc<dyn Controller>> = vec![
        Arc::new(DeploymentController),
        Arc::new(ReplicaController::<ReplicaSet>::default()),
        Arc::new(ReplicaController::<ReplicationController>::default()),
        Arc::new(DaemonSetController::default()),
        Arc::new(StatefulSetController::new(config.stateful_set_defaults.clone())),
        Arc::new(JobController::default()),
        Arc::new(JobOrphanPodController),
        Arc::new(HorizontalPodAutoscalerController::default()),
        Arc::new(CronJobController { clock: config.clock.clone() }),
        Arc::new(TtlAfterFinishedController),
        Arc::new(EndpointSliceController::default()),
        Arc::new(EndpointsController),
        Arc::new(EndpointSliceMirroringController::default()),
        Arc::new(ServiceAccountController),
        Arc::new(RootCaController { root_ca: config.root_ca.clone() }),
        Arc::new(NodeLifecycleController::new(config)),
        Arc::new(TaintEvictionController::new(config)),
        Arc::new(NodeTtlController::default()),
        Arc::new(PodGcController::new(config.terminated_pod_threshold)),
        Arc::new(ClusterRoleAggregationController),
        Arc::new(NamespaceController),
        Arc::new(GarbageCollector::default()),
        Arc::new(TokenCleanerController),
        Arc::new(BootstrapSignerController),
        Arc::new(LegacyTokenCleanerController),
        Arc::new(DisruptionController),
        Arc::new(ResourceQuotaController::default()),
        Arc::new(PersistentVolumeBinder::default()),
        Arc::new(AttachDetachController::default()),
        Arc::new(EphemeralVolumeController),
        Arc::new(ExpandController),
        Arc::new(ClaimProtectionController),
        Arc::new(VolumeProtectionController),
        Arc::new(AttributesClassProtectionController),
        Arc::new(PodClaimsController::default()),
        Arc::new(ResourceClaimController),
        Arc::new(DeviceTaintEvictionController::default()),
        Arc::new(ApprovingController),
        Arc::new(ServingApprover),
        Arc::new(CleanerController),
    ];
    if config.load_balancer {
        all.push(Arc::new(LoadBalancerController));
    }
    if let Some(signer) = &config.legacy_signer {
        let (root_ca, signer) = (config.root_ca.clone(), signer.clone());
        all.push(Arc::new(ServiceAccountTokenController { root_ca, signer }));
    }
    if let Some(signer) = &config.certificate_signer {
        all.push(Arc::new(SigningController { signer: signer.clone(), lifetime: config.certificate_lifetime }));
    }
    if let Some(cidr) = &config.cluster_cidr {
        all.push(Arc::new(NodeIpamController::new(cidr, config.node_cidr_mask_size)?));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_controller_has_a_name_of_its_own() {
        let all = all(&Config::default()).expect("the default configuration is valid");
        let names: HashSet<&str> = all.iter().map(|controller| controller.name()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|controller| controller.workers() > 0 && !controller.identity().is_empty()));
    }
}
