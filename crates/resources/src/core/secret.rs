//! Secret.

use crate::Strategy;

pub struct Secret;

impl Strategy for Secret {}
