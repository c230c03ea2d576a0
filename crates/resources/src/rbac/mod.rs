//! The kinds of the group `rbac.authorization.k8s.io`. Roles and bindings come in two
//! scopes with the same rules but for what a scope allows.

pub(crate) mod binding;
pub(crate) mod role;
