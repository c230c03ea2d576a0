//! Every plugin, in upstream's order (pkg/kubeapiserver/options/plugins.go): a plugin
//! sees what those before it have changed.

use super::default_toleration_seconds::DefaultTolerationSeconds;
use super::limit_ranger::LimitRanger;
use super::namespace_lifecycle::NamespaceLifecycle;
use super::node_restriction::NodeRestriction;
use super::policy::mutating::MutatingAdmissionPolicy;
use super::policy::validating::ValidatingAdmissionPolicy;
use super::priority::Priority;
use super::rbac_escalation::RbacEscalation;
use super::resource_quota::ResourceQuota;
use super::service_account::ServiceAccount;
use super::taint_nodes::TaintNodesByCondition;
use super::{Plugin, Wiring};

pub fn all(wiring: &Wiring) -> Vec<Box<dyn Plugin>> {
    let Wiring { lookup, authorizer, rows, .. } = wiring;
    vec![
        // Upstream's storage makes these checks around everything else, so they come first.
        Box::new(RbacEscalation::new(authorizer.clone())),
        Box::new(NamespaceLifecycle::new(lookup.clone())),
        Box::new(LimitRanger::new(lookup.clone())),
        Box::new(ServiceAccount::new(lookup.clone())),
        Box::new(NodeRestriction::new(lookup.clone(), authorizer.clone())),
        Box::new(TaintNodesByCondition),
        Box::new(Priority::new(lookup.clone())),
        Box::new(DefaultTolerationSeconds),
        Box::new(MutatingAdmissionPolicy::new(lookup, rows, authorizer)),
        Box::new(ValidatingAdmissionPolicy::new(lookup, rows, authorizer)),
        // Last, so that nothing is charged that another plugin refuses.
        Box::new(ResourceQuota::new(wiring)),
    ]
}
