//! The output of a container that ended before an attach to it could show any: a process
//! as short as `echo` has written everything by the time that its caller is connected, and
//! the runtime passes on only what comes after. The log has it.
//!
//! `websocket` asks at the end of an attach that has shown nothing. Only containers with
//! `stdinOnce` are meant, whose first caller is the one that they were made for; and newer
//! clients read the log before they attach, so that what was served of it is left out.

use super::channel::{STDERR, STDOUT};
use super::streaming::Wanted;
use crate::context::Context;
use crate::cri::v1;
use crate::log_line::LogLine;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The runtime calls a container ended a little after its streams.
const LOOKS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);
/// A log is rotated when it is this long.
const MAX_BYTES: u64 = 10 << 20;
/// Containers whose served logs are remembered; attaches follow within a second.
const MAX_SERVED: usize = 1024;

/// How far each container's log was served to clients, by container id.
#[derive(Default)]
pub struct ServedLogs(Mutex<HashMap<String, u64>>);

impl ServedLogs {
    pub(super) fn note(&self, id: &str, position: u64) {
        let mut served = self.0.lock();
        if served.len() >= MAX_SERVED {
            served.clear();
        }
        let entry = served.entry(id.to_owned()).or_default();
        *entry = position.max(*entry);
    }

    fn position(&self, id: &str) -> u64 {
        self.0.lock().get(id).copied().unwrap_or_default()
    }
}

/// One attach whose container may have said everything already.
pub(super) struct MissedOutput {
    pub context: Arc<Context>,
    pub container_id: String,
}

impl MissedOutput {
    /// The messages by channel; none while the container runs.
    pub async fn read(self, wanted: Wanted) -> Vec<(u8, Vec<u8>)> {
        let Some(path) = self.ended_log().await else { return Vec::new() };
        let (files, position) = (self.context.container_files(), self.context.served_logs.position(&self.container_id));
        let read = tokio::task::spawn_blocking(move || {
            let mut bytes = Vec::new();
            let mut file = files.open_log(&path)?;
            file.seek(SeekFrom::Start(position))?;
            file.take(MAX_BYTES).read_to_end(&mut bytes)?;
            Ok::<_, std::io::Error>(bytes)
        });
        match read.await {
            Ok(Ok(bytes)) => render_messages(&bytes, wanted),
            _ => Vec::new(),
        }
    }

    async fn ended_log(&self) -> Option<PathBuf> {
        for _ in 0..LOOKS {
            let status = self.context.runtime.container_status(&self.container_id).await.ok()?;
            if status.state == v1::ContainerState::ContainerExited as i32 {
                return Some(PathBuf::from(status.log_path));
            }
            tokio::time::sleep(PAUSE).await;
        }
        None
    }
}

fn render_messages(log: &[u8], wanted: Wanted) -> Vec<(u8, Vec<u8>)> {
    let mut messages: Vec<(u8, Vec<u8>)> = Vec::new();
    for line in log.split(|byte| *byte == b'\n').filter_map(LogLine::parse) {
        let (channel, is_wanted) = match line.stream {
            b"stderr" => (STDERR, wanted.stderr),
            _ => (STDOUT, wanted.stdout),
        };
        if !is_wanted {
            continue;
        }
        match messages.last_mut() {
            Some((last, text)) if *last == channel && text.len() < 32 * 1024 => line.append_to(text),
            _ => {
                let mut text = Vec::new();
                line.append_to(&mut text);
                messages.push((channel, text));
            }
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_becomes_messages_of_the_streams_that_are_wanted() {
        let log = b"2026-01-01T00:00:00Z stdout F hello\n2026-01-01T00:00:00Z stdout P wor\n\
            2026-01-01T00:00:01Z stderr F oh\n2026-01-01T00:00:01Z stdout F ld\n";
        let both = Wanted { stdout: true, stderr: true, ..Default::default() };
        let expected = vec![(STDOUT, b"hello\nwor".to_vec()), (STDERR, b"oh\n".to_vec()), (STDOUT, b"ld\n".to_vec())];
        assert_eq!(render_messages(log, both), expected);
        let one = Wanted { stderr: true, ..Default::default() };
        assert_eq!(render_messages(log, one), vec![(STDERR, b"oh\n".to_vec())]);
    }

    #[test]
    fn what_was_served_is_remembered_and_bounded() {
        let served = ServedLogs::default();
        served.note("a", 7);
        served.note("a", 3);
        assert_eq!((served.position("a"), served.position("b")), (7, 0));
        (0..10 * MAX_SERVED).for_each(|n| served.note(&n.to_string(), 1));
        assert!(served.0.lock().len() <= MAX_SERVED);
    }
}
