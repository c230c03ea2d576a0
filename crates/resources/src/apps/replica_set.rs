//! ReplicaSet.

use crate::Strategy;

pub struct ReplicaSet;

impl Strategy for ReplicaSet {}
