//! Role.

use crate::Strategy;

pub struct Role;

impl Strategy for Role {}
