//! The plugins that change or refuse pods.

pub(crate) mod always_pull_images;
pub(crate) mod anti_affinity;
pub(crate) mod default_toleration_seconds;
pub(crate) mod extended_resource_toleration;
pub(crate) mod image_policy;
pub(crate) mod limit_ranger;
pub(crate) mod pod_node_selector;
pub(crate) mod pod_resize;
pub mod pod_security;
pub(crate) mod pod_toleration_restriction;
pub(crate) mod pod_topology_labels;
pub(crate) mod priority;
pub(crate) mod runtime_class;
pub(crate) mod service_account;
