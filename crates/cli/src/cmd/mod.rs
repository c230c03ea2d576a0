//! A file for each verb: its flags, and what it does with them.

pub(crate) mod apply;
pub(crate) mod delete;
pub(crate) mod get;
mod write;
