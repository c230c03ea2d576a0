//! Endpoints.

use crate::Strategy;

pub struct Endpoints;

impl Strategy for Endpoints {}
