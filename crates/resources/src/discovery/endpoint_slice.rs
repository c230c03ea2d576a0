//! EndpointSlice.

use crate::Strategy;

pub struct EndpointSlice;

impl Strategy for EndpointSlice {}
