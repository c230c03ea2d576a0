//! Pod.

use crate::Strategy;

pub struct Pod;

impl Strategy for Pod {}
