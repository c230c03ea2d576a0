//! A file in which a manager of devices keeps its assignments: replaced whole, and on the disk when a
//! write returns. `devices`, `dra` and `exclusive_cpus` have one each.

use crate::volume::beneath::Dir;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub struct StateFile {
    directory: PathBuf,
    name: &'static str,
    /// One writes at a time, so that the newest state is written last.
    writer: tokio::sync::Mutex<()>,
}

impl StateFile {
    pub fn new(directory: PathBuf, name: &'static str) -> Self {
        Self { directory, name, writer: Default::default() }
    }

    /// The text of an earlier kubelet. Blocking.
    pub fn load(&self) -> io::Result<Option<String>> {
        let opened = Dir::open(&self.directory).and_then(|directory| directory.open_file(Path::new(self.name)));
        let mut text = String::new();
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(mut file) => file.read_to_string(&mut text).map(|_| Some(text)),
        }
    }

    /// Writes what `render` returns in its turn.
    pub async fn store(&self, render: impl FnOnce() -> String) -> io::Result<()> {
        let _turn = self.writer.lock().await;
        let (directory, name, text) = (self.directory.clone(), self.name, render());
        let stored = tokio::task::spawn_blocking(move || {
            Dir::open(&directory)?.replace_file(OsStr::new(name), text.as_bytes(), 0o600)
        });
        stored.await.map_err(io::Error::other)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_state_is_read_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = StateFile::new(directory.path().join("sub"), "state");
        assert_eq!(file.load().expect("no directory yet"), None);
        std::fs::create_dir(directory.path().join("sub")).expect("made");
        assert_eq!(file.load().expect("no file yet"), None);
        file.store(|| "a".to_owned()).await.expect("stored");
        file.store(|| "b".to_owned()).await.expect("stored");
        assert_eq!(file.load().expect("there").as_deref(), Some("b"));
    }
}
