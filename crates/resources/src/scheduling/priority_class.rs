//! PriorityClass.

use crate::Strategy;

pub struct PriorityClass;

impl Strategy for PriorityClass {}
