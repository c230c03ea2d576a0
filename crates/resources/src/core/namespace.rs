//! Namespace.

use crate::Strategy;

pub struct Namespace;

impl Strategy for Namespace {}
