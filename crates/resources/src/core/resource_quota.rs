//! ResourceQuota.

use crate::Strategy;

pub struct ResourceQuota;

impl Strategy for ResourceQuota {}
