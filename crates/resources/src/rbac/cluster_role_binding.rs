//! ClusterRoleBinding.

use crate::Strategy;

pub struct ClusterRoleBinding;

impl Strategy for ClusterRoleBinding {}
