//! The files that containers leave on the host: their logs and termination messages.
//!
//! Called by `observed`, `log_rotation` and `server::logs`. The paths come from the runtime,
//! but what stands there may be a container's doing: one that mounts a directory of the
//! host can put a link to any file in the place of its log. Only regular files below the
//! kubelet's own two directories are read, and no link on the way is followed.

use crate::volume::beneath::Dir;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Where the kubelet keeps pods' files and containers' logs.
#[derive(Clone, Debug, Default)]
pub struct ContainerFiles {
    pub root_dir: PathBuf,
    pub log_dir: PathBuf,
}

impl ContainerFiles {
    /// A log by the path that the runtime has for it.
    pub fn open_log(&self, log_path: &Path) -> io::Result<File> {
        let (directory, name) = self.log_directory(log_path)?;
        directory.open_file(Path::new(&name))
    }

    /// The directory of a log and its name there. The last three names of the path are the
    /// pod's, the container's and the log's; those before are our own.
    pub fn log_directory(&self, log_path: &Path) -> io::Result<(Dir, OsString)> {
        let mut names = log_path.iter().rev();
        let (Some(log), Some(container), Some(pod)) = (names.next(), names.next(), names.next()) else {
            let why = format!("{} is not the path of a container's log", log_path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        };
        Ok((Dir::open(&self.log_dir)?.descend(&Path::new(pod).join(container))?, log.to_owned()))
    }

    /// Removes a log and those that were rotated away from it.
    pub fn remove_logs(&self, log_path: &Path) -> io::Result<()> {
        let (directory, name) = self.log_directory(log_path)?;
        let prefix = [name.as_encoded_bytes(), b"."].concat();
        for entry in directory.read()?.flatten() {
            let found = entry.file_name();
            if found == name || found.as_encoded_bytes().starts_with(&prefix) {
                directory.remove_file(&found)?;
            }
        }
        Ok(())
    }

    /// The file that was made for a container's termination message. A volume may be mounted
    /// over the container's termination message path; that one is none of ours to read.
    pub fn open_termination_message(&self, pod_uid: &str, container: &str, host_path: &Path) -> io::Result<File> {
        let directory = Path::new("pods").join(pod_uid).join("containers").join(container);
        let relative = directory.join(host_path.file_name().unwrap_or_default());
        if !host_path.ends_with(&relative) {
            let why = format!("{} is not a termination message file", host_path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Dir::open(&self.root_dir)?.open_file(&relative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rotated_logs_of_a_container_go_with_it() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let files = ContainerFiles { log_dir: place.path().to_owned(), ..ContainerFiles::default() };
        let directory = place.path().join("ns_pod_uid/c");
        std::fs::create_dir_all(&directory).expect("made");
        for name in ["0.log", "0.log.20260101-000000", "0.log.20260101-000000.gz", "1.log", "10.log"] {
            std::fs::write(directory.join(name), "x").expect("written");
        }
        files.remove_logs(&directory.join("0.log")).expect("removed");
        let mut left: Vec<_> = std::fs::read_dir(&directory).expect("read").flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["1.log", "10.log"]);
    }
}
