//! LimitRange.

use crate::Strategy;

pub struct LimitRange;

impl Strategy for LimitRange {}
