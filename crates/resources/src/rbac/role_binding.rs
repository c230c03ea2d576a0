//! RoleBinding.

use crate::Strategy;

pub struct RoleBinding;

impl Strategy for RoleBinding {}
