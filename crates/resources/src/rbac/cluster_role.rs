//! ClusterRole.

use crate::Strategy;

pub struct ClusterRole;

impl Strategy for ClusterRole {}
