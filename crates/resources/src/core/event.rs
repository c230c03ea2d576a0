//! Event.

use crate::Strategy;

pub struct Event;

impl Strategy for Event {}
