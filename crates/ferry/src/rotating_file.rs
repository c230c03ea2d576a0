//! A log file that keeps to a size and never fails: `log.rs` writes ferry's own log
//! through it, and `containerd.rs` cuts containerd's.
//!
//! A line that cannot be written is dropped and counted, because a full disk must cost log
//! lines and nothing else. The next line that can be written is preceded by the count.

use std::fs::File;
use std::io::{Error, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The size at which a log file is rotated.
pub const MAX_SIZE: u64 = 10 << 20;
/// The number of files that one log has at most, the one being written among them.
pub const MAX_FILES: u32 = 5;

pub struct RotatingFile {
    path: PathBuf,
    max_size: u64,
    file: Option<File>,
    size: u64,
    lost: u64,
    /// Called with each file that is opened, for whoever else writes to it.
    opened: fn(&File),
}

impl RotatingFile {
    /// Opens nothing yet: the first line does, and a directory that is not there costs lines.
    pub fn new(path: &Path, max_size: u64, opened: fn(&File)) -> Self {
        Self { path: path.to_owned(), max_size, file: None, size: 0, lost: 0, opened }
    }

    /// Appends `line`, or counts it as lost.
    pub fn append(&mut self, line: &[u8]) {
        if self.try_append(line).is_err() {
            self.lost += 1;
        }
    }

    fn try_append(&mut self, line: &[u8]) -> Result<(), Error> {
        if self.file.is_some() && self.size + line.len() as u64 > self.max_size {
            // A rotation that fails leaves the file growing; what is written matters more.
            self.file = None;
            let _ = rotate(&self.path);
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = open(&self.path)?;
                self.size = file.metadata()?.size();
                (self.opened)(&file);
                file
            }
        };
        if self.lost > 0 {
            let note = format!("{} lines of this log were lost: they could not be written\n", self.lost);
            file.write_all(note.as_bytes())?;
            self.size += note.len() as u64;
            self.lost = 0;
        }
        file.write_all(line)?;
        self.size += line.len() as u64;
        self.file = Some(file);
        Ok(())
    }
}

/// Opened for appending, so that a file that another process truncates goes on at its start.
pub fn open(path: &Path) -> Result<File, Error> {
    File::options().create(true).append(true).mode(0o600).open(path)
}

/// `ferry.log` becomes `ferry.log.1`, and that `ferry.log.2`; the oldest goes.
fn rotate(path: &Path) -> Result<(), Error> {
    shift(path)?;
    std::fs::rename(path, numbered(path, 1))
}

/// Frees the name of the newest old file.
fn shift(path: &Path) -> Result<(), Error> {
    for number in (1..MAX_FILES - 1).rev() {
        match std::fs::rename(numbered(path, number), numbered(path, number + 1)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The name of an old file; 1 is the newest.
pub fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// Rotates a file that another process holds open for appending: its content is copied to
/// the newest old file, and the file is cut. Lines that are written between the two are
/// lost. Where the copy finds no room, the file is cut all the same: a log that fills the
/// disk must end.
pub fn cut_if_large(path: &Path, max_size: u64) -> Result<bool, Error> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.len() > max_size => {}
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    let newest = numbered(path, 1);
    if shift(path).and_then(|()| std::fs::copy(path, &newest).map(drop)).is_err() {
        let _ = std::fs::remove_file(&newest);
    }
    File::options().write(true).open(path)?.set_len(0)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn a_log_keeps_to_its_size_and_to_its_number_of_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("ferry.log");
        let mut log = RotatingFile::new(&path, 100, |_| {});
        for n in 0..100 {
            log.append(format!("line {n:03} {}\n", "x".repeat(20)).as_bytes());
        }
        let files: Vec<PathBuf> =
            std::iter::once(path.clone()).chain((1..9).map(|n| numbered(&path, n))).filter(|f| f.exists()).collect();
        assert_eq!(files.len(), MAX_FILES as usize);
        assert!(files.iter().all(|file| read(file).len() <= 100));
        let all: String = files.iter().rev().map(|file| read(file)).collect();
        let numbers: Vec<&str> = all.lines().filter_map(|line| line.get(5..8)).collect();
        assert!(numbers.is_sorted() && numbers.last() == Some(&"099") && numbers.len() > 9, "{numbers:?}");
    }

    #[test]
    fn a_full_disk_costs_lines_and_the_next_line_counts_them() {
        let mut log = RotatingFile::new(Path::new("/dev/full"), 1 << 20, |_| {});
        log.append(b"one\n");
        log.append(b"two\n");
        assert_eq!(log.lost, 2);
        let dir = tempfile::tempdir().expect("a directory");
        log.path = dir.path().join("ferry.log");
        log.append(b"three\n");
        assert_eq!(read(&log.path), "2 lines of this log were lost: they could not be written\nthree\n");
    }

    #[test]
    fn a_log_whose_directory_is_missing_or_whose_file_is_gone_goes_on() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut log = RotatingFile::new(&dir.path().join("logs/ferry.log"), 100, |_| {});
        log.append(b"one\n");
        std::fs::create_dir(dir.path().join("logs")).expect("made");
        log.append(b"two\n");
        assert!(read(&log.path).ends_with("two\n"), "{}", read(&log.path));
    }

    #[test]
    fn a_file_that_another_process_appends_to_is_cut_and_goes_on_at_its_start() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("containerd.log");
        let mut theirs = open(&path).expect("opened");
        for round in 0..7 {
            theirs.write_all(format!("{round} {}\n", "x".repeat(200)).as_bytes()).expect("written");
            assert!(cut_if_large(&path, 100).expect("cut"));
            theirs.write_all(b"after\n").expect("written");
            assert_eq!(read(&path), "after\n");
            assert!(!cut_if_large(&path, 100).expect("small"));
        }
        assert!(read(&numbered(&path, 1)).starts_with("after\n6 "), "{}", read(&numbered(&path, 1)));
        assert!(numbered(&path, MAX_FILES - 1).exists() && !numbered(&path, MAX_FILES).exists());
    }
}
