//! PodTemplate.

use crate::Strategy;

pub struct PodTemplate;

impl Strategy for PodTemplate {}
