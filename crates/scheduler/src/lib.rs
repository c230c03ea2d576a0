//! The scheduler: finds a node for every pod that has none.
//!
//! `queue.rs` orders the pods, `cycle.rs` decides about one, `plugins/` hold the rules, and
//! `scheduler.rs` is the loop between them and the API. All but the loop is pure.
//!
//! Pods and nodes are shared documents, read through views. A decision compares one pod with
//! a thousand nodes, so the facts it reads are computed once a version: `pod_info.rs` and
//! `node_info.rs`.

mod configuration;
pub mod cycle;
pub mod devices;
mod explain;
pub mod extender;
pub mod fit_error;
pub mod framework;
mod inputs;
pub mod labels;
pub mod node_info;
pub mod plugins;
pub mod pod_info;
pub mod queue;
mod report;
mod requests;
pub mod resources;
mod scheduler;
pub mod snapshot;
pub mod topology;

pub use configuration::{Configuration, ConfigurationError};
pub use explain::Decisions;
pub use scheduler::{Options, run, run_with};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Upstream's words: the text ends up in the pod's condition.
    #[error("running Bind plugin {plugin:?}: {source}")]
    Bind { plugin: &'static str, source: ferry_client::Error },
    #[error("{reason}")]
    ExtenderBind { reason: String },
    #[error("running PreBind plugin {plugin:?}: {reason}")]
    PreBind { plugin: &'static str, reason: String },
    /// Requests that a plugin wanted outside of a binding.
    #[error("plugin {plugin:?}: {source}")]
    Errand { plugin: &'static str, source: ferry_client::Error },
    /// The pod went while a plugin was at work for it.
    #[error("pod does not exist any more: pod {name:?} not found")]
    PodGone { name: String },
}
