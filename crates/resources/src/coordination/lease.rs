//! Lease.

use crate::Strategy;

pub struct Lease;

impl Strategy for Lease {}
