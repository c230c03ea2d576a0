//! The log of the process: where it goes, and how much is said. The level can be changed
//! while everything runs, at the API server's /debug/flags/v.
//!
//! **Invariant:** no line of the log can fail. `tracing` prints to standard error where its
//! writer returns an error, and that print panics where nobody reads standard error any
//! more; the writer here therefore returns none.

use crate::rotating_file::{self, RotatingFile};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{DefaultFields, Format};
use tracing_subscriber::fmt::{Formatter, MakeWriter, Subscriber};
use tracing_subscriber::reload::Handle;

type Reload = Handle<EnvFilter, Formatter<DefaultFields, Format, LogWriter>>;

/// The log is the process's own, as `tracing` has it; so is what changes it.
static LOG: OnceLock<(Reload, String)> = OnceLock::new();

/// A cluster in front also logs to standard error; in the background the file is all.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    FileOnly,
    FileAndStderr,
}

/// Writes whole lines to the file and, for a cluster in front, to standard error.
#[derive(Clone)]
struct LogWriter {
    file: Arc<Mutex<RotatingFile>>,
    audience: Audience,
}

impl Write for LogWriter {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        // The file is whole between any two lines, also after a panic elsewhere.
        self.file.lock().unwrap_or_else(PoisonError::into_inner).append(line);
        if self.audience == Audience::FileAndStderr {
            let _ = std::io::stderr().write_all(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Starts the log of this process in `file`, and has panics reported there as well.
pub fn start(filter: &str, file: &Path, audience: Audience) -> Result<()> {
    let parsed = parse_filter(filter)?;
    // The kernel and the allocator print to standard error when a process dies of them. In
    // the background that is the log file, also after a rotation.
    let opened: fn(&File) = match audience {
        Audience::FileOnly => |file| {
            let _ = nix::unistd::dup2_stderr(file);
        },
        Audience::FileAndStderr => |_| {},
    };
    let file = RotatingFile::new(file, rotating_file::MAX_SIZE, opened);
    let writer = LogWriter { file: Arc::new(Mutex::new(file)), audience };
    let builder = Subscriber::builder()
        .with_ansi(false)
        .log_internal_errors(false)
        .with_writer(writer)
        .with_env_filter(parsed)
        .with_filter_reloading();
    let reload = builder.reload_handle();
    builder.try_init().map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))?;
    let _ = LOG.set((reload, filter.to_owned()));
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!(target: "ferry", "{panic}\n{backtrace}");
    }));
    Ok(())
}

/// Called before anything is changed, so that a filter that cannot be read costs nothing.
pub fn parse_filter(filter: &str) -> Result<EnvFilter> {
    EnvFilter::try_new(filter).with_context(|| format!("--log: {filter:?} is not a filter"))
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

    #[test]
    fn a_log_on_a_full_disk_does_not_panic() {
        let file = RotatingFile::new(Path::new("/dev/full"), 100, |_| {});
        let writer = LogWriter { file: Arc::new(Mutex::new(file)), audience: Audience::FileOnly };
        let subscriber = Subscriber::builder().with_writer(writer).finish();
        tracing::subscriber::with_default(subscriber, || {
            for n in 0..100 {
                tracing::error!(n, "nobody can read this");
            }
        });
    }
}
