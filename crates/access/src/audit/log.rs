//! The audit log on disk: one event a line, in a file that is set aside when it is full
//! and removed when it is old. Rotated files carry the time at which they were set aside,
//! `audit-2026-01-02T15-04-05.000.log` beside `audit.log`, as upstream names them.

use super::{Error, Sink};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use parking_lot::Mutex;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// When a file is full, and which of the old ones stay. Zero means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rotation {
    pub max_size_megabytes: u64,
    pub max_age_days: u32,
    pub max_backups: usize,
}

/// The size at which upstream sets a file aside when nobody says otherwise.
const DEFAULT_MEGABYTES: u64 = 100;
const STAMP: &str = "%Y-%m-%dT%H-%M-%S%.3f";

pub struct Log {
    path: PathBuf,
    rotation: Rotation,
    /// Events are written one after the other and whole; a write is to the page cache and
    /// short, so the request that it records waits for it.
    open: Mutex<Open>,
}

struct Open {
    file: File,
    size: u64,
}

impl Log {
    /// Opens the file, readable by its owner alone: requests can hold secrets.
    pub fn open(path: &Path, rotation: Rotation) -> Result<Self, Error> {
        let told = |error| Error::Open(path.to_owned(), error);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(told)?;
        }
        let open = open(path).map_err(told)?;
        Ok(Self { path: path.to_owned(), rotation, open: Mutex::new(open) })
    }

    fn write(&self, line: &[u8], now: Timestamp) -> io::Result<()> {
        let megabytes = match self.rotation.max_size_megabytes {
            0 => DEFAULT_MEGABYTES,
            given => given,
        };
        let mut open = self.open.lock();
        if open.size > 0 && open.size + line.len() as u64 > megabytes << 20 {
            *open = self.rotate(now)?;
        }
        open.file.write_all(line)?;
        open.size += line.len() as u64;
        Ok(())
    }

    fn rotate(&self, now: Timestamp) -> io::Result<Open> {
        let (stem, extension) = self.name_parts();
        let stamp = now.to_zoned(TimeZone::UTC).strftime(STAMP);
        fs::rename(&self.path, self.path.with_file_name(format!("{stem}-{stamp}{extension}")))?;
        let fresh = open(&self.path)?;
        for old in plan_removal(&self.set_aside()?, &stem, &extension, self.rotation, now) {
            fs::remove_file(self.path.with_file_name(old))?;
        }
        Ok(fresh)
    }

    fn name_parts(&self) -> (String, String) {
        let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let extension = text(self.path.extension());
        let dotted = if extension.is_empty() { extension } else { format!(".{extension}") };
        (text(self.path.file_stem()), dotted)
    }

    fn set_aside(&self) -> io::Result<Vec<String>> {
        let directory = self.path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let names = fs::read_dir(directory)?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.collect())
    }
}

impl Sink for Log {
    fn emit(&self, event: &Value) -> Result<(), Error> {
        let mut line = serde_json::to_vec(event).map_err(|error| Error::Write(io::Error::other(error)))?;
        line.push(b'\n');
        self.write(&line, Timestamp::now()).map_err(Error::Write)
    }
}

fn open(path: &Path) -> io::Result<Open> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    let size = file.metadata()?.len();
    Ok(Open { file, size })
}

/// Which of the files beside the log are too old or too many.
fn plan_removal(names: &[String], stem: &str, extension: &str, rotation: Rotation, now: Timestamp) -> Vec<String> {
    let mut found: Vec<(Timestamp, &String)> = names
        .iter()
        .filter_map(|name| {
            let stamp = name.strip_prefix(stem)?.strip_prefix('-')?.strip_suffix(extension)?;
            let at = jiff::civil::DateTime::strptime(STAMP, stamp).ok()?.to_zoned(TimeZone::UTC).ok()?;
            Some((at.timestamp(), name))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    let oldest = now.as_second() - i64::from(rotation.max_age_days) * 24 * 3600;
    let too_many = |index: usize| rotation.max_backups > 0 && index >= rotation.max_backups;
    let too_old = |at: Timestamp| rotation.max_age_days > 0 && at.as_second() < oldest;
    found
        .into_iter()
        .enumerate()
        .filter(|(index, (at, _))| too_many(*index) || too_old(*at))
        .map(|(_, (_, name))| name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn old_files_go_and_strangers_stay() {
        let now: Timestamp = "2026-01-10T00:00:00Z".parse().expect("a time");
        let files = names(&[
            "audit.log",
            "audit-2026-01-09T10-00-00.000.log",
            "audit-2026-01-08T10-00-00.000.log",
            "audit-2026-01-01T10-00-00.000.log",
            "audit-notes.log",
            "other-2020-01-01T10-00-00.000.log",
        ]);
        let plan = |rotation| plan_removal(&files, "audit", ".log", rotation, now);
        assert_eq!(plan(Rotation::default()), names(&[]));
        let two = Rotation { max_backups: 2, ..Rotation::default() };
        assert_eq!(plan(two), names(&["audit-2026-01-01T10-00-00.000.log"]));
        let day = Rotation { max_age_days: 1, ..Rotation::default() };
        let expected = names(&["audit-2026-01-08T10-00-00.000.log", "audit-2026-01-01T10-00-00.000.log"]);
        assert_eq!(plan(day), expected);
    }

    #[test]
    fn a_full_file_is_set_aside_and_no_line_is_lost() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("deep/audit.log");
        let rotation = Rotation { max_size_megabytes: 1, max_backups: 2, ..Rotation::default() };
        let log = Log::open(&path, rotation).expect("a log");
        let line = vec![b'x'; 400 << 10];
        for minute in 0..6 {
            let now: Timestamp = format!("2026-01-10T00:0{minute}:00Z").parse().expect("a time");
            log.write(&line, now).expect("a write");
        }
        let mut files: Vec<(String, u64)> = fs::read_dir(path.parent().expect("a directory"))
            .expect("files")
            .flatten()
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.metadata().expect("size").len()))
            .collect();
        files.sort();
        let full = 800 << 10;
        let expected = [
            ("audit-2026-01-10T00-02-00.000.log".to_owned(), full),
            ("audit-2026-01-10T00-04-00.000.log".to_owned(), full),
            ("audit.log".to_owned(), full),
        ];
        assert_eq!(files, expected);
    }
}
