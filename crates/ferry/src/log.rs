//! The log of the process: where it goes, and how much is said. The level can be changed
//! while everything runs, at the API server's /debug/flags/v.

use anyhow::{Context, Result};
use std::sync::OnceLock;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{DefaultFields, Format};
use tracing_subscriber::fmt::{Formatter, Subscriber};
use tracing_subscriber::reload::Handle;

type Writer = fn() -> std::io::Stderr;
type Reload = Handle<EnvFilter, Formatter<DefaultFields, Format, Writer>>;

/// The log is the process's own, as `tracing` has it; so is what changes it.
static LOG: OnceLock<(Reload, String)> = OnceLock::new();

/// In the background the log goes to standard error, which is the log file there; in
/// front, too, so that it can be told from the progress.
pub fn start(filter: &str, detached: bool) -> Result<()> {
    let parsed = EnvFilter::try_new(filter).with_context(|| format!("--log: {filter:?} is not a filter"))?;
    let builder = Subscriber::builder()
        .with_ansi(!detached)
        .with_writer(std::io::stderr as Writer)
        .with_env_filter(parsed)
        .with_filter_reloading();
    let reload = builder.reload_handle();
    builder.try_init().map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))?;
    let _ = LOG.set((reload, filter.to_owned()));
    Ok(())
}

/// Says more or less from now on, by klog's numbers.
pub fn set_verbosity(level: u32) -> Result<(), String> {
    let (reload, started_with) = LOG.get().ok_or("there is no log")?;
    let filter = EnvFilter::try_new(render_filter(level, started_with)).map_err(|error| error.to_string())?;
    reload.reload(filter).map_err(|error| error.to_string())
}

/// Upstream says what an operator wants to know up to 3, what a developer wants with 4 and
/// 5, and everything from 6 on.
fn render_filter(level: u32, started_with: &str) -> String {
    match level {
        0..=3 => started_with.to_owned(),
        4..=5 => "info,ferry=debug".to_owned(),
        _ => "debug,ferry=trace".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verbosity_is_a_filter() {
        for (level, filter) in [(0, "warn"), (2, "warn"), (4, "info,ferry=debug"), (10, "debug,ferry=trace")] {
            assert_eq!(render_filter(level, "warn"), filter);
            assert!(EnvFilter::try_new(render_filter(level, "warn")).is_ok());
        }
    }
}
