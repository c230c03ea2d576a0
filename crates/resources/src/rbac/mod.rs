//! The kinds of the group `rbac.authorization.k8s.io`. Roles and bindings come in two
//! scopes with the same rules but for what a scope allows.

mod binding;
pub mod cluster_role;
pub mod cluster_role_binding;
pub mod role;
pub mod role_binding;
mod rule;
