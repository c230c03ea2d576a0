//! What `ferry up` shows while it works: a line a stage, with the time it took.
//!
//! The process that starts the cluster may not be the one a person looks at (`up -d`),
//! so a stage is first of all a line of text on some writer.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

pub struct Progress {
    start: Instant,
    stage_start: Instant,
}

impl Progress {
    pub fn new() -> Self {
        let now = Instant::now();
        Self { start: now, stage_start: now }
    }

    /// Ends a stage and says so.
    pub fn done(&mut self, stage: &str) {
        let took = self.stage_start.elapsed();
        self.stage_start = Instant::now();
        say(&render_stage(stage, took, std::io::stdout().is_terminal() || std::env::var_os("FERRY_COLOUR").is_some()));
    }

    pub fn total(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A line to whoever listens; nobody listening is no reason to stop.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// The same on standard error, for what went wrong.
pub fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn render_stage(stage: &str, took: Duration, colour: bool) -> String {
    let mark = if colour { "\x1b[32m✓\x1b[0m" } else { "✓" };
    format!("  {mark} {stage:<44} {:>8}", render_duration(took))
}

pub fn render_duration(took: Duration) -> String {
    match took.as_millis() {
        ms @ 0..1000 => format!("{ms} ms"),
        ms => format!("{:.2} s", ms as f64 / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_line_up() {
        assert_eq!(
            render_stage("containerd", Duration::from_millis(1234), false),
            "  ✓ containerd                                     1.23 s"
        );
        assert_eq!(render_duration(Duration::from_millis(7)), "7 ms");
    }
}
