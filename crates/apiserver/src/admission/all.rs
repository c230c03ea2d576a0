//! Every plugin, in upstream's order (pkg/kubeapiserver/options/plugins.go): a plugin
//! sees what those before it have changed.

use super::Plugin;
use super::default_toleration_seconds::DefaultTolerationSeconds;
use super::limit_ranger::LimitRanger;
use super::namespace_lifecycle::NamespaceLifecycle;
use super::node_restriction::NodeRestriction;
use super::priority::Priority;
use super::rbac_escalation::RbacEscalation;
use super::service_account::ServiceAccount;
use super::taint_nodes::TaintNodesByCondition;
use crate::authz::Authorizer;
use crate::registry::Rows;
use crate::registry::lookup::ObjectLookup;
use std::sync::Arc;

pub fn all(lookup: &Arc<dyn ObjectLookup>, authorizer: &Authorizer, _rows: &Arc<Rows>) -> Vec<Box<dyn Plugin>> {
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
    ]
}
