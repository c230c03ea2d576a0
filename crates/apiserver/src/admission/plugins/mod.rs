//! The builtin admission plugins, one file or folder each; `admission/all.rs` has their order.
//! Policies (`admission/policy/`) and webhooks (`admission/webhook/`) are plugins too, with rooms
//! of their own.

pub(crate) mod always_admit;
pub(crate) mod always_deny;
pub(crate) mod certificates;
pub(crate) mod claim_resize;
pub(crate) mod default_ingress_class;
pub(crate) mod default_storage_class;
pub(crate) mod deny_service_external_ips;
pub(crate) mod event_rate_limit;
pub(crate) mod namespace_auto_provision;
pub(crate) mod namespace_exists;
pub(crate) mod namespace_lifecycle;
pub(crate) mod node_restriction;
pub(crate) mod owner_references;
pub(crate) mod pods;
pub(crate) mod rbac_escalation;
pub(crate) mod resource_quota;
pub(crate) mod storage_protection;
pub(crate) mod taint_nodes;
