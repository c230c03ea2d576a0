//! Service.

use crate::Strategy;

pub struct Service;

impl Strategy for Service {}
