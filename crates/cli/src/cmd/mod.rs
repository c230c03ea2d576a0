//! A file for each verb: its flags, and what it does with them.

pub(crate) mod apply;
pub(crate) mod config;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod label;
pub(crate) mod logs;
pub(crate) mod patch;
pub(crate) mod rollout;
pub(crate) mod scale;
pub(crate) mod server_info;
pub(crate) mod wait;
mod write;
