//! Deployment.

use crate::Strategy;

pub struct Deployment;

impl Strategy for Deployment {}
