//! The kinds of the group `rbac.authorization.k8s.io`.

pub mod cluster_role;
pub mod cluster_role_binding;
pub mod role;
pub mod role_binding;
