//! ConfigMap.

use crate::Strategy;

pub struct ConfigMap;

impl Strategy for ConfigMap {}
