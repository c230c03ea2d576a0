//! The scheduler: finds a node for every pod that has none.
//!
//! `queue.rs` says which pod is next, `cycle.rs` decides, `plugins/` hold the rules, and
//! `scheduler.rs` is the loop between them and the API. All but the loop is pure.

pub mod cycle;
pub mod fit_error;
pub mod framework;
pub mod plugins;
pub mod queue;
mod report;
pub mod resources;
mod scheduler;
pub mod snapshot;
pub mod view;

pub use scheduler::run;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Upstream's words: the text ends up in the pod's condition.
    #[error("running Bind plugin {plugin:?}: {source}")]
    Bind { plugin: &'static str, source: ferry_client::Error },
    #[error("running PreBind plugin {plugin:?}: {source}")]
    PreBind { plugin: &'static str, source: ferry_client::Error },
}
