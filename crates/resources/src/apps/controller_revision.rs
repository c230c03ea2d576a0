//! ControllerRevision.

use crate::Strategy;

pub struct ControllerRevision;

impl Strategy for ControllerRevision {}
