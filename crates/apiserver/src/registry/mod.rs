//! From a decoded request to a commit and back.

pub mod lookup;
