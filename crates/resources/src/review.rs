//! Kinds that are asked and answered but never stored: the access and token reviews and
//! Binding. Their answers are the API server's; the row says only that they exist.

use crate::Strategy;

pub(crate) struct Review;

impl Strategy for Review {}
